// fragment<T>: the id of a fragment whose values are of type T.
#pragma once

#include <muster/fwd.hpp>
#include <muster/id/id.hpp>

namespace MUSTER_NAMESPACE {

/// A fragment id that carries the type of its values. It converts to the plain id and works
/// wherever an id does.
template <class T, class Layout>
class basic_fragment {
public:
    using value_type = T;

    constexpr basic_fragment() noexcept = default;
    constexpr explicit basic_fragment(basic_id<Layout> which) noexcept : id_(which) {}

    [[nodiscard]] constexpr basic_id<Layout> id() const noexcept { return id_; }
    // NOLINTNEXTLINE(google-explicit-constructor): it is an id
    constexpr operator basic_id<Layout>() const noexcept { return id_; }

    friend constexpr bool operator==(basic_fragment, basic_fragment) noexcept = default;

private:
    basic_id<Layout> id_;
};

template <class T>
using fragment = basic_fragment<T>;

}  // namespace MUSTER_NAMESPACE
