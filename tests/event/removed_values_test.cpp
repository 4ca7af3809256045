#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::code_of;
using test::tracked;

struct number {
    int value = 0;
};
struct owned {  // move-only
    std::unique_ptr<int> own;
    explicit owned(int from = 0) : own(std::make_unique<int>(from)) {}
};
struct watched : tracked<watched> {
    int value = 0;
    explicit watched(int from = 0) : value(from) {}
};
struct alignas(128) wide {
    int value = 0;
};
struct loose {  // sparse
    std::string text;
    explicit loose(int from = 0) : text(std::to_string(from)) {}
};
struct flag {};
struct refusal {};

int read(const number& n) {
    return n.value;
}
int read(const owned& n) {
    return n.own == nullptr ? -1 : *n.own;
}
int read(const watched& n) {
    return n.value;
}
int read(const wide& n) {
    return reinterpret_cast<std::uintptr_t>(&n) % 128 == 0 ? n.value : -1;
}
int read(const loose& n) {
    return std::stoi(n.text);
}

}  // namespace
}  // namespace muster

template <>
struct muster::component_traits<muster::loose> {
    static constexpr bool sparse = true;
};

namespace muster {
namespace {

using seen_list = std::vector<std::pair<entity, int>>;

template <class T>
class removed_values_test : public ::testing::Test {
public:
    seen_list read_all() {
        seen_list seen;
        for (auto [e, last] : gone) seen.emplace_back(e, read(last));
        return seen;
    }

    world w;
    removed_values<T> gone = w.removed_values<T>();
};
using kinds = ::testing::Types<number, owned, watched, wide, loose>;
TYPED_TEST_SUITE(removed_values_test, kinds, );

TYPED_TEST(removed_values_test, has_the_last_value_of_each_removal_in_order) {
    auto& home = this->w;
    const entity a = home.spawn(TypeParam{1});
    const entity b = home.spawn(TypeParam{2}, flag{});
    const entity c = home.spawn(TypeParam{3});
    const entity d = home.spawn(TypeParam{4}, std::string("more"));
    home.set(a, TypeParam{10});
    EXPECT_TRUE(this->gone.empty());
    home.template remove<TypeParam>(a);
    home.clear(b);
    home.destroy(c);
    home.template remove<TypeParam, std::string>(d);
    home.set(a, TypeParam{11});
    home.template remove<TypeParam>(a);
    EXPECT_EQ(this->gone.size(), 5u);
    EXPECT_EQ(this->read_all(), (seen_list{{a, 10}, {b, 2}, {c, 3}, {d, 4}, {a, 11}}));
    EXPECT_TRUE(this->gone.empty());
    EXPECT_TRUE(this->read_all().empty());
}

TYPED_TEST(removed_values_test, sees_batches_and_destroyed_fragments_and_reset) {
    auto& home = this->w;
    const auto spawn = [&] {
        for (int i = 0; i < 3; ++i) {
            home.spawn(TypeParam{i});
            home.spawn(TypeParam{10 + i}, flag{});
        }
    };
    const auto check = [&](std::size_t count) {
        int sum = 0;
        std::size_t seen = 0;
        this->gone.each([&](TypeParam& last) {
            sum += read(last);
            ++seen;
        });
        EXPECT_EQ(seen, count);
        EXPECT_EQ(sum, count == 6 ? 36 : 33);
    };
    spawn();
    home.template clear<TypeParam>();
    check(6);
    home.reset();
    spawn();
    home.template query<TypeParam>().template remove<TypeParam>();
    check(6);
    home.reset();
    spawn();
    home.template query<flag>().clear();
    check(3);
    home.template query<TypeParam>().destroy();
    this->gone.clear();
    home.reset();
    spawn();
    home.template query<TypeParam>().destroy();
    check(6);
    spawn();
    home.destroy_if([](entity) { return true; });
    check(6);
    spawn();
    home.reset();
    check(6);
    spawn();
    home.destroy(home.template component<TypeParam>());
    check(6);
}

TYPED_TEST(removed_values_test, sees_no_removal_that_a_hook_prevents) {
    auto& home = this->w;
    const entity e = home.spawn(TypeParam{1});
    connection veto = home.template on_remove<TypeParam>([] { throw refusal{}; });
    EXPECT_THROW(home.template remove<TypeParam>(e), refusal);
    EXPECT_THROW(home.clear(e), refusal);
    EXPECT_THROW(home.destroy(e), refusal);
    EXPECT_THROW(home.template clear<TypeParam>(), refusal);
    EXPECT_THROW(home.reset(), refusal);
    veto.disconnect();
    connection late = home.template on_insert<flag>([] { throw refusal{}; });
    home.defer();
    home.template remove<TypeParam>(e);
    home.set(e, flag{});
    EXPECT_THROW(home.commit(), refusal);
    EXPECT_TRUE(this->gone.empty());
    EXPECT_EQ(read(home.template get<TypeParam>(e)), 1);
    late.disconnect();
    home.template on_remove<TypeParam>([](entity, TypeParam& last) { last = TypeParam{7}; });
    home.template remove<TypeParam>(e);
    EXPECT_EQ(this->read_all(), (seen_list{{e, 7}}));
}

TYPED_TEST(removed_values_test, follows_scopes) {
    auto& home = this->w;
    const entity e = home.spawn(TypeParam{1});
    home.defer();
    home.template remove<TypeParam>(e);
    EXPECT_TRUE(this->gone.empty());
    home.cancel();
    EXPECT_TRUE(this->gone.empty());
    EXPECT_EQ(read(home.template get<TypeParam>(e)), 1);
    home.defer();
    home.template remove<TypeParam>(e);
    home.set(e, flag{});
    home.commit();
    EXPECT_EQ(this->read_all(), (seen_list{{e, 1}}));
    home.set(e, TypeParam{2});
    home.defer();
    home.destroy(e);
    home.commit();
    EXPECT_EQ(this->read_all(), (seen_list{{e, 2}}));
}

TYPED_TEST(removed_values_test, shares_the_values_with_other_observers) {
    auto& home = this->w;
    std::optional<removed_values<TypeParam>> other(home.template removed_values<TypeParam>());
    auto plain = home.observer().template removed<TypeParam>();
    const entity a = home.spawn(TypeParam{1});
    const entity b = home.spawn(TypeParam{2});
    home.destroy(a);
    EXPECT_TRUE(other->pause());
    EXPECT_FALSE(other->pause());
    home.destroy(b);
    EXPECT_EQ(other->size(), 1u);
    EXPECT_EQ(this->read_all(), (seen_list{{a, 1}, {b, 2}}));
    other->each([&](entity e, TypeParam& last) {
        EXPECT_EQ(e, a);
        EXPECT_EQ(read(last), 1);
    });
    EXPECT_EQ(plain.take(), (std::vector<entity>{a, b}));
    EXPECT_TRUE(other->resume());
    EXPECT_TRUE(other->connected());
    home.destroy(home.spawn(TypeParam{3}));
    other.reset();
    EXPECT_EQ(this->gone.size(), 1u);
    removed_values<TypeParam> moved = std::move(this->gone);
    home.destroy(home.spawn(TypeParam{4}));
    EXPECT_EQ(moved.size(), 2u);
    this->gone = std::move(moved);
    EXPECT_EQ(this->read_all().size(), 2u);
}

TYPED_TEST(removed_values_test, keeps_unread_values) {
    auto& home = this->w;
    for (int i = 0; i < 4; ++i) home.destroy(home.spawn(TypeParam{i}));
    for (auto [e, last] : this->gone) {
        home.destroy(home.spawn(TypeParam{8}));  // recorded: belongs to the next reading
        if (read(last) == 1) break;
    }
    EXPECT_EQ(this->gone.size(), 2u);
    const auto fail = [&] {
        this->gone.each([](TypeParam& last) {
            if (read(last) == 3) throw refusal{};
        });
    };
    EXPECT_THROW(fail(), refusal);
    const entity e = home.spawn(TypeParam{9});
    this->gone.each([&](TypeParam& last) {
        EXPECT_EQ(read(last), 3);
        home.destroy(e);
    });
    EXPECT_EQ(this->read_all(), (seen_list{{e, 9}}));
}

TYPED_TEST(removed_values_test, is_empty_after_its_world) {
    std::optional<world> home(std::in_place);
    auto left = home->template removed_values<TypeParam>();
    home->destroy(home->spawn(TypeParam{1}));
    home->spawn(TypeParam{2});
    home.reset();
    EXPECT_TRUE(left.empty());
    EXPECT_FALSE(left.connected());
    EXPECT_FALSE(left.pause());
    left.each([](TypeParam&) { FAIL(); });
}

TEST(removed_values_test_of_fragments, collects_by_fragment) {
    world w;
    const fragment<std::string> f = w.fragment<std::string>("text");
    const fragment<std::string> sparse = w.fragment<std::string>("sparse");
    w.define(sparse).sparse();
    auto gone = w.removed_values(f);
    auto loose_gone = w.removed_values(sparse);
    const entity e = w.spawn(with(f, "a"), with(sparse, "b"));
    w.remove(e, f);
    w.set(e, f, "c");
    w.remove(e, sparse);
    w.destroy(f);
    std::string all;
    gone.each([&](const std::string& last) { all += last; });
    loose_gone.each([&](const std::string& last) { all += last; });
    EXPECT_EQ(all, "acb");
    EXPECT_EQ(code_of([&] { (void)w.removed_values(f); }), errc::dead_fragment);
}

struct collector {
    removed_values<number> gone;
};
struct disconnector {
    connection hook;
    disconnector() = default;
    disconnector(disconnector&& other) noexcept : hook(std::exchange(other.hook, {})) {}
    disconnector& operator=(disconnector&&) = delete;
    ~disconnector() { hook.disconnect(); }
};

TEST(removed_values_test_of_fragments, may_be_destroyed_by_the_end_of_the_world_before_its_hooks) {
    world w;
    w.spawn(collector{w.removed_values<number>()});
    disconnector last;
    last.hook = w.on_remove<number>([](entity, number&) {});
    w.spawn(std::move(last));  // destroyed after the collector, while the hooks are still there
}

TEST(removed_values_test_of_fragments, takes_the_value_from_a_patched_and_removed_component) {
    world w;
    auto gone = w.removed_values<number>();
    const entity e = w.spawn(number{1});
    w.each([&](entity x, number& n) {
        w.patch<number>(x, [](number& it) { it.value = 2; });
        n.value += 1;
        w.remove<number>(x);
    });
    gone.each([&](entity x, number& n) {
        EXPECT_EQ(x, e);
        EXPECT_EQ(n.value, 3);
    });
    EXPECT_EQ(watched::count.living, 0);
    EXPECT_EQ(watched::count.misused, 0);
}

}  // namespace
}  // namespace muster
