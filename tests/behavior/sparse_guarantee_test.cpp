// Exceptions at every point of every call that involves sparse fragments, alone or with others:
// each copy, each allocation, each hook. The world is then unchanged, including the addresses of
// its sparse values; a commit and a batch may drop the changes of the entity that failed. Linked
// with support/failing_allocations.cpp.
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

namespace muster {
namespace {

using test::caught;
using test::copies;
using test::counted;
using test::fragile;
using test::judge;
using test::long_text;
using test::nothing;
using test::tracked;
using test::trouble;

struct place {
    int x = 0;
};
/// Sparse. Its copy can throw.
struct spark : fragile {
    using fragile::fragile;
};
/// Cannot be moved. Its constructors can throw.
struct rock : tracked<rock> {
    int value;
    explicit rock(int number = 0) : value(number) { strain(); }
    rock(const rock& other) : tracked(other), value(other.value) { strain(); }
    rock& operator=(const rock&) = delete;

private:
    static void strain() {
        if (copies.strikes()) throw test::broken{};
    }
};
struct stunned {};  // a sparse tag
/// Stored in chunks. Needs a spark and a rock.
struct torch {
    int value = 0;
};
/// Sparse. Needs a rock and a fragile, which is stored in chunks.
struct curse {
    int value = 0;
};
/// Added by hooks that change the world.
struct marked {};
struct extra {
    int value = 0;
};

enum class hooks { none, connected, record };

/// A world whose sparse sets of `spark` and `rock` are full.
template <class Layout>
struct scene {
    using id_type = basic_id<Layout>;
    using world_type = basic_world<Layout>;

    judge counter;  // outlives the hooks
    world_type w;
    basic_fragment<std::string, Layout> title = w.template fragment<std::string>("title");
    basic_fragment<std::string, Layout> copy = w.template fragment<std::string>("copy of it");
    id_type tag = w.tag("a sparse tag with a name that needs memory");
    std::array<id_type, 8> bare, loose, mixed, stony, inside;
    std::vector<id_type> cast;  // the compared entities; a story appends those it creates
    spark breaks{100};
    rock heavy{101};
    std::string text = long_text(102);
    typename world_type::builder_type recipe = w.builder();

    explicit scene(hooks which) {
        w.template define<spark>().sparse();
        w.template define<stunned>().sparse();
        w.template define<curse>().sparse().template needs<fragile, rock>();
        w.template define<torch>().template needs<spark, rock>();
        w.template define<extra>().sparse();
        w.define(title).sparse();
        w.define(tag).sparse();
        for (std::size_t i = 0; i < 8; ++i) {
            const int n = static_cast<int>(i);
            bare[i] = w.spawn();
            loose[i] = w.spawn(spark(n), stunned{});
            mixed[i] = w.spawn(spark(10 + n), fragile(10 + n), place{n}, with(title, long_text(n)));
            stony[i] = w.spawn(place{20 + n}, with(tag));
            w.template emplace<rock>(stony[i], 20 + n);
            inside[i] = w.spawn(place{30 + n}, fragile(30 + n));
        }
        while (w.template count<rock>() < 64) {
            const id_type other = w.spawn();
            w.template emplace<rock>(other, -1);
            if (w.template count<spark>() < 64) w.set(other, spark(-1));
        }
        w.name(loose[1], "a name that is too long to be kept without memory");
        recipe.set(spark(80)).set(fragile(80)).set(title, long_text(81)).set(tag);
        for (const auto* some : {&bare, &loose, &mixed, &stony, &inside})
            cast.insert(cast.end(), some->begin(), some->end());
        if (which != hooks::none) connect_hooks(which == hooks::record);
    }

    void connect_hooks(bool records) {
        const auto count = [this] { counter.count_call(); };
        w.template define<spark>().on_insert(count).on_assign(count).on_remove(count);
        w.template define<rock>().on_remove(count).on_set([this, records](id_type e) {
            if (records) w.template add<marked>(e);
            if (records) w.set(e, extra{1});
            counter.count_call();
        });
        w.template define<fragile>().on_set(count).on_remove(count);
        w.template define<stunned>().on_insert(count).on_remove(count);
        w.define(title).on_set(count).on_remove(count);
        w.define(copy).on_set(count);
        w.define(tag).on_insert(count).on_remove(count);
        w.on_spawn(count);
        w.on_destroy(count);
    }

    /// The observable state: entities, components, addresses of sparse values, and the order of
    /// loops.
    std::string look() {
        std::string seen = detail::text("size ", w.size());
        for (const id_type e : w.entities()) {
            seen += detail::text("\n", e.key(), "[", e.version(), "] ", w.name(e), outcome(e),
                                 where(e));
            if (const auto [chunk, row] = w.locate(e); chunk) {
                if (row >= chunk.size() || chunk.entities()[row] != e) seen += " CONTRADICTION";
                seen += detail::text(" row ", row);
            }
            std::size_t has = 0;
            w.each_fragment(e, [&](id_type, void*) { ++has; });
            if (w.empty(e) != (has == 0)) seen += " CONTRADICTION";
        }
        seen += "\nloops:";
        w.template query<const spark>().each([&](id_type e, const spark& value) {
            seen += detail::text(" ", e.key(), "=", std::to_string(value.value));
        });
        seen += " |";
        w.template query<const place, const rock*>().each([&](id_type e, const place&,
                                                              const rock* value) {
            seen +=
                detail::text(" ", e.key(), value != w.template try_get<rock>(e) ? " WRONG" : "");
        });
        seen += detail::text("\ncounts ", w.template count<spark>(), " ", w.template count<rock>(),
                             " ", w.template count<stunned>(), " ", w.template count<curse>(), " ",
                             w.count(title), " ", w.count(tag), " ", w.template count<fragile>());
        return detail::text(seen, "\n", text, std::to_string(breaks.value),
                            std::to_string(heavy.value), " ", recipe.size());
    }
    std::string where(id_type e) {
        std::string seen = " at";
        const auto add = [&](const void* at) {
            seen.append(" ").append(std::to_string(reinterpret_cast<std::uintptr_t>(at)));
        };
        add(w.template try_get<spark>(e));
        add(w.template try_get<rock>(e));
        add(w.template try_get<curse>(e));
        add(w.try_get(e, title));
        return seen;
    }

    /// All components of `e`.
    std::string outcome(id_type e) {
        if (!w.alive(e)) return " dead";
        std::string seen;
        const auto add = [&](const char* name, const auto* value) {
            if (value != nullptr)
                seen += detail::text(" ", name, " ", std::to_string(value->value));
        };
        add("spark", w.template try_get<spark>(e));
        add("rock", w.template try_get<rock>(e));
        add("fragile", w.template try_get<fragile>(e));
        add("torch", w.template try_get<torch>(e));
        add("curse", w.template try_get<curse>(e));
        add("extra", w.template try_get<extra>(e));
        if (const auto* const found = w.template try_get<place>(e))
            seen += " place " + std::to_string(found->x);
        if (w.template has<stunned>(e)) seen += " stunned";
        if (w.template has<marked>(e)) seen += " marked";
        if (const auto* const found = w.try_get(e, title)) seen += " title " + *found;
        if (const auto* const found = w.try_get(e, copy)) seen += " copy " + *found;
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
    void must_be_consistent() {
        const std::string seen = look();
        EXPECT_EQ(seen.find("CONTRADICTION"), std::string::npos) << seen;
        EXPECT_EQ(seen.find("WRONG"), std::string::npos) << seen;
        EXPECT_EQ(w.depth(), 0u);
        const id_type probe = w.spawn();
        w.set(probe, torch{1}, stunned{});
        w.set(probe, curse{2});
        EXPECT_TRUE(outcome(probe).starts_with(" spark 0 rock 0 fragile 0 torch 1 curse 2"))
            << outcome(probe);
        w.destroy(probe);
        w.collect_garbage();
    }
};

template <class Layout>
class sparse_guarantee : public testing::Test {
protected:
    using scene_type = scene<Layout>;

    /// Makes `call(scene)` fail at each point where it can, at least `at_least` times. The world
    /// must be unchanged, and the repeated call must succeed.
    template <class Call>
    void must_hold(trouble kind, hooks which, int at_least, Call call) {
        std::vector<std::string> expected;
        {
            scene_type unharmed(which);
            call(unharmed);
            expected = unharmed.outcome();
        }
        everywhere(at_least, [&](int n) {
            scene_type s(which);
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
    /// Fails at hooks, copies and allocations, the last two also without hooks. The numbers are the
    /// least counts.
    template <class Call>
    void must_hold(int calls, int broken, int allocations, Call call) {
        must_hold(trouble::in_hook, hooks::connected, calls, call);
        must_hold(trouble::in_copy, hooks::none, broken, call);
        must_hold(trouble::in_copy, hooks::connected, broken, call);
        must_hold(trouble::in_memory, hooks::none, allocations, call);
        must_hold(trouble::in_memory, hooks::connected, allocations, call);
    }

    /// Makes `change(scene)` fail at each point where it can. At most `unit` entities may stay
    /// unchanged.
    template <class Change>
    void must_drop_one(trouble kind, hooks which, int at_least, Change change,
                       std::size_t unit = 1) {
        std::vector<std::string> before;
        std::vector<std::string> after;
        {
            scene_type unharmed(which);
            before = unharmed.outcomes();
            change(unharmed);
            after = unharmed.outcomes();
            before.resize(after.size(), " dead");
        }
        std::size_t changed = 0;
        for (std::size_t i = 0; i < after.size(); ++i) changed += before[i] != after[i] ? 1u : 0u;
        everywhere(at_least, [&](int n) {
            scene_type s(which);
            const std::size_t initial = s.cast.size();
            const int thrown = caught(kind, s.counter, n, [&] { change(s); });
            const std::vector<std::string> now = s.outcomes();
            std::size_t dropped = 0;
            bool is_recorded = s.cast.size() == after.size();
            if (!is_recorded) {  // the recording failed: nothing may have changed
                for (std::size_t i = 0; i < initial; ++i) EXPECT_EQ(now[i], before[i]);
            }
            for (std::size_t i = 0; is_recorded && i < now.size(); ++i) {
                if (now[i] == after[i]) continue;
                EXPECT_EQ(now[i], before[i]) << "neither as before nor as after:" << after[i];
                ++dropped;
            }
            if (thrown == nothing) EXPECT_EQ(dropped, 0u);
            // A copy that throws before the first change stops the whole call.
            if (kind != trouble::in_all_hooks && dropped != changed) EXPECT_LE(dropped, unit);
            s.must_be_consistent();
            return thrown != nothing;
        });
    }

private:
    /// Calls `fails(n)` with increasing n until it reports no failure.
    template <class Fails>
    static void everywhere(int at_least, Fails fails) {
        const int reported = failures();
        int n = 0;
        for (bool failed = true; failed && n < 1000; n += failed ? 1 : 0) {
            SCOPED_TRACE(n);
            const tallies outside;
            failed = fails(n);
            EXPECT_EQ(tallies(), outside) << "leaked, or destroyed twice";
            EXPECT_EQ(fragile::count.misused + rock::count.misused, 0);
            if (failures() != reported) break;  // one report is enough
        }
        EXPECT_GE(n, at_least);
    }
    static int failures() {
        return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    }
    struct tallies {
        int fragiles = fragile::count.living;
        int rocks = rock::count.living;
        friend bool operator==(const tallies&, const tallies&) = default;
    };
};
using presets = testing::Types<layouts::bound>;
TYPED_TEST_SUITE(sparse_guarantee, presets, test::layout_names);

// ---- calls -------------------------------------------------------------------------------------

TYPED_TEST(sparse_guarantee, a_failed_spawn_leaves_no_entity) {
    this->must_hold(2, 1, 2, [](auto& s) { s.w.spawn(s.breaks); });
    this->must_hold(4, 2, 2, [](auto& s) { s.w.spawn(s.breaks, place{}, s.heavy, stunned{}); });
    this->must_hold(3, 2, 2, [](auto& s) { s.w.spawn(torch{1}); });
    this->must_hold(3, 2, 2, [](auto& s) { s.w.spawn(curse{1}, place{}); });
    this->must_hold(3, 0, 2, [](auto& s) { s.w.spawn(with(s.title, s.text), with(s.tag)); });
    this->must_hold(3, 1, 1, [](auto& s) { s.w.clone(s.loose[1]); });
    this->must_hold(4, 2, 2, [](auto& s) { s.w.clone(s.mixed[1], stunned{}); });
    this->must_hold(3, 1, 2, [](auto& s) { s.w.clone(s.stony[1], place{7}); });
}

TYPED_TEST(sparse_guarantee, an_exact_id_can_be_requested_again_after_a_failure) {
    const auto spawn = [](auto& s) {
        const auto wanted =
            basic_id<TypeParam>::pack(5000, TypeParam::first_version + 1, s.bare[0].world());
        s.w.spawn_at(wanted, s.heavy, s.breaks, place{});
    };
    this->must_hold(trouble::in_copy, hooks::none, 2, spawn);
}

TYPED_TEST(sparse_guarantee, a_failed_spawn_of_many_leaves_no_entity) {
    this->must_hold(6, 3, 2, [](auto& s) { s.w.spawn_many(3, s.breaks); });
    this->must_hold(9, 6, 2, [](auto& s) { s.w.spawn_many(3, s.breaks, s.heavy, place{}); });
    this->must_hold(9, 6, 2, [](auto& s) { s.w.spawn_many(3, torch{}); });
    this->must_hold(9, 6, 2, [](auto& s) { s.w.spawn_many(3, curse{}, stunned{}); });
    this->must_hold(9, 6, 2, [](auto& s) { s.w.clone_many(3, s.mixed[0], s.heavy); });
    this->must_hold(6, 3, 2, [](auto& s) { s.w.clone_many(3, s.stony[0], torch{}); });
    this->must_hold(6, 3, 2, [](auto& s) { s.recipe.spawn_many(3); });
    this->must_hold(6, 3, 2, [](auto& s) { s.recipe.clone_many(3, s.stony[2]); });
    this->must_hold(6, 3, 2, [](auto& s) {
        s.w.spawn_rows(
            3,
            [](const auto& rows) {
                for (spark& component : rows.template components<spark>()) component.value = 7;
            },
            s.breaks, s.heavy, place{});
    });
}

TYPED_TEST(sparse_guarantee, a_failed_set_keeps_the_old_values) {
    this->must_hold(1, 1, 0, [](auto& s) { s.w.set(s.bare[0], s.breaks); });
    this->must_hold(1, 1, 0, [](auto& s) { s.w.set(s.bare[0], s.heavy); });
    this->must_hold(1, 1, 0, [](auto& s) { s.w.set(s.loose[0], s.breaks); });
    this->must_hold(1, 1, 0, [](auto& s) { s.w.set(s.stony[0], s.heavy); });
    this->must_hold(3, 2, 1, [](auto& s) { s.w.set(s.stony[0], s.heavy, s.breaks, stunned{}); });
    this->must_hold(
        3, 2, 1, [](auto& s) { s.w.set(s.mixed[0], s.heavy, s.breaks, fragile(1), with(s.tag)); });
    this->must_hold(2, 2, 1, [](auto& s) { s.w.set(s.bare[0], torch{1}); });
    this->must_hold(2, 2, 1, [](auto& s) { s.w.set(s.bare[0], curse{1}); });
    this->must_hold(1, 1, 0, [](auto& s) { s.w.template add<spark>(s.bare[0]); });
    this->must_hold(1, 1, 0, [](auto& s) { s.w.template add<rock>(s.bare[0]); });
    this->must_hold(2, 2, 1, [](auto& s) { s.w.template add<spark, fragile>(s.bare[0]); });
    this->must_hold(1, 1, 0, [](auto& s) { s.w.template emplace<rock>(s.stony[0], 5); });
    this->must_hold(1, 0, 0, [](auto& s) { s.w.set(s.bare[0], s.title, s.text); });
    this->must_hold(1, 0, 0, [](auto& s) { s.w.set_raw(s.mixed[0], s.title, &s.text); });
    this->must_hold(1, 0, 0, [](auto& s) { s.w.add(s.bare[0], s.tag); });
    this->must_hold(1, 0, 0, [](auto& s) { s.w.template touch<spark>(s.mixed[0]); });
}

TYPED_TEST(sparse_guarantee, several_pinned_defaults_are_added_together_or_not_at_all) {
    this->must_hold(2, 2, 1, [](auto& s) { s.w.template add<rock, spark>(s.bare[0]); });
    this->must_hold(2, 2, 1, [](auto& s) { s.w.template add<fragile, rock>(s.loose[0]); });
}

TYPED_TEST(sparse_guarantee, a_failed_removal_keeps_everything) {
    this->must_hold(1, 0, 0, [](auto& s) { s.w.template remove<spark>(s.mixed[0]); });
    this->must_hold(2, 0, 1, [](auto& s) { s.w.template remove<spark, fragile>(s.mixed[0]); });
    this->must_hold(1, 0, 1, [](auto& s) { s.w.remove(s.mixed[0], s.title, s.tag); });
    this->must_hold(2, 0, 1, [](auto& s) { s.w.clear(s.mixed[1]); });
    this->must_hold(3, 0, 0, [](auto& s) { s.w.destroy(s.mixed[1]); });
    this->must_hold(3, 0, 0, [](auto& s) { s.w.destroy(s.loose[1]); });
    this->must_hold(9, 0, 1, [](auto& s) { s.w.destroy(s.tag); });
    this->must_hold(9, 0, 1, [](auto& s) { s.w.destroy(s.title.id()); });
    this->must_hold(17, 0, 1, [](auto& s) {
        s.w.define(s.title).when_destroyed(destroy_owners);
        s.w.destroy(s.title.id());
    });
}

TYPED_TEST(sparse_guarantee, a_failed_sort_keeps_the_order) {
    this->must_hold(trouble::in_memory, hooks::none, 2, [](auto& s) {
        s.w.template sort<spark>([](const spark& a, const spark& b) { return a.value > b.value; });
    });
    this->must_hold(trouble::in_memory, hooks::none, 2,
                    [](auto& s) { s.w.template sort_like<spark, place>(); });
}

TYPED_TEST(sparse_guarantee, a_fragment_that_cannot_become_sparse_is_unchanged) {
    struct late {
        int value = 0;
    };
    this->must_hold(trouble::in_memory, hooks::none, 1,
                    [](auto& s) { s.w.template define<late>().sparse(); });
    this->must_hold(trouble::in_memory, hooks::none, 1,
                    [](auto& s) { s.w.define(s.bare[0]).sparse().hidden(); });
    this->must_hold(trouble::in_memory, hooks::none, 1,
                    [](auto& s) { s.w.set(s.bare[0], s.bare[1], s.heavy); });
}

// ---- scopes and batches ------------------------------------------------------------------------

/// Changes each entity in a different way, some in several ways.
constexpr auto many_kinds = [](auto& s) {
    auto& w = s.w;
    basic_deferred whole(w);
    w.set(s.bare[0], s.breaks, s.heavy);
    w.set(s.loose[0], s.breaks, fragile(1));
    w.template emplace<rock>(s.stony[0], 51);
    w.template emplace<rock>(s.stony[0], 52);
    w.template remove<spark>(s.mixed[0]);
    w.set(s.mixed[0], stunned{}, s.heavy);
    w.clear(s.mixed[1]);
    w.set(s.mixed[1], with(s.title, s.text), with(s.tag));
    w.set(s.mixed[2], s.breaks);
    w.destroy(s.mixed[2]);
    w.template patch<spark>(s.loose[1], [](spark& value) { value.value += 100; });
    w.template touch<rock>(s.stony[1]);
    w.set(s.bare[1], torch{53});
    w.set(s.bare[2], curse{54});
    w.remove(s.stony[2], s.tag);
    w.template add<rock>(s.stony[2]);
    w.template add<rock>(s.bare[3]);
    w.set(s.loose[2], s.title, s.text);
    s.cast.push_back(w.clone(s.mixed[3], s.heavy));
    s.cast.push_back(w.spawn(s.breaks, place{}, stunned{}));
    s.cast.push_back(s.recipe.spawn());
    whole.commit();
};

TYPED_TEST(sparse_guarantee, a_failed_commit_drops_the_changes_of_one_entity) {
    this->must_drop_one(trouble::in_hook, hooks::connected, 20, many_kinds);
    this->must_drop_one(trouble::in_hook, hooks::record, 20, many_kinds);
    this->must_drop_one(trouble::in_all_hooks, hooks::connected, 20, many_kinds);
    this->must_drop_one(trouble::in_all_hooks, hooks::record, 20, many_kinds);
}
TYPED_TEST(sparse_guarantee, a_failed_scope_drops_the_changes_of_one_entity_or_all_changes) {
    this->must_drop_one(trouble::in_copy, hooks::none, 10, many_kinds);
    this->must_drop_one(trouble::in_copy, hooks::connected, 10, many_kinds);
    this->must_drop_one(trouble::in_memory, hooks::none, 10, many_kinds);
    this->must_drop_one(trouble::in_memory, hooks::connected, 10, many_kinds);
}

TYPED_TEST(sparse_guarantee, a_failed_batch_drops_the_changes_of_one_entity) {
    const auto each = [&](int calls, int broken, int allocations, auto change,
                          std::size_t unit = 1) {
        this->must_drop_one(trouble::in_hook, hooks::connected, calls, change, unit);
        this->must_drop_one(trouble::in_hook, hooks::record, calls, change, unit);
        this->must_drop_one(trouble::in_copy, hooks::none, broken, change, unit);
        this->must_drop_one(trouble::in_memory, hooks::none, allocations, change, 100);
    };
    each(24, 24, 1, [](auto& s) { s.w.template query<place>().set(s.breaks); });
    each(24, 24, 1, [](auto& s) { s.w.template query<place>().set(s.heavy, fragile(3)); });
    each(16, 8, 1, [](auto& s) { s.w.template query<place>().template add<curse>(); });
    each(8, 8, 1, [](auto& s) { s.w.template query<place, rock>().template add<torch>(); });
    each(8, 0, 1, [](auto& s) { s.w.template query<place>().template remove<spark, fragile>(); });
    each(8, 0, 1, [](auto& s) { s.w.template query<place>().with(s.title).clear(); });
    each(8, 0, 1, [](auto& s) { s.w.template query<spark, place>().destroy(); });
    each(16, 0, 0, [](auto& s) { s.w.template clear<spark>(); });
    each(8, 0, 0, [](auto& s) { s.w.clear_fragment(s.title); });
    each(8, 0, 1, [](auto& s) { s.w.copy_fragment(s.title, s.copy); });
    each(16, 0, 1, [](auto& s) { s.w.template query<place>().clear(); }, 16);    // by chunk
    each(16, 0, 1, [](auto& s) { s.w.template query<place>().destroy(); }, 16);  // by chunk
}

}  // namespace
}  // namespace muster
