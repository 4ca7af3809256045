// definition: what a fragment means to its world, said once: `w.define<position>().needs<velocity>()`.
#pragma once

#include <muster/event/connection.hpp>
#include <muster/store/store.hpp>
#include <muster/type/predefined.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace muster {

/// Says what a fragment means. `T` is the type of its values, or void if only the id is known. Each call
/// takes effect at once, for all that happens from then on; what entities have already stays as it is.
/// A definition must not outlive its world. `errc::dead_fragment` if the fragment was destroyed
/// meanwhile; a failed call has changed nothing.
template <class Layout, class T>
class basic_definition {
public:
    using id_type = basic_id<Layout>;

    [[nodiscard]] id_type id() const noexcept { return id_; }
    // NOLINTNEXTLINE(google-explicit-constructor): it stands for the fragment
    operator id_type() const noexcept { return id_; }

    /// The same as `world::name`: errors show it, and `lookup` finds the fragment by it.
    basic_definition& name(std::string_view text) {
        (void)fragment();
        store_->name(id_, text);
        return *this;
    }

    /// The value where none is given: `add`, `needs`. An id that has no type yet gets this one.
    template <class Value>
    basic_definition& default_value(Value&& value) {
        using type = std::conditional_t<std::is_void_v<T>, std::remove_cvref_t<Value>, T>;
        static_assert(detail::is_component<type>);
        auto made = detail::boxed_value::holding(static_cast<type>(std::forward<Value>(value)));
        (void)fragment();
        detail::fragment_data& which = store_->template ensure_fragment<type>(id_, nullptr);
        const typename detail::store<Layout>::busy_scope nobody_else(*store_);
        const detail::boxed_value old = std::move(which.default_value);
        which.default_value = std::move(made);
        which.is_open = false;
        return *this;
    }

    /// How the world copies a component, for a clone or from a default value, which then need not be
    /// copyable: what the caller hands over is copied or moved as usual.
    /// `T copy(const T&)`; for an id `void copy(void* to, const void* from)`, which makes the value.
    template <class Function>
    basic_definition& duplicate(Function&& copy) {
        using function = std::remove_cvref_t<Function>;
        detail::duplicate_function made{detail::boxed_value::holding(std::forward<Function>(copy)),
                                        [](const void* what, void* to, const void* from) {
                                            const auto& call = *static_cast<const function*>(what);
                                            if constexpr (std::is_void_v<T>)
                                                call(to, from);
                                            else
                                                ::new (to) T(call(*static_cast<const T*>(from)));
                                        }};
        detail::fragment_data& which = fragment();
        const typename detail::store<Layout>::busy_scope nobody_else(*store_);
        const detail::duplicate_function old = std::move(which.duplicate);
        which.duplicate = std::move(made);
        return *this;
    }

    /// An entity that gets this fragment gets these, too, with their default values; circles are fine.
    /// An id that has no type yet becomes a tag. `errc::no_default` comes with the first entity.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    basic_definition& needs() {
        detail::fragment_data* const all[] = {&store_->template ensure_fragment<Ts>()...};
        store_->add_needs(id_, all);
        return *this;
    }
    template <detail::fragment_or_tag... Fragments>
        requires(sizeof...(Fragments) > 0)
    basic_definition& needs(const Fragments&... fragments) {
        detail::fragment_data* const all[] = {&needed(fragments)...};
        store_->add_needs(id_, all);
        return *this;
    }

    /// Clones do not get it.
    basic_definition& unique(bool is = true) {
        fragment().is_unique = is;
        store_->note_meaning();
        return *this;
    }
    /// Chunks with it are left out of queries that do not name it.
    basic_definition& hidden(bool is = true) {
        fragment().is_hidden = is;
        store_->note_meaning();
        return *this;
    }
    /// Kept beside the chunks: getting or losing it moves nothing, and a value stays where it is while it
    /// lives. For what comes and goes often. `errc::fragment_in_use` once entities have it. A type that
    /// cannot be moved is sparse by itself; see also `component_traits`.
    basic_definition& sparse() {
        store_->make_sparse(fragment());
        return *this;
    }
    /// A mark for tools: the fragment serves the program itself, not its data.
    basic_definition& internal(bool is = true) {
        fragment().is_internal = is;
        return *this;
    }
    /// What becomes of its entities when the fragment is destroyed.
    basic_definition& when_destroyed(destruction policy) {
        fragment().destroys_owners = policy == destruction::destroy_owners;
        return *this;
    }

    /// Hooks: see `world::on_insert` and its like, which give a connection to cut them by.
    template <class Hook>
    basic_definition& on_insert(Hook&& hook) {
        return add(detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    template <class Hook>
    basic_definition& on_assign(Hook&& hook) {
        return add(detail::hook_kind::assign, std::forward<Hook>(hook));
    }
    template <class Hook>
    basic_definition& on_set(Hook&& hook) {
        return add(detail::hook_kind::set, std::forward<Hook>(hook));
    }
    template <class Hook>
    basic_definition& on_remove(Hook&& hook) {
        return add(detail::hook_kind::remove, std::forward<Hook>(hook));
    }

    [[nodiscard]] bool is_unique() const { return fragment().is_unique; }
    [[nodiscard]] bool is_hidden() const { return fragment().is_hidden; }
    [[nodiscard]] bool is_internal() const { return fragment().is_internal; }
    [[nodiscard]] bool is_sparse() const { return fragment().beside != nullptr; }

private:
    template <class>
    friend class basic_world;
    basic_definition(detail::store<Layout>& from, id_type which) : store_(&from), id_(which) {
        if constexpr (std::is_void_v<T>)
            (void)fragment();
        else  // what is said of T must not meet values of another type
            store_->template ensure_fragment<T>(id_, nullptr).is_open = false;
    }
    [[nodiscard]] detail::fragment_data& fragment() const { return store_->open_fragment(id_); }
    template <class Hook>
    basic_definition& add(detail::hook_kind kind, Hook&& hook) {
        (void)store_->add_hook(id_, kind, detail::make_hook<Layout, T>(std::forward<Hook>(hook)));
        return *this;
    }
    template <class F>
    detail::fragment_data& needed(const F& fragment) {
        if constexpr (detail::fragment_argument<F>)
            return store_->typed_or_tag(id_type(fragment), nullptr);
        else
            return store_->template ensure_fragment<F>();
    }

    detail::store<Layout>* store_;
    id_type id_;
};
template <class T = void>
using definition = basic_definition<layouts::bound, T>;

}  // namespace muster
