// thread_executor: an executor with threads of its own, so that tests have real ones, as many as they want,
// which the thread sanitizer knows, too.
#pragma once

#include <muster/system/executor.hpp>

#include <thread>
#include <vector>

namespace muster_tests {

class thread_executor final : public muster::executor {
public:
    explicit thread_executor(unsigned count) : count_(count) {}
    [[nodiscard]] unsigned concurrency() const noexcept override { return count_; }
    void run(unsigned count, const task& work) override {
        std::vector<std::thread> others;
        for (unsigned i = 1; i < count; ++i) others.emplace_back([&work, i] { work(i); });
        work(0);
        for (std::thread& one : others) one.join();
    }

private:
    unsigned count_;
};

}  // namespace muster_tests
