// first_error: goes on after something has failed, and tells of it in the end.
#pragma once

#include <muster/base/config.hpp>

#include <exception>
#include <utility>

namespace muster::detail {

class first_error {
public:
    /// Calls it; keeps what it throws, if nothing was kept before.
    template <class Call>
    void attempt(Call&& call) {
#if MUSTER_EXCEPTIONS
        try {
            std::forward<Call>(call)();
        } catch (...) {
            if (!kept_) kept_ = std::current_exception();
        }
#else
        std::forward<Call>(call)();
#endif
    }
    /// Throws what was kept.
    void rethrow() {
#if MUSTER_EXCEPTIONS
        if (kept_) std::rethrow_exception(std::exchange(kept_, nullptr));
#endif
    }

private:
#if MUSTER_EXCEPTIONS
    std::exception_ptr kept_;
#endif
};

}  // namespace muster::detail
