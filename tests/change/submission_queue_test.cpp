#include <muster/change/submission_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <source_location>
#include <thread>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

/// A value that counts those that live.
struct counted {
    static inline std::atomic<int> alive = 0;
    counted() noexcept { ++alive; }
    counted(counted&&) noexcept { ++alive; }
    counted& operator=(counted&&) = delete;
    ~counted() { --alive; }
};
struct large {
    std::byte bytes[60'000];
};
struct middling {
    std::byte bytes[3000];
};

template <class T>
void add_value(recorder& to, std::uint64_t e) {
    T value{};
    to.add({.fragment = fragment_name::of<T>(),
            .type = value_type_ref::of<T>(),
            .self = &value,
            .construct = &move_construct<T>},
           {e, std::source_location::current()});
}

std::vector<std::uint64_t> ids_of(const recorder& changes) {
    std::vector<std::uint64_t> found;
    for (std::uint32_t i = 0; i < changes.size(); ++i) found.push_back(changes.at(i).id);
    return found;
}
using id_values = std::vector<std::uint64_t>;

/// A recorder of the caller's, from the queue.
std::unique_ptr<recorder> take(submission_queue& queue) {
    return std::unique_ptr<recorder>(queue.take_empty());
}
/// Hands over a recorder that destroys these entities.
const recorder* submit(submission_queue& queue, const id_values& targets) {
    recorder* const changes = queue.take_empty();
    for (const std::uint64_t e : targets) changes->add(change_kind::destroy, e);
    queue.put_back(queue.hand_over(changes));
    return changes;
}
/// Takes all submissions, and puts the recorders back.
std::vector<id_values> take_ids_of_all(submission_queue& queue) {
    std::vector<id_values> found;
    for (recorder* changes : queue.take_all()) {
        found.push_back(ids_of(*changes));
        queue.put_back(changes);
    }
    return found;
}

/// Makes a recorder that is told from a new one: its first block is large.
void enlarge(recorder& changes) {
    add_value<large>(changes, 1);
    changes.rewind({});
}
bool is_enlarged(recorder& changes) {
    for (int i = 0; i < 3; ++i) add_value<middling>(changes, 1);
    const bool is_in_first_block = changes.now().memory.block == 0;
    changes.rewind({});
    return is_in_first_block;
}

// ---- recorders -----------------------------------------------------------------------------------

TEST(submission_queue, has_nothing_at_first) {
    submission_queue queue;
    EXPECT_FALSE(queue.has_submissions());
    EXPECT_TRUE(queue.take_all().empty());
    EXPECT_EQ(queue.count_ids(), 0u);
}

TEST(submission_queue, creates_a_recorder_if_it_has_none) {
    submission_queue queue;
    const auto first = take(queue);
    const auto second = take(queue);
    EXPECT_NE(first, second);
    EXPECT_EQ(first->size(), 0u);
    EXPECT_FALSE(first->is_discarded());
}

TEST(submission_queue, a_recorder_that_was_put_back_is_used_again) {
    submission_queue queue;
    recorder* const used = queue.take_empty();
    queue.put_back(used);
    EXPECT_EQ(take(queue).get(), used);
}

TEST(submission_queue, a_recorder_that_was_put_back_is_empty) {
    submission_queue queue;
    recorder* const used = queue.take_empty();
    used->add(change_kind::spawn, 1);
    add_value<counted>(*used, 1);
    used->discard();
    add_value<counted>(*used, 2);
    EXPECT_EQ(counted::alive, 1);
    queue.put_back(used);
    EXPECT_EQ(counted::alive, 0);
    const auto again = take(queue);
    ASSERT_EQ(again.get(), used);
    EXPECT_EQ(again->size(), 0u);
    EXPECT_FALSE(again->is_discarded());
}

TEST(submission_queue, a_recorder_keeps_its_memory_when_it_is_put_back) {
    submission_queue queue;
    recorder* const used = queue.take_empty();
    EXPECT_FALSE(is_enlarged(*used));
    recorder* const other = queue.take_empty();
    enlarge(*other);
    queue.put_back(other);
    const auto again = take(queue);
    EXPECT_TRUE(is_enlarged(*again));
    queue.put_back(used);
}

TEST(submission_queue, keeps_no_more_than_sixteen_empty_recorders) {
    submission_queue queue;
    std::vector<recorder*> used;
    for (int i = 0; i < 20; ++i) {
        used.push_back(queue.take_empty());
        enlarge(*used.back());
    }
    for (recorder* changes : used) queue.put_back(changes);
    std::vector<std::unique_ptr<recorder>> again;
    int kept = 0;
    for (int i = 0; i < 20; ++i) {
        again.push_back(take(queue));
        kept += is_enlarged(*again.back());
    }
    EXPECT_EQ(kept, 16);
}

// ---- submissions -----------------------------------------------------------------------------------

TEST(submission_queue, a_recorder_that_was_handed_over_is_a_submission) {
    submission_queue queue;
    recorder* const changes = queue.take_empty();
    changes->add(change_kind::destroy, 7);
    EXPECT_FALSE(queue.has_submissions());
    const std::unique_ptr<recorder> next(queue.hand_over(changes));
    EXPECT_TRUE(queue.has_submissions());
    EXPECT_NE(next.get(), changes);
    EXPECT_EQ(next->size(), 0u);
    const auto all = queue.take_all();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0], changes);
    EXPECT_EQ(ids_of(*all[0]), id_values{7});
    queue.put_back(all[0]);
}

TEST(submission_queue, hand_over_returns_a_used_recorder_if_there_is_one) {
    submission_queue queue;
    recorder* const changes = queue.take_empty();
    recorder* const used = queue.take_empty();
    queue.put_back(used);
    const std::unique_ptr<recorder> next(queue.hand_over(changes));
    EXPECT_EQ(next.get(), used);
}

TEST(submission_queue, submissions_keep_their_order) {
    submission_queue queue;
    std::vector<id_values> expected;
    for (std::uint64_t i = 0; i < 100; ++i) {
        expected.push_back({i, i + 1});
        submit(queue, expected.back());
    }
    EXPECT_EQ(take_ids_of_all(queue), expected);
}

TEST(submission_queue, each_submission_is_taken_once) {
    submission_queue queue;
    submit(queue, {1});
    submit(queue, {2});
    EXPECT_EQ(take_ids_of_all(queue).size(), 2u);
    EXPECT_FALSE(queue.has_submissions());
    EXPECT_TRUE(queue.take_all().empty());
    submit(queue, {3});
    EXPECT_TRUE(queue.has_submissions());
    EXPECT_EQ(take_ids_of_all(queue), (std::vector<id_values>{{3}}));
}

TEST(submission_queue, a_recorder_without_changes_can_be_handed_over) {
    submission_queue queue;
    submit(queue, {});
    EXPECT_TRUE(queue.has_submissions());
    EXPECT_EQ(take_ids_of_all(queue), std::vector<id_values>{{}});
}

TEST(submission_queue, the_destructor_destroys_submissions_with_their_values) {
    {
        submission_queue queue;
        for (int i = 0; i < 3; ++i) {
            recorder* const changes = queue.take_empty();
            add_value<counted>(*changes, 1);
            queue.put_back(queue.hand_over(changes));
        }
        EXPECT_EQ(counted::alive, 3);
    }
    EXPECT_EQ(counted::alive, 0);
}

TEST(submission_queue, submissions_that_were_taken_are_the_callers) {
    std::unique_ptr<recorder> taken;
    {
        submission_queue queue;
        recorder* const changes = queue.take_empty();
        add_value<counted>(*changes, 7);
        queue.put_back(queue.hand_over(changes));
        taken.reset(queue.take_all().at(0));
    }
    EXPECT_EQ(ids_of(*taken), id_values{7});
    EXPECT_EQ(counted::alive, 1);
    taken.reset();
    EXPECT_EQ(counted::alive, 0);
}

// ---- discard -----------------------------------------------------------------------------------------

TEST(submission_queue, discarded_changes_without_new_ids_are_no_submission) {
    submission_queue queue;
    recorder* const changes = queue.take_empty();
    add_value<counted>(*changes, 7);
    changes->add(change_kind::destroy, 8);
    const std::unique_ptr<recorder> next(queue.discard(changes));
    EXPECT_EQ(next.get(), changes);
    EXPECT_EQ(next->size(), 0u);
    EXPECT_FALSE(next->is_discarded());
    EXPECT_FALSE(queue.has_submissions());
    EXPECT_EQ(counted::alive, 0);
}

TEST(submission_queue, discarding_an_empty_recorder_returns_it) {
    submission_queue queue;
    recorder* const changes = queue.take_empty();
    const std::unique_ptr<recorder> next(queue.discard(changes));
    EXPECT_EQ(next.get(), changes);
    EXPECT_FALSE(next->is_discarded());
    EXPECT_FALSE(queue.has_submissions());
}

TEST(submission_queue, ids_that_discarded_changes_created_are_submitted) {
    submission_queue queue;
    recorder* const changes = queue.take_empty();
    changes->add(change_kind::spawn, 7);
    add_value<counted>(*changes, 7);
    changes->add(change_kind::destroy, 9);
    changes->add(change_kind::spawn, 8);
    const std::unique_ptr<recorder> next(queue.discard(changes));
    EXPECT_NE(next.get(), changes);
    EXPECT_EQ(next->size(), 0u);
    EXPECT_FALSE(next->is_discarded());
    EXPECT_EQ(counted::alive, 0);
    ASSERT_TRUE(queue.has_submissions());
    const auto all = queue.take_all();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0], changes);
    EXPECT_TRUE(all[0]->is_discarded());
    EXPECT_EQ(ids_of(*all[0]), (id_values{7, 8}));
    queue.put_back(all[0]);
}

// ---- ids ---------------------------------------------------------------------------------------------

std::vector<std::uint64_t> sorted(const array_list<std::uint64_t>& list) {
    std::vector<std::uint64_t> made(list.begin(), list.end());
    std::ranges::sort(made);
    return made;
}

TEST(submission_queue, unused_ids_can_be_taken_by_anybody) {
    submission_queue queue;
    array_list<std::uint64_t> unused{1, 2, 3};
    queue.put_ids(unused);
    EXPECT_TRUE(unused.empty());
    EXPECT_EQ(queue.count_ids(), 3u);
    array_list<std::uint64_t> taken;
    queue.take_ids(taken, 3);
    EXPECT_EQ(sorted(taken), (id_values{1, 2, 3}));
    EXPECT_EQ(queue.count_ids(), 0u);
}

TEST(submission_queue, takes_no_more_ids_than_asked_for) {
    submission_queue queue;
    array_list<std::uint64_t> unused{1, 2, 3, 4, 5};
    queue.put_ids(unused);
    array_list<std::uint64_t> taken;
    queue.take_ids(taken, 0);
    EXPECT_TRUE(taken.empty());
    queue.take_ids(taken, 2);
    EXPECT_EQ(taken.size(), 2u);
    EXPECT_EQ(queue.count_ids(), 3u);
    queue.take_ids(taken, 2);
    queue.take_ids(taken, 1);
    EXPECT_EQ(sorted(taken), (id_values{1, 2, 3, 4, 5}));
}

TEST(submission_queue, takes_the_ids_that_there_are) {
    submission_queue queue;
    array_list<std::uint64_t> taken{9};
    queue.take_ids(taken, 5);
    EXPECT_EQ(taken, array_list<std::uint64_t>{9});
    array_list<std::uint64_t> unused{1, 2};
    queue.put_ids(unused);
    queue.take_ids(taken, 5);
    EXPECT_EQ(taken.size(), 3u);
    EXPECT_EQ(taken[0], 9u);
    EXPECT_EQ(sorted(taken), (id_values{1, 2, 9}));
}

TEST(submission_queue, ids_of_several_owners_are_kept_together) {
    submission_queue queue;
    for (std::uint64_t i = 0; i < 50; ++i) {
        array_list<std::uint64_t> unused{3 * i, 3 * i + 1, 3 * i + 2};
        queue.put_ids(unused);
        ASSERT_TRUE(unused.empty());
        ASSERT_EQ(queue.count_ids(), 3 * (i + 1));
        queue.put_ids(unused);  // nothing
        ASSERT_EQ(queue.count_ids(), 3 * (i + 1));
    }
    array_list<std::uint64_t> taken;
    queue.take_ids(taken, 1000);
    const auto found = sorted(taken);
    ASSERT_EQ(found.size(), 150u);
    for (std::uint64_t i = 0; i < 150; ++i) ASSERT_EQ(found[i], i);
}

// ---- several threads -----------------------------------------------------------------------------------

constexpr std::uint64_t thread_count = 4;

template <class Work>
std::vector<std::thread> start_threads(Work work) {
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < thread_count; ++i) threads.emplace_back([work, i] { work(i); });
    return threads;
}

TEST(submission_queue, submissions_of_several_threads_arrive_once_and_in_the_order_of_each) {
    constexpr std::uint64_t count = 200;
    submission_queue queue;
    std::atomic<std::uint64_t> running = thread_count;
    auto threads = start_threads([&](std::uint64_t thread) {
        recorder* mine = queue.take_empty();
        for (std::uint64_t i = 0; i < count; ++i) {
            mine->add(change_kind::destroy, thread * count + i);
            add_value<counted>(*mine, i);
            mine = queue.hand_over(mine);
        }
        queue.put_back(mine);
        --running;
    });
    std::vector<std::uint64_t> next(thread_count, 0);
    std::uint64_t wrong = 0;
    for (bool is_last = false; !is_last;) {
        is_last = running.load() == 0;
        for (recorder* changes : queue.take_all()) {
            const std::uint64_t e = changes->at(0).id;
            wrong += changes->size() != 2 || e % count != next[e / count]++;
            queue.put_back(changes);
        }
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(next, std::vector<std::uint64_t>(thread_count, count));
    EXPECT_FALSE(queue.has_submissions());
    EXPECT_EQ(counted::alive, 0);
}

TEST(submission_queue, a_submission_is_noticed_by_another_thread) {
    submission_queue queue;
    bool is_noticed = false;
    std::thread observer([&] {
        for (int i = 0; i < 10'000'000 && !is_noticed; ++i) {
            is_noticed = queue.has_submissions();
            std::this_thread::yield();
        }
    });
    submit(queue, {1});
    observer.join();
    EXPECT_TRUE(is_noticed);
}

TEST(submission_queue, threads_exchange_ids_without_losing_or_doubling_one) {
    constexpr std::uint64_t count = 100;
    submission_queue queue;
    {
        array_list<std::uint64_t> all;
        for (std::uint64_t i = 0; i < count; ++i) all.push_back(i);
        queue.put_ids(all);
    }
    std::vector<std::atomic<int>> owners(count);
    std::atomic<int> doubled = 0;
    auto threads = start_threads([&](std::uint64_t thread) {
        for (std::uint64_t i = 0; i < 300; ++i) {
            array_list<std::uint64_t> mine;
            queue.take_ids(mine, (i + thread) % 40);
            for (const std::uint64_t id : mine) doubled += owners[id].fetch_add(1) != 0;
            for (const std::uint64_t id : mine) owners[id].fetch_sub(1);
            queue.put_ids(mine);
        }
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(doubled.load(), 0);
    EXPECT_EQ(queue.count_ids(), count);
    array_list<std::uint64_t> taken;
    queue.take_ids(taken, count);
    const auto found = sorted(taken);
    for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(found[i], i);
}

TEST(submission_queue, threads_discard_while_others_submit) {
    constexpr std::uint64_t count = 200;
    submission_queue queue;
    auto threads = start_threads([&](std::uint64_t thread) {
        recorder* mine = queue.take_empty();
        for (std::uint64_t i = 0; i < count; ++i) {
            mine->add(change_kind::spawn, thread * count + i);
            add_value<counted>(*mine, i);
            mine = thread % 2 == 0 ? queue.discard(mine) : queue.hand_over(mine);
        }
        queue.put_back(mine);
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(counted::alive, static_cast<int>(thread_count / 2 * count));
    std::set<std::uint64_t> spawned;
    for (recorder* changes : queue.take_all()) {
        const std::uint64_t e = changes->at(0).id;
        EXPECT_TRUE(spawned.insert(e).second);
        EXPECT_EQ(changes->is_discarded(), e / count % 2 == 0);
        EXPECT_EQ(changes->size(), changes->is_discarded() ? 1u : 2u);
        queue.put_back(changes);
    }
    EXPECT_EQ(spawned.size(), thread_count * count);
    EXPECT_EQ(counted::alive, 0);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
