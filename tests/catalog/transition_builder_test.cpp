#include <muster/catalog/transition_builder.hpp>
#include <muster/id/layout.hpp>
#include <muster/storage/sparse_table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

/// Fragments a, b and c store an int, s stores a string, t is a tag.
struct transitions : ::testing::Test {
    chunk_graph graph{type_info_of<std::uint64_t>, 100, 1000};
    fragment_data a, b, c, s, t;
    transition_cache cache;
    sparse_table sparse{sparse_set::id_shape::of<layouts::bound>()};

    transitions() {
        std::uint32_t index = 0;
        for (fragment_data* fragment : {&a, &b, &c, &s, &t}) {
            fragment->type = &type_info_of<int>;
            fragment->index = fragment_index{index++};
        }
        s.type = &type_info_of<std::string>;
        t.type = &type_info_of<no_values_type>;
    }
    struct no_values_type {};
    std::vector<transition_ref> kept;

    chunk_data& chunk(std::vector<fragment_data*> set) { return graph.ensure(set); }
    /// Returns the transition, which the fixture keeps alive.
    const transition& build(chunk_data& from, const std::vector<change_shape>& shape,
                            const std::vector<fragment_data*>& present = {}) {
        kept.push_back(build_transition(graph, from, present, shape));
        return *kept.back();
    }
    static change_shape put(fragment_data& f) { return {&f, change_kind::put}; }
    static change_shape keep(fragment_data& f) { return {&f, change_kind::keep}; }
    static change_shape touch(fragment_data& f) { return {&f, change_kind::touch}; }
    static change_shape remove(fragment_data& f) { return {&f, change_kind::remove}; }
    static change_shape clear() { return {nullptr, change_kind::clear}; }

    /// A hook that is never called.
    static void hook(fragment_data& f, hook_kind kind) {
        f.hooks.add(kind, {boxed_value::holding(0), [](void*, std::uint64_t, void*) {}});
    }
};

TEST_F(transitions, lead_to_the_net_effect_of_all_changes) {
    chunk_data& from = chunk({&a, &b});
    EXPECT_EQ(build(from, {put(c), remove(a)}).to, &chunk({&b, &c}));
    EXPECT_EQ(build(from, {put(c), remove(c)}).to, &from);
    EXPECT_EQ(build(from, {remove(a), put(a)}).to, &from);
    EXPECT_EQ(build(from, {clear(), put(t)}).to, &chunk({&t}));
    EXPECT_EQ(build(from, {put(t), clear()}).to, &graph.empty_chunk());
    EXPECT_EQ(build(from, {remove(c)}).to, &from);
}

TEST_F(transitions, create_no_intermediate_chunk) {
    chunk_data& from = chunk({&a});
    const std::size_t before = graph.all().size();
    EXPECT_EQ(build(from, {put(b), put(c), remove(a)}).to, &graph.ensure(std::vector{&b, &c}));
    EXPECT_EQ(graph.all().size(), before + 1);
}

TEST_F(transitions, use_the_last_recorded_value) {
    chunk_data& from = chunk({&a});
    const transition& step = build(from, {put(b), put(a), put(b)});
    ASSERT_EQ(step.arrivals.size(), 2u);
    EXPECT_EQ(step.arrivals[0].given, 1u);
    EXPECT_EQ(step.arrivals[1].given, 2u);
    EXPECT_EQ(step.columns, array_list<std::uint32_t>{transition::dropped});  // the old value of a
}

TEST_F(transitions, keep_depends_on_the_preceding_changes) {
    chunk_data& from = chunk({&a});
    EXPECT_TRUE(build(from, {keep(a)}).arrivals.empty());
    EXPECT_EQ(build(from, {remove(a), keep(a)}).arrivals.size(), 1u);
    EXPECT_EQ(build(from, {put(b), keep(b)}).arrivals[0].given, 0u);
}

TEST_F(transitions, add_the_fragments_that_new_fragments_need) {
    a.implied = {{&b}};
    b.implied = {{&c}, {&a}};
    chunk_data& from = chunk({&t});
    const transition& step = build(from, {put(a)});
    EXPECT_EQ(step.to, &chunk({&a, &b, &c, &t}));
    EXPECT_EQ(step.arrivals[1].given, transition::none);
    EXPECT_FALSE(step.moves_bytes);
    EXPECT_EQ(build(from, {put(a), remove(b)}).to, &chunk({&a, &c, &t}));
    EXPECT_EQ(build(chunk({&a}), {put(a)}).to, &chunk({&a}));  // a is not new
}

// ---- implied changes ---------------------------------------------------------------------------

TEST_F(transitions, adding_a_fragment_removes_those_in_place_of_which_it_comes) {
    a.implied = {{&b, false, true}};
    chunk_data& from = chunk({&b, &t});
    const transition& step = build(from, {put(a)});
    EXPECT_EQ(step.to, &chunk({&a, &t}));
    EXPECT_EQ(step.columns, array_list<std::uint32_t>{transition::dropped});
    EXPECT_TRUE(step.drops);
    EXPECT_TRUE(step.is_plain);
    EXPECT_EQ(build(chunk({&a, &b}), {put(a)}).to, &chunk({&a, &b}));  // a is not new
    EXPECT_EQ(build(chunk({&a}), {put(b)}).to, &chunk({&a, &b}));
}

TEST_F(transitions, removing_a_fragment_adds_or_removes_others) {
    a.implied = {{&b, true, false}, {&c, true, true}};
    const transition& step = build(chunk({&a, &c}), {remove(a)});
    EXPECT_EQ(step.to, &chunk({&b}));
    ASSERT_EQ(step.arrivals.size(), 1u);
    EXPECT_EQ(step.arrivals[0].given, transition::none);
    EXPECT_FALSE(step.is_plain);
    EXPECT_EQ(build(chunk({&c}), {remove(a)}).to, &chunk({&c}));  // a was not there
}

TEST_F(transitions, implied_changes_follow_their_change_before_the_next) {
    a.implied = {{&b, false, true}};
    b.implied = {{&a, false, true}};
    EXPECT_EQ(build(graph.empty_chunk(), {put(a), put(b)}).to, &chunk({&b}));
    EXPECT_EQ(build(graph.empty_chunk(), {put(b), put(a)}).to, &chunk({&a}));
    EXPECT_EQ(build(chunk({&a}), {put(b), remove(b)}).to, &graph.empty_chunk());
}

TEST_F(transitions, a_circle_of_implied_changes_ends) {
    a.implied = {{&b}};
    b.implied = {{&a, false, true}};
    a.implied.push_back({&c, true, false});
    EXPECT_EQ(build(graph.empty_chunk(), {put(a)}).to, &chunk({&a, &b}));
    EXPECT_EQ(build(chunk({&a}), {put(b)}).to, &chunk({&b, &c}));
}

TEST_F(transitions, clear_and_the_end_of_a_fragment_imply_nothing) {
    a.implied = {{&b, true, false}};
    EXPECT_EQ(build(chunk({&a}), {clear()}).to, &graph.empty_chunk());
    EXPECT_EQ(build(chunk({&a, &c}), {{&a, change_kind::clear_fragment}}).to, &chunk({&c}));
}

TEST_F(transitions, implied_changes_are_notified) {
    hook(b, hook_kind::remove);
    a.implied = {{&b, false, true}};
    const transition& step = build(chunk({&b}), {put(a)});
    EXPECT_EQ(step.removed, array_list<fragment_data*>{&b});
    EXPECT_TRUE(step.calls_before);
}

TEST_F(transitions, fragments_after_evaluates_additions_in_their_order) {
    using list = array_list<fragment_data*>;
    a.implied = {{&b}, {&c, false, true}};
    const auto after = [](std::vector<fragment_data*> before, std::vector<fragment_data*> added) {
        return fragments_after(before, added);
    };
    EXPECT_EQ(after({}, {&a}), (list{&a, &b}));
    EXPECT_EQ(after({}, {&a, &c}), (list{&a, &b, &c}));
    EXPECT_EQ(after({}, {&c, &a}), (list{&a, &b}));
    EXPECT_EQ(after({&c, &t}, {&a}), (list{&a, &b, &t}));
    EXPECT_EQ(after({&a}, {&a}), list{&a});
}

TEST_F(transitions, add_implied_finds_all_that_may_change) {
    a.implied = {{&b, true, true}};
    b.implied = {{&c}, {&a}};
    array_list<fragment_data*> set{&t, &a};
    add_implied(set);
    EXPECT_EQ(set, (array_list<fragment_data*>{&a, &b, &c, &t}));
}

TEST_F(transitions, notify_of_the_net_effect) {
    for (fragment_data* fragment : {&a, &b, &c}) {
        hook(*fragment, hook_kind::set);
        hook(*fragment, hook_kind::remove);
    }
    chunk_data& from = chunk({&a, &b});
    const transition& step = build(from, {remove(a), put(a), remove(b), put(c)});
    EXPECT_EQ(step.removed, array_list<fragment_data*>{&b});
    ASSERT_EQ(step.present.size(), 2u);
    EXPECT_EQ(step.present[0].fragment, &a);
    EXPECT_FALSE(step.present[0].is_new);
    EXPECT_EQ(step.present[1].fragment, &c);
    EXPECT_TRUE(step.present[1].is_new);
    EXPECT_TRUE(build(from, {put(c), remove(c)}).present.empty());
    EXPECT_EQ(build(from, {touch(a)}).present.size(), 1u);
    EXPECT_TRUE(build(from, {touch(a), remove(a)}).present.empty());
    EXPECT_TRUE(build(from, {touch(c)}).present.empty());
}

TEST_F(transitions, notify_only_matching_hooks) {
    hook(a, hook_kind::insert);
    hook(b, hook_kind::assign);
    EXPECT_TRUE(build(chunk({&a}), {put(a)}).present.empty());
    EXPECT_TRUE(build(chunk({&a}), {put(b)}).present.empty());
    EXPECT_TRUE(build(chunk({&a}), {remove(a)}).removed.empty());
    EXPECT_EQ(build(chunk({&b}), {put(a), put(b)}).present.size(), 2u);
}

TEST_F(transitions, move_bytes_only_if_no_user_code_but_hooks_runs) {
    EXPECT_TRUE(build(chunk({&a, &t}), {put(b), remove(a), remove(t)}).moves_bytes);
    EXPECT_FALSE(build(chunk({&a}), {put(s)}).moves_bytes);
    EXPECT_FALSE(build(chunk({&s}), {put(a)}).moves_bytes);
    EXPECT_FALSE(build(chunk({&a}), {put(s), remove(s)}).moves_bytes);  // the string is destroyed
    hook(b, hook_kind::insert);
    const transition& hooked = build(chunk({&c}), {put(b)});  // the hook does not touch the move
    EXPECT_TRUE(hooked.moves_bytes);
    EXPECT_FALSE(hooked.is_plain);
    b.implied = {{&a}};
    EXPECT_FALSE(build(chunk({&c}), {put(b)}).moves_bytes);  // the default value of a
}

TEST_F(transitions, map_source_columns_to_target_columns) {
    // t is a tag and has no column.
    const transition& more = build(chunk({&a, &c, &t}), {put(b), put(s)});
    EXPECT_EQ(more.to, &chunk({&a, &b, &c, &s, &t}));
    EXPECT_EQ(more.columns, (array_list<std::uint32_t>{0, 2}));
    EXPECT_FALSE(more.drops);
    const transition& less = build(chunk({&a, &b, &c, &t}), {remove(b), remove(t)});
    EXPECT_EQ(less.columns, (array_list<std::uint32_t>{0, transition::dropped, 1}));
    EXPECT_TRUE(less.drops);
    EXPECT_TRUE(build(graph.empty_chunk(), {put(a)}).columns.empty());
}

TEST_F(transitions, are_plain_if_they_neither_notify_nor_need_a_default_or_a_slot) {
    EXPECT_TRUE(build(chunk({&a}), {put(b)}).is_plain);
    EXPECT_TRUE(build(chunk({&a}), {put(s)}).is_plain);
    EXPECT_TRUE(build(chunk({&a}), {remove(a)}).is_plain);
    hook(b, hook_kind::remove);
    EXPECT_TRUE(build(chunk({&a}), {put(b)}).is_plain);
    EXPECT_FALSE(build(chunk({&b}), {remove(b)}).is_plain);
    a.implied = {{&c}};
    EXPECT_FALSE(build(graph.empty_chunk(), {put(a)}).is_plain);
    EXPECT_TRUE(build(chunk({&c}), {put(a)}).is_plain);  // c is there
    c.is_untyped = true;
    EXPECT_FALSE(build(graph.empty_chunk(), {put(c)}).is_plain);
}

TEST_F(transitions, list_the_untyped_fragments_whose_type_they_fix) {
    a.is_untyped = b.is_untyped = true;
    chunk_data& from = chunk({&b});
    EXPECT_EQ(build(from, {put(a), put(c)}).types_fixed, array_list<fragment_data*>{&a});
    EXPECT_TRUE(build(from, {remove(b)}).types_fixed.empty());
    EXPECT_TRUE(build(from, {put(a), remove(a)}).types_fixed.empty());
}

TEST_F(transitions, call_hooks_before_the_move_for_removals_and_after_it_for_insertions) {
    for (const hook_kind kind : {hook_kind::insert, hook_kind::remove}) hook(a, kind);
    const transition& inserts = build(graph.empty_chunk(), {put(a)});
    EXPECT_TRUE(inserts.has_notices && inserts.calls_after && inserts.calls_hooks());
    EXPECT_FALSE(inserts.calls_before);
    const transition& removes = build(chunk({&a}), {remove(a)});
    EXPECT_TRUE(removes.has_notices && removes.calls_before && removes.calls_hooks());
    EXPECT_FALSE(removes.calls_after);
    EXPECT_FALSE(build(chunk({&a}), {put(b)}).has_notices);
}

TEST_F(transitions, have_notices_but_call_no_hooks_if_only_observers_subscribe) {
    auto* const log = new change_log;
    a.hooks.subscribe(*log, insert_hooks);
    const transition& inserts = build(graph.empty_chunk(), {put(a)});
    EXPECT_TRUE(inserts.has_notices);
    EXPECT_FALSE(inserts.calls_hooks());
    EXPECT_TRUE(inserts.is_plain);
    EXPECT_TRUE(inserts.moves_bytes);
    hook_list::end_last_subscription(*log);
    log->release();
}

// ---- sparse fragments --------------------------------------------------------------------------

struct transitions_with_sparse : transitions {
    transitions_with_sparse() { sparse.add(b); }
};

TEST_F(transitions_with_sparse, a_sparse_value_changes_no_chunk) {
    chunk_data& from = chunk({&a});
    const transition& adds = build(from, {put(b)});
    EXPECT_EQ(adds.to, &from);
    EXPECT_EQ(adds.columns, array_list<std::uint32_t>{0});
    EXPECT_TRUE(adds.arrivals.empty());
    ASSERT_EQ(adds.sparse_changes.size(), 1u);
    EXPECT_EQ(adds.sparse_changes[0].fragment, &b);
    EXPECT_FALSE(adds.sparse_changes[0].was_there);
    EXPECT_TRUE(adds.sparse_changes[0].is_inserted);
    EXPECT_EQ(adds.sparse_changes[0].given, 0u);
    EXPECT_FALSE(adds.is_plain || adds.moves_bytes || adds.is_repeatable);
}

TEST_F(transitions_with_sparse, the_presence_of_a_sparse_value_decides_what_happens) {
    chunk_data& from = chunk({&a});
    const transition& replaces = build(from, {put(b)}, {&b});
    ASSERT_EQ(replaces.sparse_changes.size(), 1u);
    EXPECT_TRUE(replaces.sparse_changes[0].was_there);
    EXPECT_TRUE(replaces.sparse_changes[0].is_inserted);
    const transition& removes = build(from, {remove(b)}, {&b});
    ASSERT_EQ(removes.sparse_changes.size(), 1u);
    EXPECT_TRUE(removes.sparse_changes[0].was_there);
    EXPECT_FALSE(removes.sparse_changes[0].is_inserted);
    EXPECT_TRUE(build(from, {remove(b)}).sparse_changes.empty());
    EXPECT_TRUE(build(from, {keep(b)}, {&b}).sparse_changes.empty());
}

TEST_F(transitions_with_sparse, clear_removes_sparse_values_too) {
    const transition& clears = build(chunk({&a}), {clear()}, {&b});
    EXPECT_EQ(clears.to, &graph.empty_chunk());
    ASSERT_EQ(clears.sparse_changes.size(), 1u);
    EXPECT_TRUE(clears.sparse_changes[0].was_there);
    EXPECT_FALSE(clears.sparse_changes[0].is_inserted);
}

TEST_F(transitions_with_sparse, a_needed_sparse_fragment_gets_its_default_value) {
    a.implied = {{&b}};
    const transition& adds = build(graph.empty_chunk(), {put(a)});
    EXPECT_EQ(adds.to, &chunk({&a}));
    ASSERT_EQ(adds.sparse_changes.size(), 1u);
    EXPECT_EQ(adds.sparse_changes[0].given, transition::none);
    EXPECT_TRUE(build(graph.empty_chunk(), {put(a)}, {&b}).sparse_changes.empty());
}

TEST_F(transitions_with_sparse, a_change_of_chunk_fragments_alone_is_repeatable) {
    EXPECT_TRUE(build(chunk({&a}), {put(c), remove(a)}).is_repeatable);
    EXPECT_FALSE(build(chunk({&a}), {put(c), remove(b)}).is_repeatable);
    EXPECT_FALSE(build(chunk({&a}), {clear()}).is_repeatable);
}

// ---- transition_cache --------------------------------------------------------------------------

struct cached_transitions : transitions {
    const transition* find(chunk_data& from, const std::vector<change_shape>& shape,
                           const std::vector<fragment_data*>& present = {}) {
        kept.push_back(cache.find(graph, from, present, shape));
        return kept.back().get();
    }
};

TEST_F(cached_transitions, are_found_again) {
    chunk_data& from = chunk({&a});
    const transition* const first = find(from, {put(b), put(c)});
    EXPECT_EQ(find(from, {put(b), put(c)}), first);
    EXPECT_EQ(first->to, &chunk({&a, &b, &c}));
}

TEST_F(cached_transitions, differ_by_chunk_changes_order_and_sparse_fragments) {
    chunk_data& from = chunk({&a});
    sparse.add(s);
    const transition* const known = find(from, {put(b), put(c)});
    EXPECT_NE(find(chunk({&t}), {put(b), put(c)}), known);
    EXPECT_NE(find(from, {put(c), put(b)}), known);
    EXPECT_NE(find(from, {put(b), keep(c)}), known);
    EXPECT_NE(find(from, {put(b)}), known);
    EXPECT_NE(find(from, {put(s)}, {&s}), find(from, {put(s)}));
}

TEST_F(cached_transitions, with_equal_hashes_are_told_apart) {
    sparse.add(a);  // its number is 0, and so is that of the empty chunk
    chunk_data& none = graph.empty_chunk();
    const transition* const absent = find(none, {put(a)});
    const transition* const present = find(none, {put(a)}, {&a});
    EXPECT_FALSE(absent->sparse_changes[0].was_there);
    EXPECT_TRUE(present->sparse_changes[0].was_there);

    std::vector<fragment_data> more(66);
    for (std::uint32_t i = 0; i < more.size(); ++i) {
        more[i].type = &type_info_of<int>;
        more[i].index = fragment_index{10 + i};
        chunk({&more[i]});
    }
    chunk_data& first = graph.at(chunk_index{1});
    chunk_data& second = graph.at(chunk_index{65});  // the cache has 64 entries
    EXPECT_EQ(find(first, {put(b)})->from, &first);
    EXPECT_EQ(find(second, {put(b)})->from, &second);
    for (fragment_data& each : more) graph.forget_chunks_of(each);
}

TEST_F(cached_transitions, are_rebuilt_when_traits_change) {
    chunk_data& from = chunk({&a});
    EXPECT_EQ(find(from, {put(b)})->to, &chunk({&a, &b}));
    b.implied = {{&c}};
    graph.invalidate_traits();
    EXPECT_EQ(find(from, {put(b)})->to, &chunk({&a, &b, &c}));
}

TEST_F(cached_transitions, are_rebuilt_if_the_index_of_a_freed_chunk_is_used_again) {
    find(chunk({&a}), {put(b), put(c)});
    graph.collect_garbage();
    chunk_data& other = chunk({&t});  // has the index of the freed chunk
    EXPECT_EQ(find(other, {put(b), put(c)})->to, &chunk({&b, &c, &t}));
}

TEST_F(cached_transitions, are_rebuilt_after_the_count_of_epochs_has_started_over) {
    chunk_data& from = chunk({&a});
    const std::uint64_t first = graph.edge_epoch();
    EXPECT_EQ(find(from, {put(b), put(t)})->to, &chunk({&a, &b, &t}));
    b.implied = {{&c}};
    for (std::uint32_t left = (1u << 29) - 1; left != 0; --left) graph.invalidate();
    ASSERT_EQ(graph.edge_epoch(), first);
    EXPECT_EQ(find(from, {put(b), put(t)})->to, &chunk({&a, &b, &c, &t}));
}

TEST_F(cached_transitions, a_transition_that_cannot_be_built_is_not_cached) {
    chunk_graph small(type_info_of<std::uint64_t>, 2, 1000);
    fragment_data* const set[] = {&a};
    chunk_data& from = small.ensure(set);
    const std::vector<change_shape> shape{put(b)};
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(test::code_of([&] { (void)cache.find(small, from, {}, shape); }), errc::limit);
    const std::vector<change_shape> removal{remove(a)};
    EXPECT_EQ(cache.find(small, from, {}, removal)->to, &small.empty_chunk());
}

TEST_F(cached_transitions, agree_with_the_builder_over_random_changes) {
    std::mt19937 random(5);
    fragment_data* const chunk_fragments[] = {&a, &b, &c, &s, &t};
    for (int i = 0; i < 3000; ++i) {
        std::vector<fragment_data*> set;
        for (fragment_data* fragment : chunk_fragments)
            if (random() % 2 == 0) set.push_back(fragment);
        std::vector<change_shape> shape;
        for (auto left = random() % 3 + 1; left != 0; --left) {
            fragment_data& f = *chunk_fragments[random() % 5];
            const change_shape steps[] = {put(f), keep(f), touch(f), remove(f), clear()};
            shape.push_back(steps[random() % 5]);
        }
        chunk_data& from = chunk(set);
        const transition* const found = find(from, shape);
        const transition& expected = build(from, shape);
        ASSERT_EQ(found->to, expected.to) << i;
        ASSERT_EQ(found->columns, expected.columns) << i;
        ASSERT_EQ(found->arrivals.size(), expected.arrivals.size()) << i;
        kept.clear();
        if (random() % 100 == 0) graph.invalidate();
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
