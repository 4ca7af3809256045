// Every public call, in every place from which a program can make it: it works, or it throws the error that the
// documentation states, and then it has changed nothing.
#include "places.hpp"

#include <algorithm>

using namespace muster_tests::hostile;

namespace {

/// How a call in a place ended.
struct result {
    int calls = 0;
    std::optional<errc> code;   // what the call has thrown
    std::optional<errc> later;  // what the place has thrown afterwards
    bool has_left = false;      // an exception has left the place
    std::string seen;
};

struct leave {};

/// Makes a call in a place. If `leaves`, an exception leaves the place after the call.
result make_call(const place& where, const row* tested, bool leaves = false) {
    result made;
    scene s;
    where.prepare(s, s.own[1]);
    const std::function<void()> run = [&] {
        ++made.calls;
        if (tested != nullptr) made.code = code_of([&] { (void)tested->call(s, s.own[1], 1); });
        if (leaves) throw leave{};
    };
    try {
        made.later = code_of([&] { where.enter(s, s.own[1], run); });
    } catch (const leave&) {
        made.has_left = true;
    }
    while (s.w.depth() != 0) s.w.commit();  // the call was `defer`
    made.seen = look(s);
    expect_consistent(s);
    expect_usable(s);
    return made;
}

bool is_one_of(const row& tested, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, tested.name) != names.end();
}

/// What the documentation states about this call in this place.
std::optional<errc> documented(const place& where, const row& tested) {
    using enum place::setting;
    if (where.where == phase)
        return tested.in_phase == outcome::refused ? std::optional(errc::in_scope) : std::nullopt;
    if (is_one_of(tested, {"system::with", "system::without", "system::any"}))
        return errc::too_late;  // the system has its function
    if (where.where == change) {
        const bool is_change =
            tested.in_phase == outcome::refused || tested.in_phase == outcome::recorded;
        if (is_one_of(tested, {"entities, while others spawn"})) return std::nullopt;  // it reads
        return (is_change && tested.is_refused_in_change) ||
                       is_one_of(tested, {"par_each", "par_reduce", "system::each of a new type"})
                   ? std::optional(errc::in_scope)
                   : std::nullopt;
    }
    if (is_one_of(tested, {"definition::sparse"}) && !muster::detail::sparse_by_default)
        return errc::fragment_in_use;
    if (is_one_of(tested, {"commit", "cancel"}) && where.where != users_scope)
        return errc::unbalanced_scope;
    if (where.where != free &&
        is_one_of(tested, {"reset", "collect_garbage", "recycle_tombstones", "sort", "sort_like",
                           "sort a new type", "place_before", "sort_sources", "arrange",
                           "use of a new module"}))
        return errc::in_scope;
    if (is_one_of(tested, {"sort a new type"}) && !muster::detail::sparse_by_default)
        return errc::not_sparse;
    return std::nullopt;
}

/// Whether `patch` cannot return a reference, because its function has removed the value.
bool removes_the_value(const row& tested) {
    return is_one_of(tested, {"destroy", "destroy several", "destroy a span", "destroy_if", "clear",
                              "query::clear", "query::destroy"});
}

class hostile_states : public testing::TestWithParam<place> {};
INSTANTIATE_TEST_SUITE_P(everywhere, hostile_states, testing::ValuesIn(all_places()), name_of);

TEST_P(hostile_states, a_call_works_or_throws_as_documented_and_then_changes_nothing) {
    const place& where = GetParam();
    const result without = make_call(where, nullptr);
    EXPECT_EQ(without.calls, 1);
    EXPECT_FALSE(without.later);
    for (const row& tested : all_calls()) {
        SCOPED_TRACE(tested.name);
        const result with = make_call(where, &tested);
        EXPECT_EQ(with.calls, 1);
        EXPECT_EQ(with.code, documented(where, tested));
        if (with.code) EXPECT_EQ(with.seen, without.seen);
        if (where.changes == place::fate::dropped && !is_immediate(tested))
            EXPECT_EQ(with.seen, without.seen) << "although its changes are dropped";
        if (with.later) {
            const bool is_patch = std::string_view(where.name) == "in the function of patch";
            const bool is_scope = is_one_of(tested, {"defer", "commit", "cancel"});
            EXPECT_TRUE((is_patch && removes_the_value(tested)) || is_scope);
        }
    }
}

TEST_P(hostile_states, a_recorded_call_has_the_effect_of_a_direct_call) {
    const place& where = GetParam();
    const place& outside = all_places()[0];
    if (where.changes == place::fate::dropped) GTEST_SKIP() << "it has no effect";
    if (make_call(where, nullptr).seen != make_call(outside, nullptr).seen)
        GTEST_SKIP() << "the place has an effect of its own";
    for (const row* tested : calls_with_turn(where, 6)) {
        SCOPED_TRACE(tested->name);
        const bool is_void = tested->in_phase == outcome::returns_false;
        if (is_void && where.where == place::setting::phase) continue;
        const result direct = make_call(outside, tested);
        const result now = make_call(where, tested);
        if (!direct.code && !now.code && !now.later) EXPECT_EQ(now.seen, direct.seen);
    }
}

TEST_P(hostile_states, an_exception_drops_the_changes_of_the_callback_that_it_leaves) {
    const place& where = GetParam();
    if (!where.drops_on_exception) GTEST_SKIP() << "it is no callback, or must not throw";
    const result without = make_call(where, nullptr, true);
    EXPECT_TRUE(without.has_left);
    for (const row* tested : calls_with_turn(where, 6)) {
        SCOPED_TRACE(tested->name);
        const result with = make_call(where, tested, true);
        EXPECT_TRUE(with.has_left);
        if (!is_immediate(*tested)) EXPECT_EQ(with.seen, without.seen);
    }
}

}  // namespace
