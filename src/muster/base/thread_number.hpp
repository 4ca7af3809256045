// thread_number: a small unique number per thread, to identify threads and to spread their writes.
#pragma once

#include <muster/base/atomic_word.hpp>

namespace MUSTER_NAMESPACE::detail {

/// Returns the number of the calling thread. Threads are numbered from 0 in the order of their
/// first call; numbers of threads that have ended are not reused.
[[nodiscard]] inline unsigned thread_number() noexcept {
    static constinit atomic_word<unsigned> asked;
    // 0 until the first call. `constinit`, so that access needs no initialisation guard.
    static constinit thread_local unsigned number = 0;
    if (number == 0) [[unlikely]]
        number = asked.fetch_add_relaxed(1) + 1;
    return number - 1;
}

}  // namespace MUSTER_NAMESPACE::detail
