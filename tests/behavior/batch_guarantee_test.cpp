// Exceptions at every point of a batch, of `copy_fragment` and of `clear<T>()`. Each chunk changes
// completely or not at all, the other chunks proceed, the first exception propagates, and observers
// log exactly the changes made. Linked with support/failing_allocations.cpp.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "support/hook_trouble.hpp"
#include "support/world_dump.hpp"

// Like the operators of support/failing_allocations.cpp. std::stable_partition calls it and can do without
// memory.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return std::malloc(size == 0 ? 1 : size);
}

namespace muster {
namespace {

using test::broken;
using test::caught;
using test::counted;
using test::fragile;
using test::judge;
using test::long_text;
using test::nothing;
using test::other;
using test::over_aligned;
using test::tagged;
using test::text_of;
using test::trouble;
using test::veto;

struct number {
    int value = 0;
};
struct needy {  // needs a fragile, which must be constructed
    int value = 0;
};
std::string text_of(const number& value) {
    return std::to_string(value.value);
}
std::string text_of(const needy& value) {
    return std::to_string(value.value);
}

enum class hooks { none, connected };
using ids = std::vector<entity>;

/// Six chunks of five entities, with hooks and observers. Some changes move entities from one of
/// these chunks to another.
struct scene {
    static constexpr std::size_t rows = 5;
    judge counter;  // outlives the hooks
    world w{world_options{.provenance = true}};
    fragment<fragile> source = w.fragment<fragile>("source");
    fragment<fragile> target = w.fragment<fragile>("target");
    entity tag = w.tag("tag");
    std::vector<ids> groups;
    fragile breaks{100};
    std::string text = long_text(101);
    std::vector<muster::observer<>> observers;

    explicit scene(hooks which) {
        w.define<needy>().needs<fragile>();
        w.define(source).duplicate(
            [](const fragile& value) { return fragile(value.value + 1000); });
        groups.push_back(w.spawn_many(rows, fragile(1)));
        groups.push_back(w.spawn_many(rows, fragile(2), counted(2)));
        groups.push_back(w.spawn_many(rows, fragile(3), counted(3), long_text(3)));
        groups.push_back(w.spawn_many(rows, number{4}));
        groups.push_back(w.spawn_many(rows, fragile(5), number{5}, tagged{}));
        groups.push_back(w.spawn_many(rows, counted(6), with(source, fragile(6))));
        for (const entity e : groups[5]) w.set(e, with(tag));
        w.name(groups[2][1], "a name that is too long to be kept without memory");
        for (std::size_t i = 0; i < rows; ++i)
            w.get<fragile>(groups[1][i]).value = 20 + static_cast<int>(i);
        if (which == hooks::connected) connect_hooks();
        observers.push_back(w.observer().added<fragile, counted>().added(target));
        observers.push_back(w.observer().changed<fragile, counted>().changed(target));
        observers.push_back(w.observer().removed<fragile, counted, number>().removed(source, tag));
    }
    void connect_hooks() {
        const auto count = [this] { counter.count_call(); };
        w.define<fragile>().on_insert(count).on_assign(count).on_set(count).on_remove(count);
        w.define<counted>().on_insert(count).on_set(count).on_remove(count);
        w.define<number>().on_assign(count).on_remove(count);
        w.define(target).on_set(count);
        w.define(tag).on_insert(count).on_remove(count);
        w.on_destroy(count);
    }

    std::string outcome(entity e) {
        if (!w.alive(e)) return " dead";
        std::string seen;
        const auto add = [&]<class T>(const char* name, const T* value) {
            if (value != nullptr) seen += detail::text(" ", name, " ", text_of(*value));
        };
        add("fragile", w.try_get<fragile>(e));
        add("counted", w.try_get<counted>(e));
        if (const auto* const found = w.try_get<std::string>(e)) seen += " " + *found;
        add("number", w.try_get<number>(e));
        add("aligned", w.try_get<over_aligned>(e));
        add("needy", w.try_get<needy>(e));
        add("tagged", w.try_get<tagged>(e));
        add("source", w.try_get(e, source));
        add("target", w.try_get(e, target));
        return seen + (w.has(e, tag) ? " tag" : "");
    }
    std::vector<std::vector<std::string>> outcomes() {
        std::vector<std::vector<std::string>> all;
        for (const ids& group : groups) {
            all.emplace_back();
            for (const entity e : group) all.back().push_back(outcome(e));
        }
        return all;
    }
    std::vector<ids> gathered() {
        std::vector<ids> all;
        for (muster::observer<>& observer : observers) all.push_back(observer.take());
        return all;
    }
    void must_be_consistent() {
        const std::string seen = test::dump<layouts::bound, fragile, counted, std::string, number,
                                            over_aligned, needy, tagged>(w);
        EXPECT_EQ(seen.find("CONTRADICTION"), std::string::npos) << seen;
        EXPECT_EQ(seen.find("NOT ALIVE"), std::string::npos) << seen;
        for (const entity e : w.entities())
            if (const auto [chunk, row] = w.locate(e); chunk) {
                ASSERT_LT(row, chunk.size());
                EXPECT_EQ(chunk.entities()[row], e);
            }
        EXPECT_EQ(w.depth(), 0u);
        // Overflows a column that is shorter than its chunk's capacity.
        for (const ids& group : groups)
            for (const entity e : group)
                if (w.alive(e)) (void)w.clone_many(3, e);
    }
};

class batch_guarantee : public testing::Test {
protected:
    /// Makes `call(scene)` fail at each point where it can, directly and in a scope. Expects at
    /// least `at_least` such points.
    template <class Call>
    void must_hold(trouble kind, hooks which, int at_least, Call call) {
        must_fail(kind, which, at_least, call, call);
        must_fail(kind, which, at_least, call, [&](scene& s) {
            s.w.defer();
            try {
                call(s);
            } catch (...) {
                s.w.cancel();
                throw;
            }
            s.w.commit();
        });
    }
    /// Runs with and without hooks. `calls` is the least number of hook calls.
    template <class Call>
    void must_hold(int calls, int copies, int allocations, Call call) {
        must_hold(trouble::in_hook, hooks::connected, calls, call);
        must_hold(trouble::in_all_hooks, hooks::connected, calls, call);
        for (const hooks which : {hooks::none, hooks::connected}) {
            must_hold(trouble::in_copy, which, copies, call);
            must_hold(trouble::in_memory, which, allocations, call);
        }
    }

private:
    struct tallies {
        int fragiles = fragile::count.living;
        int counteds = counted::count.living;
        friend bool operator==(const tallies&, const tallies&) = default;
    };

    template <class Call, class Attempt>
    void must_fail(trouble kind, hooks which, int at_least, Call call, Attempt attempt) {
        std::vector<std::vector<std::string>> before;
        std::vector<std::vector<std::string>> after;
        std::vector<ids> all;
        {
            scene unharmed(which);
            before = unharmed.outcomes();
            attempt(unharmed);
            after = unharmed.outcomes();
            all = unharmed.gathered();
        }
        ASSERT_NE(before, after);
        if (HasFailure()) return;
        int n = 0;
        for (bool failed = true; failed && n < 2000; ++n) {
            SCOPED_TRACE(testing::Message()
                         << "kind " << static_cast<int>(kind)
                         << (which == hooks::connected ? ", hooks" : "") << " at " << n);
            const tallies outside;
            {
                scene s(which);
                const tallies living;
                const int thrown = caught(kind, s.counter, n, [&] { attempt(s); });
                failed = thrown != nothing ||
                         (kind == trouble::in_memory && test::allocations.has_struck()) ||
                         (kind == trouble::in_copy && test::copies.has_struck());
                if (kind <= trouble::in_all_hooks && thrown != nothing) {
                    EXPECT_EQ(thrown, n) << "it is not the first exception";
                }
                const auto now = s.outcomes();
                ids lost;
                std::size_t kept = 0;
                std::size_t done = 0;
                for (std::size_t i = 0; i < now.size(); ++i) {
                    if (before[i] == after[i]) {
                        EXPECT_EQ(now[i], before[i]);
                    } else if (now[i] == after[i]) {
                        ++done;
                    } else {
                        EXPECT_EQ(now[i], before[i]) << "neither as before nor as after";
                        lost.insert(lost.end(), s.groups[i].begin(), s.groups[i].end());
                        ++kept;
                    }
                }
                EXPECT_TRUE(kept == 0 || thrown != nothing);
                // An allocation can also fail for a chunk that the call does not change.
                EXPECT_TRUE(kept != 0 || thrown == nothing || kind == trouble::in_memory);
                EXPECT_TRUE(kind == trouble::in_all_hooks || kept <= 1 || done == 0) << kept;
                EXPECT_TRUE(kept == 0 || done != 0 || tallies() == living);
                std::vector<ids> expected = all;
                for (ids& logged : expected) {
                    for (entity& e : logged)  // the equivalent id of this world
                        e = entity::pack(e.key(), e.version(), s.w.number());
                    std::erase_if(
                        logged, [&](entity e) { return std::ranges::find(lost, e) != lost.end(); });
                }
                EXPECT_EQ(s.gathered(), expected);
                call(s);
                EXPECT_EQ(s.outcomes(), after);
                s.must_be_consistent();
            }
            EXPECT_EQ(tallies(), outside) << "leaked, or destroyed twice";
            EXPECT_EQ(fragile::count.misused + counted::count.misused, 0);
            if (HasFailure()) break;
        }
        EXPECT_GE(n - 1, at_least);
    }
};

TEST_F(batch_guarantee, values_are_set_on_whole_chunks) {
    must_hold(20, 16, 8, [](scene& s) { s.w.query<counted>().set(s.breaks); });
    must_hold(15, 0, 8, [](scene& s) { s.w.query<fragile>().set(counted(7), s.text); });
    must_hold(10, 11, 8, [](scene& s) { s.w.query<number>().set(s.breaks, s.text); });
    must_hold(10, 0, 6, [](scene& s) { s.w.query<number>().set(number{9}, over_aligned{9}); });
    must_hold(10, 5, 6, [](scene& s) { s.w.query<number>().without<fragile>().set(needy{8}); });
    must_hold(5, 0, 4,
              [](scene& s) { s.w.query<fragile, counted>().without<std::string>().set(s.tag); });
    must_hold(20, 21, 8, [](scene& s) { s.w.query<fragile>().set(s.target, s.breaks); });
}

TEST_F(batch_guarantee, defaults_are_added_to_whole_chunks) {
    must_hold(20, 10, 6, [](scene& s) { s.w.query().any<number, counted>().add<fragile>(); });
    must_hold(10, 5, 6, [](scene& s) { s.w.query<number>().add<needy, counted>(); });
    must_hold(5, 0, 4, [](scene& s) { s.w.query<fragile, std::string>().add(s.tag); });
}

TEST_F(batch_guarantee, fragments_are_removed_from_whole_chunks) {
    must_hold(20, 0, 6, [](scene& s) { s.w.query<fragile>().remove<fragile>(); });
    must_hold(15, 0, 6,
              [](scene& s) { s.w.query<fragile>().remove<counted, std::string, number>(); });
    must_hold(5, 0, 4, [](scene& s) { s.w.query<counted>().remove(s.source, s.tag); });
    must_hold(30, 0, 4, [](scene& s) { s.w.query<>().any<fragile, number>().clear(); });
    must_hold(15, 0, 4, [](scene& s) { s.w.clear<counted>(); });
    must_hold(5, 0, 2, [](scene& s) { s.w.clear_fragment(s.tag); });
}

TEST_F(batch_guarantee, entities_are_destroyed_in_whole_chunks) {
    must_hold(35, 0, 4, [](scene& s) { s.w.query<fragile>().destroy(); });
    must_hold(30, 0, 4, [](scene& s) { s.w.query<counted>().destroy(); });
    must_hold(10, 0, 4, [](scene& s) { s.w.query<number>().without<fragile>().destroy(); });
}

TEST_F(batch_guarantee, fragments_are_copied_in_whole_chunks) {
    must_hold(5, 5, 4, [](scene& s) { s.w.copy_fragment(s.source, s.target); });
    must_hold(20, 20, 6, [](scene& s) { s.w.copy_fragment(s.w.component<fragile>(), s.target); });
    must_hold(10, 5, 4, [](scene& s) { s.w.copy_fragment(s.source, s.w.component<fragile>()); });
}

TEST_F(batch_guarantee, a_failed_construction_of_an_observer_leaves_no_subscription) {
    for (int n = 0;; ++n) {
        SCOPED_TRACE(n);
        world w;
        const entity tag = w.tag("tag");
        std::vector<muster::basic_observer<layouts::bound, fragile, number>> made;
        made.reserve(1);
        const auto attempt = [&] {
            made.push_back(
                w.observer<fragile, number>().removed<counted>().with<tagged>().added(tag));
        };
        judge unused;
        const bool failed = caught(trouble::in_memory, unused, n, attempt) != nothing;
        EXPECT_EQ(made.empty(), failed);
        const entity e = w.spawn(fragile(1), tagged{});
        if (failed) attempt();
        EXPECT_EQ(made[0].size(), failed ? 0u : 1u);
        w.set(e, number{}, with(tag));
        EXPECT_EQ(made[0].take(), ids{e});
        if (!failed) break;
        ASSERT_LT(n, 200);
    }
}

TEST_F(batch_guarantee, a_failed_read_of_an_observer_keeps_its_log) {
    scene s(hooks::none);
    auto o = s.w.observer<number>();
    const ids all = s.w.spawn_many(100, number{});
    for (int n = 0; n < 2; ++n) {
        test::allocations.start(0);
        if (n == 0)
            EXPECT_THROW((void)o.take(), std::bad_alloc);
        else
            EXPECT_THROW(o.each([](entity) {}), std::bad_alloc);
        test::allocations.stop();
        EXPECT_EQ(o.size(), 100u);
    }
    test::allocations.start(1);
    EXPECT_THROW((void)o.take(), std::bad_alloc);
    test::allocations.stop();
    EXPECT_EQ(s.w.depth(), 0u);
    EXPECT_EQ(o.take(), all);
}

}  // namespace
}  // namespace muster
