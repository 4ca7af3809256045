// phase: loops whose rows are seen to by several threads. Nothing in the world changes meanwhile; what
// the threads record is carried out at the end, in the order in which one thread would have recorded it:
//
//     works     [ move: rows 0 ... 9999      ][ burn: rows 0 ... 120 ]
//     threads    |--- a ---|-- b --|- a -|---- b ----|--- a ---|         whoever is free takes the next rows
//     changes    of each thread, with the row that they came with: sorted by work, then row
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/first_error.hpp>
#include <muster/command/lane.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/system/executor.hpp>
#include <muster/system/payload.hpp>
#include <muster/system/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace muster::detail {

/// How long the rows of a loop took lately. What is short for sure is not measured each time.
class pace {
public:
    /// Nanoseconds, on one thread; 0: not known.
    [[nodiscard]] std::uint64_t expect(std::uint64_t rows) const noexcept {
        return rows * picoseconds_.load_relaxed() / 1000;
    }
    /// Whether so many rows are not worth a look at the clock. Now and then it says no, to learn again.
    [[nodiscard]] bool is_short(std::uint64_t rows) noexcept {
        if (const std::uint64_t took = expect(rows); took == 0 || took > 5'000) return false;
        const std::uint32_t before = calls_.load_relaxed();
        calls_.store_relaxed(before + 1);  // one more or less does not matter
        return before % 64 != 0;
    }
    void learn(std::uint64_t rows, std::uint64_t nanoseconds) noexcept {
        picoseconds_.store_relaxed(rows == 0 ? 0 : nanoseconds * 1000 / rows);
    }

private:
    atomic_word<std::uint64_t> picoseconds_;  // of a row; 0: not known
    atomic_word<std::uint32_t> calls_;
};

/// A function that loops over rows; on each thread, it sees those of the thread's window.
struct shared_work {
    void (*call)(void* function, payload given);
    void* function;
    payload given{};
    shared_rows rows{};
    std::size_t grain = 0;              // rows that are taken at once; 0: as many as seem right
    std::string_view system{};          // empty: none
    std::span<const access> touched{};  // of a system
    std::uint64_t expected = 0;  // nanoseconds that it will take, on one thread; 0: not known
    std::uint64_t took = 0;      // the same when it has, on all threads together
};

/// The world whose phase it is.
struct phase_host {
    void* store;
    query_cache* queries;
    void (*begin)(void* store);
    void (*share)(void* store, std::size_t lanes);
    lane& (*lane_at)(void* store, std::size_t index);
    void (*end)(void* store, bool is_kept);
    std::uint32_t (*depth)(void* store);

    template <class Store>
    [[nodiscard]] static phase_host of(Store& one, query_cache& queries) noexcept {
        return {&one,
                &queries,
                [](void* at) { static_cast<Store*>(at)->begin_phase(); },
                [](void* at, std::size_t lanes) { static_cast<Store*>(at)->share_phase(lanes); },
                [](void* at, std::size_t index) -> lane& {
                    return static_cast<Store*>(at)->lane_at(index);
                },
                [](void* at, bool is_kept) { static_cast<Store*>(at)->end_phase(is_kept); },
                [](void* at) { return static_cast<Store*>(at)->depth(); }};
    }
};

/// Runs all works as one phase. What one of them throws, the first in their order that was seen, is thrown
/// when all threads have stopped; then nothing that was recorded happens, and the ids that were made are
/// dead. What a change throws that is carried out in the end: as in `store::commit`.
MUSTER_API void run_phase(const phase_host& host, executor& threads, std::span<shared_work> works);

/// A phase of this thread alone, for what is over before another could have begun. As the other, it must not
/// find lists that are not up to date.
template <class Store, class Call>
void run_briefly(Store& one, Call call) {
    one.begin_phase();
    first_error thrown;
    first_error ending;
    bool is_done = false;
    thrown.attempt([&] {
        lane& mine = one.lane_at(0);
        const lane_guard here(mine);
        mine.works = {};
        mine.system = {};
        mine.begin(0, 0);
        call();
        is_done = true;
    });
    ending.attempt([&] { one.end_phase(is_done); });
    thrown.rethrow();  // whose end is less of interest
    ending.rethrow();
}

/// Calls it; what it throws says the name of the system.
MUSTER_API void call_named(std::string_view system, void (*call)(void* function, payload given),
                           void* function, payload given);

}  // namespace muster::detail
