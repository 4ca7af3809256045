#include <muster/id/id.hpp>
#include <muster/query/query_cache.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <new>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

/// A set of fragments is written as bits.
class query_cache_of : public testing::Test {
protected:
    static constexpr unsigned fragment_count = 8;
    static constexpr std::uint64_t first_id = 500;

    fragment_table fragments;
    chunk_graph graph{type_info_of<std::uint64_t>, 5000, 100};
    sparse_table sparse{sparse_set::id_shape::of<layouts::bound>()};
    query_cache cache{fragments, graph, sparse};
    array_list<fragment_data*> all;

    query_cache_of() {
        constexpr const char* names[fragment_count] = {"alpha",   "beta", "gamma", "delta",
                                                       "epsilon", "zeta", "eta",   "theta"};
        for (std::uint32_t i = 0; i < fragment_count; ++i) {
            all.push_back(&fragments.add(type_index{i + 1}, type_info_of<int>, first_id + i));
            all.back()->name = names[i];
        }
    }
    ~query_cache_of() override {
        sparse.forget_entries();
        for (sparse_set* set : sparse.all())
            if (set != nullptr) set->end_values();
    }

    static terms question_of(const std::vector<term>& wanted) {
        terms made;
        for (const term& each : wanted) made.add(each);
        return made;
    }
    static term named(unsigned fragment, term_kind kind, std::uint8_t group = 0) {
        return {fragment + 1, kind, true, group};
    }
    static term with(unsigned fragment) { return named(fragment, term_kind::with); }
    static term without(unsigned fragment) { return named(fragment, term_kind::without); }
    static term any(unsigned fragment, std::uint8_t group = 1) {
        return named(fragment, term_kind::any, group);
    }
    static term optional(unsigned fragment) { return named(fragment, term_kind::optional); }

    chunk_data& chunk(unsigned bits) {
        array_list<fragment_data*> set;
        for (unsigned i = 0; i < fragment_count; ++i)
            if ((bits >> i & 1) != 0) set.push_back(all[i]);
        return graph.ensure(set);
    }
    void hide(unsigned fragment) {
        all[fragment]->is_hidden = true;
        graph.invalidate_traits();
    }
    sparse_set& make_sparse(unsigned fragment) {
        sparse_set& added = sparse.add(*all[fragment]);
        graph.invalidate_traits();
        return added;
    }
    void put(unsigned fragment, std::uint64_t key) {
        sparse_set& set = *all[fragment]->sparse_values;
        sparse.prepare(set, who(key).value(), true);
        const slot_index slot = set.take();
        ::new (set.at(slot)) int(1);
        set.attach(who(key).value(), slot);
    }
    static id who(std::uint64_t key) { return id::pack(key, 0, 1); }

    unsigned bits_of(const chunk_data& found) const {
        unsigned bits = 0;
        for (unsigned i = 0; i < fragment_count; ++i)
            bits |= std::ranges::count(found.fragments, all[i]) != 0 ? 1u << i : 0u;
        return bits;
    }
    std::vector<unsigned> bits_of(const chunk_range& range) const {
        std::vector<unsigned> found;
        for (const chunk_data* each : range) found.push_back(bits_of(*each));
        return found;
    }
    std::vector<unsigned> answer(const std::vector<term>& wanted) {
        return bits_of(cache.read(cache.ensure(question_of(wanted)), false));
    }
};

using bit_list = std::vector<unsigned>;

// ---- lists -------------------------------------------------------------------------------------

TEST_F(query_cache_of, equal_questions_share_a_list) {
    match_list& first = cache.ensure(question_of({with(0), without(1)}));
    EXPECT_EQ(&cache.ensure(question_of({with(0), without(1)})), &first);
    EXPECT_NE(&cache.ensure(question_of({without(1), with(0)})), &first);
    EXPECT_NE(&cache.ensure(question_of({with(0)})), &first);
    EXPECT_NE(&cache.ensure({}), &first);
    EXPECT_EQ(first.question, question_of({with(0), without(1)}));
}

TEST_F(query_cache_of, a_type_and_an_id_with_the_same_number_are_different_questions) {
    const match_list& by_type = cache.ensure(question_of({{5, term_kind::with, true, 0}}));
    const match_list& by_id = cache.ensure(question_of({{5, term_kind::with, false, 0}}));
    EXPECT_NE(&by_type, &by_id);
}

TEST_F(query_cache_of, lists_keep_their_places_while_others_are_added) {
    std::vector<match_list*> lists;
    std::vector<terms> questions;
    for (std::uint64_t i = 0; i < 300; ++i) {
        questions.push_back(question_of({{i, term_kind::with, true, 0}}));
        lists.push_back(&cache.ensure(questions.back()));
    }
    EXPECT_EQ(std::set<match_list*>(lists.begin(), lists.end()).size(), 300u);
    for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(&cache.ensure(questions[i]), lists[i]) << i;
}

// ---- what matches --------------------------------------------------------------------------------

TEST_F(query_cache_of, lists_the_chunks_that_have_what_is_asked_for) {
    for (unsigned bits = 0; bits < 8; ++bits) chunk(bits);
    EXPECT_EQ(answer({with(0)}), (bit_list{1, 3, 5, 7}));
    EXPECT_EQ(answer({with(0), with(1)}), (bit_list{3, 7}));
    EXPECT_EQ(answer({without(0)}), (bit_list{2, 4, 6}));
    EXPECT_EQ(answer({with(1), without(2)}), (bit_list{2, 3}));
    EXPECT_EQ(answer({with(0), without(0)}), bit_list{});
    EXPECT_EQ(answer({optional(0)}), (bit_list{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(query_cache_of, an_empty_question_lists_all_chunks_but_that_of_the_empty_set) {
    EXPECT_EQ(answer({}), bit_list{});
    chunk(2);
    chunk(1);
    EXPECT_EQ(answer({}), (bit_list{2, 1}));
}

TEST_F(query_cache_of, chunks_are_listed_in_the_order_of_their_making) {
    for (const unsigned bits : {7u, 1u, 5u, 3u}) chunk(bits);
    EXPECT_EQ(answer({with(0)}), (bit_list{7, 1, 5, 3}));
}

TEST_F(query_cache_of, one_fragment_of_each_group_is_enough) {
    for (unsigned bits = 0; bits < 16; ++bits) chunk(bits);
    EXPECT_EQ(answer({any(0)}), (bit_list{1, 3, 5, 7, 9, 11, 13, 15}));
    EXPECT_EQ(answer({any(0), any(1), without(2), without(3)}), (bit_list{1, 2, 3}));
    EXPECT_EQ(answer({any(0, 1), any(1, 1), any(2, 2), any(3, 2)}),
              (bit_list{5, 6, 7, 9, 10, 11, 13, 14, 15}));
    EXPECT_EQ(answer({with(3), any(0, 1), any(1, 2), without(2)}), bit_list{11});
    // A group whose first fragment is missing, before another term.
    EXPECT_EQ(answer({any(0), any(1), with(2), with(3)}), (bit_list{13, 14, 15}));
}

TEST_F(query_cache_of, a_fragment_can_be_named_by_its_id) {
    for (unsigned bits = 0; bits < 4; ++bits) chunk(bits);
    EXPECT_EQ(answer({{first_id, term_kind::with, false, 0}}), (bit_list{1, 3}));
    EXPECT_EQ(answer({{first_id + 1, term_kind::without, false, 0}}), bit_list{1});
}

TEST_F(query_cache_of, no_chunk_has_a_fragment_that_does_not_exist) {
    for (unsigned bits = 0; bits < 4; ++bits) chunk(bits);
    const term unknown_type{1000, term_kind::with, true, 0};
    EXPECT_EQ(&cache.fragment_of(unknown_type), &no_fragment);
    EXPECT_EQ(answer({unknown_type}), bit_list{});
    EXPECT_EQ(answer({{77, term_kind::with, false, 0}}), bit_list{});
    EXPECT_EQ(answer({{1000, term_kind::without, true, 0}}), (bit_list{1, 2, 3}));
    EXPECT_EQ(answer({{1000, term_kind::any, true, 1}}), bit_list{});
    EXPECT_EQ(answer({{1000, term_kind::any, true, 1}, any(1)}), (bit_list{2, 3}));
    EXPECT_EQ(answer({{1000, term_kind::optional, true, 0}}), (bit_list{1, 2, 3}));
}

TEST_F(query_cache_of, a_type_means_its_next_fragment_after_the_first_has_ended) {
    const term by_type{50, term_kind::with, true, 0};
    const term by_id{900, term_kind::with, false, 0};
    fragment_data* const first = &fragments.add(type_index{50}, type_info_of<int>, 900);
    EXPECT_EQ(&cache.fragment_of(by_type), first);
    EXPECT_EQ(&cache.fragment_of(by_id), first);
    graph.ensure({&first, 1});
    EXPECT_EQ(answer({by_type}).size(), 1u);
    graph.collect_garbage();
    fragments.remove(*first);
    EXPECT_EQ(answer({by_type}).size(), 0u);
    fragment_data* const second = &fragments.add(type_index{50}, type_info_of<int>, 901);
    graph.ensure({&second, 1});
    EXPECT_EQ(answer({by_type}).size(), 1u);
    EXPECT_EQ(answer({by_id}).size(), 0u);
    EXPECT_EQ(&cache.fragment_of(by_type), second);
}

// ---- hidden fragments ----------------------------------------------------------------------------

TEST_F(query_cache_of, a_hidden_fragment_hides_its_chunks_unless_it_is_named) {
    for (unsigned bits = 0; bits < 8; ++bits) chunk(bits);
    hide(2);
    EXPECT_EQ(answer({}), (bit_list{1, 2, 3}));
    EXPECT_EQ(answer({with(0)}), (bit_list{1, 3}));
    EXPECT_EQ(answer({with(2)}), (bit_list{4, 5, 6, 7}));
    EXPECT_EQ(answer({with(0), optional(2)}), (bit_list{1, 3, 5, 7}));
    EXPECT_EQ(answer({any(0), any(2)}), (bit_list{1, 3, 4, 5, 6, 7}));
    EXPECT_EQ(answer({{first_id + 2, term_kind::optional, false, 0}}),
              (bit_list{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(query_cache_of, each_hidden_fragment_has_to_be_named) {
    for (unsigned bits = 0; bits < 8; ++bits) chunk(bits);
    hide(1);
    hide(2);
    EXPECT_EQ(answer({}), bit_list{1});
    EXPECT_EQ(answer({optional(1)}), (bit_list{1, 2, 3}));
    EXPECT_EQ(answer({with(1), with(2)}), (bit_list{6, 7}));
}

TEST_F(query_cache_of, a_list_follows_what_its_fragments_mean) {
    for (unsigned bits = 1; bits < 4; ++bits) chunk(bits);
    EXPECT_EQ(answer({with(0)}), (bit_list{1, 3}));
    hide(1);
    EXPECT_EQ(answer({with(0)}), bit_list{1});
    all[1]->is_hidden = false;
    graph.invalidate_traits();
    EXPECT_EQ(answer({with(0)}), (bit_list{1, 3}));
}

// ---- new and freed chunks ------------------------------------------------------------------------

TEST_F(query_cache_of, a_list_looks_only_at_chunks_that_are_new) {
    chunk(1);
    match_list& list = cache.ensure(question_of({with(0)}));
    EXPECT_EQ(list.generation, 0u);  // never read
    EXPECT_EQ(bits_of(cache.read(list, false)), bit_list{1});
    EXPECT_EQ(list.seen, 2u);
    list.chunks.clear();  // as a trace
    chunk(2);
    chunk(3);
    EXPECT_EQ(bits_of(cache.read(list, false)), bit_list{3});
    EXPECT_EQ(list.seen, 4u);
}

TEST_F(query_cache_of, reading_again_changes_nothing) {
    for (unsigned bits = 1; bits < 8; ++bits) chunk(bits);
    match_list& list = cache.ensure(question_of({with(0)}));
    const chunk_range first = cache.read(list, false);
    const chunk_range second = cache.read(list, true);
    EXPECT_EQ(first.begin(), second.begin());
    EXPECT_EQ(first.end(), second.end());
    EXPECT_EQ(list.previous, nullptr);
}

TEST_F(query_cache_of, freed_chunks_are_not_listed_any_more) {
    for (unsigned bits = 1; bits < 8; ++bits) chunk(bits);
    match_list& list = cache.ensure(question_of({with(0)}));
    EXPECT_EQ(bits_of(cache.read(list, false)), (bit_list{1, 3, 5, 7}));
    graph.forget_chunks_of(*all[1]);
    EXPECT_EQ(bits_of(cache.read(list, false)), (bit_list{1, 5}));
    graph.collect_garbage();
    EXPECT_EQ(bits_of(cache.read(list, false)), bit_list{});
    chunk(9);
    EXPECT_EQ(bits_of(cache.read(list, false)), bit_list{9});
}

// ---- loops ---------------------------------------------------------------------------------------

TEST_F(query_cache_of, a_loop_keeps_the_chunks_that_it_had) {
    for (unsigned bits = 1; bits < 4; ++bits) chunk(bits);
    match_list& list = cache.ensure(question_of({with(0)}));
    const chunk_range outer = cache.read(list, false);
    for (unsigned bits = 4; bits < 64; ++bits) chunk(bits);
    const chunk_range inner = cache.read(list, true);
    EXPECT_EQ(bits_of(outer), (bit_list{1, 3}));
    EXPECT_EQ(std::distance(inner.begin(), inner.end()), 32);
    for (unsigned bits = 64; bits < 128; ++bits) chunk(bits);
    const chunk_range innermost = cache.read(list, true);
    EXPECT_EQ(bits_of(outer), (bit_list{1, 3}));
    EXPECT_EQ(std::distance(inner.begin(), inner.end()), 32);
    EXPECT_EQ(bits_of(inner)[31], 63u);
    EXPECT_EQ(std::distance(innermost.begin(), innermost.end()), 64);
    EXPECT_EQ(bits_of(innermost)[63], 127u);
}

TEST_F(query_cache_of, a_loop_keeps_its_chunks_when_fragments_change_their_meaning) {
    for (unsigned bits = 1; bits < 4; ++bits) chunk(bits);
    match_list& list = cache.ensure(question_of({with(0)}));
    const chunk_range outer = cache.read(list, false);
    hide(1);
    const chunk_range inner = cache.read(list, true);
    EXPECT_EQ(bits_of(outer), (bit_list{1, 3}));
    EXPECT_EQ(bits_of(inner), bit_list{1});
}

TEST_F(query_cache_of, former_lists_are_freed_when_no_loop_is_left) {
    match_list& list = cache.ensure(question_of({with(0)}));
    (void)cache.read(list, true);
    EXPECT_EQ(list.previous, nullptr);  // there was nothing to keep
    for (unsigned bits = 1; bits < 8; ++bits) {
        chunk(bits);
        (void)cache.read(list, true);
    }
    std::size_t kept = 0;
    for (const match_list* at = list.previous; at != nullptr; at = at->previous) ++kept;
    EXPECT_EQ(kept, 6u);  // all but the first, which was empty
    chunk(9);
    EXPECT_EQ(bits_of(cache.read(list, false)), (bit_list{1, 3, 5, 7, 9}));
    EXPECT_EQ(list.previous, nullptr);
}

// ---- all lists -----------------------------------------------------------------------------------

TEST_F(query_cache_of, refresh_all_brings_every_list_up_to_date) {
    std::vector<match_list*> lists;
    for (unsigned i = 0; i < fragment_count; ++i)
        lists.push_back(&cache.ensure(question_of({with(i)})));
    for (unsigned bits = 1; bits < 256; ++bits) chunk(bits);
    cache.refresh_all(false);
    for (const match_list* list : lists) {
        EXPECT_EQ(list->chunks.size(), 128u);
        EXPECT_EQ(list->seen, graph.all().size());
    }
}

TEST_F(query_cache_of, refresh_all_finds_lists_and_chunks_that_were_added_since) {
    chunk(1);
    const match_list& first = cache.ensure(question_of({with(0)}));
    cache.refresh_all(false);
    EXPECT_EQ(first.chunks.size(), 1u);
    const match_list& second = cache.ensure(question_of({without(1)}));
    cache.refresh_all(false);
    EXPECT_EQ(second.chunks.size(), 1u);
    chunk(3);
    cache.refresh_all(false);
    EXPECT_EQ(first.chunks.size(), 2u);
    hide(1);
    cache.refresh_all(false);
    EXPECT_EQ(first.chunks.size(), 1u);
    EXPECT_EQ(first.generation, graph.generation());
}

TEST_F(query_cache_of, refresh_all_keeps_the_chunks_of_loops) {
    chunk(1);
    match_list& list = cache.ensure(question_of({with(0)}));
    const chunk_range outer = cache.read(list, false);
    for (unsigned bits = 2; bits < 64; ++bits) chunk(bits);
    cache.refresh_all(true);
    EXPECT_EQ(bits_of(outer), bit_list{1});
    EXPECT_NE(list.previous, nullptr);
    chunk(65);
    cache.refresh_all(false);
    EXPECT_EQ(list.previous, nullptr);
}

TEST_F(query_cache_of, a_shared_list_is_up_to_date) {
    for (unsigned bits = 1; bits < 8; ++bits) chunk(bits);
    const match_list& list = cache.ensure_shared(question_of({with(0)}));
    EXPECT_EQ(list.chunks.size(), 4u);
    EXPECT_EQ(list.seen, graph.all().size());
    EXPECT_EQ(&cache.ensure(question_of({with(0)})), &list);
}

TEST_F(query_cache_of, threads_share_the_lists_of_equal_questions) {
    for (unsigned bits = 1; bits < 256; ++bits) chunk(bits);
    constexpr std::size_t thread_count = 4;
    std::array<std::vector<const match_list*>, thread_count> found;
    std::vector<std::thread> threads;
    for (auto& lists : found)
        threads.emplace_back([&] {
            for (unsigned i = 0; i < 64; ++i) {
                const match_list& list = cache.ensure_shared(
                    question_of({with(i % fragment_count), without(i / fragment_count)}));
                lists.push_back(list.seen == graph.all().size() ? &list : nullptr);
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& lists : found) EXPECT_EQ(lists, found[0]);
    EXPECT_EQ(std::set<const match_list*>(found[0].begin(), found[0].end()).size(), 64u);
    EXPECT_EQ(std::ranges::count(found[0], nullptr), 0);
    EXPECT_EQ(found[0][1]->chunks.size(), 64u);
}

// ---- sparse fragments ----------------------------------------------------------------------------

TEST_F(query_cache_of, the_chunks_are_the_whole_answer_without_sparse_fragments) {
    chunk(1);
    match_list& list = cache.ensure(question_of({with(0)}));
    EXPECT_TRUE(cache.read(list, false).is_plain);
    EXPECT_TRUE(list.is_inside);
    EXPECT_TRUE(list.sparse_terms.empty());
    match_list& everything = cache.ensure({});
    EXPECT_TRUE(cache.read(everything, false).is_plain);
    EXPECT_FALSE(everything.is_inside);
}

TEST_F(query_cache_of, terms_of_sparse_fragments_are_asked_of_each_entity) {
    make_sparse(4);
    make_sparse(5);
    struct expectation {
        std::vector<term> question;
        std::vector<unsigned> sparse_terms;
        bool is_plain;
        bool is_inside;
    };
    const expectation all_of_them[] = {
        {{with(0)}, {}, true, true},
        {{}, {}, false, false},
        {{without(0)}, {}, false, false},
        {{with(4)}, {4}, false, false},
        {{with(0), with(4)}, {4}, false, true},
        {{with(0), without(5), with(4)}, {5, 4}, false, true},
        {{any(0), any(1)}, {}, true, true},
        {{any(0), any(4)}, {0, 4}, false, false},
        {{any(0, 1), any(4, 1), any(1, 2), any(2, 2)}, {0, 4}, false, true},
        {{with(0), optional(1)}, {}, true, true},
    };
    for (const expectation& expected : all_of_them) {
        match_list& list = cache.ensure(question_of(expected.question));
        EXPECT_EQ(cache.read(list, false).is_plain, expected.is_plain);
        EXPECT_EQ(list.is_inside, expected.is_inside);
        std::vector<unsigned> asked;
        for (const sparse_term& wanted : list.sparse_terms)
            asked.push_back(to_int(wanted.fragment->index));
        EXPECT_EQ(asked, expected.sparse_terms);
    }
    match_list& list = cache.ensure(question_of({any(0, 1), any(4, 1), without(5)}));
    (void)cache.read(list, false);
    ASSERT_EQ(list.sparse_terms.size(), 3u);
    EXPECT_EQ(list.sparse_terms[1].kind, term_kind::any);
    EXPECT_EQ(list.sparse_terms[1].group, 1);
    EXPECT_EQ(list.sparse_terms[2].kind, term_kind::without);
}

TEST_F(query_cache_of, a_hidden_sparse_fragment_excludes_entities_unless_it_is_named) {
    make_sparse(4);
    make_sparse(5);
    hide(4);
    match_list& list = cache.ensure(question_of({with(0)}));
    EXPECT_FALSE(cache.read(list, false).is_plain);
    ASSERT_EQ(list.sparse_terms.size(), 1u);
    EXPECT_EQ(list.sparse_terms[0].fragment, all[4]);
    EXPECT_EQ(list.sparse_terms[0].kind, term_kind::without);
    match_list& naming = cache.ensure(question_of({with(0), with(4)}));
    (void)cache.read(naming, false);
    ASSERT_EQ(naming.sparse_terms.size(), 1u);
    EXPECT_EQ(naming.sparse_terms[0].kind, term_kind::with);
}

TEST_F(query_cache_of, a_list_forgets_the_sparse_terms_of_fragments_that_are_sparse_no_more) {
    sparse_set& set = make_sparse(4);
    match_list& list = cache.ensure(question_of({with(0), with(4)}));
    EXPECT_FALSE(cache.read(list, false).is_plain);
    sparse.remove(set);
    graph.invalidate_traits();
    EXPECT_TRUE(cache.read(list, false).is_plain);
    EXPECT_TRUE(list.sparse_terms.empty());
}

TEST_F(query_cache_of, entities_need_no_chunk_once_the_fragment_in_question_is_sparse) {
    match_list& list = cache.ensure(question_of({with(4)}));
    (void)cache.read(list, false);
    EXPECT_TRUE(list.is_inside);
    make_sparse(4);
    EXPECT_FALSE(cache.read(list, false).is_plain);
    EXPECT_FALSE(list.is_inside);
}

TEST_F(query_cache_of, chunks_that_only_name_sparse_fragments_are_not_listed) {
    make_sparse(4);
    chunk(0b00001);
    chunk(0b10000);
    chunk(0b10001);
    EXPECT_EQ(answer({with(4)}), bit_list{1});  // its entities may have it
    EXPECT_EQ(answer({with(0)}), bit_list{1});
    EXPECT_EQ(answer({without(4)}), bit_list{1});
    EXPECT_EQ(answer({any(1), any(4)}), bit_list{1});
    EXPECT_EQ(answer({with(1), with(4)}), bit_list{});
}

TEST_F(query_cache_of, an_entity_matches_by_its_chunk_and_its_sparse_values) {
    make_sparse(4);
    chunk_data& home = chunk(0b0001);
    put(4, 7);
    const auto matches = [&](std::vector<term> wanted, std::uint64_t key) {
        return cache.matches(question_of(wanted), home, who(key).value());
    };
    EXPECT_TRUE(matches({with(0), with(4)}, 7));
    EXPECT_FALSE(matches({with(0), with(4)}, 8));
    EXPECT_FALSE(matches({with(0), without(4)}, 7));
    EXPECT_TRUE(matches({with(0), without(4)}, 8));
    EXPECT_TRUE(matches({any(1), any(4)}, 7));
    EXPECT_FALSE(matches({any(1), any(4)}, 8));
    EXPECT_TRUE(matches({optional(4)}, 8));
    EXPECT_TRUE(cache.may_match(question_of({with(0), with(4)}), home));
    EXPECT_TRUE(cache.may_match(question_of({with(0), without(4)}), home));
    EXPECT_FALSE(cache.may_match(question_of({with(1), with(4)}), home));
}

TEST_F(query_cache_of, an_entity_without_fragments_matches_nothing) {
    make_sparse(4);
    put(4, 7);
    const chunk_data& nowhere = graph.empty_chunk();
    EXPECT_TRUE(cache.matches({}, nowhere, who(7).value()));
    EXPECT_TRUE(cache.matches(question_of({without(0)}), nowhere, who(7).value()));
    EXPECT_FALSE(cache.matches({}, nowhere, who(8).value()));
    EXPECT_FALSE(cache.matches(question_of({without(0)}), nowhere, who(8).value()));
}

TEST_F(query_cache_of, an_entity_is_hidden_by_a_hidden_sparse_value) {
    make_sparse(4);
    hide(4);
    chunk_data& home = chunk(1);
    put(4, 7);
    EXPECT_FALSE(cache.matches(question_of({with(0)}), home, who(7).value()));
    EXPECT_TRUE(cache.matches(question_of({with(0)}), home, who(8).value()));
    EXPECT_TRUE(cache.matches(question_of({with(0), optional(4)}), home, who(7).value()));
    EXPECT_FALSE(cache.matches({}, graph.empty_chunk(), who(7).value()));
}

// ---- explain -------------------------------------------------------------------------------------

/// The parts of an explanation, one for each term that says something.
std::vector<std::string> clauses_of(const std::string& explanation) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < explanation.size();) {
        const std::size_t end = std::min(explanation.find("; ", at), explanation.size());
        found.push_back(explanation.substr(at, end - at));
        at = end + 2;
    }
    return found;
}
bool starts_with(const std::string& text, const std::string& start) {
    return text.compare(0, start.size(), start) == 0;
}

TEST_F(query_cache_of, explains_term_by_term_what_an_entity_has) {
    make_sparse(4);
    hide(5);
    put(4, 7);
    chunk_data& home = chunk(0b100011);
    const auto explain = [&](std::vector<term> wanted, std::uint64_t key) {
        return clauses_of(cache.explain(question_of(wanted), home, who(key).value()));
    };
    auto clauses = explain({with(0), with(2), without(1), without(3), optional(5)}, 7);
    ASSERT_EQ(clauses.size(), 4u);
    EXPECT_EQ(clauses[0], "it has alpha");
    EXPECT_TRUE(starts_with(clauses[1], "it has no gamma, ")) << clauses[1];
    EXPECT_TRUE(starts_with(clauses[2], "it has beta, ")) << clauses[2];
    EXPECT_EQ(clauses[3], "it has no delta");

    clauses = explain({any(2, 1), any(1, 1), any(2, 2), any(3, 2), with(5)}, 7);
    EXPECT_EQ(clauses, (std::vector<std::string>{"it has one of gamma, beta",
                                                 "it has none of gamma, delta", "it has zeta"}));

    clauses = explain({any(1, 1), any(2, 1), optional(5)}, 7);
    EXPECT_EQ(clauses, std::vector<std::string>{"it has one of beta, gamma"});

    EXPECT_EQ(explain({with(4), optional(5)}, 7), std::vector<std::string>{"it has epsilon"});
    clauses = explain({with(4), optional(5)}, 8);
    ASSERT_EQ(clauses.size(), 1u);
    EXPECT_TRUE(starts_with(clauses[0], "it has no epsilon, ")) << clauses[0];

    clauses = explain({{99, term_kind::with, true, 0}, optional(5)}, 7);
    ASSERT_EQ(clauses.size(), 1u);
    EXPECT_TRUE(starts_with(clauses[0], "it has no ")) << clauses[0];
    EXPECT_EQ(explain({optional(5)}, 7), std::vector<std::string>{});
}

TEST_F(query_cache_of, explains_which_fragments_hide_an_entity) {
    make_sparse(4);
    hide(4);
    hide(5);
    put(4, 7);
    chunk_data& home = chunk(0b100011);
    const auto explain = [&](std::vector<term> wanted, std::uint64_t key) {
        return clauses_of(cache.explain(question_of(wanted), home, who(key).value()));
    };
    auto clauses = explain({}, 7);
    ASSERT_EQ(clauses.size(), 2u);
    EXPECT_NE(clauses[0].find("hidden by zeta"), std::string::npos) << clauses[0];
    EXPECT_NE(clauses[1].find("hidden by epsilon"), std::string::npos) << clauses[1];
    clauses = explain({with(5)}, 7);
    ASSERT_EQ(clauses.size(), 2u);
    EXPECT_NE(clauses[1].find("hidden by epsilon"), std::string::npos) << clauses[1];
    EXPECT_EQ(explain({}, 8).size(), 1u);
    EXPECT_EQ(explain({optional(4), optional(5)}, 7).size(), 0u);
}

// ---- rows of several chunks ----------------------------------------------------------------------

TEST_F(query_cache_of, a_range_leaves_out_rows_of_its_first_and_its_last_chunk) {
    chunk_data* const chunks[] = {&chunk(1), &chunk(2), &chunk(3)};
    chunk_range range{chunks, chunks + 3, true};
    EXPECT_EQ(range.first_row(chunks), 0u);
    EXPECT_EQ(range.end_row(chunks + 3, 10), 10u);
    range.from = 4;
    range.to = 6;
    EXPECT_EQ(range.first_row(chunks), 4u);
    EXPECT_EQ(range.end_row(chunks + 1, 10), 10u);
    EXPECT_EQ(range.first_row(chunks + 1), 0u);
    EXPECT_EQ(range.end_row(chunks + 2, 10), 10u);
    EXPECT_EQ(range.first_row(chunks + 2), 0u);
    EXPECT_EQ(range.end_row(chunks + 3, 10), 6u);
    EXPECT_EQ(range.end_row(chunks + 3, 5), 5u);  // no more than there are
}

TEST_F(query_cache_of, rows_that_threads_share_are_those_of_all_chunks) {
    EXPECT_EQ(shared_rows{}.count(), 1u);
    chunk_data* const chunks[] = {&chunk(1), &chunk(2), &chunk(3)};
    match_list& list = cache.ensure({});
    for (chunk_data* each : chunks) each->make_room(5, 100, {});
    chunks[0]->size = 2;
    chunks[2]->size = 3;
    EXPECT_EQ((shared_rows{&list, {chunks, chunks + 3, true}}.count()), 5u);
    EXPECT_EQ((shared_rows{&list, {chunks, chunks, true}}.count()), 0u);
}

// ---- against a naive model -----------------------------------------------------------------------

TEST_F(query_cache_of, agrees_with_a_naive_evaluation_of_random_questions) {
    std::mt19937 random(1);
    constexpr unsigned sparse_bits = 0b1100'0000;
    make_sparse(6);
    make_sparse(7);
    std::map<std::uint64_t, unsigned> entities;  // their sparse bits
    for (std::uint64_t key = 0; key < 40; ++key)
        for (unsigned i = 6; i < 8; ++i)
            if (random() % 2 == 0) {
                put(i, key);
                entities[key] |= 1u << i;
            } else {
                entities[key] |= 0;
            }
    for (int step = 0; step < 1500; ++step) {
        if (random() % 4 == 0) chunk(static_cast<unsigned>(random() % 64));
        if (random() % 40 == 0) {
            fragment_data& changed = *all[random() % fragment_count];
            changed.is_hidden = !changed.is_hidden;
            graph.invalidate_traits();
        }
        if (random() % 100 == 0) graph.collect_garbage();

        std::vector<term> wanted;
        unsigned named_bits = 0;
        unsigned with_bits = 0;
        unsigned without_bits = 0;
        std::vector<unsigned> groups;
        const auto pick = [&] {
            const auto fragment = static_cast<unsigned>(random() % fragment_count);
            named_bits |= 1u << fragment;
            return fragment;
        };
        for (auto i = random() % 4; i != 0; --i) {
            const auto kind = random() % 4;
            if (kind == 0) {
                wanted.push_back(with(pick()));
                with_bits |= 1u << (wanted.back().type_or_id - 1);
            } else if (kind == 1) {
                wanted.push_back(without(pick()));
                without_bits |= 1u << (wanted.back().type_or_id - 1);
            } else if (kind == 2) {
                wanted.push_back(optional(pick()));
            } else {
                groups.push_back(0);
                for (auto members = random() % 3 + 1; members != 0; --members) {
                    wanted.push_back(any(pick(), static_cast<std::uint8_t>(groups.size())));
                    groups.back() |= 1u << (wanted.back().type_or_id - 1);
                }
            }
        }
        unsigned hidden_bits = 0;
        for (unsigned i = 0; i < fragment_count; ++i)
            hidden_bits |= all[i]->is_hidden ? 1u << i : 0u;
        const auto fits = [&](unsigned bits) {
            return bits != 0 && (bits & with_bits) == with_bits && (bits & without_bits) == 0 &&
                   std::ranges::all_of(groups, [=](unsigned g) { return (bits & g) != 0; }) &&
                   (bits & hidden_bits & ~named_bits) == 0;
        };
        // Whether an entity of the chunk can match, whatever sparse values it has.
        const auto may_fit = [&](unsigned bits) {
            return bits != 0 && (bits & with_bits) == (with_bits & ~sparse_bits) &&
                   (bits & without_bits & ~sparse_bits) == 0 &&
                   std::ranges::all_of(
                       groups, [=](unsigned g) { return ((bits | sparse_bits) & g) != 0; }) &&
                   (bits & hidden_bits & ~named_bits) == 0;
        };
        const terms question = question_of(wanted);
        bit_list expected;
        for (const chunk_data* each : graph.all()) {
            const unsigned bits = bits_of(*each);
            if (may_fit(bits)) expected.push_back(bits);
            if (to_int(each->index) != 0)
                ASSERT_EQ(cache.may_match(question, *each), may_fit(bits)) << "step " << step;
            const std::uint64_t key = random() % 40;
            ASSERT_EQ(cache.matches(question, *each, who(key).value()), fits(bits | entities[key]))
                << "step " << step << " bits " << bits << " key " << key;
        }
        ASSERT_EQ(answer(wanted), expected) << "step " << step;
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
