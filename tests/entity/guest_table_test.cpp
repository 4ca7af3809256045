#include <muster/entity/entity_adapter_impl.hpp>
#include <muster/entity/guest_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

using table = guest_table<layouts::bound>;

id guest(std::uint64_t key, std::uint64_t version = 0, std::uint64_t world = 7) {
    return id::pack(key, version, world);
}

TEST(guest_table, finds_what_was_inserted) {
    table guests;
    EXPECT_EQ(guests.find(guest(1)), nullptr);
    guests.reserve(2);
    guests.insert(guest(1), chunk_index{5}, 9);
    guests.insert(guest(1, 0, 8), chunk_index{6}, 10);
    guests.order();
    ASSERT_NE(guests.find(guest(1)), nullptr);
    EXPECT_EQ(guests.find(guest(1))->chunk(), chunk_index{5});
    EXPECT_EQ(guests.find(guest(1))->row(), 9u);
    EXPECT_EQ(guests.find(guest(1, 0, 8))->row(), 10u);
    EXPECT_EQ(guests.find(guest(1, 1)), nullptr) << "another version";
    EXPECT_EQ(guests.find(guest(2)), nullptr);
    EXPECT_EQ(guests.find({}), nullptr);
    EXPECT_EQ(guests.size(), 2u);
    EXPECT_TRUE(guests.erase(guest(1)));
    EXPECT_FALSE(guests.erase(guest(1)));
    EXPECT_EQ(guests.find(guest(1)), nullptr);
    EXPECT_EQ(guests.size(), 1u);
    guests.clear();
    EXPECT_EQ(guests.find(guest(1, 0, 8)), nullptr);
    EXPECT_FALSE(guests.next({}));
}

TEST(guest_table, behaves_like_a_map_in_random_programs) {
    for (std::uint32_t seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        table guests;
        std::map<std::uint64_t, std::size_t> model;  // rows by the value of an id
        const auto any = [&] { return guest(random() % 60, random() % 2, 2 + random() % 3); };
        for (int i = 0; i < 300; ++i) {
            if (random() % 3 == 0) {
                const std::size_t count = random() % 9;
                guests.reserve(count);
                for (std::size_t k = 0; k < count; ++k) {
                    const id e = any();
                    if (!model.emplace(e.value(), i).second) continue;
                    guests.insert(e, chunk_index{3}, static_cast<std::size_t>(i));
                }
                guests.order();
            } else {
                const id e = any();
                ASSERT_EQ(guests.erase(e), model.erase(e.value()) == 1);
            }
            ASSERT_EQ(guests.size(), model.size());
            const id e = any();
            const auto known = model.find(e.value());
            ASSERT_EQ(guests.find(e) != nullptr, known != model.end());
            if (known != model.end()) ASSERT_EQ(guests.find(e)->row(), known->second);
            if (i % 10 != 0) continue;
            std::vector<std::uint64_t> visited;
            for (id at = guests.next({}); at; at = guests.next(at)) visited.push_back(at.value());
            std::vector<std::uint64_t> expected;
            for (const auto& [value, row] : model) expected.push_back(value);
            ASSERT_EQ(visited, expected);
        }
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
