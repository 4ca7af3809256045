// Makes every allocation of the calls that create fragments, systems, groups, hooks and observers fail once, also
// in a scope. Nothing may remain: no id, no fragment, no name, no log. Linked with support/failing_allocations.cpp, which
// makes allocations fail.
#include "support/phase_scene.hpp"
#include "support/trouble.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace muster_tests::phase_scene;

namespace {

enum class ending { none, commit, cancel };

/// The world as users see it, and how systems would run.
std::string look(scene& s) {
    std::string seen = s.dump(false);
    for (const std::string_view name : s.w.system_order()) seen.append(" ").append(name);
    return seen;
}

void finish(scene& s, ending how) {
    if (how == ending::commit) s.w.commit();
    if (how == ending::cancel) s.w.cancel();
}

/// Makes `call(scene)` fail at each allocation. Repeated, it has the effect of a call that never failed.
template <class Call>
void must_hold(int least, ending how, Call call) {
    using test::allocations;
    std::string expected;
    {
        scene unharmed;
        if (how != ending::none) unharmed.w.defer();
        call(unharmed);
        finish(unharmed, how);
        expected = look(unharmed);
    }
    int failures = 0;
    for (int n = 0; n == failures && n < 1000; ++n) {
        SCOPED_TRACE(n);
        scene s;
        if (how != ending::none) s.w.defer();
        const std::string before = look(s);
        allocations.start(n);
        try {
            call(s);
        } catch (const std::bad_alloc&) {
            ++failures;
        }
        allocations.stop();
        if (failures > n) {
            EXPECT_EQ(look(s), before);
            if (n % 2 == 0) {  // nothing remains in the scope, either
                finish(s, how);
                if (how != ending::none) s.w.defer();
                EXPECT_EQ(look(s), before);
            }
            call(s);
        }
        finish(s, how);
        EXPECT_EQ(look(s), expected);
    }
    EXPECT_GE(failures, least);
}

constexpr const char* long_name = "a name that needs memory of its own, number 1";

TEST(creation_guarantee, a_failed_fragment_leaves_no_entity) {
    for (const ending how : {ending::none, ending::commit, ending::cancel}) {
        SCOPED_TRACE(static_cast<int>(how));
        must_hold(3, how, [](scene& s) { (void)s.w.tag(long_name); });
        must_hold(3, how, [](scene& s) { (void)s.w.fragment<int>(long_name); });
        must_hold(4, how, [](scene& s) {
            (void)s.w.fragment(component_type{.size = 4, .alignment = 4}, long_name);
        });
        must_hold(2, how, [](scene& s) { (void)s.w.fragment<int>("new"); });
        must_hold(0, how, [](scene& s) { (void)s.w.ids<3>(); });
    }
}

TEST(creation_guarantee, a_failed_name_keeps_the_old_name) {
    for (const ending how : {ending::none, ending::commit}) {
        must_hold(1, how, [](scene& s) { s.w.name(s.own[0], long_name); });
        must_hold(1, how, [](scene& s) { s.w.define(s.enemy).name(long_name); });
    }
}

TEST(creation_guarantee, a_failed_system_leaves_no_name_and_no_constraint) {
    must_hold(3, ending::none, [](scene& s) { s.w.system("new"); });
    must_hold(1, ending::none, [](scene& s) { s.think.after("act", "act"); });
    must_hold(1, ending::none, [](scene& s) { s.think.group(s.enemy); });
    must_hold(1, ending::none, [](scene& s) { s.think.reads<path, velocity, burning>(); });
}

TEST(creation_guarantee, a_failed_observer_leaves_no_log) {
    for (const ending how : {ending::none, ending::commit}) {
        must_hold(2, how, [](scene& s) {
            auto made = s.w.observer<path>();
            s.w.touch<path>(s.own[0]);
            if (s.w.depth() == 0 && made.size() != 1) throw std::runtime_error("not observed");
        });
        must_hold(2, how, [](scene& s) {
            s.mine[0] = basic_observer<layouts::bound, velocity>(
                s.w.observer<velocity>().added<path>().removed(s.health, s.enemy));
        });
    }
}

TEST(creation_guarantee, a_failed_hook_is_not_called) {
    must_hold(2, ending::none,
              [](scene& s) { s.w.on_remove<path>([&s](entity) { ++s.hook_calls; }); });
    must_hold(1, ending::none, [](scene& s) { s.w.on_destroy([&s](entity) { ++s.hook_calls; }); });
    must_hold(1, ending::none, [](scene& s) { s.w.define<position>().needs<path, marked>(); });
}

TEST(creation_guarantee, several_names_of_systems_are_all_used_or_none) {
    scene s;
    muster::system_handle gone = s.w.system("gone");
    gone.remove();
    EXPECT_EQ(code_of([&] { s.think.after(s.act, gone); }), errc::unknown_system);
    EXPECT_EQ(s.w.system_order(), (std::vector<std::string_view>{"think", "act"}));
}

TEST(creation_guarantee, an_unknown_system_creates_no_group) {
    scene s;
    const muster::system_handle gone = s.w.system("gone");
    gone.remove();
    EXPECT_EQ(code_of([&] { gone.group(s.enemy); }), errc::unknown_system);
    EXPECT_TRUE(s.w.system_order(s.enemy).empty());
}

}  // namespace
