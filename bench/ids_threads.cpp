// What do ids cost when several threads make, destroy and ask for them at the same time?
//
// Nanoseconds are those of the clock on the wall by all operations of all threads: two threads that are in
// nobody's way take half of what one takes. The floor is what one would write without this pool: an
// `id_pool` behind a `std::mutex`.
#include <muster/id/concurrent_id_pool.hpp>

#include <sched.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "support/measure.hpp"

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

/// A second thread, the same for all that is measured, as a program has it.
class helper {
public:
    /// Runs `work(0)` in this thread and `work(1)` in the other, from the moment both are there; the seconds it
    /// takes.
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

/// Runs `work(0)`, and with two threads `work(1)` at the same time; the seconds it takes.
template <class Work>
double in_threads(unsigned count, Work work) {
    static helper other;
    if (count == 2) return other.run_both(work);
    const auto begun = std::chrono::steady_clock::now();
    work(0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// Each thread has its share of `N` ids, and at each step destroys one of them and makes another.
template <class Pool, unsigned Threads>
void churn(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    constexpr std::size_t rounds = 300'000;  // so that the beginning does not count
    std::vector<std::uint32_t> victims(rounds);
    std::mt19937 dice(7);
    for (auto& victim : victims) victim = static_cast<std::uint32_t>(dice() % (count / Threads));
    Pool pool;
    std::vector<std::vector<typename Pool::id_type>> ids(Threads);
    for (auto& own : ids) {
        own.resize(count / Threads);
        pool.create(own);
    }
    for (auto _ : state) {
        const double seconds = in_threads(Threads, [&](unsigned thread) {
            auto& own = ids[thread];
            for (const std::uint32_t victim : victims) {
                pool.destroy(own[victim]);
                own[victim] = pool.create();
            }
        });
        // The table divides by N.
        state.SetIterationTime(seconds * static_cast<double>(count) / rounds / Threads);
    }
    for (const auto& own : ids)
        if (count_alive(pool, own) != own.size()) state.SkipWithError("the result is wrong");
}

/// Each thread asks shuffled handles, half of them stale.
template <class Pool, unsigned Threads>
void ask(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    Pool pool;
    std::vector<typename Pool::id_type> made(count), asked;
    pool.create(made);
    for (const std::uint32_t i : shuffled(count, 42))
        if (asked.size() < count / 2) pool.destroy(asked.emplace_back(made[i]));
    asked.clear();
    for (std::size_t i = 0; i < count / 2; ++i) (void)pool.create();
    for (const std::uint32_t i : shuffled(count, 9)) asked.push_back(made[i]);
    const std::size_t rounds = 1'000'000 / count;
    std::atomic<std::size_t> wrong = 0;
    for (auto _ : state) {
        const double seconds = in_threads(Threads, [&](unsigned) {
            for (std::size_t round = 0; round < rounds; ++round)
                if (count_alive(pool, asked) != count - count / 2) ++wrong;
        });
        state.SetIterationTime(seconds / static_cast<double>(rounds) / Threads);
    }
    if (wrong != 0) state.SkipWithError("the result is wrong");
}

template <unsigned Threads>
void add_all(const std::string& threads) {
    using locked = locked_id_pool<layouts::bound>;
    using shared = concurrent_id_pool<layouts::bound>;
    using compact = concurrent_id_pool<layouts::compact>;
    add("id_churn, " + threads, "floor", churn<locked, Threads>);
    add("id_churn, " + threads, "muster", churn<shared, Threads>);
    add("id_churn, " + threads, "muster compact", churn<compact, Threads>);
    add("alive, " + threads, "floor", ask<locked, Threads>);
    add("alive, " + threads, "muster", ask<shared, Threads>);
    add("alive, " + threads, "muster compact", ask<compact, Threads>);
}

[[maybe_unused]] const int registered = [] {
    add_all<1>("1 thread");
    // `./dev bench` keeps to one processor, where two threads take turns.
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0 && CPU_COUNT(&usable) >= 2)
        add_all<2>("2 threads");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
