// A small room with fragments of its own: links from entities to entities, one fragment per target.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/room_world.hpp"

namespace muster::test {
namespace {

using detail::change;
using detail::fragment_data;
using detail::fragment_key;

struct link {
    int strength = 0;
};
struct position {
    int x = 0;
};

template <class Layout>
struct room : testing::Test {
    using id_type = basic_id<Layout>;
    room_world<Layout> owner;

    fragment_data& likes(id_type whom) {
        return owner.parts().catalog.ensure_internal(
            {1, whom.value(), 0}, detail::type_info_of<link>, "likes " + to_string(whom));
    }
    void relate(id_type e, id_type whom, int strength) {
        link value{strength};
        change put{.fragment = {likes(whom).id},
                   .type = {&detail::type_info_of<link>, detail::no_type},
                   .self = &value,
                   .construct = &detail::copy_construct<link>};
        owner.parts().changes.submit({{e.value(), {}}, {&put, 1}, "relate"});
    }
    const link* find(id_type e, id_type whom) {
        return static_cast<const link*>(owner.try_get_raw(e, owner.parts().id_of(likes(whom))));
    }
};

TYPED_TEST_SUITE(room, behavior_layouts, layout_names);

TYPED_TEST(room, stores_values_in_chunks_by_key) {
    auto& w = this->owner;
    const auto bob = w.spawn(position{1}), eve = w.spawn(position{2});
    this->relate(bob, eve, 3);
    this->relate(eve, bob, 4);
    this->relate(bob, bob, 5);
    EXPECT_EQ(this->find(bob, eve)->strength, 3);
    EXPECT_EQ(this->find(eve, bob)->strength, 4);
    EXPECT_EQ(this->find(bob, bob)->strength, 5);
    EXPECT_EQ(this->find(eve, eve), nullptr);
    EXPECT_EQ(w.template get<position>(bob).x, 1);
    w.defer();
    this->relate(eve, eve, 6);
    w.commit();
    EXPECT_EQ(this->find(eve, eve)->strength, 6);
}

TYPED_TEST(room, its_fragments_are_no_entities_of_the_user) {
    auto& w = this->owner;
    const auto bob = w.spawn(), eve = w.spawn();
    this->relate(bob, eve, 1);
    EXPECT_EQ(w.size(), 2u);
    EXPECT_EQ(std::vector(w.entities().begin(), w.entities().end()), (std::vector{bob, eve}));
    EXPECT_EQ(w.destroy_if([](auto) { return true; }), 2u);
    const fragment_data* const kept = w.parts().fragments.find(fragment_key{1, eve.value(), 0});
    ASSERT_NE(kept, nullptr);
    w.reset();
    EXPECT_EQ(&this->likes(eve), kept);
    EXPECT_EQ(w.size(), 0u);
    EXPECT_TRUE(w.define(w.parts().id_of(*kept)).is_internal());
}

TYPED_TEST(room, messages_and_lists_name_its_fragments) {
    auto& w = this->owner;
    const auto bob = w.spawn(), eve = w.spawn();
    this->relate(bob, eve, 1);
    const auto f = w.parts().id_of(this->likes(eve));
    std::vector<basic_id<TypeParam>> seen;
    w.each_fragment(bob, [&](auto fragment, const void*) { seen.push_back(fragment); });
    EXPECT_EQ(seen, std::vector{f});
    const std::string sentence = sentence_of([&] { (void)w.template get<position>(bob); });
    EXPECT_NE(sentence.find("it has likes " + to_string(eve)), std::string::npos) << sentence;
    // A value of a C++ type is not one of its links.
    EXPECT_EQ(code_of([&] { w.set(eve, f, link{1}); }), errc::type_mismatch);
    EXPECT_EQ(w.template try_get<link>(bob, f), nullptr);
}

TYPED_TEST(room, destroying_its_fragment_removes_it_from_its_owners) {
    auto& w = this->owner;
    const auto bob = w.spawn(position{1}), eve = w.spawn();
    this->relate(bob, eve, 1);
    w.defer();
    this->relate(eve, eve, 2);  // pending: dropped with its fragment
    w.destroy(w.parts().id_of(this->likes(eve)));
    (void)code_of([&] { w.commit(); });
    EXPECT_EQ(w.parts().fragments.find(fragment_key{1, eve.value(), 0}), nullptr);
    EXPECT_EQ(w.template get<position>(bob).x, 1);
    EXPECT_EQ(this->find(bob, eve), nullptr);
    this->relate(bob, eve, 7);
    EXPECT_EQ(this->find(bob, eve)->strength, 7);
    EXPECT_EQ(w.size(), 2u);
}

}  // namespace
}  // namespace muster::test
