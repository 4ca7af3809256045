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

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;
using test::sentence_of;

struct tag {};

/// Twelve fragments; every fourth is a tag. Tests write a set of fragments as bits.
class chunk_graph_of : public testing::Test {
protected:
    fragment_table fragments;
    array_list<fragment_data*> all;
    chunk_graph graph{type_info_of<std::uint64_t>, 5000, 100};

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
    chunk_graph small(type_info_of<std::uint64_t>, 4, 100);
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
    fragment_data* const both[] = {mine[0], mine[1]};
    EXPECT_EQ(code_of([&] { small.ensure(both); }), errc::limit);
    EXPECT_EQ(small.find(both), nullptr);
    expect_unchanged();
    EXPECT_EQ(&small.ensure(first.fragments), &first);  // known sets need no new chunk
    EXPECT_EQ(&small.ensure(second.fragments), &second);
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

TEST_F(chunk_graph_of, forget_chunks_of_a_fragment_keeps_chunks_without_it) {
    for (unsigned bits = 1; bits < 8; ++bits) chunk(bits);
    add_row(chunk(0b101));
    graph.forget_chunks_of(*all[1]);
    std::vector<array_list<fragment_data*>> left;
    for (const chunk_data* chunk : graph.all()) left.push_back(chunk->fragments);
    EXPECT_EQ(left, (std::vector<array_list<fragment_data*>>{{}, set(1), set(4), set(5)}));
    EXPECT_TRUE(all[1]->chunks.empty());
    expect_consistent();
}

TEST_F(chunk_graph_of, forget_chunks_of_a_fragment_without_chunks_changes_nothing) {
    chunk(0b101);
    const std::uint64_t epoch = graph.epoch();
    const std::uint64_t generation = graph.generation();
    graph.forget_chunks_of(*all[1]);
    EXPECT_EQ(graph.epoch(), epoch);
    EXPECT_EQ(graph.generation(), generation);
    graph.forget_chunks_of(*all[0]);
    EXPECT_NE(graph.epoch(), epoch);
    EXPECT_NE(graph.generation(), generation);
    EXPECT_EQ(graph.all().size(), 1u);
}

TEST_F(chunk_graph_of, freeing_a_chunk_forgets_that_it_was_the_single_chunk_of_its_fragment) {
    all[0]->single_chunk = chunk(0b1).index;
    all[1]->single_chunk = chunk(0b10).index;
    chunk(0b11);
    graph.forget_chunks_of(*all[0]);
    EXPECT_EQ(all[0]->single_chunk, chunk_index{});
    EXPECT_EQ(all[1]->single_chunk, chunk(0b10).index);
    graph.collect_garbage();
    EXPECT_EQ(all[1]->single_chunk, chunk_index{});
}

TEST_F(chunk_graph_of, find_returns_null_for_an_unknown_set) {
    chunk(0b11);
    EXPECT_EQ(graph.find(set(0b11)), &chunk(0b11));
    EXPECT_EQ(graph.find(set(0)), &graph.empty_chunk());
    for (const unsigned bits : {0b01u, 0b10u, 0b111u, 0b100u})
        EXPECT_EQ(graph.find(set(bits)), nullptr) << bits;
    EXPECT_EQ(graph.all().size(), 2u);
}

TEST_F(chunk_graph_of, stores_the_row_limit_of_its_chunks) {
    EXPECT_EQ(graph.row_limit(), 100u);
    EXPECT_EQ(chunk_graph(type_info_of<std::uint64_t>, 10, 7).row_limit(), 7u);
}

// ---- epochs ------------------------------------------------------------------------------------

/// Adds a hook that is never called.
void add_hook(fragment_data& to, hook_kind kind) {
    to.hooks.add(kind, {boxed_value::holding(0), [](void*, std::uint64_t, void*) {}});
}

TEST_F(chunk_graph_of, each_epoch_has_a_bit_pattern_of_its_own_above_the_step_of_an_edge_key) {
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t epoch = graph.edge_epoch();
        EXPECT_NE(epoch, 0u);
        EXPECT_EQ(epoch & edge_key::step_mask, 0u);
        EXPECT_TRUE(seen.insert(epoch).second);
        graph.invalidate();
    }
}

TEST_F(chunk_graph_of, invalidate_keeps_the_generation_and_invalidate_traits_does_not) {
    const std::uint64_t epoch = graph.epoch();
    const std::uint64_t generation = graph.generation();
    graph.invalidate();
    EXPECT_NE(graph.epoch(), epoch);
    EXPECT_EQ(graph.generation(), generation);
    const std::uint64_t second = graph.epoch();
    graph.invalidate_traits();
    EXPECT_NE(graph.epoch(), second);
    EXPECT_NE(graph.generation(), generation);
}

TEST_F(chunk_graph_of, refresh_updates_the_flags_of_a_chunk_once_per_epoch) {
    chunk_data& tested = chunk(0b11);
    EXPECT_EQ(&graph.refresh(tested), &tested);
    EXPECT_FALSE(tested.has_unique || tested.notifies_insert);
    EXPECT_FALSE(tested.notifies_remove);
    EXPECT_TRUE(tested.is_complete);
    EXPECT_EQ(tested.quiet_epoch, graph.epoch());
    all[0]->is_unique = true;
    all[1]->implied = {{all[2]}};
    add_hook(*all[0], hook_kind::set);
    add_hook(*all[1], hook_kind::remove);
    graph.refresh(tested);  // the same epoch
    EXPECT_FALSE(tested.has_unique);
    graph.invalidate();
    graph.refresh(tested);
    EXPECT_TRUE(tested.has_unique);
    EXPECT_FALSE(tested.is_complete);
    EXPECT_TRUE(tested.notifies_insert);
    EXPECT_TRUE(tested.notifies_remove);
    EXPECT_EQ(tested.traits_epoch, graph.epoch());
    EXPECT_EQ(tested.quiet_epoch, 0u);
}

TEST_F(chunk_graph_of, a_chunk_is_complete_if_adding_its_fragments_implies_no_other) {
    all[0]->implied = {{all[1]}, {all[2], false, true}, {all[3], true, false}};
    EXPECT_FALSE(chunk(0b0001).is_complete);
    EXPECT_TRUE(chunk(0b0011).is_complete);
    EXPECT_TRUE(chunk(0b0010).is_complete);
    EXPECT_FALSE(chunk(0b0101).is_complete);
    EXPECT_FALSE(chunk(0b0111).is_complete);
    EXPECT_TRUE(chunk(0b1011).is_complete);
}

TEST_F(chunk_graph_of, an_assign_hook_notifies_neither_of_insertion_nor_of_removal) {
    add_hook(*all[0], hook_kind::assign);
    EXPECT_FALSE(chunk(0b1).notifies_insert);
    EXPECT_FALSE(chunk(0b1).notifies_remove);
    add_hook(*all[1], hook_kind::insert);
    EXPECT_TRUE(chunk(0b10).notifies_insert);
    EXPECT_FALSE(chunk(0b10).notifies_remove);
    EXPECT_EQ(chunk(0b10).quiet_epoch, graph.epoch());
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

// ---- words -------------------------------------------------------------------------------------

struct chunk_graph_words : chunk_graph_of {
    chunk_graph_words() { all[1]->has_word = all[3]->has_word = true; }
    chunk_data& group(unsigned bits, std::vector<std::uint64_t> words) {
        return graph.ensure(set(bits), words);
    }
};

TEST_F(chunk_graph_words, each_set_has_a_chunk_for_each_list_of_words) {
    chunk_data& none = group(0b1011, {});
    chunk_data& first = group(0b1011, {7, 0});
    chunk_data& second = group(0b1011, {0, 7});
    EXPECT_NE(&none, &first);
    EXPECT_NE(&first, &second);
    EXPECT_EQ(&group(0b1011, {7, 0}), &first);
    EXPECT_EQ(&group(0b1011, {7}), &first);  // missing words are 0
    EXPECT_EQ(&group(0b1011, {0, 0}), &none);
    EXPECT_EQ(graph.find(set(0b1011), std::vector<std::uint64_t>{7, 7}), nullptr);
    EXPECT_EQ(second.words, (array_list<std::uint64_t>{0, 7}));
    EXPECT_EQ(none.words, (array_list<std::uint64_t>{0, 0}));
    EXPECT_TRUE(chunk(0b101).words.empty());
}

TEST_F(chunk_graph_words, a_word_belongs_to_its_fragment) {
    const chunk_data& made = group(0b1111, {5, 6});
    EXPECT_EQ(made.word_of(*all[0]), 0u);
    EXPECT_EQ(made.word_of(*all[1]), 5u);
    EXPECT_EQ(made.word_of(*all[2]), 0u);
    EXPECT_EQ(made.word_of(*all[3]), 6u);
    EXPECT_EQ(group(0b1000, {6}).word_of(*all[1]), 0u);
}

TEST_F(chunk_graph_words, regroup_returns_the_chunk_of_the_same_fragments) {
    chunk_data& from = group(0b1011, {1, 2});
    chunk_data& to = graph.regroup(from, std::vector<std::uint64_t>{3, 2});
    EXPECT_EQ(&to, &group(0b1011, {3, 2}));
    EXPECT_EQ(&graph.regroup(to, from.words), &from);
    EXPECT_EQ(&graph.regroup(to, to.words), &to);
}

TEST_F(chunk_graph_words, many_groups_are_found_and_freed) {
    for (std::uint64_t word = 0; word < 1'000; ++word) {
        group(0b10, {word});
        if (word % 2 == 0) add_row(group(0b1010, {word, word * 3}));
    }
    EXPECT_EQ(all[1]->chunks.count(), 1'500u);
    graph.collect_garbage();
    EXPECT_EQ(all[1]->chunks.count(), 500u);
    for (std::uint64_t word = 0; word < 1'000; word += 2)
        ASSERT_EQ(group(0b1010, {word, word * 3}).size, 1u);
    EXPECT_EQ(all[1]->chunks.count(), 500u);
    for (chunk_data* chunk : graph.all()) chunk->size = 0;
    graph.forget_chunks_of(*all[3]);
    EXPECT_TRUE(all[1]->chunks.empty());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
