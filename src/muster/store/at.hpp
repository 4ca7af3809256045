// at: an id and the call site that used it, for error messages.
#pragma once

#include <muster/fwd.hpp>
#include <muster/id/id.hpp>

#include <concepts>
#include <source_location>

namespace MUSTER_NAMESPACE {

/// Converts implicitly from an id, so that a call such as `w.get<position>(e)` captures its call
/// site. Costs nothing unless there is an error to report.
template <class Layout>
struct basic_at {
    basic_id<Layout> id;
    std::source_location where;

    // NOLINTNEXTLINE(google-explicit-constructor): the conversion is its purpose
    constexpr basic_at(basic_id<Layout> e,
                       std::source_location place = std::source_location::current()) noexcept
        : id(e), where(place) {}

    template <std::convertible_to<basic_id<Layout>> Handle>
        requires(!std::same_as<Handle, basic_id<Layout>>)
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr basic_at(const Handle& e,
                       std::source_location place = std::source_location::current()) noexcept
        : id(e), where(place) {}
};

}  // namespace MUSTER_NAMESPACE
