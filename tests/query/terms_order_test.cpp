// terms: the order that a resolver gives to the chunks is part of the question.
#include <muster/query/terms.hpp>

#include <gtest/gtest.h>

namespace MUSTER_NAMESPACE::detail {
namespace {

constexpr resolver_index first{1}, second{2};

TEST(terms_order, of_an_added_question_replaces_that_of_the_question) {
    terms question;
    terms others;
    EXPECT_EQ(question.order(), resolver_index::none);
    EXPECT_FALSE(question.is_resolved());
    others.set_order(first);
    question.add(others);
    EXPECT_EQ(question.order(), first);
    EXPECT_TRUE(question.is_resolved());
    question.add(terms{});
    EXPECT_EQ(question.order(), first);
    others.set_order(second);
    question.add(others);
    EXPECT_EQ(question.order(), second);
}

TEST(terms_order, distinguishes_questions) {
    terms one;
    terms other;
    one.set_order(first);
    EXPECT_FALSE(one == other);
    other.set_order(second);
    EXPECT_FALSE(one == other);
    other.set_order(first);
    EXPECT_TRUE(one == other);
    EXPECT_EQ(one.hash(), other.hash());
    other.add({7, term_kind::with, false, 0});
    EXPECT_FALSE(one == other);
    one.add({7, term_kind::with, false, 0, first});
    EXPECT_FALSE(one == other);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
