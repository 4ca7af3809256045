// incoming: a value on its way into the world.
//
// A copy that runs code of the type's author, and may throw or look at the world, is made when the
// value arrives. From then on the value is only moved. A small trivial value comes along as a copy, in
// registers. Of all others the address is kept (`where`), and kept apart: the value may lie in a column
// that grows before it is used. A pinned value is made where it stays: that may throw.
#pragma once

#include <muster/command/recorder.hpp>
#include <muster/type/fragment_data.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace muster::detail {

/// Says in one sentence what is wrong with a type that cannot be a component.
template <class T>
struct check_component {
    static_assert(std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                  "muster: a component is a plain type, without const, volatile or reference.");
    static_assert(
        !std::is_array_v<T>,
        "muster: an array cannot be a component: use std::string for a text, std::array or "
        "a struct for other arrays.");
    static_assert(std::is_array_v<T> || std::is_destructible_v<T>,
                  "muster: a component must be destructible.");
    static constexpr bool passed = true;
};

template <class T>
inline constexpr bool is_component = check_component<T>::passed;

/// `Arg` as a forwarding reference deduces it: `T&` or `const T&` to copy, `T` to move.
template <class Arg>
class incoming {
public:
    using type = std::remove_cvref_t<Arg>;
    static_assert(is_component<type>);

private:
    static constexpr bool is_moved =
        !std::is_lvalue_reference_v<Arg> && !std::is_const_v<std::remove_reference_t<Arg>>;
    static_assert(std::is_move_constructible_v<type> || std::is_copy_constructible_v<type>,
                  "muster: this component can be neither moved nor copied: make it where it stays, "
                  "with emplace or add.");
    static_assert(is_moved || is_copyable<type>::value,
                  "muster: this component cannot be copied: hand it over with std::move.");
    static constexpr bool is_copied_first =
        !is_moved && !std::is_trivially_copyable_v<type> && !is_pinned<type>;
    static constexpr bool is_small = std::is_trivially_copyable_v<type> &&
                                     std::is_copy_constructible_v<type> && sizeof(type) <= 16;
    static constexpr bool is_held = is_copied_first || is_small;

    std::conditional_t<is_held, type, const type*> value_;

    static decltype(auto) hold(const type& value) noexcept {
        if constexpr (is_held)
            return (value);
        else
            return __builtin_addressof(value);
    }

public:
    /// Whether putting it in place runs code of the type's author.
    static constexpr bool runs_code = !std::is_trivially_copyable_v<type>;

    explicit incoming(const type& value) noexcept(!is_copied_first) : value_(hold(value)) {}

    /// Where the value is; null if it is here.
    [[nodiscard]] const void* where() const noexcept {
        if constexpr (is_held)
            return nullptr;
        else
            return value_;
    }

    /// The fragment that the value is for.
    template <class Store>
    [[nodiscard]] const fragment_data& find(const Store& store) const noexcept {
        return store.template find_fragment<type>();
    }
    template <class Store>
    fragment_data& ensure(Store& store, const void*) {
        return store.template ensure_fragment<type>();
    }
    /// The same without a world.
    [[nodiscard]] fragment_name name() const { return fragment_name::of<type>(); }
    [[nodiscard]] type_index value_type() const { return ensure_type_index<type>(); }
    /// The value has arrived.
    void settle() const noexcept {}

    /// `from` is what has become of `where`.
    void construct(void* to, const void* from) noexcept(!is_pinned<type>) {
        ::new (to) type(take(from));
    }

    /// Not for pinned values.
    void assign(void* to, const void* from) noexcept {
        if (to == from) return;
        type& target = *static_cast<type*>(to);
        if constexpr (std::is_nothrow_assignable_v<type&, decltype(take(from))>) {
            target = take(from);
        } else {
            target.~type();
            construct(to, from);
        }
    }

private:
    // SAFETY: what is moved from was handed over by the caller, who may change it.
    decltype(auto) take(const void* from) noexcept {
        if constexpr (is_held)
            return static_cast<type&&>(value_);
        else if constexpr (is_moved)
            return static_cast<type&&>(*static_cast<type*>(const_cast<void*>(from)));
        else
            return *static_cast<const type*>(from);
    }
};

/// An array is refused with one sentence; the rest is here so that the compiler has nothing to add.
template <class Arg>
    requires std::is_array_v<std::remove_reference_t<Arg>>
class incoming<Arg> {
public:
    using type = std::remove_cvref_t<Arg>;
    static constexpr bool runs_code = false;
    static_assert(is_component<type>);
    explicit incoming(const type&) noexcept {}
    template <class Store>
    [[nodiscard]] const fragment_data& find(const Store&) const noexcept {
        return no_fragment;
    }
    template <class Store>
    fragment_data& ensure(Store& store, const void*) {
        return store.template ensure_fragment<int>();
    }
    [[nodiscard]] fragment_name name() const { return {}; }
    [[nodiscard]] type_index value_type() const { return no_type; }
    void settle() const noexcept {}
    [[nodiscard]] const void* where() const noexcept { return nullptr; }
    void construct(void*, const void*) noexcept {}
    void assign(void*, const void*) noexcept {}
};

}  // namespace muster::detail
