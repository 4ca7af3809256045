// allocation_pause: runs other code while a call waits for memory, as if another thread were faster. It works only
// in programs whose wrapper of calloc calls `allocation_pause.run()`, like out_of_memory_test.cpp.
#pragma once

#include <functional>
#include <utility>

namespace muster::test {

class pause_of_allocation {
public:
    /// Calls `work` in the n-th of the next calls of calloc; allocations of `work` do not count.
    void start(int n, std::function<void()> work) {
        left_ = n;
        work_ = std::move(work);
    }
    void run() {
        if (left_ == 0 || --left_ != 0) return;
        std::exchange(work_, nullptr)();
    }
    /// Whether the work is still to be done.
    [[nodiscard]] bool is_waiting() const noexcept { return left_ != 0; }

private:
    int left_ = 0;
    std::function<void()> work_;
};
inline pause_of_allocation allocation_pause;

}  // namespace muster::test
