// connection: a handle to a hook, to pause or disconnect it. The room `event` owns the handles to
// hooks and observers; fragments own the hook functions.
#pragma once

#include <muster/store/store.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace muster {

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
/// the handle is destroyed. Hooks may call all functions, even on themselves. Must not be used
/// after its world is destroyed. Each call is O(log n) in the hooks of the fragment, amortised.
template <class Layout>
class basic_connection {
public:
    basic_connection() = default;

    /// Stops calling the hook. Returns false if it was paused or disconnected before, or its
    /// fragment is destroyed.
    bool pause() noexcept {
        return store_ != nullptr && store_->notifier.connect(of_.value(), number_, false);
    }
    /// Resumes calling the hook, at its old position among the hooks. Returns false unless it was
    /// paused.
    bool resume() noexcept {
        return store_ != nullptr && store_->notifier.connect(of_.value(), number_, true);
    }
    /// Disconnects the hook permanently. Its function is destroyed as soon as it is not running.
    /// Returns false if it was disconnected before, or its fragment is destroyed.
    bool disconnect() noexcept {
        return store_ != nullptr && store_->notifier.remove(of_.value(), number_);
    }
    [[nodiscard]] bool connected() const noexcept {
        return store_ != nullptr && store_->notifier.is_connected(of_.value(), number_);
    }

private:
    template <class>
    friend class hook_calls;
    basic_connection(detail::store<Layout>& store, basic_id<Layout> of, std::uint64_t number)
        : store_(&store), of_(of), number_(number) {}

    detail::store<Layout>* store_ = nullptr;
    basic_id<Layout> of_;
    std::uint64_t number_ = 0;
};
using connection = basic_connection<layouts::bound>;

}  // namespace muster
