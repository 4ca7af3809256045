#include <muster/base/integer.hpp>
#include <muster/type/type_info.hpp>

#include <cstring>

namespace MUSTER_NAMESPACE::detail {

bool sparse_by_default = false;

namespace {

/// Copies one value `count` times; each step doubles the part that is done.
void repeat(std::byte* to, const void* from, std::size_t size, std::size_t count) {
    std::memcpy(to, from, size);
    for (std::size_t done = 1; done < count;) {
        const std::size_t more = smaller(done, count - done);
        std::memcpy(to + done * size, to, more * size);
        done += more;
    }
}

}  // namespace

void type_info::relocate_values(void* to, void* from, std::size_t count) const noexcept {
    if (relocate != nullptr)
        relocate(to, from, count);
    else
        std::memcpy(to, from, count * size);
}

void type_info::copy_values(void* to, const void* from, std::size_t count, std::size_t step) const {
    if (count == 0 || size == 0) return;
    if (copy != nullptr)
        copy(to, from, count, step);
    else if (step == 1)
        std::memcpy(to, from, count * size);
    else
        repeat(static_cast<std::byte*>(to), from, size, count);
}

void type_info::construct_values(void* at, std::size_t count) const {
    if (count == 0 || size == 0) return;
    if (construct != nullptr)
        construct(at, count);
    else
        std::memset(at, 0, count * size);
}

}  // namespace MUSTER_NAMESPACE::detail
