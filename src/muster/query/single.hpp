// single: a singleton as a parameter of a system or loop.
//
//     w.each([](lifetime& l, single<const game_clock> t) { l.left -= t->dt; });
#pragma once

#include <muster/query/world_argument.hpp>
#include <muster/store/component_access.hpp>
#include <muster/type/type_index.hpp>
#include <muster/type/type_name.hpp>

#include <string_view>
#include <type_traits>

namespace MUSTER_NAMESPACE {

namespace detail {

/// Returns the address of a singleton; of a tag, any address. Throws `errc::missing_component` if
/// it is not set, and in a phase `errc::undeclared_access` as other accesses do.
[[nodiscard]] MUSTER_API void* get_single(const engine& owner, type_index type,
                                          std::string_view name, bool is_written);

template <class T>
[[nodiscard]] T& single_in(const engine& owner) {
    using type = std::remove_const_t<T>;
    void* const found =
        get_single(owner, find_type_index<type>(), type_name<type>(), !std::is_const_v<T>);
    // SAFETY: the fragment of this type has values of it.
    if constexpr (is_tag<type>)
        return tag_value<type>();
    else
        return *static_cast<type*>(found);
}

}  // namespace detail

/// The singleton T of the world; `single<const T>` only reads it. A parameter by value, after the
/// components, of functions of systems, and of `each` and `par_each`. It takes no part of the
/// payload.
///
/// The world finds the singleton once for each run, and throws `errc::missing_component` if it is
/// not set. In a loop, changes are recorded, so the singleton stays where it is. In a function that
/// changes the world at once (`prologue`, `epilogue`), each access finds it again, and throws if it
/// was removed. Copies are valid during the run only.
///
/// `par_process` treats it as a component of the system. A loop that may write a singleton is not
/// divided among threads.
template <class T>
class single {
    static_assert(!std::is_reference_v<T>, "muster: write single<T> or single<const T>.");

public:
    /// Throws `errc::missing_component` if the singleton was removed in this run.
    [[nodiscard]] T& operator*() const { return get(); }
    [[nodiscard]] T* operator->() const { return __builtin_addressof(get()); }

private:
    friend struct detail::world_argument<single>;
    single(T& value, const detail::engine* owner) noexcept
        : value_(__builtin_addressof(value)), world_(owner) {}
    [[nodiscard]] T& get() const {
        return world_ == nullptr ? *value_ : detail::single_in<T>(*world_);
    }

    T* value_;
    const detail::engine* world_;  // null: nothing moves the value; else find it again
};

namespace detail {

template <class T>
inline constexpr bool is_world_argument<single<T>> = true;

template <class T>
struct world_argument<single<T>> {
    using component = T;
    static constexpr bool is_divisible = std::is_const_v<T>;  // else threads would race
    [[nodiscard]] static single<T> get(const run_context& run) {
        return {single_in<T>(run.owner), run.is_recording ? nullptr : &run.owner};
    }
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
