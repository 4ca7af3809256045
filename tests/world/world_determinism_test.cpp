// Equal calls produce equal ids, chunks and rows, in two runs and with every compiler. This file
// stores the digest of a long random story; every compiler and machine must reproduce it.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/world_layouts.hpp"

namespace muster::test {
namespace {

struct a {
    std::uint32_t value;
};
struct b {
    std::uint64_t value;
};
struct c {};

/// A fixed generator, because those of the standard library may differ.
struct dice {
    std::uint64_t state = 1;
    std::uint64_t operator()() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
    }
};

struct digest {
    std::uint64_t value = 14695981039346656037u;
    void add(std::uint64_t word) {
        for (int i = 0; i < 8; ++i)
            value = (value ^ (word >> 8 * i & 0xFF)) * std::uint64_t{1099511628211u};
    }
};

/// Digest of the observable state of a world after 20,000 operations, without the world's number.
template <class Layout>
std::uint64_t story() {
    basic_world<Layout> w;
    dice roll;
    digest seen;
    std::vector<basic_id<Layout>> ids{w.spawn()};
    const auto put = [&](basic_id<Layout> e) {
        seen.add(e.key());
        seen.add(e.version());
    };
    const auto any = [&] { return ids[roll() % ids.size()]; };
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        switch (roll() % 12) {
        case 0: ids.push_back(w.spawn(a{i}, b{i})); break;
        case 1: ids.push_back(w.spawn(c{})); break;
        case 2: ids.push_back(w.spawn()); break;
        case 3:
            for (const auto e : w.spawn_many(roll() % 4, b{i}, std::string("x"))) ids.push_back(e);
            break;
        case 4:
            if (const auto e = any(); w.alive(e)) w.set(e, a{i});
            break;
        case 5:
            if (const auto e = any(); w.alive(e)) w.set(e, c{}, std::to_string(i));
            break;
        case 6: seen.add(w.template remove<b, c>(any())); break;
        case 7:
        case 8:
        case 9: seen.add(w.destroy(any())); break;
        case 10:
            if (const auto e = any(); w.alive(e)) ids.push_back(w.clone(e, b{i}));
            break;
        case 11:
            if (roll() % 64 == 0) w.collect_garbage();
            if (roll() % 64 == 0) seen.add(w.template clear<a>());
            break;
        }
    }
    for (const auto e : w.entities()) {
        put(e);
        const auto [chunk, row] = w.locate(e);
        seen.add(row);
        for (const auto entity : chunk.entities()) put(entity);
        for (const auto fragment : chunk.fragments()) put(fragment);
        if (const a* value = w.template try_get<a>(e)) seen.add(value->value);
        if (const b* value = w.template try_get<b>(e)) seen.add(value->value);
    }
    return seen.value;
}

template <class Layout>
class world_determinism : public testing::Test {};
using presets = testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed>;
TYPED_TEST_SUITE(world_determinism, presets, layout_names);

TYPED_TEST(world_determinism, two_runs_agree) {
    EXPECT_EQ(story<TypeParam>(), story<TypeParam>());
}

TEST(world_determinism, every_compiler_produces_the_recorded_digest) {
    MUSTER_ABOUT_CHUNKS();
    EXPECT_EQ(story<layouts::bound>(), 2874878189824360523u);
    EXPECT_EQ(story<layouts::compact>(), 8647501805411935646u);
    EXPECT_EQ(story<layouts::exact>(), 7316201484017448726u);
    EXPECT_EQ(story<layouts::packed>(), 7316201484017448726u);
}

}  // namespace
}  // namespace muster::test
