// system_conditions: the calls of a system's handle that decide when it runs in a frame.
#pragma once

#include <muster/system/conditions.hpp>
#include <muster/system/system_ref.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Returns a number for an enumerator.
template <class State>
[[nodiscard]] constexpr std::uint64_t number_of(State value) noexcept {
    return static_cast<std::uint64_t>(value);
}

/// A base of the class `System`. Each condition applies to `process_all` and `par_process_all`, which
/// are frames, and to all members of the system's group. `process` ignores conditions. If several are
/// set, the system runs if all hold; time passes for it only in frames in which the others hold, the
/// system is enabled, and its group runs.
///
/// The world decides when it is the system's turn. So the system runs, or not, as what ran before it
/// in the frame demands.
template <class Layout, class System>
class system_conditions : public system_ref<Layout> {
public:
    /// Runs once whenever this many seconds have passed: first after one interval. The time beyond
    /// the interval counts for the next one, so runs do not drift. At most once in a frame: whole
    /// intervals that a long frame contains beyond the first are dropped.
    ///
    /// The seconds of a frame are the `frame` of the payload, or its first floating-point number. A
    /// frame without them throws `errc::bad_payload` when it reaches the system. Throws
    /// `errc::bad_interval` unless `seconds` is positive and finite. Replaces an earlier `every` or
    /// `fixed`.
    System every(double seconds) const {
        const frame_timer timer = frame_timer::every(seconds);
        ensure().set_timer(timer);
        return self();
    }
    /// Runs as often as steps of this many seconds have passed, not at all or several times in a
    /// frame, but at most `most` times. Further whole steps are dropped; the rest of a step counts
    /// for the next frame. The payload contains `step` in place of the seconds of the frame. A group
    /// runs with all its members, several times in turn. Otherwise like `every`; also throws if
    /// `most` is less than 1.
    System fixed(double step, int most = 8) const {
        const frame_timer timer = frame_timer::fixed(step, most);
        ensure().set_timer(timer);
        return self();
    }
    /// Returns the seconds since the last interval of `every` or step of `fixed` ended: less than one
    /// of them. A program that draws between two steps interpolates with `elapsed() / step`. 0 without
    /// `every` and `fixed`. May be called in a phase.
    [[nodiscard]] double elapsed() const {
        const conditions* const all = this->data().when.get();
        return all == nullptr ? 0 : all->timer().elapsed();
    }
    /// Runs if `condition(world)` returns true. The function takes a `const world&`. It is called
    /// once in each frame, when it is the system's turn, outside of scopes and phases: it sees what
    /// the systems before it have done. In `par_process_all`, the system starts when all before it
    /// are done. Several conditions must all be true, and later ones are not called after a false one.
    template <class Condition>
    System run_if(Condition&& condition) const {
        using function = std::decay_t<Condition>;
        constexpr bool fits = std::is_invocable_r_v<bool, function&, const basic_world<Layout>&>;
        static_assert(fits,
                      "muster: the function of run_if takes a const world& and returns bool.");
        if constexpr (fits) {
            world_condition made{boxed_value::holding(std::forward<Condition>(condition)),
                                 [](void* at, const void* of) -> bool {
                                     // SAFETY: `at` is the boxed function, and `process_all` passes
                                     // its world.
                                     return (*static_cast<function*>(at))(
                                         *static_cast<const basic_world<Layout>*>(of));
                                 }};
            ensure().add(std::move(made));
        }
        return self();
    }

    /// Runs while the state of this enumeration has this value, or another one for which `in` was
    /// called. See `world::set_state`.
    template <class State>
    System in(State value) const {
        return add(value, state_condition::moment::in);
    }
    /// Runs only in a frame that begins with a change to this value, once, before the systems
    /// without such a condition. Of its groups, only conditions apply, and not those of time.
    template <class State>
    System on_enter(State value) const {
        return add(value, state_condition::moment::on_enter);
    }
    /// Runs only in a frame that begins with a change from this value, before the change.
    template <class State>
    System on_exit(State value) const {
        return add(value, state_condition::moment::on_exit);
    }

private:
    friend System;
    system_conditions() = default;
    using system_ref<Layout>::system_ref;

    [[nodiscard]] conditions& ensure() const { return this->changed().when.ensure(); }
    [[nodiscard]] const System& self() const { return static_cast<const System&>(*this); }
    template <class State>
    System add(State value, state_condition::moment when) const {
        static_assert(std::is_enum_v<State>, "muster: a state is a value of an enumeration.");
        if constexpr (std::is_enum_v<State>) {
            conditions& all = ensure();
            const state_entry& state =
                this->owner().states.ensure(ensure_type_index<wanted_state<State>>());
            all.add({&state, number_of(value), when});
        }
        return self();
    }
};

}  // namespace MUSTER_NAMESPACE::detail
