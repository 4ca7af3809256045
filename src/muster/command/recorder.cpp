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
    raise(errc::not_movable,
          text(type,
               " cannot be moved: a recorded value must be movable. Use add<T>(), "
               "which constructs it in its slot"));
}

void recorder::rewind(const position& to) noexcept {
    while (size_ > to.changes) {
        const recorded_change& change = changes_[--size_];
        if (change.value != nullptr && change.type->destroy != nullptr)
            change.type->destroy(change.value, 1);
    }
    memory_.rewind(to.memory);
    is_discarded_ = false;
}

void recorder::discard() noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
        const recorded_change change = changes_[i];
        if (change.value != nullptr && change.type->destroy != nullptr)
            change.type->destroy(change.value, 1);
        if (change.kind == recorded_kind::spawn) changes_[kept++] = change;
    }
    size_ = kept;
    is_discarded_ = true;
}

}  // namespace muster::detail
