// connection: a hook that can be cut and restored. The room `event` owns what users hold of hooks; the
// functions themselves are with their fragments.
#pragma once

#include <muster/store/store.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace muster {

namespace detail {

/// A hook of the user's for values of type T; void: of a type that only the user knows.
template <class Layout, class T, class Hook>
hook_function make_hook(Hook&& hook) {
    using function = std::remove_cvref_t<Hook>;
    using id_type = basic_id<Layout>;
    return {boxed_value::holding(std::forward<Hook>(hook)),
            [](void* what, std::uint64_t who, [[maybe_unused]] void* value) {
                // SAFETY: what was boxed, and the value of the fragment that the hook is of.
                function& call = *static_cast<function*>(what);
                const auto e = to_id<Layout>(who);
                if constexpr (std::is_invocable_v<function&>) {
                    call();
                } else if constexpr (std::is_invocable_v<function&, id_type>) {
                    call(e);
                } else if constexpr (std::is_void_v<T>) {
                    static_assert(std::is_invocable_v<function&, id_type, void*>,
                                  "muster: a hook of an id takes (entity, void*), or less.");
                    call(e, value);
                } else {
                    static_assert(std::is_invocable_v<function&, id_type, T&>,
                                  "muster: a hook takes (entity, T&), or less.");
                    if constexpr (is_tag<T>)
                        call(e, tag_value<T>());
                    else
                        call(e, *static_cast<T*>(value));
                }
            }};
}

}  // namespace detail

/// A hook, to switch it off and on. A value; a copy means the same hook, which stays when it ends. All
/// calls may come from inside a hook, this one too. Must not be used after its world.
template <class Layout>
class basic_connection {
public:
    basic_connection() = default;

    /// The hook is not called any more. False if it was cut before, or its fragment is destroyed.
    bool cut() noexcept { return store_ != nullptr && store_->connect_hook(of_, number_, false); }
    /// It is called again, at its old place among the others.
    bool restore() noexcept {
        return store_ != nullptr && store_->connect_hook(of_, number_, true);
    }
    /// Cuts it for good: the function ends, as soon as it does not run.
    bool remove() noexcept { return store_ != nullptr && store_->remove_hook(of_, number_); }
    [[nodiscard]] bool is_connected() const noexcept {
        return store_ != nullptr && store_->is_connected(of_, number_);
    }

private:
    template <class>
    friend class basic_world;
    basic_connection(detail::store<Layout>& store, basic_id<Layout> of, std::uint64_t number)
        : store_(&store), of_(of), number_(number) {}

    detail::store<Layout>* store_ = nullptr;
    basic_id<Layout> of_;
    std::uint64_t number_ = 0;
};
using connection = basic_connection<layouts::bound>;

}  // namespace muster
