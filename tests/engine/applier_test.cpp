#include <muster/base/scope_guard.hpp>
#include <muster/engine/applier.hpp>
#include <muster/engine/chunk_move.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine_fixture.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

using shape_list = std::vector<change_shape>;

/// Entities with values of T in fragment a, or none; b and s (sparse) store T, too.
template <class T>
struct applier_of : engine_fixture {
    fragment_data& a = this->add<T>();
    fragment_data& b = this->add<T>();
    fragment_data& other = this->add<int>();
    fragment_data& s = this->add_sparse<T>();

    static T made(int number) { return value_kind<T>::made(number); }

    /// A value that the caller owns until it is stored.
    struct given_value {
        alignas(T) std::byte room[sizeof(T)];
        pending_value pending;
        sparse_set* set = nullptr;

        given_value(fragment_data& f, int number) : set(f.sparse_values) {
            void* at = room;
            if (set != nullptr) {
                pending.slot = set->take();
                at = set->at(pending.slot);
            }
            pending.at = ::new (at) T(made(number));
        }
        given_value(const given_value&) = delete;
        given_value& operator=(const given_value&) = delete;
        ~given_value() {
            if (pending.at == nullptr) return;
            static_cast<T*>(pending.at)->~T();
            if (set != nullptr) set->give_back(pending.slot);
        }
    };

    std::uint64_t spawn(int number) {
        const std::uint64_t e = core.entities.create();
        set(e, a, made(number));
        return e;
    }
    std::vector<std::uint64_t> spawn_many(int count) {
        std::vector<std::uint64_t> all;
        for (int i = 0; i < count; ++i) all.push_back(spawn(i));
        return all;
    }
    transition_ref step(std::uint64_t e, const shape_list& shape) {
        return core.catalog.transition_for(chunk_of(e), e, shape);
    }
    /// Applies a change as a call does: in a scope if it calls hooks.
    void apply(std::uint64_t e, const shape_list& shape, std::span<pending_value> values = {}) {
        const transition_ref made = step(e, shape);
        const scope_guard rewind([&] { core.scratch.rewind({}); });
        scope changes = made->calls_hooks() ? scope(core) : scope();
        core.applier.apply(e, *made, values, false);
        changes.commit();
    }
    void apply(std::uint64_t e, const change_shape& change, given_value& given) {
        apply(e, {change}, {&given.pending, 1});
    }
    static change_shape put(fragment_data& f) { return {&f, change_kind::put}; }
    static change_shape remove(fragment_data& f) { return {&f, change_kind::remove}; }

    void expect_value(std::uint64_t e, const fragment_data& f, int number) {
        ASSERT_TRUE(has(e, f));
        EXPECT_TRUE(get<T>(e, f) == made(number)) << number;
    }
};

using value_kinds = testing::Types<int, over_aligned, std::string, counted>;
TYPED_TEST_SUITE(applier_of, value_kinds);

// ---- one entity --------------------------------------------------------------------------------

TYPED_TEST(applier_of, stores_a_given_value_and_keeps_the_others) {
    const auto all = this->spawn_many(3);
    {
        typename TestFixture::given_value given(this->b, 50);
        this->apply(all[0], this->put(this->b), given);
        EXPECT_EQ(given.pending.at, nullptr);  // stored
    }
    this->expect_value(all[0], this->a, 0);
    this->expect_value(all[0], this->b, 50);
    for (int i = 1; i < 3; ++i) this->expect_value(all[static_cast<std::size_t>(i)], this->a, i);
    EXPECT_FALSE(this->has(all[1], this->b));
    this->expect_consistent();
}

TYPED_TEST(applier_of, replaces_a_value_in_its_row) {
    const auto all = this->spawn_many(3);
    const std::size_t row = this->row_of(all[1]);
    typename TestFixture::given_value given(this->a, 50);
    this->apply(all[1], this->put(this->a), given);
    this->expect_value(all[1], this->a, 50);
    EXPECT_EQ(this->row_of(all[1]), row);
    this->expect_value(all[2], this->a, 2);
    this->expect_consistent();
}

TYPED_TEST(applier_of, a_removed_value_is_destroyed) {
    const int before = counted::alive;
    const auto all = this->spawn_many(3);
    const int with_all = counted::alive;
    this->apply(all[0], {this->remove(this->a)});
    EXPECT_FALSE(this->has(all[0], this->a));
    EXPECT_EQ(this->chunk_of(all[0]).index, chunk_index{});
    EXPECT_EQ(counted::alive - before, (with_all - before) / 3 * 2);
    this->expect_value(all[2], this->a, 2);
    this->expect_consistent();
}

TYPED_TEST(applier_of, a_needed_fragment_gets_its_default_value) {
    this->needs(this->b, this->other);
    const std::uint64_t e = this->spawn(1);
    typename TestFixture::given_value given(this->b, 2);
    this->apply(e, this->put(this->b), given);
    this->expect_value(e, this->b, 2);
    ASSERT_TRUE(this->has(e, this->other));
    EXPECT_EQ(this->template get<int>(e, this->other), 0);
}

TYPED_TEST(applier_of, hooks_see_the_removed_value_before_and_the_inserted_one_after_the_move) {
    const std::uint64_t e = this->spawn(1);
    std::vector<std::string> log;
    this->hook(this->a, hook_kind::remove, [&](std::uint64_t of, void* value) {
        EXPECT_EQ(of, e);
        EXPECT_TRUE(*static_cast<TypeParam*>(value) == this->made(1));
        EXPECT_FALSE(this->has(e, this->b));
        log.emplace_back("remove a");
    });
    this->hook(this->b, hook_kind::insert, [&](std::uint64_t, void* value) {
        EXPECT_TRUE(*static_cast<TypeParam*>(value) == this->made(2));
        EXPECT_FALSE(this->has(e, this->a));
        log.emplace_back("insert b");
    });
    this->hook(this->b, hook_kind::set, [&](std::uint64_t, void*) { log.emplace_back("set b"); });
    this->hook(this->b, hook_kind::assign, refuse);
    typename TestFixture::given_value given(this->b, 2);
    const std::vector<change_shape> shape{this->put(this->b), this->remove(this->a)};
    std::array<pending_value, 2> values{given.pending, pending_value{}};
    given.pending = {};
    this->apply(e, shape, values);
    EXPECT_EQ(log, (std::vector<std::string>{"remove a", "insert b", "set b"}));
}

TYPED_TEST(applier_of, a_hook_that_throws_before_the_move_prevents_it) {
    const auto all = this->spawn_many(3);
    const std::size_t row = this->row_of(all[0]);
    this->hook(this->a, hook_kind::remove, refuse);
    EXPECT_THROW(this->apply(all[0], {this->remove(this->a)}), refusal);
    this->expect_value(all[0], this->a, 0);
    EXPECT_EQ(this->row_of(all[0]), row);
    EXPECT_TRUE(this->core.gate.is_idle());
    this->expect_consistent();
}

TYPED_TEST(applier_of, a_hook_that_throws_after_the_move_undoes_it) {
    const auto all = this->spawn_many(4);
    const std::uint64_t there = this->spawn(9);
    this->set(there, this->b, this->made(10));
    this->hook(this->b, hook_kind::insert, refuse);
    const int alive = counted::alive;
    for (const std::size_t which : {0u, 3u}) {  // another row fills the gap, and none does
        typename TestFixture::given_value given(this->b, 50);
        EXPECT_THROW(this->apply(all[which], this->put(this->b), given), refusal);
        ASSERT_NE(given.pending.at, nullptr);  // the caller owns it again
        EXPECT_TRUE(*static_cast<TypeParam*>(given.pending.at) == this->made(50));
    }
    EXPECT_EQ(counted::alive, alive);
    for (std::size_t i = 0; i < 4; ++i) {
        this->expect_value(all[i], this->a, static_cast<int>(i));
        EXPECT_EQ(this->row_of(all[i]), i);
        EXPECT_FALSE(this->has(all[i], this->b));
    }
    EXPECT_EQ(this->chunk_of(there).size, 1u);
    EXPECT_TRUE(this->core.gate.is_idle());
    this->expect_consistent();
}

TYPED_TEST(applier_of, a_hook_that_throws_after_a_value_was_replaced_restores_the_old_one) {
    const auto all = this->spawn_many(3);
    this->hook(this->a, hook_kind::assign, refuse);
    typename TestFixture::given_value given(this->a, 50);
    EXPECT_THROW(this->apply(all[1], this->put(this->a), given), refusal);
    for (std::size_t i = 0; i < 3; ++i) this->expect_value(all[i], this->a, static_cast<int>(i));
    EXPECT_TRUE(*static_cast<TypeParam*>(given.pending.at) == this->made(50));
}

TYPED_TEST(applier_of, a_hook_that_throws_after_another_value_was_dropped_restores_it) {
    const auto all = this->spawn_many(3);
    this->hook(this->b, hook_kind::set, refuse);
    const std::vector<change_shape> shape{this->put(this->b), this->remove(this->a)};
    typename TestFixture::given_value given(this->b, 50);
    std::array<pending_value, 2> values{given.pending, pending_value{}};
    EXPECT_THROW(this->apply(all[0], shape, values), refusal);
    EXPECT_EQ(values[0].at, given.pending.at);
    for (std::size_t i = 0; i < 3; ++i) {
        this->expect_value(all[i], this->a, static_cast<int>(i));
        EXPECT_EQ(this->row_of(all[i]), i);
    }
    this->expect_consistent();
}

TYPED_TEST(applier_of, a_hook_may_connect_hooks_while_the_transition_is_applied) {
    const auto all = this->spawn_many(2);
    std::vector<std::string> log;
    this->hook(this->b, hook_kind::insert, [&](std::uint64_t, void*) {
        // Begins an epoch: the graph drops the transition, which is still being applied.
        this->hook(this->b, hook_kind::set, [&](std::uint64_t, void*) { log.emplace_back("set"); });
        this->core.graph.invalidate_traits();
        log.emplace_back("insert");
    });
    typename TestFixture::given_value given(this->b, 50);
    this->apply(all[0], this->put(this->b), given);
    this->expect_value(all[0], this->b, 50);
    this->expect_value(all[0], this->a, 0);
    ASSERT_FALSE(log.empty());
    EXPECT_EQ(log[0], "insert");
    this->expect_consistent();
}

TYPED_TEST(applier_of, observers_are_notified_of_changes_that_happened_only) {
    const auto all = this->spawn_many(2);
    auto* const log = new change_log;
    this->core.notifier.add_observer(*log);
    this->core.notifier.subscribe(*log, this->b, insert_hooks);
    const std::uint64_t number = this->hook(this->b, hook_kind::insert, refuse);
    {
        typename TestFixture::given_value given(this->b, 50);
        EXPECT_THROW(this->apply(all[0], this->put(this->b), given), refusal);
    }
    EXPECT_EQ(log->size(), 0u);
    this->core.notifier.connect(this->b.id, number, false);
    typename TestFixture::given_value given(this->b, 50);
    this->apply(all[0], this->put(this->b), given);
    EXPECT_EQ(log->size(), 1u);
    this->core.notifier.remove_observer(*log);
    log->release();
}

// ---- sparse values -----------------------------------------------------------------------------

TYPED_TEST(applier_of, a_sparse_value_is_inserted_replaced_in_its_place_and_removed) {
    const std::uint64_t e = this->spawn(1);
    const int before = counted::alive;
    typename TestFixture::given_value first(this->s, 2);
    this->apply(e, this->put(this->s), first);
    this->expect_value(e, this->s, 2);
    const void* const address = &this->template get<TypeParam>(e, this->s);
    typename TestFixture::given_value second(this->s, 3);
    this->apply(e, this->put(this->s), second);
    this->expect_value(e, this->s, 3);
    EXPECT_EQ(&this->template get<TypeParam>(e, this->s), address);
    EXPECT_EQ(this->s.sparse_values->size(), 1u);
    this->expect_value(e, this->a, 1);
    this->apply(e, {this->remove(this->s)});
    EXPECT_FALSE(this->has(e, this->s));
    EXPECT_EQ(this->s.sparse_values->end(), 0u);  // no slot is reserved
    EXPECT_EQ(counted::alive, before);
    EXPECT_TRUE(this->core.marks.test(this->core.entities.key_of(e)));
}

TYPED_TEST(applier_of, a_hook_that_throws_undoes_the_change_of_a_sparse_value) {
    const std::uint64_t e = this->spawn(1);
    std::uint64_t number = this->hook(this->s, hook_kind::insert, refuse);
    {
        typename TestFixture::given_value given(this->s, 2);
        EXPECT_THROW(this->apply(e, this->put(this->s), given), refusal);
        EXPECT_FALSE(this->has(e, this->s));
        EXPECT_TRUE(*static_cast<TypeParam*>(given.pending.at) == this->made(2));
    }
    EXPECT_EQ(this->s.sparse_values->end(), 0u);
    this->core.notifier.remove(this->s.id, number);
    this->set(e, this->s, this->made(3));
    this->hook(this->s, hook_kind::assign, refuse);
    this->hook(this->s, hook_kind::remove, refuse);
    const void* const address = &this->template get<TypeParam>(e, this->s);
    {
        typename TestFixture::given_value given(this->s, 4);
        EXPECT_THROW(this->apply(e, this->put(this->s), given), refusal);
        EXPECT_TRUE(*static_cast<TypeParam*>(given.pending.at) == this->made(4));
    }
    EXPECT_THROW(this->apply(e, {this->remove(this->s)}), refusal);
    this->expect_value(e, this->s, 3);
    EXPECT_EQ(&this->template get<TypeParam>(e, this->s), address);
    EXPECT_EQ(this->s.sparse_values->size(), 1u);
}

// ---- all entities of a chunk -------------------------------------------------------------------

TYPED_TEST(applier_of, all_entities_of_a_chunk_move_together) {
    const auto all = this->spawn_many(5);
    chunk_data& from = this->chunk_of(all[0]);
    const int number = 42;
    const std::vector<change_shape> shape{this->put(this->other)};
    const transition_ref step = this->step(all[0], shape);
    const value_source values[] = {{&number, 0}};
    this->core.applier.apply_chunk(*step, values);
    this->core.scratch.rewind({});
    EXPECT_EQ(from.size, 0u);
    for (std::size_t i = 0; i < 5; ++i) {
        this->expect_value(all[i], this->a, static_cast<int>(i));
        EXPECT_EQ(this->template get<int>(all[i], this->other), 42);
    }
    this->expect_consistent();
}

TYPED_TEST(applier_of, a_hook_that_throws_for_one_entity_undoes_the_move_of_all) {
    const auto all = this->spawn_many(5);
    const std::uint64_t there = this->spawn(9);
    this->set(there, this->other, 1);
    int calls = 0;
    this->hook(this->other, hook_kind::insert, [&](std::uint64_t, void*) {
        if (++calls == 3) throw refusal();
    });
    const int number = 42;
    const std::vector<change_shape> shape{this->put(this->other)};
    const transition_ref step = this->step(all[0], shape);
    const value_source values[] = {{&number, 0}};
    {
        const scope changes(this->core);
        EXPECT_THROW(this->core.applier.apply_chunk(*step, values), refusal);
    }
    EXPECT_EQ(calls, 3);
    for (std::size_t i = 0; i < 5; ++i) {
        this->expect_value(all[i], this->a, static_cast<int>(i));
        EXPECT_FALSE(this->has(all[i], this->other));
        EXPECT_EQ(this->row_of(all[i]), i);
    }
    this->expect_value(there, this->a, 9);
    EXPECT_EQ(this->template get<int>(there, this->other), 1);
    EXPECT_EQ(this->chunk_of(there).size, 1u);
    this->expect_consistent();
}

// ---- bytes, defaults and types -----------------------------------------------------------------

using applier_of_numbers = applier_of<int>;

TEST_F(applier_of_numbers, apply_bytes_moves_what_needs_neither_user_code_nor_memory) {
    const auto all = spawn_many(2);
    int value = 50;
    const pending_value values[] = {{&value}};
    const transition_ref moves = step(all[0], {put(b)});
    EXPECT_FALSE(core.applier.apply_bytes(all[0], *moves, values, false));  // no row is free
    expect_value(all[0], a, 0);
    moves->to->make_room(1, 100, {});
    EXPECT_TRUE(core.applier.apply_bytes(all[0], *moves, values, false));
    expect_value(all[0], a, 0);
    expect_value(all[0], b, 50);
    expect_consistent();
}

TEST_F(applier_of_numbers, apply_bytes_refuses_what_notifies_or_fixes_a_type) {
    const auto all = spawn_many(1);
    int value = 50;
    const pending_value values[] = {{&value}};
    b.is_untyped = true;
    const transition_ref fixes = step(all[0], {put(b)});
    fixes->to->make_room(1, 100, {});
    EXPECT_FALSE(core.applier.apply_bytes(all[0], *fixes, values, false));
    b.is_untyped = false;
    hook(b, hook_kind::set, [](std::uint64_t, void*) {});
    const transition_ref notifies = step(all[0], {put(b)});
    EXPECT_FALSE(core.applier.apply_bytes(all[0], *notifies, values, false));
    core.notifier.add(hook_kind::insert, hook_of([](std::uint64_t, void*) {}));
    const transition_ref removes = step(all[0], {remove(a)});
    EXPECT_FALSE(core.applier.apply_bytes(all[0], *removes, {}, true));
    EXPECT_TRUE(core.applier.apply_bytes(all[0], *removes, {}, false));
    EXPECT_FALSE(has(all[0], a));
}

TEST_F(applier_of_numbers, a_stored_value_fixes_the_type_of_its_fragment) {
    const auto all = spawn_many(1);
    b.is_untyped = true;
    given_value given(b, 50);
    apply(all[0], put(b), given);
    EXPECT_FALSE(b.is_untyped);
}

TEST_F(applier_of_numbers, the_hooks_of_a_new_entity_are_called_and_undo_its_move) {
    const std::uint64_t e = core.entities.create();
    std::vector<std::uint64_t> born;
    core.notifier.add(hook_kind::insert, hook_of([&](std::uint64_t of, void*) {
                          EXPECT_TRUE(has(of, a));
                          born.push_back(of);
                          throw refusal();
                      }));
    given_value given(a, 50);
    const transition_ref step = this->step(e, {put(a)});
    {
        const scope changes(core);
        EXPECT_THROW(core.applier.apply(e, *step, {&given.pending, 1}, true), refusal);
    }
    EXPECT_EQ(born, std::vector<std::uint64_t>{e});
    EXPECT_FALSE(has(e, a));
    EXPECT_TRUE(core.entities.alive(e));
    EXPECT_EQ(step->to->size, 0u);
}

/// The default value cannot be constructed.
struct fails_to_start {
    int number = 0;
    fails_to_start() { throw std::runtime_error("no default"); }
    fails_to_start(fails_to_start&&) noexcept = default;
    fails_to_start& operator=(fails_to_start&&) = delete;
    ~fails_to_start() = default;
};
struct no_default {
    int number;
    explicit no_default(int value) noexcept : number(value) {}
};

TYPED_TEST(applier_of, a_default_value_that_cannot_be_made_changes_nothing) {
    fragment_data& failing = this->template add<fails_to_start>();
    fragment_data& missing = this->template add<no_default>();
    const auto all = this->spawn_many(2);
    const int alive = counted::alive;
    for (fragment_data* const needed : {&failing, &missing}) {
        this->b.implied.clear();
        this->needs(this->b, *needed);
        typename TestFixture::given_value given(this->b, 50);
        const auto call = [&] { this->apply(all[0], this->put(this->b), given); };
        if (needed == &failing)
            EXPECT_THROW(call(), std::runtime_error);
        else
            EXPECT_EQ(code_of(call), errc::no_default);
        EXPECT_TRUE(*static_cast<TypeParam*>(given.pending.at) == this->made(50));
    }
    EXPECT_EQ(counted::alive, alive);
    this->expect_value(all[0], this->a, 0);
    EXPECT_FALSE(this->has(all[0], this->b));
    EXPECT_TRUE(this->core.gate.is_idle());
    this->expect_consistent();
}

}  // namespace
}  // namespace muster::test
