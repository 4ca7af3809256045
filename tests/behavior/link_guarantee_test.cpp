// Like relation_guarantee_test.cpp, for relations with many targets, groups and policies, and for calls that change
// many links at once. After each failure, both ends of every link must agree. Linked with failing_allocations.cpp.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/open_world.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::allocations;

struct position {
    int x = 0;
};
struct label {
    std::string text = "a text that is too long to be stored without memory";
};
struct heat {
    std::string text = "a sparse text that is too long to be stored without memory";
};
struct likes {
    std::string why = "a reason that is too long to be stored without memory";
};
struct needs {};
struct docked_at {};
struct part_of {
    int share = 0;
};
struct member_of {};
struct owns {};
struct touches {
    std::string where = "a place that is too long to be stored without memory";
};

/// Shows the entities that a relation relates, in their order, and compares both ends of its links.
template <class R>
void show_links(std::string& text, const world& w, const std::vector<entity>& all) {
    for (const entity e : all) {
        text += " ";
        for (const entity target : w.targets<R>(e)) {
            text += std::to_string(target.key()) + ",";
            int count = 0;
            for (const entity source : w.sources<R>(target)) count += source == e ? 1 : 0;
            if (count != 1) text += " WRONG: " + std::to_string(count) + " places at the target";
            if (!w.related<R>(e, target)) text += " WRONG: not related";
            if constexpr (std::is_same_v<R, likes>)
                text += w.link<likes>(e, target).why.substr(0, 3);
        }
        text += "<";
        for (const entity source : w.sources<R>(e)) {
            text += std::to_string(source.key()) + ",";
            if (!w.related<R>(source, e)) text += " WRONG: no source";
        }
        text += ">";
    }
    text += "\n";
}

struct scene {
    test::open_world<> w;
    std::vector<entity> all;

    scene() {
        w.define<heat>().sparse();
        w.define<likes>().relation();
        w.define<needs>().relation().acyclic().when_target_destroyed(destroy_sources);
        w.define<docked_at>().relation().exclusive();
        w.define<part_of>().relation().leveled().when_target_destroyed(pass_on);
        w.define<member_of>().relation().grouping().when_target_destroyed(pass_on);
        w.define<touches>().relation().symmetric();
        w.define<owns>().relation().when_target_destroyed(refuse);
        for (int i = 0; i < 24; ++i) {
            all.push_back(i % 3 == 0 ? w.spawn(position{i}, label{}) : w.spawn(position{i}));
            if (i % 4 == 0) w.set(all.back(), heat{});
            if (i < 3) continue;
            const auto at = [&](int j) { return all[static_cast<std::size_t>(j)]; };
            w.relate(child_of, all.back(), at(i / 3));
            w.relate<member_of>(all.back(), at(i % 3));
            w.relate<docked_at>(all.back(), at(i / 2));
            for (int j = 0; j < 3; ++j) w.relate<likes>(all.back(), at(i - 1 - j), likes{});
            w.relate<needs>(all.back(), at(i % 2));
        }
        for (std::size_t i = 0; i < 20; ++i)
            w.relate<part_of>(all[i], all[(i + 24) / 2], part_of{static_cast<int>(i)});
        w.relate<owns>(all[5], all[7]);
        w.relate<touches>(all[3], all[4]);
        // A tree whose clones are plain rows.
        all.push_back(w.spawn(position{24}, label{}));
        for (int i = 25; i < 30; ++i)
            all.push_back(w.spawn(position{i}, to(child_of, all[24]), to<docked_at>(all[24])));
    }
    std::string state() {
        std::string text = std::to_string(w.size()) + ", depth " + std::to_string(w.depth());
        for (const entity e : all) {
            text += "\n" + std::to_string(e.key());
            if (!w.alive(e)) continue;
            const detail::location at = w.parts().entities.locate(e.value());
            text += detail::text(" ", to_int(at.chunk), ":", at.row, " ");
            text += std::to_string(w.has<position>(e) ? w.get<position>(e).x : -1);
            text += detail::text(" ", w.level(e), w.has<label>(e) ? " label" : "",
                                 w.has<heat>(e) ? " heat" : "");
        }
        text += "\n";
        show_all_links(text, all);
        return text + wrong();
    }
    void show_all_links(std::string& text, const std::vector<entity>& some) {
        show_links<child_of_t>(text, w, some);
        show_links<likes>(text, w, some);
        show_links<needs>(text, w, some);
        show_links<docked_at>(text, w, some);
        show_links<part_of>(text, w, some);
        show_links<member_of>(text, w, some);
        show_links<owns>(text, w, some);
        show_links<touches>(text, w, some);
    }
    std::string wrong() {
        return test::wrong_level<child_of_t>(w) + test::wrong_level<part_of>(w) +
               test::wrong_group<member_of>(w);
    }
    /// Lists what is alive, and compares the ends of all links.
    std::string contradictions() {
        std::vector<entity> living;
        for (const entity e : w.entities()) living.push_back(e);
        std::string text;
        show_all_links(text, living);
        const std::size_t at = text.find("WRONG");
        return (at == std::string::npos ? "" : text.substr(at, 60)) + wrong();
    }
    void watch(const std::function<void()>& call) {
        w.on_relate(child_of, call);
        w.on_unrelate(child_of, call);
        w.on_relate<likes>(call);
        w.on_unrelate<likes>(call);
        w.on_relate<needs>(call);
        w.on_unrelate<needs>(call);
        w.on_relate<docked_at>(call);
        w.on_unrelate<docked_at>(call);
        w.on_relate<part_of>(call);
        w.on_unrelate<part_of>(call);
        w.on_relate<member_of>(call);
        w.on_unrelate<member_of>(call);
        w.on_insert<label>(call);
        w.on_remove<label>(call);
    }
};

struct call {
    const char* name;
    std::function<void(scene&)> make;
    bool is_batch = false;  // strong for each entity or chunk only
};

const std::vector<call>& calls() {
    static const std::vector<call> all = {
        {"relate one of many", [](scene& s) { s.w.relate<likes>(s.all[3], s.all[20]); }},
        {"relate the first of many", [](scene& s) { s.w.relate<likes>(s.all[0], s.all[20]); }},
        {"relate again", [](scene& s) { s.w.relate<likes>(s.all[3], s.all[2], likes{"no"}); }},
        {"relate without a cycle", [](scene& s) { s.w.relate<needs>(s.all[9], s.all[4]); }},
        {"dock", [](scene& s) { s.w.relate<docked_at>(s.all[9], s.all[21]); }},
        {"join a group", [](scene& s) { s.w.relate<member_of>(s.all[9], s.all[23]); }},
        {"unrelate one of many", [](scene& s) { s.w.unrelate<likes>(s.all[9], s.all[8]); }},
        {"unrelate all of many", [](scene& s) { s.w.unrelate<likes>(s.all[9]); }},
        {"leave a group", [](scene& s) { s.w.unrelate<member_of>(s.all[9]); }},
        {"remove several",
         [](scene& s) { s.w.remove<likes, member_of, part_of, label>(s.all[9]); }},
        {"set many",
         [](scene& s) {
             s.w.set(s.all[9], to<likes>(s.all[20], likes{}), to<likes>(s.all[21], likes{}),
                     to<member_of>(s.all[20]), to<part_of>(s.all[22]), heat{});
         }},
        {"clear", [](scene& s) { s.w.clear(s.all[12]); }},
        {"spawn with many",
         [](scene& s) {
             (void)s.w.spawn(position{}, label{}, to<likes>(s.all[3]), to<likes>(s.all[4]),
                             to(child_of, s.all[3]), to<member_of>(s.all[22]));
         }},
        {"spawn many",
         [](scene& s) {
             (void)s.w.spawn_many(3, position{}, to<likes>(s.all[3]), to(child_of, s.all[23]),
                                  to<member_of>(s.all[22]));
         }},
        {"spawn partners of one",
         [](scene& s) { (void)s.w.spawn_many(3, position{}, to<touches>(s.all[2])); }},
        {"spawn partners",
         [](scene& s) {
             (void)s.w.spawn_many(3, position{}, to<touches>(s.all[2]), to<touches>(s.all[3]));
         }},
        {"clone", [](scene& s) { (void)s.w.clone(s.all[6], to(child_of, s.all[23])); }},
        {"clone many", [](scene& s) { (void)s.w.clone_many(3, s.all[6], to<part_of>(s.all[23])); }},
        {"clone a tree", [](scene& s) { (void)s.w.clone_tree(s.all[4]); }},
        {"clone a tree with values",
         [](scene& s) {
             (void)s.w.clone_tree(s.all[4], label{}, heat{}, to(child_of, s.all[23]),
                                  to<likes>(s.all[22]));
         }},
        {"clone a plain tree", [](scene& s) { (void)s.w.clone_tree(s.all[24], label{}); }},
        {"clone plain trees", [](scene& s) { (void)s.w.clone_trees(20, s.all[24], position{}); }},
        {"clone a plain tree below",
         [](scene& s) { (void)s.w.clone_tree(s.all[24], to<docked_at>(s.all[3])); }},
        {"clone trees", [](scene& s) { (void)s.w.clone_trees(3, s.all[4], position{7}); }},
        {"clone trees into a group",
         [](scene& s) { (void)s.w.clone_trees(2, s.all[4], to<member_of>(s.all[23])); }},
        {"build",
         [](scene& s) {
             auto made = s.w.builder();
             made.set(position{}).set(label{}).set(to<likes>(s.all[3])).set(to<part_of>(s.all[8]));
             (void)made.spawn_many(2);
         }},
        {"place", [](scene& s) { s.w.place_before(s.all[5], s.all[4]); }},
        {"sort",
         [](scene& s) {
             s.w.sort_sources<child_of>(s.all[1], [](entity a, entity b) { return b < a; });
         }},
        {"arrange", [](scene& s) { s.w.arrange(child_of); }, true},
        {"destroy a target of many", [](scene& s) { s.w.destroy(s.all[20]); }},
        {"destroy an inner target", [](scene& s) { s.w.destroy(s.all[15]); }},
        {"destroy several", [](scene& s) { s.w.destroy(s.all[22], s.all[20], s.all[8]); }},
        {"destroy a refused target and its source",
         [](scene& s) { s.w.destroy(s.all[7], s.all[5], s.all[23]); }},
        {"reset", [](scene& s) { s.w.reset(); }, true},
        {"remove by query", [](scene& s) { s.w.query<label>().remove<likes>(); }, true},
        {"remove groups by query", [](scene& s) { s.w.query<label>().remove<member_of>(); }, true},
        {"remove levels by query", [](scene& s) { s.w.query<label>().remove<part_of>(); }, true},
        {"clear by query", [](scene& s) { s.w.query<label>().without<heat>().clear(); }, true},
        {"destroy by query", [](scene& s) { s.w.query<label>().destroy(); }, true},
        {"destroy the fragment and a target",
         [](scene& s) { s.w.destroy(s.w.component<label>().id(), s.all[22]); }},
        {"destroy a relation", [](scene& s) { s.w.destroy(s.w.component<likes>().id()); }},
        {"submit",
         [](scene& s) {
             command_buffer b(s.w);
             const entity made = b.spawn(position{}, to<likes>(s.all[3]), to(child_of, s.all[3]));
             b.relate<likes>(s.all[4], made);
             b.unrelate<member_of>(s.all[9]);
             s.w.submit(b);
             s.w.apply_submitted();
         },
         true},
    };
    return all;
}

/// Whether a call that failed has left everything as it was.
void expect_unchanged(scene& s, const call& made, const std::string& before,
                      const std::string& what) {
    if (made.is_batch)
        EXPECT_EQ(s.contradictions(), "") << made.name << ", " << what;
    else
        EXPECT_EQ(s.state(), before) << made.name << ", " << what;
}

TEST(link_guarantee, the_scene_has_no_contradictions) {
    scene s;
    EXPECT_EQ(s.contradictions(), "");
    EXPECT_EQ(s.state().find("WRONG"), std::string::npos);
    for (const call& made : calls()) {
        scene changed;
        made.make(changed);
        EXPECT_EQ(changed.contradictions(), "") << made.name;
        if (std::string(made.name) != "reset") EXPECT_NE(changed.state(), s.state()) << made.name;
    }
}

/// Lets memory run out at each allocation of a call, once or for good.
void expect_undone(const call& made, bool for_good, bool has_hooks, const std::string& before) {
    for (int n = 0; !testing::Test::HasFailure(); ++n) {
        scene s;
        int called = 0;
        observer<> seen;
        if (has_hooks) {
            s.watch([&] { ++called; });
            seen = s.w.observer<>().related<likes>().unrelated<child_of_t>();
        }
        bool threw = false;
        allocations.start(n, for_good);
        try {
            made.make(s);
        } catch (const std::bad_alloc&) {
            threw = true;
        }
        allocations.stop();
        if (!allocations.has_struck()) break;
        const std::string what =
            std::string(for_good ? "for good" : "once") + ", allocation " + std::to_string(n);
        if (threw)
            expect_unchanged(s, made, before, what);
        else
            EXPECT_EQ(s.contradictions(), "") << made.name << ", " << what;
    }
}

TEST(link_guarantee, a_call_without_memory_for_a_moment_changes_nothing) {
    const std::string before = scene().state();
    for (const call& made : calls()) expect_undone(made, false, true, before);
}

TEST(link_guarantee, a_call_that_runs_out_of_memory_for_good_changes_nothing) {
    const std::string before = scene().state();
    for (const call& made : calls()) expect_undone(made, true, false, before);
}

TEST(link_guarantee, a_hook_that_throws_changes_nothing) {
    const std::string before = scene().state();
    for (const call& made : calls())
        for (int n = 0;; ++n) {
            scene s;
            int left = n;
            s.watch([&] {
                if (left-- == 0) throw std::runtime_error("veto");
            });
            try {
                made.make(s);
                break;
            } catch (const std::runtime_error& caught) {
                EXPECT_STREQ(caught.what(), "veto");
                expect_unchanged(s, made, before, "hook " + std::to_string(n));
            }
            EXPECT_EQ(s.contradictions(), "") << made.name << ", hook " << n;
        }
}

}  // namespace
}  // namespace muster
