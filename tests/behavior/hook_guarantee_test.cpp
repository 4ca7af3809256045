// Failures around hooks: of calls that must not fail, of several destructions, and of changes that a
// hook has recorded. Every allocation fails once.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/layouts.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::allocations;

struct position {
    int x = 0;
};
struct burning {  // sparse
    int heat = 0;
};
struct item {
    std::string name = "a name that needs memory of its own";
};
struct mark {};
struct refusal {};

template <class Layout>
class hook_guarantee : public testing::Test {
protected:
    using id_type = basic_id<Layout>;

    /// Calls `run(n)`, in which the n-th allocation fails, until none fails. Returns how many did.
    template <class Run>
    static int fail_everywhere(Run run) {
        int failures = 0;
        bool struck = true;
        for (int n = 0; struck; ++n) {
            SCOPED_TRACE(n);
            failures += run(n) ? 1 : 0;
            struck = allocations.has_struck();
        }
        return failures;
    }
    /// Makes a call in which the n-th allocation fails. Returns whether it threw.
    template <class Call>
    static bool fails(int n, Call call) {
        bool failed = false;
        allocations.start(n);
        try {
            call();
        } catch (const std::bad_alloc&) {
            failed = true;
        } catch (const refusal&) {
        }
        allocations.stop();
        return failed;
    }
};
using presets = testing::Types<layouts::bound, layouts::exact>;
TYPED_TEST_SUITE(hook_guarantee, presets, test::layout_names);

// ---- calls that cannot fail --------------------------------------------------------------------

TYPED_TEST(hook_guarantee, connections_and_observers_end_without_memory) {
    basic_world<TypeParam> w;
    const auto token = std::make_shared<int>(0);
    std::vector<basic_connection<TypeParam>> all;
    for (int i = 0; i < 3; ++i) {
        all.push_back(w.template on_insert<position>([token] {}));
        all.push_back(w.template on_remove<burning>([token] {}));
        all.push_back(w.on_spawn([token] {}));
    }
    basic_connection<TypeParam> own = w.template on_set<position>([&] { own.disconnect(); });
    auto seen =
        std::make_unique<basic_observer<TypeParam, position>>(w.template observer<position>());
    w.spawn(position{});
    EXPECT_FALSE(own.connected());
    allocations.start(0);
    for (auto& each : all) {
        EXPECT_TRUE(each.pause());
        EXPECT_TRUE(each.resume());
        EXPECT_TRUE(each.disconnect());
    }
    EXPECT_TRUE(seen->pause());
    EXPECT_TRUE(seen->resume());
    seen.reset();
    allocations.stop();
    EXPECT_FALSE(allocations.has_struck());
    EXPECT_EQ(token.use_count(), 1);
}

TYPED_TEST(hook_guarantee, a_function_may_disconnect_others_when_it_is_destroyed) {
    basic_world<TypeParam> w;
    struct last {
        std::vector<basic_connection<TypeParam>>* all = nullptr;
        explicit last(std::vector<basic_connection<TypeParam>>& others) : all(&others) {}
        last(last&& other) noexcept : all(std::exchange(other.all, nullptr)) {}
        last(const last&) = delete;
        last& operator=(last&&) = delete;
        ~last() {
            if (all == nullptr) return;
            for (auto& each : *all) each.disconnect();
        }
        void operator()() const {}
    };
    std::vector<basic_connection<TypeParam>> all;
    const auto token = std::make_shared<int>(0);
    for (int i = 0; i < 4; ++i) {
        all.push_back(w.template on_insert<position>([token] {}));
        all.push_back(w.template on_insert<position>(last(all)));
    }
    all[3].disconnect();
    EXPECT_EQ(token.use_count(), 1);
    for (auto& each : all) EXPECT_FALSE(each.connected());
    int calls = 0;
    w.template on_insert<position>([&] { ++calls; });
    w.spawn(position{});
    EXPECT_EQ(calls, 1);
}

// ---- destroying several entities ---------------------------------------------------------------

/// Entities of all kinds, some with names. `target` are those to destroy.
template <class Layout>
struct crowd {
    basic_world<Layout> w{{.provenance = true}};
    std::vector<basic_id<Layout>> target;
    basic_observer<Layout> gone = w.observer();
    explicit crowd(bool is_observed) {
        w.template define<burning>().sparse();
        if (is_observed)
            gone = std::move(gone).template removed<position>().template removed<burning>();
        for (int i = 0; i < 40; ++i) {
            auto e = i % 3 == 0   ? w.spawn(position{i}, item{})
                     : i % 3 == 1 ? w.spawn(burning{i}, position{i})
                                  : w.spawn();
            if (i % 5 == 0) w.name(e, "a name that needs memory of its own");
            if (i % 2 == 0) target.push_back(e);
        }
    }
    std::size_t destroy_if() {
        return w.destroy_if([&](auto e) {
            for (const auto each : target)
                if (each == e) return true;
            return false;
        });
    }
};

TYPED_TEST(hook_guarantee, several_entities_are_destroyed_together_or_not_at_all) {
    for (const bool is_observed : {false, true}) {
        const auto check = [&](auto destroy) {
            const int failures = this->fail_everywhere([&](int n) {
                crowd<TypeParam> s(is_observed);
                const bool failed = this->fails(n, [&] { (void)destroy(s); });
                EXPECT_EQ(s.w.size(), failed ? 40u : 20u);
                EXPECT_EQ(s.gone.size(), failed || !is_observed ? 0u : 13u);
                if (failed) {
                    EXPECT_EQ(destroy(s), 20u);
                }
                EXPECT_EQ(s.w.size(), 20u);
                return failed;
            });
            EXPECT_GE(failures, 20);  // provenance
        };
        check([](auto& s) { return s.destroy_if(); });
        check([](auto& s) { return s.w.destroy(s.target); });
    }
}

TYPED_TEST(hook_guarantee, a_failed_destruction_of_a_fragment_does_not_stop_the_others) {
    const auto check = [&](auto destroy) {
        const int failures = this->fail_everywhere([&](int n) {
            basic_world<TypeParam> w;
            const auto tag = w.tag();
            std::vector<basic_id<TypeParam>> all{w.spawn(position{}), tag, w.spawn(item{})};
            for (int i = 0; i < 5; ++i) w.spawn(position{i}, with(tag));
            const bool failed = this->fails(n, [&] { destroy(w, all); });
            if (failed && w.alive(all[0])) {  // memory ran out before the first
                EXPECT_TRUE(w.alive_all(all[1], all[2]));
                destroy(w, all);
            } else {
                EXPECT_FALSE(w.alive_any(all[0], all[2]));
                EXPECT_EQ(w.alive(tag), failed);
                EXPECT_EQ(w.count(tag), failed ? 5u : 0u);
            }
            return failed;
        });
        EXPECT_GE(failures, 2);
    };
    check([](auto& w, auto& all) { w.destroy(all); });
    check([](auto& w, auto& all) {
        w.destroy_if([&](auto e) { return e == all[0] || e == all[1] || e == all[2]; });
    });
}

// ---- changes that hooks record -----------------------------------------------------------------

/// Creates entities in every way. Each call stores no id if it throws.
template <class World, class Use>
void each_way_to_spawn(World& w, Use use) {
    using id_type = typename World::id_type;
    const id_type prefab = w.lookup("prefab");
    auto recipe = w.builder();
    recipe.set(item{});
    use([&] { (void)w.spawn(item{}); });
    use([&] { (void)w.spawn(item{}, burning{}); });
    use([&] { (void)w.spawn_at(id_type::pack(500, prefab.version(), prefab.world()), item{}); });
    use([&] { (void)w.spawn_many(3, item{}); });
    use([&] { (void)w.spawn_many(3, item{}, burning{}); });
    use([&] { w.spawn_rows(3, [](auto) {}, item{}); });
    use([&] { w.spawn_rows(3, [](auto) {}, item{}, burning{}); });
    use([&] { (void)w.spawn_columns(std::vector<item>(3)); });
    use([&] { (void)w.clone(prefab); });
    use([&] { (void)w.clone(prefab, burning{}); });
    use([&] { (void)w.clone_many(3, prefab); });
    use([&] { (void)recipe.spawn(); });
    use([&] { (void)recipe.clone_many(2, prefab); });
}

TYPED_TEST(hook_guarantee, a_call_that_throws_leaves_no_new_entity) {
    basic_world<TypeParam> w;
    w.template define<burning>().sparse();
    w.name(w.spawn(item{}), "prefab");
    int living = 1;
    bool is_refused = false;
    w.template on_insert<item>([&](auto e, item&) {
        ++living;
        w.set(e, mark{});  // recorded: applied, and then refused
    });
    w.template on_remove<item>([&] { --living; });
    w.template on_insert<mark>([&] {
        if (is_refused) throw refusal{};
    });
    auto gone = w.observer().template removed<item>();
    each_way_to_spawn(w, [&](auto call) {
        const std::size_t before = w.size();
        is_refused = true;
        EXPECT_THROW(call(), refusal);
        EXPECT_EQ(w.size(), before);
        EXPECT_EQ(static_cast<std::size_t>(living), before);  // `on_remove` was called
        EXPECT_GE(gone.take().size(), 1u);
        is_refused = false;
        if (before == 1) return;
        call();
        EXPECT_GT(w.size(), before);
    });
}

TYPED_TEST(hook_guarantee, entities_that_refuse_their_destruction_are_destroyed_nevertheless) {
    basic_world<TypeParam> w;
    w.template define<burning>().sparse();
    w.name(w.spawn(item{}), "prefab");
    w.template on_insert<item>([&](auto e, item&) { w.set(e, mark{}); });
    w.template on_insert<mark>([] { throw refusal{}; });
    w.on_destroy([] { throw std::runtime_error("no"); });
    each_way_to_spawn(w, [&](auto call) {
        EXPECT_THROW(call(), refusal);
        EXPECT_EQ(w.size(), 1u);
    });
    w.on_spawn([&](auto e) { w.set(e, mark{}); });
    EXPECT_THROW(w.spawn(), refusal);
    EXPECT_THROW((void)w.template ids<2>(), refusal);
    EXPECT_THROW((void)w.tag("tag"), refusal);
    EXPECT_THROW((void)w.template fragment<int>("fragment"), refusal);
    EXPECT_EQ(w.size(), 1u);
}

TYPED_TEST(hook_guarantee, no_entity_is_lost_when_memory_runs_out) {
    int which = 0;
    int ways = 1;  // how many there are, once the first has been tried
    for (; which < ways; ++which) {
        SCOPED_TRACE(which);
        const int failures = this->fail_everywhere([&](int n) {
            basic_world<TypeParam> w;
            w.template define<burning>().sparse();
            w.name(w.spawn(item{}), "prefab");
            auto other = w.spawn(position{});
            w.template on_insert<item>([&](auto e, item&) {
                w.set(e, mark{}, position{});
                w.set(other, item{});
            });
            bool failed = false;
            int at = 0;
            each_way_to_spawn(w, [&](auto call) {
                if (at++ != which) return;
                const std::size_t before = w.size();
                failed = this->fails(n, call);
                EXPECT_EQ(w.size() == before, failed);
            });
            ways = at;
            return failed;
        });
        EXPECT_GE(failures, 3);
    }
}

TYPED_TEST(hook_guarantee, a_patch_in_a_scope_changes_nothing_when_memory_runs_out) {
    const int failures = this->fail_everywhere([&](int n) {
        basic_world<TypeParam> w;
        int calls = 0;
        const auto e = w.spawn(item{}, position{1});
        w.template on_assign<item>([&] { ++calls; });
        w.defer();
        w.set(e, position{5});
        w.defer();
        const auto more = [](position& p) { p.x += 1; };
        const bool failed = this->fails(n, [&] {
            w.template patch<position>(e, more);
            w.template patch<item>(e, [](item& it) { it.name = "short"; });
        });
        const bool is_patched = w.template get<item>(e).name == "short";
        EXPECT_EQ(is_patched, !failed);
        w.commit();
        w.commit();
        EXPECT_EQ(calls, failed ? 0 : 1);
        EXPECT_GE(w.template get<position>(e).x, failed ? 5 : 6);
        return failed;
    });
    EXPECT_GE(failures, 1);
}

}  // namespace
}  // namespace muster
