// id_set: a set of ids. Ids have their keys in the low bits, and most sets have many neighbouring keys,
// so 64 neighbours share a place.
//
//     id          [ the upper bits: block ][ 6 bits ]
//     places      [ block, bits ][ free ][ block, bits ] ...     open addressing
#pragma once

#include <muster/base/array_list.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class id_set {
public:
    [[nodiscard]] bool contains(std::uint64_t id) const noexcept {
        return !places_.empty() && (places_[place_of(id / 64)].bits & bit_of(id)) != 0;
    }
    /// Returns false if the id is there already. `std::bad_alloc` changes nothing.
    bool insert(std::uint64_t id) {
        if ((blocks_ + 1) * 2 > places_.size()) grow();
        place& at = places_[place_of(id / 64)];
        if ((at.bits & bit_of(id)) != 0) return false;
        if (at.bits == 0) ++blocks_;
        at.block = id / 64;
        at.bits |= bit_of(id);
        return true;
    }

private:
    struct place {
        std::uint64_t block = 0;
        std::uint64_t bits = 0;  // 0: free
    };
    static constexpr std::uint64_t bit_of(std::uint64_t id) noexcept {
        return std::uint64_t{1} << id % 64;
    }
    /// Returns the place of this block, or the free place where it belongs.
    [[nodiscard]] std::size_t place_of(std::uint64_t block) const noexcept {
        const std::size_t mask = places_.size() - 1;
        std::size_t at = (block * 0x9E37'79B9'7F4A'7C15 >> 32) & mask;
        while (places_[at].bits != 0 && places_[at].block != block) at = (at + 1) & mask;
        return at;
    }
    void grow() {
        array_list<place> before(places_.empty() ? 16 : places_.size() * 2);
        before.swap(places_);
        for (const place& kept : before)
            if (kept.bits != 0) places_[place_of(kept.block)] = kept;
    }

    array_list<place> places_;  // a power of two, at most half full
    std::size_t blocks_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
