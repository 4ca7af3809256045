// thread_number: a small number for each thread, so that threads can keep out of each other's way.
#pragma once

#include <muster/base/atomic_word.hpp>

namespace muster::detail {

/// Numbers from 0 on, in the order in which threads first ask. Those of threads that have ended do not come back.
[[nodiscard]] inline unsigned thread_number() noexcept {
    static constinit atomic_word<unsigned> asked;
    // 0 until it has asked. Known when the thread begins, so that no guard is in the way.
    static constinit thread_local unsigned number = 0;
    if (number == 0) [[unlikely]]
        number = asked.fetch_add_relaxed(1) + 1;
    return number - 1;
}

}  // namespace muster::detail
