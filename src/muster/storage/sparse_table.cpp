#include <muster/base/reserve.hpp>
#include <muster/storage/sparse_table.hpp>

#include <algorithm>
#include <functional>
#include <memory>

namespace MUSTER_NAMESPACE::detail {

sparse_table::~sparse_table() {
    for (const sparse_set* set : all_) delete set;
    for (const word_map* map : words_) delete map;
    for (const word_map* map : summaries_) delete map;
}

/// Returns the lowest free ordinal.
std::uint32_t sparse_table::find_free() noexcept {
    if (!free_.empty()) {
        const std::uint32_t lowest = free_.front();
        if (lowest < all_.size()) return lowest;
        free_.clear();  // all of them are beyond the end
    }
    return static_cast<std::uint32_t>(all_.size());
}

sparse_set& sparse_table::add(fragment_data& fragment) {
    const std::uint32_t ordinal = find_free();
    auto made = std::make_unique<sparse_set>(fragment, shape_, ordinal);
    reserve_more(all_, 1);
    if (free_.capacity() <= all_.size()) free_.reserve(larger(16, 2 * all_.size() + 1));
    reserve_more(words_, 1);
    reserve_more(summaries_, 1);
    const auto type = static_cast<std::size_t>(fragment.value_type);
    if (type >= by_type_.capacity()) by_type_.grow(larger(type + 1, by_type_.capacity() * 2));
    while (types_ <= type) by_type_[types_++] = nullptr;
    if (ordinal >= few && (ordinal - few) / 64 == words_.size()) {
        if (words_.size() / 64 == summaries_.size()) summaries_.push_back(new word_map);
        words_.push_back(new word_map);
    }
    if (ordinal == all_.size()) {
        all_.push_back(nullptr);
    } else {
        std::ranges::pop_heap(free_, std::greater<>());
        free_.pop_back();
    }
    fragment.sparse_values = made.get();
    return *(all_[ordinal] = made.release());
}

void sparse_table::remove(sparse_set& set) noexcept {
    all_[set.ordinal] = nullptr;
    free_.push_back(set.ordinal);  // `add` has made room
    std::ranges::push_heap(free_, std::greater<>());
    std::replace(by_type_.data(), by_type_.data() + types_, &set,
                 static_cast<sparse_set*>(nullptr));
    set.fragment->sparse_values = nullptr;
    if (set.notifies_remove) --notifying_;
    delete &set;
    while (!all_.empty() && all_.back() == nullptr) all_.pop_back();
}

bool sparse_table::notifies_remove() const noexcept {
    return notifying_ != 0 && std::ranges::any_of(all_, [](const sparse_set* set) {
               return set != nullptr && set->notifies_remove && set->size() != 0;
           });
}

void sparse_table::list(std::uint64_t id, array_list<fragment_data*>& found) const {
    const auto first = static_cast<std::ptrdiff_t>(found.size());
    each(id, [&](const sparse_set& set) { found.push_back(set.fragment); });
    std::sort(found.begin() + first, found.end(),
              [](const fragment_data* a, const fragment_data* b) { return a->index < b->index; });
}

sparse_set* sparse_table::first(std::uint64_t id) const noexcept {
    sparse_set* found = nullptr;
    each(id, [&](sparse_set& set) {
        if (found == nullptr) found = &set;
    });
    return found;
}

void sparse_table::prepare(sparse_set& set, std::uint64_t id, bool is_dense) {
    const std::uint64_t at = key_offset(id);
    if (at >= marks_size_) add_mark(at, is_dense);
    unsigned mark = more;
    if (set.ordinal < few) {
        mark = 1u << set.ordinal;
    } else {
        const std::uint32_t word = (set.ordinal - few) / 64;
        word_map& words = *words_[word];
        word_map& summary = *summaries_[word / 64];
        summary.prepare(at, is_dense);
        words.prepare(at, is_dense);
        summary.at(at) |= std::uint64_t{1} << word % 64;
        words.at(at) |= std::uint64_t{1} << (set.ordinal - few) % 64;
    }
    std::uint8_t& marks = mark_at(at);
    marks = static_cast<std::uint8_t>(marks | mark);
    set.prepare(id, is_dense);  // last: an id with an entry must have its mark
}

void sparse_table::add_mark(std::uint64_t offset, bool is_dense) {
    if (!is_dense) return overflow_marks_.prepare(offset, false);
    const std::uint64_t size = larger(offset + 1, marks_size_ * 2);
    marks_.grow(size);
    std::fill(marks_.data() + marks_size_, marks_.data() + size, std::uint8_t{0});
    overflow_marks_.take_overflow(
        size, [&](std::uint64_t key, std::uint8_t word) { marks_[key] = word; });
    marks_size_ = size;
}

void sparse_table::forget_entries() noexcept {
    for (sparse_set* set : all_)
        if (set != nullptr) set->forget_entries();
    std::fill_n(marks_.data(), marks_size_, std::uint8_t{0});
    overflow_marks_.clear();
    for (word_map* map : words_) map->clear();
    for (word_map* map : summaries_) map->clear();
}

void sparse_table::hand_over(sparse_set& set, fragment_data& other) noexcept {
    if (other.sparse_values != nullptr) remove(*other.sparse_values);
    set.fragment = &other;
    other.sparse_values = &set;
    invalidate_traits();
}

void sparse_table::refresh(sparse_set& set) noexcept {
    const fragment_data& owner = *set.fragment;
    if (set.notifies_remove) --notifying_;
    set.notifies_remove = owner.hooks.has(remove_hooks);
    if (set.notifies_remove) ++notifying_;
    if (owner.is_of_type()) by_type_[static_cast<std::size_t>(owner.value_type)] = &set;
    const bool is_fast = shape_.keeps_slots() && owner.hooks.kinds() == 0;
    set.set_fast(is_fast && owner.implied.empty() && !owner.type->pinned,
                 is_fast && !owner.implies_on_removal() && owner.type->destroy == nullptr);
}

void sparse_table::invalidate_traits() noexcept {
    std::fill_n(by_type_.data(), types_, nullptr);
    for (sparse_set* set : all_) {
        if (set == nullptr) continue;
        if (set->fragment != nullptr) {
            refresh(*set);
        } else if (set->notifies_remove) {
            set->notifies_remove = false;
            --notifying_;
        }
    }
}

void sparse_table::trim() noexcept {
    for (sparse_set* set : all_)
        if (set != nullptr) set->trim();
    overflow_marks_.trim();
    if (std::all_of(marks_.data(), marks_.data() + marks_size_,
                    [](auto mark) { return mark == 0; })) {
        marks_size_ = 0;
        marks_.trim(0);
    }
    for (word_map* map : words_) map->trim();
    for (word_map* map : summaries_) map->trim();
}

}  // namespace MUSTER_NAMESPACE::detail
