#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/type/component_type.hpp>

namespace MUSTER_NAMESPACE::detail {

type_info describe(const component_type& type) {
    constexpr std::size_t limit = std::size_t{1} << 40;
    const bool owns = type.relocate != nullptr || type.destroy != nullptr || type.pinned;
    if (type.alignment == 0 || (type.alignment & (type.alignment - 1)) != 0)
        raise(errc::bad_type,
              text("a component cannot be aligned to ", type.alignment, ": not a power of two"));
    if (type.alignment > std::size_t{1} << 28)
        raise(errc::bad_type,
              text("a component cannot be aligned to ", type.alignment, ": the limit is 2^28"));
    if (type.size > limit)
        raise(errc::bad_type,
              text("a component cannot have ", type.size, " bytes: the limit is 2^40"));
    if (type.size == 0 && (owns || type.copy != nullptr || type.construct != nullptr))
        raise(errc::bad_type, "a component of size 0 is a tag and cannot have operations");
    if (type.size % type.alignment != 0)
        raise(errc::bad_type,
              text("a component of ", type.size, " bytes cannot be aligned to ", type.alignment,
                   ": the size must be a multiple of the alignment"));
    type_info made{"bytes", type.size, type.alignment};
    made.relocate = type.relocate;
    made.destroy = type.destroy;
    made.copy = type.copy;
    made.construct = type.construct;
    made.copies_bytes = type.copy == nullptr && !owns;
    made.default_is_zero = type.construct == nullptr && !owns;
    made.sparse = made.pinned = type.pinned;
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
