// States: values of enumerations that change between frames.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

enum class mode { menu, playing, over };
enum class weather : std::int8_t { sun = -1, rain = 100 };
enum old_style : unsigned long long { zero, largest = ~0ull };

template <class Layout>
class states : public testing::Test {
protected:
    basic_world<Layout> world_;
    std::string log;

    std::string frame() {
        world_.process_all();
        return std::exchange(log, {});
    }
    basic_system<Layout> logs(std::string_view name) {
        return world_.system(name).execute([this, text = std::string(name)] { log += text + " "; });
    }
    /// Systems for each moment of the modes.
    void log_modes() {
        logs("all");
        logs("in menu").in(mode::menu);
        logs("menu+").on_enter(mode::menu);
        logs("menu-").on_exit(mode::menu);
        logs("playing+").on_enter(mode::playing);
        logs("in playing").in(mode::playing);
        logs("playing-").on_exit(mode::playing);
    }
};
TYPED_TEST_SUITE(states, behavior_layouts, layout_names);

TYPED_TEST(states, a_change_takes_effect_at_the_start_of_the_next_frame) {
    this->log_modes();
    auto& w = this->world_;
    EXPECT_EQ(this->frame(), "all ");
    w.set_state(mode::menu);
    EXPECT_EQ(this->frame(), "menu+ all in menu ");
    EXPECT_EQ(this->frame(), "all in menu ");
    w.set_state(mode::playing);
    EXPECT_EQ(w.template state<mode>(), mode::menu);
    EXPECT_EQ(this->frame(), "menu- playing+ all in playing ");
    EXPECT_EQ(w.template state<mode>(), mode::playing);
}

TYPED_TEST(states, a_state_that_was_never_set_is_missing) {
    EXPECT_EQ(code_of([&] { (void)this->world_.template state<mode>(); }), errc::missing_component);
    this->log_modes();
    EXPECT_EQ(this->frame(), "all ");
    const std::string why = sentence_of([&] { (void)this->world_.template state<mode>(); });
    EXPECT_NE(why.find("was never set: call set_state first (state at "), std::string::npos) << why;
}

TYPED_TEST(states, the_first_value_is_current_at_once_and_entered_in_the_next_frame) {
    this->log_modes();
    this->world_.set_state(mode::menu);
    EXPECT_EQ(this->world_.template state<mode>(), mode::menu);
    this->world_.set_state(mode::playing);
    EXPECT_EQ(this->world_.template state<mode>(), mode::playing);
    EXPECT_EQ(this->frame(), "playing+ all in playing ") << "the menu was never entered";
}

TYPED_TEST(states, the_last_of_several_changes_counts_and_the_current_value_is_no_change) {
    this->log_modes();
    this->world_.set_state(mode::menu);
    this->frame();
    this->world_.set_state(mode::playing);
    this->world_.set_state(mode::over);
    EXPECT_EQ(this->frame(), "menu- all ");
    this->world_.set_state(mode::playing);
    this->world_.set_state(mode::over);
    EXPECT_EQ(this->frame(), "all ");
    this->world_.set_state(mode::over);
    EXPECT_EQ(this->frame(), "all ");
}

TYPED_TEST(states, process_changes_no_states) {
    this->log_modes();
    this->world_.set_state(mode::menu);
    this->frame();
    this->world_.set_state(mode::playing);
    this->world_.process("all", "in playing", "menu-", "playing+");
    EXPECT_EQ(std::exchange(this->log, {}), "all in playing menu- playing+ ");
    EXPECT_EQ(this->world_.template state<mode>(), mode::menu);
}

TYPED_TEST(states, a_change_in_a_system_waits_for_the_next_frame) {
    auto& w = this->world_;
    this->log_modes();
    w.set_state(mode::menu);
    w.system("play").in(mode::menu).execute([&] { w.set_state(mode::playing); });
    EXPECT_EQ(this->frame(), "menu+ all in menu ");
    EXPECT_EQ(this->frame(), "menu- playing+ all in playing ");
    EXPECT_EQ(this->frame(), "all in playing ");
}

TYPED_TEST(states, a_change_at_a_change_waits_for_the_next_frame) {
    auto& w = this->world_;
    w.system("skip").on_enter(mode::menu).immediate([&] {
        this->log += "skip ";
        w.set_state(mode::playing);
    });
    this->log_modes();
    w.set_state(mode::menu);
    EXPECT_EQ(this->frame(), "skip menu+ all in menu ");
    EXPECT_EQ(this->frame(), "menu- playing+ all in playing ");
}

TYPED_TEST(states, a_cancelled_scope_drops_a_change_and_a_committed_one_keeps_the_last) {
    auto& w = this->world_;
    w.set_state(mode::menu);
    this->frame();
    w.defer();
    w.set_state(mode::over);
    this->frame();
    EXPECT_EQ(w.template state<mode>(), mode::menu) << "the change is still recorded";
    w.cancel();
    this->frame();
    EXPECT_EQ(w.template state<mode>(), mode::menu);
    w.defer();
    w.set_state(mode::over);
    w.set_state(mode::playing);
    w.commit();
    this->frame();
    EXPECT_EQ(w.template state<mode>(), mode::playing);
}

TYPED_TEST(states, a_hook_may_change_the_state) {
    auto& w = this->world_;
    w.set_state(mode::playing);
    w.template on_remove<int>([&](basic_id<TypeParam>, int&) { w.set_state(mode::over); });
    const auto e = w.spawn(1);
    w.system("kill").execute([&] { w.destroy(e); });
    this->frame();
    EXPECT_EQ(w.template state<mode>(), mode::playing);
    this->frame();
    EXPECT_EQ(w.template state<mode>(), mode::over);
}

TYPED_TEST(states, a_system_runs_in_any_value_of_one_enumeration_and_in_all_enumerations) {
    auto& w = this->world_;
    this->logs("both").in(mode::menu).in(mode::over).in(weather::rain);
    w.set_state(mode::menu);
    EXPECT_EQ(this->frame(), "");
    w.set_state(weather::rain);
    EXPECT_EQ(this->frame(), "both ");
    w.set_state(mode::playing);
    EXPECT_EQ(this->frame(), "");
    w.set_state(mode::over);
    EXPECT_EQ(this->frame(), "both ");
    w.set_state(weather::sun);
    EXPECT_EQ(this->frame(), "");
    EXPECT_EQ(w.template state<weather>(), weather::sun);
}

TYPED_TEST(states, several_states_change_together_all_exits_first) {
    auto& w = this->world_;
    this->logs("sun+").on_enter(weather::sun);
    this->logs("menu-").on_exit(mode::menu);
    this->logs("playing+").on_enter(mode::playing);
    this->logs("rain-").on_exit(weather::rain);
    w.set_state(mode::menu);
    w.set_state(weather::rain);
    this->frame();
    w.set_state(mode::playing);
    w.set_state(weather::sun);
    EXPECT_EQ(this->frame(), "menu- rain- sun+ playing+ ");
}

TYPED_TEST(states, any_value_of_any_enumeration_is_kept) {
    auto& w = this->world_;
    w.set_state(largest);
    EXPECT_EQ(w.template state<old_style>(), largest);
    this->frame();
    EXPECT_EQ(w.template state<old_style>(), largest);
    w.set_state(zero);
    this->frame();
    EXPECT_EQ(w.template state<old_style>(), zero);
}

TYPED_TEST(states, a_group_runs_with_its_members_at_a_change) {
    const auto group = this->logs("load").on_enter(mode::playing);
    this->logs("first").group(group);
    this->logs("second").group(group);
    this->world_.set_state(mode::playing);
    EXPECT_EQ(this->frame(), "load first second ");
    EXPECT_EQ(this->frame(), "");
}

TYPED_TEST(states, conditions_of_groups_apply_at_a_change_except_those_of_time) {
    auto& w = this->world_;
    bool is_on = false;
    const auto group = this->logs("g").every(10).run_if([&](const auto&) { return is_on; });
    this->logs("playing+").group(group).on_enter(mode::playing);
    w.set_state(mode::playing);
    w.process_all(1.0);
    EXPECT_EQ(std::exchange(this->log, {}), "");
    is_on = true;
    w.set_state(mode::menu);
    w.process_all(1.0);
    w.set_state(mode::playing);
    w.process_all(1.0);
    EXPECT_EQ(this->log, "playing+ ");
}

TYPED_TEST(states, an_exception_on_exit_leaves_the_state_and_one_on_enter_does_not) {
    auto& w = this->world_;
    bool fails = true;
    w.set_state(mode::menu);
    w.process_all();
    w.system("bad").on_exit(mode::menu).execute([&] {
        if (fails) throw std::runtime_error("exit");
    });
    w.set_state(mode::playing);
    EXPECT_EQ(sentence_of([&] { this->frame(); }), "system \"bad\" failed: exit");
    EXPECT_EQ(w.template state<mode>(), mode::menu);
    fails = false;
    this->frame();
    EXPECT_EQ(w.template state<mode>(), mode::playing);
    w.system("worse").on_enter(mode::over).execute([] { throw std::runtime_error("enter"); });
    w.set_state(mode::over);
    EXPECT_EQ(code_of([&] { this->frame(); }), errc::system_failed);
    EXPECT_EQ(w.template state<mode>(), mode::over);
    EXPECT_EQ(this->frame(), "");
}

TYPED_TEST(states, reset_ends_all_states) {
    auto& w = this->world_;
    this->log_modes();
    w.set_state(mode::menu);
    this->frame();
    w.reset();
    EXPECT_EQ(code_of([&] { (void)w.template state<mode>(); }), errc::missing_component);
    w.set_state(mode::playing);
    EXPECT_EQ(w.template state<mode>(), mode::playing);
    EXPECT_EQ(this->frame(), "playing+ all in playing ") << "the menu was left without on_exit";
    w.reset();
    EXPECT_EQ(this->frame(), "all ");
}

TYPED_TEST(states, a_frame_in_a_frame_changes_no_states) {
    auto& w = this->world_;
    this->log_modes();
    w.set_state(mode::menu);
    this->frame();
    bool is_first = true;
    w.system("nested").immediate([&] {
        if (!std::exchange(is_first, false)) return;
        w.set_state(mode::playing);
        w.process_all();
    });
    EXPECT_EQ(this->frame(), "all in menu all in menu ");
    EXPECT_EQ(this->frame(), "menu- playing+ all in playing ");
}

TYPED_TEST(states, parallel_loops_change_a_state_in_the_order_of_their_rows) {
    auto& w = this->world_;
    w.set_state(mode::menu);
    w.process_all();
    for (int i = 0; i < 100; ++i) w.spawn(i);
    sequential_executor here;
    w.template query<const int>().par_each(
        here, 1, [&](const int& i) { w.set_state(i == 99 ? mode::playing : mode::over); });
    w.process_all();
    EXPECT_EQ(w.template state<mode>(), mode::playing);
    EXPECT_EQ(code_of([&] {
                  w.template query<const int>().par_each(
                      here, 1, [&](const int&) { w.set_state(weather::rain); });
              }),
              errc::in_scope)
        << "the first use of an enumeration";
}

TYPED_TEST(states, worlds_have_states_of_their_own_and_states_are_no_entities) {
    basic_world<TypeParam> other;
    this->world_.set_state(mode::menu);
    EXPECT_EQ(code_of([&] { (void)other.template state<mode>(); }), errc::missing_component);
    EXPECT_EQ(this->world_.size(), 0u);
}

}  // namespace
}  // namespace muster::test
