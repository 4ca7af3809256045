// Exceptions at every point of a commit and of every call that runs hooks. A failed commit drops
// only the change that failed; a failed call leaves the world unchanged. Linked with
// support/failing_allocations.cpp, which makes allocations fail.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "support/hook_trouble.hpp"
#include "support/layouts.hpp"
#include "support/world_dump.hpp"

namespace muster {
namespace {

using test::broken;
using test::caught;
using test::counted;
using test::fragile;
using test::judge;
using test::lone;
using test::long_text;
using test::nothing;
using test::other;
using test::over_aligned;
using test::tagged;
using test::text_of;
using test::trouble;
using test::veto;

/// Needs a fragile, which must be constructed.
struct needy {
    int value = 0;
};
/// Added by hooks that change the world.
struct marked {};
std::string text_of(const needy& value) {
    return std::to_string(value.value);
}
std::string text_of(const marked&) {
    return "yes";
}

enum class hooks { none, connected, record };

/// Full chunks of 8 rows, and hooks on every kind of change.
template <class Layout>
struct scene {
    using id_type = basic_id<Layout>;
    using world_type = basic_world<Layout>;

    judge counter;  // outlives the hooks
    world_type w;
    basic_fragment<std::string, Layout> label = w.template fragment<std::string>("label");
    basic_fragment<int, Layout> source = w.template fragment<int>("source");
    basic_fragment<int, Layout> target = w.template fragment<int>("target");
    id_type tag = w.tag("a tag with a name that needs memory");
    std::array<id_type, 8> weak, rich, bare, labelled;
    std::vector<id_type> cast;  // the compared entities; a story appends those it creates
    fragile breaks{100};
    std::string text = long_text(101);
    typename world_type::builder_type recipe = w.builder();

    explicit scene(hooks which) {
        for (std::size_t i = 0; i < 8; ++i) {
            const int number = static_cast<int>(i);
            weak[i] = w.spawn(fragile(number));
            rich[i] = w.spawn(fragile(10 + number), counted(number), long_text(number));
            bare[i] = w.spawn();
            labelled[i] = w.spawn(with(label, long_text(20 + number)), with(tag));
            w.spawn(with(source, number));
        }
        w.template define<needy>().template needs<fragile>();
        w.name(rich[1], "a name that is too long to be kept without memory");
        recipe.set(fragile(80)).set(long_text(80)).set(label, long_text(81));
        for (const auto* some : {&weak, &rich, &bare, &labelled})
            cast.insert(cast.end(), some->begin(), some->end());
        if (which != hooks::none) connect_hooks(which == hooks::record);
    }

    void connect_hooks(bool records) {
        const auto count = [this] { counter.count_call(); };
        w.template define<fragile>().on_assign(count).on_remove(count);
        w.template define<fragile>().on_set([this, records](id_type e) {
            if (records) w.template add<marked>(e);
            counter.count_call();
        });
        w.template define<counted>().on_set(count).on_remove(count);
        w.define(label).on_insert(count).on_assign(count).on_remove(count);
        w.define(target).on_insert(count).on_assign(count);
        w.define(tag).on_insert(count).on_remove(count);
        w.on_spawn(count);
        w.on_destroy(count);
    }

    /// The state of the whole world and of the arguments.
    std::string look() {
        std::string seen =
            test::dump<Layout, fragile, counted, std::string, lone, over_aligned, needy, marked>(w);
        for (const id_type e : w.entities()) seen += detail::text("\n", e.key(), outcome(e));
        return detail::text(seen, "\n", text, text_of(breaks), " ", recipe.size());
    }

    /// All components of `e`. Not its row, which can change when other rows are removed.
    std::string outcome(id_type e) {
        if (!w.alive(e)) return " dead";
        std::string seen;
        const auto add = [&]<class T>(const char* name, const T* value) {
            if (value != nullptr) seen += detail::text(" ", name, " ", text_of(*value));
        };
        add("fragile", w.template try_get<fragile>(e));
        add("counted", w.template try_get<counted>(e));
        if (const auto* const found = w.template try_get<std::string>(e)) seen += " " + *found;
        add("lone", w.template try_get<lone>(e));
        add("aligned", w.template try_get<over_aligned>(e));
        add("needy", w.template try_get<needy>(e));
        add("marked", w.template try_get<marked>(e));
        if (const auto* const found = w.try_get(e, label)) seen += " label " + *found;
        for (const auto f : {source, target})
            if (const int* const found = w.try_get(e, f)) seen += " int " + std::to_string(*found);
        return seen + (w.has(e, tag) ? " tag" : "");
    }
    std::vector<std::string> outcomes() {
        std::vector<std::string> all;
        for (const id_type e : cast) all.push_back(outcome(e));
        return all;
    }
    /// The components of all entities without their ids: a repeated call creates different ids.
    std::vector<std::string> outcome() {
        std::vector<std::string> all;
        for (const id_type e : w.entities()) all.push_back(outcome(e));
        std::ranges::sort(all);
        return all;
    }

    /// Expects that records, rows and columns agree and that the world is usable.
    void must_be_consistent() {
        const std::string seen = look();
        EXPECT_EQ(seen.find("CONTRADICTION"), std::string::npos) << seen;
        EXPECT_EQ(seen.find("NOT ALIVE"), std::string::npos) << seen;
        for (const id_type e : w.entities())
            if (const auto [chunk, row] = w.locate(e); chunk) {
                ASSERT_LT(row, chunk.size());
                EXPECT_EQ(chunk.entities()[row], e);
            }
        EXPECT_EQ(w.depth(), 0u);
        const id_type probe = w.spawn();
        w.defer();
        w.set(probe, needy{1}, over_aligned{2});
        w.template emplace<lone>(probe, 3);
        EXPECT_TRUE(w.commit());
        EXPECT_TRUE(outcome(probe).starts_with(" fragile 0 lone 3 aligned 2 needy 1"))
            << outcome(probe);
        w.destroy(probe);
    }
};

template <class Layout>
class scope_guarantee : public testing::Test {
protected:
    using scene_type = scene<Layout>;

    /// Makes the commit of `record(scene)` fail at each point where it can, at least `at_least`
    /// times. A failure drops all changes of at most `unit` entities.
    template <class Record>
    void must_commit(trouble kind, hooks which, int at_least, Record record, std::size_t unit = 1) {
        std::vector<std::string> before;
        std::vector<std::string> after;
        {
            scene_type unharmed(which);
            before = unharmed.outcomes();
            unharmed.w.defer();
            record(unharmed);
            unharmed.w.commit();
            after = unharmed.outcomes();
            before.resize(after.size(), " dead");
        }
        everywhere(at_least, [&](int n) {
            scene_type s(which);
            s.w.defer();
            record(s);
            const int thrown = caught(kind, s.counter, n, [&] { s.w.commit(); });
            if (kind <= trouble::in_all_hooks && thrown != nothing)
                EXPECT_EQ(thrown, n) << "it is not the first exception";
            const std::vector<std::string> now = s.outcomes();
            std::size_t dropped = 0;
            for (std::size_t i = 0; i < now.size(); ++i) {
                if (now[i] == after[i]) continue;
                EXPECT_EQ(now[i], before[i]) << "neither as before nor as after:" << after[i];
                ++dropped;
            }
            if (thrown == nothing) EXPECT_EQ(dropped, 0u);
            if (kind != trouble::in_all_hooks) EXPECT_LE(dropped, unit);
            s.must_be_consistent();
            return thrown != nothing;
        });
    }

    /// Makes `call(scene)`, outside a scope, fail at each point where it can, at least `at_least`
    /// times. The world must be unchanged, and the repeated call must succeed.
    template <class Call>
    void must_hold(trouble kind, int at_least, Call call) {
        std::vector<std::string> expected;
        {
            scene_type unharmed(hooks::connected);
            call(unharmed);
            expected = unharmed.outcome();
        }
        everywhere(at_least, [&](int n) {
            scene_type s(hooks::connected);
            const std::string before = s.look();
            const tallies living;
            const int thrown = caught(kind, s.counter, n, [&] { call(s); });
            if (thrown != nothing) {
                EXPECT_EQ(s.look(), before);
                EXPECT_EQ(tallies(), living);
                EXPECT_EQ(s.w.depth(), 0u);
                call(s);
            }
            EXPECT_EQ(s.outcome(), expected);
            s.must_be_consistent();
            return thrown != nothing;
        });
    }
    /// Fails at hooks, copies and allocations; the numbers are the least counts.
    template <class Call>
    void must_hold(int calls, int copies, int allocations, Call call) {
        must_hold(trouble::in_hook, calls, call);
        must_hold(trouble::in_copy, copies, call);
        must_hold(trouble::in_memory, allocations, call);
    }

private:
    /// Calls `fails(n)` with increasing n until it reports no failure.
    template <class Fails>
    static void everywhere(int at_least, Fails fails) {
        int n = 0;
        for (bool failed = true; failed && n < 1000; n += failed ? 1 : 0) {
            SCOPED_TRACE(n);
            const tallies outside;
            failed = fails(n);
            EXPECT_EQ(tallies(), outside) << "leaked, or destroyed twice";
            EXPECT_EQ(fragile::count.misused + counted::count.misused, 0);
        }
        EXPECT_GE(n, at_least);
    }
    struct tallies {
        int fragiles = fragile::count.living;
        int counteds = counted::count.living;
        friend bool operator==(const tallies&, const tallies&) = default;
    };
};
using presets = testing::Types<layouts::bound, layouts::exact>;
TYPED_TEST_SUITE(scope_guarantee, presets, test::layout_names);

// ---- a commit ----------------------------------------------------------------------------------

/// Changes each entity in a different way, some in several ways.
constexpr auto many_kinds = [](auto& s) {
    auto& w = s.w;
    s.cast.push_back(w.spawn(s.breaks, s.text));
    w.set(s.bare[0], s.breaks);
    w.set(s.weak[0], fragile(50), counted(51));
    w.template remove<fragile>(s.rich[0]);
    w.set(s.rich[0], over_aligned{52});
    w.clear(s.rich[1]);
    w.set(s.rich[1], counted(53), with(s.label, s.text));
    w.set(s.rich[2], s.text);
    w.destroy(s.rich[2]);
    w.set(s.weak[1], fragile(w.template get<fragile>(s.weak[1]).value + 100));
    s.cast.push_back(w.clone(s.rich[3], counted(54)));
    w.template emplace<lone>(s.weak[2], 55);
    w.set(s.weak[2], fragile(56));
    w.template touch<fragile>(s.weak[3]);
    w.set(s.labelled[0], s.label, long_text(57));
    w.remove(s.labelled[1], s.label, s.tag);
    w.set(s.bare[1], s.tag);
    w.set(s.bare[2], needy{58});
    w.set(s.bare[2], s.label, s.text);
    w.set(s.labelled[2], needy{59}, tagged{});
    w.template add<fragile, counted>(s.weak[4]);
    s.cast.push_back(w.spawn());
    s.cast.push_back(s.recipe.spawn());
    w.spawn_rows(
        2,
        [&](const auto& rows) {
            for (const auto e : rows.entities()) s.cast.push_back(e);
        },
        s.breaks, counted(60));
    w.set(s.weak[0], s.text);
};

TYPED_TEST(scope_guarantee, a_throwing_hook_in_a_commit_leaves_one_entity_unchanged) {
    this->must_commit(trouble::in_hook, hooks::connected, 30, many_kinds);
}
TYPED_TEST(scope_guarantee, changes_recorded_by_a_hook_are_dropped_with_the_change_that_called_it) {
    this->must_commit(trouble::in_hook, hooks::record, 30, many_kinds);
}
TYPED_TEST(scope_guarantee, the_first_of_many_exceptions_is_rethrown) {
    this->must_commit(trouble::in_all_hooks, hooks::connected, 30, many_kinds);
    this->must_commit(trouble::in_all_hooks, hooks::record, 30, many_kinds);
}
TYPED_TEST(scope_guarantee, a_throwing_constructor_in_a_commit_leaves_one_entity_unchanged) {
    this->must_commit(trouble::in_copy, hooks::none, 2, many_kinds);
    this->must_commit(trouble::in_copy, hooks::connected, 2, many_kinds);
}
TYPED_TEST(scope_guarantee, a_failed_allocation_in_a_commit_leaves_one_entity_unchanged) {
    this->must_commit(trouble::in_memory, hooks::none, 30, many_kinds);
    this->must_commit(trouble::in_memory, hooks::connected, 30, many_kinds);
}

TYPED_TEST(scope_guarantee, changes_of_a_whole_fragment_are_dropped_by_chunk) {
    const auto clear = [](auto& s) {
        s.w.set(s.bare[0], counted(1));
        s.w.template clear<fragile>();  // in two chunks of 8
        s.w.set(s.bare[1], s.tag);
    };
    this->must_commit(trouble::in_hook, hooks::connected, 16, clear, 8);
    this->must_commit(trouble::in_memory, hooks::connected, 2, clear, 16);
    const auto destroy = [](auto& s) {
        s.w.set(s.bare[0], counted(1));
        s.w.destroy(s.tag);
        s.w.set(s.bare[1], counted(1));
    };
    this->must_commit(trouble::in_hook, hooks::connected, 11, destroy, 8);
    this->must_commit(trouble::in_memory, hooks::none, 4, destroy, 8);
}

TYPED_TEST(scope_guarantee, cleared_chunks_keep_the_changes_recorded_by_their_hooks) {
    scene<TypeParam> s(hooks::none);
    auto& w = s.w;
    w.template define<fragile>().on_remove([&](auto e) {
        w.template add<marked>(e);
        if (e == s.rich[5]) throw veto(0);
    });
    EXPECT_THROW(w.template clear<fragile>(), veto);
    for (const auto e : s.weak)
        EXPECT_TRUE(w.template has<marked>(e) && !w.template has<fragile>(e));
    for (const auto e : s.rich)
        EXPECT_TRUE(!w.template has<marked>(e) && w.template has<fragile>(e));
}

// ---- calls without a scope ---------------------------------------------------------------------

TYPED_TEST(scope_guarantee, a_failed_spawn_leaves_no_entity) {
    this->must_hold(3, 1, 3, [](auto& s) { s.w.spawn(s.breaks, counted(1)); });
    this->must_hold(1, 0, 1, [](auto& s) { s.w.spawn(); });
    this->must_hold(3, 1, 3, [](auto& s) { s.w.spawn(with(s.label, s.text), needy{1}); });
    this->must_hold(6, 3, 3, [](auto& s) { s.w.spawn_many(3, s.breaks, s.text); });
    this->must_hold(3, 0, 1, [](auto& s) { s.w.spawn_many(3); });
    this->must_hold(6, 3, 3, [](auto& s) {
        s.w.spawn_rows(
            3,
            [](const auto& rows) {
                for (fragile& component : rows.template components<fragile>()) component.value = 7;
            },
            s.breaks, s.text);
    });
    this->must_hold(3, 1, 3, [](auto& s) { s.w.clone(s.rich[0]); });
    this->must_hold(9, 3, 3, [](auto& s) { s.w.clone_many(3, s.rich[0], counted(4)); });
    this->must_hold(3, 1, 3, [](auto& s) { s.recipe.spawn(); });
}

TYPED_TEST(scope_guarantee, a_failed_set_keeps_the_old_values) {
    this->must_hold(1, 1, 3, [](auto& s) { s.w.set(s.bare[0], s.breaks); });
    this->must_hold(2, 1, 3, [](auto& s) { s.w.set(s.weak[0], s.breaks); });
    this->must_hold(3, 1, 3, [](auto& s) { s.w.set(s.weak[0], s.breaks, counted(1), s.text); });
    this->must_hold(1, 1, 3, [](auto& s) { s.w.set(s.bare[0], needy{1}); });
    this->must_hold(1, 1, 3, [](auto& s) { s.w.template add<fragile>(s.bare[0]); });
    this->must_hold(1, 0, 3, [](auto& s) { s.w.set(s.bare[0], s.label, s.text); });
    this->must_hold(1, 0, 2, [](auto& s) { s.w.set_raw(s.labelled[0], s.label, &s.text); });
    this->must_hold(1, 0, 2, [](auto& s) { s.w.add(s.weak[0], s.tag); });
    this->must_hold(2, 0, 0, [](auto& s) { s.w.template patch<fragile>(s.weak[0], [](auto&) {}); });
    this->must_hold(2, 0, 1, [](auto& s) { s.w.template touch<fragile>(s.weak[0]); });
}

TYPED_TEST(scope_guarantee, a_failed_removal_keeps_everything) {
    this->must_hold(3, 0, 0, [](auto& s) { s.w.destroy(s.rich[1]); });
    this->must_hold(2, 0, 1, [](auto& s) { s.w.template remove<fragile, counted>(s.rich[1]); });
    this->must_hold(2, 0, 1, [](auto& s) { s.w.remove(s.labelled[1], s.label, s.tag); });
    this->must_hold(2, 0, 1, [](auto& s) { s.w.clear(s.rich[1]); });
    this->must_hold(8, 0, 2, [](auto& s) { s.w.template clear<counted>(); });  // one chunk
    this->must_hold(8, 0, 2, [](auto& s) { s.w.clear_fragment(s.tag); });
    this->must_hold(9, 0, 2, [](auto& s) { s.w.destroy(s.tag); });
    this->must_hold(9, 0, 2, [](auto& s) { s.w.destroy(s.label); });
    this->must_hold(25, 0, 2, [](auto& s) {
        s.w.define(s.tag).when_destroyed(destroy_owners);
        s.w.destroy(s.tag);
    });
}

TYPED_TEST(scope_guarantee, a_fragment_is_copied_for_a_whole_chunk_or_not_at_all) {
    this->must_hold(8, 0, 2, [](auto& s) { s.w.copy_fragment(s.source, s.target); });
}

TYPED_TEST(scope_guarantee, a_reset_continues_after_an_exception) {
    for (int n = 0;; ++n) {
        SCOPED_TRACE(n);
        scene<TypeParam> s(hooks::connected);
        const int thrown = caught(trouble::in_hook, s.counter, n, [&] { s.w.reset(); });
        if (thrown == nothing) break;
        EXPECT_EQ(thrown, n);
        // Left are the kept entity and its fragments, or the kept fragment and the entities that
        // have it.
        const std::vector<std::string> left = s.outcome();
        EXPECT_GE(left.size(), 1u);
        EXPECT_LE(left.size(), 9u);
        s.must_be_consistent();
        s.w.reset();
        EXPECT_EQ(s.w.size(), 0u);
    }
}

}  // namespace
}  // namespace muster
