// Messages of errors about fragments.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <source_location>
#include <string>

#include "support/about_chunks.hpp"
#include "support/fragment_kinds.hpp"
#include "support/numbered.hpp"

namespace muster::test {
namespace {

/// File and number of the line before the call.
std::string line_before(std::source_location here = std::source_location::current()) {
    return "fragment_errors_test.cpp:" + std::to_string(here.line() - 1);
}

TEST(fragment_errors, name_the_fragment_and_both_types) {
    world w{world_options{.number = 60971}};
    const auto health = w.fragment<int>("health");
    const id enemy = w.tag("enemy");
    const entity e = w.spawn(with(health, 1));
    std::string message = sentence_of([&] { (void)w.get<double>(e, health.id()); });
    std::string call = line_before();
    EXPECT_EQ(message, "fragment health holds values of int, not double (get at " + call + ")");
    message = sentence_of([&] { (void)w.get<int>(e, enemy); });
    call = line_before();
    EXPECT_EQ(message, "fragment enemy is a tag: it holds no values of int (get at " + call + ")");
    const id plain = w.spawn();
    w.set(e, plain, 1.5);
    message = sentence_of([&] { (void)w.get<int>(e, plain); });
    call = line_before();
    EXPECT_EQ(message,
              "fragment E:60971-3[0] holds values of double, not int (get at " + call + ")");
    message = sentence_of([&] { (void)w.chunk(enemy).components<double>(health.id()); });
    EXPECT_EQ(message, "fragment health holds values of int, not double");
    EXPECT_EQ(code_of([&] { w.set(e, health.id(), 1.5); }), errc::type_mismatch);
    EXPECT_EQ(code_of([&] { w.set(e, with(health.id())); }), errc::type_mismatch);
    EXPECT_EQ(w.get(e, health), 1);
}

TEST(fragment_errors, name_the_missing_fragment_and_those_of_the_entity) {
    MUSTER_ABOUT_CHUNKS();
    world w{world_options{.number = 60972}};
    const auto health = w.fragment<int>("health");
    const auto mana = w.fragment<int>("mana");
    const entity e = w.spawn(with(health, 1), std::string());
    w.name(e, "orc");
    const std::string message = sentence_of([&] { (void)w.get(e, mana); });
    const std::string call = line_before();
    EXPECT_EQ(message,
              "entity E:60972-2[0] \"orc\" has no mana: it has health, std::string (get at " +
                  call + ")");
    EXPECT_EQ(sentence_of([&] { (void)w.chunk(health).components(mana); }),
              "the chunk <health> has no mana");
}

TEST(fragment_errors, show_the_current_name_of_a_fragment) {
    world w{world_options{.number = 60973}};
    const auto f = w.fragment<int>("hp");
    const entity e = w.spawn();
    const auto message = [&] { return sentence_of([&] { (void)w.get(e, f); }); };
    EXPECT_NE(message().find(" has no hp:"), std::string::npos);
    w.name(f, "health");
    EXPECT_NE(message().find(" has no health:"), std::string::npos);
    for (int i = 0; i < 500; ++i) w.name(w.spawn(), numbered("n", i));
    EXPECT_NE(message().find(" has no health:"), std::string::npos);
    w.name(f, "");
    EXPECT_NE(message().find(" has no E:60973-0[0]:"), std::string::npos);
    w.define<place>().name("spot");
    EXPECT_EQ(sentence_of([&] { (void)w.spawn(place{}, with(w.component<place>(), place{})); }),
              "spot is passed twice: an entity has at most one value per fragment");
}

TEST(fragment_errors, name_the_line_that_destroyed_a_fragment) {
    world w{world_options{.number = 60974, .provenance = true}};
    const auto f = w.fragment<int>("health");
    const entity e = w.spawn(with(f, 1));
    w.destroy(f);
    const std::string destruction = line_before();
    const std::string message = sentence_of([&] { (void)w.get(e, f); });
    const std::string call = line_before();
    EXPECT_EQ(message, "fragment E:60974-0[0] \"health\" is dead: destroyed at " + destruction +
                           "; slot 0 is now at version 1 (get at " + call + ")");
    EXPECT_EQ(sentence_of([&] { (void)w.define(id{}); }),
              "fragment E:null is dead: it is the null id, which names no entity");
}

TEST(fragment_errors, name_the_line_that_destroyed_an_owner_with_its_fragment) {
    world w{world_options{.number = 60975, .provenance = true}};
    const id f = w.tag("zone");
    w.define(f).when_destroyed(destroy_owners);
    const entity e = w.spawn(with(f));
    w.destroy(f);
    const std::string destruction = line_before();
    const std::string message = sentence_of([&] { w.clone(e); });
    const std::string call = line_before();
    EXPECT_EQ(message, "entity E:60975-1[0] is dead: destroyed at " + destruction +
                           "; slot 1 is now at version 1 (clone at " + call + ")");
}

TEST(fragment_errors, name_a_fragment_that_has_no_default_or_cannot_be_copied) {
    MUSTER_ABOUT_CHUNKS();
    world w{world_options{.number = 976}};
    const auto f = w.fragment<given>("given");
    const auto l = w.fragment<lone>("lone");
    const id t = w.tag("t");
    w.define(t).needs(f);
    const entity e = w.spawn(with(l, lone(1)));
    std::string message = sentence_of([&] { w.add(e, f); });
    std::string call = line_before();
    EXPECT_EQ(message,
              "given has no default value: pass a value or define a default (add at " + call + ")");
    EXPECT_EQ(sentence_of([&] { w.spawn(with(t)); }),
              "given is needed but has no default value: pass a value or define a default");
    message = sentence_of([&] { w.clone(e); });
    call = line_before();
    EXPECT_EQ(message,
              "entity E:976-3[0] cannot be cloned: its lone cannot be copied; pass a value for the "
              "clone or remove the component (clone at " +
                  call + ")");
    EXPECT_EQ(
        sentence_of([&] { (void)w.chunk(w.spawn()); }),
        "fragment E:976-4[0] has no type yet: set a value of it on an entity, or create it with "
        "fragment() or tag()");
}

TEST(fragment_errors, detect_a_fragment_of_another_world) {
    MUSTER_ABOUT_CHUNKS();
    world first{world_options{.number = 981}}, second{world_options{.number = 982}};
    const auto f = first.fragment<int>("f");
    const auto twin = second.fragment<int>("twin");  // has the same key and version
    const entity e = second.spawn(with(twin, 1));
    const std::string message = sentence_of([&] { (void)second.get(e, f); });
    const std::string call = line_before();
    EXPECT_EQ(message,
              "fragment E:981-0[0] belongs to world W:981, not to W:982 (get at " + call + ")");
    const auto foreign = errc::foreign_entity;
    const int value = 2;
    EXPECT_EQ(code_of([&] { second.set(e, f, 2); }), foreign);
    EXPECT_EQ(code_of([&] { second.set(e, f); }), foreign);
    EXPECT_EQ(code_of([&] { second.add(e, f); }), foreign);
    EXPECT_EQ(code_of([&] { second.set_raw(e, f, &value); }), foreign);
    EXPECT_EQ(code_of([&] { second.patch(e, f, [](int&) {}); }), foreign);
    EXPECT_EQ(code_of([&] { second.remove(e, f); }), foreign);
    EXPECT_EQ(code_of([&] { second.remove(e, twin, f); }), foreign);
    EXPECT_EQ(code_of([&] { second.copy_fragment(f, twin); }), foreign);
    EXPECT_EQ(code_of([&] { second.copy_fragment(twin, f); }), foreign);
    EXPECT_EQ(code_of([&] { second.spawn(with(f, 1)); }), foreign);
    EXPECT_EQ(code_of([&] { second.spawn_many(2, with(f, 1)); }), foreign);
    EXPECT_EQ(code_of([&] { second.clone(e, with(f, 1)); }), foreign);
    EXPECT_EQ(code_of([&] { second.builder().set(f, 1).spawn(); }), foreign);
    EXPECT_EQ(code_of([&] { (void)second.define(f); }), foreign);
    EXPECT_EQ(code_of([&] { second.define(twin).needs(f); }), foreign);
    EXPECT_EQ(code_of([&] { (void)second.chunk(f); }), foreign);
    EXPECT_EQ(code_of([&] { (void)second.chunk(twin).components(f); }), foreign);
    EXPECT_EQ(code_of([&] { second.each_fragment(f, [](id, void*) {}); }), foreign);
    EXPECT_EQ(code_of([&] { second.destroy(f); }), foreign);
    EXPECT_EQ(second.get(e, twin), 1);
    EXPECT_EQ(second.size(), 2u);
    EXPECT_TRUE(first.alive(f));
}

}  // namespace
}  // namespace muster::test
