// Exceptions at every point of a change of links: memory that is refused, and hooks that throw. The
// links, their order, the levels and the rows are as they were. Linked with failing_allocations.cpp.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <string>
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
struct part_of {
    int share = 0;
};
struct boss {};
struct married_to {
    std::string where = "a place that is too long to be stored without memory";
};
struct touches {
    int points = 0;
};

/// A tree in three relations at once, with several chunks for each level.
struct scene {
    test::open_world<> w;
    std::vector<entity> all;

    scene() {
        w.define<part_of>().relation().leveled().when_target_destroyed(pass_on);
        w.define<boss>().relation().leveled();
        w.define<married_to>().relation().exclusive().symmetric();
        w.define<touches>().relation().symmetric();
        for (int i = 0; i < 40; ++i) {
            all.push_back(i % 3 == 0 ? w.spawn(position{i}, label{}) : w.spawn(position{i}));
            if (i < 4) continue;
            const entity above = all[static_cast<std::size_t>(i) / 3];
            w.relate(child_of, all.back(), above);
            w.relate<part_of>(all.back(), above, part_of{i});
            w.relate<boss>(all.back(), all[static_cast<std::size_t>(i) - 3]);
        }
        for (std::size_t i = 0; i < 8; i += 2) {
            w.relate<married_to>(all[i], all[i + 1]);
            w.relate<touches>(all[i], all[i + 1], touches{1});
            w.relate<touches>(all[i], all[i + 2], touches{2});
        }
    }
    template <class R>
    void show_links(std::string& text, entity e) {
        text += " " + to_string(w.target<R>(e)) + "<";
        for (const entity source : w.sources<R>(e)) text += to_string(source);
        text += ">";
    }
    std::string state() {
        std::string text = std::to_string(w.size());
        for (const entity e : all) {
            text += "\n" + to_string(e);
            if (!w.alive(e)) continue;
            const detail::location at = w.parts().entities.locate(e.value());
            text += detail::text(" ", to_int(at.chunk), ":", at.row, " ", w.get<position>(e).x, " ",
                                 w.level(e));
            show_links<child_of_t>(text, e);
            show_links<part_of>(text, e);
            show_links<boss>(text, e);
            show_links<married_to>(text, e);
            show_links<touches>(text, e);
        }
        return text + test::wrong_level<child_of_t>(w) + test::wrong_level<part_of>(w) +
               test::wrong_level<boss>(w);
    }
};

using call = std::function<void(scene&)>;

const std::vector<std::pair<const char*, call>>& calls() {
    static const std::vector<std::pair<const char*, call>> all = {
        // The target has two sources, the most without memory.
        {"relate", [](scene& s) { s.w.relate(child_of, s.all[6], s.all[1]); }},
        {"relate deeper", [](scene& s) { s.w.relate(child_of, s.all[4], s.all[35]); }},
        {"relate a root", [](scene& s) { s.w.relate<boss>(s.all[0], s.all[38]); }},
        {"unrelate", [](scene& s) { s.w.unrelate(child_of, s.all[4]); }},
        {"relate in all",
         [](scene& s) {
             s.w.set(s.all[4], to(child_of, s.all[35]), to<part_of>(s.all[35]),
                     to<boss>(s.all[38]));
         }},
        {"marry", [](scene& s) { s.w.relate<married_to>(s.all[1], s.all[2]); }},
        {"marry and move",
         [](scene& s) {
             s.w.set(s.all[1], to<married_to>(s.all[30]), to(child_of, s.all[20]),
                     to<touches>(s.all[20]));
         }},
        {"touch", [](scene& s) { s.w.relate<touches>(s.all[2], s.all[30], touches{3}); }},
        {"part", [](scene& s) { s.w.unrelate<married_to>(s.all[1]); }},
        {"spawn", [](scene& s) { (void)s.w.spawn(position{1}, to(child_of, s.all[39])); }},
        {"clone", [](scene& s) { (void)s.w.clone(s.all[5]); }},
        {"destroy a part",
         [](scene& s) {
             s.w.unrelate(child_of, s.all[12]);
             s.w.unrelate(child_of, s.all[13]);
             s.w.unrelate(child_of, s.all[14]);
             s.w.destroy(s.all[4]);
         }},
        {"destroy a leaf", [](scene& s) { s.w.destroy(s.all[30]); }},
        {"destroy several", [](scene& s) { s.w.destroy(s.all[4], s.all[7], s.all[30]); }},
    };
    return all;
}

TEST(relation_guarantee, a_change_of_links_without_memory_changes_nothing) {
    for (const auto& [name, make] : calls()) {
        int failures = 0;
        for (int n = 0;; ++n) {
            scene s;
            if (std::string(name) == "destroy a part")
                for (const std::size_t i : {12u, 13u, 14u}) s.w.unrelate(child_of, s.all[i]);
            const std::string before = s.state();
            bool threw = false;
            allocations.start(n);
            try {
                make(s);
            } catch (const std::bad_alloc&) {
                threw = true;
            }
            allocations.stop();
            if (!allocations.has_struck()) break;
            if (!threw) continue;  // it can do without
            ++failures;
            EXPECT_EQ(s.state(), before) << name << ", allocation " << n;
        }
        EXPECT_GE(failures, 1) << name;
    }
}

TEST(relation_guarantee, a_commit_without_memory_keeps_some_entities_as_they_were) {
    for (int n = 0;; ++n) {
        scene s;
        s.w.defer();
        for (const std::size_t i : {4u, 7u, 13u, 22u}) s.w.relate(child_of, s.all[i], s.all[3]);
        for (const std::size_t i : {5u, 8u, 14u, 23u}) s.w.unrelate<boss>(s.all[i]);
        s.w.destroy(s.all[6]);
        allocations.start(n);
        try {
            s.w.commit();
        } catch (const std::bad_alloc&) {
        }
        allocations.stop();
        EXPECT_EQ(test::wrong_level<child_of_t>(s.w), "") << n;
        EXPECT_EQ(test::wrong_level<part_of>(s.w), "") << n;
        EXPECT_EQ(test::wrong_level<boss>(s.w), "") << n;
        if (!allocations.has_struck()) break;
    }
}

TEST(relation_guarantee, a_hook_that_throws_at_any_point_changes_nothing) {
    for (const auto& [name, make] : calls()) {
        for (int n = 0;; ++n) {
            scene s;
            if (std::string(name) == "destroy a part")
                for (const std::size_t i : {12u, 13u, 14u}) s.w.unrelate(child_of, s.all[i]);
            int left = n;
            const auto veto = [&] {
                if (left-- == 0) throw n;
            };
            s.w.on_relate(child_of, veto);
            s.w.on_unrelate(child_of, veto);
            s.w.on_relate<part_of>(veto);
            s.w.on_unrelate<part_of>(veto);
            s.w.on_relate<boss>(veto);
            s.w.on_unrelate<boss>(veto);
            s.w.on_relate<married_to>(veto);
            s.w.on_unrelate<married_to>(veto);
            s.w.on_relate<touches>(veto);
            s.w.on_unrelate<touches>(veto);
            s.w.on_destroy(veto);
            const std::string before = s.state();
            try {
                make(s);
                EXPECT_NE(n, 0) << name;
                break;
            } catch (int) {
                EXPECT_EQ(s.state(), before) << name << ", hook " << n;
            }
        }
    }
}

}  // namespace
}  // namespace muster
