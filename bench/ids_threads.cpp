// Measures ids that several threads create, destroy and test at the same time.
//
// Figures are wall-clock nanoseconds divided by the operations of all threads: two threads that do
// not disturb each other take half the time of one thread. The floor is an `id_pool` with a
// `std::mutex`.
#include <muster/id/concurrent_id_pool.hpp>
#include <muster/id/id_pool.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "questions/order.hpp"
#include "support/suite.hpp"

namespace muster::bench {
namespace {

template <class Layout>
class locked_id_pool {
public:
    using id_type = basic_id<Layout>;

    id_type create() {
        const std::scoped_lock lock(mutex_);
        return pool_.create();
    }
    void create(std::span<id_type> out) {
        const std::scoped_lock lock(mutex_);
        pool_.create(out);
    }
    bool destroy(id_type e) {
        const std::scoped_lock lock(mutex_);
        return pool_.destroy(e);
    }
    bool alive(id_type e) const {
        const std::scoped_lock lock(mutex_);
        return pool_.alive(e);
    }

private:
    mutable std::mutex mutex_;
    id_pool<Layout> pool_;
};

/// A second thread that all measurements share, like a worker thread of a program.
class helper {
public:
    /// Runs `work(0)` on this thread and `work(1)` on the helper, once both are ready. Returns the
    /// seconds from the first start to the last end.
    template <class Work>
    double run_both(Work work) {
        using clock = std::chrono::steady_clock;
        clock::time_point begun[2], ended[2];
        waiting_ = 2;
        const auto run = [&](unsigned i) {
            --waiting_;
            while (waiting_ != 0) {
            }
            begun[i] = clock::now();
            work(i);
            ended[i] = clock::now();
        };
        task_ = [&] { run(1); };
        state_ = busy;
        state_.notify_one();
        run(0);
        state_.wait(busy);
        return std::chrono::duration<double>(std::max(ended[0], ended[1]) -
                                             std::min(begun[0], begun[1]))
            .count();
    }

    helper() = default;
    helper(const helper&) = delete;
    helper& operator=(const helper&) = delete;
    ~helper() {
        state_ = over;
        state_.notify_one();
        thread_.join();
    }

private:
    enum : int { idle, busy, over };

    std::atomic<int> state_ = idle;
    std::atomic<unsigned> waiting_ = 0;
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

/// Runs `work(0)`, and with two threads `work(1)` at the same time. Returns the seconds.
template <class Work>
double in_threads(unsigned count, Work work) {
    static helper other;
    if (count == 2) return other.run_both(work);
    const auto begun = std::chrono::steady_clock::now();
    work(0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// Times `work(thread)` on one thread or two, each with `rounds` operations. Scales the time to
/// `t.size()` operations, because the table divides by the size.
template <class Work, class Sound>
void measure_threads(trial& t, unsigned threads, std::size_t rounds, Work work, Sound sound) {
    const double all = static_cast<double>(rounds) * threads;
    in_threads(threads, work);
    while (t.goes_on()) t.note(in_threads(threads, work) / all * static_cast<double>(t.size()));
    if (!sound()) t.fail("the result is wrong");
}

/// Each thread owns a share of the ids, and in each step destroys one id and creates another.
template <class Pool, unsigned Threads>
void churn(trial& t) {
    constexpr std::size_t rounds = 300'000;  // so that start-up time is negligible
    std::vector<std::uint32_t> victims(rounds);
    std::mt19937 dice(7);
    for (auto& victim : victims) victim = static_cast<std::uint32_t>(dice() % (t.size() / Threads));
    Pool pool;
    std::vector<std::vector<typename Pool::id_type>> ids(Threads);
    for (auto& own : ids) {
        own.resize(t.size() / Threads);
        pool.create(own);
    }
    measure_threads(
        t, Threads, rounds,
        [&](unsigned thread) {
            auto& own = ids[thread];
            for (const std::uint32_t victim : victims) {
                pool.destroy(own[victim]);
                own[victim] = pool.create();
            }
        },
        [&] {
            bool is_right = true;
            for (const auto& own : ids) is_right = is_right && count_alive(pool, own) == own.size();
            return is_right;
        });
}

/// Each thread calls `alive` for shuffled handles, half of them stale.
template <class Pool, unsigned Threads>
void ask(trial& t) {
    const std::size_t count = t.size();
    Pool pool;
    std::vector<typename Pool::id_type> made(count);
    pool.create(made);
    const auto victims = shuffled(count, 42);
    for (std::size_t i = 0; i < count / 2; ++i) pool.destroy(made[victims[i]]);
    for (std::size_t i = 0; i < count / 2; ++i) (void)pool.create();
    const auto asked = shuffled(made, 9);
    const std::size_t turns = std::max<std::size_t>(1, 1'000'000 / count);
    std::atomic<std::size_t> wrong = 0;
    measure_threads(
        t, Threads, turns * count,
        [&](unsigned) {
            for (std::size_t i = 0; i < turns; ++i)
                if (count_alive(pool, asked) != count - count / 2) ++wrong;
        },
        [&] { return wrong == 0; });
}

template <unsigned Threads>
void add_all(const std::string& threads) {
    using locked = locked_id_pool<layouts::bound>;
    using shared = concurrent_id_pool<layouts::bound>;
    using compact = concurrent_id_pool<layouts::compact>;
    add("pool_churn, " + threads, "floor", churn<locked, Threads>);
    add("pool_churn, " + threads, "muster", churn<shared, Threads>);
    add("pool_churn, " + threads, "compact", churn<compact, Threads>);
    add("pool_alive, " + threads, "floor", ask<locked, Threads>);
    add("pool_alive, " + threads, "muster", ask<shared, Threads>);
    add("pool_alive, " + threads, "compact", ask<compact, Threads>);
}

[[maybe_unused]] const int registered = [] {
    add_all<1>("1 thread");
    add_all<2>("2 threads");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
