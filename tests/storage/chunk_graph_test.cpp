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

/// Twelve fragments; every fourth is a tag. Tests write a set of fragments as bits.
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
        for (const column& source : to.columns) ::new (source.at(to.size)) std::uint64_t(7);
        ++to.size;
    }

    /// Expects that every chunk is found by its index, and that exactly its fragments list it.
    void expect_consistent() {
        for (const chunk_data* chunk : graph.all()) {
            ASSERT_EQ(&graph.at(chunk->index), chunk);
            ASSERT_EQ(graph.find(chunk->index, chunk->serial), chunk);
            ASSERT_EQ(&graph.ensure(chunk->fragments), chunk);
            for (const fragment_data* fragment : all) {
                const bool has = std::ranges::count(chunk->fragments, fragment) != 0;
                ASSERT_EQ(chunk->has(*fragment), has);
                ASSERT_EQ(std::ranges::count(fragment->chunks, chunk->index), has ? 1 : 0);
            }
        }
        std::size_t listed = 0;
        std::size_t expected = 0;
        for (const fragment_data* fragment : all) listed += fragment->chunks.size();
        for (const chunk_data* chunk : graph.all()) expected += chunk->fragments.size();
        ASSERT_EQ(listed, expected);
    }
};

TEST_F(chunk_graph_of, starts_with_the_chunk_of_the_empty_set) {
    EXPECT_EQ(graph.all().size(), 1u);
    EXPECT_EQ(graph.empty_chunk().index, chunk_index{0});
    EXPECT_TRUE(graph.empty_chunk().fragments.empty());
    EXPECT_EQ(&graph.ensure({}), &graph.empty_chunk());
}

TEST_F(chunk_graph_of, each_set_has_one_chunk) {
    chunk_data& both = chunk(0b011);
    EXPECT_EQ(&chunk(0b011), &both);
    EXPECT_NE(&chunk(0b001), &both);
    EXPECT_NE(&chunk(0b010), &both);
    EXPECT_NE(&chunk(0b111), &both);
    EXPECT_EQ(both.fragments, set(0b011));
    EXPECT_EQ(graph.all().size(), 5u);
    expect_consistent();
}

TEST_F(chunk_graph_of, a_chunk_stores_the_ids_of_its_fragments) {
    const chunk_data& made = chunk(0b1010'0000'0001);
    ASSERT_EQ(made.fragment_ids.size(), 3 * sizeof(std::uint64_t));
    std::uint64_t ids[3];
    std::memcpy(ids, made.fragment_ids.data(), sizeof ids);
    EXPECT_EQ(ids[0], 500u);
    EXPECT_EQ(ids[1], 509u);
    EXPECT_EQ(ids[2], 511u);
}

TEST_F(chunk_graph_of, adding_leads_to_the_union_of_both_sets) {
    for (const unsigned from : {0b0u, 0b1u, 0b110u, 0b1011u})
        for (const unsigned more : {0b1u, 0b10u, 0b1001u}) {
            const edge& transition = graph.with(chunk(from), chunk(more));
            EXPECT_EQ(transition.target, &chunk(from | more));
            EXPECT_EQ(&graph.with(chunk(from), chunk(more)), &transition);  // cached
        }
    expect_consistent();
}

TEST_F(chunk_graph_of, removing_leads_to_the_remaining_set) {
    for (const unsigned from : {0b1u, 0b110u, 0b1111u})
        for (const unsigned less : {0b1u, 0b10u, 0b1001u, 0b10000u}) {
            const edge& transition = graph.without(chunk(from), chunk(less));
            EXPECT_EQ(transition.target, &chunk(from & ~less));
            EXPECT_EQ(&graph.without(chunk(from), chunk(less)), &transition);
        }
    EXPECT_EQ(graph.without(chunk(0b11), chunk(0b11)).target, &graph.empty_chunk());
    expect_consistent();
}

TEST_F(chunk_graph_of, adding_and_removing_a_set_leads_back) {
    chunk_data& from = chunk(0b101);
    chunk_data& both = *graph.with(from, chunk(0b1010)).target;
    EXPECT_EQ(graph.without(both, chunk(0b1010)).target, &from);
    // Adding and removing a set are different edges.
    EXPECT_EQ(graph.with(both, chunk(0b1010)).target, &both);
}

TEST_F(chunk_graph_of, an_edge_maps_source_columns_to_target_columns) {
    // Fragment 3 is a tag and has no column.
    const edge& more = graph.with(chunk(0b1101), chunk(0b100010));
    ASSERT_EQ(more.target, &chunk(0b101111));
    EXPECT_EQ(more.columns, (array_list<std::uint32_t>{0, 2}));  // target: 0 1 2 5
    const edge& less = graph.without(chunk(0b101111), chunk(0b1010));
    ASSERT_EQ(less.target, &chunk(0b100101));
    EXPECT_EQ(less.columns, (array_list<std::uint32_t>{0, edge::dropped, 1, 2}));
    EXPECT_TRUE(graph.with(graph.empty_chunk(), chunk(0b1)).columns.empty());
}

TEST_F(chunk_graph_of, hundreds_of_sets_have_distinct_chunks) {
    std::set<const chunk_data*> different;
    for (unsigned bits = 0; bits < 1024; ++bits) different.insert(&chunk(bits));
    EXPECT_EQ(different.size(), 1024u);
    EXPECT_EQ(graph.all().size(), 1024u);
    for (unsigned bits = 0; bits < 1024; ++bits) ASSERT_EQ(chunk(bits).fragments, set(bits));
    EXPECT_EQ(graph.all().size(), 1024u);
    expect_consistent();
}

TEST_F(chunk_graph_of, all_lists_chunks_in_creation_order) {
    const chunk_data* const made[] = {&graph.empty_chunk(), &chunk(4), &chunk(1), &chunk(3),
                                      &chunk(2)};
    ASSERT_EQ(graph.all().size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(graph.all()[i], made[i]);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_GT(made[i]->serial, made[i - 1]->serial);
}

TEST_F(chunk_graph_of, exceeding_the_chunk_limit_is_an_error_and_changes_nothing) {
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
    EXPECT_EQ(small.without(first, first).target, &small.empty_chunk());  // needs no new chunk
    small.collect_garbage();
    EXPECT_EQ(small.ensure(std::span(mine).subspan(0, 2)).fragments.size(), 2u);
}

TEST_F(chunk_graph_of, collect_garbage_frees_exactly_the_chunks_without_rows) {
    for (unsigned bits = 1; bits < 32; ++bits) chunk(bits);
    for (const unsigned bits : {3u, 8u, 17u}) add_row(chunk(bits));
    graph.collect_garbage();
    ASSERT_EQ(graph.all().size(), 4u);
    EXPECT_EQ(graph.all()[0], &graph.empty_chunk());
    EXPECT_EQ(graph.all()[1]->fragments, set(3));
    EXPECT_EQ(graph.all()[2]->fragments, set(8));
    EXPECT_EQ(graph.all()[3]->fragments, set(17));
    expect_consistent();
    EXPECT_EQ(graph.all()[1]->size, 1u);
    EXPECT_EQ(graph.all()[1]->capacity, 1u);
}

TEST_F(chunk_graph_of, collect_garbage_of_a_fragment_keeps_chunks_without_it) {
    for (unsigned bits = 1; bits < 8; ++bits) chunk(bits);
    add_row(chunk(0b110));
    graph.collect_garbage(all[1]);
    std::vector<array_list<fragment_data*>> left;
    for (const chunk_data* chunk : graph.all()) left.push_back(chunk->fragments);
    EXPECT_EQ(left, (std::vector<array_list<fragment_data*>>{{}, set(1), set(4), set(5), set(6)}));
    expect_consistent();
}

TEST_F(chunk_graph_of, a_reused_chunk_index_has_a_new_serial) {
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
    expect_consistent();
}

TEST_F(chunk_graph_of, find_returns_null_for_an_unknown_index_or_serial) {
    chunk(1);
    EXPECT_EQ(graph.find(chunk_index{2}, 1), nullptr);
    EXPECT_EQ(graph.find(chunk_index{~0u}, 1), nullptr);
    EXPECT_EQ(graph.find(chunk_index{1}, 0), nullptr);
}

TEST_F(chunk_graph_of, edges_are_rebuilt_after_garbage_collection) {
    add_row(chunk(0b1));
    graph.with(chunk(0b1), chunk(0b10));     // the target and the key's chunk are garbage
    graph.without(chunk(0b1), chunk(0b10));  // the key's chunk is garbage
    graph.collect_garbage();
    ASSERT_EQ(graph.all().size(), 2u);
    // New chunks reuse the indices that the old edges stored.
    for (const unsigned other : {0b100u, 0b10000u, 0b100000u, 0b10u}) {
        EXPECT_EQ(graph.with(chunk(0b1), chunk(other)).target, &chunk(other | 0b1));
        EXPECT_EQ(graph.without(chunk(0b1), chunk(other | 0b1)).target, &graph.empty_chunk());
    }
    expect_consistent();
}

TEST_F(chunk_graph_of, creating_and_freeing_hundreds_of_chunks_keeps_the_graph_consistent) {
    for (unsigned round = 0; round < 5; ++round) {
        for (unsigned bits = 1; bits < 600; ++bits) {
            chunk_data& made = chunk(bits ^ round * 64);
            if (bits % 50 == round) add_row(made);
        }
        graph.collect_garbage();
        expect_consistent();
        ASSERT_LT(graph.all().size(), 80u);
    }
    for (const chunk_data* chunk : graph.all()) EXPECT_LT(to_int(chunk->index), 700u);  // reused
}

}  // namespace
}  // namespace muster::detail
