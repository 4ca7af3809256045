// Relations under attack: hooks that throw in the middle of a cascade, cycles across scopes and threads,
// ids of other worlds, relations that end while they are used; and the defects of other systems, each as a
// test.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/id_lists.hpp"
#include "support/open_world.hpp"
#include "support/thread_executor.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct likes {
    int strength = 0;
};
struct part_of {};
struct docked_at {};

template <class Layout>
struct hostile_relations : id_lists<Layout> {
    using id_type = basic_id<Layout>;
    open_world<Layout> world_;
    hostile_relations() {
        world_.template define<likes>().relation();
        world_.template define<part_of>().relation().leveled().when_target_destroyed(pass_on);
        world_.template define<docked_at>().relation().exclusive().when_target_destroyed(refuse);
    }
};
TYPED_TEST_SUITE(hostile_relations, behavior_layouts, layout_names);

// ---- limits ------------------------------------------------------------------------------------

TYPED_TEST(hostile_relations, a_world_without_free_ids_makes_no_link) {
    constexpr std::uint64_t first = 2000;
    open_world<TypeParam> w(world_options{.first_key = first, .last_key = first + 4});
    // The relation takes ids of its own; without them, it does not come to be.
    std::size_t count = 0;
    bool is_full = false;
    typename hostile_relations<TypeParam>::id_type last{};
    while (!is_full) {
        try {
            last = last ? w.spawn(position{}, to(child_of, last)) : w.spawn(position{});
            ++count;
        } catch (const error& caught) {
            is_full = caught.code() == errc::id_overflow;
            ASSERT_TRUE(is_full) << caught.what();
        }
    }
    ASSERT_GE(count, 1u);
    const auto refuses = [&](auto call) { return code_of(call) == errc::id_overflow; };
    EXPECT_TRUE(refuses([&] { w.spawn(to(child_of, last)); }));
    EXPECT_TRUE(refuses([&] { w.spawn_many(2, position{}, to(child_of, last)); }));
    EXPECT_TRUE(refuses([&] { (void)w.clone(last, to(child_of, last)); }));
    EXPECT_TRUE(refuses([&] { (void)w.clone_tree(last, to(child_of, last)); }));
    EXPECT_TRUE(refuses([&] { (void)w.template relation<int>("owes"); }));
    EXPECT_EQ(w.size(), count);
    EXPECT_EQ(w.children(last).size(), 0u);
    EXPECT_EQ((w.template query<>().to(child_of, last).count()), 0u);
    EXPECT_EQ(wrong_level<child_of_t>(w), "");
    w.destroy(last);  // a leaf: its id is free again, or the pool retires it
    EXPECT_EQ(w.size(), count - 1);
}

TYPED_TEST(hostile_relations, an_error_without_a_call_site_names_no_place) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    basic_command_buffer<TypeParam> commands{w};
    commands.template relate<docked_at>(a, b);
    w.destroy(b);
    const std::string sentence = sentence_of([&] {
        w.submit(commands);
        w.apply_submitted();
    });
    EXPECT_NE(sentence.find("dead"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find(":0)"), std::string::npos) << sentence;
}

// ---- destruction -------------------------------------------------------------------------------

TYPED_TEST(hostile_relations, links_may_be_passed_on_to_an_entity_that_becomes_a_root) {
    auto& w = this->world_;
    const auto top = w.spawn(), second = w.spawn(to<part_of>(top)),
               third = w.spawn(to<part_of>(second));
    const auto last = w.spawn(position{1}, to<part_of>(third));
    EXPECT_EQ(w.destroy(third, top), 2u);  // `second` has no link any more
    EXPECT_EQ(w.template target<part_of>(last), second);
    EXPECT_EQ(wrong_level<part_of>(w), "");
}

TYPED_TEST(hostile_relations, a_hook_that_throws_in_the_middle_of_a_cascade_keeps_everyone) {
    auto& w = this->world_;
    const auto root = w.spawn(position{0});
    std::vector<basic_id<TypeParam>> all{root};
    for (int i = 0; i < 40; ++i)
        all.push_back(w.spawn(position{i}, to(child_of, all[static_cast<std::size_t>(i) / 2]),
                              to<likes>(root, likes{i})));
    for (int thrower = 0; thrower < 120; ++thrower) {
        int calls = 0;
        const auto count = [&] {
            if (calls++ == thrower) throw std::runtime_error("no");
        };
        const basic_scoped_connection<TypeParam> a = w.on_unrelate(child_of, count);
        const basic_scoped_connection<TypeParam> b = w.template on_unrelate<likes>(count);
        const basic_scoped_connection<TypeParam> c = w.template on_remove<position>(count);
        ASSERT_THROW(w.destroy(root), std::runtime_error) << thrower;
        ASSERT_EQ(w.size(), all.size());
        ASSERT_EQ(w.template sources<likes>(root).size(), 40u);
        ASSERT_EQ(list_of(w.descendants(root)).size(), 40u);
        ASSERT_EQ(wrong_level<child_of_t>(w), "");
    }
    for (std::size_t i = 1; i < all.size(); ++i)
        EXPECT_EQ(w.template link<likes>(all[i], root).strength, static_cast<int>(i) - 1);
    w.destroy(root);
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(hostile_relations, nothing_leaves_or_joins_a_cascade_while_its_hooks_run) {
    auto& w = this->world_;
    const auto root = w.spawn(), other = w.spawn();
    const auto child = w.spawn(to(child_of, root)), last = w.spawn(to(child_of, root));
    basic_id<TypeParam> late;
    w.on_unrelate(child_of, [&](auto e) {
        if (e != child) return;
        w.relate(child_of, last, other);                  // tries to leave
        w.unrelate(child_of, last, root);                 // and again
        w.set(last, position{1});                         // moves its row
        late = w.spawn(position{2}, to(child_of, root));  // tries to join
    });
    w.destroy(root);
    EXPECT_FALSE(w.alive(last) || w.alive(child) || w.alive(root));
    EXPECT_FALSE(w.alive(late));  // its parent is dead when it is created: the policy decides
    EXPECT_TRUE(w.children(other).empty());
    EXPECT_EQ(w.size(), 1u);
}

TYPED_TEST(hostile_relations, children_are_removed_in_any_order_in_linear_time) {
    auto& w = this->world_;
    constexpr int count = 100'000;
    for (int order = 0; order < 3; ++order) {
        const auto root = w.spawn();
        auto all = w.spawn_many(count, to(child_of, root));
        if (order == 1) std::ranges::reverse(all);
        if (order == 2)
            for (std::size_t i = 0; i < all.size(); ++i)
                std::swap(all[i], all[(i * 7919) % all.size()]);
        // Without holes, a place is found at once. If the list were searched, this would take 10^10 steps.
        for (std::size_t i = 0; i < all.size() / 2; ++i) w.destroy(all[i]);
        for (std::size_t i = all.size() / 2; i < all.size(); ++i)
            w.unrelate(child_of, all[i], root);
        EXPECT_TRUE(w.children(root).empty());
        w.destroy(std::span<const basic_id<TypeParam>>(all));
        w.destroy(root);
        EXPECT_EQ(w.size(), 0u);
    }
}

TYPED_TEST(hostile_relations, a_link_may_be_removed_and_added_again_in_one_scope) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn(), c = w.spawn();
    const auto owes = w.template relation<std::string>("owes");
    w.relate(owes, a, b, "a text that is longer than a small string");
    w.relate(owes, c, b, "another text that is longer than a small string");
    std::string log;
    w.on_relate(owes, [&](auto, auto from, auto) { log += from ? "assigned;" : "added;"; });
    w.on_unrelate(owes, [&] { log += "removed;"; });
    auto related = w.template observer<>().related(owes);
    auto unrelated = w.template observer<>().unrelated(owes);
    for (int i = 0; i < 40; ++i) {
        log.clear();
        w.defer();
        if (i % 4 == 0) w.unrelate(owes, a, b);
        if (i % 4 == 1) w.unrelate(owes, a);
        if (i % 4 == 2) w.clear(a);
        if (i % 4 == 3) w.remove(a, owes.id());
        w.relate(owes, a, b, "the text number " + std::to_string(i) + " of a long list");
        w.commit();
        ASSERT_EQ(log, "assigned;") << i;
        ASSERT_TRUE(related.empty() && unrelated.empty()) << i;
        ASSERT_EQ(w.targets(owes, a).size(), 1u);
        ASSERT_EQ(list_of(w.sources(owes, b)), this->ids(a, c));  // it keeps its place
    }
    EXPECT_EQ(w.link(owes, a, b), "the text number 39 of a long list");
}

/// The last change of each link counts, in any order.
TYPED_TEST(hostile_relations, links_may_be_removed_and_added_often_in_one_scope) {
    auto& w = this->world_;
    const auto owes = w.template relation<int>("owes");
    const auto all = w.spawn_many(6);
    for (int i = 1; i < 5; ++i) w.relate(owes, all[0], all[static_cast<std::size_t>(i)], i);
    std::string log;
    w.on_relate(owes, [&](auto, auto from, auto) { log += from ? "assigned;" : "added;"; });
    w.on_unrelate(owes, [&] { log += "removed;"; });
    w.defer();
    for (int i = 0; i < 3; ++i) {
        w.unrelate(owes, all[0], all[1]);
        w.relate(owes, all[0], all[1], 10);
        w.unrelate(owes, all[0]);
        w.relate(owes, all[0], all[5], 50);
        w.relate(owes, all[0], all[4], 40);
        w.unrelate(owes, all[0], all[5]);
        w.relate(owes, all[0], all[3], 30);
    }
    w.unrelate(owes, all[0], all[3]);
    w.commit();
    EXPECT_EQ(log, "removed;removed;removed;assigned;");
    EXPECT_EQ(list_of(w.targets(owes, all[0])), this->ids(all[4]));
    EXPECT_EQ(w.link(owes, all[0], all[4]), 40);
}

// ---- cycles ------------------------------------------------------------------------------------

TYPED_TEST(hostile_relations, a_cycle_of_many_recorded_links_is_cut_at_its_last_link) {
    auto& w = this->world_;
    const auto all = w.spawn_many(50);
    w.defer();
    for (std::size_t i = 0; i < all.size(); ++i) w.relate(child_of, all[i], all[(i + 1) % 50]);
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::cycle);
    EXPECT_EQ(w.level(all[0]), 49u);
    EXPECT_FALSE(w.parent(all[49]));
    EXPECT_EQ(wrong_level<child_of_t>(w), "");
}

TYPED_TEST(hostile_relations, a_phase_names_the_remedy_if_it_cannot_begin_to_use_a_relation) {
    auto& w = this->world_;
    const auto root = w.spawn();
    const auto all = w.spawn_many(4, position{1});
    const auto all_of = w.template query<position>();
    muster_tests::thread_executor executor(2);
    const auto in_phase = [&](auto call) {
        return sentence_of(
            [&] { all_of.par_each(executor, 1, [&](auto e, position&) { call(e); }); });
    };
    const auto relate = [&](auto e) { w.relate(child_of, e, root); };
    const auto spawn = [&](auto) { (void)w.spawn(to(child_of, root)); };
    const auto instantiate = [&](auto e) { w.set(e, to(is_a, root)); };
    const auto unrelate = [&](auto e) { (void)w.template unrelate<child_of_t>(e); };
    const std::string remedy = "call define<muster::child_of_t>().relation() before the phase";
    EXPECT_NE(in_phase(relate).find(remedy), remedy.npos);
    EXPECT_NE(in_phase(spawn).find(remedy), remedy.npos);
    EXPECT_NE(in_phase(unrelate).find(remedy), remedy.npos);
    EXPECT_NE(in_phase(instantiate).find("define<muster::is_a_t>()"), remedy.npos);
    EXPECT_EQ(w.size(), 5u);
    w.template define<child_of_t>().relation();
    w.template define<is_a_t>().relation();
    EXPECT_EQ(in_phase(relate), "no error");
    EXPECT_EQ(in_phase(instantiate), "no error");
    EXPECT_EQ(list_of(w.children(root)), all);
    EXPECT_EQ(w.template sources<is_a_t>(root).size(), 4u);
}

TYPED_TEST(hostile_relations, a_cycle_across_threads_is_found_when_the_phase_ends) {
    auto& w = this->world_;
    muster_tests::thread_executor threads(4);
    const auto all = w.spawn_many(400, position{});
    w.template define<child_of_t>().relation();
    for (std::size_t i = 0; i < all.size(); ++i)
        w.template get<position>(all[i]).x = static_cast<int>(i);
    EXPECT_EQ(code_of([&] {
                  w.template query<const position>().par_each(
                      threads, 8, [&](auto e, const position& p) {
                          w.relate(child_of, e, all[static_cast<std::size_t>(p.x + 1) % 400]);
                      });
              }),
              errc::cycle);
    std::size_t roots = 0;
    for (const auto e : all) roots += w.parent(e) ? 0u : 1u;
    EXPECT_EQ(roots, 1u);
    EXPECT_FALSE(w.parent(all[399]));  // its link is the last
    EXPECT_EQ(w.level(all[0]), 399u);
    EXPECT_EQ(wrong_level<child_of_t>(w), "");
}

// ---- relations that end or change --------------------------------------------------------------

TYPED_TEST(hostile_relations, a_relation_may_be_destroyed_while_its_links_are_read_and_recorded) {
    auto& w = this->world_;
    const auto owes = w.template relation<std::string>("owes");
    const auto a = w.spawn(position{1}), b = w.spawn();
    w.relate(owes, a, b, "a text that is longer than a small string");
    auto seen = w.template observer<>().unrelated(owes);
    w.defer();
    w.relate(owes, b, a, "another text that is longer than a small string");
    w.set(b, position{2});
    w.destroy(owes);
    EXPECT_EQ(code_of([&] { w.commit(); }), std::nullopt);
    EXPECT_FALSE(w.related(owes, a, b) || w.related(owes, b, a));
    EXPECT_EQ(w.template get<position>(b).x, 2);
    EXPECT_EQ(code_of([&] { w.spawn(to(owes, a, "x")); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { w.on_relate(owes, [] {}); }), errc::dead_fragment);
    const auto again = w.template relation<std::string>("owes");
    w.relate(again, a, b, "x");
    EXPECT_FALSE(w.related(owes, a, b));
    w.reset();
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(hostile_relations, a_definition_stays_while_links_exist) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    w.template relate<likes>(a, b);
    EXPECT_EQ(code_of([&] { w.template define<likes>().exclusive(); }), errc::fragment_in_use);
    EXPECT_EQ(code_of([&] { w.template define<likes>().acyclic(); }), errc::fragment_in_use);
    EXPECT_EQ(code_of([&] { w.template define<likes>().leveled(); }), errc::fragment_in_use);
    EXPECT_EQ(code_of([&] { w.template define<likes>().grouping(); }), errc::fragment_in_use);
    EXPECT_TRUE(w.template related<likes>(a, b));
    EXPECT_EQ(list_of(w.template sources<likes>(b)), this->ids(a));
}

TYPED_TEST(hostile_relations, a_relation_of_another_type_of_values_is_refused) {
    auto& w = this->world_;
    const auto a = w.spawn(), b = w.spawn();
    const auto owes = w.template relation<int>("owes");
    w.relate(owes, a, b, 5);
    const basic_relation<std::string, TypeParam> wrong(owes.id());
    EXPECT_EQ(code_of([&] { w.relate(wrong, a, b, "text"); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.spawn(to(wrong, b, "text")); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.unrelate(wrong, a, b); }), errc::type_mismatch);
    EXPECT_EQ(w.try_link(wrong, a, b), nullptr);
    EXPECT_FALSE(w.related(wrong, a, b));
    EXPECT_EQ(w.link(owes, a, b), 5);
}

TYPED_TEST(hostile_relations, ids_of_other_worlds_are_no_ends) {
    if (TypeParam::world_bits == 0) GTEST_SKIP() << "its ids do not name their world";
    auto& w = this->world_;
    basic_world<TypeParam> other;
    const auto a = w.spawn(), foreign = other.spawn();
    EXPECT_EQ(code_of([&] { w.template relate<likes>(a, foreign); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { w.template relate<likes>(foreign, a); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { (void)w.template unrelate<likes>(a, foreign); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { (void)w.template link<likes>(a, foreign); }), errc::foreign_entity);
    EXPECT_FALSE(w.template related<likes>(a, foreign) || w.is_below(a, foreign));
    EXPECT_TRUE(w.children(foreign).empty() && w.template sources<likes>(foreign).empty());
    EXPECT_TRUE(w.empty(a));
}

TYPED_TEST(hostile_relations, a_world_may_end_with_all_its_links) {
    const auto shared = std::make_shared<int>(1);
    struct holds {
        std::shared_ptr<int> what;
    };
    {
        basic_world<TypeParam> w;
        w.template define<holds>().relation();
        const auto owns = w.template relation<std::shared_ptr<int>>("owns");
        auto e = w.spawn();
        auto recipe = w.builder();
        recipe.set(to<holds>(e, holds{shared}));
        for (int i = 0; i < 100; ++i) {
            e = w.spawn(to<holds>(e, holds{shared}), to(owns, e, shared), to(child_of, e));
            w.defer();
            w.template relate<holds>(e, e, holds{shared});
        }
    }
    EXPECT_EQ(shared.use_count(), 1);
}

TYPED_TEST(hostile_relations, a_value_that_throws_when_it_is_copied_changes_nothing) {
    struct fussy {
        int* count = nullptr;
        fussy() = default;
        explicit fussy(int* left) : count(left) {}
        fussy(const fussy& other) : count(other.count) {
            if (count != nullptr && (*count)-- == 0) throw std::runtime_error("no");
        }
        fussy(fussy&&) noexcept = default;
        fussy& operator=(const fussy&) = default;
        fussy& operator=(fussy&&) noexcept = default;
    };
    auto& w = this->world_;
    w.template define<fussy>().relation();
    const auto a = w.spawn();
    int left = 100;
    const auto prototype = w.spawn(to<fussy>(a, fussy(&left)), to<likes>(a, likes{3}));
    const auto size = w.size();
    for (int i = 0; i < 6; ++i) {
        left = i;
        const auto copied = to<fussy>(prototype, fussy(&left));
        bool throws = false;
        try {
            w.clone_many(3, prototype, copied, to(child_of, a));
        } catch (const std::runtime_error&) {
            throws = true;
        }
        if (!throws) break;
        ASSERT_EQ(w.size(), size);
        ASSERT_EQ(w.template sources<fussy>(a).size(), 1u);
        ASSERT_TRUE(w.template sources<fussy>(prototype).empty());
        ASSERT_TRUE(w.children(a).empty());
    }
    EXPECT_TRUE(w.template related<fussy>(prototype, a));
}

// ---- defects of other systems ------------------------------------------------------------------

TYPED_TEST(hostile_relations, flecs_a_recycled_target_does_not_inherit_its_sources) {
    auto& w = this->world_;
    const auto a = w.spawn();
    auto target = w.spawn();
    for (int i = 0; i < 100; ++i) {
        w.template relate<likes>(a, target);
        w.destroy(target);
        const auto next = w.spawn();
        ASSERT_EQ(next.key(), target.key());
        ASSERT_TRUE(w.template sources<likes>(next).empty());
        ASSERT_FALSE(w.template has<likes>(a));
        ASSERT_EQ(code_of([&] { w.template relate<likes>(a, target); }), errc::dead_entity);
        target = next;
    }
}

TYPED_TEST(hostile_relations, unrelating_a_dead_target_leaves_the_link_to_the_entity_with_its_key) {
    auto& w = this->world_;
    const auto a = w.spawn(), other = w.spawn(), gone = w.spawn();
    w.destroy(gone);
    const auto next = w.spawn();
    ASSERT_EQ(next.key(), gone.key());
    w.set(a, to<likes>(next, likes{3}), to<likes>(other));
    w.template relate<likes>(a, a);
    w.defer();
    EXPECT_FALSE(w.template unrelate<likes>(a, gone));
    w.commit();
    basic_command_buffer<TypeParam> b{w};
    b.template unrelate<likes>(a, gone);
    b.template relate<likes>(a, gone, likes{4});  // dead, so dropped
    w.submit(b);
    EXPECT_EQ(w.template link<likes>(a, next).strength, 3);
    EXPECT_EQ(list_of(w.template sources<likes>(next)), this->ids(a));
    EXPECT_EQ(w.template targets<likes>(a).size(), 3u);
}

TYPED_TEST(hostile_relations, flecs_bulk_creation_keeps_links) {
    auto& w = this->world_;
    const auto root = w.spawn(), bob = w.spawn();
    const auto prototype = w.spawn(position{1}, to(child_of, root), to<likes>(bob, likes{2}));
    for (const auto e : w.clone_many(50, prototype)) {
        EXPECT_EQ(w.parent(e), root);
        EXPECT_EQ(w.template link<likes>(e, bob).strength, 2);
    }
    EXPECT_EQ(w.children(root).size(), 51u);
    EXPECT_EQ(w.spawn_many(50, to(child_of, root)).size(), 50u);
    EXPECT_EQ(w.children(root).size(), 101u);
}

TYPED_TEST(hostile_relations, bevy_children_keep_their_order_after_removals) {
    auto& w = this->world_;
    const auto root = w.spawn();
    auto wanted = w.spawn_many(100, to(child_of, root));
    for (std::size_t round = 0; round < 40; ++round) {
        const std::size_t at = (round * 37) % wanted.size();
        if (round % 2 == 0)
            w.destroy(wanted[at]);
        else
            w.unrelate(child_of, wanted[at]);
        wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(at));
        if (round % 5 == 0) wanted.push_back(w.spawn(to(child_of, root)));
        ASSERT_EQ(list_of(w.children(root)), wanted);
    }
}

TYPED_TEST(hostile_relations, jecs_an_entity_does_not_escape_a_cascade_that_moves_its_row) {
    auto& w = this->world_;
    const auto root = w.spawn();
    for (int i = 0; i < 30; ++i) w.spawn(position{i}, to(child_of, root), to<likes>(root));
    w.template on_unrelate<likes>([&](auto e) {
        w.template remove<position>(e);  // moves the row, if it were applied now
        w.template unrelate<likes>(e);
    });
    w.destroy(root);
    EXPECT_EQ(w.size(), 0u);
    EXPECT_EQ(w.template count<position>(), 0u);
}

}  // namespace
}  // namespace muster::test
