// destroy_marks: the keys whose entities need more than the fast destroy: a name, a sparse value, a
// fragment, or a record of where it was destroyed.
#pragma once

#include <muster/base/bit_array.hpp>
#include <muster/base/integer.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class destroy_marks {
public:
    [[nodiscard]] bool test(std::uint64_t key) const noexcept {
        return key >= all_from_ || bits_.test(key);
    }
    /// Whether keys are marked other than by the bound; see `set`.
    [[nodiscard]] bool has_bits() const noexcept { return !bits_.empty(); }
    /// Marks a key. Keys above `dense` share a bound, which keeps the bit array small.
    /// `std::bad_alloc` changes nothing.
    void set(std::uint64_t key, std::uint64_t dense) {
        if (key < dense)
            bits_.set(key);
        else
            all_from_ = smaller(all_from_, key);
    }
    void set_all() noexcept { all_from_ = 0; }
    void reset(std::uint64_t key) noexcept { bits_.reset(key); }

private:
    std::uint64_t all_from_ = ~std::uint64_t{0};  // all keys from here on are marked
    bit_array bits_;
};

}  // namespace MUSTER_NAMESPACE::detail
