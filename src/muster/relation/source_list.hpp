// source_list: the sources of one target of a relation. A list lies in its `sparse_array`, by the key
// of the target. It has two sources of an exclusive relation inside, or one of another relation:
//
//     exclusive   [ e4 ][ hole ][ e1 ]             8 bytes for each source
//     otherwise   [ e4, 0 ][ hole ][ e1, 7 ]       16 bytes: with the place in the list of the source
#pragma once

#include <muster/base/config.hpp>
#include <muster/relation/link.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Sources in the order in which they were added. Erasing one leaves a hole: the null id. Holes are
/// closed once they are the majority, so that all is O(1), amortised. The owner calls `free`: a list
/// is a trivial value.
class source_list {
public:
    source_list() noexcept = default;
    /// An empty list. `null` is the null id; a list that keeps places has the place of each source.
    source_list(std::uint64_t null, bool keeps_places) noexcept
        : null_(null), keeps_places_(keeps_places ? 1 : 0), capacity_(keeps_places ? 1 : 2) {}
    /// Frees the memory, if the list has any.
    void free() noexcept {
        if (!is_inside()) release();
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The number of places, those of holes included.
    [[nodiscard]] std::uint32_t places() const noexcept { return places_; }
    /// The first word of the first source, and the number of words from one to the next.
    [[nodiscard]] const std::uint64_t* words() const noexcept { return is_inside() ? own_ : heap_; }
    [[nodiscard]] std::uint32_t width() const noexcept { return keeps_places_ + 1u; }
    [[nodiscard]] link_end operator[](std::uint32_t place) const noexcept {
        const std::uint64_t* const at = words() + std::size_t{place} * width();
        return {at[0], keeps_places_ == 0 ? 0 : static_cast<std::uint32_t>(at[1]), at[0] == null_};
    }
    void set(std::uint32_t place, const link_end& end) noexcept {
        std::uint64_t* const at = words() + std::size_t{place} * width();
        at[0] = end.is_hole ? null_ : end.other;
        if (keeps_places_ != 0) at[1] = end.place;
    }
    /// Changes where the link is in the list of a source, if this list keeps places.
    void set_place(std::uint32_t place, std::uint32_t at_source) noexcept {
        words()[std::size_t{place} * width() + 1] = at_source;
    }
    /// Makes room for `count` more. `std::bad_alloc` and `errc::limit` change nothing.
    void reserve(std::size_t count) {
        if (count > capacity_ - places_) [[unlikely]]
            grow(count);
    }
    /// Makes room for one more, besides those that were reserved and not appended.
    void reserve_another() {
        reserve(std::size_t{reserved_} + 1);
        ++reserved_;
    }
    void end_reservations() noexcept { reserved_ = 0; }
    /// Appends a source, for which there is room, and returns its place.
    std::uint32_t append(std::uint64_t source, std::uint32_t place) noexcept {
        set(places_, {source, place});
        ++size_;
        if (reserved_ != 0) --reserved_;
        return places_++;
    }
    void erase(std::uint32_t place) noexcept {
        words()[std::size_t{place} * width()] = null_;
        --size_;
    }
    [[nodiscard]] bool is_sparse() const noexcept { return places_ > 8 && size_ < places_ / 2; }
    /// Closes the holes. Calls `moved(place)` for each source that has changed its place.
    template <class Moved>
    void close(Moved moved) noexcept {
        std::uint32_t kept = 0;
        for (std::uint32_t i = next(0); i != places_; i = next(i + 1)) {
            if (kept != i) {
                set(kept, (*this)[i]);
                moved(kept);
            }
            ++kept;
        }
        places_ = kept;
    }
    /// Returns the first place from `from` on that is no hole, or `places()`.
    [[nodiscard]] std::uint32_t next(std::uint32_t from) const noexcept {
        const std::uint64_t* const all = words();
        while (from < places_ && all[std::size_t{from} * width()] == null_) ++from;
        return from;
    }
    /// Returns the place of a source, or `places()`.
    [[nodiscard]] std::uint32_t find(std::uint64_t source) const noexcept {
        const std::uint64_t* const all = words();
        std::uint32_t at = 0;
        while (at < places_ && all[std::size_t{at} * width()] != source) ++at;
        return at;
    }

private:
    static constexpr std::uint32_t inside = 2;  // words
    static constexpr std::uint32_t most = 0x7FFF'FFF0;

    [[nodiscard]] bool is_inside() const noexcept { return capacity_ * width() <= inside; }
    [[nodiscard]] std::uint64_t* words() noexcept { return is_inside() ? own_ : heap_; }
    MUSTER_API void grow(std::size_t count);
    MUSTER_API void release() noexcept;

    union {
        std::uint64_t own_[inside] = {};
        std::uint64_t* heap_;
    };
    std::uint64_t null_ = 0;
    std::uint32_t places_ = 0;
    std::uint32_t size_ = 0;
    std::uint32_t reserved_ = 0;
    std::uint32_t keeps_places_ : 1 = 0;
    std::uint32_t capacity_ : 31 = 0;
};
static_assert(sizeof(source_list) == 40, "no padding");

}  // namespace MUSTER_NAMESPACE::detail
