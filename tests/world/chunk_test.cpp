#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};
struct frozen {};
struct alignas(256) wide {
    char data[3];
};

TEST(chunk, shows_entities_and_components_row_by_row) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const entity a = w.spawn(position{1, 1}, velocity{});
    const entity b = w.spawn(position{2, 2}, velocity{});
    w.spawn(position{3, 3});
    const chunk c = w.chunk<position, velocity>();
    ASSERT_EQ(c.size(), 2u);
    EXPECT_EQ(c.entities()[0], a);
    EXPECT_EQ(c.entities()[1], b);
    float sum = 0;
    for (const position& p : c.components<position>()) sum += p.x;
    EXPECT_EQ(sum, 3);
}

TEST(chunk, does_not_depend_on_the_order_of_its_types) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    EXPECT_EQ((w.chunk<position, velocity, frozen>()), (w.chunk<frozen, position, velocity>()));
    EXPECT_NE((w.chunk<position, velocity>()), (w.chunk<position>()));
}

TEST(chunk, lists_its_fragments) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const chunk c = w.chunk<position, frozen>();
    ASSERT_EQ(c.fragments().size(), 2u);
    EXPECT_EQ(c.fragments()[0], w.component<position>());
    EXPECT_EQ(c.fragments()[1], w.component<frozen>());
    EXPECT_TRUE(c.has<frozen>());
    EXPECT_FALSE(c.has<velocity>());
    EXPECT_TRUE(c.has(w.component<position>()));
    EXPECT_FALSE(c.has(entity{}));
}

TEST(chunk, of_no_fragments_is_null) {
    world w;
    const entity e = w.spawn();
    const auto [c, row] = w.locate(e);
    EXPECT_FALSE(c);
    EXPECT_EQ(row, 0u);
    EXPECT_TRUE(c.empty());
    EXPECT_TRUE(c.entities().empty());
    EXPECT_TRUE(c.fragments().empty());
    EXPECT_FALSE(c.has<position>());
    EXPECT_EQ(c, w.chunk<>());
    EXPECT_EQ(code_of([&] { (void)c.components<position>(); }), errc::missing_component);
}

TEST(chunk, error_about_a_missing_component_lists_the_fragments) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    w.spawn(position{}, frozen{});
    const chunk c = w.chunk<position, frozen>();
    const std::string sentence = sentence_of([&] { (void)c.components<velocity>(); });
    EXPECT_NE(sentence.find("velocity"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("frozen>"), std::string::npos) << sentence;
}

TEST(chunk, columns_start_on_cache_lines) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    for (int i = 0; i < 1000; ++i) {
        w.spawn(position{}, wide{}, 'c');
        const chunk c = w.chunk<position, wide, char>();
        const auto is_aligned = [](const void* at, std::uintptr_t to) {
            return reinterpret_cast<std::uintptr_t>(at) % to == 0;
        };
        ASSERT_TRUE(is_aligned(c.entities().data(), 64));
        ASSERT_TRUE(is_aligned(c.components<position>().data(), 64));
        ASSERT_TRUE(is_aligned(c.components<char>().data(), 64));
        ASSERT_TRUE(is_aligned(c.components<wide>().data(), 256));
    }
}

TEST(chunk, last_row_fills_the_gap_of_a_destroyed_entity) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const entity a = w.spawn(1);
    const entity b = w.spawn(2);
    const entity c = w.spawn(3);
    w.destroy(a);
    EXPECT_EQ(w.locate(c).row, 0u);
    EXPECT_EQ(w.locate(b).row, 1u);
    EXPECT_EQ(w.get<int>(c), 3);
    EXPECT_EQ(w.chunk<int>().components<int>()[0], 3);
}

TEST(chunk, destroying_a_fragment_invalidates_the_handle) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const chunk c = w.chunk<position, velocity>();
    w.destroy(w.component<velocity>());
    EXPECT_EQ(code_of([&] { (void)c.size(); }), errc::dead_chunk);
}

}  // namespace
}  // namespace muster::test
