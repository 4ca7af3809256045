// second_thread: a thread that waits for work, like a worker thread of a program.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace muster::bench {

class second_thread {
public:
    second_thread() = default;
    second_thread(const second_thread&) = delete;
    second_thread& operator=(const second_thread&) = delete;
    ~second_thread() {
        state_ = over;
        state_.notify_one();
        thread_.join();
    }
    /// Runs `mine()` on this thread and `other()` on the second thread.
    template <class Mine, class Other>
    void run(Mine mine, Other other) {
        task_ = other;
        state_ = busy;
        state_.notify_one();
        mine();
        state_.wait(busy);
    }

private:
    enum : int { idle, busy, over };

    std::atomic<int> state_ = idle;
    std::function<void()> task_;
    std::thread thread_{[this] {
        while (true) {
            state_.wait(idle);
            if (state_ == over) return;
            task_();
            state_ = idle;
            state_.notify_one();
        }
    }};
};

}  // namespace muster::bench
