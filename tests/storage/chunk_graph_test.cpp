#include <muster/storage/chunk_graph.hpp>
#include <muster/type/fragment_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace muster::detail {
namespace {

using test::code_of;
using test::sentence_of;

struct tag {};

/// Twelve fragments, of which a set is written as bits; every fourth is a tag.
class chunk_graph_of : public testing::Test {
protected:
    fragment_table fragments;
    array_list<fragment_data*> all;
    chunk_graph graph{type_info_of<std::uint64_t>, 5000};

    chunk_graph_of() {
        for (std::uint32_t i = 0; i < 12; ++i) {
            const type_info& type = i % 4 == 3 ? type_info_of<tag> : type_info_of<std::uint64_t>;
            all.push_back(&fragments.add(type_index{i + 1}, type, 500 + i));
        }
    }

    array_list<fragment_data*> set(unsigned bits) const {
        array_list<fragment_data*> made;
        for (unsigned i = 0; i < 12; ++i)
            if ((bits >> i & 1) != 0) made.push_back(all[i]);
        return made;
    }
    chunk_data& chunk(unsigned bits) { return graph.ensure(set(bits)); }
    static void add_row(chunk_data& to) {
        to.make_room(1, 100, {});
        for (const column& one : to.columns) ::new (one.at(to.size)) std::uint64_t(7);
        ++to.size;
    }

    /// Every chunk is where its number says, and its fragments know it and no other.
    void expect_sound() {
        for (const chunk_data* one : graph.all()) {
            ASSERT_EQ(&graph.at(one->index), one);
            ASSERT_EQ(graph.find(one->index, one->serial), one);
            ASSERT_EQ(&graph.ensure(one->fragments), one);
            for (const fragment_data* fragment : all) {
                const bool has = std::ranges::count(one->fragments, fragment) != 0;
                ASSERT_EQ(one->has(*fragment), has);
                ASSERT_EQ(std::ranges::count(fragment->chunks, one->index), has ? 1 : 0);
            }
        }
        std::size_t known = 0;
        std::size_t expected = 0;
        for (const fragment_data* fragment : all) known += fragment->chunks.size();
        for (const chunk_data* one : graph.all()) expected += one->fragments.size();
        ASSERT_EQ(known, expected);
    }
};

TEST_F(chunk_graph_of, starts_with_the_chunk_of_the_empty_set) {
    EXPECT_EQ(graph.all().size(), 1u);
    EXPECT_EQ(graph.nowhere().index, chunk_index{0});
    EXPECT_TRUE(graph.nowhere().fragments.empty());
    EXPECT_EQ(&graph.ensure({}), &graph.nowhere());
}

TEST_F(chunk_graph_of, one_set_has_one_chunk) {
    chunk_data& both = chunk(0b011);
    EXPECT_EQ(&chunk(0b011), &both);
    EXPECT_NE(&chunk(0b001), &both);
    EXPECT_NE(&chunk(0b010), &both);
    EXPECT_NE(&chunk(0b111), &both);
    EXPECT_EQ(both.fragments, set(0b011));
    EXPECT_EQ(graph.all().size(), 5u);
    expect_sound();
}

TEST_F(chunk_graph_of, a_chunk_knows_the_ids_of_its_fragments) {
    const chunk_data& one = chunk(0b1010'0000'0001);
    ASSERT_EQ(one.fragment_ids.size(), 3 * sizeof(std::uint64_t));
    std::uint64_t ids[3];
    std::memcpy(ids, one.fragment_ids.data(), sizeof ids);
    EXPECT_EQ(ids[0], 500u);
    EXPECT_EQ(ids[1], 509u);
    EXPECT_EQ(ids[2], 511u);
}

TEST_F(chunk_graph_of, adding_leads_to_both_sets_together) {
    for (const unsigned from : {0b0u, 0b1u, 0b110u, 0b1011u})
        for (const unsigned more : {0b1u, 0b10u, 0b1001u}) {
            const edge& way = graph.with(chunk(from), chunk(more));
            EXPECT_EQ(way.target, &chunk(from | more));
            EXPECT_EQ(&graph.with(chunk(from), chunk(more)), &way);  // remembered
        }
    expect_sound();
}

TEST_F(chunk_graph_of, removing_leads_to_what_is_left) {
    for (const unsigned from : {0b1u, 0b110u, 0b1111u})
        for (const unsigned less : {0b1u, 0b10u, 0b1001u, 0b10000u}) {
            const edge& way = graph.without(chunk(from), chunk(less));
            EXPECT_EQ(way.target, &chunk(from & ~less));
            EXPECT_EQ(&graph.without(chunk(from), chunk(less)), &way);
        }
    EXPECT_EQ(graph.without(chunk(0b11), chunk(0b11)).target, &graph.nowhere());
    expect_sound();
}

TEST_F(chunk_graph_of, adding_and_removing_the_same_leads_back) {
    chunk_data& from = chunk(0b101);
    chunk_data& both = *graph.with(from, chunk(0b1010)).target;
    EXPECT_EQ(graph.without(both, chunk(0b1010)).target, &from);
    // The two ways of one set are different edges.
    EXPECT_EQ(graph.with(both, chunk(0b1010)).target, &both);
}

TEST_F(chunk_graph_of, an_edge_says_which_column_goes_where) {
    // Fragments 0 1 2, then 3, which is a tag and has no column.
    const edge& more = graph.with(chunk(0b1101), chunk(0b100010));
    ASSERT_EQ(more.target, &chunk(0b101111));
    EXPECT_EQ(more.columns, (array_list<std::uint32_t>{0, 2}));  // target: 0 1 2 5
    const edge& less = graph.without(chunk(0b101111), chunk(0b1010));
    ASSERT_EQ(less.target, &chunk(0b100101));
    EXPECT_EQ(less.columns, (array_list<std::uint32_t>{0, edge::dropped, 1, 2}));
    EXPECT_TRUE(graph.with(graph.nowhere(), chunk(0b1)).columns.empty());
}

TEST_F(chunk_graph_of, hundreds_of_sets_keep_their_chunks_apart) {
    std::set<const chunk_data*> different;
    for (unsigned bits = 0; bits < 1024; ++bits) different.insert(&chunk(bits));
    EXPECT_EQ(different.size(), 1024u);
    EXPECT_EQ(graph.all().size(), 1024u);
    for (unsigned bits = 0; bits < 1024; ++bits) ASSERT_EQ(chunk(bits).fragments, set(bits));
    EXPECT_EQ(graph.all().size(), 1024u);
    expect_sound();
}

TEST_F(chunk_graph_of, chunks_stand_in_the_order_of_their_making) {
    const chunk_data* const made[] = {&graph.nowhere(), &chunk(4), &chunk(1), &chunk(3), &chunk(2)};
    ASSERT_EQ(graph.all().size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(graph.all()[i], made[i]);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_GT(made[i]->serial, made[i - 1]->serial);
}

TEST_F(chunk_graph_of, the_limit_of_chunks_is_an_error_that_changes_nothing) {
    fragment_table own;
    array_list<fragment_data*> mine;
    for (std::uint32_t i = 0; i < 5; ++i)
        mine.push_back(&own.add(type_index{i + 1}, type_info_of<std::uint64_t>, i));
    chunk_graph small(type_info_of<std::uint64_t>, 4);
    for (std::size_t i = 0; i < 3; ++i) small.ensure(std::span(mine).subspan(i, 1));
    const auto expect_unchanged = [&] {
        EXPECT_EQ(small.all().size(), 4u);
        EXPECT_TRUE(mine[3]->chunks.empty());
        EXPECT_EQ(mine[0]->chunks.size(), 1u);
        for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(mine[3]->base(chunk_index{i}), nullptr);
    };
    EXPECT_EQ(code_of([&] { small.ensure(std::span(mine).subspan(3, 1)); }), errc::limit);
    expect_unchanged();
    EXPECT_EQ(sentence_of([&] { small.ensure(std::span(mine).subspan(0, 2)); }),
              "a world cannot have more than 4 chunks: collect_garbage() frees those without "
              "entities");
    expect_unchanged();
    chunk_data& first = small.ensure(std::span(mine).subspan(0, 1));
    chunk_data& second = small.ensure(std::span(mine).subspan(1, 1));
    EXPECT_EQ(code_of([&] { small.with(first, second); }), errc::limit);
    EXPECT_EQ(code_of([&] { small.with(first, second); }), errc::limit);
    expect_unchanged();
    EXPECT_EQ(small.without(first, first).target, &small.nowhere());  // needs no new one
    small.collect_garbage();
    EXPECT_EQ(small.ensure(std::span(mine).subspan(0, 2)).fragments.size(), 2u);
}

TEST_F(chunk_graph_of, garbage_are_the_chunks_without_rows_and_no_others) {
    for (unsigned bits = 1; bits < 32; ++bits) chunk(bits);
    for (const unsigned bits : {3u, 8u, 17u}) add_row(chunk(bits));
    graph.collect_garbage();
    ASSERT_EQ(graph.all().size(), 4u);
    EXPECT_EQ(graph.all()[0], &graph.nowhere());
    EXPECT_EQ(graph.all()[1]->fragments, set(3));
    EXPECT_EQ(graph.all()[2]->fragments, set(8));
    EXPECT_EQ(graph.all()[3]->fragments, set(17));
    expect_sound();
    EXPECT_EQ(graph.all()[1]->size, 1u);
    EXPECT_EQ(graph.all()[1]->capacity, 1u);
}

TEST_F(chunk_graph_of, garbage_of_one_fragment_leaves_the_chunks_that_do_not_have_it) {
    for (unsigned bits = 1; bits < 8; ++bits) chunk(bits);
    add_row(chunk(0b110));
    graph.collect_garbage(all[1]);
    std::vector<array_list<fragment_data*>> left;
    for (const chunk_data* one : graph.all()) left.push_back(one->fragments);
    EXPECT_EQ(left, (std::vector<array_list<fragment_data*>>{{}, set(1), set(4), set(5), set(6)}));
    expect_sound();
}

TEST_F(chunk_graph_of, the_number_of_a_freed_chunk_comes_back_with_another_serial) {
    const chunk_index number = chunk(1).index;
    const std::uint64_t serial = chunk(1).serial;
    EXPECT_EQ(graph.find(number, serial), &chunk(1));
    graph.collect_garbage();
    EXPECT_EQ(graph.find(number, serial), nullptr);
    EXPECT_TRUE(all[0]->chunks.empty());
    chunk_data& next = chunk(2);
    EXPECT_EQ(next.index, number);
    EXPECT_NE(next.serial, serial);
    EXPECT_EQ(graph.find(number, serial), nullptr);
    EXPECT_EQ(graph.find(number, next.serial), &next);
    EXPECT_FALSE(next.has(*all[0]));
    expect_sound();
}

TEST_F(chunk_graph_of, a_number_that_was_never_given_finds_nothing) {
    chunk(1);
    EXPECT_EQ(graph.find(chunk_index{2}, 1), nullptr);
    EXPECT_EQ(graph.find(chunk_index{~0u}, 1), nullptr);
    EXPECT_EQ(graph.find(chunk_index{1}, 0), nullptr);
}

TEST_F(chunk_graph_of, edges_are_made_anew_after_garbage_was_collected) {
    add_row(chunk(0b1));
    graph.with(chunk(0b1), chunk(0b10));     // the target and the key's chunk are garbage
    graph.without(chunk(0b1), chunk(0b10));  // the key's chunk is
    graph.collect_garbage();
    ASSERT_EQ(graph.all().size(), 2u);
    // New chunks get the numbers that the old edges knew.
    for (const unsigned other : {0b100u, 0b10000u, 0b100000u, 0b10u}) {
        EXPECT_EQ(graph.with(chunk(0b1), chunk(other)).target, &chunk(other | 0b1));
        EXPECT_EQ(graph.without(chunk(0b1), chunk(other | 0b1)).target, &graph.nowhere());
    }
    expect_sound();
}

TEST_F(chunk_graph_of, making_and_freeing_hundreds_of_chunks_again_and_again_keeps_it_sound) {
    for (unsigned round = 0; round < 5; ++round) {
        for (unsigned bits = 1; bits < 600; ++bits) {
            chunk_data& one = chunk(bits ^ round * 64);
            if (bits % 50 == round) add_row(one);
        }
        graph.collect_garbage();
        expect_sound();
        ASSERT_LT(graph.all().size(), 80u);
    }
    for (const chunk_data* one : graph.all()) EXPECT_LT(to_int(one->index), 700u);  // reused
}

}  // namespace
}  // namespace muster::detail
