// Hooks: when they run, which state they see and which calls they may make.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace muster {
namespace {

using test::code_of;

struct name {
    std::string text;
};
struct weight {
    int kilos = 0;
};
struct marked {};

template <class Layout>
class hook : public ::testing::Test {
public:
    using handle = basic_id<Layout>;
    basic_world<Layout> home;
    std::string log;

    /// Logs changes of `name`: + inserted, = assigned, ! set, - removed.
    void watch() {
        home.template define<name>()
            .on_insert([this](handle e, name& n) { note('+', e, n); })
            .on_assign([this](handle e, name& n) { note('=', e, n); })
            .on_set([this](handle e, name& n) { note('!', e, n); })
            .on_remove([this](handle e, name& n) { note('-', e, n); });
    }
    void note(char what, handle e, const name& n) {
        EXPECT_TRUE(home.alive(e));
        EXPECT_EQ(home.template try_get<name>(e), &n);
        log += what + n.text;
    }
    std::string taken() { return std::exchange(log, {}); }
};
TYPED_TEST_SUITE(hook, test::behavior_layouts, test::layout_names);

TYPED_TEST(hook, is_called_by_every_call_that_adds_changes_or_removes) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->home;
    this->watch();
    const auto f = w.template component<name>();
    const auto e = w.spawn(name{"a"});
    EXPECT_EQ(this->taken(), "+a!a");
    w.set(e, name{"b"});
    w.set(e, name{"c"}, weight{1});
    EXPECT_EQ(this->taken(), "=b!b=c!c");
    EXPECT_EQ(w.template emplace<name>(e, "d").text, "d");
    w.template patch<name>(e, [](name& n) { n.text = "e"; });
    w.template touch<name>(e);
    w.set(e, f, name{"f"});
    w.touch(e, f);
    EXPECT_EQ(this->taken(), "=d!d=e!e=e!e=f!f=f!f");
    const auto c = w.clone(e);
    w.clone(e, name{"g"});
    EXPECT_EQ(this->taken(), "+f!f+g!g");
    EXPECT_TRUE(w.template remove<name>(c));
    EXPECT_FALSE(w.template remove<name>(c));
    EXPECT_TRUE(w.template add<name>(c));
    EXPECT_FALSE(w.template add<name>(c));
    EXPECT_TRUE(w.clear(c));
    EXPECT_EQ(this->taken(), "-f+!-");
    EXPECT_TRUE(w.destroy(e));
    EXPECT_EQ(this->taken(), "-f");
    w.spawn_many(2, name{"m"});
    w.clone_many(2, w.spawn(), name{"n"});
    w.builder().set(name{"o"}).spawn();
    EXPECT_EQ(this->taken(), "+m!m+m!m+n!n+n!n+o!o");
    w.spawn_rows(
        2, [](basic_rows<TypeParam> r) { r.template components<name>()[1].text.front() = 'q'; },
        name{"p"});
    EXPECT_EQ(this->taken(), "+p!p+q!q");
    EXPECT_EQ(w.template clear<name>(), 8u);
    EXPECT_EQ(this->taken(), "-m-m-n-n-o-p-q-g");
}

TYPED_TEST(hook, is_called_for_needed_and_copied_fragments) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->home;
    this->watch();
    w.template define<marked>().template needs<name>();
    w.template define<name>().default_value(name{"d"});
    const auto e = w.spawn(marked{});
    EXPECT_EQ(this->taken(), "+d!d");
    const auto other = w.template fragment<name>("other");
    w.set(w.spawn(), other, name{"x"});
    w.set(e, other, name{"y"});
    EXPECT_EQ(w.copy_fragment(other, w.template component<name>()), 2u);
    EXPECT_EQ(this->taken(), "=y!y+x!x");  // entities that have both fragments come first
}

TYPED_TEST(hook, is_called_when_a_fragment_is_destroyed_and_on_reset) {
    auto& w = this->home;
    this->watch();
    w.spawn(name{"a"});
    w.set_single(name{"s"});
    this->taken();
    w.destroy(w.template component<name>());
    EXPECT_EQ(this->taken(), "-s-a");  // the singleton comes first
    this->watch();                     // the type has a new fragment
    w.spawn(name{"b"});
    w.spawn(name{"c"}, weight{});
    this->taken();
    w.reset();
    EXPECT_EQ(this->taken(), "-b-c");
    EXPECT_EQ(w.size(), 0u);
    w.spawn(name{"d"});
    EXPECT_EQ(this->taken(), "+d!d");  // reset keeps hooks
}

TYPED_TEST(hook, is_not_called_by_the_destructor_of_the_world) {
    int calls = 0;
    {
        basic_world<TypeParam> w;
        w.template on_remove<name>([&] { ++calls; });
        w.on_destroy([&] { ++calls; });
        w.spawn(name{"a"});
    }
    EXPECT_EQ(calls, 0);
}

TYPED_TEST(hook, runs_oldest_first_and_kind_by_kind) {
    auto& w = this->home;
    std::string& calls = this->log;
    w.template on_set<name>([&] { calls += "s1"; });
    w.template on_insert<name>([&] { calls += "i1"; });
    w.template on_set<name>([&] { calls += "s2"; });
    w.template on_insert<name>([&] { calls += "i2"; });
    w.on_spawn([&] { calls += "spawn "; });
    w.on_destroy([&] { calls += " destroy"; });
    w.template on_remove<weight>([&] { calls += "w"; });
    const auto e = w.spawn(weight{}, name{});
    EXPECT_EQ(this->taken(), "spawn i1i2s1s2");
    w.destroy(e);
    EXPECT_EQ(this->taken(), "w destroy");
}

TYPED_TEST(hook, sees_the_net_effect_of_a_scope) {
    auto& w = this->home;
    this->watch();
    const auto a = w.spawn(name{"a"});
    const auto b = w.spawn(name{"b"});
    const auto c = w.spawn();
    this->taken();
    w.defer();
    w.set(c, name{"1"});
    w.set(a, name{"2"});
    w.set(c, name{"3"});
    w.template remove<name>(b);
    w.set(b, name{"4"});
    w.template remove<name>(a);
    const auto young = w.spawn(name{"5"});
    w.destroy(young);
    EXPECT_EQ(this->taken(), "");
    w.commit();
    EXPECT_EQ(this->taken(), "+3!3-a=4!4");
}

TYPED_TEST(hook, changes_apply_after_the_change_that_called_it) {
    auto& w = this->home;
    using id_type = basic_id<TypeParam>;
    w.template on_insert<name>([&](id_type e, name& n) {
        w.set(e, weight{static_cast<int>(n.text.size())});
        EXPECT_FALSE(w.template has<weight>(e));
        if (n.text.size() < 3) w.spawn(name{n.text + "x"});
    });
    w.template on_remove<weight>([&](id_type e, weight&) { w.destroy(e); });
    const auto e = w.spawn(name{"a"});
    EXPECT_EQ(w.template get<weight>(e).kilos, 1);
    EXPECT_EQ(w.size(), 3u);
    w.template remove<weight>(e);
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.template clear<weight>(), 2u);
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(hook, that_destroys_the_new_entity_leaves_no_dangling_reference) {
    auto& w = this->home;
    using id_type = basic_id<TypeParam>;
    const auto c = w.template on_insert<name>([&](id_type e, name&) { w.destroy(e); });
    EXPECT_FALSE(w.alive(w.spawn(name{})));
    const auto e = w.spawn();
    EXPECT_EQ(code_of([&] { w.template emplace<name>(e, "x"); }), errc::dead_entity);
    auto connection = c;
    connection.pause();
    w.template on_insert<name>([&](id_type added, name&) { w.set(added, weight{}); });
    const auto f = w.spawn();
    name& there = w.template emplace<name>(f, "y");
    EXPECT_EQ(&there, &w.template get<name>(f));
}

TYPED_TEST(hook, that_throws_undoes_the_change_that_called_it) {
    auto& w = this->home;
    using id_type = basic_id<TypeParam>;
    const auto first = w.spawn(weight{1});
    const auto e = w.spawn(weight{2});
    const auto last = w.spawn(weight{3});
    const auto before = w.locate(e);
    std::vector<id_type> made;
    w.template on_insert<name>([&](id_type added, name& n) {
        made.push_back(w.spawn(weight{}));  // dropped when the hook throws
        if (n.text == "bad") throw std::runtime_error("bad");
        w.set(added, marked{});
    });
    EXPECT_THROW(w.set(e, name{"bad"}, weight{9}), std::runtime_error);
    EXPECT_EQ(w.locate(e).chunk, before.chunk);
    EXPECT_EQ(w.locate(e).row, before.row);
    EXPECT_EQ(w.template get<weight>(e).kilos, 2);
    EXPECT_EQ(w.template get<weight>(last).kilos, 3);
    EXPECT_FALSE(w.alive(made[0]));
    EXPECT_THROW(w.spawn(name{"bad"}), std::runtime_error);
    EXPECT_THROW(w.spawn_many(3, name{"bad"}), std::runtime_error);
    EXPECT_THROW(w.clone(first, name{"bad"}), std::runtime_error);
    EXPECT_EQ(w.size(), 3u);
    EXPECT_EQ(w.template count<weight>(), 3u);
    w.set(e, name{"good"});
    EXPECT_TRUE(w.template has<marked>(e));
}

TYPED_TEST(hook, that_throws_on_assignment_restores_the_old_value) {
    auto& w = this->home;
    const auto e = w.spawn(name{"old, and too long for its object"});
    w.template on_set<name>([&](basic_id<TypeParam>, name& n) {
        if (n.text == "bad") throw std::runtime_error("bad");
    });
    EXPECT_THROW(w.set(e, name{"bad"}), std::runtime_error);
    EXPECT_EQ(w.template get<name>(e).text, "old, and too long for its object");
    EXPECT_THROW((w.template patch<name>(e, [](name& n) { n.text = "bad"; })), std::runtime_error);
    EXPECT_EQ(w.template get<name>(e).text, "bad");  // a patch writes in place and is not undone
}

TYPED_TEST(hook, that_throws_on_removal_keeps_the_component) {
    auto& w = this->home;
    using id_type = basic_id<TypeParam>;
    auto vetoes = w.template on_remove<name>([&](id_type, name& n) {
        if (n.text == "keep") throw std::runtime_error("kept");
    });
    const auto e = w.spawn(name{"keep"}, weight{1});
    const auto f = w.spawn(name{"go"}, weight{1});
    EXPECT_THROW(w.template remove<name>(e), std::runtime_error);
    EXPECT_THROW(w.clear(e), std::runtime_error);
    EXPECT_THROW(w.destroy(e), std::runtime_error);
    EXPECT_THROW(w.destroy(w.template component<name>()), std::runtime_error);
    EXPECT_EQ(w.template get<name>(e).text, "keep");
    EXPECT_EQ(w.template get<weight>(e).kilos, 1);
    EXPECT_THROW(w.destroy(f, e), std::runtime_error);
    EXPECT_TRUE(w.alive(e));
    EXPECT_FALSE(w.alive(f));
    w.spawn(marked{});
    EXPECT_THROW(w.reset(), std::runtime_error);
    EXPECT_EQ(w.size(), 1u);
    EXPECT_TRUE(w.alive(e));
    vetoes.pause();
    EXPECT_TRUE(w.destroy(e));
}

TYPED_TEST(hook, that_throws_on_destroy_keeps_the_entity_alive) {
    auto& w = this->home;
    using id_type = basic_id<TypeParam>;
    std::vector<id_type> spawned;
    w.on_spawn([&](id_type e) { spawned.push_back(e); });
    w.on_destroy([&](id_type e) {
        EXPECT_TRUE(w.alive(e));
        if (w.template has<marked>(e)) throw std::runtime_error("no");
    });
    const auto a = w.spawn(marked{});
    const auto b = w.spawn();
    EXPECT_EQ(spawned, (std::vector<id_type>{a, b}));
    EXPECT_THROW(w.destroy(a), std::runtime_error);
    EXPECT_TRUE(w.destroy(b));
    EXPECT_TRUE(w.alive(a));
    w.defer();
    const auto c = w.spawn();
    EXPECT_EQ(spawned.size(), 2u);
    w.cancel();
    EXPECT_EQ(spawned.size(), 2u);
    EXPECT_FALSE(w.alive(c));
    (void)w.template component<double>();  // world-owned ids call no spawn hooks
    EXPECT_EQ(spawned.size(), 2u);
}

TYPED_TEST(hook, that_throws_does_not_stop_the_other_entities_of_a_commit) {
    auto& w = this->home;
    w.template on_insert<name>([&](basic_id<TypeParam>, name& n) {
        if (n.text[0] == 'x') throw std::runtime_error(n.text);
    });
    w.defer();
    const auto a = w.spawn(name{"x1"}, weight{1});
    const auto b = w.spawn(name{"b"});
    const auto c = w.spawn(name{"x2"});
    const auto d = w.spawn(name{"d"});
    std::string first;
    try {
        w.commit();
    } catch (const std::runtime_error& e) {
        first = e.what();
    }
    EXPECT_EQ(first, "x1");
    EXPECT_FALSE(w.alive_any(a, c));
    EXPECT_TRUE(w.alive_all(b, d));
    EXPECT_EQ(w.depth(), 0u);
    w.defer();
    EXPECT_TRUE(w.commit());  // the failed changes are not applied again
    EXPECT_EQ(w.size(), 2u);
}

TYPED_TEST(hook, must_close_the_scopes_it_opens) {
    auto& w = this->home;
    auto bad = w.template on_insert<name>([&] { w.defer(); });
    EXPECT_EQ(code_of([&] { w.spawn(name{}); }), errc::unbalanced_scope);
    EXPECT_EQ(w.depth(), 0u);
    EXPECT_EQ(w.size(), 0u);
    bad.disconnect();
    w.template on_insert<name>([&] {
        EXPECT_EQ(code_of([&] { w.commit(); }), errc::unbalanced_scope);
        EXPECT_EQ(code_of([&] { w.reset(); }), errc::in_scope);
        w.defer();
        w.spawn(marked{});
        w.commit();
        w.defer();
        w.spawn(marked{});
        w.cancel();
    });
    w.spawn(name{});
    EXPECT_EQ(w.template count<marked>(), 1u);
}

TYPED_TEST(hook, may_define_name_and_query) {
    MUSTER_ABOUT_CHUNKS();
    auto& w = this->home;
    using id_type = basic_id<TypeParam>;
    int found = 0;
    w.template on_insert<name>([&](id_type e, name&) {
        w.name(e, "it");
        w.template define<weight>().template needs<marked>();
        w.template on_remove<name>([&] { ++found; });
        (void)w.template chunk<name, weight, marked>();
        found += static_cast<int>(w.template query<name>().count());
        w.set(e, weight{2});
        w.reserve(1000);
    });
    const auto e = w.spawn(name{});
    EXPECT_EQ(found, 1);
    EXPECT_EQ(w.lookup("it"), e);
    EXPECT_TRUE((w.template has_all<name, weight, marked>(e)));
    w.destroy(e);
    EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace muster
