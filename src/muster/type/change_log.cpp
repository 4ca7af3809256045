#include <muster/base/first_error.hpp>
#include <muster/base/integer.hpp>
#include <muster/type/change_log.hpp>

#include <algorithm>
#include <bit>

namespace MUSTER_NAMESPACE::detail {

void change_log::grow(std::size_t more) {
    const std::size_t wanted = larger(larger(ids_.size() + unread_ + more, room_ * 2), 16);
    array_list<place> wider(std::bit_ceil(wanted * 2), place{0, 0});
    ids_.reserve(wanted);
    room_ = wanted;
    places_.swap(wider);
    for (std::size_t i = 0; i < ids_.size(); ++i)
        places_[place_of(ids_[i])] = {static_cast<std::uint32_t>(i), epoch_};
}

bool change_log::make_room() noexcept {
    first_error ignored;
    bool is_done = false;
    ignored.attempt([&] {
        grow(1);
        is_done = true;
    });
    return is_done;
}

array_list<std::uint64_t> change_log::begin_reading() {
    array_list<std::uint64_t> taken(ids_);
    unread_ += taken.size();
    clear();
    return taken;
}

void change_log::end_reading(const array_list<std::uint64_t>& read, std::size_t first) noexcept {
    unread_ -= read.size();
    if (first >= read.size()) return;
    // Does not allocate: `reserve` and `note` keep room for unread entities.
    const std::size_t since = ids_.size();
    ids_.insert(ids_.end(), read.begin() + static_cast<std::ptrdiff_t>(first), read.end());
    std::ranges::rotate(ids_, ids_.begin() + static_cast<std::ptrdiff_t>(since));
    std::size_t kept = 0;
    if (++epoch_ == 0) epoch_ = 1;
    std::ranges::fill(places_, place{0, 0});
    for (const std::uint64_t id : ids_) {  // an unread entity may have changed again
        ids_[kept] = id;
        place& found = places_[place_of(id)];
        if (found.epoch == epoch_) continue;
        found = {static_cast<std::uint32_t>(kept++), epoch_};
    }
    ids_.resize(kept);
}

void change_log::clear() noexcept {
    ids_.clear();
    if (++epoch_ != 0) return;
    std::ranges::fill(places_, place{0, 0});
    epoch_ = 1;
}

}  // namespace MUSTER_NAMESPACE::detail
