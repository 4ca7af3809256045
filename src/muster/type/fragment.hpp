// fragment<T>: the id of a fragment whose values are of type T. tag_id: the id of a fragment without
// values.
#pragma once

#include <muster/fwd.hpp>
#include <muster/id/id.hpp>

#include <type_traits>

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

/// The id of a tag. It is an id and works wherever one does, with one exception: calls that name a
/// fragment without a value, such as `set(e, f)` and `has(e, f)`, refuse a `tag_id` as the entity if
/// the fragment is a plain id, because then the two are probably swapped. `entity(tag)` passes it
/// nevertheless.
template <class Layout>
class basic_tag_id : public basic_id<Layout> {
public:
    constexpr basic_tag_id() noexcept = default;
    constexpr explicit basic_tag_id(basic_id<Layout> which) noexcept : basic_id<Layout>(which) {}
};
using tag_id = basic_tag_id<>;

namespace detail {

/// Whether one of the fragments is only known as an id, which may be that of any entity.
template <class Id, class... Fs>
concept names_plain_id = (... || std::is_same_v<Fs, Id>);

/// Refuses a call whose arguments are probably swapped, with one sentence.
template <class... Fs>
constexpr bool refuse_swapped() noexcept {
    static_assert(sizeof...(Fs) == 0,
                  "muster: the entity is a tag and the fragment a plain id: did you swap them? If "
                  "not, write entity(tag).");
    return false;
}

}  // namespace detail

}  // namespace MUSTER_NAMESPACE
