// The only file that uses oneTBB; part of the target muster::parallel.
#include <muster/system/executor.hpp>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace MUSTER_NAMESPACE {

namespace {

class tbb_threads final : public executor {
public:
    [[nodiscard]] unsigned concurrency() const noexcept override {
        return static_cast<unsigned>(tbb::this_task_arena::max_concurrency());
    }
    void run(unsigned count, const task& work) override {
        // Isolated: a waiting thread must not start further tasks of the user, which
        // might change the world.
        tbb::this_task_arena::isolate([&] {
            tbb::parallel_for(
                tbb::blocked_range<unsigned>(0, count, 1),
                [&](const tbb::blocked_range<unsigned>& some) {
                    for (unsigned i = some.begin(); i != some.end(); ++i) work(i);
                },
                tbb::simple_partitioner());
        });
    }
};

}  // namespace

executor& tbb_executor() {
    static tbb_threads only;
    return only;
}

}  // namespace MUSTER_NAMESPACE
