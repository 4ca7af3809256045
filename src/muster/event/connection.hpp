// connection: a handle to a hook, to pause or disconnect it. The room `event` owns the handles to
// hooks and observers; fragments own the hook functions.
#pragma once

#include <muster/store/store.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

namespace detail {

/// Wraps a user's hook for values of type T. `void`: the hook takes an untyped pointer.
template <class Layout, class T, class Hook>
hook_function make_hook(Hook&& hook) {
    using function = std::decay_t<Hook>;
    using id_type = basic_id<Layout>;
    return {boxed_value::holding(std::forward<Hook>(hook)),
            [](void* what, std::uint64_t id, [[maybe_unused]] void* value) {
                // SAFETY: `what` is the boxed function; `value` is a value of the hook's fragment.
                function& call = *static_cast<function*>(what);
                const auto e = to_id<Layout>(id);
                if constexpr (std::is_invocable_v<function&>) {
                    call();
                } else if constexpr (std::is_invocable_v<function&, id_type>) {
                    call(e);
                } else if constexpr (std::is_void_v<T>) {
                    constexpr bool fits = std::is_invocable_v<function&, id_type, void*>;
                    static_assert(
                        fits,
                        "muster: a hook of an id takes (entity, void*), (entity) or nothing.");
                    if constexpr (fits) call(e, value);
                } else {
                    constexpr bool fits = std::is_invocable_v<function&, id_type, T&>;
                    static_assert(fits, "muster: a hook takes (entity, T&), (entity) or nothing.");
                    if constexpr (fits && is_tag<T>)
                        call(e, tag_value<T>());
                    else if constexpr (fits)
                        call(e, *static_cast<T*>(value));
                }
            }};
}

}  // namespace detail

/// A handle to a hook, to switch it off and on. Copies refer to the same hook. The hook stays when
/// the handle is destroyed; see `basic_scoped_connection`. Hooks may call all functions, even on
/// themselves. May outlive its world: all calls then return false, as those of a default-constructed
/// connection do. In a parallel phase, `pause`, `resume` and `disconnect` return false and do
/// nothing, since other threads read the hooks. Each call is O(log n) in the hooks of the fragment,
/// amortised.
template <class Layout>
class basic_connection {
    using store_type = detail::store<Layout>;

public:
    basic_connection() = default;

    /// Stops calling the hook. Returns false if it was paused or disconnected before, its fragment
    /// is destroyed, or a phase runs.
    bool pause() noexcept {
        store_type* const store = store_.find();
        return store != nullptr && store->notifier.connect(of_.value(), number_, false);
    }
    /// Resumes calling the hook, at its old position among the hooks. Returns false unless it was
    /// paused, and in a phase.
    bool resume() noexcept {
        store_type* const store = store_.find();
        return store != nullptr && store->notifier.connect(of_.value(), number_, true);
    }
    /// Disconnects the hook permanently. Its function is destroyed as soon as it is not running.
    /// Returns false if it was disconnected before, its fragment is destroyed, or a phase runs.
    bool disconnect() noexcept {
        store_type* const store = store_.find();
        return store != nullptr && store->notifier.remove(of_.value(), number_);
    }
    /// Returns whether the hook is called. May be called in a phase.
    [[nodiscard]] bool connected() const noexcept {
        const store_type* const store = store_.find();
        return store != nullptr && store->notifier.is_connected(of_.value(), number_);
    }

private:
    template <class>
    friend class hook_calls;
    template <class>
    friend class basic_scoped_connection;
    /// Disconnects the hook; in a parallel phase, when the phase ends.
    void abandon() noexcept {
        if (store_type* const store = store_.find()) store->notifier.abandon(of_.value(), number_);
    }
    basic_connection(store_type& store, basic_id<Layout> of, std::uint64_t number) noexcept
        : store_(store, store.life.ref()), of_(of), number_(number) {}

    detail::lifetime_ptr<store_type> store_;
    basic_id<Layout> of_;
    std::uint64_t number_ = 0;
};
using connection = basic_connection<layouts::bound>;

}  // namespace MUSTER_NAMESPACE
