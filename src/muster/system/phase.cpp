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

namespace muster {

executor::~executor() = default;

void sequential_executor::run(unsigned count, const task& work) {
    for (unsigned i = 0; i < count; ++i) work(i);
}

namespace detail {

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
        std::throw_with_nested(error(errc::system_failed,
                                     text("system \"", system, "\" has failed: ", caught.what())));
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

/// A thread is worth waking for what takes longer than this; and it takes rows for about as long at once,
/// so that asking for more costs nothing, and none is left alone with much at the end.
constexpr microseconds worth_a_thread{20};
constexpr microseconds part_at_most{100};

/// One work, and how far it has come.
class progress {
public:
    /// A chunk of the work's, and which row of all is its first.
    struct place {
        std::size_t chunk = 0;
        std::uint64_t begin = 0;
    };

    void begin(shared_work& one, unsigned threads) noexcept {
        work_ = &one;
        rows_ = one.rows.count();
        most_ = std::max<std::uint64_t>(1, rows_ / (8 * std::uint64_t{threads}));
        // No more at once than there are: what is taken is counted, and the count must not overflow.
        grain_.store_relaxed(
            one.grain != 0 ? std::min<std::uint64_t>(one.grain, std::max<std::uint64_t>(1, rows_))
                           : std::min<std::uint64_t>(64, most_));
    }

    [[nodiscard]] shared_work& work() const noexcept { return *work_; }
    /// Whether the user says which rows are taken at once, and these are not all.
    [[nodiscard]] bool is_divided() const noexcept {
        return work_->grain != 0 && work_->grain < rows_;
    }

    /// The next rows, for one thread; false if there are none.
    bool take(std::uint64_t& first, std::uint64_t& last) noexcept {
        if (next_.load_relaxed() >= rows_) return false;
        const std::uint64_t count = grain_.load_relaxed();
        first = next_.fetch_add(count);
        last = std::min(rows_, first + count);
        return first < rows_;
    }
    /// Of rows that a thread has taken; `at` is where those that it took before began.
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

    /// So many rows took so long.
    void learn(clock::duration took) noexcept {
        note(took);
        const std::uint64_t now = grain_.load_relaxed();
        if (work_->grain != 0) return;
        if (took < worth_a_thread && now < most_)
            grain_.store_relaxed(std::min(now * 2, most_));
        else if (took > part_at_most && now > 1)
            grain_.store_relaxed(now / 2);
    }
    /// The same for who is alone, and has so much time left: as many more as that seems enough for, so that
    /// little work is done in few parts.
    void learn_alone(clock::duration took, clock::duration left) noexcept {
        note(took);
        const std::uint64_t now = grain_.load_relaxed();
        const double fits =
            std::chrono::duration<double>(left) / std::max(took, clock::duration(1));
        if (work_->grain == 0 && fits > 1)
            grain_.store_relaxed(std::min(
                static_cast<std::uint64_t>(static_cast<double>(now) * std::min(fits, 8.0)), rows_));
    }

    /// From now on there are others.
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
    std::uint64_t most_ = 1;  // rows that are taken at once, when there are others
    atomic_word<std::uint64_t> next_;
    atomic_word<std::uint64_t> grain_{1};
    atomic_word<std::uint64_t> took_;
};

class phase_run {
public:
    phase_run(const phase_host& host, executor& threads, std::span<shared_work> works,
              std::span<progress> all, std::span<system_accesses> accesses)
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
        host_.queries->refresh_all(host_.depth(host_.store) != 0);
        host_.begin(host_.store);
        // Whatever is done before another thread could have begun is not worth one, unless it is known to
        // take longer, or the user says how the rows are to be divided. Nor is the little that is left of
        // what takes as long as was expected.
        const nanoseconds known = expected();
        is_alone_ =
            known <= 2 * worth_a_thread && std::ranges::none_of(works_, &progress::is_divided);
        const bool is_done =
            is_alone_ && attend(0, count_ == 1 ? clock::time_point::max()
                                               : clock::now() + known + worth_a_thread);
        is_alone_ = false;
        if (!is_done) call_all();
        for (progress& one : works_) one.end();
        const bool is_kept = !has_failed_.load();
        first_error ending;
        ending.attempt([&] { host_.end(host_.store, is_kept); });
        failure_.rethrow();  // whose end is less of interest
        ending.rethrow();
    }

private:
    /// How long all of it will take, on one thread; 0: not known.
    [[nodiscard]] nanoseconds expected() const noexcept {
        std::uint64_t sum = 0;
        for (const progress& one : works_) sum += one.work().expected;
        return nanoseconds(sum);
    }

    void call_all() {
        const executor::task task{[](void* self, unsigned index) noexcept {
                                      (void)static_cast<phase_run*>(self)->attend(
                                          index, clock::time_point::max());
                                  },
                                  this};
        for (progress& one : works_) one.share();
        first_error thrown;
        thrown.attempt([&] {
            host_.share(host_.store, count_);
            threads_.run(count_, task);
            has_ended_ = true;
        });
        if (!has_ended_) note_failure(~std::uint64_t{0}, 0, thrown);
    }

    /// Takes rows until there are none, or it is late; false if some are left.
    bool attend(unsigned index, clock::time_point until) noexcept {
        lane& mine = host_.lane_at(host_.store, index);
        const lane_guard here(mine);
        mine.works = accesses_;
        auto now = clock::now();
        for (std::size_t at = 0; at < works_.size(); ++at) {
            progress& one = works_[at];
            progress::place place;
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            while (!has_failed_.load_relaxed()) {
                if (now >= until) return false;
                if (!one.take(first, last)) break;
                see_to(mine, at, one.window(place, first, last), first);
                const auto before = std::exchange(now, clock::now());
                if (is_alone_)
                    one.learn_alone(now - before, until - now);
                else
                    one.learn(now - before);
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
    /// The first in the order of the rows is kept; all threads stop.
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
    const std::span<progress> works_;
    const std::span<const system_accesses> accesses_;
    bool is_alone_ = false;  // the caller's thread, before the others are called
    bool has_ended_ = false;
    atomic_word<bool> has_failed_;
    std::mutex guard_;  // of what follows
    std::uint64_t failed_work_ = 0;
    std::uint64_t failed_row_ = 0;
    first_error failure_;
};

}  // namespace

void run_phase(const phase_host& host, executor& threads, std::span<shared_work> works) {
    if (works.size() == 1) {  // most often, and worth no memory
        progress only;
        system_accesses touched;
        return phase_run(host, threads, works, {&only, 1}, {&touched, 1}).run();
    }
    std::vector<progress> all(works.size());
    std::vector<system_accesses> touched(works.size());
    phase_run(host, threads, works, all, touched).run();
}

}  // namespace detail
}  // namespace muster
