// change_log: the entities that something has happened to, each once, in the order of the first time.
//
//     ids      [ e7 ][ e2 ][ e9 ]
//     places   [    ][ 1 ][    ][ 0 ][   ][ 2 ] ...    found by the id
//
// Notes are made when nothing may fail any more: `reserve` comes before.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace muster::detail {

class MUSTER_API change_log {
public:
    [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }

    /// The next `more` notes cannot fail.
    void reserve(std::size_t more) {
        if (room_ - ids_.size() < more + unread_) grow(more);
    }
    /// Room is there; if it is not, since the log came in late, and there is no memory, it is lost.
    void note(std::uint64_t who) noexcept {
        if (is_cut || (ids_.size() + unread_ >= room_ && !make_room())) return;
        place& found = places_[place_of(who)];
        if (found.epoch == epoch_) return;
        found = {static_cast<std::uint32_t>(ids_.size()), epoch_};
        ids_.push_back(who);
    }

    /// Takes all that was noted out, to be read; what is noted meanwhile is the next one's.
    [[nodiscard]] array_list<std::uint64_t> begin_reading();
    /// Those from `first` on were not read: they come before all that was noted since.
    void end_reading(const array_list<std::uint64_t>& read, std::size_t first) noexcept;
    void clear() noexcept;

    /// Whoever needs it holds it; the last one ends it.
    void hold() noexcept { ++holders_; }
    void release() noexcept {
        if (--holders_ == 0) delete this;
    }

    bool is_cut = false;    // nothing is noted
    bool has_world = true;  // which is not gone yet

private:
    struct place {
        std::uint32_t index;  // in `ids_`
        std::uint32_t epoch;  // of another: the place is free
    };
    /// Where it is, or the free place where it would be.
    [[nodiscard]] std::size_t place_of(std::uint64_t who) const noexcept {
        // Neighbouring keys stay neighbours; other versions, which are in the upper bits, go elsewhere.
        const std::size_t mask = places_.size() - 1;
        std::size_t at = (who + ((who >> 20) * 0x9E3779B97F4A7C15u >> 40)) & mask;
        while (places_[at].epoch == epoch_ && ids_[places_[at].index] != who) at = (at + 1) & mask;
        return at;
    }
    void grow(std::size_t more);
    MUSTER_COLD bool make_room() noexcept;

    array_list<std::uint64_t> ids_;
    std::size_t room_ = 0;      // of `ids_`
    array_list<place> places_;  // a power of two, at least twice as many
    std::uint32_t epoch_ = 1;   // never 0
    std::size_t unread_ = 0;    // taken out, and perhaps to be put back
    std::uint32_t holders_ = 1;
};

}  // namespace muster::detail
