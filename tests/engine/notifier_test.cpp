#include <muster/engine/notifier.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine_fixture.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

using log_list = std::vector<std::string>;
using id_list = std::vector<std::uint64_t>;

/// A notifier of an engine whose entities have the fragments a and b, and the sparse fragment s.
/// Hooks write to a log.
struct notifier_of : engine_fixture {
    fragment_data& a = add<int>();
    fragment_data& b = add<int>();
    fragment_data& s = add_sparse<int>();
    detail::notifier& tested = core.notifier;
    log_list log;
    change_log* observer = new change_log;

    ~notifier_of() override {
        tested.remove_observer(*observer);
        observer->release();
    }

    /// Adds a hook that writes `text` and the value.
    std::uint64_t log_as(const std::string& text, fragment_data& f, hook_kind kind) {
        return hook(f, kind, [this, text](std::uint64_t, void* value) {
            log.push_back(text + " " +
                          (value == nullptr ? "-" : std::to_string(*static_cast<int*>(value))));
        });
    }
    std::uint64_t log_entities_as(const std::string& text, hook_kind kind) {
        return tested.add(kind, hook_of([this, text](std::uint64_t, void* value) {
                              EXPECT_EQ(value, nullptr);
                              log.push_back(text);
                          }));
    }
    void observe(fragment_data& f, unsigned kinds) {
        if (observer->subscriptions.empty()) tested.add_observer(*observer);
        tested.subscribe(*observer, f, kinds);
    }
    [[nodiscard]] id_list observed() {
        const array_list<std::uint64_t> all = observer->begin_reading();
        observer->end_reading(all, all.size());
        return {all.begin(), all.end()};
    }
    std::uint64_t spawn() {
        const std::uint64_t e = core.entities.create();
        set(e, a, 1);
        set(e, b, 2);
        return e;
    }
};

// ---- transitions -------------------------------------------------------------------------------

TEST_F(notifier_of, a_transition_calls_the_hooks_of_its_net_effect_in_the_order_of_fragments) {
    const std::uint64_t e = spawn();
    log_as("insert b", b, hook_kind::insert);
    log_as("set b", b, hook_kind::set);
    log_as("set a", a, hook_kind::set);
    log_as("assign a", a, hook_kind::assign);
    log_as("remove b", b, hook_kind::remove);
    transition step;
    step.removed = {&b};
    step.present = {{&a, false}, {&b, true}};
    tested.before(step, e, core.entities.locate(e));
    EXPECT_EQ(log, log_list{"remove b 2"});
    log.clear();
    tested.after(step, e, core.entities.locate(e));
    EXPECT_EQ(log, (log_list{"assign a 1", "set a 1", "insert b 2", "set b 2"}));
}

TEST_F(notifier_of, a_disconnected_hook_is_not_called) {
    const std::uint64_t e = spawn();
    const std::uint64_t first = log_as("first", a, hook_kind::set);
    const std::uint64_t second = log_as("second", a, hook_kind::set);
    EXPECT_NE(first, second);
    EXPECT_TRUE(tested.is_connected(a.id, first));
    EXPECT_TRUE(tested.connect(a.id, first, false));
    EXPECT_FALSE(tested.connect(a.id, first, false));
    EXPECT_FALSE(tested.is_connected(a.id, first));
    tested.call(hook_kind::set, e, core.entities.locate(e), a);
    EXPECT_EQ(log, log_list{"second 1"});
    EXPECT_TRUE(tested.connect(a.id, first, true));
    EXPECT_TRUE(tested.remove(a.id, second));
    EXPECT_FALSE(tested.remove(a.id, second));
    log.clear();
    tested.call(hook_kind::set, e, core.entities.locate(e), a);
    EXPECT_EQ(log, log_list{"first 1"});
}

TEST_F(notifier_of, hooks_of_an_unknown_fragment_cannot_be_connected) {
    const std::uint64_t e = core.entities.create();
    EXPECT_FALSE(tested.connect(e, 1, true));
    EXPECT_FALSE(tested.remove(e, 1));
    EXPECT_FALSE(tested.is_connected(e, 1));
    EXPECT_FALSE(tested.is_connected(a.id, 1));
}

TEST_F(notifier_of, each_change_of_hooks_begins_an_epoch) {
    std::uint64_t epoch = core.graph.epoch();
    const auto has_changed = [&] {
        const bool is_new = core.graph.epoch() != epoch;
        epoch = core.graph.epoch();
        return is_new;
    };
    const std::uint64_t number = log_as("set", a, hook_kind::set);
    EXPECT_TRUE(has_changed());
    tested.connect(a.id, number, false);
    EXPECT_TRUE(has_changed());
    tested.connect(a.id, number, false);  // is disconnected already
    EXPECT_FALSE(has_changed());
    tested.remove(a.id, number);
    EXPECT_TRUE(has_changed());
    observe(a, insert_hooks);
    EXPECT_TRUE(has_changed());
    tested.connect_observer(*observer, false);
    EXPECT_TRUE(has_changed());
}

TEST_F(notifier_of, has_any_follows_the_connected_hooks) {
    EXPECT_FALSE(tested.has_any());
    const std::uint64_t number = log_as("set", a, hook_kind::set);
    EXPECT_TRUE(tested.has_any());
    tested.connect(a.id, number, false);
    EXPECT_FALSE(tested.has_any());
    observe(b, remove_hooks);
    EXPECT_TRUE(tested.has_any());
    tested.connect_observer(*observer, false);
    EXPECT_FALSE(tested.has_any());
    const std::uint64_t entities = log_entities_as("born", hook_kind::insert);
    EXPECT_TRUE(tested.has_any());
    tested.remove(core.entities.null(), entities);
    EXPECT_FALSE(tested.has_any());
}

// ---- entities ----------------------------------------------------------------------------------

TEST_F(notifier_of, hooks_of_entities_close_the_fast_paths_while_they_are_connected) {
    EXPECT_FALSE(tested.calls_at_birth());
    EXPECT_FALSE(tested.calls_at_death());
    const std::uint64_t null = core.entities.null();
    const std::uint64_t number = log_entities_as("born", hook_kind::insert);
    EXPECT_TRUE(tested.calls_at_birth());
    EXPECT_FALSE(tested.calls_at_death());
    EXPECT_FALSE(core.gate.is_idle());
    EXPECT_TRUE(tested.connect(null, number, false));
    EXPECT_FALSE(tested.calls_at_birth());
    EXPECT_TRUE(core.gate.is_idle());
    tested.connect(null, number, true);
    EXPECT_FALSE(core.gate.is_idle());
    tested.remove(null, number);
    EXPECT_TRUE(core.gate.is_idle());
}

TEST_F(notifier_of, hooks_of_entities_cannot_be_added_in_a_change) {
    const busy_guard busy(core.gate);
    EXPECT_EQ(code_of([&] { log_entities_as("born", hook_kind::insert); }), errc::in_scope);
    EXPECT_FALSE(tested.calls_at_birth());
}

TEST_F(notifier_of, a_dying_entity_calls_the_hooks_of_its_fragments_before_its_own) {
    const std::uint64_t e = spawn();
    set(e, s, 3);
    log_entities_as("dead", hook_kind::remove);
    log_entities_as("born", hook_kind::insert);
    log_as("remove s", s, hook_kind::remove);
    log_as("remove a", a, hook_kind::remove);
    log_as("insert b", b, hook_kind::insert);
    tested.dying(e);
    EXPECT_EQ(log, (log_list{"remove a 1", "remove s 3", "dead"}));
    log.clear();
    tested.born(e);
    EXPECT_EQ(log, log_list{"born"});
}

TEST_F(notifier_of, knows_which_chunks_and_entities_notify) {
    const std::uint64_t e = spawn();
    chunk_data& here = chunk_of(e);
    EXPECT_FALSE(tested.notifies_insert(here) || tested.notifies_remove(here));
    EXPECT_FALSE(tested.notifies_remove_sparse(e));
    log_as("insert", a, hook_kind::insert);
    EXPECT_TRUE(tested.notifies_insert(here));
    EXPECT_FALSE(tested.notifies_remove(here));
    log_as("remove", b, hook_kind::remove);
    EXPECT_TRUE(tested.notifies_remove(here));
    log_as("remove", s, hook_kind::remove);
    EXPECT_FALSE(tested.notifies_remove_sparse(e));
    set(e, s, 3);
    EXPECT_TRUE(tested.notifies_remove_sparse(e));
    remove(e, s);
    EXPECT_FALSE(tested.notifies_remove_sparse(e));
    EXPECT_FALSE(tested.notifies_insert(core.graph.empty_chunk()));
    log_entities_as("born", hook_kind::insert);
    EXPECT_TRUE(tested.notifies_insert(core.graph.empty_chunk()));
}

TEST_F(notifier_of, inserted_calls_hooks_entity_by_entity) {
    std::uint64_t all[] = {spawn(), spawn()};
    set(all[1], a, 11);
    set(all[1], b, 12);
    log_entities_as("born", hook_kind::insert);
    log_as("insert a", a, hook_kind::insert);
    log_as("set b", b, hook_kind::set);
    observe(b, insert_hooks);
    fragment_data* const set_of_both[] = {&a, &b};
    tested.inserted({reinterpret_cast<std::byte*>(all), 2}, set_of_both);
    EXPECT_EQ(log, (log_list{"born", "insert a 1", "set b 2", "born", "insert a 11", "set b 12"}));
    EXPECT_EQ(observed(), (id_list{all[0], all[1]}));
}

TEST_F(notifier_of, assigned_calls_assign_and_set_hooks_and_logs_the_entity) {
    const std::uint64_t e = spawn();
    tested.assigned(e, a);  // no one is notified
    log_as("assign", a, hook_kind::assign);
    log_as("set", a, hook_kind::set);
    log_as("insert", a, hook_kind::insert);
    observe(a, assign_hooks);
    tested.assigned(e, a);
    EXPECT_EQ(log, (log_list{"assign 1", "set 1"}));
    EXPECT_EQ(observed(), id_list{e});
}

// ---- observers ---------------------------------------------------------------------------------

TEST_F(notifier_of, observers_log_the_entities_of_transitions) {
    const std::uint64_t first = spawn();
    const std::uint64_t second = spawn();
    observe(a, insert_hooks);
    transition inserts;
    inserts.present = {{&a, true}};
    transition assigns;
    assigns.present = {{&a, false}};
    tested.prepare(inserts, 2);
    tested.note(inserts, second);
    tested.note(assigns, first);  // not subscribed to
    EXPECT_EQ(observed(), id_list{second});
    EXPECT_TRUE(log.empty());
}

TEST_F(notifier_of, observers_log_the_removal_of_all_fragments_of_an_entity) {
    const std::uint64_t e = spawn();
    const std::uint64_t other = spawn();
    set(other, s, 1);
    observe(s, remove_hooks);
    observe(b, remove_hooks);
    for (const std::uint64_t each : {other, e}) {
        tested.prepare_removal(each, 1);
        tested.note_removal(each);
    }
    EXPECT_EQ(observed(), (id_list{other, e}));
    EXPECT_EQ(observed(), id_list{});
}

TEST_F(notifier_of, a_paused_observer_logs_nothing) {
    const std::uint64_t e = spawn();
    observe(a, assign_hooks);
    tested.connect_observer(*observer, false);
    tested.assigned(e, a);
    EXPECT_EQ(observed(), id_list{});
    tested.connect_observer(*observer, true);
    tested.assigned(e, a);
    EXPECT_EQ(observed(), id_list{e});
}

TEST_F(notifier_of, a_removed_observer_logs_nothing) {
    const std::uint64_t e = spawn();
    observe(a, assign_hooks);
    tested.remove_observer(*observer);
    EXPECT_FALSE(a.hooks.has(assign_hooks));
    tested.assigned(e, a);
    EXPECT_EQ(observed(), id_list{});
}

TEST_F(notifier_of, cleared_observers_are_empty) {
    observe(a, assign_hooks);
    tested.assigned(spawn(), a);
    EXPECT_EQ(observer->size(), 1u);
    tested.end_observers();
    EXPECT_EQ(observer->size(), 0u);
}

// ---- scopes of hooks ---------------------------------------------------------------------------

TEST_F(notifier_of, a_hook_that_leaves_a_scope_open_is_an_error_that_drops_its_changes) {
    const std::uint64_t e = spawn();
    hook(a, hook_kind::set, [&](std::uint64_t, void*) {
        core.transaction.defer();
        set(e, b, 50);
        core.transaction.defer();
    });
    scope mine(core);
    set(e, b, 10);
    EXPECT_EQ(code_of([&] { tested.call(hook_kind::set, e, core.entities.locate(e), a); }),
              errc::unbalanced_scope);
    EXPECT_EQ(core.depth(), 1u);
    mine.commit();
    EXPECT_EQ(get<int>(e, b), 10);
}

TEST_F(notifier_of, a_hook_that_throws_leaves_no_scope_open) {
    const std::uint64_t e = spawn();
    hook(a, hook_kind::set, [&](std::uint64_t, void*) {
        core.transaction.defer();
        set(e, b, 50);
        throw refusal();
    });
    EXPECT_THROW(tested.call(hook_kind::set, e, core.entities.locate(e), a), refusal);
    EXPECT_EQ(core.depth(), 0u);
    EXPECT_TRUE(core.pending.empty());
    EXPECT_EQ(get<int>(e, b), 2);
}

/// Records the calls of the notifier.
struct fake_fence final : scope_fence {
    std::vector<const open_scope*> dropped;
    void drop_scopes(const open_scope* kept) noexcept override {
        dropped.push_back(kept);
        innermost_ = const_cast<open_scope*>(kept);
    }
    [[nodiscard]] journal::position recorded() const noexcept override { return {}; }
    void rewind(const journal::position&) noexcept override {}
    void open(open_scope& inner) { innermost_ = &inner; }
};

TEST_F(notifier_of, scopes_are_dropped_down_to_the_one_that_was_open_before_the_hook) {
    fake_fence fence;
    detail::notifier alone(core.catalog, core.components, core.entities, core.fragments, core.graph,
                           core.sparse, core.gate, fence);
    open_scope outer;
    open_scope inner;
    fence.open(outer);
    const std::uint64_t e = spawn();
    const std::uint64_t number =
        hook(a, hook_kind::set, [&](std::uint64_t, void*) { fence.open(inner); });
    EXPECT_EQ(code_of([&] { alone.call(hook_kind::set, e, core.entities.locate(e), a); }),
              errc::unbalanced_scope);
    EXPECT_EQ(fence.dropped, std::vector<const open_scope*>{&outer});
    EXPECT_EQ(fence.innermost(), &outer);
    alone.remove(a.id, number);
    log_as("set", a, hook_kind::set);
    alone.call(hook_kind::set, e, core.entities.locate(e), a);
    EXPECT_EQ(log, log_list{"set 1"});
    EXPECT_EQ(fence.dropped.size(), 1u);
}

}  // namespace
}  // namespace muster::test
