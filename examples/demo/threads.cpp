#include "threads.hpp"

#if DEMO_WITH_TBB
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#endif

namespace demo {

#if DEMO_WITH_TBB

namespace {

/// Runs on oneTBB in an arena of `wanted` threads, even if the machine has fewer.
class some_threads final : public muster::executor {
public:
    explicit some_threads(unsigned wanted)
        : limit_(tbb::global_control::max_allowed_parallelism, wanted),
          arena_(static_cast<int>(wanted)),
          wanted_(wanted) {}

    [[nodiscard]] unsigned concurrency() const noexcept override { return wanted_; }
    void run(unsigned count, const task& work) override {
        arena_.execute([&] { muster::tbb_executor().run(count, work); });
    }

private:
    tbb::global_control limit_;
    tbb::task_arena arena_;
    unsigned wanted_;
};

}  // namespace

std::unique_ptr<muster::executor> make_threads(unsigned wanted) {
    if (wanted == 0) wanted = muster::tbb_executor().concurrency();
    return std::make_unique<some_threads>(wanted);
}

#else

std::unique_ptr<muster::executor> make_threads(unsigned) {
    return std::make_unique<muster::sequential_executor>();
}

#endif

}  // namespace demo
