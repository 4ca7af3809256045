// relation: what names a relation: a C++ type, `relation<T>` or a predefined relation. And `to`, a
// link as an argument: `w.spawn(position{}, to(child_of, ship))`.
#pragma once

#include <muster/store/at.hpp>
#include <muster/store/with.hpp>
#include <muster/type/copyable.hpp>
#include <muster/type/fragment.hpp>
#include <muster/type/type_info.hpp>

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// The effect of destroying a target on its sources.
enum class target_policy : unsigned char {
    remove_relation,  ///< removes the link
    destroy_sources,  ///< destroys them, too
    refuse,           ///< prevents the destruction while other entities are sources
    pass_on,          ///< links them to the target of the destroyed entity, if it has one
};
inline constexpr target_policy remove_relation = target_policy::remove_relation;
inline constexpr target_policy destroy_sources = target_policy::destroy_sources;
inline constexpr target_policy refuse = target_policy::refuse;
inline constexpr target_policy pass_on = target_policy::pass_on;

/// The relation of a child with its parent, predefined in every world: leveled. A destroyed parent
/// takes its children along.
struct child_of_t {};
inline constexpr child_of_t child_of{};
template <>
struct component_traits<child_of_t> {
    static constexpr std::string_view name = "child_of";
    static constexpr bool internal = true;
};

/// The relation of an instance with its prefab, predefined in every world: exclusive, acyclic and
/// grouping. A prefab with instances refuses to be destroyed.
struct is_a_t {};
inline constexpr is_a_t is_a{};
template <>
struct component_traits<is_a_t> {
    static constexpr std::string_view name = "is_a";
    static constexpr bool internal = true;
};

/// Names the chunk of entities at this level of `child_of`: `w.chunk<position>(level{2})`. All levels
/// from 63 on share their chunks.
struct level {
    std::uint32_t value = 0;
};

/// The id of a relation that was made at run time, with the type of its values.
template <class T, class Layout>
class basic_relation : public basic_fragment<T, Layout> {
public:
    constexpr basic_relation() noexcept = default;
    constexpr explicit basic_relation(basic_id<Layout> which) noexcept
        : basic_fragment<T, Layout>(which) {}
};
template <class T>
using relation = basic_relation<T, layouts::bound>;

namespace detail {

/// As a fragment, a relation means any target.
template <class T, class Layout>
inline constexpr bool is_fragment_argument<basic_relation<T, Layout>> = true;

template <class R>
inline constexpr bool is_run_time_relation = false;
template <class T, class Layout>
inline constexpr bool is_run_time_relation<basic_relation<T, Layout>> = true;
/// An object that names a relation: `child_of`, or a `relation<T>`.
template <class R>
concept relation_argument =
    is_run_time_relation<std::remove_cvref_t<R>> || is_tag<std::remove_cvref_t<R>>;

/// The type of the values of a relation.
template <class R>
struct link_value {
    using type = R;
};
template <class T, class Layout>
struct link_value<basic_relation<T, Layout>> {
    using type = T;
};
template <class R>
using link_value_of = typename link_value<std::remove_cvref_t<R>>::type;

}  // namespace detail

/// A link to a target, as an argument.
template <class Layout, class R>
struct basic_to {
    using relation_type = R;

    R relation;
    basic_id<Layout> target;
    detail::link_value_of<R> value;
    std::source_location where{};
};

namespace detail {

template <class T>
inline constexpr bool is_to = false;
template <class Layout, class R>
inline constexpr bool is_to<basic_to<Layout, R>> = true;
using level_argument = level;  // where a member function has this name
/// An argument of `chunk` that names a group of entities: a link or a level.
template <class Arg>
inline constexpr bool is_group = is_to<Arg> || std::is_same_v<Arg, level>;

}  // namespace detail

template <class Layout, class R>
struct is_copyable<basic_to<Layout, R>> : is_copyable<detail::link_value_of<R>> {};

/// A link, for `spawn`, `set`, `clone` and similar calls: `to(child_of, ship)`, `to(owes, bob, 5)`.
/// Without a value, the link has the default value.
template <detail::relation_argument R, class Layout>
[[nodiscard]] basic_to<Layout, R> to(const R& relation, basic_id<Layout> target,
                                     detail::link_value_of<R> value = {},
                                     std::source_location where = std::source_location::current()) {
    return {relation, target, std::move(value), where};
}
/// Like `to(relation, target)`, for a relation that is a C++ type: `to<likes>(bob, likes{3})`.
template <class R, class Layout>
[[nodiscard]] basic_to<Layout, R> to(basic_id<Layout> target, R value = {},
                                     std::source_location where = std::source_location::current()) {
    return {R{}, target, std::move(value), where};
}
template <auto R, class Layout>
[[nodiscard]] auto to(basic_id<Layout> target,
                      std::source_location where = std::source_location::current()) {
    return basic_to<Layout, std::remove_cvref_t<decltype(R)>>{R, target, {}, where};
}

}  // namespace MUSTER_NAMESPACE
