// A small room that lets entities inherit values from a prototype.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/room_world.hpp"

namespace muster::test {
namespace {

struct mass {
    int kilograms = 0;
};
struct heavy {};
struct name_tag {
    std::string text;
};

template <class Layout>
struct inheritance : testing::Test {
    using id_type = basic_id<Layout>;
    room_world<Layout> owner;
    std::map<std::uint64_t, const void*> inherited;  // by entity
    int asked = 0;

    detail::fragment_data& data_of(id_type f) { return owner.parts().catalog.open(f.value()); }
    void inherit(id_type f) {
        data_of(f).fallback = {[](void* context, std::uint64_t e) -> const void* {
                                   auto& self = *static_cast<inheritance*>(context);
                                   ++self.asked;
                                   const auto found = self.inherited.find(e);
                                   return found == self.inherited.end() ? nullptr : found->second;
                               },
                               this};
    }
};

TYPED_TEST_SUITE(inheritance, behavior_layouts, layout_names);

template <class World>
void expect_like_plain(World& w, auto has, auto has_not) {
    EXPECT_EQ(&w.template get<const mass>(has), &w.template get<mass>(has));
    EXPECT_EQ(w.template try_get<const mass>(has), w.template try_get<mass>(has));
    EXPECT_TRUE(w.template has<const mass>(has));
    EXPECT_EQ(w.template try_get<const mass>(has_not), nullptr);
    EXPECT_FALSE(w.template has<const mass>(has_not));
    EXPECT_EQ(code_of([&] { (void)w.template get<const mass>(has_not); }), errc::missing_component);
    EXPECT_EQ(sentence_of([&] { (void)w.template get<const mass>(has_not); }).substr(0, 20),
              sentence_of([&] { (void)w.template get<mass>(has_not); }).substr(0, 20));
    static_assert(std::is_same_v<decltype(w.template get<const mass>(has)), const mass&>);
    static_assert(std::is_same_v<decltype(w.template try_get<const mass>(has)), const mass*>);
}

TYPED_TEST(inheritance, const_forms_equal_the_plain_forms_without_a_fallback) {
    auto& w = this->owner;
    const auto has = w.spawn(mass{1}), has_not = w.spawn(heavy{});
    const auto& seen = w;
    expect_like_plain(w, has, has_not);
    expect_like_plain(seen, has, has_not);
    w.template define<name_tag>().sparse();
    const auto e = w.spawn(name_tag{"a"});
    EXPECT_EQ(&w.template get<const name_tag>(e), &w.template get<name_tag>(e));
    EXPECT_FALSE(w.template has<const name_tag>(has));
    EXPECT_FALSE((w.template has_any<const name_tag, const mass>(e) &&
                  w.template has_all<const name_tag, const mass>(e)));
}

TYPED_TEST(inheritance, const_forms_show_the_value_of_the_fallback) {
    auto& w = this->owner;
    const auto own = w.spawn(mass{1}), heir = w.spawn(heavy{}), other = w.spawn();
    this->inherit(w.template component<mass>());
    const mass shown{70};
    this->inherited[heir.value()] = &shown;
    const auto& seen = w;
    EXPECT_EQ(&w.template get<const mass>(heir), &shown);
    EXPECT_EQ(&seen.template get<const mass>(heir), &shown);
    EXPECT_EQ(seen.template try_get<const mass>(heir), &shown);
    EXPECT_TRUE(seen.template has<const mass>(heir));
    EXPECT_FALSE(w.template has<const mass>(other));
    EXPECT_EQ(code_of([&] { (void)w.template get<const mass>(other); }), errc::missing_component);
    const auto [one, two] = w.template try_get<const mass, heavy>(heir);
    EXPECT_EQ(one, &shown);
    EXPECT_NE(two, nullptr);
    this->asked = 0;
    EXPECT_EQ(w.template get<const mass>(own).kilograms, 1);
    EXPECT_EQ(this->asked, 0);  // an own value needs no fallback
}

TYPED_TEST(inheritance, plain_forms_never_read_the_fallback) {
    auto& w = this->owner;
    const auto heir = w.spawn();
    this->inherit(w.template component<mass>());
    const mass shown{70};
    this->inherited[heir.value()] = &shown;
    const auto& seen = w;
    EXPECT_EQ(w.template try_get<mass>(heir), nullptr);
    EXPECT_EQ(seen.template try_get<mass>(heir), nullptr);
    EXPECT_FALSE(w.template has<mass>(heir));
    EXPECT_EQ(code_of([&] { (void)w.template get<mass>(heir); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { (void)seen.template get<mass>(heir); }), errc::missing_component);
    EXPECT_TRUE(w.template add<mass>(heir));
    EXPECT_EQ(w.template query<const mass>().count(), 1u);
    EXPECT_EQ(this->asked, 0);
}

TYPED_TEST(inheritance, dead_null_and_foreign_ids_inherit_nothing) {
    auto& w = this->owner;
    const auto dead = w.spawn();
    w.destroy(dead);
    this->inherit(w.template component<mass>());
    const mass shown{70};
    this->inherited[dead.value()] = &shown;
    this->inherited[basic_id<TypeParam>{}.value()] = &shown;
    for (const auto e : {dead, basic_id<TypeParam>{}}) {
        EXPECT_EQ(w.template try_get<const mass>(e), nullptr);
        EXPECT_FALSE(w.template has<const mass>(e));
        EXPECT_EQ(code_of([&] { (void)w.template get<const mass>(e); }), errc::dead_entity);
    }
    EXPECT_EQ(this->asked, 0);
}

TYPED_TEST(inheritance, tags_and_sparse_fragments_are_inherited_too) {
    auto& w = this->owner;
    const auto heir = w.spawn(mass{1}), other = w.spawn();
    w.template define<name_tag>().sparse();
    this->inherit(w.template component<heavy>());
    this->inherit(w.template component<name_tag>());
    const name_tag shown{"inherited"};
    this->inherited[heir.value()] = &shown;
    EXPECT_TRUE(w.template has<const heavy>(heir));
    EXPECT_FALSE(w.template has<heavy>(heir));
    EXPECT_EQ(w.template get<const name_tag>(heir).text, "inherited");
    EXPECT_EQ(w.template try_get<name_tag>(heir), nullptr);
    EXPECT_FALSE(w.template has<const heavy>(other));
    w.set(heir, name_tag{"own"});
    EXPECT_EQ(w.template get<const name_tag>(heir).text, "own");
}

TYPED_TEST(inheritance, fragments_made_at_run_time_are_inherited_too) {
    auto& w = this->owner;
    const auto f = w.template fragment<mass>("weight");
    const auto heir = w.spawn();
    this->inherit(f);
    const mass shown{70};
    this->inherited[heir.value()] = &shown;
    EXPECT_EQ(&w.template get<const mass>(heir, f), &shown);
    EXPECT_EQ(w.template try_get<const mass>(heir, f), &shown);
    EXPECT_EQ(w.template try_get<mass>(heir, f), nullptr);
    EXPECT_EQ(w.template try_get<const heavy>(heir, f), nullptr);  // another type
    EXPECT_EQ(code_of([&] { (void)w.template get<mass>(heir, f); }), errc::missing_component);
}

}  // namespace
}  // namespace muster::test
