#include <muster/storage/edge_table.hpp>

namespace muster::detail {

edge_table::edge_table() noexcept = default;
edge_table::~edge_table() {
    clear();
}

void edge_table::reserve_one() {
    if ((size_ + 1) * 2 <= room_.size()) return;
    array_list<place> before(room_.empty() ? 4 : room_.size() * 2, nothing);
    before.swap(room_);
    places_ = room_.data();
    mask_ = room_.size() - 1;
    size_ = 0;
    for (const place& slot : before)
        if (slot.step != nullptr) insert(slot.step);
}

void edge_table::insert(const edge* made) noexcept {
    std::uint64_t at = made->key & mask_;
    while (room_[at].step != nullptr) at = (at + 1) & mask_;
    room_[at] = {made->key, made};
    ++size_;
}

void edge_table::clear() noexcept {
    for (const place& slot : room_) delete slot.step;
    room_.clear();
    places_ = &nothing;
    mask_ = 0;
    size_ = 0;
}

}  // namespace muster::detail
