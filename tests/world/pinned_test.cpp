// Pinned types: their values keep their address, because a move is impossible or can throw.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::broken;
using test::code_of;
using test::copies;
using test::countdown;
using test::tracked;

struct place {
    int x = 0;
};
struct burning {
    int heat = 0;
};

/// Copyable. Its copy and its move throw when their countdown strikes.
struct heavy : tracked<heavy> {
    int value = 0;
    static inline countdown moves;

    heavy() : heavy(0) {}
    explicit heavy(int number) : value(number) { strain(copies); }
    heavy(const heavy& other) : tracked(other), value(other.value) { strain(copies); }
    // NOLINTNEXTLINE(performance-noexcept-move-constructor): a throwing move is under test
    heavy(heavy&& other) : tracked(other), value(std::exchange(other.value, -1)) { strain(moves); }
    heavy& operator=(const heavy&) = delete;
    heavy& operator=(heavy&&) = delete;
    ~heavy() = default;

private:
    static void strain(countdown& events) {
        if (events.strikes()) throw broken{};
    }
};
/// Can be constructed, but neither copied nor moved.
struct rooted : tracked<rooted> {
    int value = 0;
    rooted() = default;
    explicit rooted(int number) : value(number) {}
    rooted(const rooted&) = delete;
    rooted& operator=(const rooted&) = delete;
};
/// Moves without throwing: not pinned, though its copy throws.
struct brittle {
    test::fragile inner;
};
static_assert(detail::is_pinned<heavy> && detail::is_pinned<rooted> &&
              detail::is_pinned<std::mutex> && detail::is_pinned<std::atomic<int>> &&
              !detail::is_pinned<brittle>);

struct pinned : testing::Test {
    world w;
    ~pinned() override {
        EXPECT_EQ(heavy::count.misused, 0);
        EXPECT_EQ(rooted::count.misused, 0);
    }
    static int living() { return heavy::count.living + rooted::count.living; }
};

// ---- single entities ---------------------------------------------------------------------------

TEST_F(pinned, a_locked_mutex_keeps_its_address_while_others_are_added_and_removed) {
    const entity e = w.spawn(place{1});
    std::mutex& lock = w.emplace<std::mutex>(e);
    std::atomic<int>& number = w.emplace<std::atomic<int>>(e, 5);
    lock.lock();
    std::vector<entity> others;
    for (int i = 0; i < 1000; ++i) {
        others.push_back(w.spawn(place{i}));
        w.emplace<std::mutex>(others.back());
        w.emplace<std::atomic<int>>(others.back(), i);
        if (i % 3 == 0) w.destroy(others[static_cast<std::size_t>(i / 2)]);
        if (i % 100 == 0) w.collect_garbage();
    }
    w.set(e, burning{1});
    w.remove<place>(e);
    EXPECT_EQ(&w.get<std::mutex>(e), &lock);
    EXPECT_EQ(&w.get<std::atomic<int>>(e), &number);
    EXPECT_EQ(number.load(), 5);
    lock.unlock();
    EXPECT_TRUE(w.remove<std::mutex>(e));
    EXPECT_FALSE(w.has<std::mutex>(e));
    EXPECT_EQ(number.load(), 5);
}

TEST_F(pinned, every_call_can_store_a_pinned_value) {
    const entity e = w.spawn(heavy(1), place{2});
    EXPECT_EQ(w.get<heavy>(e).value, 1);
    w.set(e, heavy(3));
    EXPECT_EQ(w.get<heavy>(e).value, 3);
    const heavy original(4);
    w.set(e, original);
    EXPECT_EQ(w.get<heavy>(e).value, 4);
    w.set(e, w.get<heavy>(e));  // a reference to the stored value
    EXPECT_EQ(w.get<heavy>(e).value, 4);
    w.set(e, std::move(w.get<heavy>(e)), place{3});
    EXPECT_EQ(w.get<heavy>(e).value, 4);
    w.emplace<heavy>(e, w.get<heavy>(e).value + 1);
    EXPECT_EQ(w.get<heavy>(e).value, 5);
    EXPECT_FALSE(w.add<heavy>(e));
    w.patch<heavy>(e, [](heavy& value) { value.value = 6; });
    EXPECT_EQ(w.get<heavy>(w.clone(e)).value, 6);
    EXPECT_EQ(w.get<heavy>(w.clone(e, heavy(7), burning{1})).value, 7);
    for (const entity each : w.clone_many(3, e, burning{2})) {
        EXPECT_EQ(w.get<heavy>(each).value, 6);
        EXPECT_EQ(w.get<place>(each).x, 3);
    }
    for (const entity each : w.spawn_many(3, original, place{9}))
        EXPECT_EQ(w.get<heavy>(each).value, 4);
    std::vector<heavy> column;
    column.reserve(3);
    for (int i = 0; i < 3; ++i) column.emplace_back(20 + i);
    int expected = 20;
    for (const entity each : w.spawn_columns(column))
        EXPECT_EQ(w.get<heavy>(each).value, expected++);
    w.spawn_rows(
        2,
        [](const auto& rows) {
            for (place& slot : rows.template components<place>()) slot.x = 77;
        },
        original, place{});
    EXPECT_EQ(w.count<heavy>(), 1u + 2 + 3 + 3 + 3 + 2);
    w.clear<heavy>();
    EXPECT_EQ(living(), 4);  // `original` and `column`
    EXPECT_EQ(w.get_or_emplace<heavy>(e, 8).value, 8);
    EXPECT_EQ(w.get_or_emplace<heavy>(e, 9).value, 8);
    w.emplace<rooted>(e, 10);
    w.add<rooted>(w.spawn());
    w.set_single(heavy(11));
    w.emplace<rooted>(w.component<rooted>().id(), 12);
    EXPECT_EQ(w.single<heavy>().value, 11);
    EXPECT_EQ(w.single<rooted>().value, 12);
    w.reset();
    EXPECT_EQ(living(), 4);
}

TEST_F(pinned, calls_accept_zero_entities) {
    const heavy original(1);
    EXPECT_TRUE(w.spawn_many(0, original, place{}).empty());
    const entity e = w.spawn(original);
    EXPECT_TRUE(w.clone_many(0, e).empty());
    EXPECT_TRUE(w.clone_many(0, e, place{}).empty());
    w.spawn_rows(0, [](const auto&) {}, original);
    EXPECT_TRUE(w.spawn_columns(std::vector<heavy>()).empty());
    w.query<place>().set(original);
    w.defer();
    EXPECT_TRUE(w.spawn_many(0, original).empty());
    w.commit();
    EXPECT_EQ(w.count<heavy>(), 1u);
}

TEST_F(pinned, a_duplicate_function_clones_values_that_cannot_be_copied) {
    const entity e = w.spawn(place{1});
    w.emplace<rooted>(e, 5);
    EXPECT_EQ(code_of([&] { w.clone(e); }), errc::not_copyable);
    EXPECT_EQ(code_of([&] { w.clone_many(2, e); }), errc::not_copyable);
    w.defer();
    EXPECT_EQ(code_of([&] { w.clone(e); }), errc::not_copyable);
    w.commit();
    EXPECT_EQ(w.size(), 1u);
    w.define<rooted>().duplicate([](const rooted& value) { return rooted(value.value + 1); });
    EXPECT_EQ(w.get<rooted>(w.clone(e)).value, 6);
    for (const entity each : w.clone_many(3, e)) EXPECT_EQ(w.get<rooted>(each).value, 6);
    w.defer();
    w.emplace<rooted>(e, 50);
    const entity later = w.clone(e);
    w.commit();
    EXPECT_EQ(w.get<rooted>(later).value, 51);
    EXPECT_EQ(w.get<rooted>(e).value, 50);
}

// ---- scopes ------------------------------------------------------------------------------------

TEST_F(pinned, pending_values_keep_their_address_on_commit) {
    const entity e = w.spawn(place{});
    w.defer();
    std::mutex& lock = w.emplace<std::mutex>(e);
    lock.lock();
    rooted& first = w.emplace<rooted>(e, 1);
    rooted& second = w.emplace<rooted>(e, 2);
    EXPECT_NE(&first, &second);
    const entity spawned = w.spawn(heavy(3));
    heavy& third = w.emplace<heavy>(spawned, 4);
    w.commit();
    EXPECT_EQ(&w.get<std::mutex>(e), &lock);
    lock.unlock();
    EXPECT_EQ(&w.get<rooted>(e), &second);
    EXPECT_EQ(&w.get<heavy>(spawned), &third);
    EXPECT_EQ(living(), 2);
}

TEST_F(pinned, cancelling_a_scope_keeps_all_values_in_place) {
    const entity e = w.spawn(heavy(1));
    w.emplace<rooted>(e, 2);
    const heavy* const before = &w.get<heavy>(e);
    for (int depth = 1; depth < 4; ++depth) {
        for (int i = 0; i < depth; ++i) {
            w.defer();
            w.emplace<heavy>(e, 10 + i);
            w.emplace<rooted>(e, 20 + i);
            w.patch<heavy>(e, [](heavy& value) { value.value += 100; });
            w.emplace<rooted>(w.spawn(place{}), 30);
        }
        for (int i = 0; i < depth; ++i) w.cancel();
    }
    EXPECT_EQ(&w.get<heavy>(e), before);
    EXPECT_EQ(before->value, 1);
    EXPECT_EQ(w.get<rooted>(e).value, 2);
    EXPECT_EQ(living(), 2);
    EXPECT_EQ(w.size(), 1u);
}

TEST_F(pinned, a_stored_value_that_cannot_be_copied_cannot_be_patched_in_a_scope) {
    const entity e = w.spawn();
    w.emplace<rooted>(e, 2);
    w.defer();
    EXPECT_EQ(code_of([&] { w.patch<rooted>(e, [](rooted&) {}); }), errc::not_copyable);
    w.touch<rooted>(e);
    w.commit();
    const entity other = w.spawn();
    w.defer();
    w.emplace<rooted>(other, 3);
    w.patch<rooted>(other, [](rooted& value) { value.value = 4; });  // patches the pending value
    w.commit();
    EXPECT_EQ(w.get<rooted>(other).value, 4);
}

TEST_F(pinned, spawn_rows_of_pinned_values_is_refused_in_a_scope) {
    const heavy original(1);
    w.defer();
    EXPECT_EQ(code_of([&] { w.spawn_rows(2, [](const auto&) {}, original, place{}); }),
              errc::not_movable);
    w.spawn_many(3, original, place{});
    w.commit();
    EXPECT_EQ(w.size(), 3u);
    EXPECT_EQ(living(), 4);
}

// ---- failure -----------------------------------------------------------------------------------

TEST_F(pinned, a_move_that_throws_changes_nothing) {
    const entity e = w.spawn(place{1});
    w.set(e, heavy(1));
    const heavy* const before = &w.get<heavy>(e);
    const auto breaks = [&](auto call) {
        heavy::moves.start(0);
        EXPECT_THROW(call(), broken);
        heavy::moves.stop();
        EXPECT_EQ(w.size(), 1u);
        EXPECT_EQ(&w.get<heavy>(e), before);
        EXPECT_EQ(before->value, 1);
        EXPECT_EQ(living(), 1);
        EXPECT_EQ(w.get<place>(e).x, 1);
        EXPECT_FALSE(w.has<burning>(e));
        EXPECT_EQ(w.depth(), 0u);
    };
    breaks([&] { w.set(e, heavy(2)); });
    breaks([&] { w.set(e, heavy(2), place{2}); });
    breaks([&] { w.set(e, place{2}, burning{}, heavy(2)); });
    breaks([&] { w.spawn(heavy(2)); });
    breaks([&] { w.spawn(place{}, heavy(2)); });
    breaks([&] { w.clone(e, heavy(2)); });
    breaks([&] { w.emplace<heavy>(e, heavy(2)); });
    w.remove<heavy>(e);
    heavy::moves.start(0);
    EXPECT_THROW(w.set(e, heavy(2)), broken);
    heavy::moves.stop();
    EXPECT_FALSE(w.has<heavy>(e));
    EXPECT_EQ(living(), 0);
    w.set(e, heavy(3));
    EXPECT_EQ(w.get<heavy>(e).value, 3);
}

TEST_F(pinned, an_id_remains_untyped_after_a_throwing_value) {
    bool has_broken = true;
    for (int n = 0; has_broken; ++n) {
        const auto [f, e] = w.ids<2>();
        heavy::moves.start(n);
        try {
            w.set(e, f, heavy(1));
            has_broken = false;
        } catch (const broken&) {
        }
        heavy::moves.stop();
        if (!has_broken) break;
        w.set(e, f, 5);
        EXPECT_EQ(w.get<int>(e, f), 5);
        EXPECT_FALSE(w.define(f).is_sparse()) << n;
    }
    EXPECT_EQ(living(), 1);
}

TEST_F(pinned, several_defaults_are_added_together_or_not_at_all) {
    const entity e = w.spawn();
    copies.start(0);  // heavy's default constructor throws
    EXPECT_THROW((w.add<rooted, heavy>(e)), broken);
    copies.stop();
    EXPECT_FALSE(w.has<heavy>(e));
    EXPECT_FALSE(w.has<rooted>(e)) << "the first value was not removed";
    EXPECT_TRUE((w.add<rooted, heavy, place>(e)));
    EXPECT_FALSE((w.add<rooted, heavy, place>(e)));
}

TEST_F(pinned, several_defaults_are_one_change_for_hooks) {
    std::string seen;
    w.on_insert<rooted>([&](entity e) { seen += w.has<heavy>(e) ? "both" : "alone"; });
    const entity e = w.spawn();
    w.add<rooted, heavy>(e);
    EXPECT_EQ(seen, "both");
}

TEST_F(pinned, a_throwing_value_consumes_no_id) {
    world other{{.number = 500}};
    world same{{.number = 501}};
    const heavy original(1);
    const auto breaks = [&](auto call) {
        copies.start(0);
        EXPECT_THROW(call(), broken);
        copies.stop();
        const entity next = other.spawn();
        const entity expected = same.spawn();
        EXPECT_EQ(next.key(), expected.key());
        EXPECT_EQ(next.version(), expected.version());
    };
    breaks([&] { other.spawn(original); });
    breaks([&] { other.spawn(original, place{}); });
    breaks([&] { other.spawn_many(3, original, place{}); });
}

// ---- hooks and batches -------------------------------------------------------------------------

TEST_F(pinned, hooks_see_the_old_value_and_may_refuse_the_new_one) {
    const entity e = w.spawn();
    w.emplace<rooted>(e, 1);
    const rooted* const before = &w.get<rooted>(e);
    bool refuses = true;
    w.on_assign<rooted>([&](entity, rooted& now) {
        EXPECT_EQ(now.value, 2);
        EXPECT_EQ(before->value, 1);
        EXPECT_NE(before, &now);
        if (refuses) throw broken{};
    });
    w.on_remove<rooted>([&](entity, rooted&) {
        if (refuses) throw broken{};
    });
    EXPECT_THROW(w.emplace<rooted>(e, 2), broken);
    EXPECT_EQ(&w.get<rooted>(e), before);
    EXPECT_THROW(w.remove<rooted>(e), broken);
    EXPECT_THROW(w.clear(e), broken);
    EXPECT_THROW(w.destroy(e), broken);
    EXPECT_THROW(w.clear<rooted>(), broken);
    EXPECT_THROW(w.query<rooted>().destroy(), broken);
    EXPECT_THROW(w.destroy(w.component<rooted>().id()), broken);
    EXPECT_EQ(&w.get<rooted>(e), before);
    EXPECT_EQ(living(), 1);
    refuses = false;
    w.emplace<rooted>(e, 2);
    EXPECT_EQ(living(), 1);
    w.query<rooted>().destroy();
    EXPECT_EQ(living(), 0);
}

TEST_F(pinned, batches_construct_a_value_for_each_entity) {
    std::vector<entity> all = w.spawn_many(100, place{1});
    const heavy original(5);
    EXPECT_EQ(w.query<place>().set(original), 100u);
    EXPECT_EQ(living(), 101);
    std::set<const heavy*> seen;
    w.each([&](heavy& value) { seen.insert(&value); });
    EXPECT_EQ(seen.size(), 100u);
    EXPECT_EQ(w.query<place>().add<rooted>(), 100u);
    EXPECT_EQ(w.query<rooted>().set(original), 100u);
    for (int n = 0; n < 100; n += 33) {  // only the entity whose copy throws keeps its old value
        copies.start(n + 1);
        EXPECT_THROW(w.query<place>().set(heavy(n)), broken);
        copies.stop();
        EXPECT_EQ(living(), 201);
    }
    EXPECT_EQ(w.query<heavy>().remove<rooted>(), 100u);
    EXPECT_EQ(w.query<heavy>().clear(), 100u);
    EXPECT_EQ(living(), 1);
}

// ---- load --------------------------------------------------------------------------------------

TEST_F(pinned, addresses_hold_under_load) {
    std::mt19937 random(3);
    std::map<entity, const rooted*> addresses;
    std::vector<entity> all = w.spawn_many(300, place{});
    for (int i = 0; i < 20000; ++i) {
        const entity e = all[random() % all.size()];
        switch (random() % 8) {
        case 0: addresses[e] = &w.emplace<rooted>(e, i); break;
        case 1:
            w.remove<rooted>(e);
            addresses.erase(e);
            break;
        case 2: w.set(e, burning{i}); break;
        case 3: w.remove<burning>(e); break;
        case 4:
            if (w.add<rooted>(e)) addresses[e] = &w.get<rooted>(e);
            break;
        case 5: w.set(e, heavy(i), place{i}); break;
        case 6:
            w.destroy(e);
            addresses.erase(e);
            *std::ranges::find(all, e) = w.spawn(place{i});
            break;
        default:
            if (i % 10 == 0) w.collect_garbage();
            w.defer();
            w.emplace<rooted>(e, i);
            w.cancel();
        }
        ASSERT_EQ(w.count<rooted>(), addresses.size());
        if (i % 50 == 0)
            for (const auto& [id, address] : addresses) ASSERT_EQ(w.try_get<rooted>(id), address);
    }
    w.reset();
    EXPECT_EQ(living(), 0);
}

// ---- types made at run time --------------------------------------------------------------------

/// Stores its own address, like a string that holds its text inside the object.
struct self_aware {
    const void* self;
    int value;
};
component_type self_aware_type(bool can_copy) {
    component_type made{.size = sizeof(self_aware), .alignment = alignof(self_aware)};
    made.pinned = true;
    made.relocate = [](void*, void*, std::size_t) noexcept { ADD_FAILURE() << "was moved"; };
    made.destroy = [](void* at, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            auto& item = static_cast<self_aware*>(at)[i];
            EXPECT_EQ(item.self, &item);
            item.self = nullptr;
        }
    };
    made.construct = [](void* at, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            ::new (static_cast<self_aware*>(at) + i)
                self_aware{static_cast<self_aware*>(at) + i, 0};
    };
    if (can_copy)
        made.copy = [](void* to, const void* from, std::size_t count, std::size_t step) {
            for (std::size_t i = 0; i < count; ++i)
                ::new (static_cast<self_aware*>(to) + i)
                    self_aware{static_cast<self_aware*>(to) + i,
                               static_cast<const self_aware*>(from)[i * step].value};
        };
    return made;
}

TEST_F(pinned, types_made_at_run_time_keep_their_address) {
    const entity f = w.fragment(self_aware_type(true), "self-aware");
    const entity sealed = w.fragment(self_aware_type(false), "sealed");
    EXPECT_TRUE(w.define(f).is_sparse());
    const entity e = w.spawn(place{});
    const self_aware value{nullptr, 5};
    w.set_raw(e, f, &value);
    w.set_raw(e, f, w.try_get_raw(e, f));
    EXPECT_EQ(static_cast<self_aware*>(w.try_get_raw(e, f))->value, 5);
    EXPECT_EQ(code_of([&] { w.set_raw(e, sealed, &value); }), errc::not_copyable);
    EXPECT_TRUE(w.add(e, sealed));
    EXPECT_FALSE(w.add(e, sealed));
    w.set(e, sealed);
    EXPECT_EQ(code_of([&] { w.clone(e); }), errc::not_copyable);
    EXPECT_EQ(code_of([&] { w.copy_fragment(sealed, f); }), errc::not_copyable);
    w.remove(e, sealed);
    const entity copy = w.clone(e);
    w.clone_many(3, e, burning{});
    w.defer();
    w.set_raw(copy, f, &value);
    w.clone(copy);
    w.add(w.spawn(), f);
    w.cancel();
    const entity target = w.spawn();
    EXPECT_EQ(w.copy_fragment(f, target), 5u);
    EXPECT_TRUE(w.define(target).is_sparse());
    w.query<place>().set(sealed);
    EXPECT_EQ(w.count(sealed), 5u);
    w.query<place>().remove(f, target);
    const auto made = w.builder().set(f).set(sealed).spawn_many(4);
    for (const entity id : made) EXPECT_TRUE(w.has_all(id, f, sealed));
    w.destroy(sealed);
    w.destroy(f);
    EXPECT_EQ(w.size(), 1u + 1 + 3 + 4 + 1);  // the last 1 is the target
}

TEST_F(pinned, values_cannot_be_sorted) {
    const entity f = w.fragment(self_aware_type(true));
    EXPECT_EQ(code_of([&] { w.sort_like(f, w.component<place>()); }), errc::not_movable);
    EXPECT_EQ(code_of([&] { w.sort<heavy>([](auto&, auto&) { return false; }); }),
              errc::not_movable);
    EXPECT_EQ(code_of([&] { (w.sort_like<rooted, place>()); }), errc::not_movable);
}

}  // namespace
}  // namespace muster
