#include <muster/id/id.hpp>
#include <muster/storage/sparse_set.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace muster::detail {
namespace {

struct wide {
    std::array<int, 2000> values;
};

/// A set of strings, or of other values, for ids of the default layout.
template <class T>
struct sparse_set_of : testing::Test {
    static id who(std::uint64_t key, std::uint64_t version = 0) {
        return id::pack(key, version, 1);
    }
    static T made(int value) {
        if constexpr (std::is_same_v<T, std::string>)
            return "a text that has a block of its own " + std::to_string(value);
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
        set.attach(e, slot);
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
    const slot_index slot = add(who(5, 3), 1);
    EXPECT_EQ(set.find(who(5, 3).value()), slot);
    EXPECT_EQ(at(slot), made(1));
    for (const id other : {who(5, 2), who(5, 4), who(6, 3), id::pack(5, 3, 2), id{},
                           id::pack(0xFFFFFFFF, 0xFFFF, 0xFFFF), id::pack(5, 0xFFFF, 0xFFFF)})
        EXPECT_EQ(set.find(other.value()), no_slot) << to_string(other);
    EXPECT_EQ(set.size(), 1u);
    remove(who(5, 3));
    EXPECT_FALSE(set.has(who(5, 3).value()));
    EXPECT_EQ(set.size(), 0u);
}

/// What the entry of an id says: its slot, that it has none, or more than that.
std::uint64_t read(const sparse_set& set, id e) {
    constexpr auto shape = sparse_set::id_shape::of<id::layout_type>();
    return set.entries().cover(e.key()) ? shape.read(set.entries()[e.key()], e.value())
                                        : ~std::uint64_t{0};
}

TEST_F(set_of_texts, an_entry_stays_until_it_is_forgotten) {
    constexpr std::uint64_t unset = sparse_set::id_shape::of<id::layout_type>().unset();
    EXPECT_GT(read(set, who(5, 3)), unset);
    const slot_index slot = add(who(5, 3), 1);
    EXPECT_EQ(read(set, who(5, 3)), to_int(slot));
    remove(who(5, 3));
    EXPECT_EQ(read(set, who(5, 3)), unset);
    for (const id other : {who(5, 2), who(6, 3), id::pack(5, 3, 2), id::pack(5, 0xFFFF, 0xFFFF)})
        EXPECT_GT(read(set, other), unset) << to_string(other);
    EXPECT_EQ(set.forget(who(5, 3).value()), no_slot);
    EXPECT_GT(read(set, who(5, 3)), unset);
    EXPECT_EQ(set.forget(who(900'000).value()), no_slot);  // which never had one
    const slot_index again = add(who(5, 4), 1);
    EXPECT_EQ(set.forget(who(5, 4).value()), again);
    EXPECT_GT(read(set, who(5, 4)), unset);
    EXPECT_EQ(set.size(), 0u);
    set.drop(again);
}

TEST_F(set_of_texts, no_entry_is_taken_for_that_of_an_id_of_ones) {
    const id ones = id::pack(7, 0xFFFF, 0xFFFF);
    add(who(8), 1);
    EXPECT_GT(read(set, ones), sparse_set::id_shape::of<id::layout_type>().unset());
    add(ones, 2);
    EXPECT_TRUE(set.has(ones.value()));
    remove(ones);
    EXPECT_FALSE(set.has(ones.value()));
}

TEST_F(set_of_texts, trims_entries_without_a_slot) {
    add(who(5), 1);
    add(who(6), 1);
    remove(who(6));
    set.trim();
    EXPECT_GT(read(set, who(6)), sparse_set::id_shape::of<id::layout_type>().unset());
    EXPECT_TRUE(set.has(who(5).value()));
}

constexpr auto shape = sparse_set::id_shape::of<id::layout_type>();

/// What the world does to values that come and go in few steps.
struct set_of_states : set_of_numbers {
    sparse_entry& entry(id e) { return set.entries()[e.key()]; }
    slot_index kept(id e) {
        const std::uint64_t slot = read(set, e) - shape.kept();
        return slot < shape.slot_limit() ? slot_index{static_cast<std::uint32_t>(slot)} : no_slot;
    }
    slot_index begin(id e, int value) {
        set.prepare(e.value(), true);
        if (read(set, e) == shape.unset()) set.keep_slot(e);
        const slot_index slot = kept(e);
        ::new (set.at(slot)) int(value);
        set.begin_value(slot, entry(e), shape);
        return slot;
    }
    void end(id e) { set.end_value(set.find(e.value()), entry(e), shape); }
};

TEST_F(set_of_states, who_loses_a_value_keeps_its_slot) {
    const slot_index first = begin(who(5, 3), 1);
    const slot_index second = begin(who(6), 2);
    end(who(5, 3));
    EXPECT_FALSE(set.has(who(5, 3).value()));
    EXPECT_EQ(kept(who(5, 3)), first);
    EXPECT_EQ(set.size(), 1u);
    EXPECT_EQ(set.next(0), second);
    EXPECT_NE(begin(who(7), 3), first);
    EXPECT_EQ(begin(who(5, 3), 4), first);
    EXPECT_EQ(at(first), 4);
    EXPECT_EQ(set.size(), 3u);
}

TEST_F(set_of_states, a_slot_that_is_kept_is_free_when_its_entity_ends_or_gets_another) {
    const slot_index first = begin(who(5), 1);
    const slot_index second = begin(who(6), 1);
    begin(who(7), 1);
    end(who(5));
    EXPECT_EQ(set.forget(who(5).value()), no_slot);
    EXPECT_EQ(begin(who(8), 1), first);
    end(who(6));
    const slot_index other = add(who(6), 9);
    EXPECT_NE(other, second);
    EXPECT_EQ(begin(who(9), 1), second);
    EXPECT_EQ(at(set.find(who(6).value())), 9);
}

TEST_F(set_of_states, others_get_what_is_kept_before_there_is_more_memory) {
    // A few at a time, of many: memory is for a few.
    for (unsigned i = 0; i < 200'000; ++i) {
        begin(who(i), static_cast<int>(i));
        if (i >= 100) end(who(i - 100));
        ASSERT_EQ(set.size(), i < 100 ? i + 1 : 100u);
    }
    EXPECT_LE(set.end(), 2 * set.page_size());
    for (unsigned i = 199'900; i < 200'000; ++i)
        EXPECT_EQ(at(set.find(who(i).value())), static_cast<int>(i));
    EXPECT_FALSE(set.has(who(199'899).value()));
}

TEST_F(set_of_states, what_waits_is_not_taken_for_kept) {
    std::vector<slot_index> waiting;
    for (unsigned i = 0; i < set.page_size() - 1; ++i) waiting.push_back(set.take());
    const slot_index last = begin(who(1), 1);
    EXPECT_EQ(to_int(last), set.page_size() - 1);
    end(who(1));
    EXPECT_NE(begin(who(2), 2), last);  // too few are kept: there is more memory
    EXPECT_EQ(kept(who(1)), last);
    for (const slot_index one : waiting) set.give_back(one);
    EXPECT_EQ(set.size(), 1u);
}

TEST_F(set_of_states, the_order_and_the_trim_of_a_set_end_what_is_kept) {
    for (unsigned i = 0; i < 100; ++i) begin(who(i), static_cast<int>(i));
    for (unsigned i = 0; i < 100; i += 2) end(who(i));
    array_list<slot_index> order;
    for (slot_index at = set.next(0); at != no_slot; at = set.next(to_int(at) + 1))
        order.insert(order.begin(), at);
    set.reorder(order);
    EXPECT_EQ(set.end(), 50u);
    EXPECT_EQ(kept(who(0)), no_slot);
    EXPECT_EQ(set.find(who(99).value()), slot_index{0});
    for (unsigned i = 21; i < 100; i += 2) end(who(i));  // what stands first
    set.trim();
    EXPECT_EQ(set.end(), 50u);
    EXPECT_EQ(set.size(), 10u);
    EXPECT_EQ(kept(who(99)), no_slot);
    EXPECT_EQ(begin(who(500), 5), slot_index{0});
}

TEST_F(set_of_texts, values_stay_where_they_are) {
    std::vector<const std::string*> places;
    for (int i = 0; i < 10'000; ++i) places.push_back(&at(add(who(static_cast<unsigned>(i)), i)));
    for (unsigned i = 0; i < 10'000; i += 2) remove(who(i));
    for (unsigned i = 20'000; i < 23'000; ++i) add(who(i), 1);
    for (unsigned i = 1; i < 10'000; i += 2) {
        ASSERT_EQ(&at(set.find(who(i).value())), places[i]);
        ASSERT_EQ(*places[i], made(static_cast<int>(i)));
    }
}

TEST_F(set_of_numbers, the_slot_that_was_freed_last_is_used_first) {
    for (unsigned i = 0; i < 4; ++i) add(who(i), 0);
    remove(who(1));
    remove(who(2));
    EXPECT_EQ(to_int(add(who(10), 0)), 2u);
    EXPECT_EQ(to_int(add(who(11), 0)), 1u);
    EXPECT_EQ(to_int(add(who(12), 0)), 4u);
}

TEST_F(set_of_numbers, starts_anew_when_it_is_empty) {
    for (unsigned i = 0; i < 100; ++i) add(who(i), 0);
    for (unsigned i = 0; i < 100; ++i) remove(who(i * 37 % 100));
    EXPECT_EQ(set.end(), 0u);
    EXPECT_EQ(to_int(add(who(7), 0)), 0u);
}

TEST_F(set_of_numbers, a_slot_that_waits_belongs_to_nobody) {
    const slot_index waiting = set.take();
    ::new (set.at(waiting)) int(5);
    EXPECT_EQ(set.size(), 0u);
    EXPECT_EQ(set.next(0), no_slot);
    EXPECT_NE(add(who(1), 0), waiting);
    set.prepare(who(2).value(), true);
    set.attach(who(2), waiting);
    EXPECT_EQ(at(set.find(who(2).value())), 5);
}

TEST_F(set_of_wide, large_values_have_small_pages) {
    EXPECT_EQ(set.page_size(), 8u);
    for (unsigned i = 0; i < 30; ++i) add(who(i), static_cast<int>(i));
    for (unsigned i = 0; i < 30; i += 3) remove(who(i));
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
    EXPECT_EQ(set.block_at(slot_index{8}), 0b01101101u);   // 9, 12 and 15 are gone
    EXPECT_EQ(set.block_at(slot_index{24}), 0b00110110u);  // and there is no 30
}

TEST_F(set_of_numbers, runs_end_at_holes_and_at_pages) {
    const std::uint32_t page = set.page_size();
    for (unsigned i = 0; i < 2 * page; ++i) add(who(i), 0);
    EXPECT_EQ(set.run(slot_index{0}), page);
    EXPECT_EQ(set.run(slot_index{3}), page - 3);
    EXPECT_EQ(set.run(slot_index{page}), page);
    remove(who(700));
    EXPECT_EQ(set.run(slot_index{0}), 700u);
    EXPECT_EQ(set.run(slot_index{701}), page - 701);
    EXPECT_EQ(set.next(700), slot_index{701});
}

TEST_F(set_of_numbers, runs_without_holes_end_with_the_last_value) {
    const std::uint32_t page = set.page_size();
    for (unsigned i = 0; i < page + 100; ++i) add(who(i), 0);
    EXPECT_EQ(set.run(slot_index{page}), 100u);
    EXPECT_EQ(set.run(slot_index{page + 99}), 1u);
    const slot_index waiting = set.take();
    EXPECT_EQ(set.run(slot_index{page}), 100u);
    set.give_back(waiting);
    EXPECT_EQ(set.run(slot_index{page}), 100u);
}

TEST_F(set_of_texts, is_put_in_another_order) {
    for (unsigned i = 0; i < 100; ++i) add(who(i), static_cast<int>(i));
    for (unsigned i = 0; i < 100; i += 3) remove(who(i));
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
    EXPECT_EQ(to_int(add(who(200), 1)), 66u);
}

TEST_F(set_of_texts, gives_back_pages_behind_the_last_value) {
    for (unsigned i = 0; i < 5000; ++i) add(who(i), 1);
    for (unsigned i = 4999; i >= 10; --i) remove(who(i * 7919 % 4990 + 10));
    set.trim();
    EXPECT_LE(set.end(), 10u);
    for (unsigned i = 0; i < 10; ++i) EXPECT_EQ(at(set.find(who(i).value())), made(1));
    for (unsigned i = 100; i < 4000; ++i) add(who(i), 2);
    EXPECT_EQ(set.size(), 3910u);
}

TEST(sparse_set, of_few_keys_has_room_for_values_that_wait) {
    using tiny = layout<std::uint8_t, id_bits{.key = 4, .version = 4}>;
    fragment_data fragment;
    fragment.type = &type_info_of<int>;
    sparse_set set(fragment, {4, 4, 0, 1}, 0);
    for (unsigned i = 0; i < 16; ++i) {
        const auto e = basic_id<tiny>::pack(i, 1);
        set.prepare(e.value(), true);
        set.attach(e, set.take());
    }
    for (unsigned i = 0; i < 16; ++i) EXPECT_TRUE(set.has(basic_id<tiny>::pack(i, 1).value()));
    for (unsigned i = 0; i < 16; ++i) EXPECT_FALSE(set.has(basic_id<tiny>::pack(i, 15).value()));
    for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(to_int(set.take()), 16 + i);
}

}  // namespace
}  // namespace muster::detail
