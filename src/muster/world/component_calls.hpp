// component_calls: the calls of a world that set, read, change and remove components by C++ type.
// value_calls.hpp overloads them for fragments.
#pragma once

#include <muster/world/fragment_calls.hpp>

#include <new>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// The calls of a world for components by C++ type, and for singletons.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class component_calls : public fragment_calls<Layout> {
    using store_type = detail::store<Layout>;
    template <class Arg>
    using bound_value = detail::bound_value<Arg>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;

    /// Adds these components and links to `e`, or assigns those that it has, all in one move. Values may lie
    /// in this world. O(components of `e`) if a component is new, else O(values). Recorded in a
    /// phase.
    template <class... Ts>
        requires(sizeof...(Ts) > 0 && !(... || detail::fragment_argument<Ts>))
    void set(at_type e, Ts&&... values) {
        if constexpr (detail::has_links<Ts...>)
            detail::set_related<Layout, Ts...>(store_, e,
                                               {store_, "set", std::forward<Ts>(values)}...);
        else
            store_.template put<store_type::if_present::replace, Ts...>(e, "set",
                                                                        bound_value<Ts>(values)...);
    }

    /// Adds default values (see `define`) of those types that `e` does not have. Returns false if
    /// it has all of them. Throws `errc::no_default` if a type has no default value. Recorded in a
    /// phase.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    bool add(at_type e) {
        static_assert((... && detail::is_component<Ts>));
        constexpr bool is_pinned = (... || detail::is_pinned<Ts>);  // constructed in place
        if (is_pinned || store_.gate.is_parallel()) [[unlikely]] {
            const detail::fragment_name all[] = {detail::fragment_name::of<Ts>()...};
            return store_.changes.add_defaults(e, all, "add");
        }
        if constexpr (!is_pinned)
            return store_.template put<store_type::if_present::skip, Ts...>(
                e, "add", bound_value<Ts>(store_.template default_value<Ts>())...);
    }

    /// Constructs a T from `args` and sets it. Returns a reference to it; in a scope, to the
    /// pending value. Recorded in a phase.
    template <class T, class... Args>
    T& emplace(at_type e, Args&&... args) {
        return emplace_as<T>("emplace", e, std::forward<Args>(args)...);
    }

    /// Returns the T of `e`; if it has none, constructs it from `args`. In a scope, returns the T
    /// that `e` has, else the pending one; if there is none either, adds a pending one. Throws
    /// `errc::in_scope` in a phase if T is missing.
    template <class T, class... Args>
    T& get_or_emplace(at_type e, Args&&... args) {
        if (T* const found = store_.template find_value<T>(e.id)) return *found;
        const char* const call = "get_or_emplace of a missing component";
        if (store_.changes.will_have(e, store_.template find_fragment<T>(), call))
            return store_.template placed<T>(e, store_.template find_fragment<T>(), call);
        return emplace_as<T>("get_or_emplace", e, std::forward<Args>(args)...);
    }

    /// Returns the T of `e`. If `e` only inherits one (see `define`), copies that first, as `set` does: the
    /// copy then belongs to `e`, until `remove` brings the inherited value back. In a scope, returns
    /// the T that `e` has, else the pending one. Throws `errc::missing_component` if there is none, and
    /// `errc::not_copyable`. Refused in a phase.
    template <class T>
    T& own(at_type e) {
        return own_value<T>(e, store_.template find_fragment<T>());
    }

    /// Calls `change(T&)` on the T of `e`, then the hooks `on_assign` and `on_set`. Throws
    /// `errc::missing_component` if `e` has no T. If `change` or a hook throws, what `change` has
    /// written stays. If `e` only inherits a T, it receives a copy first, as from `own`; in a phase that
    /// throws `errc::inherited_component`.
    ///
    /// In a scope, changes the value at once, too: the pending one, if a call has recorded one. The
    /// hooks are called at the commit. A cancel restores the value before the first patch of the
    /// scope, so T must be copyable, else `errc::not_copyable`. Throws `errc::missing_component` if
    /// the removal of T is recorded.
    ///
    /// In a phase, `change` writes at once, as through a reference, so no other thread may use the
    /// value. Hooks and observers are notified when the phase ends, as of a `touch`.
    template <class T, class Change>
    T& patch(at_type e, Change&& change) {
        own_inherited(e, store_.template find_fragment<T>());
        if (store_.depth() == 0) (void)store_.template get<T>(e);
        if constexpr (detail::takes_component<Change, T>())
            return store_.template patch<T>(e, store_.template find_fragment<T>(),
                                            std::forward<Change>(change));
    }

    /// Appends `values` with `push_back` to a component that is a container, then calls the hooks,
    /// as `patch` does. If `e` has no T, appends them to its default value and adds that. Refused
    /// in a phase.
    template <class T, class... Values>
    T& append(at_type e, Values&&... values) {
        const auto append_all = [&](T& all) {
            constexpr bool fits =
                (... && requires { all.push_back(std::forward<Values>(values)); });
            static_assert(fits,
                          "muster: append takes values for push_back of the component itself, not "
                          "of a member: use patch for a struct with a container.");
            if constexpr (fits)
                (static_cast<void>(all.push_back(std::forward<Values>(values))), ...);
        };
        if (store_.changes.own(e, store_.template find_fragment<T>(), "append"))
            return patch<T>(e, append_all);
        T made = store_.template default_value<T>();
        append_all(made);
        return emplace_as<T>("append", e, std::move(made));
    }

    /// Calls the hooks as if the T of `e` had been assigned; for use after a write through a
    /// reference. Throws `errc::missing_component` if `e` has no T. Recorded in a phase: `e` must
    /// have had T before it. When the phase ends, nothing happens if `e` is dead or has no T.
    template <class T>
    void touch(at_type e) {
        store_.changes.touch(e, store_.template find_fragment<T>(), detail::type_name<T>());
    }

    /// Returns the T of `e`; for several types, a tuple of references. Throws
    /// `errc::missing_component` if `e` does not have it. O(1). `get<const T>` also returns a value
    /// that `e` inherits from its prefab, in O(prefabs above) (see `define`); `get<T>` then throws
    /// `errc::inherited_component`. May be called in a phase, if no other thread writes the value.
    template <class T>
    [[nodiscard]] T& get(at_type e) {
        store_.template check_access<T>(true);
        return store_.template get<T>(e);
    }
    template <class T>
    [[nodiscard]] const T& get(at_type e) const {
        store_.template check_access<T>(false);
        return store_.template get<T>(e);
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<T&, U&, Ts&...> get(at_type e) {
        return {get<T>(e), get<U>(e), get<Ts>(e)...};
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<const T&, const U&, const Ts&...> get(at_type e) const {
        return {get<T>(e), get<U>(e), get<Ts>(e)...};
    }

    /// Returns a pointer to the T of `e`, or null; accepts any id. For several types, returns a
    /// tuple of pointers. O(1). Never throws, except `errc::undeclared_access` in builds with
    /// thread checks. `try_get<const T>` also returns values that `e` inherits, see `get`. May be
    /// called in a phase, like `get`.
    template <class T>
    [[nodiscard]] T* try_get(id_type e) noexcept(!detail::checks_threads) {
        store_.template check_access<T>(true);
        return store_.template find_any<T>(e,
                                           store_.template find_fragment<std::remove_const_t<T>>());
    }
    template <class T>
    [[nodiscard]] const T* try_get(id_type e) const noexcept(!detail::checks_threads) {
        store_.template check_access<T>(false);
        return store_.template find_any<T>(e,
                                           store_.template find_fragment<std::remove_const_t<T>>());
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<T*, U*, Ts*...> try_get(id_type e) noexcept(!detail::checks_threads) {
        return {try_get<T>(e), try_get<U>(e), try_get<Ts>(e)...};
    }
    template <class T, class U, class... Ts>
    [[nodiscard]] std::tuple<const T*, const U*, const Ts*...> try_get(id_type e) const
        noexcept(!detail::checks_threads) {
        return {try_get<T>(e), try_get<U>(e), try_get<Ts>(e)...};
    }

    /// Returns whether `e` has T; false if `e` is not alive. O(1), never throws. `has<const T>` is
    /// also true if `e` inherits T, see `get`. May be called in a phase.
    template <class T>
    [[nodiscard]] bool has(id_type e) const noexcept {
        const detail::fragment_data& fragment =
            store_.template find_fragment<std::remove_const_t<T>>();
        if constexpr (std::is_const_v<T>)
            return store_.has(e, fragment) || store_.find_fallback(e, fragment) != nullptr;
        else
            return store_.has(e, fragment);
    }
    /// Returns whether `e` has all of these types. Never throws.
    template <class... Ts>
    [[nodiscard]] bool has_all(id_type e) const noexcept {
        return (... && has<Ts>(e));
    }
    /// Returns whether `e` has at least one of these types. Never throws.
    template <class... Ts>
    [[nodiscard]] bool has_any(id_type e) const noexcept {
        return (... || has<Ts>(e));
    }
    /// Returns whether `e` has none of these types. Never throws.
    template <class... Ts>
    [[nodiscard]] bool has_none(id_type e) const noexcept {
        return !has_any<Ts...>(e);
    }

    /// Removes these components in one move. Returns false if `e` had none of them. Recorded in a
    /// phase.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    bool remove(at_type e) {
        return store_.template remove<Ts...>(e);
    }
    /// Removes all components in one move; `e` stays alive. Returns false if it had none. Recorded
    /// in a phase.
    bool clear(at_type e) { return store_.changes.clear(e); }

    // ---- singletons ----------------------------------------------------------------------------

    /// Sets the singleton T: data of the world, stored as a component of the fragment of T itself.
    /// Recorded in a phase; the first use of T is refused.
    template <class T>
    void set_single(T&& value, std::source_location where = std::source_location::current()) {
        const id_type self = this->template component<std::remove_cvref_t<T>>();
        set(at_type(self, where), std::forward<T>(value));
    }
    /// Returns the singleton T. Throws `errc::missing_component` if it was not set. May be called
    /// in a phase, like `get`; there, `single<const T>` only reads.
    template <class T>
    [[nodiscard]] T& single(std::source_location where = std::source_location::current()) {
        T* const found = try_get<T>(self<T>());
        if (found == nullptr)
            store_.errors.raise_no_single(detail::type_name<std::remove_const_t<T>>(), &where);
        return *found;
    }
    template <class T>
    [[nodiscard]] const T& single(
        std::source_location where = std::source_location::current()) const {
        const T* const found = try_get<T>(self<T>());
        if (found == nullptr)
            store_.errors.raise_no_single(detail::type_name<std::remove_const_t<T>>(), &where);
        return *found;
    }
    /// Returns whether the singleton T was set. Never throws.
    template <class T>
    [[nodiscard]] bool has_single() const noexcept {
        return has<T>(self<T>());
    }
    /// Removes the singleton T. Returns false if it was not set. Recorded in a phase.
    template <class T>
    bool remove_single() {
        return has_single<T>() && remove<T>(self<T>());
    }

protected:
    using fragment_calls<Layout>::fragment_calls;
    using detail::world_base<Layout>::store_;

    template <class T>
    T& own_value(at_type e, const detail::fragment_data& fragment) {
        if (T* const found = store_.template find_value<T>(e.id, fragment)) return *found;
        store_.prepare_placed();
        (void)store_.changes.own(e, fragment, "own");
        return store_.template placed<T>(e, fragment, "own");
    }
    /// Before a patch of an inherited value.
    void own_inherited(at_type e, const detail::fragment_data& fragment) {
        if (fragment.fallback.call != nullptr && !store_.gate.is_parallel()) [[unlikely]]
            (void)store_.changes.own(e, fragment, "patch");
    }

    /// Constructs a value that cannot be moved in its slot.
    template <class T, class... Args>
    void construct_in_slot(at_type e, detail::fragment_name fragment, const char* call,
                           Args&&... args) {
        const auto make = [&](void* room) { ::new (room) T(std::forward<Args>(args)...); };
        store_.template emplace<T>(e, fragment, call, make);
    }

private:
    template <class T, class... Args>
    T& emplace_as(const char* call, at_type e, Args&&... args) {
        store_.prepare_placed();
        if constexpr (detail::is_pinned<T>)
            construct_in_slot<T>(e, detail::fragment_name::of<T>(), call,
                                 std::forward<Args>(args)...);
        else
            store_.template put<store_type::if_present::replace, T>(
                e, call, bound_value<T>(T(std::forward<Args>(args)...)));
        return store_.template placed<T>(e, store_.template find_fragment<T>(), call);
    }
    template <class T>
    [[nodiscard]] id_type self() const noexcept {
        return store_.id_of(store_.template find_fragment<std::remove_const_t<T>>());
    }
};

}  // namespace MUSTER_NAMESPACE
