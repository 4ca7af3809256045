// Makes every allocation of rare calls fail once: large columns, first uses of sparse types, sorting, rows that are
// filled in a scope, exact ids in a scope, and names of systems. Linked with world_guarantee_test.cpp, which makes
// allocations fail.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/trouble.hpp"

namespace muster {
namespace {

using test::allocations;
using test::bulky;

struct place {
    int x = 0;
};
struct speed {
    int x = 7;
};
template <int N>
struct burning {
    int heat = 0;
};
struct text {
    std::string value = "a text that needs memory of its own, and more";
};

/// Calls `call(scene)` on a new scene for each allocation that can fail, and `check(scene, has_failed)` afterwards.
/// Returns the number of failures.
template <class Scene, class Call, class Check>
int fail_at_each(Call call, Check check) {
    for (int n = 0;; ++n) {
        SCOPED_TRACE(n);
        Scene scene;
        bool has_failed = false;
        allocations.start(n);
        try {
            call(scene);
        } catch (const std::bad_alloc&) {
            has_failed = true;
        }
        allocations.stop();
        check(scene, has_failed);
        if (!allocations.has_struck()) return n;
        if (testing::Test::HasFailure() || n > 2000) return -1;
    }
}

struct bulky_scene {
    world w;
    std::vector<entity> all;
    bulky_scene() {
        for (int i = 0; i < 512; ++i) all.push_back(w.spawn(bulky(i)));
    }
};
TEST(rare_memory_guarantee, a_large_column_that_cannot_grow_keeps_its_values) {
    const int failures = fail_at_each<bulky_scene>(
        [](bulky_scene& s) { s.w.spawn(bulky(600)); },
        [](bulky_scene& s, bool has_failed) {
            ASSERT_EQ(s.w.size(), has_failed ? 512u : 513u);
            for (std::size_t i = 0; i < s.all.size(); ++i)
                ASSERT_EQ(s.w.get<bulky>(s.all[i]).values[7], static_cast<int>(i));
        });
    EXPECT_GE(failures, 1);
}

}  // namespace
}  // namespace muster
template <int N>
struct muster::component_traits<muster::burning<N>> {
    static constexpr bool sparse = true;
};
namespace muster {
namespace {

struct empty_scene {
    world w;
    entity e = w.spawn();
};
template <int... N>
void burn(empty_scene& s, std::integer_sequence<int, N...>) {
    (s.w.set(s.e, burning<N>{N}), ...);
}
TEST(rare_memory_guarantee, a_sparse_type_that_cannot_be_registered_leaves_nothing) {
    const int failures = fail_at_each<empty_scene>(
        [](empty_scene& s) { burn(s, std::make_integer_sequence<int, 70>()); },
        [](empty_scene& s, bool) {
            burn(s, std::make_integer_sequence<int, 70>());
            ASSERT_EQ(s.w.get<burning<69>>(s.e).heat, 69);
            ASSERT_EQ(s.w.get<burning<3>>(s.e).heat, 3);
            ASSERT_EQ(s.w.size(), 1u);
        });
    EXPECT_GE(failures, 70);
}

struct unsorted_scene {
    struct open_world : world {
        [[nodiscard]] auto& core() noexcept { return this->world_base<layouts::bound>::store_; }
    } w;
    std::vector<entity> all;
    unsorted_scene() {
        for (int i = 0; i < 20; ++i) all.push_back(w.spawn(place{(i * 7) % 20}, text{}));
    }
};
TEST(rare_memory_guarantee, a_new_order_of_rows_that_fails_leaves_all_values) {
    const int failures = fail_at_each<unsorted_scene>(
        [](unsorted_scene& s) {
            auto& core = s.w.core();
            std::vector<std::uint32_t> order;
            for (std::uint32_t row = 20; row-- != 0;) order.push_back(row);
            core.mover.permute(core.graph.at(core.find(s.all[0])->chunk()), order);
        },
        [](unsorted_scene& s, bool) {
            for (std::size_t i = 0; i < s.all.size(); ++i) {
                ASSERT_EQ(s.w.get<place>(s.all[i]).x, static_cast<int>(i * 7) % 20);
                ASSERT_EQ(s.w.get<text>(s.all[i]).value, text{}.value);
            }
        });
    EXPECT_GE(failures, 3);
}

struct scope_scene {
    world w;
    entity taken = w.spawn();
    scope_scene() {
        w.define<place>().needs<speed>();
        w.spawn(place{}, text{});
        w.destroy(taken);
    }
    [[nodiscard]] entity wanted() const {
        return entity::pack(taken.key(), taken.version() + 1, taken.world());
    }
};
TEST(rare_memory_guarantee, rows_filled_in_a_scope_are_all_or_none) {
    const int failures = fail_at_each<scope_scene>(
        [](scope_scene& s) {
            deferred whole{s.w};
            s.w.spawn_rows(
                50,
                [](rows made) {
                    for (place& p : made.components<place>()) p.x = 3;
                },
                place{}, text{});
        },
        [](scope_scene& s, bool has_failed) {
            // The commit of the scope drops single entities; the call itself drops all.
            if (!has_failed) ASSERT_EQ(s.w.size(), 51u);
            std::size_t count = 0;
            s.w.each([&](const place& p, const speed& v, const text& t) {
                count += p.x == 3;
                ASSERT_EQ(v.x, 7);
                ASSERT_EQ(t.value, text{}.value);
            });
            ASSERT_EQ(count + 1, s.w.size());
        });
    EXPECT_GE(failures, 5);
}

TEST(rare_memory_guarantee, an_exact_id_in_a_scope_is_there_or_free) {
    const int failures = fail_at_each<scope_scene>(
        [](scope_scene& s) {
            deferred whole{s.w};
            (void)s.w.spawn_at(s.wanted(), place{4}, text{});
            (void)s.w.spawn_at(entity::pack(5000, 0, s.taken.world()), place{5});
        },
        [](scope_scene& s, bool has_failed) {
            if (has_failed && !s.w.alive(s.wanted())) {
                ASSERT_LE(s.w.size(), 2u);
                // The version of an id that a scope has seen is spent.
                s.taken = s.w.spawn(place{4});
                ASSERT_EQ(s.w.get<speed>(s.taken).x, 7);
                return;
            }
            ASSERT_TRUE(s.w.alive(s.wanted()));
            if (has_failed) return;
            ASSERT_EQ(s.w.get<place>(s.wanted()).x, 4);
            ASSERT_EQ(s.w.get<speed>(s.wanted()).x, 7);
        });
    EXPECT_GE(failures, 5);
}

TEST(rare_memory_guarantee, an_exact_id_with_needed_components_is_there_or_free) {
    const entity far = entity::pack(100'000, 3, 1);
    const int failures = fail_at_each<scope_scene>(
        [&](scope_scene& s) {
            (void)s.w.spawn_at(entity::pack(far.key(), 3, s.taken.world()), place{4}, text{});
        },
        [&](scope_scene& s, bool has_failed) {
            const entity wanted = entity::pack(far.key(), 3, s.taken.world());
            ASSERT_EQ(s.w.alive(wanted), !has_failed);
            ASSERT_EQ(s.w.size(), has_failed ? 1u : 2u);
            if (has_failed) (void)s.w.spawn_at(wanted, place{4}, text{});
            ASSERT_EQ(s.w.get<speed>(wanted).x, 7);
        });
    EXPECT_GE(failures, 1);
}

struct pending_scene {
    world w;
    std::vector<entity> all;
    pending_scene() {
        for (int i = 0; i < 3; ++i) all.push_back(w.spawn(place{i}));
        w.set(all[0], text{}, burning<1>{1});
    }
};
TEST(rare_memory_guarantee, recorded_values_of_a_destroyed_type_are_kept_or_dropped) {
    const int failures = fail_at_each<pending_scene>(
        [](pending_scene& s) {
            deferred whole{s.w};
            s.w.set(s.all[1], text{"recorded, in memory of its own, as usual"});
            s.w.set(s.all[2], burning<1>{2});
            s.w.destroy(s.w.component<text>());
            s.w.destroy(s.w.component<burning<1>>());
        },
        [](pending_scene& s, bool) {
            for (std::size_t i = 0; i < s.all.size(); ++i)
                ASSERT_EQ(s.w.get<place>(s.all[i]).x, static_cast<int>(i));
            s.w.set(s.all[1], text{"new"}, burning<1>{3});
            ASSERT_EQ(s.w.get<text>(s.all[1]).value, "new");
            ASSERT_EQ(s.w.get<burning<1>>(s.all[1]).heat, 3);
        });
    EXPECT_GE(failures, 10);
}

TEST(rare_memory_guarantee, the_handle_of_a_missing_system_is_null_or_named) {
    const int failures =
        fail_at_each<empty_scene>([](empty_scene& s) { (void)s.w.find_system("missing"); },
                                  [](empty_scene& s, bool has_failed) {
                                      ASSERT_FALSE(has_failed);  // it never throws
                                      ASSERT_FALSE(s.w.find_system("missing"));
                                  });
    EXPECT_GE(failures, 1);
}

struct observed_scene {
    world w;
    entity e = w.spawn(place{1});
    observer<place> seen = w.observer<place>();
    removed_values<place> gone = w.removed_values<place>();
};
TEST(rare_memory_guarantee, observers_that_hooks_create_may_lose_what_they_have_no_room_for) {
    const int failures = fail_at_each<observed_scene>(
        [](observed_scene& s) {
            std::optional<observer<>> late;
            std::optional<removed_values<place>> late_values;
            const connection hook = s.w.on_remove<place>([&] {
                if (!late) late.emplace(s.w.observer<>().removed<place>());
                if (!late_values) late_values.emplace(s.w.removed_values<place>());
            });
            s.w.remove<place>(s.e);
            EXPECT_TRUE(hook.connected());
        },
        [](observed_scene& s, bool has_failed) {
            ASSERT_TRUE(s.w.alive(s.e));
            if (!has_failed) {
                ASSERT_FALSE(s.w.has<place>(s.e));
                ASSERT_EQ(s.gone.size(), 1u);
            }
        });
    EXPECT_GE(failures, 2);
}

}  // namespace
}  // namespace muster
