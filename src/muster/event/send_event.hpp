// send_event: sends an event at once, or records it: in the journal, in a lane, in a command buffer.
#pragma once

#include <muster/change/recorder.hpp>
#include <muster/engine/engine.hpp>
#include <muster/event/event_iterator.hpp>
#include <muster/event/event_log.hpp>
#include <muster/type/type_index.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

template <class E>
[[nodiscard]] event_log* find_log(const engine& owner) noexcept {
    // SAFETY: only `event_logs` creates extensions with this number.
    return static_cast<event_log*>(owner.extensions.find(find_type_index<event_log_of<E>>()));
}

template <class E, class Given>
[[gnu::always_inline]] inline void construct_event(engine& owner, void* room, Given&& event) {
    [[maybe_unused]] const guard_if<!std::is_trivially_copyable_v<E>> busy(owner.gate);
    ::new (room) E(static_cast<Given&&>(event));
}

/// Sends an event at once or, in a scope, records it.
template <class E, class Given>
void add_event(engine& owner, Given&& event) {
    event_log* const log = find_log<E>(owner);
    if (log == nullptr || !log->has_readers()) return;
    const bool is_deferred = owner.depth() != 0;
    log->prepare(is_deferred);
    construct_event<E>(owner, log->room(), static_cast<Given&&>(event));
    log->add_prepared(is_deferred);
}

/// How a recorder stores an event. It never moves the event, so the move may throw.
template <class E>
inline constexpr type_info recorded_event{
    .name = type_name<E>(),
    .size = sizeof(E),
    .alignment = alignof(E),
    .destroy = std::is_trivially_destructible_v<E> ? nullptr : &destroy_events<E>};

/// Describes an event for a recorder, which constructs it from `event`. The owner thread sends it
/// later, in a scope.
template <class E, class Given>
[[nodiscard]] change describe_event(std::remove_reference_t<Given>& event) noexcept {
    change made{.type = {&recorded_event<E>, no_type},
                .self = __builtin_addressof(event),
                .replay = [](engine& into, recorded_change& recorded) {
                    add_event<E>(into, std::move(*static_cast<E*>(recorded.value)));
                }};
    if constexpr (std::is_trivially_copyable_v<E>)
        made.construct = nullptr;  // copies the bytes
    else if constexpr (std::is_lvalue_reference_v<Given> || std::is_const_v<Given>)
        made.construct = &copy_construct<E>;
    else
        made.construct = &move_construct<E>;
    return made;
}

/// Whether `send_event` need not do more than to store the event in its log.
[[nodiscard]] inline bool is_ready(const engine& owner, const event_log& log) noexcept {
    return (owner.gate.is_immediate() ||
            (owner.gate.is_scoped() && log.continues(owner.pending.captures()))) &&
           log.is_ready();
}

/// Small events are passed by value, so that the caller can keep them in registers.
template <class E, class Given>
using passed_event =
    std::conditional_t<std::is_trivially_copyable_v<E> && sizeof(E) <= 64, E, Given&&>;

template <class E, class Given>
MUSTER_COLD void send_slowly(engine& owner, passed_event<E, Given> event) {
    if (!owner.gate.is_recording("send") || !owner.gate.is_parallel())
        add_event<E>(owner, static_cast<Given&&>(event));
    else if (const event_log* const log = find_log<E>(owner); log != nullptr && log->has_readers())
        owner.parallel.record_replay(describe_event<E, Given>(event), "send");
}

/// Sends an event, or records it if changes are recorded. All or nothing.
// Inlined: a call would store the event for the caller, and load it again.
template <class E, class Given>
[[gnu::always_inline]] inline void send_event(engine& owner, Given&& event) {
    const writer_guard guard(owner, "send");
    event_log* const log = find_log<E>(owner);
    if (log == nullptr || !is_ready(owner, *log)) [[unlikely]]
        return send_slowly<E, Given>(owner, static_cast<Given&&>(event));
    construct_event<E>(owner, log->room(), static_cast<Given&&>(event));
    log->add(sizeof(E));
}

}  // namespace MUSTER_NAMESPACE::detail
