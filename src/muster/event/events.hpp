// events: the events of one type as a parameter of a system.
//
//     w.system("log").execute([](events<const damage> all) {
//         for (const damage& d : all) ...
//     });
#pragma once

#include <muster/event/event_iterator.hpp>
#include <muster/event/event_log.hpp>
#include <muster/query/world_argument.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// The events that this parameter of this system has not seen in earlier runs, in the order in which
/// they were sent. A parameter by value, after the components; it takes no part of the payload. Each
/// is a reader of its own, from the moment when the system receives its function.
///
/// In a run, all rows and loops see the same events. The next run shows those that no loop has
/// visited or passed, and those sent since this run began. Events may be read by several systems at
/// the same time. References are valid until the run ends; so are copies of this view.
template <class E>
class events {
    static_assert(std::is_const_v<E>, "muster: events do not change: write events<const T>.");
    using event = std::remove_const_t<E>;

public:
    using iterator = detail::event_iterator<event, true>;
    using sentinel = detail::event_sentinel;

    [[nodiscard]] iterator begin() const noexcept {
        const detail::event_number kept = cursor_->log->first();
        return iterator(cursor_, first_ < kept ? kept : first_, last_);
    }
    [[nodiscard]] sentinel end() const noexcept { return {}; }
    [[nodiscard]] std::size_t size() const noexcept {
        return static_cast<std::size_t>(last_ - first_);
    }
    [[nodiscard]] bool empty() const noexcept { return first_ == last_; }

private:
    friend struct detail::world_argument<events>;
    events(detail::event_cursor& cursor, detail::event_number first,
           detail::event_number last) noexcept
        : cursor_(&cursor), first_(first), last_(last) {}

    detail::event_cursor* cursor_;
    detail::event_number first_;
    detail::event_number last_;
};

namespace detail {

template <class E>
inline constexpr bool is_world_argument<events<E>> = true;

/// Owns the cursor of a parameter.
class MUSTER_API argument_cursor {
public:
    argument_cursor(engine& owner, type_index log, const event_type& how);
    argument_cursor(argument_cursor&& other) noexcept
        : cursor_(std::exchange(other.cursor_, nullptr)) {}
    argument_cursor& operator=(const argument_cursor&) = delete;
    ~argument_cursor() {
        if (cursor_ != nullptr) cursor_->abandon();
    }
    void begin_run() noexcept {
        cursor_->start = cursor_->seen;
        cursor_->log->drop_seen();
    }
    [[nodiscard]] event_cursor& get() const noexcept { return *cursor_; }

private:
    event_cursor* cursor_;
};

template <class E>
struct world_argument<events<E>> {
    using event = std::remove_const_t<E>;
    using component = void;  // readers conflict with nothing
    static constexpr bool is_divisible = true;

    struct state : argument_cursor {
        explicit state(engine& owner)
            : argument_cursor(owner, ensure_type_index<event_log_of<event>>(),
                              event_type_of<event>) {}
    };
    [[nodiscard]] static events<E> get(const state& of, const run_context&) noexcept {
        event_cursor& cursor = of.get();
        const event_number last = cursor.log->visible();
        return {cursor, cursor.start < last ? cursor.start : last, last};
    }
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
