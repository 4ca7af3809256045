#include <muster/base/array_list.hpp>
#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/relation/source_list.hpp>

namespace MUSTER_NAMESPACE::detail {

void source_list::grow(std::size_t count) {
    if (count > most - places_)
        raise(errc::limit, "an entity cannot have more than 2,147,483,632 sources of a relation");
    const std::size_t twice = smaller(std::size_t{2} * capacity_, std::size_t{most});
    const std::size_t wanted = larger(larger(places_ + count, twice), std::size_t{4});
    const std::size_t size = sizeof(std::uint64_t) * width();
    void* const old = is_inside() ? nullptr : heap_;
    auto* const grown = static_cast<std::uint64_t*>(
        move_elements(old, places_, wanted, size, alignof(std::uint64_t)));
    for (std::uint32_t i = 0; old == nullptr && i < places_ * width(); ++i) grown[i] = own_[i];
    heap_ = grown;
    capacity_ = static_cast<std::uint32_t>(wanted) & 0x7FFF'FFFF;
}

void source_list::release() noexcept {
    (void)move_elements(heap_, 0, 0, sizeof(std::uint64_t), alignof(std::uint64_t));
}

}  // namespace MUSTER_NAMESPACE::detail
