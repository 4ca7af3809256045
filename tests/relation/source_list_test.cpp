#include <gtest/gtest.h>
#include <muster/base/error.hpp>
#include <muster/relation/source_list.hpp>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace muster {
namespace {

using detail::link_end;
using detail::source_list;

constexpr std::uint64_t null = 0xFFFF'0000'0000'0001;

/// A list that frees its memory, and the sources that it should have.
class checked_list {
public:
    explicit checked_list(bool keeps_places) : list(null, keeps_places), keeps_(keeps_places) {}
    ~checked_list() { list.free(); }
    checked_list(const checked_list&) = delete;
    checked_list& operator=(const checked_list&) = delete;

    void append(std::uint64_t e, std::uint32_t place) {
        list.reserve(1);
        EXPECT_EQ(list.append(e, place), wanted.size());
        wanted.push_back({e, keeps_ ? place : 0});
    }
    void erase(std::uint32_t place) {
        list.erase(place);
        wanted[place].first = null;
    }
    void close() {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> kept;
        for (const auto& end : wanted)
            if (end.first != null) kept.push_back(end);
        wanted.swap(kept);
        std::uint32_t last = 0;
        list.close([&](std::uint32_t at) {
            EXPECT_EQ(list[at].other, wanted[at].first);
            EXPECT_TRUE(last == 0 || at == last + 1);
            last = at;
        });
    }
    void check() const {
        ASSERT_EQ(list.places(), wanted.size());
        std::size_t count = 0;
        std::uint32_t next = list.next(0);
        for (std::uint32_t i = 0; i < wanted.size(); ++i) {
            const link_end end = list[i];
            EXPECT_EQ(end.is_hole, wanted[i].first == null);
            if (end.is_hole) continue;
            EXPECT_EQ(end.other, wanted[i].first);
            EXPECT_EQ(end.place, wanted[i].second);
            EXPECT_EQ(list.find(end.other), i);
            EXPECT_EQ(next, i);
            next = list.next(i + 1);
            ++count;
        }
        EXPECT_EQ(next, list.places());
        EXPECT_EQ(list.size(), count);
    }

    source_list list;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> wanted;

private:
    bool keeps_;
};

TEST(source_lists, keep_their_order_in_random_changes) {
    for (const bool keeps_places : {false, true}) {
        std::mt19937 random(7);
        checked_list all(keeps_places);
        for (std::uint64_t e = 0; e < 3000; ++e) {
            all.append(e, static_cast<std::uint32_t>(random()));
            const auto place = static_cast<std::uint32_t>(random() % all.wanted.size());
            if (random() % 3 != 0 && all.wanted[place].first != null) all.erase(place);
            if (all.list.is_sparse()) all.close();
            if (e < 20 || e % 100 == 0) all.check();
        }
        all.check();
    }
}

TEST(source_lists, have_room_for_one_or_two_sources_inside) {
    const auto is_inside = [](const source_list& list) {
        const auto* const first = reinterpret_cast<const unsigned char*>(&list);
        const auto* const words = reinterpret_cast<const unsigned char*>(list.words());
        return words >= first && words < first + sizeof(list);
    };
    checked_list few(false);
    few.append(0, 0);
    few.append(1, 0);
    EXPECT_TRUE(is_inside(few.list));
    few.append(2, 0);
    EXPECT_FALSE(is_inside(few.list));
    few.check();
    checked_list one(true);
    one.append(0, 5);
    EXPECT_TRUE(is_inside(one.list));
    one.append(1, 6);
    EXPECT_FALSE(is_inside(one.list));
    one.check();
}

TEST(source_lists, keep_reserved_room_for_those_who_reserved_it) {
    checked_list all(false);
    for (int i = 0; i < 100; ++i) all.list.reserve_another();
    const std::uint64_t* const words = std::as_const(all.list).words();
    for (std::uint32_t i = 0; i < 100; ++i) (void)all.list.append(i, 0);
    EXPECT_EQ(std::as_const(all.list).words(), words);
    EXPECT_EQ(all.list.size(), 100u);
}

TEST(source_lists, refuse_more_sources_than_they_can_count) {
    checked_list all(false);
    all.append(3, 0);
    try {
        all.list.reserve(0x7FFF'FFF0);
        ADD_FAILURE() << "accepted";
    } catch (const error& thrown) {
        EXPECT_EQ(thrown.code(), errc::limit);
    }
    all.check();
}

}  // namespace
}  // namespace muster
