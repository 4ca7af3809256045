#include <muster/base/atomic_word.hpp>
#include <muster/base/error.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/storage/chunk_data.hpp>
#include <muster/system/phase.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE {

executor::~executor() = default;

void sequential_executor::run(unsigned count, const task& work) {
    for (unsigned i = 0; i < count; ++i) work(i);
}

}  // namespace MUSTER_NAMESPACE

namespace MUSTER_NAMESPACE::detail {

void call_named(std::string_view system, void (*call)(void* function, payload given),
                void* function, payload given) {
#if MUSTER_EXCEPTIONS
    if (system.empty()) return call(function, given);
    try {
        call(function, given);
    } catch (const error& caught) {
        std::throw_with_nested(
            error(caught.code(), text("system \"", system, "\": ", caught.what())));
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& caught) {
        std::throw_with_nested(
            error(errc::system_failed, text("system \"", system, "\" failed: ", caught.what())));
    }
#else
    (void)system;
    call(function, given);
#endif
}

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

/// Work that takes longer than `worth_a_thread` is worth waking a thread. A thread takes rows for a
/// time between the two limits: long enough that taking rows costs little, short enough that all
/// threads finish together.
constexpr microseconds worth_a_thread{20};
constexpr microseconds part_at_most{100};

/// The progress of one work item: the rows that were taken, and the time they took.
class progress {
public:
    /// A chunk of the work item, and the number of its first row among all rows.
    struct place {
        std::size_t chunk = 0;
        std::uint64_t begin = 0;
    };

    void begin(shared_work& work, unsigned threads) noexcept {
        work_ = &work;
        rows_ = work.rows.count();
        unit_ = work.rows.unit;
        units_ = (rows_ + unit_ - 1) / unit_;
        most_ = std::max<std::uint64_t>(1, units_ / (8 * std::uint64_t{threads}));
        // Limits the grain to the number of rows: `take` adds it to a counter, which must not
        // overflow.
        grain_.store_relaxed(
            work.grain != 0
                ? std::min<std::uint64_t>(work.grain, std::max<std::uint64_t>(1, units_))
                : std::min<std::uint64_t>(std::max<std::uint64_t>(1, 64 / unit_), most_));
    }

    [[nodiscard]] shared_work& work() const noexcept { return *work_; }
    /// Whether the user has set a grain that divides the rows.
    [[nodiscard]] bool is_divided() const noexcept {
        return work_->grain != 0 && work_->grain < rows_;
    }

    /// Takes the next rows for one thread. Returns false if there are none.
    bool take(std::uint64_t& first, std::uint64_t& last) noexcept {
        if (next_.load_relaxed() >= rows_) return false;
        const std::uint64_t count = grain_.load_relaxed() * unit_;
        first = next_.fetch_add(count);
        last = std::min(rows_, first + count);
        return first < rows_;
    }
    /// Returns the window of rows that a thread has taken. `at` is the start of its previous
    /// window.
    [[nodiscard]] row_window window(place& at, std::uint64_t first,
                                    std::uint64_t last) const noexcept {
        if (work_->rows.list == nullptr) return {};
        chunk_data* const* const all = work_->rows.chunks.begin();
        const auto seek = [all](place& from, std::uint64_t row) {
            for (; row >= from.begin + all[from.chunk]->size; ++from.chunk)
                from.begin += all[from.chunk]->size;
        };
        seek(at, first);
        place end = at;
        seek(end, last - 1);
        return {work_->rows.list, all + at.chunk, all + end.chunk + 1,
                static_cast<std::size_t>(first - at.begin),
                static_cast<std::size_t>(last - end.begin)};
    }

    /// Records how long a part took, and adapts the grain.
    void learn(clock::duration took) noexcept {
        note(took);
        const std::uint64_t now = grain_.load_relaxed();
        if (work_->grain != 0) return;
        if (took < worth_a_thread && now < most_)
            grain_.store_relaxed(std::min(now * 2, most_));
        else if (took > part_at_most && now > 1)
            grain_.store_relaxed(now / 2);
    }
    /// Like `learn`, for a single thread with the time `left`. Enlarges the grain to what should
    /// fit, so that short work takes few parts.
    void learn_single_threaded(clock::duration took, clock::duration left) noexcept {
        note(took);
        const std::uint64_t now = grain_.load_relaxed();
        const double fits =
            std::chrono::duration<double>(left) / std::max(took, clock::duration(1));
        if (work_->grain == 0 && fits > 1)
            grain_.store_relaxed(
                std::min(static_cast<std::uint64_t>(static_cast<double>(now) * std::min(fits, 8.0)),
                         units_));
    }

    /// Limits the grain, because more threads join.
    void share() noexcept {
        if (work_->grain == 0) grain_.store_relaxed(std::min(grain_.load_relaxed(), most_));
    }

    void end() noexcept { work_->took = took_.load(); }

private:
    void note(clock::duration took) noexcept {
        took_.fetch_add_relaxed(
            static_cast<std::uint64_t>(std::chrono::duration_cast<nanoseconds>(took).count()));
    }

    shared_work* work_ = nullptr;
    std::uint64_t rows_ = 0;
    std::uint64_t unit_ = 1;   // rows in a unit
    std::uint64_t units_ = 0;  // the grain is a number of units
    std::uint64_t most_ = 1;   // the largest grain while several threads work
    atomic_word<std::uint64_t> next_;
    atomic_word<std::uint64_t> grain_{1};
    atomic_word<std::uint64_t> took_;
};

class phase_run {
public:
    phase_run(const phase_host& host, executor& threads, slice<shared_work> works,
              slice<progress> all, slice<system_accesses> accesses)
        : host_(host),
          threads_(threads),
          count_(std::max(1u, threads.concurrency())),
          works_(all),
          accesses_(accesses) {
        for (std::size_t i = 0; i < works.size(); ++i) {
            all[i].begin(works[i], count_);
            accesses[i] = {works[i].system, works[i].touched};
        }
    }

    void run() {
        host_.queries->refresh_all(host_.depth(host_.world) != 0);
        host_.begin(host_.world);
        // Work that ends before another thread could start is not worth waking one. So this thread
        // starts alone, unless the work is expected to take longer or the user has set a grain. The
        // deadline includes the expected time, so that a small remainder does not wake threads.
        const nanoseconds known = expected();
        is_single_threaded_ =
            known <= 2 * worth_a_thread && std::ranges::none_of(works_, &progress::is_divided);
        const bool is_done =
            is_single_threaded_ && attend(0, count_ == 1 ? clock::time_point::max()
                                                         : clock::now() + known + worth_a_thread);
        is_single_threaded_ = false;
        if (!is_done) call_all();
        for (progress& item : works_) item.end();
        const bool is_kept = !has_failed_.load();
        first_error ending;
        ending.attempt([&] { host_.end(host_.world, is_kept); });
        failure_.rethrow();  // takes precedence over an exception from `end`
        ending.rethrow();
    }

private:
    /// The expected time of all work items on one thread; 0: unknown.
    [[nodiscard]] nanoseconds expected() const noexcept {
        std::uint64_t sum = 0;
        for (const progress& item : works_) sum += item.work().expected;
        return nanoseconds(sum);
    }

    void call_all() {
        const executor::task task{[](void* self, unsigned index) noexcept {
                                      (void)static_cast<phase_run*>(self)->attend(
                                          index, clock::time_point::max());
                                  },
                                  this};
        for (progress& item : works_) item.share();
        first_error thrown;
        thrown.attempt([&] {
            host_.share(host_.world, count_);
            threads_.run(count_, task);
            has_ended_ = true;
        });
        if (!has_ended_) note_failure(~std::uint64_t{0}, 0, thrown);
    }

    /// Processes rows until none are left or `until` has passed. Returns false if it ran out of
    /// time.
    bool attend(unsigned index, clock::time_point until) noexcept {
        lane& mine = host_.lane_at(host_.world, index);
        const lane_guard here(mine);
        mine.works = accesses_;
        auto now = clock::now();
        for (std::size_t at = 0; at < works_.size(); ++at) {
            progress& item = works_[at];
            progress::place place;
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            while (!has_failed_.load_relaxed()) {
                if (now >= until) return false;
                if (!item.take(first, last)) break;
                see_to(mine, at, item.window(place, first, last), first);
                const auto before = std::exchange(now, clock::now());
                if (is_single_threaded_)
                    item.learn_single_threaded(now - before, until - now);
                else
                    item.learn(now - before);
            }
        }
        return true;
    }
    void see_to(lane& mine, std::size_t at, const row_window& rows, std::uint64_t first) noexcept {
        const shared_work& work = works_[at].work();
        first_error thrown;
        bool is_done = false;
        thrown.attempt([&] {
            mine.begin(static_cast<std::uint32_t>(at), first);
            mine.window = rows;
            mine.system = work.system;
            call_named(work.system, work.call, work.function, work.given);
            is_done = true;
        });
        mine.window = {};
        if (!is_done) note_failure(at, first, thrown);
    }
    /// Keeps the failure that is first in row order, and stops all threads.
    void note_failure(std::uint64_t work, std::uint64_t row, first_error& thrown) noexcept {
        const std::lock_guard lock(guard_);
        if (!has_failed_.load() || work < failed_work_ ||
            (work == failed_work_ && row < failed_row_)) {
            failed_work_ = work;
            failed_row_ = row;
            std::swap(failure_, thrown);
        }
        has_failed_.store(true);
    }

    const phase_host& host_;
    executor& threads_;
    const unsigned count_;
    const slice<progress> works_;
    const slice<const system_accesses> accesses_;
    bool is_single_threaded_ = false;  // only the calling thread has started
    bool has_ended_ = false;
    atomic_word<bool> has_failed_;
    std::mutex guard_;  // guards the members below
    std::uint64_t failed_work_ = 0;
    std::uint64_t failed_row_ = 0;
    first_error failure_;
};

}  // namespace

void run_phase(const phase_host& host, executor& threads, slice<shared_work> works) {
    if (works.size() == 1) {  // the usual case: needs no allocation
        progress only;
        system_accesses touched;
        return phase_run(host, threads, works, {&only, 1}, {&touched, 1}).run();
    }
    std::vector<progress> all(works.size());
    std::vector<system_accesses> touched(works.size());
    phase_run(host, threads, works, all, touched).run();
}

}  // namespace MUSTER_NAMESPACE::detail
