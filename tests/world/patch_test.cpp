// patch in scopes: writes in place, which a cancel undoes.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::broken;
using test::code_of;
using test::copies;
using test::sentence_of;
using test::tracked;

struct number {
    int value = 0;
};
/// Its copy throws when the countdown strikes.
struct strained : tracked<strained> {
    int value = 0;
    explicit strained(int from = 0) : value(from) {}
    strained(const strained& other) : tracked(other), value(other.value) {
        if (copies.strikes()) throw broken{};
    }
    strained(strained&& other) noexcept
        : tracked(std::move(other)), value(std::exchange(other.value, -1)) {}
};
struct alignas(128) wide {
    int value = 0;
};
struct loose {  // sparse
    int value = 0;
    std::string more = "a string that does not fit into itself";
};
/// Copyable, but a move may throw: pinned.
struct heavy : tracked<heavy> {
    int value = 0;
    explicit heavy(int from = 0) : value(from) {}
    heavy(const heavy& other) : tracked(other), value(other.value) {
        if (copies.strikes()) throw broken{};
    }
    heavy& operator=(const heavy&) = delete;
    ~heavy() = default;
};
struct owned {
    std::unique_ptr<int> value;
};
struct flag {};

}  // namespace
}  // namespace muster

template <>
struct muster::component_traits<muster::loose> {
    static constexpr bool sparse = true;
};

namespace muster {
namespace {

template <class Layout, class Kind>
struct setting {
    using layout = Layout;
    using kind = Kind;
};

template <class Setting>
class patch : public ::testing::Test {
public:
    using kind_type = typename Setting::kind;
    using id_type = basic_id<typename Setting::layout>;

    ~patch() override {
        copies.stop();
        EXPECT_EQ(strained::count.misused + heavy::count.misused, 0);
    }
    id_type spawn(int value) { return home.spawn(kind_type{value}); }
    int value(id_type e) { return home.template get<kind_type>(e).value; }
    void add(id_type e, int more) {
        home.template patch<kind_type>(e, [&](kind_type& k) { k.value += more; });
    }

    basic_world<typename Setting::layout> home;
};
using settings = ::testing::Types<setting<layouts::bound, number>,
                                  setting<layouts::bound, strained>, setting<layouts::bound, wide>,
                                  setting<layouts::bound, loose>, setting<layouts::bound, heavy>,
                                  setting<layouts::exact, number>, setting<layouts::exact, loose>>;
TYPED_TEST_SUITE(patch, settings, );

// ---- in place ----------------------------------------------------------------------------------

TYPED_TEST(patch, and_writes_through_references_add_up_in_a_loop) {
    const auto e = this->spawn(100);
    this->home.template query<typename TypeParam::kind>().each([&](auto& k) {
        this->add(e, -10);
        for (int i = 0; i < 3; ++i)
            this->home.template get<typename TypeParam::kind>(e).value -= 10;
        k.value -= 1;
        EXPECT_EQ(this->value(e), 59);
    });
    EXPECT_EQ(this->value(e), 59);
}

TYPED_TEST(patch, keeps_the_address_of_the_value) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    kind* const there = &w.template get<kind>(e);
    w.defer();
    EXPECT_EQ(&w.template patch<kind>(e, [](kind& k) { k.value = 2; }), there);
    EXPECT_EQ(&w.template get<kind>(e), there);
    w.cancel();
    EXPECT_EQ(&w.template get<kind>(e), there);
    EXPECT_EQ(there->value, 1);
}

TYPED_TEST(patch, is_undone_by_cancel_together_with_later_writes) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    w.template get<kind>(e).value = 2;
    w.defer();
    w.template get<kind>(e).value = 3;  // before the first patch: stays
    this->add(e, 10);
    this->add(e, 100);
    w.template get<kind>(e).value += 1000;
    EXPECT_EQ(this->value(e), 1113);
    w.cancel();
    EXPECT_EQ(this->value(e), 3);
    w.defer();
    this->add(e, 10);
    w.commit();
    EXPECT_EQ(this->value(e), 13);
}

TYPED_TEST(patch, of_a_pending_value_changes_that) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    const auto made = w.spawn();
    w.defer();
    this->add(e, 10);
    w.set(e, kind{5});
    this->add(e, 20);
    w.set(made, kind{6});
    this->add(made, 30);
    const auto fresh = w.spawn(kind{7});
    this->add(fresh, 40);
    EXPECT_EQ(this->value(e), 11);
    EXPECT_EQ(code_of([&] { (void)this->value(made); }), errc::missing_component);
    w.commit();
    EXPECT_EQ(this->value(e), 25);
    EXPECT_EQ(this->value(made), 36);
    EXPECT_EQ(this->value(fresh), 47);
    w.defer();
    this->add(e, 1);
    w.set(e, kind{9});
    this->add(e, 1);
    w.cancel();
    EXPECT_EQ(this->value(e), 25);
}

// ---- nested scopes -----------------------------------------------------------------------------

TYPED_TEST(patch, in_nested_scopes_is_undone_to_the_first_patch_of_the_cancelled_scope) {
    auto& w = this->home;
    const auto e = this->spawn(1);
    w.defer();
    this->add(e, 10);
    w.defer();
    this->add(e, 100);
    this->add(e, 100);
    w.cancel();
    EXPECT_EQ(this->value(e), 11);
    w.defer();
    this->add(e, 1000);
    w.commit();  // hands its undo to the outer scope
    EXPECT_EQ(this->value(e), 1011);
    w.cancel();
    EXPECT_EQ(this->value(e), 1);
}

TYPED_TEST(patch, of_the_pending_value_of_an_outer_scope_is_undone) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    w.defer();
    kind& pending = w.template emplace<kind>(e, 5);
    w.defer();
    this->add(e, 10);
    this->add(e, 10);
    EXPECT_EQ(pending.value, 25);
    pending.value += 3;
    w.cancel();
    EXPECT_EQ(pending.value, 5);
    w.defer();
    this->add(e, 100);
    w.set(e, kind{6});
    this->add(e, 1);
    w.cancel();
    w.defer();
    this->add(e, 1000);
    w.commit();
    w.commit();
    EXPECT_EQ(this->value(e), 1005);
}

TYPED_TEST(patch, in_a_cancelled_scope_keeps_the_pending_values_of_the_outer_scope) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = w.spawn();
    w.defer();
    w.template add<kind>(e);
    w.template clear<flag>();  // changes before and after it are not merged
    w.defer();
    this->add(e, 7);
    w.template remove<kind>(e);
    w.cancel();
    this->add(e, 1);
    w.commit();
    EXPECT_EQ(this->value(e), 1);
}

TYPED_TEST(patch, is_undone_by_an_exception_that_leaves_a_loop) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    const auto other = this->spawn(2);
    const auto fail = [&] {
        w.template query<kind>().each([&](auto x, kind&) {
            this->add(x, 10);
            if (x == other) throw std::runtime_error("no");
        });
    };
    EXPECT_THROW(fail(), std::runtime_error);
    EXPECT_EQ(this->value(e), 1);
    EXPECT_EQ(this->value(other), 2);
}

// ---- other changes in the scope ----------------------------------------------------------------

TYPED_TEST(patch, after_a_recorded_removal_is_an_error) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    const auto refuses = [&] {
        const std::string message = sentence_of([&] { this->add(e, 1); });
        EXPECT_NE(message.find("it is removed when the scope closes"), std::string::npos)
            << message;
        EXPECT_EQ(code_of([&] { this->add(e, 1); }), errc::missing_component);
    };
    const auto in_scope = [&](auto change) {
        w.defer();
        this->add(e, 10);
        change();
        refuses();
        w.cancel();
        EXPECT_EQ(this->value(e), 1);
    };
    in_scope([&] { w.template remove<kind>(e); });
    in_scope([&] { w.clear(e); });
    in_scope([&] { w.destroy(e); });
    in_scope([&] { w.template clear<kind>(); });
    in_scope([&] { w.destroy(w.template component<kind>()); });
    w.defer();
    this->add(e, 10);
    w.template remove<kind>(e);
    w.set(e, kind{5});
    this->add(e, 1);
    w.commit();
    EXPECT_EQ(this->value(e), 6);
    w.defer();
    this->add(e, 10);
    w.destroy(e);
    w.commit();
    EXPECT_FALSE(w.alive(e));
}

TYPED_TEST(patch, survives_moves_of_the_entity_by_later_changes) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    std::vector<basic_id<typename TypeParam::layout>> all;
    for (int i = 0; i < 40; ++i) all.push_back(this->spawn(i));
    w.defer();
    for (const auto e : all) this->add(e, 100);
    for (const auto e : all) w.set(e, flag{});
    w.template reserve<kind>(1000);  // moves the values at once
    w.cancel();
    for (int i = 0; i < 40; ++i) EXPECT_EQ(this->value(all[static_cast<std::size_t>(i)]), i);
    w.defer();
    for (const auto e : all) this->add(e, 100);
    for (const auto e : all) w.set(e, flag{});
    w.commit();
    for (int i = 0; i < 40; ++i) EXPECT_EQ(this->value(all[static_cast<std::size_t>(i)]), 100 + i);
}

TYPED_TEST(patch, is_seen_by_a_clone_recorded_after_it) {
    auto& w = this->home;
    const auto e = this->spawn(1);
    w.defer();
    this->add(e, 10);
    const auto clone = w.clone(e);
    w.commit();
    EXPECT_EQ(this->value(clone), 11);
}

// ---- hooks and observers -----------------------------------------------------------------------

TYPED_TEST(patch, calls_the_hooks_once_at_the_commit) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    std::vector<int> assigned, set;
    w.template on_assign<kind>([&](auto, kind& k) { assigned.push_back(k.value); });
    w.template on_set<kind>([&](auto, kind& k) { set.push_back(k.value); });
    auto seen = w.template observer<kind>();
    w.defer();
    this->add(e, 1);
    this->add(e, 1);
    EXPECT_TRUE(assigned.empty());
    w.defer();
    this->add(e, 1);
    w.commit();
    w.commit();
    EXPECT_EQ(assigned, std::vector<int>{4});
    EXPECT_EQ(set, std::vector<int>{4});
    EXPECT_EQ(seen.take().size(), 1u);
    w.defer();
    this->add(e, 1);
    w.set(e, kind{9});
    this->add(e, 1);
    w.commit();
    EXPECT_EQ(assigned, (std::vector<int>{4, 10}));
    w.defer();
    this->add(e, 1);
    w.cancel();
    EXPECT_EQ(assigned.size(), 2u);
    EXPECT_EQ(seen.take().size(), 1u);
    w.defer();
    this->add(e, 1);
    w.template remove<kind>(e);
    w.commit();
    EXPECT_EQ(assigned.size(), 2u);
}

TYPED_TEST(patch, is_not_undone_by_a_hook_that_throws_at_the_commit) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    w.template on_assign<kind>([](auto, kind&) { throw std::runtime_error("no"); });
    w.defer();
    this->add(e, 10);
    EXPECT_THROW(w.commit(), std::runtime_error);
    EXPECT_EQ(this->value(e), 11);
    w.defer();
    this->add(e, 10);
    w.set(e, kind{5});
    EXPECT_THROW(w.commit(), std::runtime_error);
    EXPECT_EQ(this->value(e), 21);
}

TYPED_TEST(patch, of_a_failing_hook_is_undone_before_its_cause) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    const auto other = this->spawn(2);
    w.set(other, flag{});
    w.template on_set<kind>([&](auto x, kind&) {
        this->add(x, 1000);
        this->add(other, 1000);
        throw std::runtime_error("no");
    });
    const auto check = [&] {
        EXPECT_EQ(this->value(e), 1);
        EXPECT_EQ(this->value(other), 2);
    };
    EXPECT_THROW(w.set(e, kind{5}), std::runtime_error);
    check();
    EXPECT_THROW(w.set(e, kind{5}, flag{}), std::runtime_error);
    check();
    w.defer();
    w.set(e, kind{5});
    EXPECT_THROW(w.commit(), std::runtime_error);
    check();
    const auto set_all = [&] { w.template query<kind>().set(kind{5}); };
    EXPECT_THROW(set_all(), std::runtime_error);
    check();
    EXPECT_THROW(w.spawn(kind{3}), std::runtime_error);
    EXPECT_THROW(w.spawn_many(3, kind{3}), std::runtime_error);
    check();
    EXPECT_EQ(w.size(), 2u);
}

TYPED_TEST(patch, of_a_hook_that_vetoes_a_removal_is_undone) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    w.template on_remove<kind>([&](auto x, kind&) {
        this->add(x, 1000);
        throw std::runtime_error("no");
    });
    EXPECT_THROW(w.template remove<kind>(e), std::runtime_error);
    EXPECT_THROW(w.clear(e), std::runtime_error);
    EXPECT_THROW(w.destroy(e), std::runtime_error);
    EXPECT_THROW(w.template clear<kind>(), std::runtime_error);
    EXPECT_EQ(this->value(e), 1);
}

TYPED_TEST(patch, of_a_hook_changes_the_values_that_are_applied_later) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = w.spawn();
    const auto other = w.spawn();
    int count = 0;
    w.template on_insert<flag>([&] {
        if (++count == 1) this->add(other, 1000);
    });
    w.defer();
    w.set(e, flag{});
    w.set(other, kind{5});
    w.commit();
    EXPECT_EQ(this->value(other), 1005);
}

// ---- exceptions --------------------------------------------------------------------------------

TYPED_TEST(patch, that_throws_keeps_what_it_has_written_until_the_cancel) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    const auto e = this->spawn(1);
    int calls = 0;
    w.template on_assign<kind>([&] { ++calls; });
    const auto fail = [&] {
        w.template patch<kind>(e, [&](kind& k) {
            k.value = 5;
            w.set(e, flag{});
            throw std::runtime_error("no");
        });
    };
    w.defer();
    EXPECT_THROW(fail(), std::runtime_error);
    EXPECT_EQ(this->value(e), 5);
    w.cancel();
    EXPECT_EQ(this->value(e), 1);
    w.defer();
    EXPECT_THROW(fail(), std::runtime_error);
    w.commit();
    EXPECT_EQ(this->value(e), 5);
    EXPECT_EQ(calls, 1);  // the value has changed
    EXPECT_FALSE(w.template has<flag>(e));
}

TYPED_TEST(patch, whose_copy_throws_changes_nothing) {
    auto& w = this->home;
    using kind = typename TypeParam::kind;
    if constexpr (std::is_same_v<kind, strained> || std::is_same_v<kind, heavy>) {
        const auto e = this->spawn(1);
        int calls = 0;
        w.template on_assign<kind>([&] { ++calls; });
        w.defer();
        copies.start(0);
        EXPECT_THROW(this->add(e, 1), broken);
        EXPECT_TRUE(copies.has_struck());
        EXPECT_EQ(this->value(e), 1);
        w.commit();
        EXPECT_EQ(calls, 0);
        w.defer();
        w.template emplace<kind>(e, 5);
        w.defer();
        copies.start(0);
        EXPECT_THROW(this->add(e, 1), broken);
        w.commit();
        w.commit();
        EXPECT_EQ(this->value(e), 5);
    }
}

TEST(patch_in_scopes, restores_a_pinned_value_whose_copy_back_throws) {
    world w;
    const entity e = w.spawn(heavy(1));
    w.defer();
    w.patch<heavy>(e, [](heavy& k) { k.value = 2; });
    copies.start(0);
    w.cancel();
    EXPECT_TRUE(copies.has_struck());
    EXPECT_EQ(w.get<heavy>(e).value, 1);
    w.defer();
    w.emplace<heavy>(e, 5);
    w.defer();
    w.patch<heavy>(e, [](heavy& k) { k.value = 6; });
    copies.start(0);
    w.cancel();
    EXPECT_TRUE(copies.has_struck());
    w.commit();
    EXPECT_EQ(w.get<heavy>(e).value, 5);
    EXPECT_EQ(w.count<heavy>(), 1u);
    copies.stop();
    w.reset();
    EXPECT_EQ(heavy::count.living, 0);
}

TEST(patch_in_scopes, needs_a_copyable_component_unless_the_value_is_pending) {
    world w;
    const entity e = w.spawn(owned{});
    w.defer();
    EXPECT_EQ(code_of([&] { w.patch<owned>(e, [](owned&) {}); }), errc::not_copyable);
    w.set(e, owned{std::make_unique<int>(1)});
    w.patch<owned>(e, [](owned& o) { *o.value = 2; });
    w.defer();
    EXPECT_EQ(code_of([&] { w.patch<owned>(e, [](owned&) {}); }), errc::not_copyable);
    w.commit();
    w.commit();
    EXPECT_EQ(*w.get<owned>(e).value, 2);
}

// ---- fragments ---------------------------------------------------------------------------------

TEST(patch_in_scopes, works_by_fragment) {
    world w;
    const fragment<std::string> f = w.fragment<std::string>("text");
    const entity raw = w.spawn();
    const entity e = w.spawn(with(f, "a"), with(raw, 5));
    w.defer();
    w.patch(e, f, [](std::string& s) { s += "b"; });
    w.patch<int>(e, raw, [](int& i) { i += 1; });
    EXPECT_EQ(w.get(e, f), "ab");
    w.defer();
    w.patch(e, f, [](std::string& s) { s += "c"; });
    w.cancel();
    w.patch<std::string>(e, f.id(), [](std::string& s) { s += "d"; });
    EXPECT_EQ(w.get(e, f), "abd");
    EXPECT_EQ(w.get<int>(e, raw), 6);
    w.cancel();
    EXPECT_EQ(w.get(e, f), "a");
    EXPECT_EQ(w.get<int>(e, raw), 5);
    w.defer();
    w.patch(e, f, [](std::string& s) { s += "b"; });
    w.remove(e, f);
    EXPECT_EQ(code_of([&] { w.patch(e, f, [](std::string&) {}); }), errc::missing_component);
    w.destroy(f);
    w.cancel();
    EXPECT_EQ(w.get(e, f), "a");
}

TEST(patch_in_scopes, of_a_fragment_of_the_scope_ends_with_it) {
    world w;
    const entity e = w.spawn();
    w.defer();
    const fragment<std::string> f = w.fragment<std::string>();
    w.set(e, f, "a");
    w.defer();
    w.patch(e, f, [](std::string& s) { s += "b"; });
    w.commit();
    w.cancel();
    EXPECT_FALSE(w.alive(f));
    EXPECT_TRUE(w.empty(e));
}

TEST(patch_in_scopes, of_a_value_whose_fragment_is_destroyed_at_the_commit) {
    world w;
    const fragment<std::string> f = w.fragment<std::string>();
    const entity e = w.spawn(with(f, "a"), std::string("typed"));
    w.on_insert<flag>([&] { w.patch(e, f, [](std::string& s) { s += "b"; }); });
    w.defer();
    w.patch(e, f, [](std::string& s) { s += "c"; });
    w.patch<std::string>(e, [](std::string& s) { s += "d"; });
    w.destroy(f);
    w.destroy(w.component<std::string>());
    w.set(e, flag{});
    EXPECT_EQ(code_of([&] { w.commit(); }), errc::dead_fragment);  // of the hook
    EXPECT_TRUE(w.empty(e) || w.has<flag>(e));
    EXPECT_EQ(w.count<std::string>(), 0u);
}

TEST(patch_in_scopes, of_a_tag_only_notifies) {
    world w;
    const entity e = w.spawn(flag{});
    int calls = 0;
    w.on_assign<flag>([&] { ++calls; });
    w.defer();
    w.patch<flag>(e, [](flag&) {});
    w.patch<flag>(e, [](flag&) {});
    w.commit();
    EXPECT_EQ(calls, 1);
    w.defer();
    w.patch<flag>(e, [](flag&) {});
    w.cancel();
    EXPECT_EQ(calls, 1);
}

TEST(patch_in_scopes, may_patch_and_change_inside) {
    world w;
    const entity e = w.spawn(number{1});
    w.defer();
    w.patch<number>(e, [&](number& n) {
        n.value += 1;
        w.patch<number>(e, [](number& same) { same.value *= 10; });
        w.set(e, flag{});
    });
    EXPECT_EQ(w.get<number>(e).value, 20);
    EXPECT_FALSE(w.has<flag>(e));
    w.cancel();
    EXPECT_EQ(w.get<number>(e).value, 1);
    EXPECT_FALSE(w.has<flag>(e));
    w.patch<number>(e, [&](number& n) {  // outside of scopes
        n.value = 5;
        w.patch<number>(e, [](number& same) { same.value *= 10; });
    });
    EXPECT_EQ(w.get<number>(e).value, 50);
}

TEST(patch_in_scopes, is_undone_when_scopes_end_in_any_order) {
    world w;
    const entity e = w.spawn(number{1});
    {
        deferred outer{w};
        w.patch<number>(e, [](number& n) { n.value += 10; });
        deferred inner{w};
        w.patch<number>(e, [](number& n) { n.value += 100; });
        outer.cancel();
        EXPECT_EQ(w.get<number>(e).value, 111);  // the inner scope drops them when it ends
    }
    EXPECT_EQ(w.get<number>(e).value, 1);
}

TEST(patch_in_scopes, of_a_world_that_ends_is_dropped) {
    {
        world w;
        const entity e = w.spawn(strained(1), heavy(2));
        w.defer();
        w.patch<strained>(e, [](strained& s) { s.value = 3; });
        w.patch<heavy>(e, [](heavy& s) { s.value = 3; });
    }
    EXPECT_EQ(strained::count.living + heavy::count.living, 0);
}

// ---- get_or_emplace, and entities of the scope -------------------------------------------------

TEST(patch_in_scopes, get_or_emplace_returns_the_value_or_the_pending_one_or_a_new_one) {
    world w;
    const entity e = w.spawn(number{1});
    const entity bare = w.spawn();
    w.defer();
    w.get_or_emplace<number>(e, 9).value += 1;
    EXPECT_EQ(w.get<number>(e).value, 2);
    number& made = w.get_or_emplace<number>(bare, 5);
    EXPECT_EQ(made.value, 5);
    EXPECT_EQ(&w.get_or_emplace<number>(bare, 6), &made);
    made.value = 7;
    w.add<loose>(bare);
    w.get_or_emplace<loose>(bare, 8).value += 1;
    w.get_or_emplace<heavy>(bare, 3).value += 1;
    w.get_or_emplace<heavy>(bare, 9).value += 1;
    (void)w.get_or_emplace<flag>(bare);
    (void)w.get_or_emplace<flag>(bare);
    w.defer();
    EXPECT_EQ(w.get_or_emplace<strained>(bare, 4).value, 4);
    w.cancel();
    w.remove<number>(bare);
    EXPECT_EQ(w.get_or_emplace<number>(bare, 11).value, 11);
    w.commit();
    EXPECT_EQ(w.get<number>(bare).value, 11);
    EXPECT_EQ(w.get<loose>(bare).value, 1);
    EXPECT_EQ(w.get<heavy>(bare).value, 5);
    EXPECT_TRUE(w.has<flag>(bare));
    EXPECT_FALSE(w.has<strained>(bare));
    EXPECT_EQ(code_of([&] { w.get_or_emplace<number>(entity{}); }), errc::dead_entity);
}

TEST(patch_in_scopes, entities_of_the_scope_are_filled_by_emplace_patch_and_builders) {
    world w;
    const entity prefab = w.spawn(number{1}, loose{2});
    w.defer();
    const entity made = w.spawn(number{3});
    const entity clone = w.clone(prefab);
    const entity built = w.builder().set(number{4}).spawn();
    for (const entity e : {made, clone, built}) {
        EXPECT_EQ(code_of([&] { (void)w.get<number>(e); }), errc::missing_component);
        w.patch<number>(e, [](number& n) { n.value += 10; });
        w.emplace<strained>(e, 5).value += 1;
        w.get_or_emplace<number>(e).value += 100;
    }
    w.commit();
    EXPECT_EQ(w.get<number>(made).value, 113);
    EXPECT_EQ(w.get<number>(clone).value, 111);
    EXPECT_EQ(w.get<number>(built).value, 114);
    EXPECT_EQ(w.get<loose>(clone).value, 2);
    EXPECT_EQ(w.get<strained>(built).value, 6);
    EXPECT_EQ(w.get<number>(prefab).value, 1);
}

}  // namespace
}  // namespace muster
