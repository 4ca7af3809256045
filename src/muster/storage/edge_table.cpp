#include <muster/storage/edge_table.hpp>

namespace MUSTER_NAMESPACE::detail {

void transition_ref::release(const transition* owned) noexcept {
    delete owned;
}

edge_table::edge_table() noexcept = default;
edge_table::~edge_table() {
    clear();
}

void edge_table::release(const place& dropped) noexcept {
    // The temporary takes over the reference of the table.
    if (dropped.step == nullptr) return;
    const transition_ref last(dropped.step);
    --dropped.step->references;
}

void edge_table::reserve_one(std::uint64_t key) {
    if ((size_ + 1) * 2 <= room_.size()) return;
    array_list<place> wider(room_.empty() ? 4 : room_.size() * 2, nothing);
    wider.swap(room_);
    places_ = room_.data();
    mask_ = room_.size() - 1;
    size_ = 0;
    for (const place& kept : wider) {
        if (kept.step == nullptr) continue;
        if (kept.key >> edge_key::epoch_shift == key >> edge_key::epoch_shift)
            put(kept);
        else
            release(kept);
    }
}

void edge_table::put(const place& added) noexcept {
    std::uint64_t at = added.key & mask_;
    while (room_[at].step != nullptr) at = (at + 1) & mask_;
    room_[at] = added;
    ++size_;
}

void edge_table::insert(std::uint64_t key, const transition_ref& made) noexcept {
    ++made.get()->references;
    for (std::uint64_t at = key & mask_; room_[at].step != nullptr; at = (at + 1) & mask_)
        if (((room_[at].key ^ key) & edge_key::step_mask) == 0) {
            release(room_[at]);
            room_[at] = {key, made.get()};
            return;
        }
    put({key, made.get()});
}

void edge_table::clear() noexcept {
    for (const place& dropped : room_) release(dropped);
    room_.clear();
    places_ = &nothing;
    mask_ = 0;
    size_ = 0;
}

}  // namespace MUSTER_NAMESPACE::detail
