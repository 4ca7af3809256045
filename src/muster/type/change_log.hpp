// change_log: the entities that changed, each once, in the order of their first change.
//
//     ids      [ e7 ][ e2 ][ e9 ]
//     places   [    ][ 1 ][    ][ 0 ][   ][ 2 ] ...    found by the id
//
// `note` runs when a change can no longer fail; callers `reserve` room for it before the change.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class hook_list;
struct fragment_data;

class MUSTER_API change_log {
public:
    /// A subscription to the changes of a fragment.
    struct subscription {
        hook_list* list;
        fragment_data* of;  // the fragment of the list
        std::uint32_t at;   // the place of the log in the list
    };
    array_list<subscription> subscriptions;  // changed by `hook_list`
    std::uint32_t order = 0;                 // among the observers of the world

    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }

    /// Makes room, so that the next `more` calls of `note` cannot fail. May throw `std::bad_alloc`.
    void reserve(std::size_t more) {
        if (room_ - ids_.size() < more + unread_) grow(more);
    }
    /// Adds `e`, unless the log has it already or is paused. A log that was subscribed after
    /// `reserve` loses the entity if memory runs out.
    void note(std::uint64_t e) noexcept {
        if (is_paused || (ids_.size() + unread_ >= room_ && !make_room())) return;
        place& found = places_[place_of(e)];
        if (found.epoch == epoch_) return;
        found = {static_cast<std::uint32_t>(ids_.size()), epoch_};
        ids_.push_back(e);
    }

    /// Takes out all entities, for reading. Changes during the reading belong to the next reading.
    /// `std::bad_alloc` changes nothing.
    [[nodiscard]] array_list<std::uint64_t> begin_reading();
    /// Ends a reading. Puts the unread entities, from index `first` on, before those added since.
    void end_reading(const array_list<std::uint64_t>& read, std::size_t first) noexcept;
    void clear() noexcept;

    /// Reference count: the last `release` deletes the log.
    void hold() noexcept { ++holders_; }
    void release() noexcept {
        if (--holders_ == 0) delete this;
    }

    bool is_paused = false;  // `note` does nothing
    bool is_abandoned =
        false;  // its observer was destroyed in a parallel phase, whose end releases it

private:
    struct place {
        std::uint32_t index;  // in `ids_`
        std::uint32_t epoch;  // not `epoch_`: the place is free
    };
    /// Returns the place of `e`, or the free place to put it.
    [[nodiscard]] std::size_t place_of(std::uint64_t e) const noexcept {
        // Neighbouring keys stay adjacent; the upper bits, with the version, separate equal keys.
        const std::size_t mask = places_.size() - 1;
        std::size_t at = (e + ((e >> 20) * 0x9E3779B97F4A7C15u >> 40)) & mask;
        while (places_[at].epoch == epoch_ && ids_[places_[at].index] != e) at = (at + 1) & mask;
        return at;
    }
    void grow(std::size_t more);
    MUSTER_COLD bool make_room() noexcept;

    array_list<std::uint64_t> ids_;
    std::size_t room_ = 0;      // capacity of `ids_`
    array_list<place> places_;  // hash table: a power of two, at least twice `room_`
    std::uint32_t epoch_ = 1;   // never 0
    std::size_t unread_ = 0;    // taken out by readings; may be put back
    std::uint32_t holders_ = 1;
};

}  // namespace MUSTER_NAMESPACE::detail
