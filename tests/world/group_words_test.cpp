// A small room that divides entities into groups by a word: teams, and levels of a tree.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/room_world.hpp"
#include "support/thread_executor.hpp"

namespace muster::test {
namespace {

using detail::array_list;
using detail::change;
using detail::change_kind;
using detail::chunk_data;
using detail::fragment_data;
using detail::fragment_name;

using word_list = array_list<std::uint64_t>;

struct team {
    int number = 0;
};
struct level {};
struct position {
    int x = 0;
};
struct label {
    std::string text;
};
struct burning {
    int heat = 0;
};

template <class Layout>
struct groups : testing::Test {
    using id_type = basic_id<Layout>;
    room_world<Layout> owner;
    fragment_data& teams = owner.parts().template ensure_fragment<team>();
    fragment_data& levels = owner.parts().template ensure_fragment<level>();

    groups() {
        auto& parts = owner.parts();
        if (teams.sparse_values != nullptr) return;  // run on sparse storage: skipped
        parts.catalog.add_words(teams);
        parts.catalog.add_words(levels);
        owner.template define<burning>().sparse();
    }
    void SetUp() override {
        if (teams.sparse_values != nullptr) GTEST_SKIP() << "about chunks";
    }

    static change joining(team& value, std::uint64_t word) {
        change made{.fragment = fragment_name::of<team>(),
                    .type = detail::value_type_ref::of<team>()};
        made.self = &value;
        made.sets_word = true;
        made.word = word;
        return made;
    }
    /// Puts a team with its word, into a group of that word.
    void join(id_type e, std::uint64_t word) {
        team value{static_cast<int>(word)};
        change put = joining(value, word);
        owner.parts().changes.submit({{e.value(), {}}, {&put, 1}, "join"});
    }
    id_type spawn_in(std::uint64_t word) {
        team value{static_cast<int>(word)};
        change put = joining(value, word);
        return detail::to_id<Layout>(owner.parts().spawner.spawn({&put, 1}, nullptr));
    }
    void climb(id_type e, std::uint64_t word) {
        owner.parts().changes.regroup({e.value(), {}}, levels, word);
    }
    chunk_data& chunk_of(id_type e) { return owner.parts().components.chunk_of(e.value()); }
    word_list words(id_type e) { return chunk_of(e).words; }
    std::uint64_t word(id_type e) { return chunk_of(e).word_of(teams); }
};
TYPED_TEST_SUITE(groups, behavior_layouts, layout_names);

TYPED_TEST(groups, entities_with_equal_fragments_are_in_a_chunk_for_each_word) {
    auto& w = this->owner;
    const auto a = w.spawn(position{1}), b = w.spawn(position{2}), c = w.spawn(position{3});
    this->join(a, 7);
    this->join(b, 9);
    this->join(c, 7);
    EXPECT_EQ(this->words(a), word_list{7});
    EXPECT_EQ(this->words(b), word_list{9});
    EXPECT_EQ(&this->chunk_of(a), &this->chunk_of(c));
    EXPECT_EQ(w.template get<position>(c).x, 3);
    EXPECT_EQ(w.template get<team>(b).number, 9);
    this->join(a, 9);  // a value that is there: the entity changes its group
    EXPECT_EQ(&this->chunk_of(a), &this->chunk_of(b));
    EXPECT_EQ(w.template get<team>(a).number, 9);
    EXPECT_EQ(w.template get<position>(a).x, 1);
}

TYPED_TEST(groups, queries_see_all_groups_in_the_order_of_their_creation) {
    auto& w = this->owner;
    auto q = w.template query<const team>();
    const auto a = this->spawn_in(3), b = this->spawn_in(1), c = this->spawn_in(3);
    std::vector<basic_id<TypeParam>> seen;
    q.each([&](basic_id<TypeParam> e, const team&) { seen.push_back(e); });
    EXPECT_EQ(seen, (std::vector{a, c, b}));
    EXPECT_EQ(w.template count<team>(), 3u);
    const auto d = this->spawn_in(2);
    EXPECT_EQ(q.count(), 4u);
    EXPECT_EQ((w.template chunk<team>().size()), 0u);  // the group of word 0
    EXPECT_EQ(w.locate(d).row, 0u);
}

TYPED_TEST(groups, changes_of_other_fragments_keep_the_words) {
    auto& w = this->owner;
    const auto e = this->spawn_in(5);
    w.set(e, level{});
    this->climb(e, 2);
    EXPECT_EQ(this->words(e), (word_list{5, 2}));
    w.set(e, position{1});
    w.set(e, label{"a"}, position{2});
    w.set(e, burning{1});
    EXPECT_EQ(this->words(e), (word_list{5, 2}));
    w.set(e, team{6});  // assigned without a word
    w.template patch<team>(e, [](team& t) { ++t.number; });
    EXPECT_EQ(this->words(e), (word_list{5, 2}));
    EXPECT_EQ(w.template get<team>(e).number, 7);
    w.template remove<label>(e);
    EXPECT_EQ(this->words(e), (word_list{5, 2}));
    w.template remove<team>(e);
    EXPECT_EQ(this->words(e), word_list{2});
    w.set(e, team{1});
    EXPECT_EQ(this->words(e), (word_list{0, 2}));
    w.clear(e);
    EXPECT_TRUE(this->words(e).empty());
}

TYPED_TEST(groups, recorded_changes_take_their_words_with_them) {
    auto& w = this->owner;
    const auto a = w.spawn(), b = this->spawn_in(1), c = w.spawn();
    w.defer();
    this->join(a, 4);
    this->join(b, 4);
    w.set(b, position{1});
    const auto made = this->spawn_in(8);
    this->join(c, 1);
    w.template remove<team>(c);
    w.set(c, team{3});
    EXPECT_EQ(this->word(b), 1u);
    w.commit();
    EXPECT_EQ(this->word(a), 4u);
    EXPECT_EQ(this->word(b), 4u);
    EXPECT_EQ(this->word(made), 8u);
    EXPECT_EQ(this->words(c), word_list{0});
    EXPECT_EQ(w.template get<team>(made).number, 8);
    w.defer();
    this->join(a, 5);
    w.cancel();
    EXPECT_EQ(this->word(a), 4u);
    w.defer();
    for (const auto e : {a, b}) this->climb(e, 3);  // without the fragment: nothing
    for (const auto e : {a, b}) this->join(e, e == a ? 6 : 7);
    w.commit();
    EXPECT_EQ(this->words(a), word_list{6});
    EXPECT_EQ(this->words(b), word_list{7});
}

TYPED_TEST(groups, changes_of_a_phase_take_their_words_with_them) {
    auto& w = this->owner;
    const auto a = w.spawn(position{1}), b = this->spawn_in(1);
    detail::recorder changes;
    team value{9};
    changes.add(this->joining(value, 9), {a.value(), {}});
    changes.add(this->joining(value, 9), {b.value(), {}});
    EXPECT_EQ(changes.size(), 4u);
    EXPECT_EQ(changes.at(1).kind, change_kind::regroup);
    EXPECT_FALSE(changes.at(1).begins_call);
    w.template query<const position>().each([&](basic_id<TypeParam> e, const position&) {
        this->join(e, 2);  // recorded by the scope of the loop
    });
    EXPECT_EQ(this->word(a), 2u);
}

TYPED_TEST(groups, a_clone_stays_in_the_group_of_its_prototype) {
    auto& w = this->owner;
    const auto expect_group = [&](auto e, int number, std::size_t line) {
        EXPECT_EQ(this->word(e), 7u) << "line " << line;
        EXPECT_EQ(w.template get<team>(e).number, number) << "line " << line;
    };
    const auto check_all = [&](auto prototype) {
        expect_group(w.clone(prototype), 7, __LINE__);
        expect_group(w.clone(prototype, position{4}), 7, __LINE__);
        expect_group(w.clone(prototype, team{4}), 4, __LINE__);
        for (const auto e : w.clone_many(3, prototype)) expect_group(e, 7, __LINE__);
        for (const auto e : w.clone_many(2, prototype, position{})) expect_group(e, 7, __LINE__);
        for (const auto e : w.clone_many(2, prototype, team{5})) expect_group(e, 5, __LINE__);
        w.defer();
        const auto deferred = w.clone(prototype);
        const auto replaced = w.clone(prototype, team{4});
        const auto many = w.clone_many(2, prototype, team{6});
        w.commit();
        expect_group(deferred, 7, __LINE__);
        expect_group(replaced, 4, __LINE__);
        for (const auto e : many) expect_group(e, 6, __LINE__);
    };
    const auto prototype = this->spawn_in(7);
    check_all(prototype);
    w.set(prototype, burning{1});
    check_all(prototype);
    w.template define<position>().template needs<label>();
    check_all(prototype);
    int calls = 0;
    w.template on_insert<team>([&] { ++calls; });
    check_all(prototype);
    EXPECT_GT(calls, 0);
    w.template define<team>().unique();
    EXPECT_FALSE(w.template has<team>(w.clone(prototype)));
    EXPECT_TRUE(this->words(w.clone(prototype, position{1})).empty());
}

TYPED_TEST(groups, many_entities_are_spawned_into_a_group) {
    auto& w = this->owner;
    auto& parts = w.parts();
    fragment_data* const set[] = {&this->teams};
    const std::uint64_t seven[] = {7};
    chunk_data& group = parts.graph.ensure(set, seven);
    std::vector<basic_id<TypeParam>> made(3);
    const team value{2};
    const void* from[] = {&value};
    parts.spawner.spawn_many(detail::store<TypeParam>::ids_of(made), group, {set, {from, 1}});
    for (const auto e : made) EXPECT_EQ(this->word(e), 7u);
    w.template define<team>().template needs<position>();
    parts.spawner.spawn_many(detail::store<TypeParam>::ids_of(made), group, {set, {from, 1}});
    for (const auto e : made) EXPECT_TRUE(this->word(e) == 7 && w.template has<position>(e));
    w.defer();
    parts.spawner.spawn_many(detail::store<TypeParam>::ids_of(made), group, {set, {from, 1}});
    w.commit();
    for (const auto e : made) EXPECT_EQ(this->word(e), 7u);
}

TYPED_TEST(groups, batches_keep_the_words) {
    auto& w = this->owner;
    const auto a = this->spawn_in(1), b = this->spawn_in(2), c = this->spawn_in(1);
    w.template query<team>().set(position{3}, label{"all"});
    EXPECT_EQ(this->word(a), 1u);
    EXPECT_EQ(this->word(b), 2u);
    EXPECT_EQ(&this->chunk_of(a), &this->chunk_of(c));
    EXPECT_EQ(w.template get<label>(b).text, "all");
    w.template clear<label>();
    w.template query<team>().template remove<position>();
    EXPECT_EQ(this->words(a), word_list{1});
    EXPECT_EQ(this->words(b), word_list{2});
    w.template query<team>().set(team{9});
    EXPECT_EQ(this->words(b), word_list{2});
    const auto f = w.template fragment<int>("gone");
    w.set(a, f, 1);
    w.set(b, f, 2);
    w.destroy(f);
    EXPECT_EQ(this->words(a), word_list{1});
    EXPECT_EQ(this->words(b), word_list{2});
    EXPECT_EQ(w.template get<team>(b).number, 9);
    w.destroy(w.template component<team>());
    EXPECT_TRUE(this->words(a).empty());
}

TYPED_TEST(groups, a_whole_chunk_is_regrouped_along_a_cached_transition) {
    auto& w = this->owner;
    auto& parts = w.parts();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 10; ++i) all.push_back(w.clone(this->spawn_in(1), label{"a"}));
    chunk_data& from = this->chunk_of(all[0]);
    const std::uint64_t two[] = {2};
    const detail::transition_ref step = parts.catalog.regroup(from, two);
    EXPECT_EQ(step.get(), parts.catalog.regroup(from, two).get());
    EXPECT_EQ(step->columns, (array_list<std::uint32_t>{0, 1}));
    EXPECT_TRUE(step->is_plain);
    parts.applier.apply(all[0].value(), *step, {}, false);
    EXPECT_EQ(this->word(all[0]), 2u);
    EXPECT_EQ(this->word(all[1]), 1u);
    parts.applier.apply_chunk(*step, {});
    for (const auto e : all) {
        EXPECT_EQ(this->word(e), 2u);
        EXPECT_EQ(w.template get<label>(e).text, "a");
    }
    EXPECT_EQ(from.size, 0u);
    w.collect_garbage();
    EXPECT_EQ(this->word(all[3]), 2u);
    const std::uint64_t one[] = {1};
    parts.applier.apply_chunk(*parts.catalog.regroup(this->chunk_of(all[3]), one), {});
    EXPECT_EQ(this->word(all[3]), 1u);
}

TYPED_TEST(groups, words_need_a_fragment_without_entities) {
    auto& w = this->owner;
    auto& parts = w.parts();
    fragment_data& used = parts.template ensure_fragment<position>();
    const auto e = w.spawn(position{1});
    EXPECT_EQ(code_of([&] { parts.catalog.add_words(used); }), errc::fragment_in_use);
    w.template remove<position>(e);
    w.defer();
    w.set(e, position{1});
    EXPECT_EQ(code_of([&] { parts.catalog.add_words(used); }), errc::fragment_in_use);
    w.cancel();
    parts.catalog.add_words(used);  // frees the chunk without words
    w.set(e, position{2});
    EXPECT_EQ(this->words(e), word_list{0});
    EXPECT_EQ(code_of([&] { w.template define<position>().sparse(); }), errc::fragment_in_use);
    EXPECT_EQ(code_of([&] { parts.catalog.add_words(parts.template ensure_fragment<burning>()); }),
              errc::fragment_in_use);
    EXPECT_EQ(code_of([&] { this->climb(basic_id<TypeParam>{}, 1); }), errc::dead_entity);
}

TYPED_TEST(groups, agree_with_a_naive_model_over_random_changes) {
    auto& w = this->owner;
    std::mt19937 dice(5);
    struct state {
        std::optional<std::uint64_t> team, level;
        bool has_position = false;
    };
    std::map<basic_id<TypeParam>, state> model;
    const auto some = [&] {
        auto at = model.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(dice() % model.size()));
        return at->first;
    };
    bool is_deferred = false;
    for (int i = 0; i < 4'000; ++i) {
        const std::uint64_t word = dice() % 4;
        const std::uint64_t call = dice() % 12;
        if (model.empty() || (call == 0 && model.size() < 60)) {
            model[this->spawn_in(word)].team = word;
            continue;
        }
        const auto e = some();
        state& known = model[e];
        switch (call) {
        case 1: this->join(e, word), known.team = word; break;
        case 2: w.set(e, team{1}), known.team = known.team.value_or(0); break;
        case 3: w.template remove<team>(e), known.team.reset(); break;
        case 4: w.set(e, level{}), known.level = known.level.value_or(0); break;
        case 5:
            this->climb(e, word);
            if (known.level) known.level = word;
            break;
        case 6: w.template remove<level>(e), known.level.reset(); break;
        case 7: w.set(e, position{2}), known.has_position = true; break;
        case 8: w.clear(e), known = {}; break;
        case 9:
            if (!is_deferred && model.size() < 60) model[w.clone(e)] = state(known);
            break;
        case 10:
            w.destroy(e);
            model.erase(e);
            break;
        default: is_deferred ? w.commit() : w.defer(); is_deferred = !is_deferred;
        }
        if (is_deferred) continue;
        for (const auto& [id, expected] : model) {
            ASSERT_EQ(w.template has<team>(id), expected.team.has_value()) << i;
            ASSERT_EQ(w.template has<level>(id), expected.level.has_value()) << i;
            ASSERT_EQ(w.template has<position>(id), expected.has_position) << i;
            ASSERT_EQ(this->chunk_of(id).word_of(this->teams), expected.team.value_or(0)) << i;
            ASSERT_EQ(this->chunk_of(id).word_of(this->levels), expected.level.value_or(0)) << i;
        }
    }
    if (is_deferred) w.commit();
}

TYPED_TEST(groups, a_fragment_divides_only_once) {
    auto& parts = this->owner.parts();
    const auto e = this->spawn_in(3);
    parts.catalog.add_words(this->teams);  // although an entity has it
    EXPECT_EQ(this->words(e), word_list{3});
}

TYPED_TEST(groups, clones_lose_unique_fragments_and_keep_the_words_of_others) {
    auto& w = this->owner;
    w.template define<position>().unique();
    const auto e = this->spawn_in(5);
    w.set(e, level{}, position{1});
    this->climb(e, 2);
    const auto made = w.clone(e);
    EXPECT_EQ(this->words(made), (word_list{5, 2}));
    EXPECT_FALSE(w.template has<position>(made));
    EXPECT_EQ(w.template get<team>(made).number, 5);
}

TYPED_TEST(groups, clones_in_a_scope_take_given_pending_and_present_words) {
    auto& w = this->owner;
    auto& parts = w.parts();
    const auto e = this->spawn_in(5);
    w.set(e, level{});
    this->climb(e, 2);
    w.defer();
    this->climb(e, 4);
    const auto like = w.clone(e);
    team value{8};
    change given = this->joining(value, 8);
    const auto joined = detail::to_id<TypeParam>(parts.spawner.clone({e.value(), {}}, {&given, 1}));
    given = this->joining(value, 0);
    given.sets_word = false;
    const auto replaced =
        detail::to_id<TypeParam>(parts.spawner.clone({e.value(), {}}, {&given, 1}));
    w.commit();
    EXPECT_EQ(this->words(e), (word_list{5, 4}));
    EXPECT_EQ(this->words(like), (word_list{5, 4}));
    EXPECT_EQ(this->words(joined), (word_list{8, 4}));
    EXPECT_EQ(this->words(replaced), (word_list{5, 4}));
    EXPECT_EQ(w.template get<team>(replaced).number, 8);
}

TYPED_TEST(groups, clones_outside_of_a_scope_take_given_words) {
    auto& w = this->owner;
    const auto e = this->spawn_in(5);
    team value{8};
    change given = this->joining(value, 8);
    const auto joined =
        detail::to_id<TypeParam>(w.parts().spawner.clone({e.value(), {}}, {&given, 1}));
    EXPECT_EQ(this->words(joined), word_list{8});
    EXPECT_EQ(w.template get<team>(joined).number, 8);
    EXPECT_EQ(this->words(e), word_list{5});
}

TYPED_TEST(groups, a_phase_records_new_words) {
    auto& w = this->owner;
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 6; ++i) {
        all.push_back(w.spawn(position{i}));
        if (i % 2 == 0) w.set(all.back(), level{});
    }
    muster_tests::thread_executor threads(2);
    w.template query<position>().par_each(threads, 1, [&](basic_id<TypeParam> e, position& p) {
        this->join(e, static_cast<std::uint64_t>(p.x + 10));
        EXPECT_EQ(code_of([&] { this->climb(e, 1); }), errc::in_scope);
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(this->word(all[i]), i + 10);
        EXPECT_EQ(w.template get<team>(all[i]).number, static_cast<int>(i + 10));
    }
}

}  // namespace
}  // namespace muster::test
