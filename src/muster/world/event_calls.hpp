// event_calls: the calls of a world for events.
#pragma once

#include <muster/world/hook_calls.hpp>

#include <muster/event/event_reader.hpp>
#include <muster/event/events.hpp>
#include <muster/event/send_event.hpp>

#include <type_traits>

namespace MUSTER_NAMESPACE {

/// The calls of a world for events: values of any type that can be moved.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class event_calls : public hook_calls<Layout> {
public:
    /// Sends an event to all readers of its type. In a scope, it is recorded: the commit delivers it,
    /// together with the changes, and a cancel drops it. Recorded in a phase. `std::bad_alloc`, and
    /// what the constructor throws, change nothing. Without readers it is dropped at once. O(1),
    /// amortised. References to earlier events stay valid.
    template <class E>
    [[gnu::always_inline]] void send(E&& event) {
        using type = std::remove_cvref_t<E>;
        constexpr bool fits = detail::is_event<type> && std::is_constructible_v<type, E&&>;
        static_assert(fits, "muster: send takes an object that can be moved or copied.");
        if constexpr (fits) detail::send_event<type>(store_, static_cast<E&&>(event));
    }

    /// Returns a reader of the events that are sent from now on. Refused in a phase.
    template <class E>
    [[nodiscard]] event_reader<E> reader() {
        store_.gate.refuse_in_change("creating a reader");
        return event_reader<E>(
            detail::event_logs::ensure(store_, detail::ensure_type_index<detail::event_log_of<E>>(),
                                       detail::event_type_of<E>));
    }

    /// Ends a frame: drops the events that were sent before the last end of a frame, seen or not. Events that a loop visits now stay until the next frame ends.
    /// `process_all` and `par_process_all` call it. O(dropped events). Refused in a phase.
    void end_frame() {
        store_.gate.refuse_in_change("end_frame");
        detail::event_logs::end_frame(store_);
    }

protected:
    using hook_calls<Layout>::hook_calls;
    using detail::world_base<Layout>::store_;
};

}  // namespace MUSTER_NAMESPACE
