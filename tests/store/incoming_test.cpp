#include <muster/store/incoming.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace muster::detail {
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

/// Tells what was done with it. Copying can throw, moving cannot.
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

/// Copied and moved without fear, but never assigned.
struct unassignable {
    static inline int alive = 0;
    int value;
    explicit unassignable(int v) noexcept : value(v) { ++alive; }
    unassignable(const unassignable& other) noexcept : value(other.value) { ++alive; }
    unassignable& operator=(const unassignable&) = delete;
    ~unassignable() { --alive; }
};

/// Copied without fear, but its assignment can throw, and always does.
struct fails_to_assign {
    std::array<int, 5> values;
    explicit fails_to_assign(int v) noexcept : values{v} {}
    fails_to_assign(const fails_to_assign& other) noexcept : values(other.values) {}
    fails_to_assign& operator=(const fails_to_assign&) {
        throw std::runtime_error("no assignment");
    }
};

/// Room for one value, which a test makes.
template <class T>
struct room {
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

TEST_F(incoming_value, a_small_trivial_value_comes_along_as_a_copy) {
    small value{1, 2, 3, 4};
    incoming<small&> arrived(value);
    value = {};
    EXPECT_EQ(arrived.where(), nullptr);
    room<small> to;
    arrived.construct(to.bytes, nullptr);
    EXPECT_EQ(to.get()->w, 4);
    incoming<int> number(5);
    int target = 0;
    number.assign(&target, nullptr);
    EXPECT_EQ(target, 5);
}

TEST_F(incoming_value, a_large_trivial_value_stays_where_it_is_until_it_is_used) {
    large value{{1, 2, 3, 4, 5}};
    incoming<large&> arrived(value);
    EXPECT_EQ(arrived.where(), &value);
    const large moved = std::exchange(value, large{});  // its column grew, say
    large target{};
    arrived.assign(&target, &moved);
    EXPECT_EQ(target.values[4], 5);
    room<large> to;
    arrived.construct(to.bytes, &moved);
    EXPECT_EQ(to.get()->values[0], 1);
}

TEST_F(incoming_value, a_copy_that_can_throw_is_made_at_once_and_only_moved_from_then_on) {
    const witness original(7);
    {
        incoming<const witness&> arrived(original);
        EXPECT_EQ(witness::copies, 1);
        EXPECT_EQ(arrived.where(), nullptr);
        witness::refuse = true;
        room<witness> to;
        arrived.construct(to.bytes, nullptr);
        EXPECT_EQ(to.get()->value, 7);
        std::destroy_at(to.get());
    }
    EXPECT_EQ(witness::copies, 1);
    EXPECT_EQ(witness::moves, 1);
    EXPECT_EQ(original.value, 7);
}

TEST_F(incoming_value, a_copy_that_throws_does_so_at_once_and_leaves_nothing) {
    witness original(7);
    witness::refuse = true;
    EXPECT_THROW(incoming<witness&>{original}, std::runtime_error);
    EXPECT_EQ(witness::alive, 1);
    static_assert(!std::is_nothrow_constructible_v<incoming<witness&>, const witness&>);
    static_assert(std::is_nothrow_constructible_v<incoming<witness>, const witness&>);
    static_assert(std::is_nothrow_constructible_v<incoming<small&>, const small&>);
}

TEST_F(incoming_value, a_value_that_is_handed_over_is_moved_once_and_never_copied) {
    witness original(7);
    witness::refuse = true;
    incoming<witness> arrived(original);
    EXPECT_EQ(arrived.where(), &original);
    EXPECT_EQ(original.value, 7);  // not yet
    room<witness> to;
    arrived.construct(to.bytes, arrived.where());
    EXPECT_EQ(to.get()->value, 7);
    EXPECT_EQ(original.value, -1);
    EXPECT_EQ(witness::moves, 1);
    std::destroy_at(to.get());
}

TEST_F(incoming_value, a_value_that_moved_meanwhile_is_taken_from_where_it_is_now) {
    std::string before = "a text that is too long for the inside of a string";
    incoming<std::string> arrived(before);
    std::string now = std::move(before);
    before = "something else";
    std::string target;
    arrived.assign(&target, &now);
    EXPECT_EQ(target, "a text that is too long for the inside of a string");
    EXPECT_EQ(before, "something else");
}

TEST_F(incoming_value, a_constant_that_is_handed_over_is_copied) {
    const witness original(7);
    incoming<const witness> arrived(original);
    EXPECT_EQ(witness::copies, 1);
    witness target(1);
    arrived.assign(&target, nullptr);
    EXPECT_EQ(target.value, 7);
    EXPECT_EQ(original.value, 7);
}

TEST_F(incoming_value, a_move_only_value_is_handed_over) {
    auto original = std::make_unique<int>(3);
    incoming<std::unique_ptr<int>> arrived(original);
    auto target = std::make_unique<int>(1);
    arrived.assign(&target, arrived.where());
    EXPECT_EQ(*target, 3);
    EXPECT_EQ(original, nullptr);
}

TEST_F(incoming_value, an_assignment_that_cannot_throw_is_used) {
    witness target(1);
    witness original(7);
    incoming<witness> arrived(original);
    arrived.assign(&target, arrived.where());
    EXPECT_EQ(target.value, 7);
    EXPECT_EQ(witness::assignments, 1);
    EXPECT_EQ(witness::moves, 0);
}

TEST_F(incoming_value, what_cannot_be_assigned_is_made_anew_in_its_place) {
    room<constant> target;
    ::new (target.bytes) constant{1};
    incoming<constant> trivial(constant{2});
    trivial.assign(target.bytes, nullptr);
    EXPECT_EQ(target.get()->value, 2);

    unassignable value(9);
    room<unassignable> other;
    ::new (other.bytes) unassignable(1);
    incoming<unassignable> arrived(value);
    arrived.assign(other.bytes, arrived.where());
    EXPECT_EQ(other.get()->value, 9);
    EXPECT_EQ(unassignable::alive, 2);  // the one before has ended
    std::destroy_at(other.get());
}

TEST_F(incoming_value, an_assignment_that_can_throw_is_not_used) {
    const fails_to_assign value(9);
    fails_to_assign target(1);
    incoming<const fails_to_assign&> arrived(value);
    arrived.assign(&target, arrived.where());
    EXPECT_EQ(target.values[0], 9);
}

TEST_F(incoming_value, assigned_to_itself_stays_as_it_is) {
    std::string text = "a text that is too long for the inside of a string";
    incoming<std::string> handed_over(text);
    handed_over.assign(&text, handed_over.where());
    EXPECT_EQ(text, "a text that is too long for the inside of a string");

    unassignable value(4);
    incoming<unassignable> arrived(value);
    arrived.assign(&value, arrived.where());
    EXPECT_EQ(value.value, 4);
    EXPECT_EQ(unassignable::alive, 1);

    witness copied(5);
    incoming<witness&> first(copied);
    first.assign(&copied, first.where());
    EXPECT_EQ(copied.value, 5);
}

}  // namespace
}  // namespace muster::detail
