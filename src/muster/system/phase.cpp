#include <muster/base/atomic_word.hpp>
#include <muster/base/error.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/storage/chunk_data.hpp>
#include <muster/system/phase.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
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

/// A thread is worth waking for what takes longer than this; and it takes rows for about as long at once,
/// so that asking for more costs nothing, and none is left alone with much at the end.
constexpr microseconds worth_a_thread{20};
constexpr microseconds part_at_most{100};

/// One work, and how far it has come.
class progress {
public:
    progress(shared_work& one, unsigned threads) : work(one) {
        if (work.rows.list == nullptr) {
            rows_ = 1;
            return;
        }
        const chunk_range& all = work.rows.chunks;
        for (chunk_data* const* at = all.begin(); at != all.end(); ++at) {
            begins_.push_back(rows_);
            rows_ += (*at)->size;
        }
        most_ = std::max<std::uint64_t>(1, rows_ / (8 * std::uint64_t{threads}));
        // No more at once than there are: what is taken is counted, and the count must not overflow.
        grain_.store_relaxed(
            work.grain != 0 ? std::min<std::uint64_t>(work.grain, std::max<std::uint64_t>(1, rows_))
                            : std::min<std::uint64_t>(64, most_));
    }
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// Whether the user says which rows are taken at once, and these are not all.
    [[nodiscard]] bool is_divided() const noexcept { return work.grain != 0 && work.grain < rows_; }
    /// The next rows, for one thread; false if there are none.
    bool take(std::uint64_t& first, std::uint64_t& last) noexcept {
        if (next_.load_relaxed() >= rows_) return false;
        const std::uint64_t count = grain_.load_relaxed();
        first = next_.fetch_add(count);
        last = std::min(rows_, first + count);
        return first < rows_;
    }
    [[nodiscard]] row_window window(std::uint64_t first, std::uint64_t last) const noexcept {
        if (work.rows.list == nullptr) return {};
        const auto chunk_of = [&](std::uint64_t row) {
            return std::upper_bound(begins_.begin(), begins_.end(), row) - begins_.begin() - 1;
        };
        const auto from = chunk_of(first);
        const auto to = chunk_of(last - 1);
        chunk_data* const* const all = work.rows.chunks.begin();
        return {work.rows.list, all + from, all + to + 1,
                static_cast<std::size_t>(first - begins_[static_cast<std::size_t>(from)]),
                static_cast<std::size_t>(last - begins_[static_cast<std::size_t>(to)])};
    }
    /// So many rows took so long. Who is alone may take as many again as it has seen to: that takes about as
    /// long as all before, and little work is done in few parts.
    void learn(clock::duration took, bool is_alone) noexcept {
        took_.fetch_add_relaxed(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()));
        if (work.grain != 0) return;
        const std::uint64_t now = grain_.load_relaxed();
        const std::uint64_t most = is_alone ? rows_ : most_;
        if (took < worth_a_thread && now < most)
            grain_.store_relaxed(std::min(now * 2, most));
        else if (took > part_at_most && now > 1)
            grain_.store_relaxed(now / 2);
    }

    /// From now on there are others.
    void share() noexcept {
        if (work.grain == 0) grain_.store_relaxed(std::min(grain_.load_relaxed(), most_));
    }

    void end() noexcept { work.took = took_.load(); }

    shared_work& work;

private:
    std::vector<std::uint64_t> begins_;  // the row that each chunk begins with
    std::uint64_t rows_ = 0;
    std::uint64_t most_ = 1;  // rows that are taken at once
    atomic_word<std::uint64_t> next_;
    atomic_word<std::uint64_t> grain_{1};
    atomic_word<std::uint64_t> took_;
};

class phase_run {
public:
    phase_run(const phase_host& host, executor& threads, std::span<shared_work> works)
        : host_(host), threads_(threads), count_(std::max(1u, threads.concurrency())) {
        for (shared_work& one : works) {
            works_.emplace_back(one, count_);
            is_divided_ = is_divided_ || works_.back().is_divided();
            accesses_.push_back({one.system, one.touched});
        }
    }

    void run() {
        host_.queries->refresh_all(host_.depth(host_.store) != 0);
        host_.begin(host_.store, count_);
        // Whatever is done before another thread could have begun is not worth one, unless the user says
        // how the rows are to be divided.
        is_alone_ = !is_divided_;
        const bool is_done = is_alone_ && attend(0, count_ == 1 ? clock::time_point::max()
                                                                : clock::now() + worth_a_thread);
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
    void call_all() {
        const executor::task task{[](void* self, unsigned index) noexcept {
                                      (void)static_cast<phase_run*>(self)->attend(
                                          index, clock::time_point::max());
                                  },
                                  this};
        for (progress& one : works_) one.share();
        first_error thrown;
        thrown.attempt([&] {
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
            std::uint64_t first = 0;
            std::uint64_t last = 0;
            while (!has_failed_.load_relaxed()) {
                if (now >= until) return false;
                if (!one.take(first, last)) break;
                see_to(mine, at, first, last);
                const auto before = std::exchange(now, clock::now());
                one.learn(now - before, is_alone_);
            }
        }
        return true;
    }
    void see_to(lane& mine, std::size_t at, std::uint64_t first, std::uint64_t last) noexcept {
        const progress& one = works_[at];
        first_error thrown;
        bool is_done = false;
        thrown.attempt([&] {
            mine.begin(static_cast<std::uint32_t>(at), first);
            mine.window = one.window(first, last);
            mine.system = one.work.system;
            call_named(one.work.system, one.work.call, one.work.function, one.work.given);
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
    std::deque<progress> works_;
    bool is_divided_ = false;  // by the user
    bool is_alone_ = false;    // the caller's thread, before the others are called
    std::vector<system_accesses> accesses_;
    bool has_ended_ = false;
    atomic_word<bool> has_failed_;
    std::mutex guard_;  // of what follows
    std::uint64_t failed_work_ = 0;
    std::uint64_t failed_row_ = 0;
    first_error failure_;
};

}  // namespace

void run_phase(const phase_host& host, executor& threads, std::span<shared_work> works) {
    phase_run(host, threads, works).run();
}

}  // namespace detail
}  // namespace muster
