#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/text.hpp>
#include <muster/command/recorder.hpp>

namespace muster::detail {

void recorder::grow() {
    if (size_ >= ~std::uint32_t{0} / 2) raise(errc::limit, "too many changes are recorded");
    changes_.grow(larger(64, changes_.capacity() * 2));
}

void recorder::raise_pinned(std::string_view type) {
    raise(errc::not_movable, text(type,
                                  " cannot be moved: a value that waits in a thread's buffer would "
                                  "have to be. add<T>() makes one where it stays"));
}

void recorder::rewind(const position& to) noexcept {
    while (size_ > to.changes) {
        const recorded_change& one = changes_[--size_];
        if (one.value != nullptr && one.type->destroy != nullptr) one.type->destroy(one.value, 1);
    }
    memory_.rewind(to.memory);
    is_discarded_ = false;
}

void recorder::discard() noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
        const recorded_change one = changes_[i];
        if (one.value != nullptr && one.type->destroy != nullptr) one.type->destroy(one.value, 1);
        if (one.kind == recorded_kind::spawn) changes_[kept++] = one;
    }
    size_ = kept;
    is_discarded_ = true;
}

}  // namespace muster::detail
