// event_reader: reads the events of one type, outside of systems.
//
//     auto hits = w.reader<damage>();
//     for (const damage& d : hits) ...           // those that it has not seen
#pragma once

#include <muster/event/event_iterator.hpp>
#include <muster/event/event_log.hpp>

#include <cstddef>
#include <utility>

namespace MUSTER_NAMESPACE {

/// Shows the events of a type that were sent since it was created, each once, in the order in which
/// they were sent. An event is seen when a loop visits or passes it. Events that are sent meanwhile
/// come in the next loop. Movable, not copyable. A null reader, and a reader whose world has ended,
/// is empty.
///
/// An event is kept until every reader of its type has seen it, at most two frames; see
/// `world::end_frame`. References to an event are valid until the loop ends. Two loops of a reader,
/// one inside the other, share what they show.
///
/// All calls require exclusive access to the world, like changes. In a parallel phase, `size` and
/// `empty` may be called, `begin` throws `errc::in_scope`, and `clear` returns false. A reader may be
/// destroyed there.
template <class E>
class event_reader {
    static_assert(detail::is_event<E>, "muster: an event is an object that can be moved.");

public:
    using iterator = detail::event_iterator<E, false>;
    using sentinel = detail::event_sentinel;

    /// Reads nothing. Assign a reader of a world to it.
    event_reader() noexcept = default;
    event_reader(event_reader&& other) noexcept : cursor_(std::exchange(other.cursor_, nullptr)) {}
    event_reader& operator=(event_reader&& other) noexcept {
        event_reader taken(std::move(other));
        std::swap(cursor_, taken.cursor_);
        return *this;
    }
    ~event_reader() {
        if (cursor_ != nullptr) cursor_->abandon();
    }

    /// Visits the events that it has not seen. O(events).
    [[nodiscard]] iterator begin() {
        if (!has_log()) return iterator(nullptr, 0, 0);
        cursor_->log->refuse_in_phase("reading events");
        return iterator(cursor_, cursor_->seen, cursor_->log->visible());
    }
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    /// The number of events that it has not seen. O(1), like `empty`.
    [[nodiscard]] std::size_t size() const noexcept {
        if (!has_log()) return 0;
        const auto seen = cursor_->seen;
        const auto visible = cursor_->log->visible();
        return seen < visible ? static_cast<std::size_t>(visible - seen) : 0;
    }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Passes all events. Returns false in a parallel phase, and does nothing.
    bool clear() noexcept {
        if (!has_log()) return true;
        if (cursor_->log->is_in_phase()) return false;
        cursor_->pass(cursor_->log->visible());
        cursor_->log->drop_seen();
        return true;
    }

private:
    template <class>
    friend class event_calls;
    explicit event_reader(detail::event_log& log) : cursor_(&log.add_cursor()) {}
    [[nodiscard]] bool has_log() const noexcept {
        return cursor_ != nullptr && cursor_->log != nullptr;
    }

    detail::event_cursor* cursor_ = nullptr;  // owned; null: reads nothing
};

}  // namespace MUSTER_NAMESPACE
