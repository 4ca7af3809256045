// Arithmetic on 64-bit words. Replaces <algorithm>, which every user would have to compile.
#pragma once

#include <muster/base/config.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Returns a word whose lowest `bits` bits are set.
constexpr std::uint64_t low_bits(unsigned bits) noexcept {
    return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

constexpr std::uint64_t smaller(std::uint64_t a, std::uint64_t b) noexcept {
    return a < b ? a : b;
}
constexpr std::uint64_t larger(std::uint64_t a, std::uint64_t b) noexcept {
    return a < b ? b : a;
}

}  // namespace MUSTER_NAMESPACE::detail
