#include <muster/engine/chunk_move.hpp>
#include <muster/engine/transaction.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine_fixture.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

/// A transaction of an engine with the fragments a (int), t (text), c (counted), s (sparse text).
struct transaction_of : engine_fixture {
    fragment_data& a = add<int>();
    fragment_data& b = add<int>();
    fragment_data& t = add<std::string>();
    fragment_data& c = add<counted>();
    fragment_data& s = add_sparse<std::string>();
    detail::transaction& tested = core.transaction;

    static std::string text(int number) { return value_kind<std::string>::made(number); }
    std::uint64_t spawn(int number = 0) {
        const std::uint64_t e = core.entities.create();
        set(e, a, number);
        return e;
    }
    bool clear(std::uint64_t e) { return core.changes.clear(at(e)); }
    bool destroy(std::uint64_t e) { return core.destroyer.destroy(at(e)); }
    std::uint64_t spawn_with(int number) {
        change given = put(a, number);
        return core.spawner.spawn({&given, 1}, nullptr);
    }
    void expect_idle() {
        EXPECT_EQ(core.depth(), 0u);
        EXPECT_TRUE(core.gate.is_idle());
        EXPECT_TRUE(core.pending.empty());
        EXPECT_EQ(tested.innermost(), nullptr);
        expect_consistent();
    }
};

// ---- scopes ------------------------------------------------------------------------------------

TEST_F(transaction_of, changes_of_a_scope_are_applied_when_it_commits) {
    const std::uint64_t e = spawn(1);
    tested.defer();
    set(e, a, 2);
    set(e, t, text(3));
    set(e, s, text(4));
    EXPECT_EQ(get<int>(e, a), 1);
    EXPECT_FALSE(has(e, t) || has(e, s));
    tested.commit();
    EXPECT_EQ(get<int>(e, a), 2);
    EXPECT_EQ(get<std::string>(e, t), text(3));
    EXPECT_EQ(get<std::string>(e, s), text(4));
    expect_idle();
}

TEST_F(transaction_of, a_cancelled_scope_drops_its_changes_and_rolls_back_its_entities) {
    const int before = counted::alive;
    const std::uint64_t e = spawn(1);
    const std::size_t size = core.entities.size();
    tested.defer();
    set(e, a, 2);
    set(e, s, text(4));
    set(e, c, counted(5));
    const std::uint64_t made = spawn_with(7);
    EXPECT_TRUE(core.entities.alive(made));
    EXPECT_EQ(counted::alive, before + 1);
    tested.cancel();
    EXPECT_EQ(get<int>(e, a), 1);
    EXPECT_FALSE(has(e, s));
    EXPECT_FALSE(core.entities.alive(made));
    EXPECT_EQ(core.entities.size(), size);
    EXPECT_EQ(counted::alive, before);
    EXPECT_EQ(s.sparse_values->end(), 0u);  // no slot stays reserved
    expect_idle();
}

TEST_F(transaction_of, only_the_outermost_scope_applies) {
    const std::uint64_t e = spawn(1);
    tested.defer();
    set(e, a, 2);
    tested.defer();
    EXPECT_EQ(core.depth(), 2u);
    set(e, b, 3);
    tested.commit();
    EXPECT_EQ(get<int>(e, a), 1);
    EXPECT_FALSE(has(e, b));
    tested.commit();
    EXPECT_EQ(get<int>(e, a), 2);
    EXPECT_EQ(get<int>(e, b), 3);
    expect_idle();
}

TEST_F(transaction_of, cancelling_an_inner_scope_keeps_the_changes_of_the_outer_one) {
    const std::uint64_t e = spawn(1);
    tested.defer();
    set(e, a, 2);
    tested.defer();
    set(e, a, 3);
    set(e, b, 4);
    tested.cancel();
    tested.commit();
    EXPECT_EQ(get<int>(e, a), 2);
    EXPECT_FALSE(has(e, b));
    expect_idle();
}

TEST_F(transaction_of, closing_a_scope_that_no_defer_opened_is_an_error) {
    EXPECT_EQ(code_of([&] { tested.commit(); }), errc::unbalanced_scope);
    EXPECT_EQ(code_of([&] { tested.cancel(); }), errc::unbalanced_scope);
    EXPECT_EQ(sentence_of([&] { tested.commit(); }), "commit() without defer(): no scope is open");
    scope loop(core);
    EXPECT_EQ(code_of([&] { tested.commit(); }), errc::unbalanced_scope);
    EXPECT_EQ(sentence_of([&] { tested.cancel(); }),
              "cancel() without defer(): the innermost scope belongs to a loop, a callback, a "
              "hook or a `deferred`, which closes it itself");
    EXPECT_EQ(core.depth(), 1u);
    loop.commit();
    expect_idle();
}

TEST_F(transaction_of, scopes_cannot_be_opened_or_closed_in_a_change) {
    tested.defer();
    {
        const busy_guard busy(core.gate);
        EXPECT_EQ(code_of([&] { tested.defer(); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { tested.commit(); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { tested.cancel(); }), errc::in_scope);
    }
    EXPECT_EQ(core.depth(), 1u);
    tested.cancel();
    expect_idle();
}

TEST_F(transaction_of, a_scope_that_is_destroyed_is_cancelled) {
    const std::uint64_t e = spawn(1);
    {
        const scope mine(core);
        set(e, a, 2);
    }
    EXPECT_EQ(get<int>(e, a), 1);
    expect_idle();
}

TEST_F(transaction_of, scopes_may_end_in_any_order) {
    const std::uint64_t e = spawn(1);
    scope outer(core);
    set(e, a, 2);
    scope inner(core);
    set(e, b, 3);
    outer.commit();  // the inner scope takes over the changes
    EXPECT_EQ(get<int>(e, a), 1);
    EXPECT_EQ(core.depth(), 1u);
    inner.commit();
    EXPECT_EQ(get<int>(e, a), 2);
    EXPECT_EQ(get<int>(e, b), 3);
    expect_idle();
}

TEST_F(transaction_of, a_scope_that_took_over_changes_drops_them_if_it_is_cancelled) {
    const std::uint64_t e = spawn(1);
    scope outer(core);
    set(e, a, 2);
    scope inner(core);
    set(e, b, 3);
    outer.commit();
    inner.cancel();
    EXPECT_EQ(get<int>(e, a), 1);
    EXPECT_FALSE(has(e, b));
    expect_idle();
}

TEST_F(transaction_of, an_outer_scope_that_is_cancelled_first_takes_the_inner_changes_along) {
    const std::uint64_t e = spawn(1);
    scope outermost(core);
    set(e, b, 9);
    scope outer(core);
    set(e, a, 2);
    scope inner(core);
    set(e, a, 3);
    outer.cancel();
    inner.commit();
    outermost.commit();
    EXPECT_EQ(get<int>(e, a), 1);
    EXPECT_EQ(get<int>(e, b), 9);
    expect_idle();
}

TEST_F(transaction_of, a_moved_scope_stays_open) {
    const std::uint64_t e = spawn(1);
    scope first(core);
    set(e, a, 2);
    scope second(std::move(first));
    EXPECT_FALSE(first.is_open());  // NOLINT(bugprone-use-after-move): the state is specified
    EXPECT_TRUE(second.is_open());
    EXPECT_EQ(tested.innermost(), &second);
    EXPECT_EQ(core.depth(), 1u);
    second.commit();
    EXPECT_EQ(get<int>(e, a), 2);
    expect_idle();
}

TEST_F(transaction_of, drop_scopes_closes_the_users_scopes_down_to_the_kept_one) {
    const std::uint64_t e = spawn(1);
    scope mine(core);
    set(e, b, 9);
    for (int i = 2; i < 5; ++i) {
        tested.defer();
        set(e, a, i);
    }
    tested.drop_scopes(&mine);
    EXPECT_EQ(tested.innermost(), &mine);
    EXPECT_EQ(core.depth(), 1u);
    mine.commit();
    EXPECT_EQ(get<int>(e, a), 1);
    EXPECT_EQ(get<int>(e, b), 9);
    expect_idle();
}

// ---- recording ---------------------------------------------------------------------------------

TEST_F(transaction_of, recorded_values_are_owned_until_they_are_stored) {
    const int before = counted::alive;
    const std::uint64_t e = spawn();
    {
        const scope mine(core);
        tested.record_default(e, change_kind::put, c);
        EXPECT_EQ(counted::alive, before + 1);
        const std::string original = text(1);
        tested.record_copy(e, change_kind::put, t, &original, false);
        EXPECT_EQ(core.pending.now().entries, 2u);
    }
    EXPECT_EQ(counted::alive, before);
    scope mine(core);
    tested.record_default(e, change_kind::put, c);
    const std::string original = text(1);
    tested.record_copy(e, change_kind::put, t, &original, false);
    mine.commit();
    EXPECT_EQ(counted::alive, before + 1);
    EXPECT_TRUE(has(e, c));
    EXPECT_EQ(get<std::string>(e, t), original);
}

struct no_default {
    int number;
    explicit no_default(int value) noexcept : number(value) {}
};

TEST_F(transaction_of, a_default_value_that_does_not_exist_is_an_error) {
    fragment_data& missing = add<no_default>();
    const std::uint64_t e = spawn();
    scope mine(core);
    EXPECT_EQ(code_of([&] { tested.record_default(e, change_kind::put, missing); }),
              errc::no_default);
    EXPECT_TRUE(core.pending.empty());
}

TEST_F(transaction_of, a_record_guard_drops_what_was_recorded_unless_it_is_kept) {
    const std::uint64_t e = spawn(1);
    const int before = counted::alive;
    scope mine(core);
    set(e, b, 2);
    {
        const record_guard dropped(tested, core.pending);
        tested.record_default(e, change_kind::put, c);
        tested.record_default(e, change_kind::put, s);
    }
    EXPECT_EQ(counted::alive, before);
    EXPECT_EQ(core.pending.now().entries, 1u);
    {
        record_guard kept(tested, core.pending);
        tested.record_default(e, change_kind::put, t);
        kept.keep();
    }
    mine.commit();
    EXPECT_TRUE(has(e, b) && has(e, t));
    EXPECT_FALSE(has(e, c) || has(e, s));
}

TEST_F(transaction_of, rewinding_beyond_the_start_of_a_scope_moves_its_start) {
    const std::uint64_t e = spawn(1);
    scope outer(core);
    const journal::position start = core.pending.now();
    set(e, a, 2);
    scope inner(core);
    tested.rewind(start);
    set(e, b, 3);
    inner.cancel();  // must not keep an entry that was recorded at an earlier position
    EXPECT_TRUE(core.pending.empty());
    outer.commit();
    EXPECT_FALSE(has(e, b));
    expect_idle();
}

// ---- applying ----------------------------------------------------------------------------------

TEST_F(transaction_of, the_changes_of_an_entity_are_applied_as_one_move) {
    const std::uint64_t e = spawn(1);
    const std::size_t chunks = core.graph.all().size();
    scope mine(core);
    set(e, t, text(1));
    set(e, b, 2);
    remove(e, a);
    set(e, t, text(3));
    mine.commit();
    EXPECT_EQ(core.graph.all().size(), chunks + 1);  // no chunk between the first and the last
    EXPECT_FALSE(has(e, a));
    EXPECT_EQ(get<int>(e, b), 2);
    EXPECT_EQ(get<std::string>(e, t), text(3));
}

TEST_F(transaction_of, equal_changes_of_many_entities_are_all_applied) {
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 100; ++i) all.push_back(spawn(i));
    set(all[50], t, text(50));  // in another chunk
    scope mine(core);
    for (int i = 0; i < 100; ++i) set(all[static_cast<std::size_t>(i)], b, 1000 + i);
    mine.commit();
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t e = all[static_cast<std::size_t>(i)];
        ASSERT_EQ(get<int>(e, a), i);
        ASSERT_EQ(get<int>(e, b), 1000 + i);
    }
    EXPECT_EQ(get<std::string>(all[50], t), text(50));
    expect_idle();
}

TEST_F(transaction_of,
       as_many_but_other_changes_than_those_of_the_previous_entity_are_not_confused) {
    fragment_data& other = add<int>();
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 60; ++i) all.push_back(spawn(i));
    scope mine(core);
    for (std::size_t i = 0; i < 60; ++i)
        if (i % 3 == 0)
            set(all[i], b, 1);
        else if (i % 3 == 1)
            set(all[i], other, 2);
        else
            set(all[i], a, 3, change_kind::keep);
    mine.commit();
    for (std::size_t i = 0; i < 60; ++i) {
        ASSERT_EQ(has(all[i], b), i % 3 == 0) << i;
        ASSERT_EQ(has(all[i], other), i % 3 == 1) << i;
        ASSERT_EQ(get<int>(all[i], a), static_cast<int>(i)) << i;
    }
    expect_idle();
}

TEST_F(transaction_of, changes_of_a_destroyed_entity_have_no_effect) {
    const int before = counted::alive;
    const std::uint64_t e = spawn(1);
    const std::uint64_t other = spawn(2);
    scope mine(core);
    set(e, c, counted(5));
    EXPECT_TRUE(destroy(e));
    set(other, b, 3);
    mine.commit();
    EXPECT_FALSE(core.entities.alive(e));
    EXPECT_EQ(get<int>(other, b), 3);
    EXPECT_EQ(counted::alive, before);
    expect_idle();
}

TEST_F(transaction_of, a_change_whose_fragment_is_destroyed_in_the_scope_is_an_error) {
    const int before = counted::alive;
    const std::uint64_t e = spawn(1);
    const std::uint64_t f = c.id;
    scope mine(core);
    destroy(f);
    set(e, c, counted(5));
    set(e, b, 2);
    EXPECT_EQ(code_of([&] { mine.commit(); }), errc::dead_fragment);
    EXPECT_FALSE(has(e, b));  // all or nothing
    EXPECT_EQ(get<int>(e, a), 1);
    EXPECT_FALSE(core.entities.alive(f));
    EXPECT_EQ(counted::alive, before);
    expect_idle();
}

TEST_F(transaction_of, the_first_error_is_thrown_after_all_other_changes_are_applied) {
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 5; ++i) all.push_back(spawn(i));
    hook(b, hook_kind::set, [&](std::uint64_t e, void*) {
        if (e == all[1]) throw std::runtime_error("first");
        if (e == all[3]) throw std::runtime_error("second");
    });
    scope mine(core);
    for (const std::uint64_t e : all) set(e, b, 1);
    try {
        mine.commit();
        FAIL() << "no error";
    } catch (const std::runtime_error& e) {
        EXPECT_STREQ(e.what(), "first");
    }
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(has(all[i], b), i != 1 && i != 3) << i;
    expect_idle();
}

TEST_F(transaction_of, a_new_entity_whose_hook_throws_is_rolled_back) {
    hook(a, hook_kind::insert, refuse);
    scope mine(core);
    const std::uint64_t e = spawn_with(1);
    EXPECT_TRUE(core.entities.alive(e));
    EXPECT_THROW(mine.commit(), refusal);
    EXPECT_FALSE(core.entities.alive(e));
    expect_idle();
}

TEST_F(transaction_of, changes_of_hooks_are_applied_after_all_changes_of_the_scope) {
    const std::uint64_t e = spawn(1);
    const std::uint64_t other = spawn(2);
    hook(b, hook_kind::set, [&](std::uint64_t, void*) {
        EXPECT_EQ(core.depth(), 2u);
        set(other, a, get<int>(e, b) * 100);
    });
    scope mine(core);
    set(e, b, 5);
    set(other, a, 6);
    mine.commit();
    EXPECT_EQ(get<int>(other, a), 500);
    expect_idle();
}

TEST_F(transaction_of, the_changes_of_a_hook_that_throws_are_dropped) {
    const std::uint64_t e = spawn(1);
    const std::uint64_t other = spawn(2);
    hook(b, hook_kind::set, [&](std::uint64_t, void*) {
        set(other, a, 100);
        throw refusal();
    });
    EXPECT_THROW(set(e, b, 5), refusal);  // at once
    EXPECT_EQ(get<int>(other, a), 2);
    scope mine(core);
    set(e, b, 5);
    EXPECT_THROW(mine.commit(), refusal);
    EXPECT_EQ(get<int>(other, a), 2);
    EXPECT_FALSE(has(e, b));
    expect_idle();
}

TEST_F(transaction_of, a_scope_gives_the_same_result_as_changes_at_once) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        std::vector<std::uint64_t> direct;
        std::vector<std::uint64_t> deferred;
        for (int i = 0; i < 6; ++i) {
            direct.push_back(spawn(i));
            deferred.push_back(spawn(i));
        }
        const auto change = [&](std::uint64_t e, std::mt19937::result_type what, int number) {
            switch (what) {
            case 0: set(e, a, number); break;
            case 1: set(e, t, text(number)); break;
            case 2: set(e, s, text(number)); break;
            case 3: set(e, s, text(number), change_kind::keep); break;
            case 4: set(e, t, text(number), change_kind::keep); break;
            case 5: remove(e, a); break;
            case 6: remove(e, s); break;
            case 7: remove(e, t); break;
            default: clear(e);
            }
        };
        scope mine(core);
        std::vector<std::pair<std::size_t, std::pair<std::mt19937::result_type, int>>> later;
        for (int step = 0; step < 40; ++step) {
            const std::size_t which = random() % direct.size();
            const auto what = random() % 9;
            change(deferred[which], what, step);
            later.push_back({which, {what, step}});
        }
        mine.commit();
        for (const auto& [which, call] : later) change(direct[which], call.first, call.second);
        for (std::size_t i = 0; i < direct.size(); ++i) {
            for (const fragment_data* f : {&a, &t, &s})
                ASSERT_EQ(has(direct[i], *f), has(deferred[i], *f)) << "seed " << seed;
            if (has(direct[i], a))
                ASSERT_EQ(get<int>(direct[i], a), get<int>(deferred[i], a)) << "seed " << seed;
            for (const fragment_data* f : {&t, &s})
                if (has(direct[i], *f))
                    ASSERT_EQ(get<std::string>(direct[i], *f), get<std::string>(deferred[i], *f))
                        << "seed " << seed;
        }
        expect_idle();
    }
}

// ---- held_values -------------------------------------------------------------------------------

struct held_values_of : transaction_of {
    held_values held{core.gate, core.scratch};

    static void fail(void*, const void*) { throw std::runtime_error("no value"); }
};

TEST_F(held_values_of, constructs_values_in_scratch_memory_or_in_a_slot) {
    std::string value = text(1);
    const change given = put(t, value);
    held.add({&t, change_kind::put}, {});
    held.add({&s, change_kind::put}, {});
    held.construct(0, given);
    EXPECT_EQ(value, "");  // moved
    EXPECT_EQ(*static_cast<std::string*>(held.values()[0].at), text(1));
    EXPECT_EQ(held.values()[0].slot, no_slot);
    held.construct(1, change{.fragment = {s.id}, .is_default = true});
    EXPECT_EQ(*static_cast<std::string*>(held.values()[1].at), "");
    EXPECT_EQ(held.values()[1].at, s.sparse_values->at(held.values()[1].slot));
    EXPECT_EQ(held.shape()[1].fragment, &s);
    held.clear();
    EXPECT_TRUE(held.shape().empty());
    EXPECT_TRUE(held.values().empty());
    EXPECT_EQ(s.sparse_values->end(), 0u);
}

TEST_F(held_values_of, clear_destroys_the_values_that_were_not_stored) {
    const int before = counted::alive;
    for (const fragment_data* f : {&c, &c, &c}) {
        held.add({core.fragments.find(f->id), change_kind::put}, {});
        held.construct(held.shape().size() - 1, change{.fragment = {f->id}, .is_default = true});
    }
    EXPECT_EQ(counted::alive, before + 3);
    static_cast<counted*>(held.values()[1].at)->~counted();
    held.values()[1] = {};  // as if it was stored
    held.clear();
    EXPECT_EQ(counted::alive, before);
}

TEST_F(held_values_of, a_value_that_cannot_be_constructed_is_not_destroyed) {
    held.add({&s, change_kind::put}, {});
    const change given{.fragment = {s.id}, .construct = &fail};
    EXPECT_THROW(held.construct(0, given), std::runtime_error);
    EXPECT_EQ(held.values()[0].at, nullptr);
    EXPECT_TRUE(core.gate.is_idle());
    held.clear();
    EXPECT_EQ(s.sparse_values->end(), 0u);  // the slot is free again
}

TEST_F(held_values_of, a_tag_has_no_value_but_a_sparse_tag_has_a_slot) {
    fragment_data& tag = add<refusal>();
    fragment_data& sparse_tag = add_sparse<refusal>();
    for (fragment_data* f : {&tag, &sparse_tag}) held.add({f, change_kind::put}, {});
    for (std::size_t i = 0; i < 2; ++i) held.construct(i, change{.is_default = true});
    for (const pending_value& value : held.values()) EXPECT_EQ(value.at, nullptr);
    EXPECT_EQ(held.values()[0].slot, no_slot);
    EXPECT_NE(held.values()[1].slot, no_slot);
    held.clear();
    EXPECT_EQ(sparse_tag.sparse_values->end(), 0u);
}

TEST_F(held_values_of, reverse_keeps_values_with_their_changes) {
    int values[] = {1, 2, 3};
    fragment_data* const all[] = {&a, &b, &t};
    for (std::size_t i = 0; i < 3; ++i) held.add({all[i], change_kind::put}, {&values[i]});
    held.reverse();
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(held.shape()[i].fragment, all[2 - i]);
        EXPECT_EQ(held.values()[i].at, &values[2 - i]);
        held.values()[i] = {};  // not owned
    }
}

TEST_F(held_values_of, a_source_of_values_gives_the_default_if_it_has_none) {
    fragment_data& missing = add<no_default>();
    const int number = 7;
    held.add({&a, change_kind::put}, {});
    held.add({&b, change_kind::put}, {});
    held.add({&missing, change_kind::put}, {});
    held.construct(0, value_source{&number, 0});
    held.construct(1, value_source{});
    EXPECT_EQ(*static_cast<int*>(held.values()[0].at), 7);
    EXPECT_EQ(*static_cast<int*>(held.values()[1].at), 0);
    EXPECT_EQ(code_of([&] { held.construct(2, value_source{}); }), errc::no_default);
    held.clear();
}

}  // namespace
}  // namespace muster::test
