// executor: runs the parallel work of Muster: on one thread, on the threads of oneTBB (target
// muster::parallel), or on a thread pool of the user.
#pragma once

#include <muster/base/config.hpp>

namespace MUSTER_NAMESPACE {

/// To supply threads of your own, derive from this class and implement two functions.
class MUSTER_API executor {
public:
    executor() = default;
    executor(const executor&) = delete;
    executor& operator=(const executor&) = delete;
    virtual ~executor();

    /// A part of the work. `run` calls it once with each index.
    struct task {
        void (*call)(void* context, unsigned index) noexcept;
        void* context;
        void operator()(unsigned index) const noexcept { call(context, index); }
    };

    /// The number of threads that can work at once, including the caller of `run`; at least 1.
    [[nodiscard]] virtual unsigned concurrency() const noexcept = 0;
    /// Calls `work(i)` for all i below `count`, in parallel if possible, in any order, on any
    /// threads. Returns when all calls have returned; their effects are then visible to the caller.
    /// It need not run all calls at once: a late call, when no work is left, returns soon. `work`
    /// does not throw. Exceptions from `run` itself, before or after some calls, reach the user.
    virtual void run(unsigned count, const task& work) = 0;
};

/// Runs all work on the calling thread: for programs without threads, and for comparison.
class MUSTER_API sequential_executor final : public executor {
public:
    [[nodiscard]] unsigned concurrency() const noexcept override { return 1; }
    void run(unsigned count, const task& work) override;
};

/// The threads of oneTBB, as many as its settings allow. In the target muster::parallel.
[[nodiscard]] MUSTER_API executor& tbb_executor();

}  // namespace MUSTER_NAMESPACE
