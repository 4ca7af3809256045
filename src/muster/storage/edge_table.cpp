#include <muster/storage/edge_table.hpp>

namespace muster::detail {

void edge_table::reserve_one() {
    if ((size_ + 1) * 2 <= places_.size()) return;
    std::vector<const edge*> before(places_.empty() ? 4 : places_.size() * 2);
    before.swap(places_);
    size_ = 0;
    for (const edge* one : before)
        if (one != nullptr) insert(one);
}

void edge_table::insert(const edge* made) noexcept {
    std::size_t at = place(made->key);
    while (places_[at] != nullptr) at = (at + 1) & (places_.size() - 1);
    places_[at] = made;
    ++size_;
}

void edge_table::clear() noexcept {
    for (const edge* one : places_) delete one;
    places_.clear();
    size_ = 0;
}

}  // namespace muster::detail
