// Loops over hierarchies: components of parents and ancestors, levels, and parallel loops over them.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/thread_executor.hpp"

namespace muster::test {
namespace {

struct local_pos {
    long x = 0;
};
struct world_pos {
    long x = 0;
};
struct mass {
    long sum = 0;
};
struct team {
    int number = 0;
};
struct marked {};
struct part_of {};

}  // namespace

namespace {

template <class Layout>
struct hierarchy_loop : testing::Test {
    using entity_type = basic_id<Layout>;
    basic_world<Layout> world_;

    /// A random tree, in a random order of creation.
    std::vector<entity_type> grow(std::size_t count, std::size_t reach, unsigned seed) {
        std::mt19937 random(seed);
        std::vector<entity_type> all;
        for (std::size_t i = 0; i < count; ++i) {
            const auto e = world_.spawn(world_pos{}, local_pos{static_cast<long>(random() % 100)});
            if (i % 3 == 0) world_.set(e, mass{1});
            all.push_back(e);
        }
        std::vector<std::size_t> order(count);
        for (std::size_t i = 0; i < count; ++i) order[i] = i;
        std::ranges::shuffle(order, random);
        for (std::size_t i = 1; i < count; ++i)
            if (random() % 20 != 0)
                world_.relate(child_of, all[order[i]],
                              all[order[i - 1 - random() % std::min(i, reach)]]);
        return all;
    }
    [[nodiscard]] long expected(entity_type e) const {
        long sum = 0;
        for (entity_type at = e; at; at = world_.parent(at))
            sum += world_.template get<const local_pos>(at).x;
        return sum;
    }
    [[nodiscard]] auto transforms() {
        return world_.template query<world_pos, const local_pos, up<const world_pos*>>().top_down();
    }
    static constexpr auto transform = [](world_pos& out, const local_pos& own,
                                         const world_pos* parent) {
        out.x = own.x + (parent != nullptr ? parent->x : 0);
    };
    void expect_transforms(const std::vector<entity_type>& all) {
        for (const auto e : all) ASSERT_EQ(world_.template get<world_pos>(e).x, this->expected(e));
    }
};
TYPED_TEST_SUITE(hierarchy_loop, behavior_layouts, layout_names);

TYPED_TEST(hierarchy_loop, up_reads_the_component_of_the_parent) {
    auto& w = this->world_;
    const auto root = w.spawn(team{1});
    const auto a = w.spawn(to(child_of, root)), b = w.spawn(team{2}, to(child_of, root));
    const auto c = w.spawn(to(child_of, a)), d = w.spawn(to(child_of, b));
    std::vector<std::pair<typename TestFixture::entity_type, int>> found;
    w.template query<up<const team>>().each(
        [&](auto e, const team& parent) { found.emplace_back(e, parent.number); });
    EXPECT_EQ(found, (std::vector<std::pair<typename TestFixture::entity_type, int>>{
                         {a, 1}, {b, 1}, {d, 2}}));
    const auto q = w.template query<up<const team>>();
    EXPECT_EQ(q.count(), 3u);
    EXPECT_TRUE(q.matches(a));
    EXPECT_FALSE(q.matches(c));
    EXPECT_FALSE(q.matches(root));
    EXPECT_NE(q.explain(c).find("its target by child_of has no"), std::string::npos)
        << q.explain(c);
    // An optional one skips no entity.
    int nulls = 0, sum = 0;
    w.template query<const team*, up<const team*>>().each([&](const team*, const team* parent) {
        parent == nullptr ? ++nulls : sum += parent->number;
    });
    EXPECT_EQ(sum, 4);
    EXPECT_EQ(nulls, 2);
    // A component and the one of the parent may be of one type.
    const auto own = w.template query<const team, up<const team>>();
    EXPECT_EQ(own.first(), b);
    for (auto [e, mine, parent] : own) {
        EXPECT_EQ(e, b);
        EXPECT_EQ(mine.number, 2);
        EXPECT_EQ(parent.number, 1);
    }
    // As a parameter of a callback.
    sum = 0;
    w.each([&](const team& mine, up<const team> parent) { sum += mine.number * parent->number; });
    EXPECT_EQ(sum, 2);
    w.each([&](const team& mine, const up<const team*>& parent) {
        sum += parent ? (*parent).number : 10 * mine.number;
    });
    EXPECT_EQ(sum, 2 + 10 + 1);
    const auto& read = w;
    EXPECT_EQ(read.template query<up<const team>>().count(), 3u);
    // Writes to the parent.
    w.template query<up<team>>().each([](team& parent) { parent.number += 10; });
    EXPECT_EQ(w.template get<team>(root).number, 21);
    EXPECT_EQ(w.template get<team>(b).number, 12);
}

TYPED_TEST(hierarchy_loop, up_follows_any_relation) {
    auto& w = this->world_;
    w.template define<part_of>().relation();
    const auto a = w.spawn(team{1}), b = w.spawn(team{2}), c = w.spawn();
    w.template relate<part_of>(c, a);
    w.template relate<part_of>(c, b);
    int sum = 0;
    w.template query<up<const team, part_of>>().each(
        [&](const team& first) { sum += first.number; });
    EXPECT_EQ(sum, 1);
    w.template unrelate<part_of>(c, a);
    EXPECT_EQ((w.template query<up<const team, part_of>>().count()), 1u);
    w.template query<up<const team, part_of>>().each(
        [&](const team& first) { sum += first.number; });
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(code_of([&] { (void)w.template query<up<const team, marked>>(); }),
              errc::not_a_relation);
}

TYPED_TEST(hierarchy_loop, above_reads_the_first_ancestor_that_has_it) {
    auto& w = this->world_;
    const auto root = w.spawn(team{1});
    const auto a = w.spawn(to(child_of, root)), b = w.spawn(team{2}, to(child_of, a));
    const auto c = w.spawn(to(child_of, b)), d = w.spawn(to(child_of, c));
    const auto other = w.spawn(), e = w.spawn(to(child_of, other));
    std::vector<std::pair<typename TestFixture::entity_type, int>> found;
    w.template query<above<const team>>().top_down().each(
        [&](auto at, const team& first) { found.emplace_back(at, first.number); });
    EXPECT_EQ(found, (std::vector<std::pair<typename TestFixture::entity_type, int>>{
                         {a, 1}, {b, 1}, {c, 2}, {d, 2}}));
    const auto q = w.template query<above<const team>>();
    EXPECT_EQ(q.count(), 4u);
    EXPECT_FALSE(q.matches(e));
    EXPECT_NE(q.explain(e).find("no entity above it by child_of has"), std::string::npos);
    w.template query<above<const team*>>().under(child_of, other).each([](const team* none) {
        EXPECT_EQ(none, nullptr);
    });
}

TYPED_TEST(hierarchy_loop, a_parent_shows_what_it_inherits_to_readers) {
    auto& w = this->world_;
    w.template define<team>().inherited();
    const auto recipe = w.spawn(team{5});
    w.set(recipe, prefab);
    const auto parent = w.spawn(to(is_a, recipe)), child = w.spawn(to(child_of, parent));
    const auto below = w.spawn(to(child_of, child));
    const auto q = w.template query<up<const team>>();
    int sum = 0;
    q.each([&](const team& shown) { sum += shown.number; });
    EXPECT_EQ(sum, 5);
    EXPECT_EQ(q.count(), 1u);
    EXPECT_EQ(q.first(), child);
    EXPECT_EQ((w.template query<up<team>>().count()), 0u);  // would change the prefab
    w.template query<up<team>>().each([](team&) { FAIL(); });
    const auto all = w.template query<above<const team>>();
    all.each([&](const team& shown) { sum += shown.number; });
    EXPECT_EQ(sum, 15);
    EXPECT_EQ(all.count(), 2u);
    EXPECT_TRUE(all.matches(below));
    EXPECT_EQ((w.template query<above<team>>().count()), 0u);
    // Values that entities inherit themselves, in a query by link.
    const auto ship = w.spawn(to(is_a, recipe), to(child_of, below));
    sum = 0;
    w.template query<const team>().to(child_of, below).each([&](auto e, const team& shown) {
        EXPECT_EQ(e, ship);
        sum += shown.number;
    });
    w.template query<const team>().under(child_of, parent).top_down().each([&](const team& shown) {
        sum += shown.number;
    });
    EXPECT_EQ(sum, 10);
    for (auto [e, shown] : w.template query<const team>().to(child_of, below))
        EXPECT_EQ(shown.number, 5);
}

TYPED_TEST(hierarchy_loop, above_takes_chains_of_any_depth_in_linear_time) {
    auto& w = this->world_;
    auto last = w.spawn(team{7});
    for (int i = 0; i < 60'000; ++i) last = w.spawn(local_pos{}, to(child_of, last));
    const auto q = w.template query<const local_pos, above<const team>>();
    std::size_t seen = 0;
    q.bottom_up().each(
        [&](const local_pos&, const team& top) { seen += top.number == 7 ? 1u : 0u; });
    EXPECT_EQ(seen, 60'000u);
    EXPECT_EQ(q.count(), 60'000u);
    seen = 0;
    q.each([&](const local_pos&, const team&) { ++seen; });
    EXPECT_EQ(seen, 60'000u);
}

TYPED_TEST(hierarchy_loop, top_down_visits_parents_first) {
    auto& w = this->world_;
    for (const std::size_t reach : {1000u, 30u, 2u}) {
        const auto all = this->grow(1000, reach, static_cast<unsigned>(reach));
        this->transforms().each(this->transform);
        this->expect_transforms(all);
        std::size_t visited = 0;
        std::uint32_t level = 0;
        w.template query<const world_pos>().top_down().each([&](auto e, const world_pos&) {
            EXPECT_GE(w.level(e), level);
            level = w.level(e);
            ++visited;
        });
        EXPECT_EQ(visited, 1000u);
        w.template query<const world_pos>().bottom_up().each([&](auto e, const world_pos&) {
            EXPECT_LE(w.level(e), level);
            level = w.level(e);
            --visited;
        });
        EXPECT_EQ(visited, 0u);
        EXPECT_EQ(level, 0u);
        // After changes, also in a loop over levels.
        w.template query<const mass>().top_down().each([&](auto e, const mass&) {
            if (e.key() % 5 == 0 && w.parent(e)) w.unrelate(child_of, e, w.parent(e));
        });
        for (auto [e, out, own, parent] : this->transforms())
            out.x = own.x + (parent != nullptr ? parent->x : 0);
        this->expect_transforms(all);
        w.template query<const world_pos>().destroy();
    }
}

TYPED_TEST(hierarchy_loop, bottom_up_sums_into_parents) {
    auto& w = this->world_;
    const auto all = this->grow(500, 4, 3);
    for (const auto e : all) w.set(e, mass{1});
    w.template query<const mass, up<mass>>().bottom_up().each(
        [](const mass& own, mass& parent) { parent.sum += own.sum; });
    for (const auto e : all) {
        long below = 1;
        for ([[maybe_unused]] const auto child : w.descendants(e)) ++below;
        ASSERT_EQ(w.template get<mass>(e).sum, below);
    }
}

TYPED_TEST(hierarchy_loop, an_order_works_with_conditions_and_sparse_components) {
    auto& w = this->world_;
    const auto all = this->grow(300, 3, 9);
    const auto root = all[7];
    for (const auto e : all)
        if (e.key() % 2 == 0) w.set(e, marked{});
    std::uint32_t level = 0;
    std::size_t count = 0;
    const auto q = w.template query<const local_pos>().under(child_of, root).top_down();
    q.each([&](auto e, const local_pos&) {
        EXPECT_TRUE(w.is_below(e, root));
        EXPECT_GE(w.level(e), level);
        level = w.level(e);
        ++count;
    });
    std::size_t below = 0;
    for ([[maybe_unused]] const auto e : w.descendants(root)) ++below;
    EXPECT_EQ(count, below);
    level = 0;
    w.template query<const marked>().top_down().each([&](auto e, const marked&) {
        EXPECT_GE(w.level(e), level);
        level = w.level(e);
    });
}

TYPED_TEST(hierarchy_loop, by_target_visits_the_sources_of_one_target_together) {
    auto& w = this->world_;
    const auto all = this->grow(300, 300, 5);
    std::vector<typename TestFixture::entity_type> seen;
    std::size_t count = 0;
    w.template query<const local_pos>().template by_target<child_of>().each(
        [&](auto e, const local_pos&) {
            ++count;
            const auto parent = w.parent(e);
            if (seen.empty() || seen.back() != parent) {
                EXPECT_EQ(std::ranges::find(seen, parent), seen.end());
                seen.push_back(parent);
            }
        });
    EXPECT_EQ(count, w.template query<const local_pos>().to(child_of).count());
    EXPECT_EQ(w.template query<>().by_target(child_of).count(), count);
}

TYPED_TEST(hierarchy_loop, a_relation_without_levels_has_no_order) {
    auto& w = this->world_;
    w.template define<part_of>().relation().exclusive().acyclic();
    EXPECT_EQ(code_of([&] { (void)w.template query<>().template top_down<part_of>(); }),
              errc::not_a_relation);
    EXPECT_EQ(code_of([&] { (void)w.template query<>().template bottom_up<part_of>(); }),
              errc::not_a_relation);
    struct rules {};
    w.template define<rules>().relation().leveled();
    const auto a = w.spawn(team{1}), b = w.spawn(team{2});
    w.template relate<rules>(a, b);
    std::vector<int> found;
    w.template query<const team>().template top_down<rules>().each(
        [&](const team& t) { found.push_back(t.number); });
    EXPECT_EQ(found, (std::vector{2, 1}));
}

TYPED_TEST(hierarchy_loop, a_parallel_loop_runs_level_by_level) {
    auto& w = this->world_;
    muster_tests::thread_executor threads(4);
    for (const std::size_t reach : {2000u, 100u, 2u}) {
        const auto all = this->grow(2000, reach, static_cast<unsigned>(reach));
        this->transforms().par_each(threads, 16, this->transform);
        this->expect_transforms(all);
        // Changes are applied at the end, in the order of one thread.
        std::size_t visited = 0;
        this->transforms().par_each(
            threads, 16, [&](auto e, world_pos& out, const local_pos&, const world_pos* parent) {
                w.set(e, team{static_cast<int>(out.x)});
                if (parent == nullptr) w.destroy(e);
                __atomic_fetch_add(&visited, 1, __ATOMIC_RELAXED);
            });
        EXPECT_EQ(visited, all.size());
        EXPECT_EQ(w.template query<const local_pos>().count(), 0u);
    }
}

TYPED_TEST(hierarchy_loop, threads_do_not_divide_what_they_would_write_together) {
    auto& w = this->world_;
    muster_tests::thread_executor threads(4);
    const auto root = w.spawn(mass{0}, world_pos{});
    for (int i = 0; i < 3000; ++i) w.spawn(mass{1}, world_pos{1}, local_pos{}, to(child_of, root));
    w.template query<const mass, up<mass>>().par_each(
        threads, 1, [](const mass& own, mass& parent) { parent.sum += own.sum; });
    EXPECT_EQ(w.template get<mass>(root).sum, 3000);
    // Without an order by levels, one thread may not read what another one writes.
    const auto is_single = [&](const auto& query) {
        std::uintptr_t thread = 0;
        bool is_same = true;
        query.par_each(threads, 1, [&](auto&&...) {
            const std::uintptr_t mine = detail::this_thread();
            if (std::uintptr_t none = 0;
                !__atomic_compare_exchange_n(&thread, &none, mine, false, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED) &&
                none != mine)
                __atomic_store_n(&is_same, false, __ATOMIC_RELAXED);
        });
        return is_same;
    };
    const auto q = w.template query<world_pos, const local_pos, up<const world_pos>>();
    EXPECT_TRUE(is_single(q));
    EXPECT_TRUE(is_single(q.template by_target<child_of>()));
    EXPECT_TRUE((is_single(w.template query<mass, up<mass>>().top_down())));
}

TYPED_TEST(hierarchy_loop, an_exception_in_a_parallel_loop_drops_the_changes_of_all_levels) {
    auto& w = this->world_;
    muster_tests::thread_executor threads(3);
    const auto all = this->grow(500, 20, 2);
    EXPECT_ANY_THROW(this->transforms().par_each(
        threads, 8, [&](auto e, world_pos&, const local_pos&, const world_pos*) {
            w.destroy(e);
            if (w.level(e) == 2) throw 1;
        }));
    for (const auto e : all) EXPECT_TRUE(w.alive(e));
}

TYPED_TEST(hierarchy_loop, systems_read_components_of_parents) {
    auto& w = this->world_;
    const auto all = this->grow(400, 10, 6);
    w.system("transforms").query(this->transforms()).each(this->transform);
    w.process_all();
    this->expect_transforms(all);
    long sum = 0, expected = 0;
    w.system("sum").each(
        [&](const local_pos& own, up<const local_pos> parent) { sum += own.x * parent->x; });
    w.process_all();
    for (const auto e : all)
        if (const auto parent = w.parent(e))
            expected += w.template get<local_pos>(e).x * w.template get<local_pos>(parent).x;
    EXPECT_EQ(sum, expected);
    // In parallel, after what writes the components that they read.
    muster_tests::thread_executor threads(4);
    w.template query<world_pos>().each([](world_pos& out) { out.x = -1; });
    w.par_process_all(threads);
    this->expect_transforms(all);
}

}  // namespace
}  // namespace muster::test
