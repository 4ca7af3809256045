// term_traits: how a loop reads the argument of a query in the rows of a chunk. `fetch` runs once
// for each chunk and returns a column; `at(row)` of the column runs for each row and is inlined.
//
//     query_column    values + row           a column of the chunk, or a run of a walk
//     lane_column     found[lane], ...       scattered values, and one value for all rows
#pragma once

#include <muster/query/walk.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

template <class T>
struct query_column;

/// Whether a query argument is a component of another entity, which only a later room can read. It is no
/// term of the query.
template <class T>
inline constexpr bool is_far = false;

/// The query argument of a callback's parameter. Far arguments are passed by value.
template <class Parameter>
struct argument_of_parameter {
    using type = std::remove_reference_t<Parameter>;
};
template <class Parameter>
    requires is_far<std::remove_cvref_t<Parameter>>
struct argument_of_parameter<Parameter> {
    using type = std::remove_cvref_t<Parameter>;
};
template <class Parameter>
using argument_of = typename argument_of_parameter<Parameter>::type;

/// Traits of a query argument, which is `T`, `const T`, `T*` or `const T*`. They state the
/// component type, whether it may be missing, and what a callback takes.
template <class T>
struct term_traits {
    using type = std::remove_const_t<std::remove_reference_t<T>>;
    using value = T&;
    static constexpr bool is_optional = false;
    static constexpr bool is_written = !std::is_const_v<T>;
    static_assert(!std::is_reference_v<T>,
                  "muster: query arguments are not references: write query<position>().");

    [[nodiscard]] static query_column<T> fetch(const fragment_data& fragment,
                                               const chunk_data& chunk) noexcept {
        return query_column<T>(fragment.base(chunk.index));
    }
};
template <class T>
struct term_traits<T*> {
    using type = std::remove_const_t<T>;
    using value = T*;
    static constexpr bool is_optional = true;
    static constexpr bool is_written = !std::is_const_v<T>;

    [[nodiscard]] static query_column<T*> fetch(const fragment_data& fragment,
                                                const chunk_data& chunk) noexcept {
        return query_column<T*>(fragment.base(chunk.index));
    }
};

/// The query argument that may also write the component.
template <class T>
struct writable_term {
    using type = std::remove_const_t<T>;
};
template <class T>
struct writable_term<T*> {
    using type = std::remove_const_t<T>*;
};
template <class T>
using writable = typename writable_term<T>::type;

/// The components of one type in a chunk, or in a run of a walk.
template <class T>
struct query_column {
    using argument = term_traits<T>;
    using type = typename argument::type;
    type* values;

    explicit query_column(std::byte* base) noexcept
        : values(base == nullptr ? nullptr : value_at<type>(base, 0)) {}
    [[nodiscard]] typename argument::value at(std::size_t row) const noexcept {
        if constexpr (argument::is_optional) {
            if (values == nullptr) return nullptr;
            return is_tag<type> ? values : values + row;
        } else {
            return *(is_tag<type> ? values : values + row);
        }
    }
};

/// Like `query_column`, for the lanes of a block.
template <class T>
struct lane_column {
    using argument = term_traits<T>;
    lane_source source;
    const lane_place* places;

    [[nodiscard]] typename argument::value at(std::size_t lane) const noexcept {
        if (source.found != nullptr) return query_column<T>(source.found[lane]).at(0);
        if (source.inside == nullptr) return query_column<T>(source.base).at(lane);
        // Loads the base again for each lane: a callback that creates chunks reallocates `bases`.
        const chunk_index chunk{places[lane].chunk};
        std::byte* const base = argument::is_optional
                                    ? source.inside->base(chunk)
                                    : fragment_data::base_there(chunk, source.inside->chunk_zero);
        return query_column<T>(base).at(places[lane].row);
    }
};

}  // namespace MUSTER_NAMESPACE::detail
