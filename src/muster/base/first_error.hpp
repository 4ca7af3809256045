// first_error: keeps the first exception of a series of calls and rethrows it after the last call.
#pragma once

#include <muster/base/config.hpp>

#include <exception>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

class first_error {
public:
    /// Calls `call`. Swallows its exception and keeps it, if it is the first.
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
    /// Throws the kept exception, if any, and forgets it.
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

}  // namespace MUSTER_NAMESPACE::detail
