// boxed_value: one value of any type, stored outside the chunks.
#pragma once

#include <muster/type/type_info.hpp>

#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Owns memory for a value and, once `filled`, the value itself. Movable, not copyable.
class MUSTER_API boxed_value {
public:
    constexpr boxed_value() noexcept = default;
    /// Allocates memory for a value of this type, without a value. May throw `std::bad_alloc`.
    explicit boxed_value(const type_info& info);
    boxed_value(boxed_value&& other) noexcept;
    boxed_value& operator=(boxed_value&& other) noexcept;
    ~boxed_value();

    /// Returns a box that holds `value`, copied or moved.
    template <class T>
    static boxed_value holding(T&& value) {
        using type = std::decay_t<T>;  // a function as its pointer
        boxed_value made(type_info_of<type>);
        ::new (made.room) type(std::forward<T>(value));
        made.filled = true;
        return made;
    }

    explicit operator bool() const noexcept { return filled; }

    const type_info* type = nullptr;
    void* room = nullptr;
    bool filled = false;
};

}  // namespace MUSTER_NAMESPACE::detail
