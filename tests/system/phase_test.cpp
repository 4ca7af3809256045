#include <muster/base/error.hpp>
#include <muster/id/layout.hpp>
#include <muster/system/phase.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/thread_executor.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using muster_tests::thread_executor;
using log_lines = std::vector<std::string>;

/// Keeps the thread busy for at least so long.
void spin(std::chrono::microseconds least) {
    const auto end = std::chrono::steady_clock::now() + least;
    while (std::chrono::steady_clock::now() < end) {
    }
}

/// The text of the exception that `call` throws; "nothing" if it throws none.
template <class Call>
std::string thrown_by(Call call) {
    try {
        call();
    } catch (const std::exception& caught) {
        return caught.what();
    } catch (...) {
        return "something else";
    }
    return "nothing";
}

/// The world of a phase: notes what it is asked to do, and fails where it is told to.
class fake_world {
public:
    void begin_phase() { step("begin"); }
    void share_phase(std::size_t lanes) {
        step("share " + std::to_string(lanes));
        while (lanes_.size() < lanes) add_lane();
    }
    lane& lane_at(std::size_t index) { return *lanes_.at(index); }
    void end_phase(bool is_kept) { step(is_kept ? "keep" : "drop"); }
    [[nodiscard]] std::uint32_t depth() const { return depth_; }

    void fail_at(const std::string& line) { failing_ = line; }
    void set_depth(std::uint32_t depth) { depth_ = depth; }
    void note(const std::string& line) { log_.push_back(line); }
    [[nodiscard]] const log_lines& log() const { return log_; }
    void forget_log() { log_.clear(); }
    [[nodiscard]] std::size_t lane_count() const { return lanes_.size(); }

    std::function<void()> on_begin = [] {};

    fake_world() { add_lane(); }

private:
    void add_lane() {
        lanes_.push_back(std::make_unique<lane>());
        lanes_.back()->store = this;
    }
    void step(const std::string& line) {
        note(line);
        if (line == "begin") on_begin();
        if (line == failing_) throw std::runtime_error(line + " failed");
    }

    std::vector<std::unique_ptr<lane>> lanes_;
    log_lines log_;
    std::string failing_;
    std::uint32_t depth_ = 0;
};

/// Says that it has several threads, and runs their tasks as a test wants it.
class fake_executor final : public executor {
public:
    using how = std::function<void(unsigned count, const task& work)>;

    explicit fake_executor(fake_world& owner, unsigned count, how runs = in_order)
        : owner_(owner), count_(count), runs_(std::move(runs)) {}
    [[nodiscard]] unsigned concurrency() const noexcept override { return count_; }
    void run(unsigned count, const task& work) override {
        owner_.note("run " + std::to_string(count));
        runs_(count, work);
    }

    static void in_order(unsigned count, const task& work) {
        for (unsigned i = 0; i < count; ++i) work(i);
    }
    static void backwards(unsigned count, const task& work) {
        for (unsigned i = count; i-- != 0;) work(i);
    }

private:
    fake_world& owner_;
    unsigned count_;
    how runs_;
};

/// Some rows of one work item.
struct part {
    std::uint64_t first;
    std::uint64_t count;
    friend bool operator==(const part&, const part&) = default;
    friend void PrintTo(const part& rows, std::ostream* out) {
        *out << rows.first << " +" << rows.count;
    }
};
using part_list = std::vector<part>;

/// Chunks of these sizes; nothing else of them matters.
class fake_rows {
public:
    explicit fake_rows(const std::vector<std::size_t>& sizes) {
        for (const std::size_t size : sizes) {
            owned_.push_back(std::make_unique<chunk_data>());
            owned_.back()->size = size;
            chunks_.push_back(owned_.back().get());
        }
    }
    [[nodiscard]] shared_rows shared() {
        return {&list_, {chunks_.data(), chunks_.data() + chunks_.size(), true}};
    }
    /// The rows of a window among all rows.
    [[nodiscard]] part rows_in(const row_window& window) const {
        EXPECT_EQ(window.list, &list_);
        const auto begin = window.first - chunks_.data();
        const auto end = window.last - chunks_.data();
        if (begin < 0 || begin >= end || end > static_cast<std::ptrdiff_t>(chunks_.size())) {
            ADD_FAILURE() << "a window from chunk " << begin << " to " << end;
            return {};
        }
        EXPECT_LT(window.from, (*window.first)->size);
        EXPECT_LE(window.to, window.last[-1]->size);
        EXPECT_GT(window.to, 0u);
        std::uint64_t before = 0;  // rows before the first chunk, and before the last
        std::uint64_t before_last = 0;
        for (std::ptrdiff_t i = 0; i < end - 1; ++i) {
            const std::size_t size = chunks_[static_cast<std::size_t>(i)]->size;
            before += i < begin ? size : 0;
            before_last += size;
        }
        return {before + window.from, before_last + window.to - before - window.from};
    }

private:
    match_list list_;
    std::vector<std::unique_ptr<chunk_data>> owned_;
    std::vector<chunk_data*> chunks_;
};

class phase_of : public testing::Test {
protected:
    using function = std::function<void()>;

    fake_world world;
    fragment_table fragments;
    chunk_graph graph{type_info_of<std::uint64_t>, 100, 100};
    sparse_table sparse{sparse_set::id_shape::of<layouts::bound>()};
    query_cache queries{fragments, graph, sparse};
    std::mutex guard;

    static shared_work work_of(function& body) {
        return {[](void* called, payload) { (*static_cast<function*>(called))(); }, &body};
    }
    static shared_work work_of(function& body, fake_rows& rows, std::size_t grain = 0) {
        shared_work made = work_of(body);
        made.rows = rows.shared();
        made.grain = grain;
        return made;
    }
    /// Longer than what one thread does alone.
    static constexpr std::uint64_t long_time = 40'001;

    void run(executor& threads, std::span<shared_work> works) {
        run_phase(phase_host::of(world, queries), threads, works);
    }
    void run(executor& threads, shared_work& work) { run(threads, {&work, 1}); }

    lane& this_lane() {
        lane* const found = find_lane(&world);
        if (found == nullptr) throw std::logic_error("this thread has no lane");
        return *found;
    }
    /// Notes the rows of each part.
    function collect(const fake_rows& rows, part_list& parts) {
        return [this, &rows, &parts] {
            const part taken = rows.rows_in(this_lane().window);
            const std::lock_guard lock(guard);
            parts.push_back(taken);
        };
    }
};

/// All rows up to `count`, in parts that stand in order once they are sorted.
void expect_complete(part_list parts, std::uint64_t count) {
    std::ranges::sort(parts, {}, &part::first);
    std::uint64_t next = 0;
    for (const part& taken : parts) {
        ASSERT_EQ(taken.first, next);
        ASSERT_GT(taken.count, 0u);
        next += taken.count;
    }
    ASSERT_EQ(next, count);
}

// ---- the course of a phase -----------------------------------------------------------------------

TEST_F(phase_of, begins_calls_and_ends) {
    function body = [&] { world.note("call"); };
    shared_work work = work_of(body);
    sequential_executor alone;
    run(alone, work);
    EXPECT_EQ(world.log(), (log_lines{"begin", "call", "keep"}));
}

TEST_F(phase_of, work_without_rows_to_divide_is_called_once_without_a_window) {
    int calls = 0;
    function body = [&] {
        ++calls;
        EXPECT_EQ(this_lane().window.list, nullptr);
    };
    shared_work work = work_of(body);
    work.grain = 1;
    work.expected = long_time;
    fake_executor threads(world, 3);
    run(threads, work);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(world.log(), (log_lines{"begin", "share 3", "run 3", "keep"}));
}

TEST_F(phase_of, a_phase_without_work_begins_and_ends) {
    fake_executor threads(world, 3);
    run(threads, std::span<shared_work>());
    EXPECT_EQ(world.log(), (log_lines{"begin", "keep"}));
}

TEST_F(phase_of, work_is_done_in_its_order) {
    fake_rows rows({5});
    std::vector<function> bodies;
    for (int i = 0; i < 3; ++i)
        bodies.push_back([this, i] { world.note("work " + std::to_string(i)); });
    shared_work works[] = {work_of(bodies[0]), work_of(bodies[1], rows, 5), work_of(bodies[2])};
    sequential_executor alone;
    run(alone, works);
    EXPECT_EQ(world.log(), (log_lines{"begin", "work 0", "work 1", "work 2", "keep"}));
}

TEST_F(phase_of, the_lane_tells_what_its_thread_does) {
    fake_rows rows({10});
    const access touched[] = {{type_index{7}, true, "position"}};
    int calls = 0;
    function body = [&] {
        const lane& mine = this_lane();
        EXPECT_EQ(&mine, &world.lane_at(0));
        EXPECT_EQ(mine.work, 1u);
        EXPECT_EQ(mine.system, "mover");
        ASSERT_EQ(mine.works.size(), 2u);
        EXPECT_EQ(mine.works[0].system, "");
        EXPECT_TRUE(mine.works[0].touched.empty());
        EXPECT_EQ(mine.works[1].system, "mover");
        EXPECT_EQ(mine.works[1].touched.data(), touched);
        ++calls;
    };
    function first = [] {};
    shared_work works[] = {work_of(first), work_of(body, rows)};
    works[1].system = "mover";
    works[1].touched = touched;
    sequential_executor alone;
    run(alone, works);
    EXPECT_GT(calls, 0);
    EXPECT_EQ(find_lane(&world), nullptr);
    EXPECT_EQ(world.lane_at(0).window.list, nullptr);
}

TEST_F(phase_of, the_function_receives_its_payload) {
    struct receiver {
        payload given;
    };
    receiver target;
    const int value = 5;
    const payload_value values[] = {payload_of(value)};
    shared_work work{
        [](void* called, payload given) { static_cast<receiver*>(called)->given = given; }, &target,
        values};
    sequential_executor alone;
    run(alone, work);
    EXPECT_EQ(target.given.data(), values);
    EXPECT_EQ(target.given.size(), 1u);
}

TEST_F(phase_of, changes_are_marked_with_the_rows_that_caused_them) {
    fake_rows rows({10});
    function quiet = [] {};
    function body = [&] { this_lane().changes.add(change_kind::destroy, 1); };
    shared_work works[] = {work_of(quiet), work_of(body, rows, 4)};
    sequential_executor alone;
    run(alone, works);
    const lane& mine = world.lane_at(0);
    ASSERT_EQ(mine.marks.size(), 3u);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(mine.marks[i].work, 1u);
        EXPECT_EQ(mine.marks[i].row, 4u * i);
        EXPECT_EQ(mine.marks[i].first, i);
    }
}

TEST_F(phase_of, all_lists_are_up_to_date_when_it_begins) {
    match_list& list = queries.ensure({});
    fragment_data* const fragment = &fragments.add(type_index{1}, type_info_of<int>, 1);
    graph.ensure({&fragment, 1});
    std::size_t seen = 0;
    world.on_begin = [&] { seen = list.seen; };
    function body = [] {};
    shared_work work = work_of(body);
    sequential_executor alone;
    run(alone, work);
    EXPECT_EQ(seen, 2u);
}

TEST_F(phase_of, loops_around_the_phase_keep_their_chunks) {
    match_list& list = queries.ensure({});
    fragment_data* const first = &fragments.add(type_index{1}, type_info_of<int>, 1);
    fragment_data* const second = &fragments.add(type_index{2}, type_info_of<int>, 2);
    graph.ensure({&first, 1});
    const chunk_range outer = queries.read(list, false);
    graph.ensure({&second, 1});
    world.set_depth(1);
    function body = [] {};
    shared_work work = work_of(body);
    sequential_executor alone;
    run(alone, work);
    EXPECT_EQ(list.chunks.size(), 2u);
    EXPECT_EQ(outer.end() - outer.begin(), 1);
    EXPECT_EQ(*outer.begin(), graph.all()[1]);
    EXPECT_NE(outer.begin(), list.chunks.data());
}

// ---- dividing rows -------------------------------------------------------------------------------

TEST_F(phase_of, rows_are_divided_by_the_grain_across_chunks) {
    fake_rows rows({10, 0, 3, 1, 0, 0, 12});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows, 4);
    sequential_executor alone;
    run(alone, work);
    EXPECT_EQ(parts, (part_list{{0, 4}, {4, 4}, {8, 4}, {12, 4}, {16, 4}, {20, 4}, {24, 2}}));
}

TEST_F(phase_of, a_grain_of_one_takes_each_row_by_itself) {
    fake_rows rows({0, 2, 0, 1, 2, 0});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows, 1);
    fake_executor threads(world, 2);
    run(threads, work);
    EXPECT_EQ(parts, (part_list{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}));
}

TEST_F(phase_of, a_grain_beyond_the_rows_takes_them_at_once) {
    for (const std::size_t grain :
         {std::size_t{7}, std::size_t{8}, std::numeric_limits<std::size_t>::max()}) {
        fake_rows rows({3, 4});
        part_list parts;
        function body = collect(rows, parts);
        shared_work work = work_of(body, rows, grain);
        work.expected = long_time;
        fake_executor threads(world, 4);
        run(threads, work);
        EXPECT_EQ(parts, (part_list{{0, 7}})) << grain;
    }
}

TEST_F(phase_of, work_whose_chunks_are_empty_is_not_called) {
    for (const std::size_t grain : {0u, 1u, 100u}) {
        for (const std::uint64_t expected : {std::uint64_t{0}, long_time}) {
            fake_rows rows({0, 0});
            fake_rows none({});
            int calls = 0;
            function body = [&] { ++calls; };
            shared_work works[] = {work_of(body, rows, grain), work_of(body, none, grain)};
            works[0].expected = expected;
            fake_executor threads(world, 2);
            run(threads, works);
            EXPECT_EQ(calls, 0);
            EXPECT_EQ(works[0].took, 0u);
        }
    }
}

TEST_F(phase_of, one_thread_takes_eight_times_as_many_rows_from_part_to_part) {
    fake_rows rows({10'000});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows);
    sequential_executor alone;
    run(alone, work);
    EXPECT_EQ(parts, (part_list{{0, 64}, {64, 512}, {576, 4096}, {4672, 5328}}));
    EXPECT_EQ(world.log(), (log_lines{"begin", "keep"}));  // nobody else was called
}

TEST_F(phase_of, one_thread_begins_with_an_eighth_of_few_rows) {
    fake_rows rows({160});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows);
    sequential_executor alone;
    run(alone, work);
    EXPECT_EQ(parts, (part_list{{0, 20}, {20, 140}}));
}

TEST_F(phase_of, one_thread_does_all_rows_however_long_they_take) {
    fake_rows rows({160});
    part_list parts;
    function collected = collect(rows, parts);
    function body = [&] {
        collected();
        spin(std::chrono::microseconds(50));
    };
    shared_work work = work_of(body, rows);
    fake_executor threads(world, 1);
    run(threads, work);
    EXPECT_EQ(world.log(), (log_lines{"begin", "keep"}));
    expect_complete(parts, 160);
}

TEST_F(phase_of, few_rows_begin_with_an_eighth_of_the_share_of_a_thread) {
    fake_rows rows({160});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows);
    work.expected = long_time;
    fake_executor threads(world, 4);
    run(threads, work);
    EXPECT_EQ(parts[0], (part{0, 5}));
    for (const part& taken : parts) EXPECT_LE(taken.count, 5u);
    expect_complete(parts, 160);
}

TEST_F(phase_of, parts_that_take_long_become_smaller) {
    fake_rows rows({600});
    part_list parts;
    function collected = collect(rows, parts);
    function body = [&] {
        collected();
        if (parts.size() <= 8) spin(std::chrono::microseconds(101));
    };
    shared_work work = work_of(body, rows);
    work.expected = long_time;
    fake_executor threads(world, 1);
    run(threads, work);
    std::vector<std::uint64_t> counts;
    for (std::size_t i = 0; i < 8; ++i) counts.push_back(parts[i].count);
    EXPECT_EQ(counts, (std::vector<std::uint64_t>{64, 32, 16, 8, 4, 2, 1, 1}));
    expect_complete(parts, 600);
}

TEST_F(phase_of, parts_that_are_quick_become_larger_up_to_an_eighth_of_the_share_of_a_thread) {
    fake_rows rows({800'000, 800'000});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows);
    work.expected = long_time;
    fake_executor threads(world, 2);
    run(threads, work);
    std::uint64_t largest = 0;
    for (const part& taken : parts) largest = std::max(largest, taken.count);
    EXPECT_EQ(parts[0].count, 64u);
    EXPECT_EQ(largest, 100'000u);
    expect_complete(parts, 1'600'000);
}

TEST_F(phase_of, a_grain_of_the_user_stays_as_it_is) {
    fake_rows rows({100});
    part_list parts;
    function collected = collect(rows, parts);
    function body = [&] {
        collected();
        if (parts.size() % 2 == 0) spin(std::chrono::microseconds(101));
    };
    shared_work work = work_of(body, rows, 10);
    sequential_executor alone;
    run(alone, work);
    ASSERT_EQ(parts.size(), 10u);
    for (const part& taken : parts) EXPECT_EQ(taken.count, 10u);
}

TEST_F(phase_of, each_work_item_is_divided_by_itself) {
    fake_rows rows({100});
    part_list first_parts;
    part_list second_parts;
    function first = collect(rows, first_parts);
    function second = collect(rows, second_parts);
    shared_work works[] = {work_of(first, rows, 30), work_of(second, rows, 50)};
    fake_executor threads(world, 2);
    run(threads, works);
    EXPECT_EQ(first_parts, (part_list{{0, 30}, {30, 30}, {60, 30}, {90, 10}}));
    EXPECT_EQ(second_parts, (part_list{{0, 50}, {50, 50}}));
}

// ---- who is called -------------------------------------------------------------------------------

TEST_F(phase_of, rows_that_the_user_divides_are_for_all_threads) {
    fake_rows rows({2});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows, 1);
    fake_executor threads(world, 3);
    run(threads, work);
    EXPECT_EQ(world.log(), (log_lines{"begin", "share 3", "run 3", "keep"}));
    EXPECT_EQ(world.lane_count(), 3u);
    EXPECT_EQ(parts.size(), 2u);
}

TEST_F(phase_of, work_that_is_known_to_be_long_is_for_all_threads) {
    function body = [&] { world.note("call"); };
    shared_work works[] = {work_of(body), work_of(body)};
    works[0].expected = 40'000;
    works[1].expected = 1;
    fake_executor threads(world, 2);
    run(threads, works);
    EXPECT_EQ(world.log(), (log_lines{"begin", "share 2", "run 2", "call", "call", "keep"}));
}

TEST_F(phase_of, work_that_is_known_to_be_short_wakes_nobody) {
    function body = [&] { world.note("call"); };
    // A machine that is busy may take longer than expected.
    for (int attempt = 0; attempt < 200; ++attempt) {
        world.forget_log();
        shared_work works[] = {work_of(body), work_of(body)};
        works[0].expected = 39'999;
        works[1].expected = 1;
        fake_executor threads(world, 2);
        run(threads, works);
        ASSERT_EQ(world.log()[1], "call");  // before anybody else
        if (world.log() == log_lines{"begin", "call", "call", "keep"}) return;
    }
    ADD_FAILURE() << "others were always woken";
}

TEST_F(phase_of, work_that_takes_longer_than_expected_wakes_the_others_for_the_rest) {
    fake_rows rows({100'000});
    part_list parts;
    function collected = collect(rows, parts);
    function body = [&] {
        world.note("call");
        collected();
        // The first parts are quick, so that they become larger; the third comes too late.
        if (parts.size() == 3) spin(std::chrono::microseconds(70));
    };
    shared_work work = work_of(body, rows);
    work.expected = 40'000;
    fake_executor threads(world, 4);
    run(threads, work);
    expect_complete(parts, 100'000);
    const auto shared = std::ranges::find(world.log(), "share 4");
    ASSERT_NE(shared, world.log().end());
    const auto before = static_cast<std::size_t>(std::count(world.log().begin(), shared, "call"));
    EXPECT_GE(before, 1u);
    EXPECT_LE(before, 3u);
    EXPECT_GT(parts.size(), before);
    // From now on, no part is larger than an eighth of the share of a thread.
    for (std::size_t i = before; i < parts.size(); ++i) EXPECT_LE(parts[i].count, 3125u);
}

TEST_F(phase_of, an_executor_without_threads_has_the_one_that_calls) {
    fake_rows rows({3});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows, 1);
    fake_executor threads(world, 0);
    run(threads, work);
    EXPECT_EQ(world.log(), (log_lines{"begin", "share 1", "run 1", "keep"}));
    expect_complete(parts, 3);
}

TEST_F(phase_of, the_order_of_the_tasks_does_not_matter) {
    fake_rows rows({50, 50});
    part_list parts;
    function body = collect(rows, parts);
    shared_work work = work_of(body, rows, 7);
    fake_executor threads(world, 5, fake_executor::backwards);
    run(threads, work);
    expect_complete(parts, 100);
}

TEST_F(phase_of, each_task_uses_the_lane_with_its_number) {
    fake_rows rows({4});
    std::vector<const lane*> lanes;
    std::function<void()> next = [] {};
    function body = [&] {
        lanes.push_back(&this_lane());
        std::exchange(next, [] {})();
    };
    shared_work work = work_of(body, rows, 1);
    // The second task runs while the first is in its part, and takes all that is left.
    fake_executor threads(world, 2, [&](unsigned, const executor::task& task) {
        next = [&task] { task(1); };
        task(0);
    });
    run(threads, work);
    ASSERT_EQ(lanes.size(), 4u);
    EXPECT_EQ(lanes[0], &world.lane_at(0));
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(lanes[i], &world.lane_at(1));
}

// ---- how long it took ----------------------------------------------------------------------------

TEST_F(phase_of, measures_each_work_item_on_all_threads_together) {
    fake_rows rows({4});
    function slow = [] { spin(std::chrono::microseconds(300)); };
    function slower = [] { spin(std::chrono::microseconds(2000)); };
    shared_work works[] = {work_of(slow, rows, 1), work_of(slower)};
    fake_executor threads(world, 3);
    const auto before = std::chrono::steady_clock::now();
    run(threads, works);
    const std::chrono::nanoseconds all = std::chrono::steady_clock::now() - before;
    EXPECT_GE(works[0].took, 1'200'000u);
    EXPECT_GE(works[1].took, 2'000'000u);
    EXPECT_LE(works[0].took + works[1].took, static_cast<std::uint64_t>(all.count()));
}

TEST_F(phase_of, measures_work_of_one_thread) {
    function slow = [] { spin(std::chrono::microseconds(300)); };
    shared_work work = work_of(slow);
    sequential_executor alone;
    run(alone, work);
    EXPECT_GE(work.took, 300'000u);
}

// ---- failures ------------------------------------------------------------------------------------

TEST_F(phase_of, an_exception_stops_the_phase_and_drops_its_changes) {
    fake_rows rows({100});
    int calls = 0;
    function body = [&] {
        if (++calls == 3) throw std::runtime_error("failed");
    };
    function later = [&] { world.note("later"); };
    shared_work works[] = {work_of(body, rows, 10), work_of(later)};
    fake_executor threads(world, 3);
    EXPECT_EQ(thrown_by([&] { run(threads, works); }), "failed");
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(world.log(), (log_lines{"begin", "share 3", "run 3", "drop"}));
    EXPECT_EQ(find_lane(&world), nullptr);
    EXPECT_EQ(world.lane_at(0).window.list, nullptr);
}

TEST_F(phase_of, an_exception_of_the_thread_that_is_alone_wakes_nobody) {
    function body = [&] { throw std::runtime_error("failed"); };
    shared_work work = work_of(body);
    fake_executor threads(world, 3);
    EXPECT_EQ(thrown_by([&] { run(threads, work); }), "failed");
    EXPECT_EQ(world.log(), (log_lines{"begin", "drop"}));
}

TEST_F(phase_of, an_exception_of_any_type_reaches_the_caller) {
    function body = [] { throw 42; };
    shared_work work = work_of(body);
    sequential_executor alone;
    EXPECT_THROW(run(alone, work), int);
    EXPECT_EQ(world.log().back(), "drop");
}

class failing_phase : public phase_of {
protected:
    /// Runs task 1 when the first part calls `next`. Returns the message that reaches the caller.
    std::string run_nested(std::span<shared_work> works, function& next) {
        fake_executor threads(world, 2, [&](unsigned, const executor::task& task) {
            next = [&task] { task(1); };
            task(0);
        });
        return thrown_by([&] { run(threads, works); });
    }

    /// Two threads: the second begins while the first is inside `fail_first`, and fails in
    /// `fail_second` when the first has ended.
    std::string run_two_threads(std::span<shared_work> works) {
        fake_executor threads(world, 2, [&](unsigned, const executor::task& task) {
            std::thread other([&] {
                wait_for(is_first_inside_);
                task(1);
            });
            task(0);
            has_first_ended_ = true;
            other.join();
        });
        return thrown_by([&] { run(threads, works); });
    }
    void fail_first() {
        is_first_inside_ = true;
        wait_for(is_second_inside_);
        throw std::runtime_error("first");
    }
    void fail_second() {
        is_second_inside_ = true;
        wait_for(has_first_ended_);
        throw std::runtime_error("second");
    }

private:
    static void wait_for(const std::atomic<bool>& flag) {
        for (int i = 0; i < 10'000'000 && !flag; ++i) std::this_thread::yield();
        EXPECT_TRUE(flag);
    }
    std::atomic<bool> is_first_inside_ = false;
    std::atomic<bool> is_second_inside_ = false;
    std::atomic<bool> has_first_ended_ = false;
};

TEST_F(failing_phase, the_exception_of_the_first_row_wins_if_it_comes_last) {
    fake_rows rows({20});
    function next;
    function body = [&] {
        const std::uint64_t row = rows.rows_in(this_lane().window).first;
        if (row == 0) next();
        throw std::runtime_error("row " + std::to_string(row));
    };
    shared_work works[] = {work_of(body, rows, 10)};
    EXPECT_EQ(run_nested(works, next), "row 0");
}

TEST_F(failing_phase, the_exception_of_the_first_work_item_wins_if_it_comes_last) {
    function next;
    function first = [&] {
        next();
        throw std::runtime_error("first");
    };
    function second = [] { throw std::runtime_error("second"); };
    shared_work works[] = {work_of(first), work_of(second)};
    works[0].expected = long_time;
    EXPECT_EQ(run_nested(works, next), "first");
}

TEST_F(failing_phase, a_later_row_that_fails_later_changes_nothing) {
    fake_rows rows({20});
    function body = [&] {
        rows.rows_in(this_lane().window).first == 0 ? fail_first() : fail_second();
    };
    shared_work works[] = {work_of(body, rows, 10)};
    EXPECT_EQ(run_two_threads(works), "first");
    EXPECT_EQ(world.log().back(), "drop");
}

TEST_F(failing_phase, a_later_work_item_that_fails_later_changes_nothing) {
    fake_rows rows({20});
    function first = [&] {
        if (rows.rows_in(this_lane().window).first != 0) fail_first();
    };
    function second = [&] { fail_second(); };  // in its first row, which is before the other
    shared_work works[] = {work_of(first, rows, 10), work_of(second)};
    EXPECT_EQ(run_two_threads(works), "first");
}

TEST_F(failing_phase, other_tasks_take_no_more_rows_after_a_failure) {
    fake_rows rows({100});
    int calls = 0;
    function body = [&] {
        ++calls;
        throw std::runtime_error("failed");
    };
    shared_work work = work_of(body, rows, 1);
    fake_executor threads(world, 8);
    EXPECT_EQ(thrown_by([&] { run(threads, work); }), "failed");
    EXPECT_EQ(calls, 1);
}

TEST_F(failing_phase, a_system_is_named_in_the_error) {
    function body = [] { throw std::runtime_error("no fuel"); };
    shared_work work = work_of(body);
    work.system = "mover";
    sequential_executor alone;
    try {
        run(alone, work);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::system_failed);
        EXPECT_NE(std::string(caught.what()).find("mover"), std::string::npos);
    }
}

TEST_F(failing_phase, nothing_ends_that_has_not_begun) {
    world.fail_at("begin");
    function body = [&] { world.note("call"); };
    shared_work work = work_of(body);
    sequential_executor alone;
    EXPECT_EQ(thrown_by([&] { run(alone, work); }), "begin failed");
    EXPECT_EQ(world.log(), log_lines{"begin"});
}

TEST_F(failing_phase, an_exception_of_the_end_reaches_the_caller) {
    world.fail_at("keep");
    function body = [] {};
    shared_work work = work_of(body);
    sequential_executor alone;
    EXPECT_EQ(thrown_by([&] { run(alone, work); }), "keep failed");
    EXPECT_EQ(world.log(), (log_lines{"begin", "keep"}));
}

TEST_F(failing_phase, the_exception_of_a_row_wins_over_that_of_the_end) {
    world.fail_at("drop");
    function body = [] { throw std::runtime_error("failed"); };
    shared_work work = work_of(body);
    sequential_executor alone;
    EXPECT_EQ(thrown_by([&] { run(alone, work); }), "failed");
    EXPECT_EQ(world.log(), (log_lines{"begin", "drop"}));
}

TEST_F(failing_phase, without_lanes_for_all_threads_nothing_is_done) {
    world.fail_at("share 2");
    function body = [&] { world.note("call"); };
    shared_work work = work_of(body);
    work.expected = long_time;
    fake_executor threads(world, 2);
    EXPECT_EQ(thrown_by([&] { run(threads, work); }), "share 2 failed");
    EXPECT_EQ(world.log(), (log_lines{"begin", "share 2", "drop"}));
}

TEST_F(failing_phase, an_executor_that_fails_drops_the_changes) {
    for (const bool has_run : {false, true}) {
        world.forget_log();
        int calls = 0;
        function body = [&] { ++calls; };
        shared_work work = work_of(body);
        work.expected = long_time;
        fake_executor threads(world, 2, [&](unsigned count, const executor::task& task) {
            if (has_run) fake_executor::in_order(count, task);
            throw std::runtime_error("no threads");
        });
        EXPECT_EQ(thrown_by([&] { run(threads, work); }), "no threads");
        EXPECT_EQ(calls, has_run ? 1 : 0);
        EXPECT_EQ(world.log(), (log_lines{"begin", "share 2", "run 2", "drop"}));
    }
}

TEST_F(failing_phase, the_exception_of_a_row_wins_over_that_of_the_executor) {
    fake_rows rows({20});
    function quiet = [] {};
    function body = [&] {
        if (rows.rows_in(this_lane().window).first != 0) throw std::runtime_error("failed");
    };
    shared_work works[] = {work_of(quiet), work_of(body, rows, 10)};
    fake_executor threads(world, 2, [&](unsigned count, const executor::task& task) {
        fake_executor::in_order(count, task);
        throw std::runtime_error("no threads");
    });
    EXPECT_EQ(thrown_by([&] { run(threads, works); }), "failed");
}

// ---- several threads -----------------------------------------------------------------------------

TEST_F(phase_of, threads_process_each_row_once) {
    for (const std::size_t grain : {0u, 1u, 7u, 1000u}) {
        fake_rows rows({1000, 0, 1, 999, 2000});
        part_list first_parts;
        part_list second_parts;
        function first = collect(rows, first_parts);
        function second = collect(rows, second_parts);
        shared_work works[] = {work_of(first, rows, grain), work_of(second, rows, grain)};
        works[0].expected = long_time;
        thread_executor threads(4);
        run(threads, works);
        expect_complete(first_parts, 4000);
        expect_complete(second_parts, 4000);
    }
}

TEST_F(phase_of, threads_that_take_single_rows_process_each_once) {
    constexpr std::size_t count = 150'000;
    fake_rows rows({count});
    std::vector<std::atomic<int>> calls(count);
    function body = [&] { ++calls[this_lane().window.from]; };
    shared_work work = work_of(body, rows, 1);
    thread_executor threads(4);
    run(threads, work);
    const auto is_once = [](const std::atomic<int>& number) { return number == 1; };
    EXPECT_EQ(std::ranges::count_if(calls, is_once), static_cast<std::ptrdiff_t>(count));
}

TEST_F(phase_of, more_threads_than_rows_process_each_row_once) {
    // Many work items: all threads reach the end of each at about the same time.
    constexpr std::size_t count = 20'000;
    fake_rows rows({1, 1});
    std::atomic<int> first_calls = 0;
    std::atomic<int> second_calls = 0;
    std::atomic<int> other_calls = 0;
    function body = [&] {
        const part taken = rows.rows_in(this_lane().window);
        ++(taken == part{0, 1} ? first_calls : taken == part{1, 1} ? second_calls : other_calls);
    };
    std::vector<shared_work> works(count, work_of(body, rows, 1));
    thread_executor threads(4);
    run(threads, works);
    EXPECT_EQ(first_calls, static_cast<int>(count));
    EXPECT_EQ(second_calls, static_cast<int>(count));
    EXPECT_EQ(other_calls, 0);
}

TEST_F(phase_of, threads_record_in_their_own_lanes_in_the_order_of_the_rows) {
    fake_rows rows({3000});
    function body = [&] {
        lane& mine = this_lane();
        const part taken = rows.rows_in(mine.window);
        for (std::uint64_t row = 0; row < taken.count; ++row)
            mine.changes.add(change_kind::destroy, taken.first + row);
    };
    shared_work works[] = {work_of(body, rows, 16), work_of(body, rows, 16)};
    thread_executor threads(4);
    run(threads, works);
    std::vector<int> seen[2] = {std::vector<int>(3000), std::vector<int>(3000)};
    for (std::size_t i = 0; i < world.lane_count(); ++i) {
        const lane& worker = world.lane_at(i);
        for (std::size_t m = 0; m < worker.marks.size(); ++m) {
            const lane::mark& mark = worker.marks[m];
            if (m != 0) {
                const lane::mark& before = worker.marks[m - 1];
                ASSERT_LT(before.first, mark.first);
                ASSERT_TRUE(before.work < mark.work ||
                            (before.work == mark.work && before.row < mark.row));
            }
            const std::uint32_t end =
                m + 1 == worker.marks.size() ? worker.changes.size() : worker.marks[m + 1].first;
            for (std::uint32_t c = mark.first; c < end; ++c) {
                ASSERT_EQ(worker.changes.at(c).id, mark.row + c - mark.first);
                ++seen[mark.work][worker.changes.at(c).id];
            }
        }
    }
    EXPECT_EQ(seen[0], std::vector<int>(3000, 1));
    EXPECT_EQ(seen[1], std::vector<int>(3000, 1));
}

TEST_F(phase_of, the_first_of_the_exceptions_that_threads_throw_reaches_the_caller) {
    for (int round = 0; round < 30; ++round) {
        fake_rows rows({200});
        std::vector<std::uint64_t> failed;
        function body = [&] {
            const std::uint64_t row = rows.rows_in(this_lane().window).first;
            if (row < 20) return;
            const std::lock_guard lock(guard);
            failed.push_back(row);
            throw std::runtime_error(std::to_string(row));
        };
        shared_work work = work_of(body, rows, 1);
        thread_executor threads(4);
        const std::string thrown = thrown_by([&] { run(threads, work); });
        ASSERT_FALSE(failed.empty());
        ASSERT_EQ(thrown, std::to_string(std::ranges::min(failed)));
        ASSERT_LE(failed.size(), 4u);
        ASSERT_EQ(world.log().back(), "drop");
    }
}

// ---- run_briefly ---------------------------------------------------------------------------------

TEST_F(phase_of, a_brief_phase_is_one_call_on_this_thread) {
    world.lane_at(0).system = "stale";
    run_briefly(world, [&] {
        world.note("call");
        const lane& mine = this_lane();
        EXPECT_EQ(&mine, &world.lane_at(0));
        EXPECT_TRUE(mine.system.empty());
        EXPECT_TRUE(mine.works.empty());
        ASSERT_EQ(mine.marks.size(), 1u);
        EXPECT_EQ(mine.marks[0].work, 0u);
        EXPECT_EQ(mine.marks[0].row, 0u);
    });
    EXPECT_EQ(world.log(), (log_lines{"begin", "call", "keep"}));
    EXPECT_EQ(find_lane(&world), nullptr);
}

TEST_F(phase_of, a_brief_phase_that_fails_drops_its_changes) {
    const auto fail = [&] { run_briefly(world, [] { throw std::runtime_error("failed"); }); };
    EXPECT_EQ(thrown_by(fail), "failed");
    EXPECT_EQ(world.log(), (log_lines{"begin", "drop"}));
    EXPECT_EQ(find_lane(&world), nullptr);
    world.fail_at("drop");
    EXPECT_EQ(thrown_by(fail), "failed");  // not "drop failed"
}

TEST_F(phase_of, a_brief_phase_reports_what_its_begin_and_its_end_throw) {
    const auto call = [&] { run_briefly(world, [&] { world.note("call"); }); };
    world.fail_at("keep");
    EXPECT_EQ(thrown_by(call), "keep failed");
    EXPECT_EQ(world.log(), (log_lines{"begin", "call", "keep"}));
    world.forget_log();
    world.fail_at("begin");
    EXPECT_EQ(thrown_by(call), "begin failed");
    EXPECT_EQ(world.log(), log_lines{"begin"});
}

// ---- pace ----------------------------------------------------------------------------------------

TEST(pace, expects_nothing_before_it_has_learned) {
    pace rows;
    EXPECT_EQ(rows.expect(1'000'000), 0u);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(rows.is_short(1));
}

TEST(pace, expects_what_as_many_rows_took) {
    pace rows;
    rows.learn(1000, 2'000'000);
    EXPECT_EQ(rows.expect(0), 0u);
    EXPECT_EQ(rows.expect(1), 2000u);
    EXPECT_EQ(rows.expect(500), 1'000'000u);
    rows.learn(10, 50);  // the last time counts
    EXPECT_EQ(rows.expect(100), 500u);
}

TEST(pace, knows_rows_that_take_less_than_a_nanosecond) {
    pace rows;
    rows.learn(1000, 250);
    EXPECT_EQ(rows.expect(4), 1u);
    EXPECT_EQ(rows.expect(1'000'000), 250'000u);
}

TEST(pace, forgets_what_it_knew_when_there_were_no_rows) {
    pace rows;
    rows.learn(10, 100);
    rows.learn(0, 100);
    EXPECT_EQ(rows.expect(10), 0u);
    EXPECT_FALSE(rows.is_short(10));
}

TEST(pace, rows_are_short_up_to_five_microseconds) {
    pace rows;
    rows.learn(1, 1);
    EXPECT_FALSE(rows.is_short(5000));  // the first time is measured
    EXPECT_TRUE(rows.is_short(5000));
    EXPECT_TRUE(rows.is_short(1));
    EXPECT_FALSE(rows.is_short(5001));
    EXPECT_TRUE(rows.is_short(5000));
}

TEST(pace, measures_short_rows_again_now_and_then) {
    pace rows;
    rows.learn(1, 1);
    int measured = 0;
    for (int i = 0; i < 640; ++i) measured += !rows.is_short(1);
    EXPECT_EQ(measured, 10);
}

// ---- call_named and sequential_executor ----------------------------------------------------------

/// Calls a function that throws what `thrower` throws, for this system.
void call_system(std::string_view system, std::function<void()> thrower) {
    call_named(system,
               [](void* called, payload) { (*static_cast<std::function<void()>*>(called))(); },
               &thrower, {});
}

TEST(call_named, passes_the_payload_on) {
    const int value = 5;
    const payload_value values[] = {payload_of(value)};
    const void* received = nullptr;
    call_named(
        "mover",
        [](void* called, payload given) {
            *static_cast<const void**>(called) = given.front().value;
        },
        &received, values);
    EXPECT_EQ(received, &value);
}

TEST(call_named, an_exception_of_no_system_stays_as_it_is) {
    EXPECT_EQ(thrown_by([] { call_system("", [] { throw std::runtime_error("failed"); }); }),
              "failed");
}

TEST(call_named, an_error_keeps_its_code_and_is_nested) {
    try {
        call_system("mover", [] { raise(errc::dead_entity, "no such entity"); });
        ADD_FAILURE() << "nothing was thrown";
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::dead_entity);
        const std::string sentence = caught.what();
        EXPECT_NE(sentence.find("\"mover\""), std::string::npos) << sentence;
        EXPECT_NE(sentence.find("no such entity"), std::string::npos) << sentence;
        EXPECT_EQ(thrown_by([&] { std::rethrow_if_nested(caught); }), "no such entity");
    }
}

TEST(call_named, a_standard_exception_becomes_an_error_of_the_system) {
    try {
        call_system("mover", [] { throw std::out_of_range("too far"); });
        ADD_FAILURE() << "nothing was thrown";
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::system_failed);
        const std::string sentence = caught.what();
        EXPECT_NE(sentence.find("\"mover\""), std::string::npos) << sentence;
        EXPECT_NE(sentence.find("too far"), std::string::npos) << sentence;
        EXPECT_THROW(std::rethrow_if_nested(caught), std::out_of_range);
    }
}

TEST(call_named, a_lack_of_memory_and_foreign_exceptions_stay_as_they_are) {
    EXPECT_THROW(call_system("mover", [] { throw std::bad_alloc(); }), std::bad_alloc);
    EXPECT_THROW(call_system("mover", [] { throw 42; }), int);
}

TEST(sequential_executor, calls_each_index_in_order_on_this_thread) {
    sequential_executor alone;
    EXPECT_EQ(alone.concurrency(), 1u);
    std::vector<unsigned> called;
    const executor::task task{[](void* context, unsigned index) noexcept {
                                  static_cast<std::vector<unsigned>*>(context)->push_back(index);
                              },
                              &called};
    alone.run(0, task);
    EXPECT_TRUE(called.empty());
    alone.run(4, task);
    EXPECT_EQ(called, (std::vector<unsigned>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
