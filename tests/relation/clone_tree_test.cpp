// Copies of whole trees: their values, their links, and all that can go wrong.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/id_lists.hpp"
#include "support/open_world.hpp"

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct label {
    std::string text = "none";
};
struct likes {
    int strength = 0;
};
struct named_link {
    std::string text = "a text that is longer than a small string";
};
struct aims_at {};
struct unique_owner {
    std::unique_ptr<int> value;
};

template <class Layout>
struct handle_of {
    basic_id<Layout> to{};
};

template <class Layout>
struct trees_of : id_lists<Layout> {
    using id_type = basic_id<Layout>;
    open_world<Layout> world_;
    trees_of() {
        world_.template define<likes>().relation();
        world_.template define<named_link>().relation();
        world_.template define<aims_at>().relation().exclusive();
    }
    /// A car with two wheels and a driver, who has a hat.
    struct car_ids {
        id_type root, left, driver, hat, right;
    };
    car_ids make_car() {
        auto& w = world_;
        car_ids made;
        made.root = w.spawn(position{1}, label{"a car with a long name, on the heap"}, prefab);
        made.left = w.spawn(position{2}, to(child_of, made.root), prefab);
        made.driver = w.spawn(position{3}, to(child_of, made.root), prefab);
        made.hat = w.spawn(label{"hat"}, to(child_of, made.driver));
        made.right = w.spawn(position{4}, to(child_of, made.root), prefab);
        return made;
    }
    /// Returns the entities of a tree, in order.
    std::vector<id_type> tree(id_type root) {
        std::vector<id_type> all{root};
        for (const auto e : world_.descendants(root)) all.push_back(e);
        return all;
    }
};
TYPED_TEST_SUITE(trees_of, behavior_layouts, layout_names);

TYPED_TEST(trees_of, a_tree_is_copied_with_its_values_and_its_order) {
    auto& w = this->world_;
    const auto car = this->make_car();
    const auto before = w.size();
    const auto made = w.clone_tree(car.root);
    EXPECT_EQ(w.size(), before + 5);
    const auto all = this->tree(made);
    ASSERT_EQ(all.size(), 5u);
    EXPECT_FALSE(w.parent(made));
    EXPECT_EQ(w.template get<position>(made).x, 1);
    EXPECT_EQ(w.template get<label>(made).text, "a car with a long name, on the heap");
    const auto children = list_of(w.children(made));
    ASSERT_EQ(children.size(), 3u);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(w.template get<position>(children[static_cast<std::size_t>(i)]).x, i + 2);
    EXPECT_EQ(w.template get<label>(list_of(w.children(children[1]))[0]).text, "hat");
    for (const auto e : all) EXPECT_FALSE(w.has(e, prefab));
    EXPECT_TRUE(w.has(car.left, prefab));
    EXPECT_EQ(this->tree(car.root), this->ids(car.root, car.left, car.driver, car.hat, car.right));
    w.destroy(made);
    EXPECT_EQ(w.size(), before);
}

TYPED_TEST(trees_of, a_copy_is_in_the_group_of_itself_if_its_prototype_is) {
    auto& w = this->world_;
    struct member_of {};
    w.template define<member_of>().relation().grouping();
    const auto alone = w.spawn(position{1});
    w.template relate<member_of>(alone, alone);
    const auto copy = w.clone_tree(alone);
    EXPECT_EQ(w.template target<member_of>(copy), copy);
    EXPECT_EQ(w.template word_in<member_of>(copy), copy.value());
    EXPECT_EQ(w.template query<position>().template to<member_of>(copy).count(), 1u);
    const auto copies = w.clone_trees(2, alone);
    EXPECT_EQ(w.template word_in<member_of>(copies[1]), copies[1].value());
    EXPECT_EQ(w.template query<position>().template to<member_of>(alone).count(), 1u);
}

TYPED_TEST(trees_of, given_values_and_links_concern_the_root_only) {
    auto& w = this->world_;
    const auto car = this->make_car();
    const auto race = w.spawn(), bob = w.spawn();
    w.relate(child_of, car.root, bob);
    const auto made = w.clone_tree(car.root, position{9}, to(child_of, race), std::string("new"),
                                   to<likes>(bob, likes{4}));
    EXPECT_EQ(w.template get<position>(made).x, 9);
    EXPECT_EQ(w.template get<std::string>(made), "new");
    EXPECT_EQ(w.parent(made), race);
    EXPECT_EQ(w.template link<likes>(made, bob).strength, 4);
    for (const auto e : w.descendants(made)) {
        EXPECT_FALSE(w.template has<std::string>(e));
        EXPECT_FALSE(w.template has<likes>(e));
    }
    EXPECT_EQ(w.template get<position>(*w.children(made).begin()).x, 2);
    EXPECT_EQ(list_of(w.children(bob)), this->ids(car.root));
    EXPECT_EQ(w.parent(w.clone_tree(car.root)), bob);  // a link to the outside is kept
    const auto many = w.clone_trees(3, car.root, position{8}, to(child_of, race));
    EXPECT_EQ(list_of(w.children(race)), this->ids(made, many[0], many[1], many[2]));
    for (const auto e : many) {
        EXPECT_EQ(w.template get<position>(e).x, 8);
        EXPECT_EQ(this->tree(e).size(), 5u);
    }
    for (const auto e : w.clone_trees(2, car.root, to<likes>(bob, likes{7}), to<likes>(race))) {
        EXPECT_EQ(w.template link<likes>(e, bob).strength, 7);
        EXPECT_TRUE(w.template related<likes>(e, race));
        EXPECT_EQ(w.parent(e), bob);
    }
}

TYPED_TEST(trees_of, values_that_cannot_be_copied_can_be_given) {
    auto& w = this->world_;
    const auto car = this->make_car();
    const auto made = w.clone_tree(car.root, unique_owner{std::make_unique<int>(5)});
    EXPECT_EQ(*w.template get<unique_owner>(made).value, 5);
    const auto size = w.size();
    w.set(car.hat, unique_owner{});
    EXPECT_EQ(code_of([&] { (void)w.clone_tree(car.root); }), errc::not_copyable);
    EXPECT_EQ(code_of([&] { (void)w.clone_trees(3, car.root); }), errc::not_copyable);
    EXPECT_EQ(w.size(), size);
    w.template define<unique_owner>().unique();
    EXPECT_EQ(this->tree(w.clone_tree(car.root)).size(), 5u);
}

TYPED_TEST(trees_of, links_inside_lead_to_copies_and_links_outside_are_kept) {
    auto& w = this->world_;
    const auto car = this->make_car();
    const auto bob = w.spawn();
    w.template relate<aims_at>(car.left, car.right);  // forwards
    w.template relate<aims_at>(car.right, car.root);  // backwards
    w.template relate<aims_at>(car.hat, car.hat);
    w.template relate<aims_at>(car.driver, bob);
    w.template relate<aims_at>(bob, car.driver);
    w.template relate<likes>(car.driver, bob, likes{1});
    w.template relate<likes>(car.driver, car.right, likes{2});
    w.template relate<likes>(car.driver, car.driver, likes{3});
    w.template relate<named_link>(car.root, car.hat, named_link{"another text of some length"});
    w.template relate<likes>(bob, car.root, likes{9});
    for (const bool is_bulk : {false, true})
        for (const auto root :
             is_bulk ? w.clone_trees(2, car.root) : this->ids(w.clone_tree(car.root))) {
            const auto all = this->tree(root);
            const auto left = all[1], driver = all[2], hat = all[3], right = all[4];
            EXPECT_EQ(w.template target<aims_at>(left), right);
            EXPECT_EQ(w.template target<aims_at>(right), root);
            EXPECT_EQ(w.template target<aims_at>(hat), hat);
            EXPECT_EQ(w.template target<aims_at>(driver), bob);
            EXPECT_EQ(list_of(w.template sources<aims_at>(right)), this->ids(left));
            EXPECT_EQ(list_of(w.template sources<aims_at>(driver)), this->ids());
            EXPECT_EQ(list_of(w.template targets<likes>(driver)), this->ids(bob, right, driver));
            EXPECT_EQ(w.template link<likes>(driver, right).strength, 2);
            EXPECT_EQ(w.template link<named_link>(root, hat).text, "another text of some length");
            EXPECT_EQ(list_of(w.template sources<likes>(root)), this->ids());
        }
    EXPECT_EQ(w.template target<aims_at>(bob), car.driver);
    EXPECT_EQ(w.template sources<aims_at>(bob).size(), 4u);
    EXPECT_EQ(list_of(w.template sources<likes>(car.root)), this->ids(bob));
}

TYPED_TEST(trees_of, exclusive_links_are_copied_in_bulk) {
    auto& w = this->world_;
    const auto car = this->make_car();
    w.template relate<aims_at>(car.left, car.hat);  // created later
    w.template relate<aims_at>(car.hat, car.left);
    const auto all = w.clone_trees(50, car.root);
    ASSERT_EQ(all.size(), 50u);
    for (const auto root : all) {
        const auto tree = this->tree(root);
        ASSERT_EQ(tree.size(), 5u);
        EXPECT_EQ(w.template target<aims_at>(tree[1]), tree[3]);
        EXPECT_EQ(w.template target<aims_at>(tree[3]), tree[1]);
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(w.template get<position>(tree[static_cast<std::size_t>(i)]).x, i + 1);
    }
    for (const auto root : all) w.destroy(root);
    EXPECT_EQ(this->tree(car.root).size(), 5u);
    EXPECT_EQ(w.clone_trees(0, car.root).size(), 0u);
}

TYPED_TEST(trees_of, entities_without_components_are_copied) {
    auto& w = this->world_;
    const auto root = w.spawn(prefab), child = w.spawn(to(child_of, root));
    w.template relate<aims_at>(child, root);
    for (const auto e : w.clone_trees(3, root)) {
        EXPECT_EQ(this->tree(e).size(), 2u);
        EXPECT_EQ(w.template sources<aims_at>(e).size(), 1u);
    }
    const auto lone = w.spawn(position{3});
    EXPECT_EQ(w.template get<position>(w.clone_tree(lone)).x, 3);
    EXPECT_EQ(w.template get<position>(w.clone_trees(2, lone)[1]).x, 3);
    EXPECT_EQ(this->tree(w.clone_tree(w.spawn())).size(), 1u);
}

TYPED_TEST(trees_of, ids_in_components_are_translated) {
    using handle = handle_of<TypeParam>;
    using map_type = basic_entity_map<TypeParam>;
    auto& w = this->world_;
    for (const bool is_sparse : {false, true}) {
        basic_world<TypeParam> other;
        (void)other;
        const auto car = this->make_car();
        const auto bob = w.spawn();
        const auto slot = w.template fragment<handle>(is_sparse ? "sparse" : "dense");
        if (is_sparse) w.define(slot).sparse();
        w.define(slot.id()).remap([](void* value, const map_type& map) {
            auto& made = *static_cast<handle*>(value);
            made.to = map(made.to);
        });
        w.template define<handle>().remap([](handle& h, const map_type& map) { h.to = map(h.to); });
        w.set(car.hat, handle{car.right}, with(slot, handle{car.root}));
        w.set(car.right, handle{bob}, with(slot, handle{}));
        w.set(car.root, handle{car.hat});
        auto roots = w.clone_trees(3, car.root);
        roots.push_back(w.clone_tree(car.root));
        for (const auto root : roots) {
            const auto all = this->tree(root);
            EXPECT_EQ(w.template get<handle>(all[3]).to, all[4]);
            EXPECT_EQ(w.template get<handle>(all[3], slot).to, root);
            EXPECT_EQ(w.template get<handle>(all[4]).to, bob);
            EXPECT_FALSE(w.template get<handle>(all[4], slot).to);
            EXPECT_EQ(w.template get<handle>(root).to, all[3]);
        }
        // A given value is stored as it is.
        const auto root = w.clone_tree(car.root, handle{car.left});
        EXPECT_EQ(w.template get<handle>(root).to, car.left);
        EXPECT_EQ(w.template get<handle>(w.clone_trees(2, car.root, handle{car.left})[1]).to,
                  car.left);
        EXPECT_EQ(w.template get<handle>(w.clone(car.root)).to, car.hat);  // clones no tree
    }
}

TYPED_TEST(trees_of, a_translation_that_throws_leaves_nothing) {
    using handle = handle_of<TypeParam>;
    using map_type = basic_entity_map<TypeParam>;
    auto& w = this->world_;
    const auto car = this->make_car();
    int left = 0;
    w.template define<handle>().remap([&](handle& h, const map_type& map) {
        if (left-- == 0) throw std::runtime_error("no");
        h.to = map(h.to);
    });
    w.set(car.hat, handle{car.right});
    w.set(car.right, handle{car.hat});
    const auto size = w.size();
    for (left = 0; left < 2;) {
        const int now = left;
        EXPECT_THROW((void)w.clone_tree(car.root), std::runtime_error);
        left = now;
        EXPECT_THROW((void)w.clone_trees(3, car.root), std::runtime_error);
        left = now + 1;
        EXPECT_EQ(w.size(), size);
        EXPECT_EQ(w.template sources<child_of_t>(car.root).size(), 3u);
    }
}

TYPED_TEST(trees_of, scopes_record_the_copies) {
    auto& w = this->world_;
    const auto car = this->make_car();
    const auto size = w.size();
    w.defer();
    w.set(car.left, position{20});
    const auto made = w.clone_tree(car.root, position{7});
    const auto many = w.clone_trees(2, car.root, to(child_of, made));
    EXPECT_TRUE(w.alive(made));
    EXPECT_EQ(w.children(made).size(), 0u);
    w.commit();
    EXPECT_EQ(this->tree(made).size(), 15u);
    EXPECT_EQ(w.template get<position>(made).x, 7);
    EXPECT_EQ(w.template get<position>(this->tree(made)[1]).x, 20);
    EXPECT_EQ(w.parent(many[1]), made);
    w.destroy(made);
    w.defer();
    (void)w.clone_tree(car.root);
    (void)w.clone_trees(2, car.root);
    w.cancel();
    EXPECT_EQ(w.size(), size);
    w.defer();
    w.template relate<named_link>(car.root, car.left);
    w.template unrelate<named_link>(car.root, car.right);
    w.template unrelate<named_link>(car.left, car.right);
    const auto linked = w.clone_tree(car.root);
    w.commit();
    EXPECT_EQ(w.template target<named_link>(linked), this->tree(linked)[1]);
}

TYPED_TEST(trees_of, hooks_see_parents_before_their_children) {
    auto& w = this->world_;
    const auto car = this->make_car();
    using any_id = basic_id<TypeParam>;
    std::vector<any_id> seen;
    w.on_relate(child_of, [&](any_id e, any_id, any_id parent) {
        EXPECT_TRUE(w.alive(parent));
        EXPECT_EQ(w.parent(e), parent);
        seen.push_back(e);
    });
    int inserted = 0, created = 0;
    w.template on_insert<position>([&] { ++inserted; });
    w.on_spawn([&] { ++created; });
    const auto made = w.clone_tree(car.root);
    auto all = this->tree(made);
    all.erase(all.begin());
    EXPECT_EQ(seen, all);
    EXPECT_EQ(inserted, 4);
    EXPECT_EQ(created, 5);
    seen.clear();
    const auto many = w.clone_trees(3, car.root);
    EXPECT_EQ(seen.size(), 12u);
    EXPECT_EQ(inserted, 16);
    EXPECT_EQ(created, 20);
    for (const auto root : many)
        for (const auto e : w.descendants(root)) EXPECT_EQ(std::ranges::count(seen, e), 1);
}

TYPED_TEST(trees_of, a_hook_that_throws_leaves_nothing) {
    auto& w = this->world_;
    const auto car = this->make_car();
    const auto size = w.size();
    int calls = 0, wanted = 0;
    const auto trouble = [&] {
        if (++calls == wanted) throw std::runtime_error("no");
    };
    w.template on_insert<position>(trouble);
    w.on_relate(child_of, trouble);
    for (const bool is_bulk : {false, true})
        for (wanted = 1; wanted <= (is_bulk ? 16 : 8); ++wanted) {
            calls = 0;
            EXPECT_THROW(is_bulk ? void(w.clone_trees(2, car.root)) : void(w.clone_tree(car.root)),
                         std::runtime_error);
            EXPECT_EQ(w.size(), size) << wanted;
            EXPECT_EQ(w.children(car.root).size(), 3u);
        }
    wanted = 0;
    EXPECT_EQ(this->tree(w.clone_trees(2, car.root)[1]).size(), 5u);
}

TYPED_TEST(trees_of, a_hook_may_copy_trees_and_destroy_copies) {
    auto& w = this->world_;
    const auto car = this->make_car();
    using any_id = basic_id<TypeParam>;
    const auto other = w.spawn(label{"tree"}), leaf = w.spawn(to(child_of, other));
    (void)leaf;
    any_id made{}, doomed{};
    auto hook = w.on_relate(child_of, [&](any_id e) {
        if (!made && w.template has<position>(e)) made = w.clone_tree(other, to(child_of, e));
    });
    const auto root = w.clone_tree(car.root);
    EXPECT_EQ(this->tree(root).size(), 7u);
    EXPECT_TRUE(w.is_below(made, root));
    hook.disconnect();
    w.template on_insert<label>([&](any_id e) {
        if (!doomed) w.destroy(doomed = e);
    });
    const auto many = w.clone_trees(2, car.root);
    EXPECT_EQ(doomed, many[0]);
    EXPECT_FALSE(w.alive(many[0]));
    EXPECT_EQ(this->tree(many[1]).size(), 5u);
}

TYPED_TEST(trees_of, observers_see_all_copies) {
    auto& w = this->world_;
    const auto car = this->make_car();
    basic_observer<TypeParam> added = w.observer().template added<position>();
    (void)w.clone_trees(3, car.root);
    EXPECT_EQ(added.size(), 12u);
}

TYPED_TEST(trees_of, sparse_components_are_copied) {
    auto& w = this->world_;
    w.template define<label>().sparse();
    const auto car = this->make_car();
    for (const auto root : w.clone_trees(3, car.root, std::string("given"))) {
        const auto all = this->tree(root);
        ASSERT_EQ(all.size(), 5u);
        EXPECT_EQ(w.template get<label>(all[3]).text, "hat");
        EXPECT_EQ(w.template get<std::string>(root), "given");
    }
}

TYPED_TEST(trees_of, dead_null_and_foreign_ids_are_refused) {
    auto& w = this->world_;
    const auto car = this->make_car();
    const auto dead = w.spawn();
    w.destroy(dead);
    basic_world<TypeParam> other;
    const auto foreign = other.spawn();
    const auto size = w.size();
    using any_id = basic_id<TypeParam>;
    for (const auto e : {dead, any_id{}}) {
        EXPECT_EQ(code_of([&] { (void)w.clone_tree(e); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { (void)w.clone_trees(2, e); }), errc::dead_entity);
        EXPECT_EQ(code_of([&] { (void)w.clone_tree(car.root, to(child_of, e)); }),
                  errc::dead_entity);
        EXPECT_EQ(code_of([&] { (void)w.clone_trees(2, car.root, to<likes>(e)); }),
                  errc::dead_entity);
    }
    if (TypeParam::world_bits != 0) {
        EXPECT_EQ(code_of([&] { (void)w.clone_tree(foreign); }), errc::foreign_entity);
        EXPECT_EQ(code_of([&] { (void)w.clone_tree(car.root, to(child_of, foreign)); }),
                  errc::foreign_entity);
    }
    EXPECT_EQ(code_of([&] { (void)w.clone_tree(car.root, to<position>(car.left)); }),
              errc::not_a_relation);
    EXPECT_EQ(w.size(), size);
}

TYPED_TEST(trees_of, a_count_beyond_all_ids_is_refused) {
    auto& w = this->world_;
    const auto car = this->make_car();
    const auto size = w.size();
    for (const std::size_t count : {~std::size_t{0}, ~std::size_t{0} / 5})
        EXPECT_TRUE(code_of([&] { (void)w.clone_trees(count, car.root); }));
    EXPECT_EQ(w.size(), size);
}

TEST(tree, a_chain_of_60000_is_copied_without_recursion) {
    world w;
    const entity root = w.spawn(position{0});
    entity last = root;
    for (int i = 1; i < 60'000; ++i) last = w.spawn(position{i}, to(child_of, last));
    for (const entity made : {w.clone_tree(root), w.clone_trees(2, root)[1]}) {
        int count = 0;
        for (const entity e : w.descendants(made)) EXPECT_EQ(w.get<position>(e).x, ++count);
        EXPECT_EQ(count, 59'999);
        w.destroy(made);
    }
}

/// Random forests with random links: each copy must have the shape of its prototype.
TEST(tree, random_trees_are_copied_like_a_model) {
    struct handle {
        entity to;
    };
    for (unsigned seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        world w;
        w.define<likes>().relation();
        w.define<aims_at>().relation().exclusive();
        w.define<handle>().remap([](handle& h, const entity_map& map) { h.to = map(h.to); });
        if (seed % 3 == 0) w.define<handle>().sparse();
        std::vector<entity> all;
        for (int i = 0; i < 20; ++i) {
            all.push_back(w.spawn());
            if (below(2) != 0) w.set(all.back(), position{i});
            if (i != 0 && below(5) != 0) w.relate(child_of, all.back(), all[below(all.size() - 1)]);
        }
        for (int i = 0; i < 30; ++i) {
            const entity from = all[below(all.size())], to = all[below(all.size())];
            if (seed % 2 != 0) w.relate<likes>(from, to, likes{i});
            if (below(2) != 0) w.relate<aims_at>(from, to);
            if (below(3) == 0) w.set(from, handle{to});
        }
        const entity root = all[below(all.size())];
        std::vector<entity> nodes{root};
        for (const entity e : w.descendants(root)) nodes.push_back(e);
        std::vector<entity> roots = w.clone_trees(3, root);
        roots.push_back(w.clone_tree(root));
        w.defer();
        roots.push_back(w.clone_tree(root));
        w.commit();
        for (const entity made : roots) {
            std::vector<entity> copies{made};
            for (const entity e : w.descendants(made)) copies.push_back(e);
            ASSERT_EQ(copies.size(), nodes.size());
            std::map<std::uint64_t, entity> to;
            for (std::size_t i = 0; i < nodes.size(); ++i) to[nodes[i].value()] = copies[i];
            const auto copy_of = [&](entity e) {
                const auto found = to.find(e.value());
                return found != to.end() ? found->second : e;
            };
            for (std::size_t i = 0; i < nodes.size(); ++i) {
                const entity from = nodes[i], copy = copies[i];
                EXPECT_EQ(w.parent(copy), copy_of(w.parent(from)));
                EXPECT_EQ(w.target<aims_at>(copy), copy_of(w.target<aims_at>(from)));
                ASSERT_EQ(w.has<position>(copy), w.has<position>(from));
                if (w.has<position>(from))
                    EXPECT_EQ(w.get<position>(copy).x, w.get<position>(from).x);
                ASSERT_EQ(w.has<handle>(copy), w.has<handle>(from));
                if (w.has<handle>(from))
                    EXPECT_EQ(w.get<handle>(copy).to, copy_of(w.get<handle>(from).to));
                std::vector<entity> wanted;
                for (const entity e : w.targets<likes>(from)) {
                    wanted.push_back(copy_of(e));
                    EXPECT_EQ(w.link<likes>(copy, copy_of(e)).strength,
                              w.link<likes>(from, e).strength);
                }
                EXPECT_EQ(list_of(w.targets<likes>(copy)), wanted);
                std::vector<entity> children;
                for (const entity e : w.children(from)) children.push_back(copy_of(e));
                std::erase_if(children,
                              [&](entity e) { return std::ranges::count(copies, e) == 0; });
                EXPECT_EQ(list_of(w.children(copy)), children);
            }
        }
    }
}

}  // namespace
}  // namespace muster::test
