#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/storage/sparse_set.hpp>

#include <bit>
#include <cstdlib>
#include <cstring>

namespace muster::detail {

namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

template <class Rep>
std::uint64_t read_as(const std::byte* from) {
    Rep value{};
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// An id as the layout has it, of which only the size matters.
std::uint64_t read_id(const std::byte* from, std::size_t size) {
    switch (size) {
    case 1: return read_as<std::uint8_t>(from);
    case 2: return read_as<std::uint16_t>(from);
    case 4: return read_as<std::uint32_t>(from);
    default: return read_as<std::uint64_t>(from);
    }
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
    pages_shape_ = page_shape::of(type.size, shape_.size);
}

void sparse_set::free_pages(std::uint32_t first) noexcept {
    for (std::uint32_t i = first; i < (room_ + page_size() - 1) >> pages_shape_.shift; ++i)
        std::free(pages_[i]);
    room_ = static_cast<std::uint32_t>(smaller(room_, first << pages_shape_.shift));
}

void sparse_set::grow() {
    const std::uint64_t limit = smaller(absent >> shape_.rest_bits, to_int(no_slot));
    if (room_ >= limit)
        raise(errc::limit, text("no more than ", room_, " entities can have ", fragment->name,
                                ", which is sparse"));
    const std::uint32_t page = room_ >> pages_shape_.shift;
    const std::uint64_t slots = std::uint64_t{room_} + page_size();
    if (page >= pages_.capacity()) pages_.grow(larger(8, pages_.capacity() * 2));
    if (slots > free_.capacity()) free_.grow(larger(slots, free_.capacity() * 2));
    const std::size_t alignment = larger(64, type_->alignment);
    const std::size_t bits = larger(page_size() / 64, 1) * sizeof(std::uint64_t);
    void* const made = std::aligned_alloc(alignment, round_up(pages_shape_.bits + bits, alignment));
    if (made == nullptr) raise_out_of_memory();
    pages_[page] = static_cast<std::byte*>(made);
    std::memset(pages_[page] + pages_shape_.bits, 0, bits);
    room_ = static_cast<std::uint32_t>(smaller(slots, limit));
}

std::uint32_t sparse_set::run(slot_index from) const noexcept {
    const std::uint64_t* const bits = bits_of(from);
    const std::uint32_t first = place_of(from);
    const std::uint32_t last = page_size();
    const auto is_full = [&](std::uint32_t word) {  // that and the next seven
        std::uint64_t all = ~std::uint64_t{0};
        for (std::uint32_t i = 0; i < 8; ++i) all &= bits[word + i];
        return all == ~std::uint64_t{0};
    };
    std::uint32_t at = first;
    while (at < last) {
        if (at % 64 == 0)
            while (at + 512 <= last && is_full(at / 64)) at += 512;
        if (at >= last) break;
        const std::uint64_t rest = ~bits[at / 64] >> at % 64;
        if (rest != 0) {
            const std::uint32_t found = at + static_cast<std::uint32_t>(std::countr_zero(rest));
            return static_cast<std::uint32_t>(smaller(found, last)) - first;
        }
        at = (at / 64 + 1) * 64;
    }
    return last - first;
}

slot_index sparse_set::next(std::uint32_t from) const noexcept {
    while (from < end_) {
        const std::uint32_t at = place_of(slot_index{from});
        const std::uint64_t rest = bits_at(slot_index{from}) >> at % 64;
        if (rest != 0) return slot_index{from + static_cast<std::uint32_t>(std::countr_zero(rest))};
        from += static_cast<std::uint32_t>(smaller(64, page_size())) - at % 64;
    }
    return no_slot;
}

void sparse_set::relocate(std::byte* to, std::byte* from, std::size_t count) const noexcept {
    if (type_->relocate == nullptr)
        std::memcpy(to, from, count * value_size_);
    else
        type_->relocate(to, from, count);
}

void sparse_set::replace(slot_index old, slot_index slot) noexcept {
    if (type_->destroy != nullptr) type_->destroy(at(old), 1);
    if (value_size_ != 0) relocate(at(old), at(slot), 1);
    give_back(slot);
}

void sparse_set::trade(slot_index one, slot_index other, void* aside) noexcept {
    if (value_size_ == 0) return;
    auto* const room = static_cast<std::byte*>(aside);
    relocate(room, at(one), 1);
    relocate(at(one), at(other), 1);
    relocate(at(other), room, 1);
}

void sparse_set::reorder(const std::vector<slot_index>& order) {
    const std::size_t count = size_;
    if (count == 0) return;
    const std::size_t size = value_size_;
    const std::size_t alignment = larger(64, type_->alignment);
    const std::size_t bytes = round_up(count * size, 64);
    auto* const aside = static_cast<std::byte*>(
        std::aligned_alloc(alignment, round_up(bytes + count * shape_.size, alignment)));
    if (aside == nullptr) raise_out_of_memory();
    std::byte* const ids = aside + bytes;
    for (std::size_t i = 0; i < count; ++i) {
        const slot_index slot = order[i];
        if (size != 0) relocate(aside + i * size, at(slot), 1);
        std::memcpy(ids + i * shape_.size, ids_at(slot), shape_.size);
        bits_of(slot)[place_of(slot) / 64] &= ~(std::uint64_t{1} << place_of(slot) % 64);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const slot_index slot{i};
        if (size != 0) relocate(at(slot), aside + i * size, 1);
        std::memcpy(ids_at(slot), ids + i * shape_.size, shape_.size);
        bits_of(slot)[place_of(slot) / 64] |= std::uint64_t{1} << place_of(slot) % 64;
        const std::uint64_t id = read_id(ids_at(slot), shape_.size);
        entries_.at(key_of(id)) = make_entry(id, slot, shape_.key_bits, shape_.rest_bits);
    }
    std::free(aside);
    end_ = static_cast<std::uint32_t>(count);
    free_count_ = 0;
}

void sparse_set::end_values() noexcept {
    for (std::uint32_t i = 0; i < forgotten_; ++i) {
        const slot_index at{i};
        std::uint64_t& bits = bits_of(at)[place_of(at) / 64];
        const std::uint64_t bit = std::uint64_t{1} << place_of(at) % 64;
        if ((bits & bit) == 0) continue;
        bits &= ~bit;
        if (type_->destroy != nullptr) type_->destroy(this->at(at), 1);
    }
    forgotten_ = free_count_ = 0;
}

void sparse_set::retype(const type_info& other) noexcept {
    free_pages(0);
    end_ = free_count_ = 0;
    shape_pages(other);
}

void sparse_set::trim() noexcept {
    entries_.trim();
    std::uint32_t used = 0;  // slots from here on have no entity, and none waits
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
}

}  // namespace muster::detail
