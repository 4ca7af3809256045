#include <muster/command/plan.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace muster::detail {
namespace {

/// Fragments a, b and c store an int, s stores a string, t is a tag.
struct plans : ::testing::Test {
    chunk_graph graph{type_info_of<std::uint64_t>, 100};
    fragment_data a, b, c, s, t;
    plan_cache cache;

    plans() {
        std::uint32_t index = 0;
        for (fragment_data* fragment : {&a, &b, &c, &s, &t}) {
            fragment->type = &type_info_of<int>;
            fragment->index = fragment_index{index++};
        }
        s.type = &type_info_of<std::string>;
        t.type = &type_info_of<no_values_type>;
    }
    struct no_values_type {};

    chunk_data& chunk(std::vector<fragment_data*> set) { return graph.ensure(set); }
    const plan& find(chunk_data& from, const std::vector<change_shape>& shape) {
        return cache.find(graph, from, {}, shape);
    }
    static change_shape put(fragment_data& f) { return {&f, change_kind::put}; }
    static change_shape keep(fragment_data& f) { return {&f, change_kind::keep}; }
    static change_shape replace(fragment_data& f) { return {&f, change_kind::replace}; }
    static change_shape touch(fragment_data& f) { return {&f, change_kind::touch}; }
    static change_shape remove(fragment_data& f) { return {&f, change_kind::remove}; }
    static change_shape clear() { return {nullptr, change_kind::clear}; }

    /// A hook that is never called.
    static void hook(fragment_data& f, hook_kind kind) {
        f.hooks.add(kind, {boxed_value::holding(0), [](void*, std::uint64_t, void*) {}});
    }
};

TEST_F(plans, lead_to_the_net_effect_of_all_changes) {
    chunk_data& from = chunk({&a, &b});
    EXPECT_EQ(find(from, {put(c), remove(a)}).to, &chunk({&b, &c}));
    EXPECT_EQ(find(from, {put(c), remove(c)}).to, &from);
    EXPECT_EQ(find(from, {remove(a), put(a)}).to, &from);
    EXPECT_EQ(find(from, {clear(), put(t)}).to, &chunk({&t}));
    EXPECT_EQ(find(from, {put(t), clear()}).to, &graph.empty_chunk());
    EXPECT_EQ(find(from, {remove(c)}).to, &from);
}

TEST_F(plans, create_no_intermediate_chunk) {
    chunk_data& from = chunk({&a});
    const std::size_t before = graph.all().size();
    EXPECT_EQ(find(from, {put(b), put(c), remove(a)}).to, &graph.ensure(std::vector{&b, &c}));
    EXPECT_EQ(graph.all().size(), before + 1);
}

TEST_F(plans, use_the_last_recorded_value) {
    chunk_data& from = chunk({&a});
    const plan& transition = find(from, {put(b), put(a), put(b)});
    ASSERT_EQ(transition.arrivals.size(), 2u);
    EXPECT_EQ(transition.arrivals[0].given, 1u);
    EXPECT_EQ(transition.arrivals[1].given, 2u);
    EXPECT_EQ(transition.columns, array_list<std::uint32_t>{edge::dropped});  // the old value of a
}

TEST_F(plans, keep_and_replace_depend_on_the_preceding_changes) {
    chunk_data& from = chunk({&a});
    EXPECT_TRUE(find(from, {keep(a)}).arrivals.empty());
    EXPECT_EQ(find(from, {remove(a), keep(a)}).arrivals.size(), 1u);
    EXPECT_EQ(find(from, {replace(a)}).arrivals.size(), 1u);
    EXPECT_EQ(find(from, {replace(b)}).to, &from);
    EXPECT_EQ(find(from, {remove(a), replace(a)}).to, &graph.empty_chunk());
    EXPECT_EQ(find(from, {put(b), replace(b)}).arrivals[0].given, 1u);
}

TEST_F(plans, add_the_fragments_that_new_fragments_need) {
    a.needs = {&b};
    b.needs = {&c, &a};
    chunk_data& from = chunk({&t});
    const plan& transition = find(from, {put(a)});
    EXPECT_EQ(transition.to, &chunk({&a, &b, &c, &t}));
    EXPECT_EQ(transition.arrivals[1].given, plan::none);
    EXPECT_FALSE(transition.moves_bytes);
    EXPECT_EQ(find(from, {put(a), remove(b)}).to, &chunk({&a, &c, &t}));
    EXPECT_EQ(find(chunk({&a}), {put(a)}).to, &chunk({&a}));  // a is not new
}

TEST_F(plans, notify_of_the_net_effect) {
    for (fragment_data* fragment : {&a, &b, &c}) {
        hook(*fragment, hook_kind::set);
        hook(*fragment, hook_kind::remove);
    }
    chunk_data& from = chunk({&a, &b});
    const plan& transition = find(from, {remove(a), put(a), remove(b), put(c)});
    EXPECT_EQ(transition.removed, array_list<fragment_data*>{&b});
    ASSERT_EQ(transition.present.size(), 2u);
    EXPECT_EQ(transition.present[0].fragment, &a);
    EXPECT_FALSE(transition.present[0].is_new);
    EXPECT_EQ(transition.present[1].fragment, &c);
    EXPECT_TRUE(transition.present[1].is_new);
    EXPECT_TRUE(find(from, {put(c), remove(c)}).present.empty());
    EXPECT_EQ(find(from, {touch(a)}).present.size(), 1u);
    EXPECT_TRUE(find(from, {touch(a), remove(a)}).present.empty());
    EXPECT_TRUE(find(from, {touch(c)}).present.empty());
}

TEST_F(plans, notify_only_matching_hooks) {
    hook(a, hook_kind::insert);
    hook(b, hook_kind::assign);
    EXPECT_TRUE(find(chunk({&a}), {put(a)}).present.empty());
    EXPECT_TRUE(find(chunk({&a}), {put(b)}).present.empty());
    EXPECT_TRUE(find(chunk({&a}), {remove(a)}).removed.empty());
    EXPECT_EQ(find(chunk({&b}), {put(a), put(b)}).present.size(), 2u);
}

TEST_F(plans, move_bytes_only_if_no_user_code_runs) {
    EXPECT_TRUE(find(chunk({&a, &t}), {put(b), remove(a), remove(t)}).moves_bytes);
    EXPECT_FALSE(find(chunk({&a}), {put(s)}).moves_bytes);
    EXPECT_FALSE(find(chunk({&s}), {put(a)}).moves_bytes);
    EXPECT_FALSE(find(chunk({&a}), {put(s), remove(s)}).moves_bytes);  // the string is destroyed
    hook(b, hook_kind::insert);
    EXPECT_FALSE(find(chunk({&c}), {put(b)}).moves_bytes);
}

TEST_F(plans, are_rebuilt_when_traits_change) {
    chunk_data& from = chunk({&a});
    EXPECT_EQ(find(from, {put(b)}).to, &chunk({&a, &b}));
    b.needs = {&c};
    graph.invalidate_traits();
    EXPECT_EQ(find(from, {put(b)}).to, &chunk({&a, &b, &c}));
}

}  // namespace
}  // namespace muster::detail
