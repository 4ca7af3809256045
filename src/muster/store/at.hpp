// at: an id and the place in the source that used it, so that errors can say where.
#pragma once

#include <muster/fwd.hpp>
#include <muster/id/id.hpp>

#include <concepts>
#include <source_location>

namespace muster {

/// Made from an id where a call takes one: `w.get<position>(e)` knows the line it stands in. Costs
/// nothing unless there is an error to report.
template <class Layout>
struct basic_at {
    basic_id<Layout> id;
    std::source_location where;

    // NOLINTNEXTLINE(google-explicit-constructor): that is what it is for
    constexpr basic_at(basic_id<Layout> who,
                       std::source_location place = std::source_location::current()) noexcept
        : id(who), where(place) {}

    template <std::convertible_to<basic_id<Layout>> Handle>
        requires(!std::same_as<Handle, basic_id<Layout>>)
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr basic_at(const Handle& who,
                       std::source_location place = std::source_location::current()) noexcept
        : id(who), where(place) {}
};

}  // namespace muster
