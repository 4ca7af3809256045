// A small room of owners: whoever owns others takes them along, and an entity with a tenant cannot
// be destroyed before the tenant.
#include <muster/entity/destroy_participant.hpp>
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/room_world.hpp"

namespace muster::test {
namespace {

using detail::destroy_set;

struct position {
    int x = 0;
};

template <class Layout>
class owners final : public detail::destroy_participant {
public:
    using id_type = basic_id<Layout>;
    explicit owners(room_world<Layout>& world) : world_(world) {
        world_.parts().destroyer.add_participant(*this);
    }
    ~owners() { world_.parts().destroyer.remove_participant(*this); }

    void own(id_type owner, id_type owned) {
        mark(owner);
        mark(owned);
        owned_by[owned.value()] = owner.value();
    }
    void let(id_type house, id_type tenant) {
        mark(house);
        mark(tenant);
        tenants.insert({house.value(), tenant.value()});
    }

    void collect(destroy_set& dying, std::size_t first) override {
        const std::vector<std::uint64_t> from(
            dying.all().begin() + static_cast<std::ptrdiff_t>(first), dying.all().end());
        for (const auto& [owned, owner] : owned_by)
            if (std::ranges::find(from, owner) != from.end()) dying.add(owned);
    }
    void check(const destroy_set& dying) const override {
        for (const auto& [house, tenant] : tenants)
            if (dying.has(house) && !dying.has(tenant)) throw std::domain_error("has a tenant");
    }
    void prepare(const destroy_set& dying) override {
        ++prepared;
        log_.reserve(log_.size() + dying.size());
        if (is_out_of_memory) throw std::bad_alloc();
    }
    void finish(const destroy_set& dying) noexcept override {
        for (const std::uint64_t e : dying.all()) {
            EXPECT_TRUE(world_.alive(detail::to_id<Layout>(e)));  // the values are still there
            owned_by.erase(e);
            std::erase_if(tenants, [&](const auto& p) { return p.first == e || p.second == e; });
            log_.push_back(e);
        }
    }
    void reset() noexcept override {
        owned_by.clear();
        tenants.clear();
    }

    std::map<std::uint64_t, std::uint64_t> owned_by;
    std::set<std::pair<std::uint64_t, std::uint64_t>> tenants;
    std::vector<std::uint64_t> log_;
    int prepared = 0;
    bool is_out_of_memory = false;

private:
    void mark(id_type e) { world_.parts().catalog.mark_for_destroy(e.value()); }
    room_world<Layout>& world_;
};

template <class Layout>
struct destroy_participants : testing::Test {
    room_world<Layout> owner;
    owners<Layout> room{owner};
};
TYPED_TEST_SUITE(destroy_participants, behavior_layouts, layout_names);

TYPED_TEST(destroy_participants, add_what_is_destroyed_together) {
    auto& w = this->owner;
    const auto a = w.spawn(position{1}), b = w.spawn(), c = w.spawn(position{3}), d = w.spawn();
    this->room.own(a, b);
    this->room.own(b, c);
    EXPECT_TRUE(w.destroy(a));
    EXPECT_FALSE(w.alive_any(a, b, c));
    EXPECT_TRUE(w.alive(d));
    EXPECT_EQ(this->room.log_, (std::vector<std::uint64_t>{a.value(), b.value(), c.value()}));
    EXPECT_TRUE(this->room.owned_by.empty());
}

TYPED_TEST(destroy_participants, are_not_asked_about_other_entities) {
    MUSTER_ABOUT_CHUNKS();  // an entity with sparse values is marked
    auto& w = this->owner;
    const auto a = w.spawn(position{1}), b = w.spawn();
    w.destroy(a);
    w.destroy(b);
    w.spawn_many(10, position{});
    w.template query<position>().destroy();
    EXPECT_EQ(this->room.prepared, 0);
}

TYPED_TEST(destroy_participants, may_refuse_and_see_the_whole_operation) {
    auto& w = this->owner;
    const auto house = w.spawn(position{}), tenant = w.spawn(position{});
    this->room.let(house, tenant);
    EXPECT_THROW(w.destroy(house), std::domain_error);
    EXPECT_TRUE(w.alive(house));
    EXPECT_EQ(w.destroy(house, tenant), 2u);  // one operation
    const auto other = w.spawn(position{}), guest = w.spawn(position{});
    this->room.let(other, guest);
    EXPECT_EQ(w.template query<position>().destroy(), 2u);  // so is a batch
    EXPECT_EQ(w.size(), 0u);
    const auto last = w.spawn(), lodger = w.spawn();
    this->room.let(last, lodger);
    EXPECT_TRUE(w.destroy(lodger));
    EXPECT_TRUE(w.destroy(last));
    EXPECT_TRUE(this->room.tenants.empty());
}

TYPED_TEST(destroy_participants, lose_nothing_if_a_step_fails) {
    auto& w = this->owner;
    const auto a = w.spawn(position{1}), b = w.spawn(position{2});
    this->room.own(a, b);
    this->room.is_out_of_memory = true;
    EXPECT_THROW(w.destroy(a), std::bad_alloc);
    EXPECT_TRUE(w.alive_all(a, b));
    this->room.is_out_of_memory = false;
    auto refusing = w.template on_remove<position>([](auto, position& p) {
        if (p.x == 2) throw std::runtime_error("no");
    });
    EXPECT_THROW(w.destroy(a), std::runtime_error);
    EXPECT_TRUE(w.alive_all(a, b));
    EXPECT_EQ(w.template get<position>(b).x, 2);
    EXPECT_EQ(this->room.owned_by.size(), 1u);
    refusing.disconnect();
    EXPECT_TRUE(w.destroy(a));
    EXPECT_FALSE(w.alive_any(a, b));
}

TYPED_TEST(destroy_participants, take_part_in_scopes_and_in_hooks) {
    auto& w = this->owner;
    const auto a = w.spawn(position{1}), b = w.spawn(position{2}), c = w.spawn(position{3});
    this->room.own(a, b);
    std::string log;
    w.template on_remove<position>([&](auto, position& p) { log += std::to_string(p.x); });
    w.defer();
    w.destroy(a);
    EXPECT_TRUE(w.alive_all(a, b));
    w.cancel();
    EXPECT_TRUE(w.alive_all(a, b));
    w.each([&](basic_id<TypeParam> e, position& p) {
        if (p.x == 1) w.destroy(e);
    });
    EXPECT_FALSE(w.alive_any(a, b));
    EXPECT_TRUE(w.alive(c));
    EXPECT_EQ(log, "12");
}

TYPED_TEST(destroy_participants, take_part_when_a_fragment_is_destroyed) {
    auto& w = this->owner;
    const auto tag = w.tag("tag");
    w.define(tag).when_destroyed(destroy_owners);
    const auto a = w.spawn(position{1}), b = w.spawn(position{2}), c = w.spawn(position{3});
    w.set(a, tag);
    this->room.own(a, b);
    this->room.own(tag, c);
    EXPECT_TRUE(w.destroy(tag));
    EXPECT_FALSE(w.alive_any(a, b, c));
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(destroy_participants, hear_of_a_reset_even_with_tenants) {
    auto& w = this->owner;
    for (const bool has_hooks : {false, true}) {
        const auto house = w.spawn(position{1}), tenant = w.spawn(position{2});
        this->room.let(house, tenant);
        this->room.own(tenant, house);
        if (has_hooks) w.on_destroy([] {});
        w.reset();
        EXPECT_EQ(w.size(), 0u);
        EXPECT_TRUE(this->room.tenants.empty() && this->room.owned_by.empty());
    }
}

TYPED_TEST(destroy_participants, destroy_what_a_cancelled_scope_created) {
    auto& w = this->owner;
    const auto a = w.spawn();
    w.defer();
    const auto made = w.spawn(position{1});
    this->room.own(made, a);
    w.cancel();
    EXPECT_FALSE(w.alive(made));
    EXPECT_FALSE(w.alive(a));
}

/// Random forests: what is alive equals what a plain model says.
TYPED_TEST(destroy_participants, agree_with_a_model) {
    for (unsigned seed = 0; seed < 100; ++seed) {
        room_world<TypeParam> w;
        owners<TypeParam> tested(w);
        std::mt19937 random(seed);
        std::vector<basic_id<TypeParam>> all;
        std::map<std::uint64_t, std::uint64_t> parent;
        std::set<std::uint64_t> living;
        for (int i = 0; i < 60; ++i) {
            const auto pick = [&] { return all[random() % all.size()]; };
            if (all.empty() || random() % 3 != 0) {
                const auto e = random() % 2 != 0 ? w.spawn(position{i}) : w.spawn();
                if (!all.empty())
                    if (const auto up = pick(); living.contains(up.value())) {
                        tested.own(up, e);
                        parent[e.value()] = up.value();
                    }
                all.push_back(e);
                living.insert(e.value());
            } else {
                const auto e = pick();
                const auto is_below = [&](std::uint64_t at) {
                    for (; at != e.value(); at = parent[at])
                        if (!parent.contains(at)) return false;
                    return true;
                };
                const bool was_there = living.contains(e.value());
                std::set<std::uint64_t> rest;
                for (const std::uint64_t at : living)
                    if (!was_there || !is_below(at)) rest.insert(at);
                ASSERT_EQ(w.destroy(e), was_there);
                living = rest;
            }
            for (const auto e : all)
                ASSERT_EQ(w.alive(e), living.contains(e.value())) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace muster::test
