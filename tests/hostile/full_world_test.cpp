// Every call that needs a key, in a world that has none left: it throws `errc::id_overflow` and changes nothing, in a
// scope and in a hook, too. With one key, it works.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace muster::test {
namespace {

struct position {
    int x = 0;
};
struct velocity {
    int x = 0;
};
struct newcomer {
    int x = 0;
};
struct new_tag {};

template <class Layout>
class full_world : public testing::Test {
protected:
    using world_type = basic_world<Layout>;
    using id_type = basic_id<Layout>;

    struct scene {
        world_type w{
            world_options{.first_key = Layout::first_key, .last_key = Layout::first_key + 15}};
        id_type one = w.spawn(position{1}, velocity{2});
        id_type tag = w.tag("tag");
        std::vector<id_type> rest;
        basic_builder<Layout> recipe = w.builder();
        int hooks = 0;

        scene() {
            recipe.set(position{3});
            w.template component<position>();
            w.template component<velocity>();
            while (!code_of([&] { rest.push_back(w.spawn(position{})); })) {
            }
        }
        std::string look() {
            std::string seen = std::to_string(w.size()) + " " + std::to_string(w.depth());
            for (const id_type e : w.entities()) {
                seen += "\n" + to_string(id_type::pack(e.key(), e.version()));
                if (const auto* p = w.template try_get<position>(e))
                    seen += " p" + std::to_string(p->x);
                if (const auto* v = w.template try_get<velocity>(e))
                    seen += " v" + std::to_string(v->x);
                if (w.has(e, tag)) seen += " t";
            }
            return seen + std::to_string(w.template count<newcomer>());
        }
    };
    struct row {
        const char* name;
        std::function<void(scene&)> call;
    };

    static std::vector<row> rows() {
        return {
            {"spawn", [](scene& s) { s.w.spawn(); }},
            {"spawn with values", [](scene& s) { s.w.spawn(position{}, velocity{}); }},
            {"spawn with a tag", [](scene& s) { s.w.spawn(with(s.tag)); }},
            {"spawn_many", [](scene& s) { s.w.spawn_many(1, position{}); }},
            {"spawn_many of nothing", [](scene& s) { s.w.spawn_many(1); }},
            {"spawn_into",
             [](scene& s) {
                 id_type made;
                 s.w.spawn_into(std::span<id_type>(&made, 1), velocity{});
             }},
            {"spawn_rows",
             [](scene& s) { s.w.spawn_rows(1, [](basic_rows<Layout>) {}, position{}); }},
            {"spawn_columns", [](scene& s) { s.w.spawn_columns(std::vector<position>(1)); }},
            {"clone", [](scene& s) { s.w.clone(s.one); }},
            {"clone with values", [](scene& s) { s.w.clone(s.one, position{5}); }},
            {"clone_many", [](scene& s) { s.w.clone_many(1, s.one); }},
            {"builder::spawn", [](scene& s) { s.recipe.spawn(); }},
            {"builder::clone_many", [](scene& s) { s.recipe.clone_many(1, s.one); }},
            {"ids", [](scene& s) { (void)s.w.template ids<1>(); }},
            {"tag", [](scene& s) { (void)s.w.tag(); }},
            {"tag with a name", [](scene& s) { (void)s.w.tag("new"); }},
            {"fragment", [](scene& s) { (void)s.w.template fragment<int>("new"); }},
            {"fragment by description",
             [](scene& s) { (void)s.w.fragment(component_type{.size = 4, .alignment = 4}); }},
        };
    }
    /// Fragments of C++ types take keys of the layout that the range of a world leaves free.
    static std::vector<row> rows_of_types() {
        return {
            {"component", [](scene& s) { (void)s.w.template component<newcomer>(); }},
            {"define", [](scene& s) { (void)s.w.template define<newcomer>(); }},
            {"define a tag", [](scene& s) { (void)s.w.define(new_tag{}); }},
            {"predefined", [](scene& s) { s.w.set(s.one, prefab); }},
            {"set", [](scene& s) { s.w.set(s.one, newcomer{}); }},
            {"set several", [](scene& s) { s.w.set(s.one, position{9}, newcomer{}); }},
            {"add", [](scene& s) { s.w.template add<newcomer>(s.one); }},
            {"add a tag", [](scene& s) { s.w.add(s.one, new_tag{}); }},
            {"emplace", [](scene& s) { s.w.template emplace<newcomer>(s.one, 1); }},
            {"get_or_emplace", [](scene& s) { s.w.template get_or_emplace<newcomer>(s.one); }},
            {"set_single", [](scene& s) { s.w.set_single(newcomer{}); }},
            {"query", [](scene& s) { (void)s.w.template query<newcomer>(); }},
            {"query::with",
             [](scene& s) { (void)s.w.template query<position>().template with<newcomer>(); }},
            {"query::set", [](scene& s) { s.w.template query<position>().set(newcomer{}); }},
            {"query::add",
             [](scene& s) { s.w.template query<position>().template add<newcomer>(); }},
            {"on_insert", [](scene& s) { s.w.template on_insert<newcomer>([] {}); }},
            {"observer", [](scene& s) { (void)s.w.template observer<newcomer>(); }},
            {"removed_values", [](scene& s) { (void)s.w.template removed_values<newcomer>(); }},
            {"needs", [](scene& s) { s.w.template define<position>().template needs<newcomer>(); }},
            {"builder::spawn of a new type",
             [](scene& s) {
                 basic_builder<Layout> b = s.w.builder();
                 b.set(newcomer{});
                 b.spawn_many(0);
             }},
        };
    }

    enum class where { outside, scope, loop, hook };
    static constexpr where places[] = {where::outside, where::scope, where::loop, where::hook};
    /// Makes the call in this place. Returns what it throws.
    static std::optional<errc> call_in(where place, scene& s, const row& tested) {
        std::optional<errc> code;
        const auto run = [&] { code = code_of([&] { tested.call(s); }); };
        switch (place) {
        case where::outside: run(); break;
        case where::scope:
            s.w.defer();
            run();
            s.w.commit();
            break;
        case where::loop: s.w.template query<velocity>().each([&](velocity&) { run(); }); break;
        case where::hook: {
            auto c = s.w.template on_assign<velocity>(run);
            s.w.template touch<velocity>(s.one);
            c.disconnect();
        }
        }
        return code;
    }
};
using some_layouts = testing::Types<layouts::bound, layouts::exact>;
TYPED_TEST_SUITE(full_world, some_layouts, );

TYPED_TEST(full_world, a_call_that_needs_a_key_throws_and_changes_nothing) {
    using base = full_world<TypeParam>;
    for (const auto& tested : base::rows())
        for (const auto place : base::places) {
            SCOPED_TRACE(std::string(tested.name) + " in place " +
                         std::to_string(static_cast<int>(place)));
            typename base::scene s;
            const std::string before = s.look();
            EXPECT_EQ(base::call_in(place, s, tested), errc::id_overflow);
            EXPECT_EQ(s.look(), before);
            s.w.destroy(s.rest.front());
            EXPECT_EQ(base::call_in(place, s, tested), std::nullopt);
            s.w.reset();
            EXPECT_EQ(s.w.size(), 0u);
            s.w.spawn_many(3, position{});
        }
}

TYPED_TEST(full_world, a_new_type_needs_no_key_of_the_range) {
    using base = full_world<TypeParam>;
    for (const auto& tested : base::rows_of_types())
        for (const auto place : base::places) {
            SCOPED_TRACE(std::string(tested.name) + " in place " +
                         std::to_string(static_cast<int>(place)));
            typename base::scene s;
            EXPECT_EQ(base::call_in(place, s, tested), std::nullopt);
            EXPECT_EQ(s.w.size(), s.rest.size() + 2);
            EXPECT_EQ(code_of([&] { s.w.spawn(newcomer{}); }), errc::id_overflow);
            s.w.reset();
            EXPECT_EQ(s.w.size(), 0u);
        }
}

TYPED_TEST(full_world, buffers_and_phases_find_no_key) {
    using base = full_world<TypeParam>;
    typename base::scene s;
    const std::string before = s.look();
    basic_command_buffer<TypeParam> b{s.w};
    EXPECT_EQ(code_of([&] { b.spawn(position{}); }), errc::id_overflow);
    EXPECT_EQ(b.pending(), 0u);
    s.w.submit(b);
    sequential_executor here;
    EXPECT_EQ(code_of([&] {
                  s.w.template query<position>().par_each(
                      here, 1, [&](position&) { s.w.spawn(velocity{}); });
              }),
              errc::id_overflow);
    EXPECT_EQ(s.look(), before);
    std::optional<errc> code;
    s.w.template query<const velocity>().par_each(here, 1, [&](const velocity&) {
        code = code_of([&] { s.w.spawn(velocity{}); });
        s.w.set(s.one, position{4});
    });
    EXPECT_EQ(code, errc::id_overflow);
    EXPECT_EQ(s.w.template get<position>(s.one).x, 4);
}

TYPED_TEST(full_world, an_entity_takes_the_key_of_the_one_that_its_hook_destroys) {
    using base = full_world<TypeParam>;
    typename base::scene s;
    const auto first = s.rest.front();
    s.w.destroy(s.rest.back());
    s.w.on_spawn([&] { s.w.destroy(first); });
    const auto made = s.w.spawn(position{7});
    EXPECT_TRUE(s.w.alive(made));
    EXPECT_FALSE(s.w.alive(first));
    const auto next = s.w.spawn();
    EXPECT_EQ(next.key(), first.key());
    EXPECT_NE(next, first);
}

}  // namespace
}  // namespace muster::test
