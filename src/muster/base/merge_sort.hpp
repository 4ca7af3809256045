// merge_sort: sorts values by an order that the user defines.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/integer.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

/// Stable. The result is a permutation for any `is_before`, which is the user's and may not define
/// an order. What it throws leaves `all` with the same values in any order.
template <class T, class Before>
void merge_sort(array_list<T>& all, Before is_before) {
    array_list<T> merged = all;
    for (std::size_t width = 1; width < all.size(); width *= 2) {
        for (std::size_t first = 0; first < all.size(); first += 2 * width) {
            const std::size_t middle = smaller(first + width, all.size());
            const std::size_t last = smaller(first + 2 * width, all.size());
            std::size_t left = first;
            std::size_t right = middle;
            for (std::size_t at = first; at < last; ++at) {
                const bool takes_right =
                    left == middle || (right != last && is_before(all[right], all[left]));
                merged[at] = all[takes_right ? right++ : left++];
            }
        }
        all.swap(merged);
    }
}

}  // namespace MUSTER_NAMESPACE::detail
