#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace muster {
namespace {

using owner = std::unique_ptr<int>;

// Members of all kinds that can be copied; two levels, arrays, bases and defaults.
struct inner {
    std::string text;
    int number = 3;
};
struct base {
    std::vector<int> numbers;
};
struct plain : base {
    inner nested;
    std::string names[2];
    std::optional<std::string> maybe;
    std::variant<int, std::string> either;
    std::function<void()> action;
    std::map<std::string, std::vector<int>> index;
    std::tuple<int, std::string> both;
    const int fixed = 1;
    std::shared_ptr<int> shared;
    muster::entity target;
};
struct with_reference {
    std::string& text;
    std::vector<int> numbers;
};
struct tree {
    std::vector<tree> children;
};
struct inherits_only : base {};

static_assert(is_copyable<plain>::value);
static_assert(is_copyable<inner>::value && is_copyable<base>::value);
static_assert(is_copyable<with_reference>::value);
static_assert(is_copyable<tree>::value);
static_assert(is_copyable<inherits_only>::value);
static_assert(is_copyable<std::pair<int, std::string>>::value);
static_assert(is_copyable<std::map<int, std::string>>::value);

// A member whose elements cannot be copied, at each of the same places.
struct bag {
    std::vector<owner> items;
};
struct counters {
    std::string name;
    std::vector<std::atomic<int>> counts = std::vector<std::atomic<int>>(4);
};
struct nested_bag {
    int number;
    bag nested;
};
struct inherits_bag : bag {
    int number;
};
struct bags_in_array {
    int number;
    std::list<owner> items[2];
};
struct last_of_many {
    std::string a, b, c, d, e, f, g;
    std::optional<int> h;
    std::vector<owner> items;
};

struct tree_of_bags {
    std::map<int, tree_of_bags> children;
    bag items;
};

static_assert(std::is_copy_constructible_v<bag>, "the standard library claims that it is");
static_assert(!is_copyable<bag>::value);
static_assert(!is_copyable<counters>::value);
static_assert(!is_copyable<nested_bag>::value);
static_assert(!is_copyable<inherits_bag>::value);
static_assert(!is_copyable<bags_in_array>::value);
static_assert(!is_copyable<last_of_many>::value);
static_assert(!is_copyable<std::vector<bag>>::value);
static_assert(!is_copyable<std::pair<int, bag>>::value);
static_assert(!is_copyable<std::map<int, std::vector<owner>>>::value);
static_assert(!is_copyable<std::optional<bag>>::value);
static_assert(!is_copyable<tree_of_bags>::value);

/// Not an aggregate: nothing to see, so the user declares it.
class guarded_bag {
public:
    guarded_bag() = default;
    [[nodiscard]] std::size_t size() const { return items_.size(); }

private:
    std::vector<owner> items_;
};

}  // namespace
}  // namespace muster

template <>
struct muster::is_copyable<muster::guarded_bag> : std::false_type {};

namespace muster {
namespace {

TEST(copyable, a_struct_with_a_container_of_owners_is_a_component) {
    world w;
    const entity hero = w.spawn();
    w.emplace<bag>(hero).items.push_back(std::make_unique<int>(7));
    w.set(w.spawn(), counters{});
    w.set_single(nested_bag{});
    EXPECT_EQ(*w.get<bag>(hero).items[0], 7);
    try {
        w.clone(hero);
        FAIL() << "cloned";
    } catch (const error& refused) {
        EXPECT_EQ(refused.code(), errc::not_copyable);
    }
    EXPECT_EQ(w.count<bag>(), 1u);
}

TEST(copyable, a_class_can_declare_that_it_is_not_copyable) {
    world w;
    const entity hero = w.spawn(guarded_bag{});
    EXPECT_EQ(w.get<guarded_bag>(hero).size(), 0u);
    EXPECT_THROW(w.clone(hero), error);
}

TEST(copyable, a_struct_with_copyable_members_is_cloned) {
    world w;
    std::string text = "text";
    plain all{};
    all.numbers = {1, 2};
    all.names[1] = "c";
    const entity e = w.spawn(std::move(all), with_reference{text, {4}});
    const entity copy = w.clone(e);
    EXPECT_EQ(w.get<plain>(copy).numbers.size(), 2u);
    EXPECT_EQ(w.get<plain>(copy).names[1], "c");
    EXPECT_EQ(w.get<with_reference>(copy).numbers[0], 4);
}

}  // namespace
}  // namespace muster
