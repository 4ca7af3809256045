// Trees of which whole chunks are destroyed at once: what survives, and what is stored by key.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/open_world.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct label {
    std::string text;
};
struct burning {
    std::shared_ptr<int> heat;
};
struct likes {
    int strength = 0;
};
struct docked_at {};
struct part_of {};

template <class Layout>
struct mass_destruction : testing::Test {
    using id_type = basic_id<Layout>;
    open_world<Layout> world_;
    std::vector<id_type> tree_;

    mass_destruction() {
        auto& w = world_;
        w.template define<burning>().sparse();
        w.template define<likes>().relation();
        w.template define<docked_at>().relation().exclusive();
        w.template define<part_of>().relation().leveled().when_target_destroyed(pass_on);
    }
    void TearDown() override {
        EXPECT_EQ(wrong_level<child_of_t>(world_), "");
        EXPECT_EQ(wrong_level<part_of>(world_), "");
    }
    void grow(int count) {
        auto& w = world_;
        tree_.push_back(w.spawn(position{0}));
        for (int i = 1; i < count; ++i) {
            const auto above = tree_[static_cast<std::size_t>(i) / 3];
            tree_.push_back(i % 2 == 0 ? w.spawn(position{i}, to(child_of, above))
                                       : w.spawn(label{std::to_string(i)}, to(child_of, above)));
        }
    }
};
TYPED_TEST_SUITE(mass_destruction, behavior_layouts, layout_names);

TYPED_TEST(mass_destruction, takes_whole_chunks_and_leaves_the_rows_of_others) {
    auto& w = this->world_;
    const auto other = w.spawn();
    std::vector<basic_id<TypeParam>> others;
    for (int i = 0; i < 50; ++i) others.push_back(w.spawn(position{-i}, to(child_of, other)));
    this->grow(1'000);
    const std::size_t before = w.size();
    w.destroy(this->tree_[0]);
    EXPECT_EQ(w.size(), before - 1'000);
    for (const auto e : this->tree_) EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.children(other).size(), 50u);
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(w.template get<position>(others[static_cast<std::size_t>(i)]).x, -i);
    EXPECT_EQ(w.template count<label>(), 0u);
    const auto made = w.spawn_many(1'000, position{7});
    for (const auto e : made) EXPECT_EQ(w.template get<position>(e).x, 7);
}

TYPED_TEST(mass_destruction, ends_what_is_stored_by_key) {
    auto& w = this->world_;
    this->grow(500);
    const auto value = std::make_shared<int>(3);
    for (std::size_t i = 0; i < 500; i += 7) {
        w.name(this->tree_[i], "n" + std::to_string(i));
        w.set(this->tree_[i], burning{value});
    }
    w.destroy(this->tree_[0]);
    EXPECT_EQ(value.use_count(), 1);
    EXPECT_FALSE(w.lookup("n7"));
    for (const auto e : w.spawn_many(600, position{})) {
        EXPECT_TRUE(w.name(e).empty());
        EXPECT_FALSE(w.template has<burning>(e));
        EXPECT_TRUE(w.children(e).empty());
    }
}

TYPED_TEST(mass_destruction, removes_the_links_between_the_dead_and_the_living) {
    auto& w = this->world_;
    this->grow(400);
    std::vector<basic_id<TypeParam>> living;
    for (std::size_t i = 0; i < 400; ++i) {
        living.push_back(w.spawn(position{1}));
        const auto e = this->tree_[i];
        w.template relate<likes>(e, living[i / 10], likes{1});
        w.template relate<likes>(living.back(), e);
        w.template relate<likes>(living.back(), living[0]);
        w.template relate<docked_at>(i % 2 == 0 ? e : living.back(),
                                     i % 2 == 0 ? living[i / 20] : e);
        w.template relate<part_of>(e, i == 0 ? living[0] : this->tree_[i - 1]);
        if (i > 0) w.template relate<part_of>(living.back(), e);
    }
    w.destroy(this->tree_[0]);
    for (std::size_t i = 0; i < 400; ++i) {
        EXPECT_EQ(w.template targets<likes>(living[i]).size(), 1u);
        EXPECT_EQ(w.template sources<likes>(living[i]).size(), i == 0 ? 400u : 0u);
        EXPECT_TRUE(w.template sources<docked_at>(living[i]).empty());
        EXPECT_FALSE(w.template has<docked_at>(living[i]));
        EXPECT_EQ(w.template target<part_of>(living[i]),
                  i == 0 ? basic_id<TypeParam>{} : living[0]);
    }
    EXPECT_EQ(w.template sources<part_of>(living[0]).size(), 399u);
}

TYPED_TEST(mass_destruction, hooks_do_not_change_which_ids_are_free) {
    std::vector<std::vector<std::uint64_t>> ids;
    for (const bool has_hooks : {false, true}) {
        basic_world<TypeParam> w;
        std::size_t calls = 0;
        if (has_hooks) w.on_unrelate(child_of, [&] { ++calls; });
        const auto root = w.spawn(position{});
        std::vector<basic_id<TypeParam>> all{root};
        for (std::size_t i = 1; i < 300; ++i)
            all.push_back(i % 2 == 0 ? w.spawn(to(child_of, all[i * 7 % i]))
                                     : w.spawn(position{}, to(child_of, all[i / 2])));
        w.destroy(root);
        EXPECT_EQ(calls, has_hooks ? 299u : 0u);
        ids.emplace_back();
        for (int i = 0; i < 400; ++i) ids.back().push_back(w.spawn().key());
    }
    EXPECT_EQ(ids[0], ids[1]);
}

}  // namespace
}  // namespace muster::test
