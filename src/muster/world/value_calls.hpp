// value_calls: the calls of a world that set, read, change and remove the values of fragments.
// component_calls.hpp has the overloads for C++ types.
#pragma once

#include <muster/world/component_calls.hpp>

#include <muster/store/with.hpp>

#include <span>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// The calls of a world for components by fragment.
/// <muster/world/world.hpp> has the rules for every call.
///
/// A fragment argument is an id, a `tag_id`, a `fragment<T>` or an object of a tag type, such as
/// `prefab`.
/// All calls throw `errc::dead_fragment` if the fragment is dead, `errc::foreign_entity` if it
/// is of another world, and `errc::type_mismatch` if its values are of another type. Calls that
/// never throw treat such a fragment as missing.
template <class Layout>
class value_calls : public component_calls<Layout> {
    using store_type = detail::store<Layout>;
    template <class Arg>
    using bound_value = detail::bound_value<Arg>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using tag_type = basic_tag_id<Layout>;

    using component_calls<Layout>::set;
    using component_calls<Layout>::add;
    using component_calls<Layout>::emplace;
    using component_calls<Layout>::get;
    using component_calls<Layout>::try_get;
    using component_calls<Layout>::own;
    using component_calls<Layout>::patch;
    using component_calls<Layout>::touch;
    using component_calls<Layout>::has;
    using component_calls<Layout>::has_all;
    using component_calls<Layout>::has_any;
    using component_calls<Layout>::has_none;
    using component_calls<Layout>::remove;

    /// Adds this value to `e`, or assigns it. A `fragment<T>` converts it to T; an id that was not
    /// used as a fragment takes its type. To set several fragments in one move, pass them as
    /// `with(fragment, value)`. Recorded in a phase.
    template <detail::fragment_argument F, class T>
    void set(at_type e, const F& fragment, T&& value) {
        put(e, with(fragment, std::forward<T>(value)));
    }
    /// Adds a tag, or sets the default value of a fragment that has values. Throws
    /// `errc::no_default` if there is none. An id that was not used as a fragment becomes a tag.
    /// Recorded in a phase.
    template <detail::fragment_argument F>
    void set(at_type e, const F& fragment) {
        const detail::type_info* const type = store_.find_fragment(id_type(fragment)).type;
        if (type == nullptr || type->size == 0)
            put(e, with(id_type(fragment)));
        else
            store_.changes.put_default(detail::change_kind::put, e, id_type(fragment).value(),
                                       "set");
    }
    /// Like `set(e, fragment)`, but does nothing and returns false if `e` has the fragment. In a
    /// phase, the first use of a tag's type throws `errc::in_scope`.
    template <detail::fragment_or_tag F>
    bool add(at_type e, const F& fragment) {
        return store_.changes.put_default(detail::change_kind::keep, e,
                                          this->id_of(fragment).value(), "add");
    }
    template <class T>
        requires(!detail::fragment_or_tag<T>)
    bool add(at_type, T&&) {
        detail::refuse_add<T>();
        return false;
    }
    /// Sets a copy of the value at this address, which must be of the fragment's type. Throws
    /// `errc::not_copyable` if values of that type cannot be copied. Refused in a phase.
    void set_raw(at_type e, id_type fragment, const void* value) {
        store_.changes.put_raw(e, fragment.value(), value);
    }

    /// Like `emplace` by type, for a fragment.
    template <class T, class... Args>
    T& emplace(at_type e, basic_fragment<T, Layout> fragment, Args&&... args) {
        store_.prepare_placed();
        if constexpr (detail::is_pinned<T>)
            this->template construct_in_slot<T>(e, {std::uint64_t{fragment.id().value()}},
                                                "emplace", std::forward<Args>(args)...);
        else
            put(e, with(fragment, T(std::forward<Args>(args)...)));
        return store_.template placed<T>(e, store_.find_fragment(fragment.id()), "emplace");
    }

    /// Returns the value of this fragment. Throws `errc::missing_component` if `e` does not have
    /// it. O(1). May be called in a phase, if no other thread writes the value.
    template <class T>
    [[nodiscard]] T& get(at_type e, id_type fragment) {
        return store_.template get<T>(e, fragment, "get");
    }
    template <class T>
    [[nodiscard]] const T& get(at_type e, id_type fragment) const {
        return store_.template get<T>(e, fragment, "get");
    }
    template <class T>
    [[nodiscard]] T& get(at_type e, basic_fragment<T, Layout> fragment) {
        return store_.template get<T>(e, fragment, "get");
    }
    template <class T>
    [[nodiscard]] const T& get(at_type e, basic_fragment<T, Layout> fragment) const {
        return store_.template get<T>(e, fragment, "get");
    }

    /// Returns a pointer to the value of this fragment, or null, also if its values are of another
    /// type. O(1), never throws. May be called in a phase, like `get`.
    template <class T>
    [[nodiscard]] T* try_get(id_type e, id_type fragment) noexcept {
        return store_.template find_any<T>(
            e, store_.template find_fragment<std::remove_const_t<T>>(fragment));
    }
    template <class T>
    [[nodiscard]] const T* try_get(id_type e, id_type fragment) const noexcept {
        return store_.template find_any<T>(
            e, store_.template find_fragment<std::remove_const_t<T>>(fragment));
    }
    template <class T>
    [[nodiscard]] T* try_get(id_type e, basic_fragment<T, Layout> fragment) noexcept {
        return try_get<T>(e, fragment.id());
    }
    template <class T>
    [[nodiscard]] const T* try_get(id_type e, basic_fragment<T, Layout> fragment) const noexcept {
        return try_get<T>(e, fragment.id());
    }
    /// Returns the address of the value, whatever its type; null if `e` does not have it or the
    /// fragment is a tag. O(1), never throws. May be called in a phase, like `get`.
    [[nodiscard]] void* try_get_raw(id_type e, id_type fragment) noexcept {
        return store_.components.find(e.value(), store_.find_fragment(fragment));
    }
    [[nodiscard]] const void* try_get_raw(id_type e, id_type fragment) const noexcept {
        return store_.components.find(e.value(), store_.find_fragment(fragment));
    }

    /// Like `own` by type, for a fragment.
    template <class T>
    T& own(at_type e, id_type fragment) {
        return this->template own_value<T>(
            e, store_.template get_fragment<T>(fragment, "own", &e.where));
    }
    template <class T>
    T& own(at_type e, basic_fragment<T, Layout> fragment) {
        return own<T>(e, fragment.id());
    }
    /// Like `patch` by type, for a fragment.
    template <class T, class Change>
    T& patch(at_type e, id_type fragment, Change&& change) {
        this->own_inherited(e, store_.template find_fragment<T>(fragment));
        if (store_.depth() == 0) (void)store_.template get<T>(e, fragment, "patch");
        if constexpr (detail::takes_component<Change, T>())
            return store_.template patch<T>(
                e, store_.template get_fragment<T>(fragment, "patch", &e.where),
                std::forward<Change>(change));
    }
    template <class T, class Change>
    T& patch(at_type e, basic_fragment<T, Layout> fragment, Change&& change) {
        return patch<T>(e, fragment.id(), std::forward<Change>(change));
    }
    /// Like `touch` by type, for a fragment.
    template <detail::fragment_or_tag F>
    void touch(at_type e, const F& fragment) {
        const detail::fragment_data& known =
            store_.catalog.get(this->id_of(fragment).value(), "touch", &e.where);
        store_.changes.touch(e, known, known.name);
    }

    /// Returns whether `e` has this fragment. O(1), never throws.
    template <detail::fragment_or_tag F>
    [[nodiscard]] bool has(id_type e, const F& fragment) const noexcept {
        return store_.has(e, this->find_fragment(fragment));
    }
    /// Returns whether `e` has all of these fragments. Never throws.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_all(id_type e, const Fs&... fragments) const noexcept {
        return (... && has(e, fragments));
    }
    /// Returns whether `e` has at least one of these fragments. Never throws.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_any(id_type e, const Fs&... fragments) const noexcept {
        return (... || has(e, fragments));
    }
    /// Returns whether `e` has none of these fragments. Never throws.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] bool has_none(id_type e, const Fs&... fragments) const noexcept {
        return !has_any(e, fragments...);
    }

    /// Removes these fragments in one move. Returns false if `e` had none of them. Ignores dead
    /// fragments. Recorded in a phase.
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    bool remove(at_type e, const Fs&... fragments) {
        if constexpr (sizeof...(Fs) == 1) {
            return store_.remove(e, (this->id_of(fragments), ...));
        } else {
            const detail::fragment_name all[] = {
                {std::uint64_t{this->id_of(fragments).value()}}...};
            return store_.changes.remove(e, all);
        }
    }
    bool remove(at_type e, std::span<const id_type> fragments) {
        detail::array_list<detail::fragment_name> all;
        for (const id_type f : fragments) all.push_back({std::uint64_t{f.value()}});
        return store_.changes.remove(e, {all.data(), all.size()});
    }

    /// Calls `callback(id fragment, void* value)` for each fragment of `e`, in the order in which
    /// the world first used them, but not for its links. The value of a tag is null. Opens a scope, as a
    /// loop does. May be called in a phase.
    template <class Callback>
    void each_fragment(at_type e, Callback&& callback) {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.errors.raise_not_alive(e, "each_fragment");
        typename store_type::scope changes(store_);
        for (const detail::fragment_data* fragment : store_.components.fragments_of(e.id.value())) {
            if (fragment->participant != nullptr) continue;  // not the user's to write
            store_.changes.mark_written(e.id.value(), *fragment);
            if constexpr (takes_fragment<Callback, void*>())
                callback(store_.id_of(*fragment), store_.components.find(e.id.value(), *fragment));
        }
        changes.commit();
    }
    /// Like `each_fragment` above, but calls `callback(id fragment, const void* value)` and opens
    /// no scope.
    template <class Callback>
    void each_fragment(at_type e, Callback&& callback) const {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.errors.raise_not_alive(e, "each_fragment");
        for (const detail::fragment_data* fragment : store_.components.fragments_of(e.id.value())) {
            if (fragment->participant != nullptr) continue;
            if constexpr (takes_fragment<Callback, const void*>())
                callback(store_.id_of(*fragment),
                         static_cast<const void*>(store_.components.find(e.id.value(), *fragment)));
        }
    }

    // A tag as the entity, and a plain id as the fragment: refused; see `basic_tag_id`.
    template <class F>
        requires detail::names_plain_id<id_type, F>
    bool set(tag_type, const F&) {
        return detail::refuse_swapped<F>();
    }
    template <class F>
        requires detail::names_plain_id<id_type, F>
    bool add(tag_type, const F&) {
        return detail::refuse_swapped<F>();
    }
    template <class... Fs>
        requires detail::names_plain_id<id_type, Fs...>
    bool remove(tag_type, const Fs&...) {
        return detail::refuse_swapped<Fs...>();
    }
    template <class F>
        requires detail::names_plain_id<id_type, F>
    bool touch(tag_type, const F&) {
        return detail::refuse_swapped<F>();
    }
    template <class F>
        requires detail::names_plain_id<id_type, F>
    bool has(tag_type, const F&) const {
        return detail::refuse_swapped<F>();
    }
    template <class... Fs>
        requires detail::names_plain_id<id_type, Fs...>
    bool has_all(tag_type, const Fs&...) const {
        return detail::refuse_swapped<Fs...>();
    }
    template <class... Fs>
        requires detail::names_plain_id<id_type, Fs...>
    bool has_any(tag_type, const Fs&...) const {
        return detail::refuse_swapped<Fs...>();
    }
    template <class... Fs>
        requires detail::names_plain_id<id_type, Fs...>
    bool has_none(tag_type, const Fs&...) const {
        return detail::refuse_swapped<Fs...>();
    }

protected:
    using component_calls<Layout>::component_calls;
    using detail::world_base<Layout>::store_;

private:
    template <class Callback, class Value>
    static consteval bool takes_fragment() {
        constexpr bool fits = std::is_invocable_v<Callback&, id_type, Value>;
        static_assert(fits,
                      "muster: the callback of each_fragment takes (id, void*), or (id, const "
                      "void*) if the world is const.");
        return fits;
    }
    template <class T>
    void put(at_type e, T&& given) {
        store_.template put<store_type::if_present::replace, T>(e, "set", bound_value<T>(given));
    }
};

}  // namespace MUSTER_NAMESPACE
