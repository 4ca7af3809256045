// sparse_set: the values of one fragment that is kept beside the chunks. An entity that gets or loses it
// moves nothing, and a value stays where it is while it lives.
//
//     key         0     1     2     3     4
//     entries   [   ][ 2 v0 ][   ][ 0 v7 ][   ]      slot, and the version of the id that has it
//
//     slot        0     1     2   |  2048   ...      pages, of up to 2,048 slots, which never move
//     values    [ x ][     ][ x ] | [     ]
//     ids       [ e3 ][    ][ e1 ]| [     ]
//     bits         1     0     1  |    0             which slots have an entity
//     free      [ 1 ]                                the next that are used
//
// A slot that was taken and has no entity yet, or no more, is waiting: a value can be made there before
// the entity gets it, and kept there until nothing can fail any more. So values need not be movable.
#pragma once

#include <muster/base/integer.hpp>
#include <muster/storage/key_map.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::detail {

/// The place of a value in a sparse set.
enum class slot_index : std::uint32_t {};
inline constexpr slot_index no_slot{~std::uint32_t{0}};
constexpr std::uint32_t to_int(slot_index index) noexcept {
    return static_cast<std::uint32_t>(index);
}

/// How a page is divided: values, then ids, then bits.
struct page_shape {
    unsigned shift = 11;  // log2 of its slots
    std::size_t ids = 0;  // where they begin
    std::size_t bits = 0;

    /// Values of 16 KiB, if they are not too large or too many.
    [[nodiscard]] static constexpr page_shape of(std::size_t value_size,
                                                 std::size_t id_size) noexcept {
        page_shape made;
        while (made.shift > 3 && value_size << made.shift > std::size_t{16} * 1024) --made.shift;
        made.ids = ((value_size << made.shift) + 63) / 64 * 64;
        made.bits = made.ids + ((id_size << made.shift) + 63) / 64 * 64;
        return made;
    }
    [[nodiscard]] constexpr std::uint32_t place(slot_index slot) const noexcept {
        return to_int(slot) & ((std::uint32_t{1} << shift) - 1);
    }
};

class MUSTER_API sparse_set {
public:
    /// How many bits of an id are its key, and how many the rest; which key comes first, and how large an
    /// id is.
    struct id_shape {
        unsigned key_bits;
        unsigned rest_bits;
        std::uint64_t first_key;
        std::size_t size;
    };

    sparse_set(fragment_data& owner, const id_shape& ids, std::uint32_t number) noexcept;
    sparse_set(const sparse_set&) = delete;
    sparse_set& operator=(const sparse_set&) = delete;
    ~sparse_set();

    fragment_data* fragment;      // null: gone, while values wait for the next one of its type
    const std::uint32_t ordinal;  // among the sparse fragments of a world
    // Getting or losing a value is no more than that: no hook, no observer, nothing that is needed.
    bool is_added_simply = false;
    bool is_removed_simply = false;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Slots from here on have no entity.
    [[nodiscard]] std::uint32_t end() const noexcept { return end_; }
    /// How many slots stand next to each other.
    [[nodiscard]] std::uint32_t page_size() const noexcept {
        return std::uint32_t{1} << pages_shape_.shift;
    }

    /// The slot of this id, or `no_slot`: for any bits. Whoever is found is alive.
    [[nodiscard]] slot_index find(std::uint64_t id) const noexcept {
        return slot_in(entries_.find(key_of(id)), id, shape_.key_bits, shape_.rest_bits);
    }
    /// The same, if it is known which bits are the key.
    template <class Layout>
    [[nodiscard]] slot_index find_of(std::uint64_t id) const noexcept {
        const std::uint64_t key = (id & low_bits(Layout::key_bits)) - shape_.first_key;
        if (const std::uint64_t* const entry = entries_.look(key)) [[likely]] {
            const slot_index slot = slot_of<Layout>(*entry, id);
            if (slot != no_slot || !entries_.has_far()) [[likely]]
                return slot;
        }
        return entries_.has_far() ? slot_of<Layout>(entries_.find(key), id) : no_slot;
    }
    /// The slot that an entry says, if it is that of this id.
    template <class Layout>
    [[nodiscard]] static slot_index slot_of(std::uint64_t entry, std::uint64_t id) noexcept {
        return slot_in(entry, id, Layout::key_bits, Layout::version_bits + Layout::world_bits);
    }
    [[nodiscard]] bool has(std::uint64_t id) const noexcept { return find(id) != no_slot; }

    [[nodiscard]] std::byte* at(slot_index slot) const noexcept {
        return page_of(slot) + place_of(slot) * value_size_;
    }
    /// The same for values of this size.
    template <std::size_t Size>
    [[nodiscard]] std::byte* at_of(slot_index slot) const noexcept {
        constexpr unsigned shift = page_shape::of(Size, 0).shift;
        return pages_[to_int(slot) >> shift] +
               (to_int(slot) & ((std::uint32_t{1} << shift) - 1)) * Size;
    }
    /// The ids of this slot and, up to the end of its page, of those behind it.
    [[nodiscard]] std::byte* ids_at(slot_index slot) const noexcept {
        return page_of(slot) + pages_shape_.ids + place_of(slot) * shape_.size;
    }
    /// Which of 64 slots, from a multiple of 64 on, have an entity.
    [[nodiscard]] std::uint64_t bits_at(slot_index slot) const noexcept {
        return bits_of(slot)[place_of(slot) / 64];
    }
    /// How many slots from this one on have an entity, up to the end of its page.
    [[nodiscard]] std::uint32_t run(slot_index from) const noexcept;
    /// The first slot from this one on that has an entity, or `no_slot`.
    [[nodiscard]] slot_index next(std::uint32_t from) const noexcept;

    // ---- changes: what can fail comes first ----------------------------------------------------

    /// Room for that many slots. `std::bad_alloc` or `errc::limit`.
    void reserve(std::size_t count) {
        while (room_ < count) grow();
    }
    /// A slot that waits; there is no value in it. `std::bad_alloc`, or `errc::limit`.
    [[nodiscard]] slot_index take() {
        if (free_count_ != 0) return slot_index{free_[--free_count_]};
        if (end_ == room_) [[unlikely]]
            grow();
        return slot_index{end_++};
    }
    /// Whether the next can be taken at once, and so it is.
    [[nodiscard]] bool has_room() const noexcept { return free_count_ != 0 || end_ != room_; }
    [[nodiscard]] slot_index take_now() noexcept {
        return slot_index{free_count_ != 0 ? free_[--free_count_] : end_++};
    }
    /// A waiting slot without a value is free again.
    void give_back(slot_index slot) noexcept {
        if (to_int(slot) + 1 == end_)
            --end_;
        else
            free_[free_count_++] = to_int(slot);
        if (free_count_ == end_)
            free_count_ = end_ = 0;  // all of them: the next ones come in order
    }
    /// Room for the entry of this id.
    void prepare(std::uint64_t id, bool is_near) { entries_.prepare(key_of(id), is_near); }
    /// The entity gets a waiting slot. Room is there.
    template <class Id>
    void attach(Id who, slot_index slot) noexcept {
        attach_at(who, slot, entries_.at(key_of(who.value())), shape_.key_bits, shape_.rest_bits,
                  pages_shape_);
    }
    /// Its slot waits.
    void detach(std::uint64_t id, slot_index slot) noexcept {
        detach_at(slot, entries_.at(key_of(id)), pages_shape_);
    }

    /// The entry of a key, counted from the first one; null if it takes more than a look.
    [[nodiscard]] std::uint64_t* find_entry(std::uint64_t place) const noexcept {
        return entries_.find_near(place);
    }
    template <class Id>
    void attach_at(Id who, slot_index slot, std::uint64_t& entry, unsigned key_bits,
                   unsigned rest_bits, const page_shape& shape) noexcept {
        std::byte* const page = pages_[to_int(slot) >> shape.shift];
        const std::uint32_t at = shape.place(slot);
        // SAFETY: the ids of this page, and its bits.
        reinterpret_cast<Id*>(page + shape.ids)[at] = who;
        reinterpret_cast<std::uint64_t*>(page + shape.bits)[at / 64] |= std::uint64_t{1} << at % 64;
        entry = make_entry(who.value(), slot, key_bits, rest_bits);
        ++size_;
    }
    void detach_at(slot_index slot, std::uint64_t& entry, const page_shape& shape) noexcept {
        std::byte* const page = pages_[to_int(slot) >> shape.shift];
        const std::uint32_t at = shape.place(slot);
        reinterpret_cast<std::uint64_t*>(page + shape.bits)[at / 64] &=
            ~(std::uint64_t{1} << at % 64);
        entry = absent;
        --size_;
    }

    /// Ends the value of a waiting slot, which is free then.
    void drop(slot_index slot) noexcept {
        if (type_->destroy != nullptr) type_->destroy(at(slot), 1);
        give_back(slot);
    }
    /// The value of a waiting slot takes the place of another, which ends; the slot is free then. Only for
    /// types that can be moved.
    void replace(slot_index old, slot_index slot) noexcept;
    /// The values of two slots change places, by way of `aside`. Only for types that can be moved.
    void trade(slot_index one, slot_index other, void* aside) noexcept;
    /// Slots 0, 1, 2, ... get the values of these, which are all that there are; all entities with them.
    /// Only for types that can be moved. `std::bad_alloc` changes nothing.
    void reorder(const std::vector<slot_index>& order);

    /// The values are of another type from now on. There must be none.
    void retype(const type_info& other) noexcept;
    /// Nobody has a value any more: none is found. The values are still there, until the next call.
    void forget_entries() noexcept {
        entries_.clear();
        forgotten_ = end_;
        end_ = 0;
        size_ = 0;
    }
    void end_values() noexcept;
    /// Gives back memory that no slot needs. No slot may wait.
    void trim() noexcept;

private:
    static constexpr std::uint64_t absent = ~std::uint64_t{0};

    // An entry is the slot, and below it the id without its key: there is room for more slots than keys,
    // since some wait.
    [[nodiscard]] static slot_index slot_in(std::uint64_t entry, std::uint64_t id,
                                            unsigned key_bits, unsigned rest_bits) noexcept {
        // NOLINTBEGIN(clang-analyzer-core.BitwiseShift): a layout has both, and they are fewer than 64
        if ((entry & low_bits(rest_bits)) != id >> key_bits) return no_slot;
        const std::uint64_t slot = entry >> rest_bits;
        // NOLINTEND(clang-analyzer-core.BitwiseShift)
        return slot >= to_int(no_slot) || slot == absent >> rest_bits
                   ? no_slot
                   : slot_index{static_cast<std::uint32_t>(slot)};
    }
    [[nodiscard]] static std::uint64_t make_entry(std::uint64_t id, slot_index slot,
                                                  unsigned key_bits, unsigned rest_bits) noexcept {
        return std::uint64_t{to_int(slot)} << rest_bits | id >> key_bits;
    }
    [[nodiscard]] std::uint64_t key_of(std::uint64_t id) const noexcept {
        return (id & low_bits(shape_.key_bits)) - shape_.first_key;
    }
    [[nodiscard]] std::byte* page_of(slot_index slot) const noexcept {
        return pages_[to_int(slot) >> pages_shape_.shift];
    }
    [[nodiscard]] std::uint32_t place_of(slot_index slot) const noexcept {
        return pages_shape_.place(slot);
    }
    [[nodiscard]] std::uint64_t* bits_of(slot_index slot) const noexcept {
        // SAFETY: at a multiple of 64 bytes.
        return reinterpret_cast<std::uint64_t*>(page_of(slot) + pages_shape_.bits);
    }
    void shape_pages(const type_info& type) noexcept;
    void free_pages(std::uint32_t first) noexcept;
    void grow();
    void relocate(std::byte* to, std::byte* from, std::size_t count) const noexcept;

    // What every call reads comes first.
    std::uint32_t free_count_ = 0;
    std::uint32_t end_ = 0;        // slots from here on were not taken
    std::uint32_t room_ = 0;       // slots that have memory
    std::uint32_t forgotten_ = 0;  // slots up to here have values that nobody has
    raw_array<std::byte*> pages_;
    raw_array<std::uint32_t> free_;  // has room for all slots
    std::size_t size_ = 0;           // slots that have an entity
    id_shape shape_;
    key_map<std::uint64_t, absent> entries_;
    page_shape pages_shape_;
    std::size_t value_size_ = 0;  // that of `type_`
    const type_info* type_;
};

}  // namespace muster::detail
