#include <muster/base/reserve.hpp>
#include <muster/storage/sparse_table.hpp>

#include <algorithm>
#include <memory>

namespace muster::detail {

sparse_table::~sparse_table() {
    for (const sparse_set* one : all_) delete one;
    for (const word_map* one : words_) delete one;
}

sparse_set& sparse_table::add(fragment_data& fragment) {
    const auto free = std::ranges::find(all_, nullptr);
    const auto ordinal = static_cast<std::uint32_t>(free - all_.begin());
    auto made = std::make_unique<sparse_set>(fragment, shape_, ordinal);
    reserve_more(all_, 1);
    reserve_more(words_, 1);
    const auto type = static_cast<std::size_t>(fragment.value_type);
    if (type >= by_type_.capacity()) by_type_.grow(larger(type + 1, by_type_.capacity() * 2));
    while (types_ <= type) by_type_[types_++] = nullptr;
    if (ordinal >= few && (ordinal - few) / 64 == words_.size()) words_.push_back(new word_map);
    if (ordinal == all_.size()) all_.push_back(nullptr);
    fragment.beside = made.get();
    return *(all_[ordinal] = made.release());
}

void sparse_table::remove(sparse_set& set) noexcept {
    all_[set.ordinal] = nullptr;
    std::replace(by_type_.data(), by_type_.data() + types_, &set,
                 static_cast<sparse_set*>(nullptr));
    set.fragment->beside = nullptr;
    delete &set;
    while (!all_.empty() && all_.back() == nullptr) all_.pop_back();
}

void sparse_table::list(std::uint64_t id, array_list<fragment_data*>& found) const {
    const auto first = static_cast<std::ptrdiff_t>(found.size());
    each(id, [&](const sparse_set& one) { found.push_back(one.fragment); });
    std::sort(found.begin() + first, found.end(),
              [](const fragment_data* a, const fragment_data* b) { return a->index < b->index; });
}

sparse_set* sparse_table::first(std::uint64_t id) const noexcept {
    sparse_set* found = nullptr;
    each(id, [&](sparse_set& one) {
        if (found == nullptr) found = &one;
    });
    return found;
}

void sparse_table::prepare(sparse_set& set, std::uint64_t id, bool is_near) {
    const std::uint64_t at = place(id);
    if (at >= marks_size_) add_mark(at, is_near);
    unsigned mark = more;
    if (set.ordinal < few) {
        mark = 1u << set.ordinal;
    } else {
        word_map& words = *words_[(set.ordinal - few) / 64];
        words.prepare(at, is_near);
        words.at(at) |= std::uint64_t{1} << (set.ordinal - few) % 64;
    }
    std::uint8_t& marks = mark_at(at);
    marks = static_cast<std::uint8_t>(marks | mark);
    set.prepare(id, is_near);  // last: who has an entry has all of this
}

void sparse_table::add_mark(std::uint64_t place, bool is_near) {
    if (!is_near) return far_marks_.prepare(place, false);
    const std::uint64_t size = larger(place + 1, marks_size_ * 2);
    marks_.grow(size);
    std::fill(marks_.data() + marks_size_, marks_.data() + size, std::uint8_t{0});
    far_marks_.take_far(size, [&](std::uint64_t key, std::uint8_t word) { marks_[key] = word; });
    marks_size_ = size;
}

void sparse_table::forget_entries() noexcept {
    for (sparse_set* one : all_)
        if (one != nullptr) one->forget_entries();
    std::fill_n(marks_.data(), marks_size_, std::uint8_t{0});
    far_marks_.clear();
    for (word_map* one : words_) one->clear();
}

void sparse_table::hand_over(sparse_set& set, fragment_data& other) noexcept {
    if (other.beside != nullptr) remove(*other.beside);
    set.fragment = &other;
    other.beside = &set;
    note_meaning();
}

void sparse_table::note_meaning() noexcept {
    std::fill_n(by_type_.data(), types_, nullptr);
    for (sparse_set* one : all_) {
        if (one == nullptr || one->fragment == nullptr) continue;
        const fragment_data& owner = *one->fragment;
        const bool is_simple = shape_.keeps_slots() && owner.hooks.kinds() == 0;
        one->set_simple(is_simple && owner.needs.empty() && !owner.type->pinned,
                        is_simple && owner.type->destroy == nullptr);
        if (owner.is_own) by_type_[static_cast<std::size_t>(owner.value_type)] = one;
    }
}

void sparse_table::trim() noexcept {
    for (sparse_set* one : all_)
        if (one != nullptr) one->trim();
    far_marks_.trim();
    if (std::all_of(marks_.data(), marks_.data() + marks_size_,
                    [](auto one) { return one == 0; })) {
        marks_size_ = 0;
        marks_.trim(0);
    }
    for (word_map* one : words_) one->trim();
}

}  // namespace muster::detail
