// Component types and helpers for the tests of fragments.
#pragma once

#include <muster/world/world.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "behavior_layouts.hpp"
#include "errors.hpp"
#include "layouts.hpp"
#include "trouble.hpp"

namespace muster::test {

struct place {
    int x = 0, y = 0;
    friend bool operator==(const place&, const place&) = default;
};
struct speed {
    int value = 0;
};
struct marked {};
/// Has traits that `define` could also set.
struct secret {
    int value;
};
/// Has no default constructor.
struct given {
    int value;
    explicit given(int number) : value(number) {}
};

}  // namespace muster::test

template <>
struct muster::component_traits<muster::test::secret> {
    static constexpr bool hidden = true, unique = true;
};

namespace muster::test {

template <class Range>
auto listed(const Range& range) {
    return std::vector<std::remove_cvref_t<decltype(*range.begin())>>(range.begin(), range.end());
}

/// Position and fragments of an entity, and the size of its world.
template <class Layout>
struct picture {
    std::size_t size;
    basic_chunk<Layout> chunk;
    std::size_t row;
    std::vector<basic_id<Layout>> fragments;
    picture(basic_world<Layout>& w, basic_id<Layout> e)
        : size(w.size()), chunk(w.locate(e).chunk), row(w.locate(e).row) {
        w.each_fragment(e, [&](basic_id<Layout> f, void*) { fragments.push_back(f); });
    }
    friend bool operator==(const picture&, const picture&) = default;
};

/// The operations of T as a component type that is described at run time.
template <class T>
component_type erased() {
    return {sizeof(T),
            alignof(T),
            [](void* to, void* from, std::size_t count) noexcept {
                detail::relocate_values<T>(to, from, count);
            },
            [](void* at, std::size_t count) noexcept { detail::destroy_values<T>(at, count); },
            [](void* to, const void* from, std::size_t count, std::size_t step) {
                detail::copy_values<T>(to, from, count, step);
            },
            [](void* at, std::size_t count) { detail::construct_values<T>(at, count); }};
}

}  // namespace muster::test
