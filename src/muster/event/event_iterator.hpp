// event_iterator: visits the events of a log, from the first that a reader has not seen.
#pragma once

#include <muster/event/event_log.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// A type of events, by value: an object that can be moved.
template <class E>
inline constexpr bool is_event =
    std::is_object_v<E> && !std::is_array_v<E> && std::is_same_v<E, std::remove_cv_t<E>> &&
    std::is_move_constructible_v<E>;

template <class E>
void destroy_events(void* at, std::size_t count) noexcept {
    // SAFETY: the caller passes the address of adjacent events of this type.
    for (E* event = static_cast<E*>(at); count != 0; ++event, --count) event->~E();
}
template <class E>
inline constexpr event_type event_type_of{
    sizeof(E), alignof(E), std::is_trivially_destructible_v<E> ? nullptr : &destroy_events<E>};

/// The end of a loop over events.
struct event_sentinel {};

/// The iterator of a loop over events. The log drops nothing while it exists. That of a reader
/// skips what an inner loop of the same reader has seen. That of a system (`IsShared`) shows all
/// events of a run, since each row may begin a loop of its own.
template <class E, bool IsShared>
class event_iterator {
public:
    using value_type = E;
    using reference = const E&;
    using difference_type = std::ptrdiff_t;

    /// Null: there is nothing to visit.
    event_iterator(event_cursor* cursor, event_number first, event_number last) noexcept
        : cursor_(cursor), number_(first), last_(last) {
        if (cursor_ == nullptr) return;
        is_pinned_ = !IsShared || !cursor_->log->is_in_phase();  // a phase drops nothing
        if (is_pinned_) cursor_->begin_reading();
        locate(number_);
    }
    event_iterator(event_iterator&& other) noexcept
        : cursor_(std::exchange(other.cursor_, nullptr)),
          at_(other.at_),
          limit_(other.limit_),
          number_(other.number_),
          last_(other.last_),
          is_pinned_(other.is_pinned_) {}
    event_iterator& operator=(const event_iterator&) = delete;
    ~event_iterator() {
        if (cursor_ != nullptr && is_pinned_) cursor_->end_reading();
    }

    /// The event is seen now.
    [[nodiscard]] reference operator*() const noexcept {
        if constexpr (IsShared)
            pass(number_ + 1);
        else
            cursor_->seen = number_ + 1;
        return *at_;
    }
    [[nodiscard]] const E* operator->() const noexcept { return __builtin_addressof(**this); }
    event_iterator& operator++() noexcept {
        pass(++number_);
        if (++at_ == limit_) [[unlikely]]
            locate(number_);
        return *this;
    }
    void operator++(int) noexcept { ++*this; }
    friend bool operator==(const event_iterator& it, event_sentinel) noexcept {
        if (it.at_ == it.limit_) [[unlikely]]
            return true;
        if constexpr (!IsShared)
            if (it.cursor_->seen != it.number_) [[unlikely]]
                return it.catch_up();
        return false;
    }

private:
    void pass(event_number until) const noexcept {
        if (!IsShared || is_pinned_)
            cursor_->pass(until);
        else
            cursor_->pass_shared(until);
    }
    /// An inner loop has seen more, or there is no more to see. Returns whether the loop has ended.
    bool catch_up() const noexcept {
        locate(cursor_->seen < last_ ? cursor_->seen : last_);
        return number_ == last_;
    }
    // Passes no address of this object, so that a loop keeps it in registers.
    void locate(event_number which) const noexcept {
        number_ = cursor_->log == nullptr ? last_ : which;  // null: the world has ended
        at_ = limit_ = nullptr;
        if (number_ >= last_) return;
        const event_log::place here = cursor_->log->find(which);
        // SAFETY: the log has events of this type.
        at_ = static_cast<const E*>(here.at);
        limit_ = static_cast<const E*>(here.limit);
        if (static_cast<event_number>(limit_ - at_) > last_ - which) limit_ = at_ + (last_ - which);
    }

    event_cursor* cursor_;
    // A comparison with the end brings these up to date.
    mutable const E* at_ = nullptr;
    mutable const E* limit_ = nullptr;
    mutable event_number number_;
    event_number last_;
    bool is_pinned_ = false;
};

}  // namespace MUSTER_NAMESPACE::detail
