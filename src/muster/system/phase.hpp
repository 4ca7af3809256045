// phase: loops whose rows several threads process. The world does not change meanwhile. Changes
// that the threads record are applied at the end, in the order in which one thread would record
// them:
//
//     works     [ move: rows 0 ... 9999      ][ burn: rows 0 ... 120 ]
//     threads    |--- a ---|-- b --|- a -|---- b ----|--- a ---|    free threads take the next rows
//     changes    of each thread, with the row that caused them: sorted by work item, then row
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/lane.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/system/executor.hpp>
#include <muster/system/payload.hpp>
#include <muster/system/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

/// How long the rows of a loop took recently. Loops that are certainly short are not always
/// measured.
class pace {
public:
    /// Expected nanoseconds on one thread; 0: unknown.
    [[nodiscard]] std::uint64_t expect(std::uint64_t rows) const noexcept {
        return rows * picoseconds_.load_relaxed() / 1000;
    }
    /// Whether these rows are too quick to be worth measuring. Returns false now and then, to
    /// measure again.
    [[nodiscard]] bool is_short(std::uint64_t rows) noexcept {
        if (const std::uint64_t took = expect(rows); took == 0 || took > 5'000) return false;
        const std::uint32_t before = calls_.load_relaxed();
        calls_.store_relaxed(before + 1);  // a lost increment does no harm
        return before % 64 != 0;
    }
    void learn(std::uint64_t rows, std::uint64_t nanoseconds) noexcept {
        picoseconds_.store_relaxed(rows == 0 ? 0 : nanoseconds * 1000 / rows);
    }

private:
    atomic_word<std::uint64_t> picoseconds_;  // per row; 0: unknown
    atomic_word<std::uint32_t> calls_;
};

/// A function that loops over rows. On each thread, it processes the rows of the thread's window.
struct shared_work {
    void (*call)(void* function, payload given);
    void* function;
    payload given{};
    shared_rows rows{};
    std::size_t grain = 0;          // rows taken at a time; 0: adaptive
    std::string_view system{};      // empty: not a system
    slice<const access> touched{};  // accesses of the system
    std::uint64_t expected = 0;     // expected nanoseconds on one thread; 0: unknown
    std::uint64_t took = 0;         // nanoseconds on all threads together; set at the end
};

/// The world that runs the phase, type-erased.
struct phase_host {
    void* world;
    query_cache* queries;
    void (*begin)(void* world);
    void (*share)(void* world, std::size_t lanes);
    lane& (*lane_at)(void* world, std::size_t index);
    void (*end)(void* world, bool is_kept);
    std::uint32_t (*depth)(void* world);

    /// `World` is `parallel_recorder`, or has the same calls.
    template <class World>
    [[nodiscard]] static phase_host of(World& owner, query_cache& queries) noexcept {
        return {&owner,
                &queries,
                [](void* at) { static_cast<World*>(at)->begin_phase(); },
                [](void* at, std::size_t lanes) { static_cast<World*>(at)->share_phase(lanes); },
                [](void* at, std::size_t index) -> lane& {
                    return static_cast<World*>(at)->lane_at(index);
                },
                [](void* at, bool is_kept) { static_cast<World*>(at)->end_phase(is_kept); },
                [](void* at) { return static_cast<World*>(at)->depth(); }};
    }
};

/// Runs all work items as one phase. If some throw, rethrows the first of the caught exceptions, in
/// their order, when all threads have stopped. Recorded changes are then dropped, and spawned ids
/// are dead. Applying the changes at the end throws like `transaction::commit`.
MUSTER_API void run_phase(const phase_host& host, executor& threads, slice<shared_work> works);

/// Runs a phase on this thread alone, for work that ends before another thread could start. Like
/// `run_phase`, it needs all query lists to be up to date; the caller updates them.
template <class World, class Call>
void run_briefly(World& owner, Call call) {
    owner.begin_phase();
    first_error thrown;
    first_error ending;
    bool is_done = false;
    thrown.attempt([&] {
        lane& mine = owner.lane_at(0);
        const lane_guard here(mine);
        mine.works = {};
        mine.system = {};
        mine.begin(0, 0);
        call();
        is_done = true;
    });
    ending.attempt([&] { owner.end_phase(is_done); });
    thrown.rethrow();  // takes precedence over an exception from `end_phase`
    ending.rethrow();
}

/// Calls the function. Unless `system` is empty, nests errors and standard exceptions, except
/// `std::bad_alloc`, in an error that names the system.
MUSTER_API void call_named(std::string_view system, void (*call)(void* function, payload given),
                           void* function, payload given);

}  // namespace MUSTER_NAMESPACE::detail
