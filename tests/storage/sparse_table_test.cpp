#include <muster/id/id.hpp>
#include <muster/storage/sparse_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct pinned {
    std::mutex guard;
};

using ordinals = std::vector<std::uint32_t>;

/// A table of sets of texts, for ids of the default layout.
class sparse_table_of : public testing::Test {
protected:
    static constexpr auto shape = sparse_set::id_shape::of<layouts::bound>();

    explicit sparse_table_of(const sparse_set::id_shape& ids = shape) : table(ids) {}
    ~sparse_table_of() override {
        table.forget_entries();
        end_values();
    }
    void end_values() const {
        for (sparse_set* set : table.all())
            if (set != nullptr) set->end_values();
    }

    static id who(std::uint64_t key, std::uint64_t version = 0) {
        return id::pack(key, version, 1);
    }
    static std::string made(int value) {
        return "a text that has a block of its own " + std::to_string(value);
    }

    /// A fragment that is in no set yet; fragments are numbered by their making.
    template <class T = std::string>
    fragment_data& add_fragment() {
        fragments.push_back(std::make_unique<fragment_data>());
        fragment_data& added = *fragments.back();
        added.type = &type_info_of<T>;
        added.index = fragment_index{static_cast<std::uint32_t>(fragments.size() - 1)};
        added.value_type = type_index{static_cast<std::uint32_t>(fragments.size())};
        return added;
    }
    sparse_set& add_set() { return table.add(add_fragment()); }
    std::vector<sparse_set*> add_sets(std::size_t count) {
        std::vector<sparse_set*> added(count);
        for (sparse_set*& set : added) set = &add_set();
        return added;
    }

    slot_index put(sparse_set& set, id e, int value = 0, bool is_dense = true) {
        table.prepare(set, e.value(), is_dense);
        const slot_index slot = set.take();
        ::new (set.at(slot)) std::string(made(value));
        set.attach(e.value(), slot);
        return slot;
    }
    static void remove_value(sparse_set& set, id e) {
        const slot_index slot = set.find(e.value());
        set.detach(e.value(), slot);
        set.drop(slot);
    }
    /// The sets that lose the id, by ordinal; ends its values.
    ordinals forget(id e) {
        ordinals dropped;
        table.forget(e.value(), [&](sparse_set& set, slot_index slot) {
            dropped.push_back(set.ordinal);
            set.drop(slot);
        });
        return dropped;
    }
    [[nodiscard]] ordinals sets_of(id e) const {
        ordinals found;
        table.each(e.value(), [&](const sparse_set& set) { found.push_back(set.ordinal); });
        return found;
    }
    [[nodiscard]] ordinals marked_sets_of(id e) const {
        ordinals found;
        table.each_marked(e.value(), [&](const sparse_set& set) { found.push_back(set.ordinal); });
        return found;
    }

    std::vector<std::unique_ptr<fragment_data>> fragments;
    sparse_table table;
};

/// Sets that are the last in the byte, the first beyond it, and at the borders of words.
constexpr std::uint32_t borders[] = {0, 5, 6, 7, 8, 69, 70, 71, 72, 134, 135, 139};
constexpr std::size_t many = 140;

// ---- sets --------------------------------------------------------------------------------------

TEST_F(sparse_table_of, has_nothing_at_first) {
    EXPECT_TRUE(table.empty());
    EXPECT_TRUE(table.all().empty());
    EXPECT_EQ(table.find(no_type), nullptr);
    EXPECT_EQ(table.find(type_index{1000}), nullptr);
    EXPECT_FALSE(table.has_any(who(7).value()));
    EXPECT_EQ(table.first(who(7).value()), nullptr);
    EXPECT_EQ(marked_sets_of(who(7)), ordinals{});
    EXPECT_EQ(forget(who(7)), ordinals{});
}

TEST_F(sparse_table_of, a_fragment_has_the_set_that_was_added_for_it) {
    fragment_data& fragment = add_fragment();
    sparse_set& set = table.add(fragment);
    EXPECT_EQ(fragment.sparse_values, &set);
    EXPECT_EQ(set.fragment, &fragment);
    EXPECT_EQ(set.size(), 0u);
    EXPECT_FALSE(table.empty());
    ASSERT_EQ(table.all().size(), 1u);
    EXPECT_EQ(table.all()[0], &set);
}

TEST_F(sparse_table_of, ordinals_count_the_sets) {
    const auto sets = add_sets(many);
    ASSERT_EQ(table.all().size(), many);
    for (std::uint32_t i = 0; i < many; ++i) {
        ASSERT_EQ(sets[i]->ordinal, i);
        ASSERT_EQ(table.all()[i], sets[i]);
    }
}

TEST_F(sparse_table_of, the_ordinal_of_a_removed_set_is_used_again) {
    const auto sets = add_sets(10);
    fragment_data& gone = *sets[3]->fragment;
    table.remove(*sets[3]);
    EXPECT_EQ(gone.sparse_values, nullptr);
    EXPECT_EQ(table.all()[3], nullptr);
    EXPECT_EQ(table.all().size(), 10u);
    EXPECT_EQ(add_set().ordinal, 3u);
    EXPECT_EQ(add_set().ordinal, 10u);
}

TEST_F(sparse_table_of, removed_sets_at_the_end_leave_no_gap) {
    const auto sets = add_sets(10);
    table.remove(*sets[8]);
    EXPECT_EQ(table.all().size(), 10u);
    table.remove(*sets[9]);
    EXPECT_EQ(table.all().size(), 8u);
    for (std::size_t i = 0; i < 8; ++i) table.remove(*sets[i]);
    EXPECT_TRUE(table.empty());
    EXPECT_EQ(add_set().ordinal, 0u);
}

// ---- who has what ------------------------------------------------------------------------------

TEST_F(sparse_table_of, an_id_is_found_in_the_sets_that_have_it_by_ordinal) {
    const auto sets = add_sets(4);
    put(*sets[2], who(7), 1);
    put(*sets[0], who(7), 2);
    put(*sets[1], who(8), 3);
    EXPECT_EQ(sets_of(who(7)), (ordinals{0, 2}));
    EXPECT_EQ(sets_of(who(8)), ordinals{1});
    EXPECT_EQ(sets_of(who(9)), ordinals{});
    EXPECT_EQ(table.first(who(7).value()), sets[0]);
    EXPECT_EQ(table.first(who(8).value()), sets[1]);
    EXPECT_TRUE(table.has_any(who(7).value()));
    EXPECT_FALSE(table.has_any(who(9).value()));
}

TEST_F(sparse_table_of, another_version_of_the_key_has_nothing) {
    sparse_set& set = add_set();
    put(set, who(7, 3));
    for (const id other : {who(7, 2), who(7, 4), id::pack(7, 3, 2)}) {
        EXPECT_FALSE(table.has_any(other.value())) << to_string(other);
        EXPECT_EQ(sets_of(other), ordinals{}) << to_string(other);
    }
}

TEST_F(sparse_table_of, each_of_many_sets_has_a_mark_of_its_own) {
    const auto sets = add_sets(many);
    for (const std::uint32_t ordinal : borders) put(*sets[ordinal], who(1000 + ordinal));
    for (std::uint32_t ordinal = 0; ordinal < many; ++ordinal) {
        const bool is_border = std::ranges::count(borders, ordinal) != 0;
        const id e = who(1000 + ordinal);
        ASSERT_EQ(marked_sets_of(e), is_border ? ordinals{ordinal} : ordinals{}) << ordinal;
        ASSERT_EQ(sets_of(e), is_border ? ordinals{ordinal} : ordinals{}) << ordinal;
        ASSERT_EQ(table.first(e.value()), is_border ? sets[ordinal] : nullptr) << ordinal;
    }
}

TEST_F(sparse_table_of, the_newest_set_works_however_many_there_are) {
    for (std::uint32_t ordinal = 0; ordinal < many; ++ordinal) {
        put(add_set(), who(7));
        ASSERT_EQ(sets_of(who(7)).size(), ordinal + 1);
        ASSERT_EQ(sets_of(who(7)).back(), ordinal);
    }
}

TEST_F(sparse_table_of, one_id_can_be_in_all_of_many_sets) {
    const auto sets = add_sets(many);
    ordinals expected;
    for (std::uint32_t ordinal = many; ordinal-- != 0;) put(*sets[ordinal], who(7));
    for (std::uint32_t ordinal = 0; ordinal < many; ++ordinal) expected.push_back(ordinal);
    EXPECT_EQ(sets_of(who(7)), expected);
    EXPECT_EQ(forget(who(7)), expected);
    EXPECT_EQ(sets_of(who(7)), ordinals{});
}

TEST_F(sparse_table_of, lists_fragments_by_number_after_those_that_are_there) {
    // The numbers of the fragments run against the ordinals of their sets.
    std::vector<fragment_data*> added;
    for (int i = 0; i < 10; ++i) added.push_back(&add_fragment());
    for (std::size_t i = 10; i-- != 0;) table.add(*added[i]);
    for (const std::size_t i : {9u, 2u, 4u}) put(*added[i]->sparse_values, who(7));
    put(*added[3]->sparse_values, who(8));
    array_list<fragment_data*> found{added[5], added[0]};
    table.list(who(7).value(), found);
    EXPECT_EQ(found,
              (array_list<fragment_data*>{added[5], added[0], added[2], added[4], added[9]}));
    table.list(who(9).value(), found);
    EXPECT_EQ(found.size(), 5u);
}

TEST_F(sparse_table_of, a_mark_stays_when_a_value_is_removed) {
    const auto sets = add_sets(9);
    for (const std::size_t i : {1u, 8u}) put(*sets[i], who(7));
    remove_value(*sets[1], who(7));
    EXPECT_EQ(sets_of(who(7)), ordinals{8});
    EXPECT_EQ(marked_sets_of(who(7)), (ordinals{1, 8}));
    remove_value(*sets[8], who(7));
    EXPECT_FALSE(table.has_any(who(7).value()));
    EXPECT_EQ(marked_sets_of(who(7)), (ordinals{1, 8}));
    put(*sets[8], who(7));
    EXPECT_EQ(sets_of(who(7)), ordinals{8});
}

TEST_F(sparse_table_of, prepare_gives_an_entry_without_a_value) {
    const auto sets = add_sets(9);
    table.prepare(*sets[3], who(7).value(), true);
    table.prepare(*sets[8], who(7).value(), true);
    table.prepare(*sets[8], who(7).value(), true);
    EXPECT_FALSE(table.has_any(who(7).value()));
    EXPECT_EQ(marked_sets_of(who(7)), (ordinals{3, 8}));
    EXPECT_TRUE(sets[3]->entries().cover(7));
    EXPECT_EQ(forget(who(7)), ordinals{});
    EXPECT_EQ(marked_sets_of(who(7)), ordinals{});
}

TEST_F(sparse_table_of, a_removed_set_is_not_found_by_the_marks_that_it_left) {
    const auto sets = add_sets(10);
    for (const std::size_t i : {2u, 4u, 8u, 9u}) {
        put(*sets[i], who(7));
        if (i != 4) remove_value(*sets[i], who(7));
    }
    table.remove(*sets[2]);
    table.remove(*sets[8]);
    table.remove(*sets[9]);
    EXPECT_EQ(marked_sets_of(who(7)), ordinals{4});
    sparse_set& next = add_set();
    ASSERT_EQ(next.ordinal, 2u);
    EXPECT_EQ(sets_of(who(7)), ordinals{4});
    EXPECT_EQ(forget(who(7)), ordinals{4});
    put(next, who(7, 1));
    EXPECT_EQ(sets_of(who(7, 1)), ordinals{2});
}

// ---- the end of an id --------------------------------------------------------------------------

TEST_F(sparse_table_of, forget_hands_over_the_slots_that_the_id_had) {
    const auto sets = add_sets(many);
    std::map<std::uint32_t, slot_index> slots;
    for (const std::uint32_t ordinal : borders) {
        put(*sets[ordinal], who(6), 1);
        slots[ordinal] = put(*sets[ordinal], who(7), 2);
        put(*sets[ordinal], who(8), 3);
    }
    remove_value(*sets[5], who(7));
    remove_value(*sets[70], who(7));
    slots.erase(5);
    slots.erase(70);
    table.forget(who(7).value(), [&](sparse_set& set, slot_index slot) {
        ASSERT_TRUE(slots.contains(set.ordinal));
        EXPECT_EQ(slot, slots[set.ordinal]);
        EXPECT_FALSE(set.has(who(7).value()));
        EXPECT_EQ(*reinterpret_cast<std::string*>(set.at(slot)), made(2));
        slots.erase(set.ordinal);
        set.drop(slot);
    });
    EXPECT_TRUE(slots.empty());
    EXPECT_EQ(marked_sets_of(who(7)), ordinals{});
    const ordinals all(std::begin(borders), std::end(borders));
    EXPECT_EQ(sets_of(who(6)), all);
    EXPECT_EQ(sets_of(who(8)), all);
    for (const std::uint32_t ordinal : borders) EXPECT_EQ(sets[ordinal]->size(), 2u);
}

TEST_F(sparse_table_of, the_next_version_of_a_forgotten_key_starts_without_marks) {
    const auto sets = add_sets(80);
    for (const std::size_t i : {3u, 7u, 79u}) put(*sets[i], who(7));
    EXPECT_EQ(forget(who(7)), (ordinals{3, 7, 79}));
    EXPECT_EQ(marked_sets_of(who(7, 1)), ordinals{});
    put(*sets[8], who(7, 1));
    EXPECT_EQ(marked_sets_of(who(7, 1)), ordinals{8});
    EXPECT_EQ(forget(who(7, 1)), ordinals{8});
    EXPECT_EQ(forget(who(7, 1)), ordinals{});
}

TEST_F(sparse_table_of, forget_entries_leaves_nobody_anything_until_the_values_end) {
    const auto sets = add_sets(9);
    for (const std::size_t i : {0u, 7u, 8u}) {
        put(*sets[i], who(7), 1);
        put(*sets[i], who(1 << 20), 2, false);
    }
    table.forget_entries();
    for (const id e : {who(7), who(1 << 20)}) {
        EXPECT_FALSE(table.has_any(e.value()));
        EXPECT_EQ(marked_sets_of(e), ordinals{});
        EXPECT_EQ(forget(e), ordinals{});
    }
    EXPECT_EQ(sets[0]->size(), 0u);
    EXPECT_EQ(*reinterpret_cast<std::string*>(sets[0]->at(slot_index{0})), made(1));
    end_values();
    put(*sets[8], who(7), 3);
    EXPECT_EQ(marked_sets_of(who(7)), ordinals{8});
}

// ---- near and far keys -------------------------------------------------------------------------

TEST_F(sparse_table_of, far_keys_are_found_like_near_ones) {
    const auto sets = add_sets(9);
    for (const std::uint64_t key :
         {std::uint64_t{3}, std::uint64_t{1} << 20, std::uint64_t{1} << 31}) {
        put(*sets[1], who(key), 1, key < 1000);
        put(*sets[8], who(key), 1, key < 1000);
        EXPECT_EQ(sets_of(who(key)), (ordinals{1, 8})) << key;
        EXPECT_EQ(sets_of(who(key + 1)), ordinals{}) << key;
    }
    EXPECT_EQ(forget(who(1 << 20)), (ordinals{1, 8}));
    EXPECT_EQ(marked_sets_of(who(1 << 20)), ordinals{});
    EXPECT_EQ(sets_of(who(std::uint64_t{1} << 31)), (ordinals{1, 8}));
}

TEST_F(sparse_table_of, a_far_key_is_found_when_the_near_ones_reach_it) {
    const auto sets = add_sets(9);
    for (const std::uint64_t key : {5000u, 5001u, 20'000u}) {
        put(*sets[2], who(key), 1, false);
        put(*sets[8], who(key), 1, false);
    }
    remove_value(*sets[2], who(5001));
    put(*sets[0], who(6000), 1, true);
    EXPECT_EQ(sets_of(who(5000)), (ordinals{2, 8}));
    EXPECT_EQ(marked_sets_of(who(5001)), (ordinals{2, 8}));
    EXPECT_EQ(sets_of(who(20'000)), (ordinals{2, 8}));
    EXPECT_EQ(sets_of(who(6000)), ordinals{0});
    put(*sets[3], who(5000), 1, true);
    EXPECT_EQ(sets_of(who(5000)), (ordinals{2, 3, 8}));
    EXPECT_EQ(forget(who(5000)), (ordinals{2, 3, 8}));
    EXPECT_EQ(forget(who(20'000)), (ordinals{2, 8}));
}

TEST_F(sparse_table_of, marks_survive_the_growth_of_their_array) {
    sparse_set& set = add_set();
    for (std::uint64_t key = 0; key < 3000; key += 3) put(set, who(key));
    for (std::uint64_t key = 0; key < 3000; ++key)
        ASSERT_EQ(marked_sets_of(who(key)), key % 3 == 0 ? ordinals{0} : ordinals{}) << key;
}

class sparse_table_from_key_100 : public sparse_table_of {
protected:
    sparse_table_from_key_100() : sparse_table_of(sparse_set::id_shape::of<layouts::bound>(100)) {}
};

TEST_F(sparse_table_from_key_100, keys_count_from_the_first_one) {
    const auto sets = add_sets(9);
    for (const std::uint64_t key : {100u, 101u, 700u}) {
        put(*sets[0], who(key));
        put(*sets[8], who(key));
    }
    put(*sets[4], who(99), 1, false);  // outside of the range
    for (const std::uint64_t key : {100u, 101u, 700u})
        EXPECT_EQ(sets_of(who(key)), (ordinals{0, 8}));
    EXPECT_EQ(sets_of(who(99)), ordinals{4});
    EXPECT_EQ(sets_of(who(102)), ordinals{});
    EXPECT_EQ(forget(who(99)), ordinals{4});
    EXPECT_EQ(forget(who(100)), (ordinals{0, 8}));
    EXPECT_EQ(sets_of(who(101)), (ordinals{0, 8}));
}

// ---- traits ------------------------------------------------------------------------------------

TEST_F(sparse_table_of, finds_the_set_of_a_type_whose_fragment_the_world_made) {
    fragment_data& owned = add_fragment();
    fragment_data& other = add_fragment();
    owned.is_world_owned = true;
    sparse_set& set = table.add(owned);
    table.add(other);
    EXPECT_EQ(table.find(owned.value_type), nullptr);  // not told yet
    table.invalidate_traits();
    EXPECT_EQ(table.find(owned.value_type), &set);
    EXPECT_EQ(table.find(other.value_type), nullptr);
    EXPECT_EQ(table.find(no_type), nullptr);
    EXPECT_EQ(table.find(type_index{100'000}), nullptr);
    table.remove(set);
    EXPECT_EQ(table.find(owned.value_type), nullptr);
}

TEST_F(sparse_table_of, a_type_with_a_high_number_is_found) {
    fragment_data& owned = add_fragment();
    owned.is_world_owned = true;
    owned.value_type = type_index{5000};
    sparse_set& set = table.add(owned);
    for (std::uint32_t type = 0; type < 5002; ++type)
        ASSERT_EQ(table.find(type_index{type}), nullptr) << type;
    table.invalidate_traits();
    EXPECT_EQ(table.find(type_index{5000}), &set);
    EXPECT_EQ(table.find(type_index{4999}), nullptr);
    EXPECT_EQ(table.find(type_index{5001}), nullptr);
}

TEST_F(sparse_table_of, a_value_is_inserted_simply_unless_more_than_that_has_to_happen) {
    fragment_data& plain = add_fragment<int>();
    fragment_data& text = add_fragment();
    fragment_data& hooked = add_fragment<int>();
    fragment_data& needing = add_fragment<int>();
    fragment_data& fixed = add_fragment<pinned>();
    needing.implied.push_back({&plain});
    (void)hooked.hooks.add(hook_kind::insert, hook_function{});
    for (fragment_data* fragment : {&plain, &text, &hooked, &needing, &fixed})
        table.prepare(table.add(*fragment), who(1).value(), true);
    EXPECT_FALSE(plain.sparse_values->has_fast_insert());  // not told yet
    table.invalidate_traits();
    EXPECT_TRUE(plain.sparse_values->has_fast_insert());
    EXPECT_TRUE(text.sparse_values->has_fast_insert());
    EXPECT_FALSE(hooked.sparse_values->has_fast_insert());
    EXPECT_FALSE(needing.sparse_values->has_fast_insert());
    EXPECT_FALSE(fixed.sparse_values->has_fast_insert());
    const auto has_fast_remove = [](const fragment_data& fragment) {
        return fragment.sparse_values->fast_remove_entries().cover(1);
    };
    EXPECT_TRUE(has_fast_remove(plain));
    EXPECT_FALSE(has_fast_remove(text));  // a destructor runs
    EXPECT_FALSE(has_fast_remove(hooked));
    EXPECT_TRUE(has_fast_remove(needing));
    (void)plain.hooks.add(hook_kind::remove, hook_function{});
    table.invalidate_traits();
    EXPECT_FALSE(plain.sparse_values->has_fast_insert());
    EXPECT_FALSE(has_fast_remove(plain));
}

TEST_F(sparse_table_of, a_set_without_a_fragment_has_no_traits) {
    fragment_data& gone = add_fragment();
    fragment_data& other = add_fragment();
    gone.is_world_owned = other.is_world_owned = true;
    sparse_set& waiting = table.add(gone);
    sparse_set& set = table.add(other);
    table.invalidate_traits();
    waiting.fragment = nullptr;
    table.invalidate_traits();
    EXPECT_EQ(table.find(gone.value_type), nullptr);
    EXPECT_EQ(table.find(other.value_type), &set);
    waiting.fragment = &gone;
}

TEST_F(sparse_table_of, a_new_set_takes_the_lowest_free_ordinal) {
    std::vector<sparse_set*> sets;
    for (std::uint32_t i = 0; i < 20; ++i) {
        sets.push_back(&add_set());
        EXPECT_EQ(sets.back()->ordinal, i);
    }
    const auto remove = [&](std::uint32_t ordinal) { table.remove(*sets[ordinal]); };
    const auto expect_next = [&](std::uint32_t ordinal) {
        sets.resize(std::max<std::size_t>(sets.size(), ordinal + 1));
        sets[ordinal] = &add_set();
        EXPECT_EQ(sets[ordinal]->ordinal, ordinal);
    };
    for (const std::uint32_t gone : {7u, 3u, 19u, 18u, 11u}) remove(gone);
    EXPECT_EQ(table.all().size(), 18u);
    for (const std::uint32_t next : {3u, 7u, 11u, 18u, 19u, 20u}) expect_next(next);
    for (int round = 0; round < 100; ++round) {
        remove(5);
        expect_next(5);
    }
    remove(20);
    remove(2);
    remove(19);
    for (const std::uint32_t next : {2u, 19u, 20u}) expect_next(next);
}

TEST_F(sparse_table_of, an_id_can_be_in_any_of_thousands_of_sets) {
    std::vector<sparse_set*> sets;
    for (int i = 0; i < 5000; ++i) sets.push_back(&add_set());
    ordinals wanted;
    for (std::uint32_t ordinal = 1; ordinal < 5000; ordinal = ordinal * 2 + 1) {
        table.prepare(*sets[ordinal], who(7).value(), true);
        const slot_index slot = sets[ordinal]->take();
        ::new (sets[ordinal]->at(slot)) std::string(made(1));
        sets[ordinal]->attach(who(7).value(), slot);
        wanted.push_back(ordinal);
    }
    EXPECT_EQ(sets_of(who(7)), wanted);
    table.forget(who(7).value(), [](sparse_set& set, slot_index slot) { set.drop(slot); });
    EXPECT_EQ(sets_of(who(7)), ordinals{});
    EXPECT_FALSE(table.has_any(who(7).value()));
}

TEST_F(sparse_table_of, the_values_of_a_set_can_wait_for_another_fragment) {
    fragment_data& gone = add_fragment();
    fragment_data& next = add_fragment();
    next.is_world_owned = true;
    sparse_set& waiting = table.add(gone);
    sparse_set& unused = table.add(next);
    const std::uint32_t freed = unused.ordinal;
    const slot_index slot = waiting.take();
    ::new (waiting.at(slot)) std::string(made(1));
    gone.sparse_values = nullptr;
    table.hand_over(waiting, next);
    EXPECT_EQ(next.sparse_values, &waiting);
    EXPECT_EQ(waiting.fragment, &next);
    EXPECT_EQ(table.find(next.value_type), &waiting);
    EXPECT_EQ(table.all().size(), freed);  // its own set is gone
    table.prepare(waiting, who(7).value(), true);
    waiting.attach(who(7).value(), slot);
    EXPECT_EQ(sets_of(who(7)), ordinals{waiting.ordinal});
    EXPECT_EQ(*reinterpret_cast<std::string*>(waiting.at(slot)), made(1));
}

TEST_F(sparse_table_of, a_fragment_without_a_set_takes_one_over) {
    sparse_set& waiting = add_set();
    fragment_data& next = add_fragment();
    waiting.fragment->sparse_values = nullptr;
    table.hand_over(waiting, next);
    EXPECT_EQ(next.sparse_values, &waiting);
    EXPECT_EQ(table.all().size(), 1u);
}

// ---- trim --------------------------------------------------------------------------------------

TEST_F(sparse_table_of, trim_keeps_all_values) {
    const auto sets = add_sets(9);
    for (const std::size_t i : {0u, 8u})
        for (const std::uint64_t key : {1u, 2000u, 1u << 20})
            put(*sets[i], who(key), 1, key < 3000);
    remove_value(*sets[0], who(1));
    remove_value(*sets[8], who(1 << 20));
    table.remove(*sets[4]);
    table.trim();
    EXPECT_EQ(sets_of(who(1)), ordinals{8});
    EXPECT_EQ(sets_of(who(2000)), (ordinals{0, 8}));
    EXPECT_EQ(sets_of(who(1 << 20)), ordinals{0});
    put(*sets[0], who(1));
    put(*sets[8], who(1 << 20), 1, false);
    EXPECT_EQ(sets_of(who(1)), (ordinals{0, 8}));
    EXPECT_EQ(forget(who(1 << 20)), (ordinals{0, 8}));
    EXPECT_EQ(forget(who(1)), (ordinals{0, 8}));
}

TEST_F(sparse_table_of, trim_drops_entries_without_a_value) {
    const auto sets = add_sets(2);
    const auto has_entry = [&](const sparse_set& set, id e) {
        return set.entries().cover(e.key()) &&
               shape.read(set.entries()[e.key()], e.value()) <= shape.unset();
    };
    for (sparse_set* set : sets) {
        put(*set, who(5));
        put(*set, who(6));
        remove_value(*set, who(6));
        EXPECT_TRUE(has_entry(*set, who(6)));
    }
    table.trim();
    for (const sparse_set* set : sets) {
        EXPECT_TRUE(has_entry(*set, who(5)));
        EXPECT_FALSE(has_entry(*set, who(6)));
    }
    EXPECT_EQ(forget(who(6)), ordinals{});
}

TEST_F(sparse_table_of, an_empty_table_can_be_trimmed_and_used_again) {
    const auto sets = add_sets(9);
    for (int round = 0; round < 3; ++round) {
        for (const std::size_t i : {0u, 8u})
            for (const std::uint64_t key : {1u, 2000u, 1u << 20})
                put(*sets[i], who(key), 1, key < 3000);
        for (const std::uint64_t key : {1u, 2000u, 1u << 20})
            ASSERT_EQ(forget(who(key)), (ordinals{0, 8})) << key;
        table.trim();
        for (const std::uint64_t key : {1u, 2000u, 1u << 20})
            ASSERT_EQ(marked_sets_of(who(key)), ordinals{}) << key;
    }
}

// ---- against a naive model ---------------------------------------------------------------------

TEST_F(sparse_table_of, agrees_with_a_map_over_random_changes) {
    std::mt19937 random(3);
    std::map<std::uint64_t, std::set<std::uint32_t>> expected;  // by key
    std::map<std::uint64_t, std::uint64_t> versions;
    const auto random_key = [&] {
        return std::uint64_t{random() % 4 == 0 ? random() % 20 * 100'000 : random() % 200};
    };
    const auto living = [&](std::uint64_t key) { return who(key, versions[key]); };
    const auto list = [&](std::uint64_t key) {
        return ordinals(expected[key].begin(), expected[key].end());
    };
    for (int step = 0; step < 2000; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        const auto choice = random() % 100;
        const std::uint64_t key = random_key();
        const id e = living(key);
        sparse_set* const set =
            table.empty() ? nullptr : table.all()[random() % table.all().size()];
        if (choice < 10 && table.all().size() < 90) {
            add_set();
        } else if (choice < 60 && set != nullptr) {
            const bool is_dense = key < 150;
            if (!set->has(e.value())) put(*set, e, step, is_dense);
            expected[key].insert(set->ordinal);
        } else if (choice < 75 && set != nullptr && set->has(e.value())) {
            remove_value(*set, e);
            expected[key].erase(set->ordinal);
        } else if (choice < 90) {
            ASSERT_EQ(forget(e), list(key));
            expected[key].clear();
            ++versions[key];
        } else if (choice < 92 && set != nullptr) {
            for (auto& [other, sets] : expected)
                if (sets.erase(set->ordinal) != 0) remove_value(*set, living(other));
            table.remove(*set);
        } else if (choice < 94) {
            table.trim();
        }
        ASSERT_EQ(sets_of(living(key)), list(key));
        ASSERT_EQ(table.has_any(living(key).value()), !expected[key].empty());
    }
    for (const auto& [key, sets] : expected) ASSERT_EQ(sets_of(living(key)), list(key));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
