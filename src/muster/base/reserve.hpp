// reserve: makes room in a vector, so that adding elements later cannot fail.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

/// Makes room for `more` further elements. Doubles the capacity, so that a call per element costs
/// O(1) amortised.
template <class Vector>
void reserve_more(Vector& vector, std::size_t more) {
    const std::size_t needed = vector.size() + more;
    if (needed > vector.capacity())
        vector.reserve(needed < 2 * vector.capacity() ? 2 * vector.capacity() : needed);
}

}  // namespace MUSTER_NAMESPACE::detail
