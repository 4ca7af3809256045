#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/type/boxed_value.hpp>

#include <cstdlib>

namespace MUSTER_NAMESPACE::detail {

boxed_value::boxed_value(const type_info& info) : type(&info) {
    const std::size_t alignment = larger(info.alignment, alignof(void*));
    const std::size_t size = larger(info.size, 1);
    room = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (room == nullptr) raise_out_of_memory();
}

boxed_value::boxed_value(boxed_value&& other) noexcept
    : type(other.type),
      room(std::exchange(other.room, nullptr)),
      filled(std::exchange(other.filled, false)) {}

boxed_value& boxed_value::operator=(boxed_value&& other) noexcept {
    std::swap(type, other.type);
    std::swap(room, other.room);
    std::swap(filled, other.filled);
    return *this;
}

boxed_value::~boxed_value() {
    if (filled && type->destroy != nullptr) type->destroy(room, 1);
    std::free(room);
}

}  // namespace MUSTER_NAMESPACE::detail
