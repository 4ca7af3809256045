#include <muster/query/terms.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;
using test::sentence_of;

constexpr term with(std::uint64_t type) {
    return {type, term_kind::with, true, 0};
}
constexpr term without(std::uint64_t type) {
    return {type, term_kind::without, true, 0};
}
constexpr term any(std::uint64_t type, std::uint8_t group) {
    return {type, term_kind::any, true, group};
}
terms question_of(const std::vector<term>& all) {
    terms made;
    for (const term& wanted : all) made.add(wanted);
    return made;
}
std::vector<term> list(const terms& question) {
    return {question.begin(), question.end()};
}
using term_list = std::vector<term>;

TEST(terms, are_none_at_first) {
    const terms question{};
    EXPECT_EQ(question.size(), 0u);
    EXPECT_EQ(question.begin(), question.end());
    EXPECT_EQ(question, terms{});
}

TEST(terms, stand_in_the_order_in_which_they_were_added) {
    const term_list all{with(3), without(1), {42, term_kind::optional, false, 0}, with(2)};
    const terms question = question_of(all);
    EXPECT_EQ(question.size(), 4u);
    EXPECT_EQ(list(question), all);
}

TEST(terms, are_at_most_sixteen) {
    terms question;
    for (std::uint64_t i = 0; i < terms::limit; ++i) question.add(with(i));
    EXPECT_EQ(question.size(), 16u);
    const terms before = question;
    EXPECT_EQ(code_of([&] { question.add(with(99)); }), errc::limit);
    EXPECT_NE(sentence_of([&] { question.add(with(99)); }).find("16"), std::string::npos);
    EXPECT_EQ(question, before);
}

TEST(terms, of_two_questions_are_at_most_sixteen) {
    terms question;
    for (std::uint64_t i = 0; i < 9; ++i) question.add(with(i));
    terms others = question;
    EXPECT_EQ(code_of([&] { others.add(question); }), errc::limit);
    terms seven;
    for (std::uint64_t i = 0; i < 7; ++i) seven.add(with(i));
    EXPECT_EQ(code_of([&] { question.add(seven); }), std::nullopt);
    EXPECT_EQ(question.size(), 16u);
    question.add(terms{});
    EXPECT_EQ(question.size(), 16u);
}

TEST(terms, of_another_question_follow_those_that_are_there) {
    terms question = question_of({with(1), without(2)});
    question.add(question_of({with(3), with(4)}));
    EXPECT_EQ(list(question), (term_list{with(1), without(2), with(3), with(4)}));
    question.add(terms{});
    EXPECT_EQ(question.size(), 4u);
}

TEST(terms, groups_count_from_one) {
    terms question;
    EXPECT_EQ(question.new_group(), 1);
    EXPECT_EQ(question.new_group(), 2);
    EXPECT_EQ(terms{}.new_group(), 1);
}

TEST(terms, groups_of_another_question_stay_apart) {
    terms question;
    const std::uint8_t first = question.new_group();
    question.add(any(1, first));
    terms others;
    const std::uint8_t second = others.new_group();
    const std::uint8_t third = others.new_group();
    for (const term& wanted : {any(2, second), with(9), any(3, second), any(4, third)})
        others.add(wanted);
    question.add(others);
    EXPECT_EQ(list(question), (term_list{any(1, 1), any(2, 2), with(9), any(3, 2), any(4, 3)}));
    EXPECT_EQ(question.new_group(), 4);
}

TEST(terms, of_a_question_can_be_added_to_itself) {
    terms question;
    question.add(any(1, question.new_group()));
    question.add(with(2));
    question.add(question);
    EXPECT_EQ(list(question), (term_list{any(1, 1), with(2), any(1, 2), with(2)}));
    EXPECT_EQ(question.new_group(), 3);
}

TEST(terms, are_equal_if_all_are_equal_in_the_same_order) {
    const terms question = question_of({with(1), without(2)});
    EXPECT_EQ(question, question_of({with(1), without(2)}));
    const term_list others[] = {
        {},
        {with(1)},
        {with(1), without(2), with(3)},
        {without(2), with(1)},
        {with(1), with(2)},
        {with(1), without(3)},
        {with(1), {2, term_kind::without, false, 0}},
        {with(1), {2, term_kind::without, true, 1}},
    };
    for (const term_list& other : others) EXPECT_FALSE(question == question_of(other));
}

TEST(terms, have_equal_hashes_if_they_are_equal) {
    terms first = question_of({with(1), any(2, 1), without(3)});
    terms second;
    (void)second.new_group();
    for (const term& wanted : {with(1), any(2, 1), without(3)}) second.add(wanted);
    EXPECT_EQ(first, second);
    EXPECT_EQ(first.hash(), second.hash());
}

TEST(terms, have_hashes_that_depend_on_each_part) {
    const term_list questions[] = {
        {with(5), any(7, 1)},
        {with(6), any(7, 1)},
        {without(5), any(7, 1)},
        {with(5), without(7)},
        {with(5), any(8, 1)},
        {with(5), any(7, 2)},
        {any(7, 1), with(5)},
        {with(5)},
        {any(7, 1)},
        {with(5), with(5)},
        {with(7), any(5, 1)},
        {with(5), any(7, 1), with(9)},
    };
    std::set<std::uint64_t> hashes;
    for (const term_list& all : questions) hashes.insert(question_of(all).hash());
    EXPECT_EQ(hashes.size(), std::size(questions));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
