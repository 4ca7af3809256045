// id_lists: lists of ids, to compare with what the ranges and observers of a world return.
#pragma once

#include <muster/id/id.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

namespace muster::test {

/// Returns what a loop over the range visits.
template <class Range>
auto list_of(Range&& range) {
    std::vector<std::remove_cvref_t<decltype(*range.begin())>> all;
    for (const auto e : range) all.push_back(e);
    return all;
}

/// A fixture that lists ids of one layout.
template <class Layout>
struct id_lists : testing::Test {
    using id_type = basic_id<Layout>;
    template <class... Ids>
    static std::vector<id_type> ids(Ids... all) {
        return {all...};
    }
};

}  // namespace muster::test
