// hook_calls: the calls of a world that add hooks and observers.
#pragma once

#include <muster/world/query_calls.hpp>

#include <muster/event/connection.hpp>
#include <muster/event/observer.hpp>
#include <muster/event/removed_values.hpp>
#include <muster/event/scoped_connection.hpp>

#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// The calls of a world that add hooks and observers.
/// <muster/world/world.hpp> has the rules for every call.
///
/// A hook is a function that the world calls for a change; the oldest hook comes first. These
/// calls return a connection, to pause, resume or disconnect the hook; `define` adds hooks
/// without one. Changes that a hook makes are applied after the change that called it; if one of
/// them fails, that change stays, but new entities are destroyed again. If a hook throws, the
/// entity stays unchanged and the exception propagates to the caller; a value that was moved into
/// the call is lost. All these calls are refused in a phase. Hooks never run in a phase: the world
/// calls them when it applies the recorded changes. Adding a hook is O(1), amortised, however many
/// there are.
template <class Layout>
class hook_calls : public query_calls<Layout> {
public:
    using id_type = basic_id<Layout>;

    /// Calls `hook(entity, T&)` after any call has added T to an entity. A hook may take fewer
    /// arguments.
    template <class T, class Hook>
    basic_connection<Layout> on_insert(Hook&& hook) {
        return connect<T>(this->template component<T>(), detail::hook_kind::insert,
                          std::forward<Hook>(hook));
    }
    /// Calls the hook after T was assigned, patched or touched. The old value is destroyed after
    /// the hooks have returned.
    template <class T, class Hook>
    basic_connection<Layout> on_assign(Hook&& hook) {
        return connect<T>(this->template component<T>(), detail::hook_kind::assign,
                          std::forward<Hook>(hook));
    }
    /// Calls the hook after T was added or assigned: after `on_insert` and `on_assign`.
    template <class T, class Hook>
    basic_connection<Layout> on_set(Hook&& hook) {
        return connect<T>(this->template component<T>(), detail::hook_kind::set,
                          std::forward<Hook>(hook));
    }
    /// Calls the hook before any call removes T: the entity is alive and still has the value. A
    /// hook that throws keeps the value. `~world` calls no hooks.
    template <class T, class Hook>
    basic_connection<Layout> on_remove(Hook&& hook) {
        return connect<T>(this->template component<T>(), detail::hook_kind::remove,
                          std::forward<Hook>(hook));
    }
    /// Like `on_insert` by type, for a fragment: `hook(entity, void*)` for an id,
    /// `hook(entity, T&)` for a `fragment<T>`.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_insert(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    /// Like `on_assign` by type, for a fragment.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_assign(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::assign, std::forward<Hook>(hook));
    }
    /// Like `on_set` by type, for a fragment.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_set(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::set, std::forward<Hook>(hook));
    }
    /// Like `on_remove` by type, for a fragment.
    template <detail::fragment_or_tag F, class Hook>
    basic_connection<Layout> on_remove(const F& fragment, Hook&& hook) {
        return connect(fragment, detail::hook_kind::remove, std::forward<Hook>(hook));
    }

    /// Calls `hook(entity)` after an entity was created with its components, before the hooks of
    /// these.
    template <class Hook>
    basic_connection<Layout> on_spawn(Hook&& hook) {
        return connect_entities(detail::hook_kind::insert, std::forward<Hook>(hook));
    }
    /// Calls `hook(entity)` before an entity is destroyed, after the hooks of its components. A
    /// hook that throws keeps the entity alive.
    template <class Hook>
    basic_connection<Layout> on_destroy(Hook&& hook) {
        return connect_entities(detail::hook_kind::remove, std::forward<Hook>(hook));
    }

    /// Returns an observer. It collects the entities to which one of these types is added, or whose
    /// value is set, patched or touched. Without types it collects nothing yet:
    /// `w.observer().removed<position>()`. See `basic_observer`. Refused in a phase.
    template <class... Ts>
    [[nodiscard]] basic_observer<Layout, Ts...> observer() {
        store_.gate.refuse_in_change("creating an observer");
        // Not `this->template query`: g++ 12 finds the alias `muster::query` there.
        return {store_, query_calls<Layout>::template query<Ts...>()};
    }
    /// Returns an observer that keeps the values of T that entities lose, until it is read. See
    /// `basic_removed_values`. Refused in a phase.
    template <class T>
    [[nodiscard]] basic_removed_values<Layout, T> removed_values() {
        store_.gate.refuse_in_change("creating an observer");
        return {store_, this->template component<T>()};
    }
    template <class T>
    [[nodiscard]] basic_removed_values<Layout, T> removed_values(
        basic_fragment<T, Layout> fragment) {
        return {store_, fragment.id()};
    }

protected:
    using query_calls<Layout>::query_calls;
    using detail::world_base<Layout>::store_;

    /// Connects a hook that is wrapped already.
    basic_connection<Layout> connect_function(detail::fragment_data& fragment,
                                              detail::hook_kind kind,
                                              detail::hook_function&& made) {
        store_.gate.refuse_in_change("adding a hook");
        return {store_, detail::to_id<Layout>(fragment.id),
                store_.notifier.add(fragment, kind, std::move(made))};
    }

private:
    template <class T, class Hook>
    basic_connection<Layout> connect(id_type fragment, detail::hook_kind kind, Hook&& hook) {
        store_.gate.refuse_in_change("adding a hook");
        return {store_, fragment,
                store_.notifier.add(store_.catalog.open(fragment.value()), kind,
                                    detail::make_hook<Layout, T>(std::forward<Hook>(hook)))};
    }
    template <class Hook>
    basic_connection<Layout> connect_entities(detail::hook_kind kind, Hook&& hook) {
        return {
            store_,
            {},
            store_.notifier.add(kind, detail::make_hook<Layout, void>(std::forward<Hook>(hook)))};
    }
    template <class F, class Hook>
    basic_connection<Layout> connect(const F& fragment, detail::hook_kind kind, Hook&& hook) {
        store_.gate.refuse_in_change("adding a hook");
        if constexpr (std::is_base_of_v<id_type, F>)
            return connect<void>(fragment, kind, std::forward<Hook>(hook));
        else if constexpr (detail::fragment_argument<F>) {
            using type = typename F::value_type;  // from now on, no values of another type
            store_.template ensure_fragment<type>(fragment, nullptr).is_untyped = false;
            return connect<type>(fragment.id(), kind, std::forward<Hook>(hook));
        } else
            return connect<F>(this->template component<F>(), kind, std::forward<Hook>(hook));
    }
};

}  // namespace MUSTER_NAMESPACE
