// bit_array: a growing array of bits.
#pragma once

#include <muster/base/integer.hpp>
#include <muster/base/raw_array.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Bits beyond the highest bit ever set take no memory and are off.
class bit_array {
public:
    [[nodiscard]] bool test(std::uint64_t at) const noexcept {
        return at / 64 < bits_.capacity() && (bits_[at / 64] >> at % 64 & 1) != 0;
    }
    /// Whether no bit was ever set.
    [[nodiscard]] bool empty() const noexcept { return bits_.capacity() == 0; }
    /// `std::bad_alloc` changes nothing.
    void set(std::uint64_t at) {
        if (at / 64 >= bits_.capacity()) {
            std::size_t words = bits_.capacity();
            bits_.grow(larger(at / 64 + 1, words * 2));
            while (words < bits_.capacity()) bits_[words++] = 0;
        }
        bits_[at / 64] |= std::uint64_t{1} << at % 64;
    }
    void reset(std::uint64_t at) noexcept {
        if (at / 64 < bits_.capacity()) bits_[at / 64] &= ~(std::uint64_t{1} << at % 64);
    }

private:
    raw_array<std::uint64_t> bits_;  // all words of its capacity are initialised
};

}  // namespace MUSTER_NAMESPACE::detail
