#include <muster/store/bound_value.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct small {
    float x, y, z, w;
};
struct large {
    std::array<int, 5> values;
};
/// Cannot be assigned.
struct constant {
    const int value;
};

/// Counts its copies, moves and assignments. Copying can throw, moving cannot.
struct witness {
    static inline int alive = 0;
    static inline int copies = 0;
    static inline int moves = 0;
    static inline int assignments = 0;
    static inline bool refuse = false;
    int value;

    explicit witness(int v) : value(v) { ++alive; }
    witness(const witness& other) : value(other.value) {
        if (refuse) throw std::runtime_error("no copy");
        ++copies;
        ++alive;
    }
    witness(witness&& other) noexcept : value(std::exchange(other.value, -1)) {
        ++moves;
        ++alive;
    }
    witness& operator=(const witness& other) {
        value = other.value;
        ++assignments;
        return *this;
    }
    witness& operator=(witness&& other) noexcept {
        value = std::exchange(other.value, -1);
        ++assignments;
        return *this;
    }
    ~witness() { --alive; }
};

/// Copying cannot throw, but it is not assignable.
struct unassignable {
    static inline int alive = 0;
    int value;
    explicit unassignable(int v) noexcept : value(v) { ++alive; }
    unassignable(const unassignable& other) noexcept : value(other.value) { ++alive; }
    unassignable& operator=(const unassignable&) = delete;
    ~unassignable() { --alive; }
};

/// Copying cannot throw, but assignment always throws.
struct fails_to_assign {
    std::array<int, 5> values;
    explicit fails_to_assign(int v) noexcept : values{v} {}
    fails_to_assign(const fails_to_assign& other) noexcept : values(other.values) {}
    fails_to_assign& operator=(const fails_to_assign&) {
        throw std::runtime_error("no assignment");
    }
};

/// Uninitialised storage for one value.
template <class T>
struct storage {
    alignas(T) std::byte bytes[sizeof(T)];
    T* get() { return reinterpret_cast<T*>(bytes); }
};

class incoming_value : public testing::Test {
protected:
    void SetUp() override {
        witness::alive = witness::copies = witness::moves = witness::assignments = 0;
        witness::refuse = false;
    }
    void TearDown() override {
        EXPECT_EQ(witness::alive, 0);
        EXPECT_EQ(unassignable::alive, 0);
    }
};

TEST_F(incoming_value, a_small_trivial_value_is_held_as_a_copy) {
    small value{1, 2, 3, 4};
    bound_value<small&> bound(value);
    value = {};
    EXPECT_EQ(bound.where(), nullptr);
    storage<small> to;
    bound.construct(to.bytes, nullptr);
    EXPECT_EQ(to.get()->w, 4);
    bound_value<int> number(5);
    int target = 0;
    number.assign(&target, nullptr);
    EXPECT_EQ(target, 5);
}

TEST_F(incoming_value, a_large_trivial_value_is_held_by_address) {
    large value{{1, 2, 3, 4, 5}};
    bound_value<large&> bound(value);
    EXPECT_EQ(bound.where(), &value);
    const large moved = std::exchange(value, large{});  // as if its column was reallocated
    large target{};
    bound.assign(&target, &moved);
    EXPECT_EQ(target.values[4], 5);
    storage<large> to;
    bound.construct(to.bytes, &moved);
    EXPECT_EQ(to.get()->values[0], 1);
}

TEST_F(incoming_value, a_copy_that_can_throw_is_made_at_construction_and_then_moved) {
    const witness original(7);
    {
        bound_value<const witness&> bound(original);
        EXPECT_EQ(witness::copies, 1);
        EXPECT_EQ(bound.where(), nullptr);
        witness::refuse = true;
        storage<witness> to;
        bound.construct(to.bytes, nullptr);
        EXPECT_EQ(to.get()->value, 7);
        std::destroy_at(to.get());
    }
    EXPECT_EQ(witness::copies, 1);
    EXPECT_EQ(witness::moves, 1);
    EXPECT_EQ(original.value, 7);
}

TEST_F(incoming_value, a_throwing_copy_throws_at_construction_and_leaks_nothing) {
    witness original(7);
    witness::refuse = true;
    EXPECT_THROW(bound_value<witness&>{original}, std::runtime_error);
    EXPECT_EQ(witness::alive, 1);
    static_assert(!std::is_nothrow_constructible_v<bound_value<witness&>, const witness&>);
    static_assert(std::is_nothrow_constructible_v<bound_value<witness>, const witness&>);
    static_assert(std::is_nothrow_constructible_v<bound_value<small&>, const small&>);
}

TEST_F(incoming_value, an_rvalue_is_moved_once_and_never_copied) {
    witness original(7);
    witness::refuse = true;
    bound_value<witness> bound(original);
    EXPECT_EQ(bound.where(), &original);
    EXPECT_EQ(original.value, 7);  // not moved yet
    storage<witness> to;
    bound.construct(to.bytes, bound.where());
    EXPECT_EQ(to.get()->value, 7);
    EXPECT_EQ(original.value, -1);
    EXPECT_EQ(witness::moves, 1);
    std::destroy_at(to.get());
}

TEST_F(incoming_value, a_relocated_value_is_taken_from_its_current_address) {
    std::string before = "a text that is too long for the inside of a string";
    bound_value<std::string> bound(before);
    std::string now = std::move(before);
    before = "something else";
    std::string target;
    bound.assign(&target, &now);
    EXPECT_EQ(target, "a text that is too long for the inside of a string");
    EXPECT_EQ(before, "something else");
}

TEST_F(incoming_value, a_const_rvalue_is_copied) {
    const witness original(7);
    bound_value<const witness> bound(original);
    EXPECT_EQ(witness::copies, 1);
    witness target(1);
    bound.assign(&target, nullptr);
    EXPECT_EQ(target.value, 7);
    EXPECT_EQ(original.value, 7);
}

TEST_F(incoming_value, a_move_only_value_is_moved) {
    auto original = std::make_unique<int>(3);
    bound_value<std::unique_ptr<int>> bound(original);
    auto target = std::make_unique<int>(1);
    bound.assign(&target, bound.where());
    EXPECT_EQ(*target, 3);
    EXPECT_EQ(original, nullptr);
}

TEST_F(incoming_value, a_nonthrowing_assignment_is_used) {
    witness target(1);
    witness original(7);
    bound_value<witness> bound(original);
    bound.assign(&target, bound.where());
    EXPECT_EQ(target.value, 7);
    EXPECT_EQ(witness::assignments, 1);
    EXPECT_EQ(witness::moves, 0);
}

TEST_F(incoming_value, an_unassignable_value_is_reconstructed_in_place) {
    storage<constant> target;
    ::new (target.bytes) constant{1};
    bound_value<constant> trivial(constant{2});
    trivial.assign(target.bytes, nullptr);
    EXPECT_EQ(target.get()->value, 2);

    unassignable value(9);
    storage<unassignable> other;
    ::new (other.bytes) unassignable(1);
    bound_value<unassignable> bound(value);
    bound.assign(other.bytes, bound.where());
    EXPECT_EQ(other.get()->value, 9);
    EXPECT_EQ(unassignable::alive, 2);  // the old value is destroyed
    std::destroy_at(other.get());
}

TEST_F(incoming_value, a_throwing_assignment_is_not_used) {
    const fails_to_assign value(9);
    fails_to_assign target(1);
    bound_value<const fails_to_assign&> bound(value);
    bound.assign(&target, bound.where());
    EXPECT_EQ(target.values[0], 9);
}

TEST_F(incoming_value, self_assignment_keeps_the_value) {
    std::string text = "a text that is too long for the inside of a string";
    bound_value<std::string> rvalue(text);
    rvalue.assign(&text, rvalue.where());
    EXPECT_EQ(text, "a text that is too long for the inside of a string");

    unassignable value(4);
    bound_value<unassignable> bound(value);
    bound.assign(&value, bound.where());
    EXPECT_EQ(value.value, 4);
    EXPECT_EQ(unassignable::alive, 1);

    witness copied(5);
    bound_value<witness&> first(copied);
    first.assign(&copied, first.where());
    EXPECT_EQ(copied.value, 5);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
