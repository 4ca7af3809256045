// boxed_value: one value of any type, outside of the chunks.
#pragma once

#include <muster/type/type_info.hpp>

#include <utility>

namespace muster::detail {

/// Owns room for a value and, once it is `filled`, the value. Moved, not copied.
class MUSTER_API boxed_value {
public:
    constexpr boxed_value() noexcept = default;
    /// Room without a value. `std::bad_alloc` if there is no memory.
    explicit boxed_value(const type_info& info);
    boxed_value(boxed_value&& other) noexcept;
    boxed_value& operator=(boxed_value&& other) noexcept;
    ~boxed_value();

    /// A value of the type it was made for, in room of its own.
    template <class T>
    static boxed_value holding(T&& value) {
        using type = std::remove_cvref_t<T>;
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

}  // namespace muster::detail
