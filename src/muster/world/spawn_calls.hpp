// spawn_calls: the calls of a world that create entities: from values, from columns, from a
// prototype, or with a builder.
#pragma once

#include <muster/world/entity_calls.hpp>

#include <muster/relation/direct_spawn.hpp>
#include <muster/relation/link_argument.hpp>
#include <muster/world/builder.hpp>
#include <muster/world/chunk.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE {

/// The calls of a world that create entities.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class spawn_calls : public entity_calls<Layout> {
    using store_type = detail::store<Layout>;
    template <class Arg>
    using bound_value = detail::bound_value<Arg>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using rows_type = basic_rows<Layout>;
    using builder_type = basic_builder<Layout>;

    /// Creates an entity with these components: one per type or, with `with`, one per fragment; and
    /// with these links: `to(child_of, ship)`.
    /// Throws `errc::id_overflow` if no key is left. O(components), amortised where columns grow.
    /// Recorded in a phase.
    ///
    /// If this or any other call that creates entities throws, none of them is left. If a change
    /// that a hook has recorded fails afterwards, the call destroys them again, like `destroy`.
    template <class... Ts>
    id_type spawn(Ts&&... values) {
        if constexpr (detail::can_spawn_directly<Ts...>)
            if (const id_type made = detail::spawn_directly(store_, values...)) return made;
        if constexpr (detail::has_links<Ts...>)
            return detail::spawn_related<Layout, Ts...>(
                store_, nullptr, {store_, "spawn", std::forward<Ts>(values)}...);
        else if constexpr (store_type::template all_typed<Ts...>)
            return store_.template spawn<Ts...>(bound_value<Ts>(values)...);
        else
            return store_.template spawn_given<Ts...>(bound_value<Ts>(values)...);
    }

    /// Like `spawn`, but creates exactly the id `wanted`. Throws as `id_pool::create_at` does.
    /// Refused in a phase.
    template <class... Ts>
    id_type spawn_at(at_type wanted, Ts&&... values) {
        if constexpr (detail::has_links<Ts...>)
            return detail::spawn_related<Layout, Ts...>(
                store_, &wanted, {store_, "spawn_at", std::forward<Ts>(values)}...);
        else
            return store_.template spawn_at<Ts...>(wanted, bound_value<Ts>(values)...);
    }

    /// Creates `count` entities with copies of these components and links; all or none. Returns the ids that
    /// `count` calls of `spawn` would return, in that order. Throws `errc::id_overflow` if fewer keys
    /// are left, and `errc::limit` beyond the rows of a chunk, before it allocates. O(values). The
    /// calls below do the same. Refused in a phase.
    template <class... Ts>
    std::vector<id_type> spawn_many(std::size_t count, const Ts&... values) {
        store_.spawner.refuse_many(count);  // before the vector throws length_error
        const initial_values<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.spawner.refuse_rows(count, given.chunk);
        std::vector<id_type> made(count);
        store_.spawner.spawn_many(store_type::ids_of(std::span<id_type>(made)), given.chunk, given);
        return made;
    }

    /// Like `spawn_many`, but writes an id to each element of `out`. A failed call writes nothing
    /// to `out`.
    template <class... Ts>
    void spawn_into(std::span<id_type> out, const Ts&... values) {
        store_.spawner.refuse_many(out.size());
        const initial_values<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.spawner.refuse_rows(out.size(), given.chunk);
        store_.spawner.spawn_many(store_type::ids_of(out), given.chunk, given);
    }

    /// Like `spawn_many`, but calls `fill(rows)` to set the values of each row before hooks see
    /// them. If `fill` throws, destroys the new entities. Refused in a phase.
    template <class Fill, class... Ts>
    void spawn_rows(std::size_t count, Fill&& fill, const Ts&... values) {
        static_assert(sizeof...(Ts) != 0, "muster: spawn_rows needs at least one component type.");
        constexpr bool fits = std::is_invocable_v<Fill, rows_type>;
        static_assert(fits, "muster: the function of spawn_rows takes rows.");
        store_.spawner.refuse_many(count);
        const initial_values<Ts...> given(store_, 0, __builtin_addressof(values)...);
        store_.spawner.refuse_rows(count, given.chunk);
        store_.spawn_rows(
            count, given.chunk, given, [&](const detail::chunk_data& into, std::size_t first) {
                // SAFETY: the column `ids` stores values of `id_type`.
                const auto* const all = reinterpret_cast<const id_type*>(into.ids.data) + first;
                if constexpr (fits)
                    std::forward<Fill>(fill)(rows_type(store_, &into, first, count, all));
            });
    }

    /// Creates an entity for each row of these columns (arrays, vectors, spans; one per component,
    /// of equal length): `w.spawn_columns(positions, velocities)`. All or none. Throws
    /// `errc::size_mismatch` if the lengths differ. Writes each value once: the fastest way to
    /// create many entities. Refused in a phase.
    template <class... Columns>
    std::vector<id_type> spawn_columns(const Columns&... columns) {
        constexpr bool fits = sizeof...(Columns) > 0 && (... && is_column<Columns>);
        static_assert(fits, "muster: spawn_columns takes at least one array, vector or span.");
        if constexpr (fits) {
            const std::size_t count = common_size(columns...);
            store_.spawner.refuse_many(count);
            std::vector<id_type> made(count);
            spawn_columns_into(std::span<id_type>(made), columns...);
            return made;
        } else {
            return {};
        }
    }
    /// Like `spawn_columns`, but writes the ids to `out`, which must have the length of the
    /// columns. A failed call writes nothing to `out`.
    template <class... Columns>
    void spawn_columns_into(std::span<id_type> out, const Columns&... columns) {
        (void)common_size(out, columns...);
        store_.spawner.refuse_many(out.size());
        const initial_values<element<Columns>...> given(store_, 1, std::data(columns)...);
        store_.spawner.refuse_rows(out.size(), given.chunk);
        store_.spawner.spawn_many(store_type::ids_of(out), given.chunk, given);
    }

    /// Creates a copy of `prototype`, in which `values` replace or extend the components and links of
    /// `prototype`. `values` need not be copyable. Throws `errc::not_copyable` if another component
    /// of `prototype` cannot be copied. Refused in a phase.
    template <class... Ts>
    id_type clone(at_type prototype, Ts&&... values) {
        if constexpr (detail::has_links<Ts...>)
            return detail::clone_related<Layout, Ts...>(
                store_, prototype, {store_, "clone", std::forward<Ts>(values)}...);
        else
            return store_.template clone<Ts...>(prototype, bound_value<Ts>(values)...);
    }

    /// Like `clone`, but creates `count` copies; all or none.
    template <class... Ts>
    std::vector<id_type> clone_many(std::size_t count, at_type prototype, const Ts&... values) {
        store_.require(prototype, "clone");
        store_.spawner.refuse_many(count);
        const initial_values<Ts...> given(store_, 0, __builtin_addressof(values)...);
        const detail::target original(prototype);
        store_.spawner.refuse_rows(count, given.chunk, &original);
        std::vector<id_type> made(count);
        clone_rows(made, prototype, given);
        return made;
    }
    /// Like `clone_many`, but writes an id to each element of `out`.
    template <class... Ts>
    void clone_into(std::span<id_type> out, at_type prototype, const Ts&... values) {
        store_.require(prototype, "clone");
        store_.spawner.refuse_many(out.size());
        const initial_values<Ts...> given(store_, 0, __builtin_addressof(values)...);
        const detail::target original(prototype);
        store_.spawner.refuse_rows(out.size(), given.chunk, &original);
        clone_rows(out, prototype, given);
    }

    /// Creates plain ids, for use as entities or as fragments. All or none. Refused in a phase.
    template <std::size_t Count>
    std::array<id_type, Count> ids() {
        std::array<id_type, Count> made;
        spawn_into(std::span<id_type>(made));
        return made;
    }

    /// Returns an empty builder: a set of component values to create entities from, many times. May
    /// be called in a phase.
    [[nodiscard]] builder_type builder() noexcept { return builder_type(store_); }

protected:
    using entity_calls<Layout>::entity_calls;
    using detail::world_base<Layout>::store_;

    template <class... Ts>
    struct initial_values;

private:
    template <class Column>
    using element = std::remove_cvref_t<decltype(*std::data(std::declval<const Column&>()))>;

    template <class Column>
    static constexpr bool is_column = requires(const Column& column) {
        std::size(column);
        *std::data(column);
    };
    template <class Column, class... Columns>
    static std::size_t common_size(const Column& first, const Columns&... others) {
        const std::size_t sizes[] = {std::size(first), std::size(others)...};
        for (const std::size_t size : sizes)
            if (size != sizes[0])
                detail::raise(errc::size_mismatch,
                              detail::text("columns have ", sizes[0], " and ", size,
                                           " values: all columns must have the same length"));
        return sizes[0];
    }

    template <class... Ts>
    void clone_rows(std::span<id_type> out, at_type prototype, const initial_values<Ts...>& given) {
        if constexpr (detail::has_links<Ts...>)
            detail::clone_many_with_links(store_, store_type::ids_of(out), prototype, given.chunk,
                                          given);
        else
            store_.spawner.clone_many(store_type::ids_of(out), prototype, given.chunk, given);
    }

protected:
    /// The initial values of many new rows, and their chunk. All rows share one value per fragment
    /// or, if `step` is 1, each row has its own.
    template <class... Ts>
    struct initial_values {
        static_assert(
            (... && is_copyable<Ts>::value),
            "muster: each entity receives a copy, but this component cannot be copied. Spawn "
            "one by one and pass values with std::move.");
        detail::fragment_data* fragments[sizeof...(Ts) + 1];
        mutable const void* values[sizeof...(Ts) + 1];
        std::size_t count = 0;
        std::size_t step;
        detail::row_links<Layout, Ts...> links;
        detail::chunk_data& chunk;

        initial_values(store_type& store, std::size_t between, const Ts*... given)
            : step(between), links(store, given...), chunk(chunk_of(store, given...)) {}
        // NOLINTNEXTLINE(google-explicit-constructor)
        operator typename store_type::row_values() const noexcept {
            return {{fragments, count}, {values, count}, step};
        }

    private:
        /// Fills the lists, and returns the chunk.
        detail::chunk_data& chunk_of(store_type& store, const Ts*... given) {
            const auto add = [&](detail::fragment_data& fragment, const void* value) {
                fragments[count] = &fragment;
                values[count++] = value;
            };
            [[maybe_unused]] const auto add_value = [&]<class T>(const T* value) {
                if constexpr (!detail::is_to<T>)
                    add(store.fragment_of(value), store_type::address_of(value));
            };
            (add_value(given), ...);
            links.each([&](const detail::change& link) {
                add(store.catalog.ensure(link, nullptr), link.self);
            });
            if constexpr (detail::has_links<Ts...>)
                return store.catalog.grouped(store.catalog.ensure_set({fragments, count}),
                                             {fragments, count}, {values, count});
            else if constexpr ((... || detail::is_with<Ts>))
                return store.catalog.ensure_set({fragments, count});
            else
                return store.template ensure_chunk<Ts...>();
        }
    };
};

}  // namespace MUSTER_NAMESPACE
