// conditions: when a system runs in a frame, and with which time. Only frames have conditions
// (`process_all`, `par_process_all`); `process` runs a system once, whatever they are.
//
//     in                 the state has one of these values              all must hold ...
//     run_if             the function returns true
//     every              an interval has passed                          ... for the time to pass
//     fixed              as many steps as have passed: runs so often
//     on_enter, on_exit  runs only when the state changes, before all other systems
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/system/frame.hpp>
#include <muster/system/payload.hpp>
#include <muster/system/state_table.hpp>
#include <muster/type/boxed_value.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

/// How often a system runs in a frame.
struct turns {
    std::uint32_t count = 0;
    double step = 0;  // not 0: the seconds that each run receives in place of those of the frame
};

/// An interval of `every`, or a step of `fixed`. Remembers the seconds since its last end.
class MUSTER_API frame_timer {
public:
    /// Runs once in each frame.
    constexpr frame_timer() noexcept = default;
    /// Both throw `errc::bad_interval`.
    [[nodiscard]] static frame_timer every(double seconds);
    [[nodiscard]] static frame_timer fixed(double step, int most);

    /// Adds the seconds of a frame. Throws `errc::bad_payload` if the payload has none.
    [[nodiscard]] turns advance(payload given) {
        return length_ == 0 ? turns{1} : advance_by(seconds_of(given));
    }
    [[nodiscard]] turns advance_by(double seconds) noexcept;
    /// Returns the seconds since the end of the last interval or step; 0 without a timer.
    [[nodiscard]] double elapsed() const noexcept { return passed_ > 0 ? passed_ : 0; }

private:
    [[nodiscard]] static double seconds_of(payload given);

    double length_ = 0;  // 0: no timer
    double passed_ = 0;
    std::uint32_t most_ = 1;
    bool is_fixed_ = false;
};

/// A condition on a state.
struct state_condition {
    enum class moment : std::uint8_t { in, on_enter, on_exit };

    const state_entry* state;
    std::uint64_t value;
    moment when;
};

/// A user's function of `run_if`.
struct world_condition {
    boxed_value function;
    bool (*call)(void* function, const void* world);
};

class MUSTER_API conditions {
public:
    void set_timer(const frame_timer& timer) noexcept { timer_ = timer; }
    [[nodiscard]] const frame_timer& timer() const noexcept { return timer_; }
    void add(const state_condition& condition) { states_.push_back(condition); }
    void add(world_condition&& condition) { asked_.push_back(std::move(condition)); }

    /// Returns how often the system runs in a frame, apart from changes of states. Exceptions name
    /// the system, as in `call_named`.
    [[nodiscard]] turns decide(std::string_view system, payload given, const void* world);
    /// Whether the system may run, apart from time. Exceptions name the system.
    [[nodiscard]] bool hold(std::string_view system, const void* world) const;
    /// Whether `hold` calls functions of the user, which may read the world.
    [[nodiscard]] bool ask_world() const noexcept { return !asked_.empty(); }
    /// Whether the system runs only when a state changes.
    [[nodiscard]] bool concern_changes() const noexcept;
    /// Whether a state changes, and the system runs at this moment of the change.
    [[nodiscard]] bool concern(state_condition::moment now) const noexcept;

private:
    frame_timer timer_;
    array_list<state_condition> states_;
    std::vector<world_condition> asked_;
};

/// Owns the conditions of a system; most have none.
class MUSTER_API conditions_owner {
public:
    conditions_owner() noexcept = default;
    conditions_owner(conditions_owner&& other) noexcept
        : owned_(std::exchange(other.owned_, nullptr)) {}
    conditions_owner& operator=(conditions_owner&& other) noexcept {
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~conditions_owner();

    [[nodiscard]] conditions* get() const noexcept { return owned_; }
    conditions& ensure();

private:
    conditions* owned_ = nullptr;
};

/// A payload in which another time replaces that of the frame.
class MUSTER_API stepped_payload {
public:
    stepped_payload(payload given, double step);
    stepped_payload(const stepped_payload&) = delete;
    stepped_payload& operator=(const stepped_payload&) = delete;

    [[nodiscard]] payload values() const noexcept { return {values_.data(), values_.size()}; }

private:
    frame step_;
    array_list<payload_value> values_;
};

}  // namespace MUSTER_NAMESPACE::detail
