// What errors about fragments say.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <source_location>
#include <string>

#include "support/about_chunks.hpp"
#include "support/fragment_kinds.hpp"

namespace muster::test {
namespace {

/// Where the line before this one stands.
std::string line_before(std::source_location here = std::source_location::current()) {
    return "fragment_errors_test.cpp:" + std::to_string(here.line() - 1);
}

TEST(fragment_errors, name_the_fragment_and_both_types) {
    world w{world_options{.number = 971}};
    const auto health = w.fragment<int>("health");
    const id enemy = w.tag("enemy");
    const entity e = w.spawn(with(health, 1));
    std::string said = sentence_of([&] { (void)w.get<double>(e, health.id()); });
    std::string call = line_before();
    EXPECT_EQ(said, "fragment health holds values of int, not double (get at " + call + ")");
    said = sentence_of([&] { (void)w.get<int>(e, enemy); });
    call = line_before();
    EXPECT_EQ(said, "fragment enemy is a tag and holds no values, not int (get at " + call + ")");
    const id plain = w.spawn();
    w.set(e, plain, 1.5);
    said = sentence_of([&] { (void)w.get<int>(e, plain); });
    call = line_before();
    EXPECT_EQ(said, "fragment E:971-3[0] holds values of double, not int (get at " + call + ")");
    said = sentence_of([&] { (void)w.chunk(enemy).components<double>(health.id()); });
    EXPECT_EQ(said, "fragment health holds values of int, not double");
    EXPECT_EQ(code_of([&] { w.set(e, health.id(), 1.5); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.set(e, with(health.id())); }), errc::type_mismatch);
    EXPECT_EQ(w.get(e, health), 1);
}

TEST(fragment_errors, name_what_is_missing_and_what_is_there) {
    MUSTER_ABOUT_CHUNKS();
    world w{world_options{.number = 972}};
    const auto health = w.fragment<int>("health");
    const auto mana = w.fragment<int>("mana");
    const entity e = w.spawn(with(health, 1), std::string());
    w.name(e, "orc");
    const std::string said = sentence_of([&] { (void)w.get(e, mana); });
    const std::string call = line_before();
    EXPECT_EQ(said, "entity E:972-2[0] \"orc\" has no mana: it has health, std::string (get at " +
                        call + ")");
    EXPECT_EQ(sentence_of([&] { (void)w.chunk(health).components(mana); }),
              "the chunk <health> has no mana");
}

TEST(fragment_errors, show_the_name_that_a_fragment_has_by_then) {
    world w{world_options{.number = 973}};
    const auto f = w.fragment<int>("hp");
    const entity e = w.spawn();
    const auto said = [&] { return sentence_of([&] { (void)w.get(e, f); }); };
    EXPECT_NE(said().find(" has no hp:"), std::string::npos);
    w.name(f, "health");
    EXPECT_NE(said().find(" has no health:"), std::string::npos);
    for (int i = 0; i < 500; ++i) w.name(w.spawn(), "n" + std::to_string(i));
    EXPECT_NE(said().find(" has no health:"), std::string::npos);
    w.name(f, "");
    EXPECT_NE(said().find(" has no E:973-0[0]:"), std::string::npos);
    w.define<place>().name("spot");
    EXPECT_EQ(sentence_of([&] { (void)w.spawn(place{}, with(w.component<place>(), place{})); }),
              "spot is given twice: an entity has one value of a fragment");
}

TEST(fragment_errors, tell_where_a_dead_fragment_died) {
    world w{world_options{.number = 974, .provenance = true}};
    const auto f = w.fragment<int>("health");
    const entity e = w.spawn(with(f, 1));
    w.destroy(f);
    const std::string death = line_before();
    const std::string said = sentence_of([&] { (void)w.get(e, f); });
    const std::string call = line_before();
    EXPECT_EQ(said, "fragment E:974-0[0] \"health\" is dead: destroyed at " + death +
                        "; slot 0 is now at version 1 (get at " + call + ")");
    EXPECT_EQ(sentence_of([&] { (void)w.define(id{}); }),
              "fragment E:null is dead: it is the null id, which names nothing");
}

TEST(fragment_errors, tell_that_owners_died_with_their_fragment) {
    world w{world_options{.number = 975, .provenance = true}};
    const id f = w.tag("zone");
    w.define(f).when_destroyed(destroy_owners);
    const entity e = w.spawn(with(f));
    w.destroy(f);
    const std::string death = line_before();
    const std::string said = sentence_of([&] { w.clone(e); });
    const std::string call = line_before();
    EXPECT_EQ(said, "entity E:975-1[0] is dead: destroyed at " + death +
                        "; slot 1 is now at version 1 (clone at " + call + ")");
}

TEST(fragment_errors, tell_what_has_no_default_and_what_cannot_be_copied) {
    MUSTER_ABOUT_CHUNKS();
    world w{world_options{.number = 976}};
    const auto f = w.fragment<given>("given");
    const auto l = w.fragment<lone>("lone");
    const id t = w.tag("t");
    w.define(t).needs(f);
    const entity e = w.spawn(with(l, lone(1)));
    std::string said = sentence_of([&] { w.add(e, f); });
    std::string call = line_before();
    EXPECT_EQ(said, "given has no default value: give one, or define it (add at " + call + ")");
    EXPECT_EQ(sentence_of([&] { w.spawn(with(t)); }),
              "given is needed but has no default value: give one, or define it");
    said = sentence_of([&] { w.clone(e); });
    call = line_before();
    EXPECT_EQ(said,
              "entity E:976-3[0] cannot be cloned: its lone cannot be copied; give the clone one, "
              "or remove it (clone at " +
                  call + ")");
    EXPECT_EQ(sentence_of([&] { (void)w.chunk(w.spawn()); }),
              "fragment E:976-4[0] has no type yet: give an entity a value of it, or make it by "
              "fragment() or tag()");
}

TEST(fragment_errors, tell_a_fragment_of_another_world) {
    MUSTER_ABOUT_CHUNKS();
    world one{world_options{.number = 981}}, two{world_options{.number = 982}};
    const auto f = one.fragment<int>("f");
    const auto twin = two.fragment<int>("twin");  // has the same key and version
    const entity e = two.spawn(with(twin, 1));
    const std::string said = sentence_of([&] { (void)two.get(e, f); });
    const std::string call = line_before();
    EXPECT_EQ(said,
              "fragment E:981-0[0] belongs to world W:981, not to W:982 (get at " + call + ")");
    const auto foreign = errc::foreign_entity;
    const int value = 2;
    EXPECT_EQ(code_of([&] { two.set(e, f, 2); }), foreign);
    EXPECT_EQ(code_of([&] { two.set(e, f); }), foreign);
    EXPECT_EQ(code_of([&] { two.add(e, f); }), foreign);
    EXPECT_EQ(code_of([&] { two.set_raw(e, f, &value); }), foreign);
    EXPECT_EQ(code_of([&] { two.patch(e, f, [](int&) {}); }), foreign);
    EXPECT_EQ(code_of([&] { two.remove(e, f); }), foreign);
    EXPECT_EQ(code_of([&] { two.remove(e, twin, f); }), foreign);
    EXPECT_EQ(code_of([&] { two.copy_fragment(f, twin); }), foreign);
    EXPECT_EQ(code_of([&] { two.copy_fragment(twin, f); }), foreign);
    EXPECT_EQ(code_of([&] { two.spawn(with(f, 1)); }), foreign);
    EXPECT_EQ(code_of([&] { two.spawn_many(2, with(f, 1)); }), foreign);
    EXPECT_EQ(code_of([&] { two.clone(e, with(f, 1)); }), foreign);
    EXPECT_EQ(code_of([&] { two.builder().set(f, 1).spawn(); }), foreign);
    EXPECT_EQ(code_of([&] { (void)two.define(f); }), foreign);
    EXPECT_EQ(code_of([&] { two.define(twin).needs(f); }), foreign);
    EXPECT_EQ(code_of([&] { (void)two.chunk(f); }), foreign);
    EXPECT_EQ(code_of([&] { (void)two.chunk(twin).components(f); }), foreign);
    EXPECT_EQ(code_of([&] { two.each_fragment(f, [](id, void*) {}); }), foreign);
    EXPECT_EQ(code_of([&] { two.destroy(f); }), foreign);
    EXPECT_EQ(two.get(e, twin), 1);
    EXPECT_EQ(two.size(), 2u);
    EXPECT_TRUE(one.alive(f));
}

}  // namespace
}  // namespace muster::test
