// A small room of accounts: it mirrors the values of a fragment, adds up what a scope puts, and refuses
// debts.
#include <muster/entity/destroy_participant.hpp>
#include <muster/muster.hpp>
#include <muster/type/value_participant.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/room_world.hpp"

namespace muster::test {
namespace {

template <class Layout>
class accounts final : public detail::value_participant, public detail::destroy_participant {
public:
    explicit accounts(room_world<Layout>& owner) : owner_(owner) {
        money = owner.template fragment<int>("money");
        detail::fragment_data& fragment = *owner.parts().fragments.find(money.id().value());
        owner.parts().catalog.take_part(fragment, *this);
        owner.parts().destroyer.add_participant(*this);
    }
    ~accounts() { owner_.parts().destroyer.remove_participant(*this); }

    outcome combine(std::uint64_t, const void* present, detail::slice<void* const> given,
                    std::size_t& which) override {
        int sum = 0;
        bool is_there = present != nullptr;
        for (void* const value : given) {
            is_there = value != nullptr;
            sum = is_there ? sum + *static_cast<int*>(value) : 0;
        }
        if (!is_there) return outcome::removes;
        if (sum > 1000) return outcome::destroys;
        for (which = given.size() - 1; given[which] == nullptr;) --which;
        *static_cast<int*>(given[which]) = sum;
        return sum == 0 ? outcome::none : outcome::puts;
    }
    void begin(std::size_t) override { leaving_.clear(); }
    void leaving(std::uint64_t e, const void* value, bool) override {
        EXPECT_EQ(mirror.at(e), *static_cast<const int*>(value));
        leaving_.insert(e);
    }
    void arrived(std::uint64_t e, void* value, bool is_new) override {
        EXPECT_EQ(is_new, !mirror.contains(e));
        EXPECT_EQ(!is_new, leaving_.contains(e));
        if (*static_cast<int*>(value) < 0) throw std::domain_error("a debt");
    }
    void commit(std::uint64_t e) noexcept override {
        const int* const value = owner_.try_get(detail::to_id<Layout>(e), money);
        if (value != nullptr)
            mirror[e] = *value;
        else
            mirror.erase(e);
    }
    void ending(std::uint64_t e, const void* value) override {
        EXPECT_EQ(mirror.at(e), *static_cast<const int*>(value));
    }
    void collect(detail::destroy_set&, std::size_t) override {}
    void check(const detail::destroy_set&) const override {}
    void prepare(const detail::destroy_set&) override {}
    void finish(const detail::destroy_set& dying) noexcept override {
        for (const std::uint64_t e : dying.all()) mirror.erase(e);
    }
    void reset() noexcept override { mirror.clear(); }

    basic_fragment<int, Layout> money;
    std::map<std::uint64_t, int> mirror;

private:
    room_world<Layout>& owner_;
    std::set<std::uint64_t> leaving_;
};

template <class Layout>
struct value_participants : testing::Test {
    room_world<Layout> owner;
    accounts<Layout> accounts_{owner};
};
TYPED_TEST_SUITE(value_participants, behavior_layouts, layout_names);

TYPED_TEST(value_participants, see_every_change) {
    auto& w = this->owner;
    auto& room = this->accounts_;
    const auto e = w.spawn(with(room.money, 5));
    EXPECT_EQ(room.mirror.at(e.value()), 5);
    w.set(e, room.money, 7);
    EXPECT_EQ(room.mirror.at(e.value()), 7);
    const auto copies = w.clone_many(3, e);
    EXPECT_EQ(room.mirror.size(), 4u);
    w.query().with(room.money).set(room.money, 9);
    EXPECT_EQ(room.mirror.at(copies[2].value()), 9);
    w.remove(e, room.money);
    w.clear(copies[0]);
    w.destroy(copies[1]);
    EXPECT_EQ(room.mirror.size(), 1u);
    w.clear(room.money.id());
    w.spawn_many(10, with(room.money, 1));
    EXPECT_EQ(room.mirror.size(), 11u);
    w.query().with(room.money).remove(room.money);
    EXPECT_TRUE(room.mirror.empty());
}

TYPED_TEST(value_participants, may_refuse_a_change) {
    auto& w = this->owner;
    auto& room = this->accounts_;
    const auto e = w.spawn(with(room.money, 5));
    EXPECT_THROW(w.set(e, room.money, -1), std::domain_error);
    EXPECT_EQ(w.get(e, room.money), 5);
    EXPECT_THROW(w.spawn(with(room.money, -1)), std::domain_error);
    EXPECT_THROW(w.spawn_many(3, with(room.money, -1)), std::domain_error);
    EXPECT_THROW(w.query().with(room.money).set(room.money, -2), std::domain_error);
    EXPECT_EQ(w.get(e, room.money), 5);
    EXPECT_EQ(room.mirror.size(), 1u);
    auto hook = w.on_set(room.money, [](auto, int&) { throw std::runtime_error("no"); });
    EXPECT_THROW(w.set(e, room.money, 8), std::runtime_error);
    EXPECT_EQ(room.mirror.at(e.value()), 5);
    hook.disconnect();
    w.set(e, room.money, 8);
    EXPECT_EQ(room.mirror.at(e.value()), 8);
}

TYPED_TEST(value_participants, combine_what_a_scope_records) {
    auto& w = this->owner;
    auto& room = this->accounts_;
    const auto a = w.spawn(with(room.money, 5)), b = w.spawn(), c = w.spawn(), d = w.spawn();
    w.defer();
    for (const auto e : {a, b, c, d}) {
        w.set(e, room.money, 10);
        w.set(e, room.money, 20);
    }
    w.remove(b, room.money);
    w.set(b, room.money, 3);
    w.remove(c, room.money);
    w.set(d, room.money, 2000);
    w.commit();
    EXPECT_EQ(w.get(a, room.money), 30);
    EXPECT_EQ(w.get(b, room.money), 3);
    EXPECT_FALSE(w.has(c, room.money));
    EXPECT_FALSE(w.alive(d));
    EXPECT_EQ(room.mirror.size(), 2u);
}

TYPED_TEST(value_participants, are_never_out_of_step) {
    auto& w = this->owner;
    auto& room = this->accounts_;
    std::mt19937 random(1);
    std::vector<basic_id<TypeParam>> all{w.spawn()};
    const auto attempt = [](auto call) {
        try {
            call();
        } catch (const std::domain_error&) {
        }
    };
    for (int i = 0; i < 3000; ++i) {
        const auto e = all[random() % all.size()];
        const int value = static_cast<int>(random() % 50) - 5;
        attempt([&] {
            switch (random() % 8) {
            case 0: all.push_back(w.spawn(with(room.money, value))); break;
            case 1: w.destroy(e); break;
            case 2: w.remove(e, room.money); break;
            case 3: w.clear(e); break;
            case 4:
                if (w.depth() == 0) w.defer();
                break;
            case 5:
                if (w.depth() != 0) random() % 3 == 0 ? w.cancel() : w.commit();
                break;
            default:
                if (w.alive(e)) w.set(e, room.money, value);
            }
        });
        if (w.depth() != 0) continue;
        std::size_t count = 0;
        for (const auto living : all) {
            const int* const points = w.try_get(living, room.money);
            ASSERT_EQ(points != nullptr, room.mirror.contains(living.value())) << i;
            if (points != nullptr) ASSERT_EQ(*points, room.mirror.at(living.value())) << i;
            count += points != nullptr ? 1u : 0u;
        }
        ASSERT_EQ(count, room.mirror.size());
    }
    if (w.depth() != 0) w.cancel();
}

}  // namespace
}  // namespace muster::test
