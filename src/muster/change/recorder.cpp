#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/text.hpp>
#include <muster/change/recorder.hpp>

namespace MUSTER_NAMESPACE::detail {

void recorder::grow() {
    if (size_ >= ~std::uint32_t{0} / 2) raise(errc::limit, "too many changes are recorded");
    changes_.grow(larger(64, changes_.capacity() * 2));
}

recorded_change& recorder::add(const change& given, target of) {
    const bool has_value = has_component(given.kind) && !given.is_default;
    if (has_value && given.type.info->pinned)
        raise(errc::not_movable,
              text(given.type.info->name,
                   " cannot be moved: a recorded value must be movable. Use add<T>(), "
                   "which constructs it in its slot"));
    void* room = nullptr;
    if (has_value && given.type.info->size != 0)
        room = memory_.allocate(given.type.info->size, given.type.info->alignment);
    recorded_change& made = add(given.kind, of.id, given.fragment);
    made.type = given.type;
    made.is_default = given.is_default;
    made.where = of.where;
    if (room != nullptr) {
        given.construct_at(room, given.type.info->size);
        made.value = room;
    }
    if (given.replay != nullptr) {
        made.kind = change_kind::replay;
        made.replay = given.replay;
    }
    if (!given.sets_word) return made;
    recorded_change& grouped = add(change_kind::regroup, of.id, given.fragment);
    grouped.word = given.word;
    grouped.begins_call = false;
    return at(size_ - 2);
}

void recorder::rewind(const position& to) noexcept {
    while (size_ > to.changes) {
        const recorded_change& change = changes_[--size_];
        if (change.value != nullptr && change.type.info->destroy != nullptr)
            change.type.info->destroy(change.value, 1);
    }
    memory_.rewind(to.memory);
    is_discarded_ = false;
}

void recorder::discard() noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < size_; ++i) {
        const recorded_change change = changes_[i];
        if (change.value != nullptr && change.type.info->destroy != nullptr)
            change.type.info->destroy(change.value, 1);
        if (change.kind == change_kind::spawn) changes_[kept++] = change;
    }
    size_ = kept;
    is_discarded_ = true;
}

}  // namespace MUSTER_NAMESPACE::detail
