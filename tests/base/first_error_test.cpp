#include <muster/base/first_error.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {
namespace {

/// The text of the exception that `rethrow` throws; "nothing" if it throws none.
std::string rethrown(first_error& error) {
    try {
        error.rethrow();
    } catch (const std::exception& caught) {
        return caught.what();
    }
    return "nothing";
}

auto throws(const char* message) {
    return [message] { throw std::runtime_error(message); };
}

/// An exception that owns memory: the sanitizer reports one that is lost.
struct owning_exception {
    std::shared_ptr<int> value;
};

TEST(first_error, rethrows_nothing_before_the_first_call) {
    first_error error;
    EXPECT_EQ(rethrown(error), "nothing");
}

TEST(first_error, rethrows_nothing_after_calls_that_succeed) {
    first_error error;
    int calls = 0;
    for (int i = 0; i < 3; ++i) error.attempt([&] { ++calls; });
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(rethrown(error), "nothing");
}

TEST(first_error, attempt_swallows_the_exception_until_rethrow) {
    first_error error;
    EXPECT_NO_THROW(error.attempt(throws("failed")));
    EXPECT_EQ(rethrown(error), "failed");
}

TEST(first_error, the_first_of_several_exceptions_is_kept) {
    first_error error;
    error.attempt([] {});
    error.attempt(throws("first"));
    error.attempt(throws("second"));
    error.attempt([] {});
    error.attempt(throws("third"));
    EXPECT_EQ(rethrown(error), "first");
}

TEST(first_error, calls_after_a_failure_still_run) {
    first_error error;
    std::string order;
    error.attempt([&] {
        order += 'a';
        throw std::runtime_error("failed");
    });
    error.attempt([&] { order += 'b'; });
    EXPECT_EQ(order, "ab");
    EXPECT_EQ(rethrown(error), "failed");
}

TEST(first_error, rethrow_forgets_the_exception) {
    first_error error;
    error.attempt(throws("failed"));
    EXPECT_EQ(rethrown(error), "failed");
    EXPECT_EQ(rethrown(error), "nothing");
}

TEST(first_error, keeps_a_new_exception_after_rethrow) {
    first_error error;
    error.attempt(throws("first"));
    EXPECT_EQ(rethrown(error), "first");
    error.attempt(throws("second"));
    error.attempt(throws("third"));
    EXPECT_EQ(rethrown(error), "second");
}

TEST(first_error, keeps_exceptions_of_any_type_with_their_type) {
    first_error error;
    error.attempt([] { throw 42; });
    error.attempt(throws("second"));
    try {
        error.rethrow();
        ADD_FAILURE() << "nothing was thrown";
    } catch (int value) {
        EXPECT_EQ(value, 42);
    }
}

TEST(first_error, owns_the_kept_exception_and_no_other) {
    const auto value = std::make_shared<int>(7);
    {
        first_error error;
        error.attempt([&] { throw owning_exception{value}; });
        EXPECT_EQ(value.use_count(), 2);
        error.attempt([&] { throw owning_exception{value}; });
        EXPECT_EQ(value.use_count(), 2);
    }
    EXPECT_EQ(value.use_count(), 1);
}

TEST(first_error, rethrow_hands_the_exception_over) {
    const auto value = std::make_shared<int>(7);
    first_error error;
    error.attempt([&] { throw owning_exception{value}; });
    EXPECT_THROW(error.rethrow(), owning_exception);
    EXPECT_EQ(value.use_count(), 1);
}

TEST(first_error, a_call_that_moves_its_state_receives_an_rvalue) {
    struct one_shot {
        std::unique_ptr<int> value;
        int* target;
        void operator()() && { *target = *std::exchange(value, nullptr); }
    };
    first_error error;
    int result = 0;
    error.attempt(one_shot{std::make_unique<int>(5), &result});
    EXPECT_EQ(result, 5);
}

TEST(first_error, a_nested_series_keeps_its_own_exception) {
    first_error outer;
    first_error inner;
    outer.attempt([&] {
        inner.attempt(throws("inner"));
        throw std::runtime_error("outer");
    });
    EXPECT_EQ(rethrown(outer), "outer");
    EXPECT_EQ(rethrown(inner), "inner");
}

TEST(first_error, swapping_exchanges_the_kept_exceptions) {
    first_error failed;
    first_error empty;
    failed.attempt(throws("failed"));
    std::swap(failed, empty);
    EXPECT_EQ(rethrown(failed), "nothing");
    EXPECT_EQ(rethrown(empty), "failed");
}

TEST(first_error, keeps_an_exception_that_is_attempted_while_another_is_handled) {
    first_error error;
    try {
        throw std::runtime_error("handled");
    } catch (const std::runtime_error&) {
        error.attempt([] {});
        EXPECT_EQ(rethrown(error), "nothing");
        error.attempt(throws("nested"));
    }
    EXPECT_EQ(rethrown(error), "nested");
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
