// Reductions on several threads. Compiled for two layouts; see support/parallel_layout.hpp.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/errors.hpp"
#include "support/parallel_layout.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace muster;
using muster::test::code_of;
using muster_tests::thread_executor;

namespace {

using muster_tests::parallel::entity;
using muster_tests::parallel::world;

struct mass {
    double kg;
};
struct label {
    std::string text;
};
struct frozen {};
struct burning {
    int left;
};

}  // namespace

template <>
struct muster::component_traits<burning> {
    static constexpr bool sparse = true;
};

namespace {

/// Runs the calls in reverse order on this thread, and claims to have many.
class reversing_executor final : public executor {
public:
    [[nodiscard]] unsigned concurrency() const noexcept override { return 7; }
    void run(unsigned count, const task& work) override {
        for (unsigned i = count; i-- != 0;) work(i);
    }
};

double add(double sum, const mass& m) {
    return sum + m.kg;
}

/// Entities in several chunks, some of which are empty, with masses whose sum depends on the order
/// of additions.
void fill(world& w, int count, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-20, 20);
    for (int i = 0; i < count; ++i) {
        const entity e = w.spawn(mass{std::exp2(exponent(random))});
        if (random() % 5 == 0) w.add<frozen>(e);
        if (random() % 7 == 0) w.set(e, label{std::to_string(i)});
    }
    w.destroy(w.spawn(mass{1}, label{}, frozen{}));
}

TEST(par_reduce, the_result_is_the_same_bit_by_bit_on_any_number_of_threads) {
    for (const int count : {1, 31, 32, 33, 1000, 40'000}) {
        world w;
        fill(w, count, 7u + static_cast<unsigned>(count));
        const auto q = w.query<const mass>();
        sequential_executor alone;
        const auto wanted =
            std::bit_cast<std::uint64_t>(q.par_reduce(alone, 0.0, add, std::plus<>{}));
        EXPECT_NEAR(std::bit_cast<double>(wanted), q.reduce(0.0, add),
                    1e-9 * std::bit_cast<double>(wanted));
        reversing_executor reversing;
        for (int round = 0; round < 5; ++round)
            EXPECT_EQ(
                std::bit_cast<std::uint64_t>(q.par_reduce(reversing, 0.0, add, std::plus<>{})),
                wanted);
        for (unsigned threads = 1; threads <= 5; ++threads) {
            thread_executor several(threads);
            EXPECT_EQ(std::bit_cast<std::uint64_t>(q.par_reduce(several, 0.0, add, std::plus<>{})),
                      wanted)
                << threads << " threads, " << count << " entities";
        }
    }
}

/// Takes long enough that all threads take rows.
void idle(int rounds) {
    volatile double sink = 1;
    for (int i = 0; i < rounds; ++i) sink = std::sqrt(sink + i);
}

TEST(par_reduce, a_combination_that_does_not_commute_keeps_the_order_of_the_entities) {
    world w;
    for (int i = 0; i < 3000; ++i) {
        const entity e = w.spawn(label{std::to_string(i) + ","});
        if (i % 3 == 0) w.add<frozen>(e);
    }
    const auto q = w.query<const label>();
    const auto append = [](std::string all, const label& l) {
        idle(20);
        return std::move(all) + l.text;
    };
    const std::string wanted = q.reduce(std::string(), append);
    thread_executor three(3);
    EXPECT_EQ(q.par_reduce(three, std::string(), append, std::plus<>{}), wanted);
    const auto append_in_place = [](std::string& all, const label& l) { all += l.text; };
    const auto join = [](std::string& all, const std::string& next) { all += next; };
    EXPECT_EQ(q.par_reduce(three, std::string(), append_in_place, join), wanted);
}

TEST(par_reduce, several_threads_take_part) {
    world w;
    w.spawn_many(20'000, mass{1});
    thread_executor three(3);
    const std::thread::id here = std::this_thread::get_id();
    std::atomic<bool> has_help = false;
    const double sum = w.query<const mass>().par_reduce(
        three, 0.0,
        [&](double all, const mass& m) {
            if (std::this_thread::get_id() != here) has_help = true;
            if (!has_help) std::this_thread::sleep_for(std::chrono::microseconds(100));
            return all + m.kg;
        },
        std::plus<>{});
    EXPECT_EQ(sum, 20'000);
    EXPECT_TRUE(has_help);
}

TEST(par_reduce, without_entities_it_returns_the_first_value_and_calls_nothing) {
    world w;
    thread_executor two(2);
    const auto q = w.query<const mass>();
    const auto never = [](double, const mass&) -> double { throw std::runtime_error("called"); };
    const auto never_combine = [](double, double) -> double { throw std::runtime_error("called"); };
    EXPECT_EQ(q.par_reduce(two, 2.5, never, never_combine), 2.5);
    w.destroy(w.spawn(mass{}));
    EXPECT_EQ(q.par_reduce(two, 2.5, never, never_combine), 2.5);
}

TEST(par_reduce, the_first_value_counts_once_if_one_part_has_all_entities) {
    world w;
    for (int i = 0; i < 10; ++i) w.spawn(mass{1});
    thread_executor two(2);
    EXPECT_EQ(w.query<const mass>().par_reduce(two, 100.0, add, std::plus<>{}), 110);
}

TEST(par_reduce, bools_of_neighbouring_parts_do_not_overwrite_each_other) {
    world w;
    for (int i = 0; i < 5000; ++i) w.spawn(mass{static_cast<double>(i)});
    thread_executor four(4);
    const auto all_of = [](bool so_far, const mass& m) {
        idle(5);
        return so_far && m.kg >= 0;
    };
    for (int round = 0; round < 10; ++round)
        EXPECT_TRUE(w.query<const mass>().par_reduce(four, true, all_of, std::logical_and<>{}));
}

TEST(par_reduce, large_values_are_changed_in_place) {
    using histogram = std::vector<int>;
    world w;
    for (int i = 0; i < 10'000; ++i) w.spawn(mass{static_cast<double>(i % 1000)});
    thread_executor four(4);
    const histogram counts = w.query<const mass>().par_reduce(
        four, histogram(1000),
        [](histogram& all, entity, const mass& m) { ++all[static_cast<std::size_t>(m.kg)]; },
        [](histogram& all, const histogram& more) {
            for (std::size_t i = 0; i < all.size(); ++i) all[i] += more[i];
        });
    EXPECT_EQ(counts, histogram(1000, 10));
}

TEST(par_reduce, exceptions_of_the_function_stop_it_and_drop_recorded_changes) {
    world w;
    for (int i = 0; i < 2000; ++i) w.spawn(mass{static_cast<double>(i)});
    thread_executor three(3);
    const auto q = w.query<const mass>();
    const auto fail = [&](double sum, entity e, const mass& m) {
        w.add<frozen>(e);
        if (m.kg == 500) throw std::runtime_error("500");
        return sum + m.kg;
    };
    EXPECT_THROW((void)q.par_reduce(three, 0.0, fail, std::plus<>{}), std::runtime_error);
    EXPECT_EQ(q.with<frozen>().count(), 0u);
    EXPECT_EQ(q.par_reduce(three, 0.0, add, std::plus<>{}), 1999.0 * 1000);
}

TEST(par_reduce, changes_are_applied_before_parts_are_combined) {
    world w;
    for (int i = 0; i < 100; ++i) w.spawn(mass{1});
    thread_executor two(2);
    const auto q = w.query<const mass>();
    const auto mark = [&](double sum, entity e, const mass& m) {
        w.add<frozen>(e);
        return sum + m.kg;
    };
    std::size_t marked = 0;
    const auto fail = [&](double, double) -> double {
        marked = q.with<frozen>().count();
        throw std::runtime_error("combine");
    };
    EXPECT_THROW((void)q.par_reduce(two, 0.0, mark, fail), std::runtime_error);
    EXPECT_EQ(marked, 100u);
}

TEST(par_reduce, sparse_fragments_and_links_are_one_part) {
    world w;
    struct part_of {};
    w.define<part_of>().relation();
    const entity ship = w.spawn();
    for (int i = 0; i < 500; ++i) {
        const entity e = w.spawn(burning{i}, mass{1});
        w.relate<part_of>(e, ship);
    }
    thread_executor two(2);
    int combined = 0;
    const auto combine = [&](long a, long b) {
        ++combined;
        return a + b;
    };
    const auto left = [](long sum, const burning& b) { return sum + b.left; };
    EXPECT_EQ(w.query<const burning>().par_reduce(two, 1L, left, combine), 499 * 250 + 1);
    EXPECT_EQ(w.query<const mass>().to<part_of>(ship).par_reduce(
                  two, 1L, [](long sum, const mass&) { return sum + 1; }, combine),
              501);
    EXPECT_EQ(combined, 0);
}

TEST(par_reduce, inside_of_a_phase_it_runs_on_the_thread_that_calls_it) {
    world w;
    for (int i = 0; i < 200; ++i) w.spawn(mass{std::ldexp(1.1, i % 40)});
    thread_executor three(3);
    const auto q = w.query<const mass>();
    const double wanted = q.par_reduce(three, 0.0, add, std::plus<>{});
    std::atomic<int> wrong = 0;
    w.query<mass>().par_each(three, 1, [&](const mass&) {
        const std::thread::id here = std::this_thread::get_id();
        const double sum = q.par_reduce(
            three, 0.0,
            [&](double all, const mass& m) {
                if (std::this_thread::get_id() != here) ++wrong;
                return all + m.kg;
            },
            std::plus<>{});
        if (sum != wanted) ++wrong;
    });
    EXPECT_EQ(wrong, 0);
}

TEST(par_reduce, null_queries_and_queries_of_ended_worlds_throw) {
    thread_executor two(2);
    auto made = [&] {
        world other;
        other.spawn(mass{1});
        return other.query<const mass>();
    }();
    EXPECT_EQ(code_of([&] { (void)made.par_reduce(two, 0.0, add, std::plus<>{}); }),
              errc::world_ended);
    made = {};
    EXPECT_EQ(code_of([&] { (void)made.par_reduce(two, 0.0, add, std::plus<>{}); }),
              errc::null_handle);
}

TEST(par_reduce, random_worlds_agree_with_a_fold_of_the_documented_parts) {
    for (unsigned seed = 0; seed < 40; ++seed) {
        world w;
        std::mt19937 random(seed);
        const int count = static_cast<int>(random() % 3000);
        fill(w, count, seed);
        std::vector<double> rows;
        w.each([&](const mass& m) { rows.push_back(m.kg); });
        const std::size_t size = std::max<std::size_t>(32, (rows.size() + 1023) / 1024);
        double wanted = 0;
        for (std::size_t from = 0; from < rows.size(); from += size) {
            double part = 0;
            for (std::size_t i = from; i < std::min(rows.size(), from + size); ++i) part += rows[i];
            wanted = from == 0 ? part : wanted + part;
        }
        thread_executor several(1 + seed % 4);
        EXPECT_EQ(w.query<const mass>().par_reduce(several, 0.0, add, std::plus<>{}), wanted)
            << "seed " << seed;
    }
}

}  // namespace
