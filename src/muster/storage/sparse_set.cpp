#include <muster/base/error.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/storage/sparse_set.hpp>

#include <bit>
#include <cstdlib>
#include <cstring>

namespace MUSTER_NAMESPACE::detail {

namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

sparse_set::sparse_set(fragment_data& owner, const id_shape& ids, std::uint32_t number) noexcept
    : fragment(&owner), ordinal(number), shape_(ids), type_(owner.type) {
    shape_pages(*owner.type);
}

sparse_set::~sparse_set() {
    free_pages(0);
}

void sparse_set::shape_pages(const type_info& type) noexcept {
    type_ = &type;
    value_size_ = type.size;
    pages_shape_ = page_shape::of(type.size);
}

void sparse_set::free_pages(std::size_t first) noexcept {
    while (!owners_.empty() && owners_.back() >= first) {
        page_count_ = owners_.back();
        owners_.pop_back();
        std::free(pages_[page_count_]);
    }
    room_ = static_cast<std::uint32_t>(smaller(room_, page_count_ << pages_shape_.shift));
}

void sparse_set::raise_too_many() const {
    raise(errc::limit, text("at most ", shape_.slot_limit(), " entities can have ", fragment->name,
                            ", which is sparse"));
}

void sparse_set::grow() {
    const std::uint64_t limit = shape_.slot_limit();
    if (room_ >= limit) raise_too_many();
    // Doubles the pages, by at most 16 at a time. Pages of one allocation are adjacent, so that
    // loops read adjacent values.
    const std::size_t count = smaller(larger(1, page_count_), 16);
    const std::size_t pages = page_count_ + count;
    const std::uint64_t slots = pages << pages_shape_.shift;
    reserve_more(owners_, 1);
    pages_.grow(pages <= pages_.capacity() ? 0 : larger(pages, pages_.capacity() * 2));
    id_pages_.grow(pages_.capacity());
    if (slots > free_.capacity()) free_.grow(larger(slots, free_.capacity() * 2));
    if (const std::size_t had = marks_.capacity(); slots > had) {
        marks_.grow(larger(slots, had * 2));
        std::memset(marks_.data() + had, 0, marks_.capacity() - had);
    }
    const std::size_t alignment = larger(64, type_->alignment);
    const std::size_t value_bytes = value_size_ << pages_shape_.shift;
    const std::size_t id_bytes = shape_.size << pages_shape_.shift;
    const std::size_t ids_begin = round_up(count * value_bytes, 64);
    auto* const made = static_cast<std::byte*>(
        std::aligned_alloc(alignment, round_up(ids_begin + count * id_bytes, alignment)));
    if (made == nullptr) raise_out_of_memory();
    // `drop_all_kept` also reads the ids of slots that never had one: they must be initialised.
    std::memset(made + ids_begin, 0, count * id_bytes);
    owners_.push_back(page_count_);
    for (std::size_t i = 0; i < count; ++i) {
        pages_[page_count_ + i] = made + i * value_bytes;
        id_pages_[page_count_ + i] = made + ids_begin + i * id_bytes;
    }
    page_count_ = pages;
    room_ = static_cast<std::uint32_t>(smaller(slots, limit));
}

void sparse_set::make_room() {
    if (kept_count() != 0 && kept_count() >= room_ / 2)
        drop_all_kept();
    else
        grow();
}

void sparse_set::drop_all_kept() noexcept {
    if (kept_count() == 0) return;
    for (std::uint32_t i = end_; i-- != 0;) {  // backwards: the first slot is reused first
        const slot_index slot{i};
        const std::uint64_t id = id_at(slot);
        if (entries_.find(key_of(id)) == shape_.entry(id, shape_.kept() | i))
            drop_kept(entries_.at(key_of(id)), id);
    }
}

slot_index sparse_set::find(std::uint64_t id) const noexcept {
    const std::uint64_t slot = shape_.read(entries_.find(key_of(id)), id);
    return slot < shape_.slot_limit() ? slot_index{static_cast<std::uint32_t>(slot)} : no_slot;
}

slot_index sparse_set::forget(std::uint64_t id) noexcept {
    const std::uint64_t key = key_of(id);
    if (entries_.find(key) == absent) return no_slot;
    const slot_index had = find(id);
    sparse_entry& entry = entries_.at(key);
    if (had != no_slot)
        detach(id, had);
    else
        drop_kept(entry, id);
    entry = absent;
    return had;
}

std::uint32_t sparse_set::run(slot_index from) const noexcept {
    const std::uint32_t first = to_int(from);
    const auto last = static_cast<std::uint32_t>(
        smaller(end_, (std::uint64_t{first >> pages_shape_.shift} + 1) << pages_shape_.shift));
    if (size() == end_) return last - first;  // no gaps
    std::uint32_t at = first;
    while (at < last && at % 8 != 0 && marks_[at] == slot_mark::filled) ++at;
    if (at % 8 == 0)
        while (at < last && pack_marks(marks_at(at)) == 0xFF) at += 8;
    while (at < last && marks_[at] == slot_mark::filled) ++at;
    return static_cast<std::uint32_t>(smaller(at, last)) - first;
}

slot_index sparse_set::next(std::uint32_t from) const noexcept {
    while (from < end_ && marks_[from] == slot_mark::empty)
        from += from % 8 == 0 && marks_at(from) == 0 ? 8u : 1u;
    return from < end_ ? slot_index{from} : no_slot;
}

void sparse_set::relocate(std::byte* to, std::byte* from, std::size_t count) const noexcept {
    type_->relocate_values(to, from, count);
}

void sparse_set::replace(slot_index old, slot_index slot) noexcept {
    if (type_->destroy != nullptr) type_->destroy(at(old), 1);
    if (value_size_ != 0) relocate(at(old), at(slot), 1);
    give_back(slot);
}

void sparse_set::trade(slot_index slot, slot_index other, void* aside) noexcept {
    if (value_size_ == 0) return;
    auto* const room = static_cast<std::byte*>(aside);
    relocate(room, at(slot), 1);
    relocate(at(slot), at(other), 1);
    relocate(at(other), room, 1);
}

void sparse_set::reorder(const array_list<slot_index>& order) {
    const std::size_t count = size();
    if (count == 0) return;
    const std::size_t size = value_size_;
    const std::size_t alignment = larger(64, type_->alignment);
    const std::size_t bytes = round_up(count * size, 64);
    auto* const aside = static_cast<std::byte*>(
        std::aligned_alloc(alignment, round_up(bytes + count * shape_.size, alignment)));
    if (aside == nullptr) raise_out_of_memory();
    drop_all_kept();
    std::byte* const ids = aside + bytes;
    for (std::size_t i = 0; i < count; ++i) {
        const slot_index slot = order[i];
        if (size != 0) relocate(aside + i * size, at(slot), 1);
        std::memcpy(ids + i * shape_.size, ids_at(slot), shape_.size);
        marks_[to_int(slot)] = slot_mark::empty;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const slot_index slot{i};
        if (size != 0) relocate(at(slot), aside + i * size, 1);
        std::memcpy(ids_at(slot), ids + i * shape_.size, shape_.size);
        marks_[i] = slot_mark::filled;
        const std::uint64_t id = id_at(slot);
        entries_.at(key_of(id)) = shape_.entry(id, i);
    }
    std::free(aside);
    end_ = static_cast<std::uint32_t>(count);
    free_count_ = 0;
}

void sparse_set::end_values() noexcept {
    for (std::uint32_t i = 0; i < forgotten_; ++i) {
        const slot_index slot{i};
        if (marks_[i] == slot_mark::empty) continue;
        marks_[i] = slot_mark::empty;
        if (type_->destroy != nullptr) type_->destroy(at(slot), 1);
    }
    forgotten_ = free_count_ = 0;
}

void sparse_set::retype(const type_info& other) noexcept {
    drop_all_kept();
    free_pages(0);
    end_ = free_count_ = 0;
    reserved_ = 0;
    shape_pages(other);
}

void sparse_set::trim() noexcept {
    drop_all_kept();
    entries_.keep([&](sparse_entry entry) {  // keeps entries with a slot
        return (static_cast<std::uint64_t>(entry) & low_bits(shape_.slot_bits())) <
               shape_.slot_limit();
    });
    entries_.trim();
    std::uint32_t used = 0;  // slots from here on are unused
    for (std::uint32_t from = 0; from < end_;) {
        const slot_index found = next(from);
        if (found == no_slot) break;
        from = used = to_int(found) + run(found);
    }
    end_ = used;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < free_count_; ++i)
        if (free_[i] < used) free_[kept++] = free_[i];
    free_count_ = kept;
    free_pages((used + page_size() - 1) >> pages_shape_.shift);
    free_.trim(room_);
    marks_.trim((std::size_t{room_} + 7) / 8 * 8);
}

array_list<slot_index> sparse_set::slots() const {
    array_list<slot_index> all;
    all.reserve(size());
    for (slot_index at = next(0); at != no_slot; at = next(to_int(at) + 1)) all.push_back(at);
    return all;
}

}  // namespace MUSTER_NAMESPACE::detail
