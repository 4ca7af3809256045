// Components and callbacks that reach back into their world.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

void once(std::function<void()>& call) {
    if (auto now = std::exchange(call, nullptr)) now();
}

struct spy {
    static inline std::function<void()> at_copy;
    static inline std::function<void()> at_end;
    int value;
    explicit spy(int v) : value(v) {}
    spy(const spy& other) noexcept : value(other.value) { once(at_copy); }
    spy& operator=(const spy&) = delete;
    ~spy() {
        if (value == 1) once(at_end);
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
    spy::at_end = [&] { code = code_of([&] { w.destroy(e); }); };
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
    spy::at_end = [&] {
        own = w.get<std::string>(e);
        other = w.get<std::string>(last);
    };
    w.remove<spy>(e);
    EXPECT_EQ(own, "first, a text that is not short");
    EXPECT_EQ(other, "last, a text that is not short");
    EXPECT_EQ(w.get<std::string>(e), "first, a text that is not short");
}

TEST(world_hostile, a_destructor_may_read_the_world_while_its_entity_dies) {
    world w;
    const entity e = w.spawn(std::string("first, a text that is not short"), spy(1));
    const entity last = w.spawn(std::string("last, a text that is not short"), spy(0));
    std::string other;
    bool empty = false;
    spy::at_end = [&] {
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
    spy::at_end = [&] { seen = w.try_get<std::string>(e) != nullptr; };
    w.reset();
    EXPECT_FALSE(seen);
}

TEST(world_hostile, room_for_rows_is_made_after_they_are_filled) {
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

TEST(world_hostile, a_name_given_in_a_fill_that_throws_is_gone) {
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

TEST(world_hostile, absurd_numbers_are_errors_that_change_nothing) {
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

/// Looks at its world when it ends.
struct last_look {
    world* from;
    entity other;
    int* found;
    last_look(world& w, entity e, int& count) : from(&w), other(e), found(&count) {}
    last_look(last_look&& one) noexcept
        : from(std::exchange(one.from, nullptr)), other(one.other), found(one.found) {}
    last_look& operator=(last_look&&) = delete;
    ~last_look() {
        if (from == nullptr) return;
        *found += from->alive(other) || from->try_get<std::string>(other) != nullptr ? 100 : 1;
    }
};

TEST(world_hostile, destructors_may_look_at_a_world_that_ends) {
    int looks = 0;
    {
        world w;
        const entity e = w.spawn(std::string(100, 'x'));
        for (int i = 0; i < 5; ++i) w.spawn(last_look(w, e, looks), i);
        w.set_single(last_look(w, e, looks));
    }
    EXPECT_EQ(looks, 6);  // and nobody was alive any more
}

}  // namespace
}  // namespace muster::test
