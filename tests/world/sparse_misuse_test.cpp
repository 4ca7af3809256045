// Wrong uses of sparse fragments: hooks and values that change the world, and calls at the wrong time.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/sparse_kinds.hpp"

namespace muster {
namespace {

using namespace test::sparse_kinds;
using test::code_of;
using test::counted;
using test::over_aligned;

// ---- definitions that come too late or too early -----------------------------------------------

/// One layout: these tests do not depend on it.
struct sparse_misuse : testing::Test {
    sparse_world<layouts::bound> w;
    ~sparse_misuse() override { EXPECT_EQ(counted::count.misused, 0); }

    template <class... Ts>
    std::size_t found() {
        std::size_t count = 0;
        std::set<entity> seen;
        for (const auto& row : w.query<Ts...>()) seen.insert(std::get<0>(row)), ++count;
        EXPECT_EQ(seen.size(), count);
        EXPECT_EQ(w.query<Ts...>().count(), count);
        return count;
    }
};

TEST_F(sparse_misuse, a_fragment_that_an_entity_has_cannot_become_sparse) {
    const entity e = w.spawn(place{});
    EXPECT_EQ(code_of([&] { w.define<place>().sparse(); }), errc::fragment_in_use);
    EXPECT_FALSE(w.define<place>().is_sparse());
    w.remove<place>(e);
    w.defer();  // the chunk still exists
    EXPECT_EQ(code_of([&] { w.define<place>().sparse(); }), errc::in_scope);
    w.commit();
    w.define<place>().sparse().sparse();
    w.set(e, place{4});
    EXPECT_EQ(w.get<place>(e).x, 4);
    EXPECT_FALSE(w.locate(e).chunk);
    EXPECT_EQ(w.query<place>().count(), 1u);
}

TEST_F(sparse_misuse, a_fragment_with_a_pending_value_cannot_become_sparse) {
    const entity e = w.spawn();
    const entity tag = w.tag();
    w.defer();
    w.set(e, speed{1});
    w.set(e, tag);
    EXPECT_EQ(code_of([&] { w.define<speed>().sparse(); }), errc::fragment_in_use);
    EXPECT_EQ(code_of([&] { w.define(tag).sparse(); }), errc::fragment_in_use);
    w.commit();
    EXPECT_TRUE(w.has<speed>(e) && w.has(e, tag));
}

TEST_F(sparse_misuse, a_fragment_may_become_sparse_in_a_loop) {
    const auto all = w.spawn_many(5, place{1});
    const auto old = w.query<place>().without<speed>();
    const auto maybe = w.query<place, speed*>();
    EXPECT_EQ(old.count(), 5u);
    int turns = 0;
    w.query<place>().each([&](entity e, place&) {
        if (turns++ == 0) w.define<speed>().sparse();
        w.set(e, speed{turns});
    });
    EXPECT_EQ(w.count<speed>(), 5u);
    EXPECT_EQ(old.count(), 0u);
    int with_speed = 0;
    maybe.each([&](place&, speed* value) { with_speed += value != nullptr ? 1 : 0; });
    EXPECT_EQ(with_speed, 5);
}

TEST_F(sparse_misuse, a_fragment_with_a_pending_batch_cannot_become_sparse) {
    struct late {
        int value = 0;
    };
    w.spawn_many(5, place{1});
    w.defer();
    w.query<place>().set(late{3});
    EXPECT_EQ(code_of([&] { w.define<late>().sparse(); }), errc::fragment_in_use);
    EXPECT_FALSE(w.define<late>().is_sparse());
    w.commit();
    EXPECT_EQ(w.count<late>(), 5u);
    int sum = 0;
    w.query<late>().each([&](late& value) { sum += value.value; });
    EXPECT_EQ(sum, 15);
}

TEST_F(sparse_misuse, a_hook_cannot_make_a_fragment_of_its_change_sparse) {
    std::optional<errc> code;
    w.on_insert<place>([&] { code = code_of([&] { w.define<place>().sparse(); }); });
    w.on_remove<place>([&] { code = code_of([&] { w.define<speed>().sparse(); }); });
    const entity e = w.spawn(place{1});
    EXPECT_EQ(code, errc::fragment_in_use);
    code.reset();
    w.defer();
    w.remove<place>(e);
    w.set(e, speed{2});
    w.commit();
    EXPECT_EQ(code, errc::fragment_in_use);
    EXPECT_EQ(w.get<speed>(e).value, 2);
    w.remove<speed>(e);
    w.set(e, place{});
    w.collect_garbage();
    code.reset();
    w.defer();
    w.set(e, speed{3});
    w.remove<speed>(e);
    w.remove<place>(e);
    w.commit();
    EXPECT_EQ(code, errc::fragment_in_use);
    EXPECT_EQ(w.count<speed>(), 0u);
    w.set(e, speed{4});
    EXPECT_EQ(w.get<speed>(e).value, 4);
}

TEST_F(sparse_misuse, an_untyped_id_may_become_sparse_before_it_has_a_type) {
    const auto [a, b, c, e, other] = w.ids<5>();
    w.define(a).sparse();
    w.define(b).sparse();
    w.define(c).sparse().hidden();
    w.set(e, a, std::string("a text that needs memory of its own"));
    EXPECT_EQ(w.get<std::string>(e, a), "a text that needs memory of its own");
    EXPECT_EQ(code_of([&] { w.set(e, a, 5); }), errc::type_mismatch);
    w.set(e, b);  // a tag
    EXPECT_TRUE(w.has(e, b));
    EXPECT_TRUE(w.define(a).is_sparse() && w.define(b).is_sparse());
    w.defer();
    w.set(e, c, counted(3));
    EXPECT_EQ(code_of([&] { w.set(other, c, 5); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.set(other, c); }), errc::type_mismatch);
    w.cancel();
    w.defer();
    w.set(e, c);  // a pending tag
    EXPECT_EQ(code_of([&] { w.set(other, c, 5); }), errc::type_mismatch);
    w.cancel();
    w.set(other, c, test::over_aligned{7});
    EXPECT_EQ(w.query<>().with(a).count(), 1u);
    EXPECT_EQ(counted::count.living, 0);
}

TEST_F(sparse_misuse, no_chunk_contains_a_sparse_fragment) {
    EXPECT_EQ(code_of([&] { w.chunk<burning>(); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { (w.chunk<burning, place>()); }), errc::missing_component);
    EXPECT_EQ(code_of([&] { w.chunk(w.component<stunned>(), w.component<place>()); }),
              errc::missing_component);
    w.reserve<burning, place>(100);
    w.reserve<stunned>(100);
    w.spawn(burning{}, place{});
    EXPECT_EQ(w.chunk<place>().size(), 1u);
}

TEST_F(sparse_misuse, sorting_refuses_other_fragments_and_open_scopes) {
    const auto by_heat = [](const burning& a, const burning& b) { return a.heat < b.heat; };
    w.spawn_many(10, burning{1}, place{});
    EXPECT_EQ(code_of([&] { w.sort<place>([](auto&, auto&) { return false; }); }),
              errc::not_sparse);
    EXPECT_EQ(code_of([&] { (w.sort_like<place, burning>()); }), errc::not_sparse);
    w.defer();
    EXPECT_EQ(code_of([&] { w.sort<burning>(by_heat); }), errc::in_scope);
    w.cancel();
    int refused = 0;
    w.query<burning>().each([&](burning&) {
        refused += code_of([&] { w.sort<burning>(by_heat); }) == errc::in_scope ? 1 : 0;
    });
    EXPECT_EQ(refused, 10);
    int left = 7;
    const auto breaks = [&](const burning&, const burning&) -> bool {
        if (left-- == 0) throw std::runtime_error("no order");
        return false;
    };
    EXPECT_THROW(w.sort<burning>(breaks), std::runtime_error);
    EXPECT_EQ(code_of([&] {
                  w.sort<burning>([&](const burning&, const burning&) {
                      w.spawn(burning{});
                      return false;
                  });
              }),
              errc::in_scope);
    EXPECT_EQ(w.count<burning>(), 10u);
    w.sort_like<burning, burning>();
    w.sort_like<stunned, burning>();
    w.sort_like(w.component<burning>(), w.component<place>());
    const auto dead = w.tag();
    w.destroy(dead);
    EXPECT_EQ(code_of([&] { w.sort_like(w.component<burning>(), dead); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { w.sort_like(dead, w.component<burning>()); }), errc::dead_fragment);
}

// ---- hooks -------------------------------------------------------------------------------------

TEST_F(sparse_misuse, hooks_may_change_the_world) {
    int calls = 0;
    connection self;
    self = w.on_insert<burning>([&](entity e, burning& value) {
        ++calls;
        value.heat += 1;
        w.set(e, label{"burns"}, place{calls});
        w.remove<burning>(e);
        w.set(e, stunned{});
        w.spawn(label{"smoke"});
        if (calls == 3) self.disconnect();
    });
    for (int i = 0; i < 5; ++i) w.spawn(burning{i}, speed{i});
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(w.count<burning>(), 2u);
    EXPECT_EQ(w.count<label>(), 6u);
    EXPECT_EQ(w.count<stunned>(), 3u);
    EXPECT_EQ(found<label>(), 6u);
    EXPECT_EQ((found<stunned, place, label>()), 3u);
}

TEST_F(sparse_misuse, a_hook_may_destroy_its_entity_or_its_fragment) {
    const auto ends_entity = w.on_set<counted>([&](entity e) { w.destroy(e); });
    w.spawn(counted(1));
    w.spawn_many(3, counted(2), place{});
    w.set(w.spawn(), counted(3));
    w.add<counted>(w.spawn());
    w.query<place>().set(counted(4));
    EXPECT_EQ(w.size(), 0u);
    EXPECT_EQ(counted::count.living, 0);
    connection(ends_entity).disconnect();
    w.on_set<counted>([&] { w.destroy(w.component<counted>().id()); });
    w.spawn(counted(1));
    EXPECT_EQ(w.count<counted>(), 0u);
    EXPECT_EQ(w.size(), 1u);
    w.spawn_many(3, counted(2), place{});  // another fragment, without hooks
    EXPECT_EQ(counted::count.living, w.count<counted>());
}

TEST_F(sparse_misuse, a_hook_may_destroy_a_fragment_of_the_user) {
    const auto f = w.fragment<counted>("f");
    w.define(f).sparse();
    int calls = 0;
    w.on_remove(f, [&](entity, counted&) {
        ++calls;
        w.destroy(f.id());
    });
    const auto all = w.spawn_many(4, with(f, counted(1)), place{});
    w.remove(all[0], f);
    EXPECT_FALSE(w.alive(f.id()));
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(counted::count.living, 0);
    EXPECT_EQ(w.size(), 4u);
}

TEST_F(sparse_misuse, a_hook_that_throws_keeps_sparse_and_other_values) {
    w.on_insert<stunned>([](entity) { throw std::runtime_error("no"); });
    const entity e = w.spawn(counted(1), place{2});
    const counted* const where = &w.get<counted>(e);
    const auto refused = [&](auto call) {
        EXPECT_THROW(call(), std::runtime_error);
        EXPECT_EQ(w.size(), 1u);
        EXPECT_EQ(&w.get<counted>(e), where);
        EXPECT_EQ(where->value, 1);
        EXPECT_EQ(w.get<place>(e).x, 2);
        EXPECT_FALSE(w.has<speed>(e));
        EXPECT_FALSE(w.has<stunned>(e));
        EXPECT_EQ(counted::count.living, 1);
        EXPECT_EQ(found<place>(), 1u);
    };
    refused([&] { w.set(e, stunned{}); });
    refused([&] { w.set(e, stunned{}, counted(5), speed{}); });
    refused([&] { w.spawn(counted(2), stunned{}, place{}); });
    refused([&] { w.spawn_many(3, counted(2), stunned{}, place{}); });
    refused([&] { w.clone(e, stunned{}); });
    refused([&] { w.clone_many(3, e, stunned{}); });
    refused([&] { w.query<place>().set(stunned{}, counted(7), speed{1}); });
    refused([&] {
        w.defer();
        w.remove<place>(e);
        w.set(e, counted(9));
        w.add<stunned>(e);
        w.commit();
    });
    refused([&] {
        w.spawn_rows(
            2, [](const auto& rows) { rows.template components<counted>()[1].value = 7; },
            counted(2), stunned{});
    });
}

// ---- values ------------------------------------------------------------------------------------

struct looking;
std::function<void(const looking&)> when_it_ends;
std::function<void(const looking&)> when_copied;
/// Calls `when_it_ends` in its destructor and `when_copied` in its copy constructor.
struct looking {
    int value = 0;
    bool is_copy =
        false;  // originals are not in the world and call nothing when they are destroyed
    explicit looking(int number = 0) : value(number) {}
    looking(const looking& other) : value(other.value), is_copy(true) {
        if (when_copied) when_copied(*this);
    }
    looking(looking&& other) noexcept
        : value(other.value), is_copy(std::exchange(other.is_copy, false)) {}
    looking& operator=(const looking&) = delete;
    ~looking() {
        if (is_copy && when_it_ends) when_it_ends(*this);
    }
};

TEST_F(sparse_misuse, destructors_may_query_the_world_but_not_change_it) {
    w.define<looking>().sparse();
    const looking given(5);
    const auto all = w.spawn_many(6, given, place{3}, burning{2});
    int looked = 0;
    when_it_ends = [&](const looking&) {
        ++looked;
        for (const entity e : all) {
            if (const looking* const one = w.try_get<looking>(e)) EXPECT_LE(one->value, 9);
            if (w.alive(e) && w.has<place>(e)) EXPECT_EQ(w.get<place>(e).x, 3);
            if (w.alive(e) && w.has<burning>(e)) EXPECT_EQ(w.get<burning>(e).heat, 2);
        }
        EXPECT_LE(w.count<looking>(), 9u);
        EXPECT_EQ(code_of([&] { w.spawn(burning{}); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { w.set(all[5], burning{}); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { w.remove<looking>(all[5]); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { w.destroy(all[5]); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { w.define<speed>().sparse(); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { w.sort<burning>([](auto&, auto&) { return false; }); }),
                  errc::in_scope);
        EXPECT_EQ(code_of([&] { w.clear<looking>(); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { w.collect_garbage(); }), errc::in_scope);
    };
    w.remove<looking>(all[0]);
    w.destroy(all[1]);
    w.set(all[2], given);
    w.clear(all[3]);
    w.defer();
    w.set(all[4], given);
    w.cancel();
    w.query<place>().set(given);
    w.clear<looking>();
    w.set(all[4], given);
    w.destroy(w.component<looking>().id());
    w.define<looking>().sparse();
    w.set(all[4], given);
    w.reset();
    w.spawn(given);
    EXPECT_GE(looked, 10);
    when_it_ends = nullptr;
}

TEST_F(sparse_misuse, destructors_may_query_a_world_that_is_destroyed) {
    int looked = 0;
    {
        std::vector<entity> all;
        world other;
        other.define<looking>().sparse();
        all = other.spawn_many(3, looking(1), place{3});
        when_it_ends = [&](const looking&) {
            ++looked;
            for (const entity e : all) {
                EXPECT_FALSE(other.alive(e));
                EXPECT_EQ(other.try_get<looking>(e), nullptr);
                EXPECT_EQ(other.try_get<place>(e), nullptr);
            }
            EXPECT_EQ(code_of([&] { other.spawn(looking(1)); }), errc::in_scope);
        };
        looked = 0;
    }
    when_it_ends = nullptr;
    EXPECT_EQ(looked, 3);
}

TEST_F(sparse_misuse, copy_constructors_may_query_the_world) {
    w.define<looking>().sparse();
    const entity e = w.spawn(looking(1), place{});
    const looking original(2);
    int looked = 0;
    when_copied = [&](const looking&) {
        ++looked;
        EXPECT_EQ(w.count<looking>() >= 1, true);
        EXPECT_EQ(w.query<looking>().count(), w.count<looking>());
        EXPECT_NE(w.try_get<looking>(e), nullptr);
    };
    w.set(w.spawn(), original);
    w.set(e, original);
    w.clone(e);
    w.clone_many(3, e, burning{});
    w.spawn_many(3, original, place{});
    w.query<place>().set(original);
    w.defer();
    w.set(e, original);
    w.patch<looking>(e, [](looking& value) { value.value = 3; });
    w.commit();
    when_copied = nullptr;
    EXPECT_GE(looked, 12);
    EXPECT_EQ(w.get<looking>(e).value, 3);
}

TEST_F(sparse_misuse, values_may_be_copied_from_the_same_sparse_set) {
    std::vector<entity> all;
    all.push_back(w.spawn(label{"first of all, and long enough to need memory"}, counted(1)));
    for (std::size_t i = 0; i < 300; ++i) {
        const entity from = all[i / 2];
        if (i % 3 == 0)
            all.push_back(w.spawn(w.get<label>(from), w.get<counted>(from)));
        else if (i % 3 == 1)
            all.push_back(w.spawn_many(1, w.get<label>(from), w.get<counted>(from))[0]);
        else
            w.set(all.emplace_back(w.spawn(place{})), w.get<label>(from), w.get<counted>(from));
        w.set(from, w.get<label>(from));
        w.set(from, std::move(w.get<label>(from)));
        w.set(from, w.get<label>(all.back()), w.get<counted>(from));
    }
    for (const entity e : all) {
        EXPECT_EQ(w.get<label>(e).text, "first of all, and long enough to need memory");
        EXPECT_EQ(w.get<counted>(e).value, 1);
    }
    EXPECT_EQ(counted::count.living, 301);
    w.query<label>().set(w.get<label>(all[0]));

    w.set(all[1], label{"other"});
    w.set(all[1], std::move(w.get<label>(all[0])));
    EXPECT_EQ(w.get<label>(all[1]).text, "first of all, and long enough to need memory");
}

// ---- traits ------------------------------------------------------------------------------------

struct first {
    int value = 1;
};
struct second {
    int value = 2;
};
struct third {
    int value = 3;
};

TEST_F(sparse_misuse, needs_may_form_cycles_of_sparse_and_chunk_fragments) {
    w.define<first>().sparse().needs<second>();
    w.define<second>().needs<third, stunned>();
    w.define<third>().sparse().needs<first, place>();
    const auto complete = [&](entity e) {
        EXPECT_TRUE((w.has_all<first, second, third, stunned, place>(e)));
        EXPECT_EQ(w.get<first>(e).value + w.get<second>(e).value + w.get<third>(e).value, 6);
    };
    complete(w.spawn(first{}));
    complete(w.spawn(second{}));
    complete(w.spawn(third{}, burning{}));
    complete(w.spawn_many(2, first{})[1]);
    complete(w.spawn_many(2, second{})[1]);
    complete(w.builder().set(third{}).spawn());
    const entity e = w.spawn();
    w.add<third>(e);
    complete(e);
    w.remove<second>(e);
    EXPECT_FALSE(w.has<second>(e));
    w.set(e, third{});  // adds no fragment
    EXPECT_FALSE(w.has<second>(e));
    w.remove<first>(e);
    w.set(e, first{});
    complete(e);
    const entity partly = w.spawn(burning{});
    w.defer();
    w.add<first>(partly);
    w.remove<third>(partly);
    w.commit();
    EXPECT_TRUE((w.has_all<first, second, stunned, place>(partly)));
    EXPECT_FALSE(w.has<third>(partly));
    EXPECT_EQ(w.query<burning>().set(first{}), 2u);
    const auto bare = w.spawn_many(3, speed{});
    EXPECT_EQ(w.query<speed>().add<second>(), 3u);
    for (const entity id : bare) complete(id);
    complete(w.clone(bare[0]));
    complete(w.clone_many(2, bare[0], burning{})[1]);
    w.set_single(first{});
    EXPECT_TRUE((w.has_all<second, third, place>(w.component<first>().id())));
}

TEST_F(sparse_misuse, a_change_that_needs_a_fragment_without_default_is_refused) {
    struct given {
        int value;
        explicit given(int of) : value(of) {}
    };
    w.define<given>().sparse();
    w.define<first>().sparse().needs<counted, given>();
    w.define<second>().needs<counted, given>();
    const entity e = w.spawn(place{1}, counted(7));
    w.remove<counted>(e);
    const auto fails = [&](auto call) {
        EXPECT_EQ(code_of(call), errc::no_default);
        EXPECT_EQ(w.size(), 1u);
        EXPECT_EQ(counted::count.living, 0);
        EXPECT_FALSE((w.has_any<first, second, given, counted>(e)));
    };
    fails([&] { w.set(e, first{}); });
    fails([&] { w.set(e, second{}); });
    fails([&] { w.add<second>(e); });
    fails([&] { w.spawn(first{}); });
    fails([&] { w.spawn(second{}, place{}); });
    fails([&] { w.spawn_many(3, first{}); });
    fails([&] { w.spawn_many(3, second{}); });
    fails([&] { w.clone(e, first{}); });
    fails([&] { w.clone_many(3, e, second{}); });
    fails([&] { w.query<place>().set(first{}); });
    w.set(e, first{}, given(3));
    EXPECT_TRUE((w.has_all<counted, given, first>(e)));
}

TEST_F(sparse_misuse, hidden_and_unique_fragments_may_be_sparse) {
    w.define<first>().sparse().hidden();
    w.define<second>().sparse().unique();
    const entity seen = w.spawn(place{});
    const entity hidden = w.spawn(place{}, first{});
    const entity loose = w.spawn(burning{}, first{}, second{});
    EXPECT_EQ(found<place>(), 1u);
    EXPECT_EQ(found<burning>(), 0u);
    EXPECT_EQ((found<place, first>()), 1u);
    EXPECT_EQ((found<burning, first*>()), 1u);
    const entity copy = w.clone(loose);
    EXPECT_TRUE((w.has_all<burning, first>(copy)));
    EXPECT_FALSE(w.has<second>(copy));
    EXPECT_FALSE(w.has<second>(w.clone_many(2, loose, place{})[1]));
    EXPECT_TRUE(w.has<second>(w.clone(loose, second{5})));
    w.define<first>().hidden(false);
    EXPECT_EQ(found<burning>(), 5u);
    w.define<burning>().hidden();
    EXPECT_EQ((found<first>()), 1u);  // the entity `hidden`: all others have `burning`
    w.remove<first>(hidden);
    w.set(seen, burning{});
    EXPECT_EQ(found<place>(), 1u);
    w.query<place>().destroy();
    EXPECT_TRUE(w.alive(seen));
    EXPECT_FALSE(w.alive(hidden));
}

TEST_F(sparse_misuse, prefabs_and_disabled_entities_may_be_sparse) {
    w.define(prefab).sparse();
    w.define(disabled).sparse();
    const entity model = w.spawn(place{1}, burning{2});
    w.set(model, prefab);
    EXPECT_EQ(found<place>(), 0u);
    EXPECT_EQ(found<burning>(), 0u);
    const entity made = w.clone(model);
    EXPECT_FALSE(w.has(made, prefab));
    EXPECT_EQ(found<burning>(), 1u);
    w.set(made, disabled);
    EXPECT_EQ(found<place>(), 0u);
    EXPECT_EQ(w.query<place>().with(disabled).count(), 1u);
    EXPECT_EQ(w.query<burning>().set(speed{}), 0u);
    EXPECT_EQ(w.query<burning>().with(disabled).remove(disabled), 1u);
    EXPECT_EQ(w.query<burning>().set(speed{}), 1u);
}

TEST_F(sparse_misuse, entities_may_have_two_hundred_sparse_fragments) {
    std::vector<fragment<int>> all;
    for (int i = 0; i < 200; ++i) {
        all.push_back(w.fragment<int>());
        w.define(all.back()).sparse();
    }
    std::vector<entity> owners;
    for (int e = 0; e < 40; ++e) {
        owners.push_back(e % 2 == 0 ? w.spawn() : w.spawn(place{e}));
        for (int i = 0; i < 200; ++i)
            if (i % (e + 1) == 0)
                w.set(owners.back(), all[static_cast<std::size_t>(i)], 1000 * e + i);
    }
    const auto check = [&](std::size_t from, std::size_t to) {
        for (std::size_t e = from; e < to; ++e) {
            int has = 0;
            w.each_fragment(owners[e], [&](entity, void*) { ++has; });
            for (std::size_t i = 0; i < 200; ++i) {
                const int* const value = w.try_get(owners[e], all[i]);
                ASSERT_EQ(value != nullptr, w.alive(all[i].id()) && i % (e + 1) == 0);
                if (value == nullptr) continue;
                --has;
                ASSERT_EQ(*value, static_cast<int>(1000 * e + i));
            }
            EXPECT_EQ(has, static_cast<int>(e % 2));
        }
    };
    check(0, 40);
    for (std::size_t i = 0; i < 200; i += 3) w.destroy(all[i].id());
    check(0, 40);
    for (std::size_t i = 0; i < 200;
         i += 3) {  // new fragments reuse the numbers of the destroyed ones
        all[i] = w.fragment<int>();
        w.define(all[i]).sparse();
        for (std::size_t e = 0; e < 40; ++e) {
            EXPECT_FALSE(w.has(owners[e], all[i]));
            if (i % (e + 1) == 0) w.set(owners[e], all[i], static_cast<int>(1000 * e + i));
        }
    }
    check(0, 40);
    EXPECT_EQ(w.query<>().with(all[0]).with(all[100]).count(), w.count(all[100]));
    for (std::size_t e = 0; e < 20; ++e) w.destroy(owners[e]);
    w.collect_garbage();
    check(20, 40);
    const entity copy = w.clone(owners[39]);
    EXPECT_EQ(w.get(copy, all[160]), 39160);
    w.clear(owners[39]);
    EXPECT_TRUE(w.empty(owners[39]));
    w.reset();
    EXPECT_EQ(w.size(), 0u);
}

TEST_F(sparse_misuse, a_reset_keeps_types_sparse_and_destroys_their_values) {
    w.set_single(label{"single"});
    w.spawn_many(100, counted(1), place{});
    const auto user = w.fragment<counted>();
    w.define(user).sparse();
    const entity old = w.spawn(with(user, counted(2)), burning{1});
    w.name(old, "old");
    for (int round = 0; round < 3; ++round) {
        if (round == 2) w.on_remove<counted>([] {});
        w.reset();
        EXPECT_EQ(counted::count.living, 0);
        EXPECT_EQ(w.count<label>() + w.count<counted>() + w.count<burning>(), 0u);
        EXPECT_FALSE(w.alive(user.id()));
        EXPECT_TRUE(w.define<counted>().is_sparse());
        for (int i = 0; i < 100; ++i) w.spawn(counted(i), burning{i});
        EXPECT_EQ((found<counted, burning>()), 100u);
        w.set_single(label{"again"});
    }
    EXPECT_FALSE(w.has<burning>(old));
}

TEST_F(sparse_misuse, collecting_garbage_keeps_the_addresses_of_values) {
    std::vector<entity> all = w.spawn_many(2000, counted(1), label{"x"});
    std::vector<std::pair<entity, counted*>> kept;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i % 333 == 0)
            kept.emplace_back(all[i], &w.get<counted>(all[i]));
        else if (i % 2 == 0)
            w.destroy(all[i]);
        else
            w.remove<counted, label>(all[i]);
    for (int i = 0; i < 3; ++i) {
        w.collect_garbage();
        for (const auto& [e, where] : kept) EXPECT_EQ(&w.get<counted>(e), where);
        EXPECT_EQ(found<counted>(), kept.size());
    }
    w.destroy(kept.back().first);
    kept.pop_back();
    w.collect_garbage();
    for (int i = 0; i < 500; ++i) w.spawn(counted(i));
    for (const auto& [e, where] : kept) EXPECT_EQ(&w.get<counted>(e), where);
    EXPECT_EQ(found<counted>(), kept.size() + 500);
}

// ---- observers, scopes, singletons -------------------------------------------------------------

TEST_F(sparse_misuse, observers_and_systems_see_sparse_fragments) {
    auto changes = w.observer<burning>();
    auto ends = w.observer().removed<burning>();
    auto both = w.observer<burning>().with<place>().without<stunned>();
    const auto count = [](auto& observer) {
        std::set<entity> seen;
        observer.each([&](entity e) { EXPECT_TRUE(seen.insert(e).second); });
        return seen.size();
    };
    const auto all = w.spawn_many(5, burning{}, place{});
    const entity loose = w.spawn(burning{});
    EXPECT_EQ(count(changes), 6u);
    EXPECT_EQ(count(both), 5u);
    w.set(all[0], burning{1}, stunned{});
    w.set(loose, burning{1});
    w.patch<burning>(all[1], [](burning& value) { value.heat = 2; });
    w.query<place>().without<stunned>().set(burning{3});
    EXPECT_EQ(count(changes), 6u);
    EXPECT_EQ(count(both), 4u);
    w.remove<burning>(all[0]);
    w.destroy(all[1]);
    w.clear(loose);
    w.query<stunned>().destroy();
    w.clear<burning>();
    EXPECT_EQ(count(ends), 6u);  // includes destroyed entities
    w.system("heat").each([&](entity e, burning& value, const place* where) {
        ++value.heat;
        if (where == nullptr) w.set(e, place{value.heat});
        if (value.heat == 3) w.remove<burning>(e);
    });
    const entity last = w.spawn(burning{});
    for (int i = 0; i < 5; ++i) w.process("heat");
    EXPECT_FALSE(w.has<burning>(last));
    EXPECT_EQ(w.get<place>(last).x, 1);
}

TEST_F(sparse_misuse, sparse_tags_are_added_and_removed_in_scopes) {
    std::vector<entity> flags;
    for (int i = 0; i < 14; ++i) w.define(flags.emplace_back(w.tag())).sparse();
    const auto all = w.spawn_many(200, place{});
    std::mt19937 random(5);
    for (int i = 0; i < 40; ++i) {
        deferred scope{w};
        for (const entity e : all) {
            const entity flag = flags[random() % flags.size()];
            if (w.has(e, flag))
                w.remove(e, flag);
            else
                w.set(e, flag);
        }
    }
    for (const entity e : all) w.clear(e);
    for (const entity flag : flags) EXPECT_EQ(w.count(flag), 0u);
}

TEST_F(sparse_misuse, untyped_ids_take_the_type_of_a_default_or_of_another_fragment) {
    const auto [a, b, c, e] = w.ids<4>();
    w.define(a).sparse().default_value(std::string("a text that needs memory of its own"));
    w.define(b).default_value(5).sparse();
    w.define(c).sparse();
    w.add(e, a);
    w.add(e, b);
    EXPECT_EQ(w.get<std::string>(e, a), "a text that needs memory of its own");
    EXPECT_EQ(w.get<int>(w.clone(e), b), 5);
    EXPECT_EQ(w.copy_fragment(a, c), 2u);
    EXPECT_EQ(w.get<std::string>(e, c), "a text that needs memory of its own");
    const entity inside = w.fragment<std::string>("in chunks");
    EXPECT_EQ(w.copy_fragment(c, inside), 2u);
    EXPECT_EQ(w.query<>().with(inside).remove(c), 2u);
    EXPECT_EQ(w.copy_fragment(inside, c), 2u);
    EXPECT_EQ(w.count(c), 2u);
}

TEST_F(sparse_misuse, sparse_tags_have_no_value) {
    const entity tag = w.tag();
    w.define(tag).sparse();
    const entity e = w.spawn();
    w.set_raw(e, tag, nullptr);
    w.set_raw(e, tag, nullptr);
    w.defer();
    w.set_raw(e, tag, nullptr);
    w.set_raw(w.spawn(), tag, nullptr);
    w.patch<stunned>(w.spawn(stunned{}), [](stunned&) {});
    w.emplace<stunned>(e);
    w.spawn_rows(2, [](const auto&) {}, stunned{}, place{});
    w.commit();
    w.spawn_rows(2, [](const auto&) {}, stunned{}, place{});
    EXPECT_EQ(w.try_get_raw(e, tag), nullptr);
    EXPECT_EQ(w.count(tag), 2u);
    EXPECT_EQ(w.count<stunned>(), 6u);
    int seen = 0;
    w.each([&](entity, stunned&) { ++seen; });
    EXPECT_EQ(seen, 6);
}

TEST_F(sparse_misuse, singletons_behave_like_those_in_chunks) {
    world other;
    for (world* value : {static_cast<world*>(&w), &other}) {
        value->set_single(burning{1});
        value->set_single(place{1});
        value->spawn(burning{2}, place{});
    }
    EXPECT_EQ(w.query<burning>().count(), other.query<burning>().count());
    EXPECT_EQ((w.query<burning, place>().count()), (other.query<burning, place>().count()));
    EXPECT_EQ(w.query<burning>().destroy(), other.query<burning>().destroy());
    EXPECT_EQ(w.query<burning>().set(place{5}), other.query<burning>().set(place{5}));
    EXPECT_EQ(w.query<>().count(), other.query<>().count());
    EXPECT_EQ(w.query<>().clear(), other.query<>().clear());
    EXPECT_EQ(w.has_single<burning>(), other.has_single<burning>());
}

// ---- combinations ------------------------------------------------------------------------------

TEST_F(sparse_misuse, a_hook_may_destroy_fragments_with_pending_values) {
    const auto f = w.fragment<counted>("f");
    w.define(f).sparse();
    w.on_insert<burning>([&] {
        w.destroy(f.id());
        w.destroy(w.component<counted>().id());
    });
    const auto all = w.spawn_many(5, place{});
    w.defer();
    for (const entity e : all) w.set(e, with(f, counted(1)), counted(2));
    w.set(all[2], burning{});
    for (const entity e : all) w.set(e, with(f, counted(3)), counted(4));
    w.commit();
    EXPECT_FALSE(w.alive(f.id()));
    EXPECT_EQ(counted::count.living, static_cast<int>(w.count<counted>()));
    w.query<place>().set(counted(5));
    EXPECT_EQ(found<counted>(), 5u);
    EXPECT_EQ(counted::count.living, 5);
}

TEST_F(sparse_misuse, fragments_that_own_each_other_are_destroyed_with_their_owners) {
    const auto a = w.fragment<counted>("a");
    const auto b = w.fragment<counted>("b");
    w.define(a).sparse().when_destroyed(destroy_owners);
    w.define(b).sparse().when_destroyed(destroy_owners);
    int provenance = 0;
    w.on_destroy([&] { ++provenance; });
    for (int i = 0; i < 10; ++i) w.spawn(with(i % 2 == 0 ? a : b, counted(i)), place{});
    w.set(b.id(), a, counted(100));
    w.set(a.id(), b, counted(101));
    w.set(a.id(), a, counted(102));
    const entity other = w.spawn(place{});
    w.destroy(a.id());
    EXPECT_EQ(w.size(), 1u);
    EXPECT_TRUE(w.alive(other));
    EXPECT_EQ(provenance, 12);
    EXPECT_EQ(counted::count.living, 0);
    EXPECT_EQ(found<place>(), 1u);
}

TEST_F(sparse_misuse, entities_may_be_used_as_sparse_fragments) {
    const entity e = w.spawn(burning{1}, place{});
    const entity other = w.spawn();
    w.define(e).sparse();
    w.set(other, e, 7);
    w.set(e, e, 8);
    w.defer();
    w.destroy(e);
    w.set(other, burning{2});
    w.set(other, e, 9);
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_fragment);
    EXPECT_TRUE(w.empty(other));
    EXPECT_EQ(w.count<burning>(), 0u);
    for (const bool commits : {false, true}) {  // a fragment that is created in the scope
        w.defer();
        const entity made = w.spawn(burning{3});
        w.define(made).sparse();
        w.set(other, made, std::string("a text that needs memory of its own, really"));
        if (commits)
            w.commit();
        else
            w.cancel();
        EXPECT_EQ(w.has(other, made), commits);
    }
    w.on_spawn([&](entity made) {  // a fragment whose creation is refused
        w.define(made).sparse();
        w.set(other, made, 5);
        throw std::runtime_error("no");
    });
    EXPECT_THROW(w.spawn(burning{1}), std::runtime_error);
    EXPECT_THROW(w.spawn_many(3, burning{1}, place{}), std::runtime_error);
    EXPECT_THROW(w.spawn_many(3, place{}), std::runtime_error);
    EXPECT_THROW(w.clone(other), std::runtime_error);
    int has = 0;
    w.each_fragment(other, [&](entity, void*) { ++has; });
    EXPECT_EQ(has, 1);
}

TEST_F(sparse_misuse, new_rows_may_be_changed_while_they_are_filled) {
    std::vector<entity> all;
    w.spawn_rows(
        4,
        [&](const auto& rows) {
            for (const entity e : rows.entities()) all.push_back(e);
            int number = 0;
            for (counted& component : rows.template components<counted>())
                component.value = number++;
            EXPECT_EQ(w.count<counted>(), 0u);
            w.destroy(all[0]);
            w.set(all[1], burning{5});
            w.remove<counted>(all[2]);
            w.set(all[3], counted(9), place{9});
            w.spawn(counted(11));
            w.defer();
            w.spawn(counted(12));
            w.cancel();
        },
        counted(0), place{1});
    EXPECT_FALSE(w.alive(all[0]));
    EXPECT_EQ(w.get<burning>(all[1]).heat, 5);
    EXPECT_EQ(w.get<counted>(all[1]).value, 1);
    EXPECT_FALSE(w.has<counted>(all[2]));
    EXPECT_EQ(w.get<counted>(all[3]).value, 9);
    EXPECT_EQ(counted::count.living, 3);
    const auto breaks = [&](const auto& rows) {
        w.set(rows.entities()[1], burning{});
        throw std::runtime_error("no");
    };
    EXPECT_THROW(w.spawn_rows(4, breaks, counted(0), place{1}), std::runtime_error);
    EXPECT_EQ(w.size(), 4u);
    w.spawn_rows(
        2, [&](const auto&) { w.destroy(w.component<counted>().id()); }, counted(0), place{1});
    EXPECT_EQ(counted::count.living, 0);
}

TEST_F(sparse_misuse, queries_may_outlive_their_fragments) {
    const auto f = w.fragment<int>("f");
    w.define(f).sparse();
    const auto with_f = w.query<>().with(f);
    const auto without_f = w.query<place>().without(f);
    const auto burns = w.query<burning, place*>();
    const entity e = w.spawn(with(f, 1), place{}, burning{1});
    EXPECT_EQ(with_f.count() + burns.count() + without_f.count(), 2u);
    w.destroy(f.id());
    w.destroy(w.component<burning>().id());
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(with_f.count() + burns.count(), 0u);
        EXPECT_EQ(without_f.count(), 1u);
        const auto another = w.fragment<int>();
        w.define(another).sparse();
        w.set(e, another, i);
    }
    w.set(e, burning{3});  // a new fragment, which is not sparse by default
    EXPECT_FALSE(w.define<burning>().is_sparse());
    EXPECT_EQ(burns.count(), 1u);
    w.destroy(w.component<burning>().id());
    w.define<burning>().sparse();
    w.set(e, burning{4});
    int seen = 0;
    burns.each([&](burning& value, place* where) {
        ++seen;
        EXPECT_EQ(value.heat, 4);
        EXPECT_NE(where, nullptr);
    });
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(burns.count(), 1u);
}

// ---- calls that must not crash ----------------------------------------------------------------

TEST_F(sparse_misuse, destructors_may_loop_over_a_world_that_is_destroyed) {
    const looking given(1);
    int destructors = 0;
    int rows = 0;
    {
        world other;
        other.define<looking>().sparse();
        when_it_ends = [&](const looking&) {
            ++destructors;
            other.query<looking, place*>().each([&](looking&, place*) { ++rows; });
        };
        const std::uint64_t number = other.spawn().world();
        for (std::uint64_t key = 1; key < 9; ++key)  // not in the dense array of records
            other.spawn_at(entity::pack(key << 28, 0, number), given, place{1});
        EXPECT_EQ(other.count<looking>(), 8u);
        EXPECT_EQ(destructors, 0);
    }
    when_it_ends = nullptr;
    EXPECT_EQ(destructors, 8);
    EXPECT_EQ(rows, 0);
}

TEST_F(sparse_misuse, an_invalid_comparison_gives_an_arbitrary_order) {
    for (int i = 0; i < 300; ++i) w.spawn(burning{i % 3});
    w.sort<burning>([](const burning& a, const burning& b) { return a.heat <= b.heat; });
    w.sort<burning>([](const burning&, const burning&) { return true; });
    EXPECT_EQ(found<burning>(), 300u);
}
}  // namespace
}  // namespace muster
