// bound_value: an argument of a call that is going to be stored as a component.
//
// The constructor copies the value if copying runs user code, which may throw or read the world.
// From then on the value is only moved. A small trivial value is held as a copy, in registers. For
// all other values only the address is held. Callers keep the address apart (`where`), because the
// value may lie in a column that is reallocated before its use. A pinned value is constructed in
// its final slot, which may throw.
#pragma once

#include <muster/change/change.hpp>
#include <muster/fwd.hpp>
#include <muster/type/fragment_data.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

template <class T>
inline constexpr bool is_world = false;
template <class Layout>
inline constexpr bool is_world<basic_world<Layout>> = true;

/// Reports in one sentence why a type cannot be a component.
template <class T>
struct check_component {
    static_assert(std::is_object_v<T> && std::is_same_v<T, std::remove_cv_t<T>>,
                  "muster: a component is a plain type, without const, volatile or reference.");
    static_assert(!std::is_array_v<T>,
                  "muster: an array cannot be a component: use std::string for text, std::array or "
                  "a struct for other arrays.");
    static_assert(std::is_array_v<T> || std::is_destructible_v<T>,
                  "muster: a component must be destructible.");
    static_assert(!is_world<T>,
                  "muster: a world is no component, and functions do not receive it: capture it.");
    static constexpr bool passed = true;
};

template <class T>
inline constexpr bool is_component = check_component<T>::passed;

/// Whether a function with one parameter takes it by value; false if the parameter is generic.
template <class Function>
inline constexpr bool patches_a_copy = [] {
    if constexpr (requires { &Function::operator(); })
        return patches_a_copy<decltype(&Function::operator())>;
    else
        return false;
}();
template <class Result, class T, bool Noexcept>
inline constexpr bool patches_a_copy<Result (*)(T) noexcept(Noexcept)> = !std::is_reference_v<T>;
template <class Owner, class Result, class T, bool Noexcept>
inline constexpr bool patches_a_copy<Result (Owner::*)(T) noexcept(Noexcept)> =
    !std::is_reference_v<T>;
template <class Owner, class Result, class T, bool Noexcept>
inline constexpr bool patches_a_copy<Result (Owner::*)(T) const noexcept(Noexcept)> =
    !std::is_reference_v<T>;

/// Refuses a function that cannot be called for a component, or changes only a copy of it.
template <class Change, class T>
consteval bool takes_component() {
    constexpr bool fits = std::is_invocable_v<Change, T&> && !patches_a_copy<std::decay_t<Change>>;
    static_assert(fits, "muster: the function of patch takes (T&).");
    return fits;
}

/// `Arg` as a forwarding reference deduces it: `T&` or `const T&` to copy, `T` to move.
template <class Arg>
class bound_value {
public:
    using type = std::remove_cvref_t<Arg>;
    static_assert(is_component<type>);

private:
    static constexpr bool is_moved =
        !std::is_lvalue_reference_v<Arg> && !std::is_const_v<std::remove_reference_t<Arg>>;
    static_assert(std::is_move_constructible_v<type> || std::is_copy_constructible_v<type>,
                  "muster: this component can be neither moved nor copied: construct it in place "
                  "with emplace or add.");
    static_assert(is_moved || is_copyable<type>::value ||
                      !(std::is_move_constructible_v<type> || std::is_copy_constructible_v<type>),
                  "muster: this component cannot be copied: pass it with std::move.");
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
    /// Whether storing the value runs user code.
    static constexpr bool is_nontrivial = !std::is_trivially_copyable_v<type>;

    explicit bound_value(const type& value) noexcept(!is_copied_first) : value_(hold(value)) {}

    /// Returns the address of the value, or null if this object holds it.
    [[nodiscard]] const void* where() const noexcept {
        if constexpr (is_held)
            return nullptr;
        else
            return value_;
    }
    /// Returns the address of the value.
    [[nodiscard]] const void* address() const noexcept {
        if constexpr (is_held)
            return __builtin_addressof(value_);
        else
            return value_;
    }
    /// Describes the value without its type. It must not outlive this object.
    [[nodiscard]] change describe(change_kind kind) const {
        change made{.fragment = fragment_name::of<type>(), .kind = kind};
        made.type = {made.fragment.type, static_cast<type_index>(made.fragment.what)};
        describe_value(made);
        return made;
    }
    void describe_value(change& made) const noexcept {
        made.self = address();
        if constexpr (is_held ? !is_small : is_moved && is_nontrivial)
            made.construct = &move_construct<type>;
        else if constexpr (!is_held && is_nontrivial)
            made.construct = &copy_construct<type>;
    }

    /// Returns the fragment of the value, or `no_fragment`.
    template <class Store>
    [[nodiscard]] const fragment_data& find(const Store& store) const noexcept {
        return store.template find_fragment<type>();
    }

    /// `from` is the current address of the argument: `where()`, adjusted if its column was
    /// reallocated.
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
    // SAFETY: the caller passed a value that is moved from as an rvalue, so it may be modified.
    decltype(auto) take(const void* from) noexcept {
        if constexpr (is_held)
            return static_cast<type&&>(value_);
        else if constexpr (is_moved)
            return static_cast<type&&>(*static_cast<type*>(const_cast<void*>(from)));
        else
            return *static_cast<const type*>(from);
    }
};

/// Rejects an array with one sentence. The members prevent further errors of the compiler.
template <class Arg>
    requires std::is_array_v<std::remove_reference_t<Arg>>
class bound_value<Arg> {
public:
    using type = std::remove_cvref_t<Arg>;
    static constexpr bool is_nontrivial = false;
    static_assert(is_component<type>);
    explicit bound_value(const type&) noexcept {}
    template <class Store>
    [[nodiscard]] const fragment_data& find(const Store&) const noexcept {
        return no_fragment;
    }
    [[nodiscard]] change describe(change_kind) const { return {}; }
    [[nodiscard]] const void* where() const noexcept { return nullptr; }
    [[nodiscard]] const void* address() const noexcept { return nullptr; }
    void construct(void*, const void*) noexcept {}
    void assign(void*, const void*) noexcept {}
};

}  // namespace MUSTER_NAMESPACE::detail
