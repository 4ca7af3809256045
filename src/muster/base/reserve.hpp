// reserve: room in a vector for what is added later without failing.
#pragma once

#include <cstddef>

namespace muster::detail {

/// Room for `more` further elements; ample, so that doing it for each costs O(1) amortised.
template <class Vector>
void reserve_more(Vector& vector, std::size_t more) {
    const std::size_t needed = vector.size() + more;
    if (needed > vector.capacity())
        vector.reserve(needed < 2 * vector.capacity() ? 2 * vector.capacity() : needed);
}

}  // namespace muster::detail
