// free_list and tombstone_list, over slots in a vector, against a plain list of keys.
#include <muster/id/free_list.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <random>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct fake_slot {
    std::uint64_t next_key = 0;
    std::uint64_t next_version = 0;

    static fake_slot dead(std::uint64_t key, std::uint64_t next, std::uint64_t version) {
        EXPECT_NE(key, next);
        return {next, version};
    }
    std::uint64_t next() const { return next_key; }
    std::uint64_t version() const { return next_version; }
};

struct fake_slots {
    std::vector<fake_slot> all;

    explicit fake_slots(std::size_t count) : all(count) {}
    fake_slot* find(std::uint64_t key) { return &all.at(key); }
};

/// Pops as a pool does.
std::uint64_t pop(free_list<fake_slot>& list, fake_slots& slots) {
    if (list.has_unlinked()) list.skip_unlinked();
    const std::uint64_t key = list.head();
    list.pop(*slots.find(key), fake_slot{key, 0});
    return key;
}

std::vector<std::uint64_t> pop_all(free_list<fake_slot>& list, fake_slots& slots) {
    std::vector<std::uint64_t> keys;
    while (!list.empty()) keys.push_back(pop(list, slots));
    return keys;
}

free_list<fake_slot> list_of(reuse order, fake_slots& slots, std::vector<std::uint64_t> keys) {
    free_list<fake_slot> list(order);
    for (const std::uint64_t key : keys) list.insert(slots, key, *slots.find(key), 1);
    return list;
}

using numbers = std::vector<std::uint64_t>;

TEST(free_list, issues_the_last_or_the_first_key_first) {
    fake_slots slots(8);
    free_list<fake_slot> last_first = list_of(reuse::lifo, slots, {3, 5, 1});
    EXPECT_EQ(last_first.size(), 3u);
    EXPECT_EQ(pop_all(last_first, slots), (numbers{1, 5, 3}));

    free_list<fake_slot> first_first = list_of(reuse::fifo, slots, {3, 5, 1});
    EXPECT_EQ(pop_all(first_first, slots), (numbers{3, 5, 1}));
}

TEST(free_list, keeps_unlinked_keys_reachable_if_a_pop_is_undone_while_no_other_key_is_left) {
    fake_slots slots(8);
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        free_list<fake_slot> list = list_of(order, slots, {6});
        list.unlink(6, *slots.find(6));
        list.undo_pop(3, *slots.find(3), 1);
        list.insert(slots, 6, *slots.find(6), 2);
        EXPECT_EQ(pop_all(list, slots), (numbers{3, 6}));
    }
}

TEST(free_list, is_a_stack_only_for_lifo_and_without_unlinked_keys) {
    fake_slots slots(8);
    EXPECT_FALSE(free_list<fake_slot>(reuse::fifo).is_stack());

    free_list<fake_slot> list = list_of(reuse::lifo, slots, {3, 5});
    EXPECT_TRUE(list.is_stack());
    list.unlink(3, *slots.find(3));
    EXPECT_FALSE(list.is_stack());
    EXPECT_TRUE(list.has_unlinked());
    list.insert(slots, 3, *slots.find(3), 2);
    EXPECT_TRUE(list.is_stack());
    EXPECT_FALSE(list.has_unlinked());
}

TEST(free_list, push_writes_the_version_and_the_next_key) {
    fake_slots slots(8);
    free_list<fake_slot> list(reuse::lifo);
    list.push(3, *slots.find(3), 7);
    list.push(6, *slots.find(6), 9);
    EXPECT_EQ(slots.find(3)->version(), 7u);
    EXPECT_EQ(slots.find(6)->version(), 9u);
    EXPECT_EQ(slots.find(6)->next(), 3u);
}

TEST(free_list, undo_pop_makes_the_key_the_next_one) {
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        fake_slots slots(8);
        free_list<fake_slot> list = list_of(order, slots, {3, 5, 1});
        const std::uint64_t first = pop(list, slots);
        list.undo_pop(first, *slots.find(first), 1);
        EXPECT_EQ(pop_all(list, slots),
                  order == reuse::lifo ? (numbers{1, 5, 3}) : (numbers{3, 5, 1}));
    }
}

TEST(free_list, undo_pop_of_the_only_key_also_restores_the_tail) {
    fake_slots slots(8);
    free_list<fake_slot> list = list_of(reuse::fifo, slots, {3, 2});
    pop(list, slots);
    pop(list, slots);
    list.undo_pop(5, *slots.find(5), 1);
    list.insert(slots, 7, *slots.find(7), 1);
    EXPECT_EQ(pop_all(list, slots), (numbers{5, 7}));
}

TEST(free_list, an_unlinked_key_is_not_issued_and_keeps_its_position) {
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        fake_slots slots(8);
        free_list<fake_slot> list = list_of(order, slots, {1, 2, 3});
        list.unlink(2, *slots.find(2));
        EXPECT_EQ(list.size(), 2u);
        list.insert(slots, 2, *slots.find(2), 5);
        EXPECT_EQ(pop_all(list, slots),
                  order == reuse::lifo ? (numbers{3, 2, 1}) : (numbers{1, 2, 3}));
    }
}

TEST(free_list, an_unlinked_key_that_the_head_has_passed_is_inserted_anew) {
    fake_slots slots(8);
    free_list<fake_slot> list = list_of(reuse::fifo, slots, {1, 2, 3});
    list.unlink(1, *slots.find(1));
    EXPECT_EQ(pop(list, slots), 2u);
    list.insert(slots, 1, *slots.find(1), 1);
    EXPECT_EQ(pop_all(list, slots), (numbers{3, 1}));
}

TEST(free_list, a_key_after_an_unlinked_tail_is_found) {
    fake_slots slots(8);
    free_list<fake_slot> list = list_of(reuse::fifo, slots, {1, 2});
    list.unlink(2, *slots.find(2));
    list.insert(slots, 7, *slots.find(7), 1);
    EXPECT_EQ(pop_all(list, slots), (numbers{1, 7}));
}

TEST(free_list, drop_unlinked_keeps_the_order_of_the_remaining_keys) {
    for (const reuse order : {reuse::lifo, reuse::fifo}) {
        fake_slots slots(8);
        free_list<fake_slot> list = list_of(order, slots, {1, 2, 3, 4, 5});
        for (const std::uint64_t key : {1u, 3u, 5u}) list.unlink(key, *slots.find(key));
        list.drop_unlinked(slots);
        EXPECT_FALSE(list.has_unlinked());
        EXPECT_EQ(list.is_stack(), order == reuse::lifo);
        list.insert(slots, 3, *slots.find(3), 1);  // without its position
        EXPECT_EQ(pop_all(list, slots),
                  order == reuse::lifo ? (numbers{3, 4, 2}) : (numbers{2, 4, 3}));
    }
}

TEST(free_list, resume_continues_where_other_threads_stopped) {
    fake_slots slots(8);
    free_list<fake_slot> list = list_of(reuse::lifo, slots, {1, 2, 3, 4});
    list.resume(2, 2);
    EXPECT_EQ(pop_all(list, slots), (numbers{2, 1}));
}

TEST(free_list, agrees_with_a_plain_list_and_a_copy_continues_like_it) {
    struct entry {
        std::uint64_t key;
        bool is_claimed;
    };
    for (unsigned seed = 0; seed < 200; ++seed) {
        const reuse order = seed % 2 == 0 ? reuse::lifo : reuse::fifo;
        std::mt19937_64 dice(seed);
        fake_slots slots(40);
        free_list<fake_slot> list(order);
        std::list<entry> model;
        std::vector<std::uint64_t> used;  // keys outside of the list
        for (std::uint64_t key = 0; key < 40; ++key) used.push_back(key);
        for (std::uint64_t i = 0; i < 300; ++i) {
            if (dice() % 2 == 0 && !used.empty()) {
                std::swap(used[dice() % used.size()], used.back());
                const std::uint64_t key = used.back();
                used.pop_back();
                auto at = model.begin();
                while (at != model.end() && at->key != key) ++at;
                if (at != model.end())
                    at->is_claimed = false;
                else
                    model.insert(order == reuse::lifo ? model.begin() : model.end(), {key, false});
                if (list.is_stack() && dice() % 2 == 0)
                    list.push(key, *slots.find(key), i);
                else
                    list.insert(slots, key, *slots.find(key), i);
            } else if (list.empty()) {
                continue;
            } else if (dice() % 3 == 0) {
                auto at = model.begin();
                for (std::size_t n = dice() % model.size(); n != 0; --n) ++at;
                if (at->is_claimed) continue;
                at->is_claimed = true;
                used.push_back(at->key);
                list.unlink(at->key, *slots.find(at->key));
                slots.find(at->key)->next_key = at->key;  // as in a live slot
            } else {
                while (model.front().is_claimed) model.pop_front();
                ASSERT_EQ(pop(list, slots), model.front().key) << "seed " << seed;
                used.push_back(model.front().key);
                model.pop_front();
            }
        }
        numbers rest;
        for (const entry& free : model)
            if (!free.is_claimed) rest.push_back(free.key);
        free_list<fake_slot> copy(list);
        fake_slots copied_slots = slots;
        ASSERT_EQ(pop_all(list, slots), rest) << "seed " << seed;
        ASSERT_EQ(pop_all(copy, copied_slots), rest) << "seed " << seed;
    }
}

TEST(tombstone_list, releases_the_keys_in_the_order_they_were_parked) {
    fake_slots slots(8);
    tombstone_list<fake_slot> list;
    for (const std::uint64_t key : {3u, 6u, 1u}) list.park(key, *slots.find(key), 9);
    EXPECT_EQ(list.size(), 3u);
    numbers released;
    const auto release = [&](std::uint64_t key, fake_slot& slot) {
        EXPECT_EQ(slot.version(), 9u);
        EXPECT_EQ(&slot, slots.find(key));
        slot = fake_slot::dead(key, other_key(key), 0);  // must not disturb the list
        released.push_back(key);
    };
    EXPECT_EQ(list.recycle(slots, release), 3u);
    EXPECT_EQ(released, (numbers{3, 6, 1}));
    EXPECT_EQ(list.size(), 0u);
    EXPECT_EQ(list.recycle(slots, release), 0u);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
