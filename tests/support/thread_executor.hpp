// thread_executor: an executor that starts its own threads, so that tests choose their number and
// the thread sanitizer can observe them. All threads start together, so that each takes a part even
// of short loops.
#pragma once

#include <muster/system/executor.hpp>

#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

namespace muster_tests {

class thread_executor final : public muster::executor {
public:
    explicit thread_executor(unsigned count) : count_(count) {}
    [[nodiscard]] unsigned concurrency() const noexcept override { return count_; }
    void run(unsigned count, const task& work) override {
        std::barrier begin(static_cast<std::ptrdiff_t>(count));
        std::vector<std::thread> others;
        for (unsigned i = 1; i < count; ++i)
            others.emplace_back([&work, &begin, i] {
                begin.arrive_and_wait();
                work(i);
            });
        begin.arrive_and_wait();
        work(0);
        for (std::thread& other : others) other.join();
    }

private:
    unsigned count_;
};

}  // namespace muster_tests
