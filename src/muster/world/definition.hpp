// definition: sets the traits, the default value and the hooks of a fragment in its world:
// `w.define<position>().needs<velocity>()`.
#pragma once

#include <muster/event/connection.hpp>
#include <muster/relation/entity_map.hpp>
#include <muster/relation/inheritance.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/store/store.hpp>
#include <muster/type/predefined.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

namespace detail {
/// Complete in <muster/reflect.hpp>.
template <class T>
struct reflection;
}  // namespace detail

/// Defines a fragment. `T` is the type of its values, or void if only the id is known. Each call
/// takes effect at once for all later changes; components that entities already have stay as they
/// are. Throws `errc::dead_fragment` if the fragment was destroyed; a failed call changes nothing.
/// After the end of the world, all calls except for `id` throw `errc::world_ended`. In a phase,
/// calls that define are refused; `id` and those that begin with `is_` may be called, and so may
/// `codec()`. Each call is O(1), `needs` O(fragments that it names, and fragments that were named
/// before), `sparse` O(chunks of the fragment).
template <class Layout, class T>
class basic_definition {
public:
    using id_type = basic_id<Layout>;

    /// Returns the id of the fragment.
    [[nodiscard]] id_type id() const noexcept { return id_; }
    // NOLINTNEXTLINE(google-explicit-constructor): a handle to the fragment
    operator id_type() const noexcept { return id_; }

    /// Like `world::name`: error messages show it, and `lookup` finds the fragment by it.
    basic_definition& name(std::string_view text) {
        (void)fragment();
        store_.get().catalog.name({id_.value(), {}}, text);
        return *this;
    }

    /// Sets the value that `add` and `needs` use. An id that has no type yet takes the type of this
    /// value.
    template <class Value>
    basic_definition& default_value(Value&& value) {
        using type = std::conditional_t<std::is_void_v<T>, std::remove_cvref_t<Value>, T>;
        static_assert(detail::is_component<type>);
        auto made = detail::boxed_value::holding(static_cast<type>(std::forward<Value>(value)));
        (void)fragment();
        detail::fragment_data& which = store_.get().template ensure_fragment<type>(id_, nullptr);
        const detail::busy_guard busy(store_.get().gate);
        const detail::boxed_value old = std::move(which.default_value);
        which.default_value = std::move(made);
        which.is_untyped = false;
        return *this;
    }

    /// Sets how the world copies a component, for a clone or from a default value. The type then
    /// need not be copyable; values that the caller passes are copied or moved as usual. `copy` is
    /// `T copy(const T&)`; for an id `void copy(void* to, const void* from)`, which constructs the
    /// value.
    template <class Function>
    basic_definition& duplicate(Function&& copy) {
        using function = std::decay_t<Function>;
        constexpr bool fits = takes_copy<const function&>;
        static_assert(fits,
                      "muster: the function of duplicate takes (const T&) and returns T, or, for "
                      "an id, takes (void* to, const void* from).");
        detail::duplicate_function made{detail::boxed_value::holding(std::forward<Function>(copy)),
                                        [](const void* what, void* to, const void* from) {
                                            const auto& call = *static_cast<const function*>(what);
                                            if constexpr (!fits)
                                                return;
                                            else if constexpr (std::is_void_v<T>)
                                                call(to, from);
                                            else
                                                ::new (to) T(call(*static_cast<const T*>(from)));
                                        }};
        detail::fragment_data& which = fragment();
        const detail::busy_guard busy(store_.get().gate);
        const detail::duplicate_function old = std::move(which.duplicate);
        which.duplicate = std::move(made);
        return *this;
    }

    /// Sets how `clone_tree` translates the ids in a component. `translate` is
    /// `void translate(T& value, const entity_map& map)`; for an id
    /// `void translate(void* value, const entity_map& map)`. `map(e)` returns the copy of `e` if `e` is
    /// a part of the tree, else `e`. It must not change the world.
    template <class Function>
    basic_definition& remap(Function&& translate) {
        using function = std::decay_t<Function>;
        using map_type = basic_entity_map<Layout>;
        constexpr bool fits = translates<const function&>;
        static_assert(fits,
                      "muster: the function of remap takes (T&, const entity_map&), or, for an id, "
                      "(void*, const entity_map&).");
        detail::remap_function made{detail::boxed_value::holding(std::forward<Function>(translate)),
                                    [](const void* what, void* value, const detail::id_map& map) {
                                        const auto& call = *static_cast<const function*>(what);
                                        if constexpr (!fits)
                                            return;
                                        else if constexpr (std::is_void_v<T>)
                                            call(value, map_type(map));
                                        else  // SAFETY: the value is of the fragment's type
                                            call(*static_cast<T*>(value), map_type(map));
                                    }};
        detail::fragment_data& which = fragment();
        const detail::busy_guard busy(store_.get().gate);
        const detail::remap_function old = std::move(which.remap);
        which.remap = std::move(made);
        return *this;
    }

    /// Makes every entity to which this fragment is added from now on also receive these, with their
    /// default values. A new entity, spawned or cloned, adds all its fragments. Entities that have
    /// the fragment stay as they are, also when it is assigned. Cycles are allowed. An id that has
    /// no type yet becomes a tag. `errc::no_default` is thrown only when the first entity needs the
    /// value.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    basic_definition& needs() {
        detail::fragment_data* const all[] = {&store_.get().template ensure_fragment<Ts>()...};
        store_.get().catalog.add_needs(id_.value(), all);
        return *this;
    }
    /// Like `needs` by type, for fragments.
    template <detail::fragment_or_tag... Fragments>
        requires(sizeof...(Fragments) > 0)
    basic_definition& needs(const Fragments&... fragments) {
        detail::fragment_data* const all[] = {&needed(fragments)...};
        store_.get().catalog.add_needs(id_.value(), all);
        return *this;
    }

    /// Sets whether clones omit this fragment.
    basic_definition& unique(bool is = true) {
        fragment().is_unique = is;
        store_.get().catalog.invalidate_traits(fragment());
        return *this;
    }
    /// Sets whether queries that do not name this fragment skip the chunks that have it.
    basic_definition& hidden(bool is = true) {
        fragment().is_hidden = is;
        store_.get().catalog.invalidate_traits(fragment());
        return *this;
    }
    /// Stores the values outside of the chunks. Adding or removing the fragment then moves no
    /// components, and a value keeps its address while it lives. Use it for fragments that are
    /// added and removed often. Throws `errc::fragment_in_use` if entities have the fragment. A
    /// type that cannot be moved is always sparse; see also `component_traits`.
    basic_definition& sparse() {
        store_.get().catalog.make_sparse(fragment());
        return *this;
    }
    /// Marks the fragment, for tools, as a part of the program rather than of its data.
    basic_definition& internal(bool is = true) {
        fragment().is_internal = is;
        return *this;
    }
    /// Sets how a later room writes and reads the values; null: it does not. Muster only stores the
    /// address. `component_traits<T>::codec` is the codec of all fragments of T that set none.
    basic_definition& codec(const detail::codec* how) {
        fragment().codec = how;
        return *this;
    }
    /// Lets tools see the fields of the values, and `clone_tree` translate the ids in them if no `remap` does.
    /// Requires the header <muster/reflect.hpp>.
    basic_definition& reflected() {
        static_assert(
            !std::is_void_v<T>,
            "muster: reflected needs the C++ type: write define<position>().reflected().");
        constexpr bool is_included =
            std::is_void_v<T> || requires { sizeof(detail::reflection<T>); };
        static_assert(is_included, "muster: reflected needs #include <muster/reflect.hpp>.");
        if constexpr (!std::is_void_v<T> && is_included)
            detail::reflection<T>::template apply<Layout>(fragment());
        return *this;
    }
    /// Makes entities inherit the values from their prefabs, by `is_a`: from the nearest that has a value
    /// of its own. `get<const T>`, `try_get<const T>`, `has<const T>` and queries of `const T`
    /// see inherited values. Everything else concerns the values that an entity has itself. Queries
    /// that were made before do not see them.
    basic_definition& inherited() {
        detail::inheritance::inherit(store_.get(), *queries_, fragment());
        return *this;
    }
    /// Sets what happens to the entities that have the fragment when it is destroyed.
    basic_definition& when_destroyed(destruction policy) {
        fragment().destroys_owners = policy == destruction::destroy_owners;
        return *this;
    }

    /// Makes the type a relation: a link between two entities, with a value of this type; see
    /// `relation_calls`. It cannot be a component then. An entity may have links to many targets.
    /// Throws `errc::fragment_in_use` if an entity has it as a component.
    basic_definition& relation() {
        (void)relation_ref();
        return *this;
    }
    /// Makes it a relation with at most one target per entity. Throws `errc::fragment_in_use` if an
    /// entity has a link.
    basic_definition& exclusive() {
        relation_ref().set_exclusive();
        return *this;
    }
    /// Makes it a relation whose links form no cycle. Throws `errc::fragment_in_use` if an entity has
    /// a link.
    basic_definition& acyclic() {
        relation_ref().set_acyclic();
        return *this;
    }
    /// Makes it an exclusive, acyclic relation that divides its sources by their level: how many links
    /// are above them. Each level up to 62 has chunks of its own, the deeper ones share chunks.
    /// Throws `errc::fragment_in_use` if an entity has a link, and `errc::limit` if it is grouping.
    basic_definition& leveled() {
        relation_ref().set_leveled();
        return *this;
    }
    /// Makes it an exclusive relation that divides its sources by their target: the sources of each
    /// target have chunks of their own. A new target moves the row of its source. Throws
    /// `errc::fragment_in_use` if an entity has a link, and `errc::limit` if it is leveled.
    basic_definition& grouping() {
        relation_ref().set_grouping();
        return *this;
    }
    /// Makes it a relation that holds in both directions: relating a to b also relates b to a, with the
    /// same value. Throws `errc::fragment_in_use` if an entity has a link, `errc::cycle` if it is
    /// acyclic, `errc::limit` if it is grouping, and `errc::not_copyable`.
    basic_definition& symmetric() {
        relation_ref().set_symmetric();
        return *this;
    }
    /// Makes it a relation, and sets what happens to the sources of an entity when it is destroyed.
    basic_definition& when_target_destroyed(target_policy policy) {
        relation_ref().set_policy(policy);
        return *this;
    }

    /// Adds a hook; see `world::on_insert`, which returns a connection to disconnect it.
    template <class Hook>
    basic_definition& on_insert(Hook&& hook) {
        return add(detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    /// Adds a hook; see `world::on_assign`.
    template <class Hook>
    basic_definition& on_assign(Hook&& hook) {
        return add(detail::hook_kind::assign, std::forward<Hook>(hook));
    }
    /// Adds a hook; see `world::on_set`.
    template <class Hook>
    basic_definition& on_set(Hook&& hook) {
        return add(detail::hook_kind::set, std::forward<Hook>(hook));
    }
    /// Adds a hook; see `world::on_remove`.
    template <class Hook>
    basic_definition& on_remove(Hook&& hook) {
        return add(detail::hook_kind::remove, std::forward<Hook>(hook));
    }

    /// Returns whether the fragment is unique.
    [[nodiscard]] bool is_unique() const { return known().is_unique; }
    /// Returns whether the fragment is hidden.
    [[nodiscard]] bool is_hidden() const { return known().is_hidden; }
    /// Returns whether the fragment is internal.
    [[nodiscard]] bool is_internal() const { return known().is_internal; }
    /// Returns the codec of the fragment, or null.
    [[nodiscard]] const detail::codec* codec() const { return known().codec; }
    /// Returns whether the fragment is sparse.
    [[nodiscard]] bool is_sparse() const { return known().sparse_values != nullptr; }

private:
    template <class>
    friend class fragment_calls;
    template <class Function>
    static constexpr bool takes_copy =
        std::is_void_v<T>
            ? std::is_invocable_v<Function, void*, const void*>
            : std::is_invocable_r_v<T, Function, std::add_lvalue_reference_t<const T>>;
    template <class Function>
    static constexpr bool translates = std::is_invocable_v<
        Function, std::conditional_t<std::is_void_v<T>, void*, std::add_lvalue_reference_t<T>>,
        const basic_entity_map<Layout>&>;
    basic_definition(detail::store<Layout>& from, detail::query_cache& queries, id_type which)
        : store_(from, from.life.ref()), queries_(&queries), id_(which) {
        from.gate.refuse_in_change("define");
        if constexpr (std::is_void_v<T>)
            (void)fragment();
        else  // a definition for T must not apply to values of another type
            store_.get().template ensure_fragment<T>(id_, nullptr).is_untyped = false;
    }
    [[nodiscard]] detail::fragment_data& fragment() const {
        return store_.get().catalog.open(id_.value());
    }
    [[nodiscard]] detail::relation_ref relation_ref() {
        static_assert(!std::is_void_v<T>,
                      "muster: a relation is a C++ type or a relation<T>: its links have values of "
                      "that type.");
        return detail::relation_ref::define(store_.get(), fragment(), detail::link_types::of<T>(),
                                            detail::relation_kind_of<T>);
    }
    /// Like `fragment`, to read.
    [[nodiscard]] const detail::fragment_data& known() const {
        const detail::fragment_data& found = store_.get().find_fragment(id_);
        return &found != &detail::no_fragment ? found : fragment();
    }
    template <class Hook>
    basic_definition& add(detail::hook_kind kind, Hook&& hook) {
        (void)store_.get().notifier.add(fragment(), kind,
                                        detail::make_hook<Layout, T>(std::forward<Hook>(hook)));
        return *this;
    }
    template <class F>
    detail::fragment_data& needed(const F& fragment) {
        if constexpr (detail::fragment_argument<F>)
            return store_.get().catalog.typed_or_tag(id_type(fragment).value(), nullptr);
        else
            return store_.get().template ensure_fragment<F>();
    }

    detail::lifetime_ptr<detail::store<Layout>> store_;
    detail::query_cache* queries_;
    id_type id_;
};
template <class T = void>
using definition = basic_definition<layouts::bound, T>;

}  // namespace MUSTER_NAMESPACE
