// query_calls: the calls of a world for many entities: queries; counting, clearing, copying,
// searching and sorting the values of a fragment.
#pragma once

#include <muster/world/value_calls.hpp>

#include <muster/query/query.hpp>

#include <cstddef>
#include <source_location>
#include <type_traits>

namespace MUSTER_NAMESPACE {

/// The calls of a world for many entities.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class query_calls : public value_calls<Layout> {
public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using value_calls<Layout>::clear;

    // ---- queries -------------------------------------------------------------------------------

    /// Returns a query for all entities that have these components; see `basic_query`. `const T` is
    /// only read; `T*` may be missing. In a phase, the first use of a type throws `errc::in_scope`.
    template <class... Ts>
    [[nodiscard]] basic_query<Layout, Ts...> query() {
        using made = basic_query<Layout, Ts...>;
        return basic_world<Layout>::template make_handle<made>(store_, queries_);
    }
    /// Returns a query of a const world: all components are const. It opens no scope, creates no
    /// fragments, and cannot change entities. Several threads may use such queries at the same time.
    template <class... Ts>
    [[nodiscard]] basic_query<const Layout, Ts...> query() const {
        using made = basic_query<const Layout, Ts...>;
        return basic_world<Layout>::template make_handle<made>(store_, queries_);
    }
    /// Loops over the query that the parameters of `callback` describe:
    /// `w.each([](entity e, position& p, const velocity& v) { ... })`. May be called in a phase, if
    /// the types were used before.
    template <class Callback>
    [[gnu::always_inline]] void each(Callback&& callback) {
        each_of(*this, callback);
    }
    template <class Callback>
    [[gnu::always_inline]] void each(Callback&& callback) const {
        each_of(*this, callback);
    }

    // ---- all values of a fragment --------------------------------------------------------------

    /// Removes T from every entity, hidden or not; returns how many had it. Works chunk by chunk: a chunk whose
    /// change throws stays unchanged, the others continue, and the first exception is rethrown at
    /// the end. Refused in a phase.
    template <class T>
    std::size_t clear() {
        return store_.batch.clear_fragment(store_.template find_fragment<T>());
    }
    /// Removes this fragment from every entity, as `clear<T>()` does. Returns 0 for an id that is
    /// no fragment. Refused in a phase.
    template <detail::fragment_or_tag F>
    std::size_t clear_fragment(const F& fragment) {
        return store_.batch.clear_fragment(this->find_fragment(fragment));
    }
    /// Returns how many entities have T, hidden entities such as prefabs included, which
    /// `query<const T>().count()` skips. O(chunks with T), never throws.
    template <class T>
    [[nodiscard]] std::size_t count() const noexcept {
        return store_.components.count(store_.template find_fragment<T>());
    }
    /// Like `count` by type, for a fragment. O(chunks with it), never throws.
    template <detail::fragment_or_tag F>
    [[nodiscard]] std::size_t count(const F& fragment) const noexcept {
        return store_.components.count(this->find_fragment(fragment));
    }

    /// For each entity that has `from`, sets `to` to a copy of its value; returns how many. A `to`
    /// that was not used as a fragment takes the type. Throws `errc::not_copyable` if values of
    /// `from` cannot be copied. Each chunk is copied completely or not at all; with sparse
    /// fragments, each entity. Refused in a phase.
    std::size_t copy_fragment(id_type from, id_type to,
                              std::source_location where = std::source_location::current()) {
        return store_.batch.copy_fragment(from.value(), to.value(), where);
    }

    /// Returns the first entity, by chunk and row (sparse: by slot), whose T equals `value`, or the
    /// null id. Searches all values of T, hidden entities such as prefabs included.
    /// O(entities with T).
    template <class T>
    [[nodiscard]] id_type find(const T& value) const {
        return find_if<T>([&](const T& candidate) { return candidate == value; });
    }
    /// Like `find`, for the first T for which `predicate(const T&)` returns true. `predicate` must
    /// not change the world.
    template <class T, class Predicate>
    [[nodiscard]] id_type find_if(Predicate&& predicate) const {
        static_assert(!detail::is_tag<T>, "muster: a tag has no value to search for.");
        constexpr bool fits = std::is_invocable_r_v<bool, Predicate&, const T&>;
        static_assert(fits, "muster: the predicate of find_if takes (const T&) and returns bool.");
        const auto matches = [&](const T& value) -> bool {
            if constexpr (fits)
                return predicate(value);
            else
                return false;
        };
        const detail::fragment_data& fragment = store_.template find_fragment<T>();
        for (std::size_t i = 0; i < fragment.chunks.size(); ++i) {
            const detail::chunk_data& owner = store_.graph.at(fragment.chunks[i]);
            for (std::size_t row = 0; row < owner.size; ++row)
                if (matches(*detail::value_at<T>(fragment.base(owner.index), row)))
                    return reinterpret_cast<const id_type*>(owner.ids.data)[row];
        }
        if (const detail::sparse_set* const set = fragment.sparse_values)
            for (auto at = set->next(0); at != detail::no_slot; at = set->next(to_int(at) + 1))
                if (matches(*reinterpret_cast<const T*>(set->at(at))))
                    return *reinterpret_cast<const id_type*>(set->ids_at(at));
        return {};
    }

    // ---- order ---------------------------------------------------------------------------------

    /// Sorts the values of a sparse T, and thereby the loops that T leads, by `is_before(a, b)`;
    /// stable. Throws `errc::not_sparse`, `errc::not_movable` for types that cannot be moved, and
    /// `errc::in_scope`. If it throws, nothing has changed. Moves the values: invalidates
    /// references to T. O(n log n). Refused in a phase.
    template <class T, class Before>
    void sort(Before&& is_before) {
        sort_values<T>(store_.template ensure_fragment<T>(), is_before);
    }
    /// Like `sort` by type, for a fragment.
    template <class T, class Before>
    void sort(basic_fragment<T, Layout> fragment, Before&& is_before) {
        sort_values<T>(store_.template get_fragment<T>(fragment.id(), "sort", nullptr), is_before);
    }
    /// Sorts the values of a sparse T into the order in which a loop over `Other` visits the
    /// entities; entities without `Other` come last. Throws and invalidates as `sort` does.
    /// O(entities with T or Other). Refused in a phase.
    template <class T, class Other>
    void sort_like() {
        store_.sorter.sort_like(store_.template ensure_fragment<T>(),
                                store_.template ensure_fragment<Other>());
    }
    /// Like `sort_like` by type, for fragments.
    template <detail::fragment_or_tag F, detail::fragment_or_tag G>
    void sort_like(const F& fragment, const G& other) {
        store_.sorter.sort_like(
            store_.catalog.get(this->id_of(fragment).value(), "sort_like", nullptr),
            store_.catalog.get(this->id_of(other).value(), "sort_like", nullptr));
    }

protected:
    using value_calls<Layout>::value_calls;
    using detail::world_base<Layout>::store_;
    using detail::world_base<Layout>::queries_;

private:
    template <class World, class Callback>
    [[gnu::always_inline]] static void each_of(World& w, Callback& callback) {
        using function = std::decay_t<Callback>;
        constexpr bool fits = detail::has_known_parameters<function>;
        static_assert(fits,
                      "muster: the parameters of this callback are unknown, since they are auto or "
                      "overloaded: "
                      "write query<position>().each(callback).");
        if constexpr (fits) detail::query_of<Layout, function>::make(w).each(callback);
    }
    template <class T, class Before>
    void sort_values(detail::fragment_data& fragment, Before& is_before) {
        static_assert(!detail::is_tag<T>, "muster: a tag has no values: use sort_like.");
        constexpr bool fits = std::is_invocable_r_v<bool, Before&, const T&, const T&>;
        static_assert(fits,
                      "muster: sort takes a function (const T&, const T&) that returns bool.");
        store_.sorter.sort(
            fragment,
            [](void* context, const void* a, const void* b) -> bool {
                if constexpr (fits)
                    return (*static_cast<Before*>(context))(*static_cast<const T*>(a),
                                                            *static_cast<const T*>(b));
                else
                    return false;
            },
            const_cast<void*>(static_cast<const void*>(__builtin_addressof(is_before))));
    }
};

}  // namespace MUSTER_NAMESPACE
