// thread_executor: an executor with threads of its own, so that tests have real ones, as many as they want,
// which the thread sanitizer knows, too. They begin together, so that each gets its part of little work.
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
        for (std::thread& one : others) one.join();
    }

private:
    unsigned count_;
};

}  // namespace muster_tests
