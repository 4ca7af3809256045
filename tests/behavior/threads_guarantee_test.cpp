// Exceptions at every point of a parallel phase and of a command buffer's life: each copy, each
// allocation, each hook. Each recorded call is applied completely or not at all, nothing leaks, and
// the world stays usable. Runs on one thread, so that the points of failure are reproducible.
// Linked with support/failing_allocations.cpp.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/hook_trouble.hpp"
#include "support/layouts.hpp"

namespace muster {
namespace {

using test::caught;
using test::counted;
using test::fragile;
using test::judge;
using test::long_text;
using test::nothing;
using test::trouble;

struct place {
    int x = 0;
};
struct spark : fragile {  // sparse
    using fragile::fragile;
};

template <class Layout>
struct scene {
    using world_type = basic_world<Layout>;
    using id_type = basic_id<Layout>;

    judge counter;
    world_type w;
    std::vector<id_type> all;
    std::vector<id_type> made;
    fragile breaks{7};
    sequential_executor executor;

    scene() {
        w.template define<spark>().sparse();
        for (int i = 0; i < 8; ++i) all.push_back(w.spawn(place{i}, counted(i)));
        for (int i = 0; i < 3; ++i) w.destroy(w.spawn());  // free keys
        w.template on_insert<std::string>([this](id_type, std::string&) { counter.count_call(); });
        made.reserve(64);
    }

    void change() {
        w.template query<const place>().par_each(executor, 1, [this](id_type e, const place& p) {
            if (p.x == 5) {
                w.destroy(e);
                return;
            }
            w.set(e, long_text(p.x), breaks);
            made.push_back(w.spawn(counted(p.x), breaks, long_text(p.x)));
            w.set(made.back(), spark(p.x));
        });
    }
    void record(basic_command_buffer<Layout>& b) {
        for (int i = 0; i < 8; ++i) {
            const id_type e = all[static_cast<std::size_t>(i)];
            if (i == 5) {
                b.destroy(e);
                continue;
            }
            b.set(e, long_text(i), breaks);
            made.push_back(b.spawn(counted(i), breaks, long_text(i)));
            b.set(made.back(), spark(i));
        }
    }

    /// The number of calls without effect. Expects each call to have its whole effect or none.
    int count_unchanged() {
        int unchanged = 0;
        std::size_t living = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const id_type e = all[i];
            if (w.alive(e)) {
                ++living;
                EXPECT_EQ(w.template get<place>(e).x, static_cast<int>(i));
                EXPECT_EQ(w.template has<std::string>(e), w.template has<fragile>(e));
                if (i == 5 || !w.template has<fragile>(e)) ++unchanged;
            } else {
                EXPECT_EQ(i, 5u);
            }
        }
        for (const id_type e : made) {
            if (!w.alive(e)) {
                ++unchanged;
                continue;
            }
            ++living;
            const bool is_complete = w.template has_all<counted, fragile, std::string>(e);
            EXPECT_TRUE(is_complete);
            if (!w.template has<spark>(e)) ++unchanged;  // set by a separate call
        }
        EXPECT_EQ(w.size(), living);
        EXPECT_EQ(w.depth(), 0u);
        return unchanged + (made.size() == 7 ? 0 : 1);
    }
};

template <class Layout>
struct threads_guarantee : testing::Test {};
using presets = testing::Types<layouts::bound, layouts::exact>;
TYPED_TEST_SUITE(threads_guarantee, presets, test::layout_names);

constexpr trouble all_troubles[] = {trouble::in_hook, trouble::in_all_hooks, trouble::in_copy,
                                    trouble::in_memory};

/// Calls `simulate(scene, kind, n)` with increasing n until it returns `nothing`. It makes the n-th
/// event fail and returns the result of `caught`.
template <class Layout, class Simulate>
void try_all(Simulate simulate) {
    for (const trouble kind : all_troubles) {
        for (int n = 0;; ++n) {
            SCOPED_TRACE("trouble " + std::to_string(static_cast<int>(kind)) + ", event " +
                         std::to_string(n));
            const int values = fragile::count.living + counted::count.living;
            int thrown = nothing;
            {
                scene<Layout> s;
                thrown = simulate(s, kind, n);
                EXPECT_EQ(s.count_unchanged() == 0, thrown == nothing);
                s.made.clear();
                s.w.reset();
                EXPECT_EQ(s.w.size(), 0u);
                s.w.spawn(place{}, std::string());
            }
            EXPECT_EQ(fragile::count.living + counted::count.living, values);
            EXPECT_EQ(fragile::count.misused + counted::count.misused, 0);
            if (thrown == nothing || testing::Test::HasFailure()) break;
            ASSERT_LT(n, 1000);
        }
    }
}

TYPED_TEST(threads_guarantee, a_phase_that_fails_anywhere_leaves_each_entity_consistent) {
    try_all<TypeParam>([](auto& s, trouble kind, int n) {
        return caught(kind, s.counter, n, [&] { s.change(); });
    });
}

TYPED_TEST(threads_guarantee, a_failed_recording_call_adds_nothing_to_the_buffer) {
    for (const trouble kind : {trouble::in_copy, trouble::in_memory})
        for (int n = 0;; ++n) {
            scene<TypeParam> s;
            int thrown = nothing;
            std::size_t before = 0;
            {
                basic_command_buffer<TypeParam> b{s.w};
                thrown = caught(kind, s.counter, n, [&] {
                    for (const auto e : s.all) {
                        before = b.pending();
                        b.set(e, long_text(1), s.breaks);
                        before = b.pending();
                        b.spawn(s.breaks, long_text(2));
                    }
                    before = b.pending();
                });
                EXPECT_EQ(b.pending(), before);
                EXPECT_EQ(s.w.size(), 8u);
                s.w.submit(b);
            }
            EXPECT_EQ(s.w.template query<fragile>().count() * 5 / 2, before);
            if (thrown == nothing || testing::Test::HasFailure()) break;
        }
}

TYPED_TEST(threads_guarantee,
           a_buffer_that_fails_anywhere_when_applied_leaves_each_entity_consistent) {
    try_all<TypeParam>([](auto& s, trouble kind, int n) {
        basic_command_buffer<TypeParam> b{s.w};
        s.record(b);
        const int thrown = caught(kind, s.counter, n, [&] {
            s.w.submit(b);
            s.w.apply_submitted();
        });
        if (!b.empty()) {  // submitting failed: the buffer keeps its commands
            EXPECT_NE(thrown, nothing);
            s.w.submit(b);
            EXPECT_EQ(s.count_unchanged(), 0);
            s.w.destroy(s.made.back());
        }
        return thrown;
    });
}

}  // namespace
}  // namespace muster
