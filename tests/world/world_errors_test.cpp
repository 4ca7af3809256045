// What errors say, and that wrong ids are told apart.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <source_location>
#include <span>
#include <string>

#include "support/errors.hpp"
#include "support/world_layouts.hpp"

namespace muster::test {
namespace {

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

bool contains(const std::string& sentence, const std::string& part) {
    return sentence.find(part) != std::string::npos;
}
std::string line_before(std::source_location here = std::source_location::current()) {
    return "world_errors_test.cpp:" + std::to_string(here.line() - 1);
}

TEST(world_errors, a_dead_entity_says_where_it_died_and_who_it_was) {
    world w{world_options{.number = 901, .provenance = true}};
    const entity e = w.spawn(position{});
    w.name(e, "goblin");
    w.destroy(e);
    const std::string death = line_before();
    const std::string sentence = sentence_of([&] { (void)w.get<position>(e); });
    const std::string call = line_before();
    EXPECT_EQ(sentence, "entity E:901-0[0] \"goblin\" is dead: destroyed at " + death +
                            "; slot 0 is now at version 1 (get at " + call + ")");
}

TEST(world_errors, each_way_to_die_leaves_its_place) {
    world w{world_options{.provenance = true}};
    const auto death_of = [&](entity e) { return sentence_of([&] { w.set(e, 1); }); };
    const entity a = w.spawn(), b = w.spawn(), c = w.spawn(), d = w.spawn(), f = w.spawn();
    w.destroy(a, b);
    EXPECT_TRUE(contains(death_of(b), line_before()));
    w.destroy(std::span<const entity>(&c, 1));
    EXPECT_TRUE(contains(death_of(c), line_before()));
    w.destroy_if([&](entity e) { return e == d; });
    EXPECT_TRUE(contains(death_of(d), line_before()));
    w.reset();
    EXPECT_TRUE(contains(death_of(f), line_before()));
}

TEST(world_errors, only_the_death_that_is_known_is_told) {
    world w{world_options{.provenance = true}};
    const entity first = w.spawn();
    w.destroy(first);
    const entity second = w.spawn();
    w.destroy(second);
    const std::string last = line_before();
    EXPECT_FALSE(contains(sentence_of([&] { w.set(first, 1); }), "destroyed at"));
    EXPECT_TRUE(contains(sentence_of([&] { w.set(second, 1); }), last));
}

TEST(world_errors, without_provenance_they_say_how_to_get_it) {
    world w;
    const entity e = w.spawn();
    w.destroy(e);
    const std::string sentence = sentence_of([&] { w.add<position>(e); });
    EXPECT_TRUE(contains(sentence, "is dead: slot 0 is now at version 1")) << sentence;
    EXPECT_TRUE(contains(sentence, "world_options.provenance")) << sentence;
    EXPECT_TRUE(contains(sentence, "(add at world_errors_test.cpp:")) << sentence;
}

TEST(world_errors, an_id_of_another_world_is_told_apart) {
    world one{world_options{.number = 911}};
    world two{world_options{.number = 912}};
    const entity e = one.spawn(position{});
    EXPECT_TRUE(contains(sentence_of([&] { two.set(e, position{}); }),
                         "entity E:911-0[0] belongs to world W:911, not to W:912"));
    EXPECT_EQ(code_of([&] { (void)two.get<position>(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { two.destroy(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { two.remove<position>(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { two.clear(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { two.clone(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { two.clone_many(1, e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { (void)two.locate(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { two.name(e, "x"); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { two.emplace<int>(e, 1); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { two.patch<int>(e, [](int&) {}); }), errc::foreign_entity);
    EXPECT_FALSE(two.alive(e));
    EXPECT_FALSE(two.has<position>(e));
    EXPECT_EQ(two.try_get<position>(e), nullptr);
    EXPECT_TRUE(two.empty(e));
    EXPECT_TRUE(one.alive(e));
}

TEST(world_errors, of_several_to_destroy_none_dies_if_one_is_foreign) {
    world one;
    world two;
    const entity mine = two.spawn();
    const entity stranger = one.spawn();
    EXPECT_EQ(code_of([&] { two.destroy(mine, stranger); }), errc::foreign_entity);
    EXPECT_TRUE(two.alive(mine));
}

TEST(world_errors, the_null_id_is_dead_and_never_foreign) {
    world w;
    EXPECT_TRUE(contains(sentence_of([&] { (void)w.get<position>(entity{}); }),
                         "entity E:null is dead: it is the null id, which names nothing"));
    world telling{world_options{.provenance = true}};
    const entity e = telling.spawn();  // has the key and version of the null id
    telling.name(e, "first");
    telling.destroy(e);
    EXPECT_FALSE(contains(sentence_of([&] { telling.set(entity{}, 1); }), "first"));
    EXPECT_FALSE(w.destroy(entity{}));
    EXPECT_FALSE(w.remove<position>(entity{}));
    EXPECT_FALSE(w.clear(entity{}));
}

TEST(world_errors, an_id_that_never_was_is_told_apart_from_one_that_died) {
    world w{world_options{.number = 921}};
    w.spawn();
    const auto says = [&](entity e) { return sentence_of([&] { w.set(e, 1); }); };
    EXPECT_TRUE(contains(says(entity::pack(77, 0, 921)), "no entity was ever made with this id"));
    EXPECT_TRUE(contains(says(entity::pack(0, 5, 921)), "no entity was ever made with this id"));
}

TEST(world_errors, a_missing_component_says_what_is_there) {
    world w{world_options{.number = 931}};
    const entity e = w.spawn(position{}, std::string("x"));
    const std::string sentence = sentence_of([&] { (void)w.get<velocity>(e); });
    const std::string call = line_before();
    EXPECT_TRUE(contains(sentence, "entity E:931-0[0] has no ")) << sentence;
    EXPECT_TRUE(contains(sentence, "velocity: it has ")) << sentence;
    EXPECT_TRUE(contains(sentence, "position, std::string (get at " + call + ")")) << sentence;
    const entity bare = w.spawn();
    EXPECT_TRUE(contains(sentence_of([&] { (void)w.get<velocity>(bare); }), "no components"));
}

TEST(world_errors, what_cannot_be_copied_is_named) {
    struct unique {
        std::unique_ptr<int> value;
    };
    world w;
    const entity e = w.spawn(unique{});
    const std::string sentence = sentence_of([&] { w.clone(e); });
    EXPECT_TRUE(contains(sentence, "unique")) << sentence;
    EXPECT_TRUE(contains(sentence, "cannot be copied; give the clone one")) << sentence;
    EXPECT_TRUE(contains(sentence, "entity E:")) << sentence;
}

TEST(world_errors, some_calls_are_not_for_scopes) {
    world w;
    const entity e = w.spawn(position{});
    const auto refused = [&](auto call) { EXPECT_EQ(code_of(call), errc::in_scope); };
    const auto check = [&] {
        refused([&] { w.reset(); });
        refused([&] { w.collect_garbage(); });
        refused([&] { w.recycle_tombstones(); });
        refused([&] { w.get_or_emplace<velocity>(e); });
        EXPECT_EQ(&w.get_or_emplace<position>(e), &w.get<position>(e));
    };
    w.patch<position>(e, [&](position&) { check(); });
    w.defer();
    check();
    w.cancel();
    const std::string said = sentence_of([&] {
        w.defer();
        w.reset();
    });
    EXPECT_TRUE(contains(said, "reset is not possible in a scope")) << said;
    w.cancel();
    EXPECT_EQ(w.destroy_if([&](entity) {
        check();
        return true;
    }),
              1u);
    EXPECT_FALSE(w.alive(e));
}

/// Its copies try to change the world they are in.
struct meddler {
    world* home = nullptr;
    meddler() = default;
    explicit meddler(world& w) : home(&w) {}
    meddler(meddler&&) noexcept = default;
    meddler(const meddler& other) : home(other.home) {
        if (home != nullptr) home->spawn(meddler{});
    }
};

TEST(world_errors, a_copy_that_changes_the_world_is_refused_while_rows_are_written) {
    world w;
    const entity e = w.spawn(meddler{w});
    EXPECT_EQ(code_of([&] { w.clone(e); }), errc::in_scope);
    EXPECT_EQ(w.size(), 1u);
    w.set(w.spawn(), w.get<meddler>(e));  // copied before anything else: the world is free
    EXPECT_EQ(w.size(), 3u);
}

TEST(world_errors, a_layout_without_world_bits_cannot_tell_worlds_apart) {
    basic_world<layouts::compact> one;
    basic_world<layouts::compact> two;
    const auto e = one.spawn(position{1, 1});
    const auto f = two.spawn(position{2, 2});
    EXPECT_EQ(e, f);
    EXPECT_EQ(two.get<position>(e).x, 2);
}

TEST(world_errors, a_spent_slot_is_called_so) {
    basic_world<scarce<exhaustion::retire>> w;
    const auto first = w.spawn();
    auto last = first;
    while (last.key() == first.key()) {
        w.destroy(last);
        last = w.spawn();
    }
    EXPECT_TRUE(
        contains(sentence_of([&] { w.set(first, 1); }), "slot 0 has spent its last version"));
}

}  // namespace
}  // namespace muster::test
