// fields: the fields of a type, for code that handles all types.
//
//     muster::each_field(value, [](std::string_view name, auto& field) { ... });
//
// Aggregates need nothing for that. Other types, such as classes with private members, list their fields:
//
//     template <>
//     struct muster::component_traits<health> {
//         static constexpr auto fields = muster::fields(muster::field<&health::points_>("points"));
//     };
#pragma once

#include <muster/reflect/aggregate.hpp>
#include <muster/type/type_info.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// A field, and what tools should know of it. The calls return a changed copy, so that they chain.
template <auto Member>
struct field_description {
    std::string_view name{};
    std::string_view old_name{};
    bool is_transient = false;
    bool has_range = false;
    double least = 0;
    double greatest = 0;
    std::string_view unit_name{};

    /// Loads the field from files in which it still has this name.
    [[nodiscard]] constexpr field_description renamed_from(std::string_view before) const {
        field_description made = *this;
        made.old_name = before;
        return made;
    }
    /// Neither saves nor loads the field: a loaded value has its default.
    [[nodiscard]] constexpr field_description transient() const {
        field_description made = *this;
        made.is_transient = true;
        return made;
    }
    /// The values that an editor offers. Loading does not check them.
    [[nodiscard]] constexpr field_description range(double from, double to) const {
        field_description made = *this;
        made.has_range = true;
        made.least = from;
        made.greatest = to;
        return made;
    }
    /// The unit that an editor shows.
    [[nodiscard]] constexpr field_description unit(std::string_view text) const {
        field_description made = *this;
        made.unit_name = text;
        return made;
    }
};

/// Describes a data member: `field<&health::points_>("points")`.
template <auto Member>
[[nodiscard]] constexpr field_description<Member> field(std::string_view name) {
    static_assert(std::is_member_object_pointer_v<decltype(Member)>,
                  "muster: field names a data member: field<&health::points>(\"points\").");
    return {.name = name};
}

/// The fields of a type, for `component_traits<T>::fields`. They appear in this order.
template <auto... Members>
[[nodiscard]] constexpr auto fields(const field_description<Members>&... all) {
    return std::tuple<field_description<Members>...>(all...);
}

namespace detail {

template <class T>
concept has_listed_fields = requires { component_traits<T>::fields; };

template <auto Member, class T>
[[nodiscard]] constexpr auto& member_of(const field_description<Member>&, T& value) noexcept {
    return value.*Member;
}

/// Calls `function(description, field)` for each listed field.
template <class T, class Function>
constexpr void each_listed_field(T& value, Function&& function) {
    std::apply([&](const auto&... all) { (..., function(all, member_of(all, value))); },
               component_traits<std::remove_const_t<T>>::fields);
}

/// Calls `function(std::integral_constant<I>, field)` for each field of an aggregate.
template <class T, class Function, std::size_t... I>
constexpr void each_tied_field(T& value, Function&& function, std::index_sequence<I...>) {
    auto all = tie_fields(value);
    (..., function(std::integral_constant<std::size_t, I>(), std::get<I>(all)));
}

template <class T>
using field_indices = std::make_index_sequence<count_fields<std::remove_const_t<T>>()>;

}  // namespace detail

/// Calls `function(name, field)` for each field of a struct, in their order. The field is a reference,
/// to const if the value is. Does not look into the fields. Throws what the function throws.
template <class T, class Function>
constexpr void each_field(T& value, Function&& function) {
    using type = std::remove_const_t<T>;
    if constexpr (detail::has_listed_fields<type>)
        detail::each_listed_field(value, [&](const auto& description, auto& field) {
            function(description.name, field);
        });
    else
        detail::each_tied_field(
            value,
            [&](auto index, auto& field) { function(detail::field_name<type, index()>, field); },
            detail::field_indices<type>());
}

}  // namespace MUSTER_NAMESPACE
