#include <muster/base/first_error.hpp>
#include <muster/type/value_log.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

void value_log::add(last_value& kept) noexcept {
    if (is_paused) return;
    if (all_.size() + unread_ >= all_.capacity()) {
        first_error ignored;
        ignored.attempt([&] { reserve(1); });
        if (all_.size() + unread_ >= all_.capacity()) return;
    }
    ++kept.holders;
    all_.push_back(&kept);
}

array_list<last_value*> value_log::begin_reading() {
    array_list<last_value*> taken(all_);
    unread_ += taken.size();
    all_.clear();
    return taken;
}

void value_log::end_reading(const array_list<last_value*>& read, std::size_t first) noexcept {
    unread_ -= read.size();
    // Does not allocate: `reserve` and `add` keep room for unread values.
    const std::size_t since = all_.size();
    all_.insert(all_.end(), read.begin() + static_cast<std::ptrdiff_t>(first), read.end());
    std::ranges::rotate(all_, all_.begin() + static_cast<std::ptrdiff_t>(since));
    for (std::size_t i = 0; i < first; ++i) read[i]->release();
}

void value_log::clear() noexcept {
    while (!all_.empty()) {  // destructors may read the log
        last_value* const ended = all_.back();
        all_.pop_back();
        ended->release();
    }
}

}  // namespace MUSTER_NAMESPACE::detail
