#include <muster/id/id.hpp>
#include <muster/storage/sparse_set.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct wide {
    std::array<int, 2000> values;
};

/// A set of strings, or of other values, for ids of the default layout.
template <class T>
struct sparse_set_of : testing::Test {
    static id id_of(std::uint64_t key, std::uint64_t version = 0) {
        return id::pack(key, version, 1);
    }
    static T made(int value) {
        if constexpr (std::is_same_v<T, std::string>)
            return std::string("a text that has a block of its own ").append(std::to_string(value));
        else if constexpr (std::is_same_v<T, wide>)
            return {{value}};
        else
            return static_cast<T>(value);
    }
    T& at(slot_index slot) { return *reinterpret_cast<T*>(set.at(slot)); }
    slot_index add(id e, int value) {
        set.prepare(e.value(), true);
        const slot_index slot = set.take();
        ::new (set.at(slot)) T(made(value));
        set.attach(e.value(), slot);
        return slot;
    }
    void remove(id e) {
        const slot_index slot = set.find(e.value());
        set.detach(e.value(), slot);
        set.drop(slot);
    }
    ~sparse_set_of() override {
        set.forget_entries();
        set.end_values();
    }

    struct fragment_of_values : fragment_data {
        fragment_of_values() { type = &type_info_of<T>; }
    };
    fragment_of_values fragment;
    sparse_set set{fragment, {32, 32, 0, sizeof(id)}, 0};
};

using set_of_texts = sparse_set_of<std::string>;
using set_of_numbers = sparse_set_of<int>;
using set_of_wide = sparse_set_of<wide>;

TEST_F(set_of_texts, finds_exactly_the_id_that_has_a_value) {
    const slot_index slot = add(id_of(5, 3), 1);
    EXPECT_EQ(set.find(id_of(5, 3).value()), slot);
    EXPECT_EQ(at(slot), made(1));
    for (const id other : {id_of(5, 2), id_of(5, 4), id_of(6, 3), id::pack(5, 3, 2), id{},
                           id::pack(0xFFFFFFFF, 0xFFFF, 0xFFFF), id::pack(5, 0xFFFF, 0xFFFF)})
        EXPECT_EQ(set.find(other.value()), no_slot) << to_string(other);
    EXPECT_EQ(set.size(), 1u);
    remove(id_of(5, 3));
    EXPECT_FALSE(set.has(id_of(5, 3).value()));
    EXPECT_EQ(set.size(), 0u);
}

/// Reads the entry of an id as `id_shape::read` does; all ones if no page covers its key.
std::uint64_t read(const sparse_set& set, id e) {
    constexpr auto shape = sparse_set::id_shape::of<id::layout_type>();
    return set.entries().cover(e.key()) ? shape.read(set.entries()[e.key()], e.value())
                                        : ~std::uint64_t{0};
}

TEST_F(set_of_texts, an_entry_stays_until_forget_erases_it) {
    constexpr std::uint64_t unset = sparse_set::id_shape::of<id::layout_type>().unset();
    EXPECT_GT(read(set, id_of(5, 3)), unset);
    const slot_index slot = add(id_of(5, 3), 1);
    EXPECT_EQ(read(set, id_of(5, 3)), to_int(slot));
    remove(id_of(5, 3));
    EXPECT_EQ(read(set, id_of(5, 3)), unset);
    for (const id other :
         {id_of(5, 2), id_of(6, 3), id::pack(5, 3, 2), id::pack(5, 0xFFFF, 0xFFFF)})
        EXPECT_GT(read(set, other), unset) << to_string(other);
    EXPECT_EQ(set.forget(id_of(5, 3).value()), no_slot);
    EXPECT_GT(read(set, id_of(5, 3)), unset);
    EXPECT_EQ(set.forget(id_of(900'000).value()), no_slot);  // never had an entry
    const slot_index again = add(id_of(5, 4), 1);
    EXPECT_EQ(set.forget(id_of(5, 4).value()), again);
    EXPECT_GT(read(set, id_of(5, 4)), unset);
    EXPECT_EQ(set.size(), 0u);
    set.drop(again);
}

TEST_F(set_of_texts, an_absent_entry_does_not_match_an_id_of_all_ones) {
    const id ones = id::pack(7, 0xFFFF, 0xFFFF);
    add(id_of(8), 1);
    EXPECT_GT(read(set, ones), sparse_set::id_shape::of<id::layout_type>().unset());
    add(ones, 2);
    EXPECT_TRUE(set.has(ones.value()));
    remove(ones);
    EXPECT_FALSE(set.has(ones.value()));
}

TEST_F(set_of_texts, trims_entries_without_a_slot) {
    add(id_of(5), 1);
    add(id_of(6), 1);
    remove(id_of(6));
    set.trim();
    EXPECT_GT(read(set, id_of(6)), sparse_set::id_shape::of<id::layout_type>().unset());
    EXPECT_TRUE(set.has(id_of(5).value()));
}

constexpr auto shape = sparse_set::id_shape::of<id::layout_type>();

/// Adds and removes values as the world does on its fast path: a removed value keeps its slot.
struct set_of_states : set_of_numbers {
    sparse_entry& entry(id e) { return set.entries()[e.key()]; }
    slot_index kept(id e) {
        const std::uint64_t slot = read(set, e) - shape.kept();
        return slot < shape.slot_limit() ? slot_index{static_cast<std::uint32_t>(slot)} : no_slot;
    }
    slot_index begin(id e, int value) {
        set.prepare(e.value(), true);
        if (read(set, e) == shape.unset()) set.keep_slot(e.value());
        const slot_index slot = kept(e);
        ::new (set.at(slot)) int(value);
        set.begin_value(slot, entry(e), shape);
        return slot;
    }
    void end(id e) { set.end_value(set.find(e.value()), entry(e), shape); }
};

TEST_F(set_of_states, an_entity_keeps_its_slot_when_its_value_is_removed) {
    const slot_index first = begin(id_of(5, 3), 1);
    const slot_index second = begin(id_of(6), 2);
    end(id_of(5, 3));
    EXPECT_FALSE(set.has(id_of(5, 3).value()));
    EXPECT_EQ(kept(id_of(5, 3)), first);
    EXPECT_EQ(set.size(), 1u);
    EXPECT_EQ(set.next(0), second);
    EXPECT_NE(begin(id_of(7), 3), first);
    EXPECT_EQ(begin(id_of(5, 3), 4), first);
    EXPECT_EQ(at(first), 4);
    EXPECT_EQ(set.size(), 3u);
}

TEST_F(set_of_states, a_kept_slot_is_freed_when_its_entity_is_destroyed_or_takes_another_slot) {
    const slot_index first = begin(id_of(5), 1);
    const slot_index second = begin(id_of(6), 1);
    begin(id_of(7), 1);
    end(id_of(5));
    EXPECT_EQ(set.forget(id_of(5).value()), no_slot);
    EXPECT_EQ(begin(id_of(8), 1), first);
    end(id_of(6));
    const slot_index other = add(id_of(6), 9);
    EXPECT_NE(other, second);
    EXPECT_EQ(begin(id_of(9), 1), second);
    EXPECT_EQ(at(set.find(id_of(6).value())), 9);
}

TEST_F(set_of_states, kept_slots_are_reclaimed_before_the_set_grows) {
    // 100 values at a time, for 200,000 entities: memory follows the number of values.
    for (unsigned i = 0; i < 200'000; ++i) {
        begin(id_of(i), static_cast<int>(i));
        if (i >= 100) end(id_of(i - 100));
        ASSERT_EQ(set.size(), i < 100 ? i + 1 : 100u);
    }
    EXPECT_LE(set.end(), 2 * set.page_size());
    for (unsigned i = 199'900; i < 200'000; ++i)
        EXPECT_EQ(at(set.find(id_of(i).value())), static_cast<int>(i));
    EXPECT_FALSE(set.has(id_of(199'899).value()));
}

TEST_F(set_of_states, reserved_slots_do_not_count_as_kept) {
    std::vector<slot_index> reserved;
    for (unsigned i = 0; i < set.page_size() - 1; ++i) reserved.push_back(set.take());
    const slot_index last = begin(id_of(1), 1);
    EXPECT_EQ(to_int(last), set.page_size() - 1);
    end(id_of(1));
    EXPECT_NE(begin(id_of(2), 2), last);  // too few slots are kept: the set grows instead
    EXPECT_EQ(kept(id_of(1)), last);
    for (const slot_index slot : reserved) set.give_back(slot);
    EXPECT_EQ(set.size(), 1u);
}

TEST_F(set_of_states, reorder_and_trim_free_kept_slots) {
    for (unsigned i = 0; i < 100; ++i) begin(id_of(i), static_cast<int>(i));
    for (unsigned i = 0; i < 100; i += 2) end(id_of(i));
    array_list<slot_index> order;
    for (slot_index at = set.next(0); at != no_slot; at = set.next(to_int(at) + 1))
        order.insert(order.begin(), at);
    set.reorder(order);
    EXPECT_EQ(set.end(), 50u);
    EXPECT_EQ(kept(id_of(0)), no_slot);
    EXPECT_EQ(set.find(id_of(99).value()), slot_index{0});
    for (unsigned i = 21; i < 100; i += 2) end(id_of(i));  // the first values in slot order
    set.trim();
    EXPECT_EQ(set.end(), 50u);
    EXPECT_EQ(set.size(), 10u);
    EXPECT_EQ(kept(id_of(99)), no_slot);
    EXPECT_EQ(begin(id_of(500), 5), slot_index{0});
}

TEST_F(set_of_texts, values_keep_their_addresses) {
    std::vector<const std::string*> places;
    for (int i = 0; i < 10'000; ++i) places.push_back(&at(add(id_of(static_cast<unsigned>(i)), i)));
    for (unsigned i = 0; i < 10'000; i += 2) remove(id_of(i));
    for (unsigned i = 20'000; i < 23'000; ++i) add(id_of(i), 1);
    for (unsigned i = 1; i < 10'000; i += 2) {
        ASSERT_EQ(&at(set.find(id_of(i).value())), places[i]);
        ASSERT_EQ(*places[i], made(static_cast<int>(i)));
    }
}

TEST_F(set_of_numbers, reuses_the_last_freed_slot_first) {
    for (unsigned i = 0; i < 4; ++i) add(id_of(i), 0);
    remove(id_of(1));
    remove(id_of(2));
    EXPECT_EQ(to_int(add(id_of(10), 0)), 2u);
    EXPECT_EQ(to_int(add(id_of(11), 0)), 1u);
    EXPECT_EQ(to_int(add(id_of(12), 0)), 4u);
}

TEST_F(set_of_numbers, an_emptied_set_starts_at_slot_0_again) {
    for (unsigned i = 0; i < 100; ++i) add(id_of(i), 0);
    for (unsigned i = 0; i < 100; ++i) remove(id_of(i * 37 % 100));
    EXPECT_EQ(set.end(), 0u);
    EXPECT_EQ(to_int(add(id_of(7), 0)), 0u);
}

TEST_F(set_of_numbers, a_reserved_slot_belongs_to_no_entity) {
    const slot_index reserved = set.take();
    ::new (set.at(reserved)) int(5);
    EXPECT_EQ(set.size(), 0u);
    EXPECT_EQ(set.next(0), no_slot);
    EXPECT_NE(add(id_of(1), 0), reserved);
    set.prepare(id_of(2).value(), true);
    set.attach(id_of(2).value(), reserved);
    EXPECT_EQ(at(set.find(id_of(2).value())), 5);
}

TEST_F(set_of_wide, large_values_have_small_pages) {
    EXPECT_EQ(set.page_size(), 8u);
    for (unsigned i = 0; i < 30; ++i) add(id_of(i), static_cast<int>(i));
    for (unsigned i = 0; i < 30; i += 3) remove(id_of(i));
    std::vector<unsigned> seen;
    for (slot_index s = set.next(0); s != no_slot; s = set.next(to_int(s) + 1))
        seen.push_back(to_int(s));
    std::vector<unsigned> wanted;
    for (unsigned i = 0; i < 30; ++i)
        if (i % 3 != 0) wanted.push_back(i);
    EXPECT_EQ(seen, wanted);
    EXPECT_EQ(set.run(slot_index{1}), 2u);
    EXPECT_EQ(set.run(slot_index{7}), 1u);  // the end of its page
    EXPECT_EQ(set.block_size(), 8u);
    EXPECT_EQ(set.block_at(slot_index{8}), 0b01101101u);   // 9, 12 and 15 are empty
    EXPECT_EQ(set.block_at(slot_index{24}), 0b00110110u);  // 24 and 27 are empty, 30 is unused
}

TEST_F(set_of_numbers, runs_end_at_empty_slots_and_at_pages) {
    const std::uint32_t page = set.page_size();
    for (unsigned i = 0; i < 2 * page; ++i) add(id_of(i), 0);
    EXPECT_EQ(set.run(slot_index{0}), page);
    EXPECT_EQ(set.run(slot_index{3}), page - 3);
    EXPECT_EQ(set.run(slot_index{page}), page);
    remove(id_of(700));
    EXPECT_EQ(set.run(slot_index{0}), 700u);
    EXPECT_EQ(set.run(slot_index{701}), page - 701);
    EXPECT_EQ(set.next(700), slot_index{701});
}

TEST_F(set_of_numbers, a_run_without_empty_slots_ends_at_the_last_value) {
    const std::uint32_t page = set.page_size();
    for (unsigned i = 0; i < page + 100; ++i) add(id_of(i), 0);
    EXPECT_EQ(set.run(slot_index{page}), 100u);
    EXPECT_EQ(set.run(slot_index{page + 99}), 1u);
    const slot_index reserved = set.take();
    EXPECT_EQ(set.run(slot_index{page}), 100u);
    set.give_back(reserved);
    EXPECT_EQ(set.run(slot_index{page}), 100u);
}

TEST_F(set_of_texts, reorder_puts_values_into_the_given_order) {
    for (unsigned i = 0; i < 100; ++i) add(id_of(i), static_cast<int>(i));
    for (unsigned i = 0; i < 100; i += 3) remove(id_of(i));
    array_list<slot_index> order;
    for (slot_index s = set.next(0); s != no_slot; s = set.next(to_int(s) + 1))
        order.insert(order.begin(), s);
    set.reorder(order);
    EXPECT_EQ(set.end(), set.size());
    int before = 100;
    for (slot_index s = set.next(0); s != no_slot; s = set.next(to_int(s) + 1)) {
        const id e = *reinterpret_cast<const id*>(set.ids_at(s));
        EXPECT_EQ(set.find(e.value()), s);
        EXPECT_EQ(at(s), made(static_cast<int>(e.key())));
        EXPECT_LT(static_cast<int>(e.key()), before);
        before = static_cast<int>(e.key());
    }
    EXPECT_EQ(to_int(add(id_of(200), 1)), 66u);
}

TEST_F(set_of_texts, trim_frees_pages_after_the_last_value) {
    for (unsigned i = 0; i < 5000; ++i) add(id_of(i), 1);
    for (unsigned i = 4999; i >= 10; --i) remove(id_of(i * 7919 % 4990 + 10));
    set.trim();
    EXPECT_LE(set.end(), 10u);
    for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(at(set.find(id_of(i).value())), made(1));
    for (unsigned i = 100; i < 4000; ++i) add(id_of(i), 2);
    EXPECT_EQ(set.size(), 3910u);
}

TEST(sparse_set, a_small_key_range_has_room_for_reserved_slots) {
    using tiny = layout<std::uint8_t, id_bits{.key = 4, .version = 4}>;
    fragment_data fragment;
    fragment.type = &type_info_of<int>;
    sparse_set set(fragment, {4, 4, 0, 1}, 0);
    for (unsigned i = 0; i < 16; ++i) {
        const auto e = basic_id<tiny>::pack(i, 1);
        set.prepare(e.value(), true);
        set.attach(e.value(), set.take());
    }
    for (unsigned i = 0; i < 16; ++i) EXPECT_TRUE(set.has(basic_id<tiny>::pack(i, 1).value()));
    for (unsigned i = 0; i < 16; ++i) EXPECT_FALSE(set.has(basic_id<tiny>::pack(i, 15).value()));
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(to_int(set.take()), 16 + i);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
