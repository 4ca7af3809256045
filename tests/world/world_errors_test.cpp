// Error messages, and the detection of wrong ids.
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

TEST(world_errors, an_error_about_a_dead_entity_names_it_and_the_call_that_destroyed_it) {
    world w{world_options{.number = 60901, .provenance = true}};
    const entity e = w.spawn(position{});
    w.name(e, "goblin");
    w.destroy(e);
    const std::string destruction = line_before();
    const std::string sentence = sentence_of([&] { (void)w.get<position>(e); });
    const std::string call = line_before();
    EXPECT_EQ(sentence, "entity E:60901-0[0] \"goblin\" is dead: destroyed at " + destruction +
                            "; slot 0 is now at version 1 (get at " + call + ")");
}

TEST(world_errors, every_destroy_call_records_its_call_site) {
    world w{world_options{.provenance = true}};
    const auto error_of = [&](entity e) { return sentence_of([&] { w.set(e, 1); }); };
    const entity a = w.spawn(), b = w.spawn(), c = w.spawn(), d = w.spawn(), f = w.spawn();
    w.destroy(a, b);
    EXPECT_TRUE(contains(error_of(b), line_before()));
    w.destroy(std::span<const entity>(&c, 1));
    EXPECT_TRUE(contains(error_of(c), line_before()));
    w.destroy_if([&](entity e) { return e == d; });
    EXPECT_TRUE(contains(error_of(d), line_before()));
    w.reset();
    EXPECT_TRUE(contains(error_of(f), line_before()));
}

TEST(world_errors, only_the_last_destruction_of_a_slot_is_reported) {
    world w{world_options{.provenance = true}};
    const entity first = w.spawn();
    w.destroy(first);
    const entity second = w.spawn();
    w.destroy(second);
    const std::string last = line_before();
    EXPECT_FALSE(contains(sentence_of([&] { w.set(first, 1); }), "destroyed at"));
    EXPECT_TRUE(contains(sentence_of([&] { w.set(second, 1); }), last));
}

TEST(world_errors, without_provenance_the_message_explains_how_to_enable_it) {
    world w;
    const entity e = w.spawn();
    w.destroy(e);
    const std::string sentence = sentence_of([&] { w.add<position>(e); });
    EXPECT_TRUE(contains(sentence, "is dead: slot 0 is now at version 1")) << sentence;
    EXPECT_TRUE(contains(sentence, "world_options.provenance")) << sentence;
    EXPECT_TRUE(contains(sentence, "(add at world_errors_test.cpp:")) << sentence;
}

TEST(world_errors, an_id_of_another_world_is_detected) {
    world first{world_options{.number = 60911}};
    world second{world_options{.number = 60912}};
    const entity e = first.spawn(position{});
    EXPECT_TRUE(contains(sentence_of([&] { second.set(e, position{}); }),
                         "entity E:60911-0[0] belongs to world W:60911, not to W:60912"));
    EXPECT_EQ(code_of([&] { (void)second.get<position>(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { second.destroy(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { second.remove<position>(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { second.clear(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { second.clone(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { second.clone_many(1, e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { (void)second.locate(e); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { second.name(e, "x"); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { second.emplace<int>(e, 1); }), errc::foreign_entity);
    EXPECT_EQ(code_of([&] { second.patch<int>(e, [](int&) {}); }), errc::foreign_entity);
    EXPECT_FALSE(second.alive(e));
    EXPECT_FALSE(second.has<position>(e));
    EXPECT_EQ(second.try_get<position>(e), nullptr);
    EXPECT_TRUE(second.empty(e));
    EXPECT_TRUE(first.alive(e));
}

TEST(world_errors, destroying_several_destroys_none_if_one_is_foreign) {
    world first;
    world second;
    const entity mine = second.spawn();
    const entity stranger = first.spawn();
    EXPECT_EQ(code_of([&] { second.destroy(mine, stranger); }), errc::foreign_entity);
    EXPECT_TRUE(second.alive(mine));
}

TEST(world_errors, the_null_id_is_dead_and_never_foreign) {
    world w;
    EXPECT_TRUE(contains(sentence_of([&] { (void)w.get<position>(entity{}); }),
                         "entity E:null is dead: it is the null id, which names no entity"));
    world tracing{world_options{.provenance = true}};
    const entity e = tracing.spawn();  // has the key and version of the null id
    tracing.name(e, "first");
    tracing.destroy(e);
    EXPECT_FALSE(contains(sentence_of([&] { tracing.set(entity{}, 1); }), "first"));
    EXPECT_FALSE(w.destroy(entity{}));
    EXPECT_FALSE(w.remove<position>(entity{}));
    EXPECT_FALSE(w.clear(entity{}));
}

TEST(world_errors, an_id_that_never_existed_is_distinguished_from_a_dead_one) {
    world w{world_options{.number = 60921}};
    w.spawn();
    const auto message_for = [&](entity e) { return sentence_of([&] { w.set(e, 1); }); };
    EXPECT_TRUE(contains(message_for(entity::pack(77, 0, 60921)), "no entity ever had this id"));
    EXPECT_TRUE(contains(message_for(entity::pack(0, 5, 60921)), "no entity ever had this id"));
}

TEST(world_errors, an_error_about_a_missing_component_lists_the_existing_ones) {
    world w{world_options{.number = 60931}};
    const entity e = w.spawn(position{}, std::string("x"));
    const std::string sentence = sentence_of([&] { (void)w.get<velocity>(e); });
    const std::string call = line_before();
    EXPECT_TRUE(contains(sentence, "entity E:60931-0[0] has no ")) << sentence;
    EXPECT_TRUE(contains(sentence, "velocity: it has ")) << sentence;
    EXPECT_TRUE(contains(sentence, "position, std::string (get at " + call + ")")) << sentence;
    const entity bare = w.spawn();
    EXPECT_TRUE(contains(sentence_of([&] { (void)w.get<velocity>(bare); }), "no components"));
}

TEST(world_errors, a_component_that_cannot_be_copied_is_named) {
    struct unique {
        std::unique_ptr<int> value;
    };
    world w;
    const entity e = w.spawn(unique{});
    const std::string sentence = sentence_of([&] { w.clone(e); });
    EXPECT_TRUE(contains(sentence, "unique")) << sentence;
    EXPECT_TRUE(contains(sentence, "cannot be copied; pass a value for the clone")) << sentence;
    EXPECT_TRUE(contains(sentence, "entity E:")) << sentence;
}

TEST(world_errors, some_calls_are_refused_in_scopes) {
    world w;
    const entity e = w.spawn(position{});
    const auto refused = [&](auto call) { EXPECT_EQ(code_of(call), errc::in_scope); };
    const auto check = [&] {
        refused([&] { w.reset(); });
        refused([&] { w.collect_garbage(); });
        refused([&] { w.recycle_tombstones(); });
        EXPECT_EQ(&w.get_or_emplace<position>(e), &w.get<position>(e));
    };
    w.patch<position>(e, [&](position&) { check(); });
    w.defer();
    check();
    w.cancel();
    const std::string message = sentence_of([&] {
        w.defer();
        w.reset();
    });
    EXPECT_TRUE(contains(message, "reset is not possible in a scope")) << message;
    w.cancel();
    EXPECT_EQ(w.destroy_if([&](entity) {
        check();
        return true;
    }),
              1u);
    EXPECT_FALSE(w.alive(e));
}

/// Its copy constructor tries to change its world.
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
    w.set(w.spawn(), w.get<meddler>(e));  // copied before the world changes, so the copy may spawn
    EXPECT_EQ(w.size(), 3u);
}

TEST(world_errors, a_layout_without_world_bits_cannot_distinguish_worlds) {
    basic_world<layouts::compact> first;
    basic_world<layouts::compact> second;
    const auto e = first.spawn(position{1, 1});
    const auto f = second.spawn(position{2, 2});
    EXPECT_EQ(e, f);
    EXPECT_EQ(second.get<position>(e).x, 2);
}

TEST(world_errors, an_exhausted_slot_is_reported) {
    basic_world<scarce<exhaustion::retire>> w;
    const auto first = w.spawn();
    auto last = first;
    while (last.key() == first.key()) {
        w.destroy(last);
        last = w.spawn();
    }
    EXPECT_TRUE(
        contains(sentence_of([&] { w.set(first, 1); }), "slot 0 has used its last version"));
}

TEST(world_errors, spawn_at_names_its_call_site) {
    world w{world_options{.number = 60931}};
    const entity e = w.spawn();
    const auto expect = [&](entity wanted, const std::string& why) {
        std::string sentence = sentence_of([&] { w.spawn_at(wanted, position{}); });
        const std::string place = " (spawn_at at " + line_before() + ")";
        EXPECT_EQ(sentence, to_string(wanted) + why + place);
        w.define<position>().on_insert([] {});
        sentence = sentence_of([&] { w.spawn_at(wanted, position{}); });
        EXPECT_TRUE(contains(sentence, line_before())) << sentence;
        const deferred scope{w};
        sentence = sentence_of([&] { w.spawn_at(wanted); });
        EXPECT_TRUE(contains(sentence, line_before())) << sentence;
    };
    expect(e, " is already alive");
    expect(entity::pack(0, 3, w.number()),
           " cannot be created: its key is in use by " + to_string(e));
    expect(entity(), " can never be alive: it is the null id");
    expect(entity::pack(0, 0, 7), " belongs to world W:7, not to W:60931");
    w.destroy(e);
    expect(e, " cannot be created: key 0 is already at version " + std::to_string(e.version() + 1));
}

TEST(world_errors, a_fragment_passed_by_with_is_reported_at_the_call_of_with) {
    world w;
    const entity dead = w.spawn();
    w.destroy(dead);
    const std::string expected = "is dead: slot 0 is now at version 1";
    const auto check = [&](const std::string& sentence, const std::string& place) {
        EXPECT_TRUE(contains(sentence, expected)) << sentence;
        EXPECT_TRUE(contains(sentence, "(used at " + place + ")")) << sentence;
    };
    std::string sentence = sentence_of([&] { w.spawn(with(dead)); });
    check(sentence, line_before());
    sentence = sentence_of([&] { w.spawn(position{}, with(dead, 1)); });
    check(sentence, line_before());
    const auto value = with(dead, 1);
    const std::string place = line_before();
    check(sentence_of([&] { w.spawn_at(entity::pack(9, 0, w.number()), value); }), place);
    {
        const deferred scope{w};
        check(sentence_of([&] { w.spawn(position{}, value); }), place);
    }
    const fragment<int> typed = w.fragment<int>("typed");
    sentence = sentence_of([&] { w.spawn(with(typed.id(), 1.5)); });
    EXPECT_TRUE(contains(sentence, "(used at " + line_before() + ")")) << sentence;
}

}  // namespace
}  // namespace muster::test
