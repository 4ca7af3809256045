// executor: where the threads come from. Muster says what is to be done side by side; an executor does it,
// on one thread, on those of oneTBB (target muster::parallel), or on a pool of the user's own.
#pragma once

#include <muster/base/config.hpp>

namespace muster {

/// To bring threads of your own, derive from it: two functions.
class MUSTER_API executor {
public:
    executor() = default;
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;
    virtual ~executor();

    /// A part of the work: to be called with each index once.
    struct task {
        void (*call)(void* context, unsigned index) noexcept;
        void* context;
        void operator()(unsigned index) const noexcept { call(context, index); }
    };

    /// How many threads can work at once, with the one that calls `run`; at least 1.
    [[nodiscard]] virtual unsigned concurrency() const noexcept = 0;
    /// Calls `work(i)` for all i below `count`, side by side if it can, in any order, on any threads, and
    /// returns when all calls have returned: what they did is visible to the caller then. It need not run
    /// them at once: a call that comes late, when there is nothing left to do, returns soon. Exceptions do
    /// not leave `work`; what `run` itself throws, before or after it has called some, reaches the user.
    virtual void run(unsigned count, const task& work) = 0;
};

/// One thread, the caller's: for programs without threads, and to compare.
class MUSTER_API sequential_executor final : public executor {
public:
    [[nodiscard]] unsigned concurrency() const noexcept override { return 1; }
    void run(unsigned count, const task& work) override;
};

/// The threads of oneTBB, as many as its settings say. In the target muster::parallel.
[[nodiscard]] MUSTER_API executor& tbb_executor();

}  // namespace muster
