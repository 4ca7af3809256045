#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/system/conditions.hpp>
#include <muster/system/phase.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace MUSTER_NAMESPACE::detail {

namespace {

/// The place of the frame's time in the payload: a `frame`, else the first floating-point number;
/// the size of the payload if there is none.
std::size_t place_of_time(payload given) noexcept {
    const auto is_frame = [](const payload_value& value) {
        return value.type == find_type_index<frame>();
    };
    const auto is_real = [](const payload_value& value) {
        return value.kind == payload_value::number::real;
    };
    const auto* found = std::ranges::find_if(given.begin(), given.end(), is_frame);
    if (found == given.end()) found = std::ranges::find_if(given.begin(), given.end(), is_real);
    return static_cast<std::size_t>(found - given.begin());
}

std::string printed(double value) {
    char room[32];
    (void)std::snprintf(room, sizeof room, "%g", value);
    return room;
}

/// Calls a function, in whose exceptions the system is named.
template <class Function>
void call_as(std::string_view system, Function function) {
    call_named(system, [](void* at, payload) { (*static_cast<Function*>(at))(); }, &function, {});
}

double require_length(double seconds, const char* call, const char* what) {
    if (!(seconds > 0) || !std::isfinite(seconds))
        raise(errc::bad_interval,
              text(call, " takes ", what, " of more than 0 seconds, but was called with ",
                   printed(seconds)));
    return seconds;
}

}  // namespace

// ---- time --------------------------------------------------------------------------------------

frame_timer frame_timer::every(double seconds) {
    frame_timer made;
    made.length_ = require_length(seconds, "every", "an interval");
    return made;
}

frame_timer frame_timer::fixed(double step, int most) {
    frame_timer made;
    made.length_ = require_length(step, "fixed", "a step");
    if (most < 1)
        raise(errc::bad_interval,
              text("fixed takes at least 1 as the number of steps in a frame, but was called with ",
                   std::to_string(most)));
    made.most_ = static_cast<std::uint32_t>(most);
    made.is_fixed_ = true;
    return made;
}

double frame_timer::seconds_of(payload given) {
    const std::size_t place = place_of_time(given);
    if (place == given.size())
        raise(errc::bad_payload,
              "every and fixed need the seconds of the frame: pass a floating-point number or "
              "muster::frame to process_all()");
    const double seconds = given[place].real;
    if (!(seconds >= 0) || !std::isfinite(seconds))
        raise(
            errc::bad_payload,
            text(
                "the seconds of a frame are a number from 0 on, but process_all() was called with ",
                printed(seconds)));
    return seconds;
}

turns frame_timer::advance_by(double seconds) noexcept {
    // Ten frames of 0.1f are a little shorter than 1.0f: what is missing is carried as negative.
    constexpr double tolerance = 1e-6;
    passed_ = std::fmin(passed_ + seconds, std::numeric_limits<double>::max());
    double rest = std::fmod(passed_, length_);
    if (length_ - rest <= tolerance * length_) rest -= length_;
    const double count = std::round((passed_ - rest) / length_);
    passed_ = rest;
    return {static_cast<std::uint32_t>(std::clamp(count, 0.0, static_cast<double>(most_))),
            is_fixed_ ? length_ : 0};
}

stepped_payload::stepped_payload(payload given, double step) : step_{step} {
    values_.assign(given.begin(), given.end());
    values_[place_of_time(given)] = payload_of(step_);
}

// ---- conditions --------------------------------------------------------------------------------

conditions_owner::~conditions_owner() {
    delete owned_;
}

conditions& conditions_owner::ensure() {
    if (owned_ == nullptr) owned_ = new conditions;
    return *owned_;
}

turns conditions::decide(std::string_view system, payload given, const void* world) {
    if (concern_changes() || !hold(system, world)) return {};
    turns found;
    call_as(system, [&] { found = timer_.advance(given); });
    return found;
}

bool conditions::hold(std::string_view system, const void* world) const {
    // A state may have several values, states of several enumerations must all fit.
    const auto is_in = [](const state_condition& condition) {
        return condition.when == state_condition::moment::in;
    };
    const auto is_met = [](const state_condition& condition) {
        return condition.state->has_current && condition.state->current == condition.value;
    };
    for (const state_condition& condition : states_) {
        const auto is_met_alike = [&](const state_condition& other) {
            return is_in(other) && other.state == condition.state && is_met(other);
        };
        if (is_in(condition) && !std::ranges::any_of(states_, is_met_alike)) return false;
    }
    // By index: a function may add conditions to the system.
    for (std::size_t i = 0; i < asked_.size(); ++i) {
        bool is_true = false;
        call_as(system, [&] { is_true = asked_[i].call(asked_[i].function.room, world); });
        if (!is_true) return false;
    }
    return true;
}

bool conditions::concern_changes() const noexcept {
    return std::ranges::any_of(states_, [](const state_condition& condition) {
        return condition.when != state_condition::moment::in;
    });
}

bool conditions::concern(state_condition::moment now) const noexcept {
    return std::ranges::any_of(states_, [&](const state_condition& condition) {
        const state_entry& state = *condition.state;
        return condition.when == now && state.is_changing && state.has_current &&
               state.current == condition.value;
    });
}

}  // namespace MUSTER_NAMESPACE::detail
