// Components and callbacks that call back into their world.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"
#include "support/numbered.hpp"

namespace muster::test {
namespace {

void once(std::function<void()>& call) {
    if (auto now = std::exchange(call, nullptr)) now();
}

struct spy {
    static inline std::function<void()> at_copy;
    static inline std::function<void()> at_destroy;
    int value;
    explicit spy(int v) : value(v) {}
    spy(const spy& other) noexcept : value(other.value) { once(at_copy); }
    spy& operator=(const spy&) = delete;
    ~spy() {
        if (value == 1) once(at_destroy);
    }
};

TEST(world_hostile, a_copy_is_made_before_the_world_is_touched) {
    world w;
    w.spawn(spy(3));
    const spy value(2);
    spy::at_copy = [&] { w.spawn(spy(7)); };
    EXPECT_EQ(w.get<spy>(w.spawn(value)).value, 2);
    EXPECT_EQ(w.count<spy>(), 3u);
}

TEST(world_hostile, a_destructor_that_runs_in_set_cannot_change_the_world) {
    world w;
    const entity e = w.spawn(spy(1));
    std::optional<errc> code;
    spy::at_destroy = [&] { code = code_of([&] { w.destroy(e); }); };
    w.set(e, spy(2));
    EXPECT_EQ(code, errc::in_scope);
    EXPECT_EQ(w.get<spy>(e).value, 2);
}

TEST(world_hostile, a_destructor_may_read_the_world_while_a_component_is_removed) {
    world w;
    (void)w.component<spy>();
    const entity e = w.spawn(spy(1), std::string("first, a text that is not short"));
    const entity last = w.spawn(spy(0), std::string("last, a text that is not short"));
    std::string own, other;
    spy::at_destroy = [&] {
        own = w.get<std::string>(e);
        other = w.get<std::string>(last);
    };
    w.remove<spy>(e);
    EXPECT_EQ(own, "first, a text that is not short");
    EXPECT_EQ(other, "last, a text that is not short");
    EXPECT_EQ(w.get<std::string>(e), "first, a text that is not short");
}

TEST(world_hostile, a_destructor_may_read_the_world_while_its_entity_is_destroyed) {
    world w;
    const entity e = w.spawn(std::string("first, a text that is not short"), spy(1));
    const entity last = w.spawn(std::string("last, a text that is not short"), spy(0));
    std::string other;
    bool empty = false;
    spy::at_destroy = [&] {
        other = w.get<std::string>(last);
        empty = w.empty(e);
    };
    w.destroy(e);
    EXPECT_EQ(other, "last, a text that is not short");
    EXPECT_TRUE(empty);
}

TEST(world_hostile, a_destructor_may_read_the_world_while_it_is_reset) {
    world w;
    const entity e = w.spawn(std::string("a text that is not short, either"), spy(1));
    bool seen = true;
    spy::at_destroy = [&] { seen = w.try_get<std::string>(e) != nullptr; };
    w.reset();
    EXPECT_FALSE(seen);
}

TEST(world_hostile, reserving_in_a_fill_function_takes_effect_afterwards) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    w.spawn_rows(
        1,
        [&](rows r) {
            const auto before = r.components<std::string>().data();
            w.reserve<std::string>(100'000);
            w.reserve(100'000);
            EXPECT_EQ(r.components<std::string>().data(), before);
        },
        std::string("x"));
    const std::string* const first = w.chunk<std::string>().components<std::string>().data();
    w.spawn_many(99'999, std::string("y"));
    EXPECT_EQ(w.chunk<std::string>().components<std::string>().data(), first);
}

TEST(world_hostile, a_name_set_in_a_throwing_fill_function_is_removed) {
    world w;
    EXPECT_THROW(w.spawn_rows(
                     1,
                     [&](rows r) {
                         w.name(r.entities()[0], "ghost");
                         throw 1;
                     },
                     5),
                 int);
    EXPECT_TRUE(w.lookup("ghost").is_null());
}

TEST(world_hostile, absurd_counts_are_errors_that_change_nothing) {
    world w;
    EXPECT_EQ(code_of([&] { w.spawn_many(SIZE_MAX); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { w.spawn_many(SIZE_MAX, 1); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { w.reserve(SIZE_MAX); }), errc::id_overflow);
    const entity e = w.spawn(1);
    EXPECT_EQ(code_of([&] { w.clone_many(SIZE_MAX, e); }), errc::id_overflow);
    EXPECT_EQ(code_of([&] { w.spawn_rows(SIZE_MAX, [](rows) {}, 1); }), errc::id_overflow);
    EXPECT_EQ(w.size(), 1u);
}

TEST(world_hostile, the_names_of_fragments_outlive_a_reset) {
    world w;
    w.name(w.component<int>(), "health");
    w.name(w.spawn(), "player");
    w.reset();
    EXPECT_EQ(w.lookup("health"), w.component<int>());
    EXPECT_TRUE(w.lookup("player").is_null());
}

/// Queries its world in its destructor.
struct last_look {
    world* from;
    entity other;
    int* found;
    last_look(world& w, entity e, int& count) : from(&w), other(e), found(&count) {}
    last_look(last_look&& value) noexcept
        : from(std::exchange(value.from, nullptr)), other(value.other), found(value.found) {}
    last_look& operator=(last_look&&) = delete;
    ~last_look() {
        if (from == nullptr) return;
        *found += from->alive(other) || from->try_get<std::string>(other) != nullptr ? 100 : 1;
    }
};

TEST(world_hostile, destructors_may_query_a_world_that_is_being_destroyed) {
    int looks = 0;
    {
        world w;
        const entity e = w.spawn(numbered("a text that needs memory of its own, ", 0));
        for (int i = 0; i < 5; ++i) w.spawn(last_look(w, e, looks), i);
        w.set_single(last_look(w, e, looks));
    }
    EXPECT_EQ(looks, 6);  // each of the 6 destructors found the entity dead
}

}  // namespace
}  // namespace muster::test
