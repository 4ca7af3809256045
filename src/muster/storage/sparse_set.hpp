// sparse_set: the values of one fragment that is stored outside of the chunks. Adding or removing
// it moves no row, and a value keeps its address during its lifetime.
//
//     key         0     1     2     3     4
//     entries   [   ][ v0 2 ][   ][ v7 0 ][ v3(1) ]  by key: version and slot of the id; (1): kept
//     slot        0     1     2   |  2048   ...      pages of up to 2,048 slots, which never move;
//     values    [ x ][     ][ x ] | [     ]          some are adjacent
//     ids       [ e3 ][ e4 ][ e1 ]| [     ]
//     marks        1     0     1       0             which slots hold a value of an entity
//     free      [ 2048 ]                             slots to reuse
//
// An entry is created for a living entity before its first value, and erased when the entity is
// destroyed. So an id with an entry is alive, and destroying it also drops its sparse values. An
// entity whose value is removed may keep the slot, as e4 does. Adding and removing the value every
// frame then toggles one bit of the entry and a mark. If no slot is free and half of all slots are
// kept, the set reclaims all kept slots at once. So memory follows the number of stored values.
//
// A reserved slot has been taken but belongs to no entity. A value can be constructed there before
// the entity takes it, and stay there until no later step can fail. So values need not be movable.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/integer.hpp>
#include <muster/storage/id_column.hpp>
#include <muster/storage/key_map.hpp>
#include <muster/type/fragment_data.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// The index of a value in a sparse set.
enum class slot_index : std::uint32_t {};
inline constexpr slot_index no_slot{~std::uint32_t{0}};
constexpr std::uint32_t to_int(slot_index index) noexcept {
    return static_cast<std::uint32_t>(index);
}

/// Whether a slot is occupied. An enum, not `char`: stores to it cannot alias other objects, which
/// keeps loops in registers.
enum class slot_mark : std::uint8_t { empty, filled };

/// How slots are divided into pages.
struct page_shape {
    unsigned shift = 11;  // log2 of the slots per page

    /// 16 KiB of values per page, but at least 8 and at most 2,048 slots.
    [[nodiscard]] static constexpr page_shape of(std::size_t value_size) noexcept {
        page_shape made;
        while (made.shift > 3 && value_size << made.shift > std::size_t{16} * 1024) --made.shift;
        return made;
    }
    [[nodiscard]] constexpr std::uint32_t place(slot_index slot) const noexcept {
        return to_int(slot) & ((std::uint32_t{1} << shift) - 1);
    }
};

class MUSTER_API sparse_set {
    static constexpr sparse_entry absent{~std::uint64_t{0}};  // no entry

public:
    using entry_words = key_map<sparse_entry, absent>::words;
    /// The format of an id: bits of the key, bits of the rest, the first key, and the size in
    /// bytes.
    struct id_shape {
        unsigned key_bits;
        unsigned rest_bits;
        std::uint64_t first_key;
        std::size_t size;

        template <class Layout>
        [[nodiscard]] static constexpr id_shape of(std::uint64_t first_key = 0) noexcept {
            return {Layout::key_bits, Layout::version_bits + Layout::world_bits, first_key,
                    sizeof(typename Layout::rep)};
        }
        // An entry is the id with a slot in place of its key. The slot may need more bits than the
        // key: reserved slots make more slots than keys. One more bit marks a slot that is kept
        // without a value, if a bit is spare. Few layouts have too many version bits for this.
        [[nodiscard]] constexpr unsigned slot_bits() const noexcept { return 64 - rest_bits; }
        /// In place of a slot: the id has none. `read` returns larger values for entries of other
        /// ids.
        [[nodiscard]] constexpr std::uint64_t unset() const noexcept {
            return smaller(low_bits(slot_bits()), to_int(no_slot)) - 1;
        }
        [[nodiscard]] constexpr bool keeps_slots() const noexcept {
            return key_bits < smaller(slot_bits(), 32) || key_bits > 30;
        }
        [[nodiscard]] constexpr std::uint64_t kept() const noexcept {
            return keeps_slots() ? unset() / 2 + 1 : 0;
        }
        /// All slots are below this.
        [[nodiscard]] constexpr std::uint64_t slot_limit() const noexcept {
            return keeps_slots() ? unset() - kept() : unset();
        }
        // NOLINTBEGIN(clang-analyzer-core.BitwiseShift): a layout has both, each fewer than 64
        [[nodiscard]] constexpr sparse_entry entry(std::uint64_t id,
                                                   std::uint64_t slot) const noexcept {
            return sparse_entry{rest_bits == 0 ? slot : id >> key_bits << slot_bits() | slot};
        }
        /// Toggles an entry between a kept slot and a slot with a value.
        [[nodiscard]] constexpr sparse_entry turn(sparse_entry entry) const noexcept {
            return sparse_entry{static_cast<std::uint64_t>(entry) ^ kept()};
        }
        /// Returns the slot, below `slot_limit`; or `kept` plus the kept slot; or `unset`; or a
        /// larger value if the entry is not of this id.
        [[nodiscard]] constexpr std::uint64_t read(sparse_entry entry,
                                                   std::uint64_t id) const noexcept {
            // An id with bits beyond the layout must not match an entry.
            if (id >> key_bits > low_bits(rest_bits)) return static_cast<std::uint64_t>(absent);
            return static_cast<std::uint64_t>(entry) ^
                   static_cast<std::uint64_t>(this->entry(id, 0));
        }
        // NOLINTEND(clang-analyzer-core.BitwiseShift)
    };

    sparse_set(fragment_data& owner, const id_shape& ids, std::uint32_t number) noexcept;
    sparse_set(const sparse_set&) = delete;
    sparse_set& operator=(const sparse_set&) = delete;
    ~sparse_set();

    fragment_data* fragment;       // null: destroyed; pending values await the next fragment
    const std::uint32_t ordinal;   // among the sparse fragments of a world
    bool notifies_remove = false;  // of the removal of values; see `sparse_table::refresh`
    std::uint64_t written = 0;     // the tick of the last write; see `write_tracker`
    [[nodiscard]] std::size_t size() const noexcept { return size_.count(); }
    /// No slot from here on has an entity.
    [[nodiscard]] std::uint32_t end() const noexcept { return end_; }
    /// Slots per page; their ids and values are adjacent.
    [[nodiscard]] std::uint32_t page_size() const noexcept {
        return std::uint32_t{1} << pages_shape_.shift;
    }

    /// Returns the slot of this id, or `no_slot`. Accepts any bits. An id with a slot is alive.
    [[nodiscard, gnu::pure]] slot_index find(std::uint64_t id) const noexcept;
    /// Like `find`, but with a compile-time layout.
    template <class Layout>
    [[nodiscard]] slot_index find_of(std::uint64_t id) const noexcept {
        return find_in<Layout>(id, entries_.dense_words(), shape_.first_key);
    }
    /// Returns which ids have a value, one bit per lane. Checks only the lanes that are set in
    /// `lanes`.
    template <class Layout, class Id>
    [[nodiscard]] std::uint64_t having(const Id* ids, std::uint64_t lanes) const noexcept {
        constexpr id_shape shape = id_shape::of<Layout>();
        const entry_words entries = entries_.dense_words();
        const std::uint64_t first_key = shape_.first_key;
        const bool has_overflow = entries_.has_overflow();
        std::uint64_t having = 0;
        for (; lanes != 0; lanes &= lanes - 1) {
            const int lane = std::countr_zero(lanes);
            const std::uint64_t id{ids[lane].value()};
            const std::uint64_t key = (id & low_bits(shape.key_bits)) - first_key;
            if (has_overflow) [[unlikely]]
                having |= std::uint64_t{has(id)} << lane;
            else if (entries.cover(key))  // branchless: the result is hard to predict
                having |= std::uint64_t{shape.read(entries[key], id) < shape.slot_limit()} << lane;
        }
        return having;
    }
    /// Returns the value of this id, or null. Values must be of this size.
    template <class Layout, std::size_t Size>
    [[nodiscard]] std::byte* find_value(std::uint64_t id) const noexcept {
        // Loads that do not depend on the entity precede the first branch, so that a loop hoists
        // them.
        const entry_words entries = entries_.dense_words();
        const std::uint64_t first_key = shape_.first_key;
        std::byte* const* const pages = pages_.data();
        const slot_index slot = find_in<Layout>(id, entries, first_key);
        return slot == no_slot ? nullptr : at_of<Size>(slot, pages);
    }
    [[nodiscard]] bool has(std::uint64_t id) const noexcept { return find(id) != no_slot; }

    [[nodiscard]] std::byte* at(slot_index slot) const noexcept {
        return pages_[page_of(slot)] + place_of(slot) * value_size_;
    }
    /// Like `at`, for values of this size.
    template <std::size_t Size>
    [[nodiscard]] std::byte* at_of(slot_index slot) const noexcept {
        return at_of<Size>(slot, pages_.data());
    }
    /// The ids from this slot on, up to the end of its page.
    [[nodiscard]] std::byte* ids_at(slot_index slot) const noexcept {
        return id_pages_[page_of(slot)] + place_of(slot) * shape_.size;
    }
    /// Slots per block; the ids and values of a block are adjacent.
    [[nodiscard]] std::uint32_t block_size() const noexcept {
        return static_cast<std::uint32_t>(smaller(64, page_size()));
    }
    /// Returns which slots of the block at `first` have an entity, one bit per slot.
    [[nodiscard]] std::uint64_t block_at(slot_index first) const noexcept {
        std::uint64_t block = 0;
        for (std::uint32_t i = 0; i < block_size(); i += 8)
            block |= pack_marks(marks_at(to_int(first) + i)) << i;
        return block;
    }
    /// Returns how many consecutive slots from this slot on have an entity, up to the end of its
    /// page.
    [[nodiscard]] std::uint32_t run(slot_index from) const noexcept;
    /// Returns the id of the entity that has this slot.
    [[nodiscard]] std::uint64_t id_at(slot_index slot) const noexcept {
        return read_id(ids_at(slot), shape_.size);
    }
    [[nodiscard]] const id_shape& shape() const noexcept { return shape_; }
    /// Returns all slots that have an entity, in order.
    [[nodiscard]] array_list<slot_index> slots() const;
    /// Returns the first slot from `from` on that has an entity, or `no_slot`.
    [[nodiscard]] slot_index next(std::uint32_t from) const noexcept;

    // ---- changes: make the calls that may throw first ------------------------------------------

    /// Makes room for `count` slots. Throws `std::bad_alloc` or `errc::limit`.
    void reserve(std::size_t count) {
        refuse_beyond(count);
        while (room_ < count) grow();
    }
    /// Throws `errc::limit` if there can never be so many slots.
    void refuse_beyond(std::size_t count) const {
        if (count > shape_.slot_limit()) raise_too_many();
    }
    /// Reserves a slot, which has no value yet. Throws `std::bad_alloc` or `errc::limit`.
    [[nodiscard]] slot_index take() {
        if (free_count_ == 0 && end_ == room_) [[unlikely]]
            make_room();
        ++reserved_;
        return slot_index{free_count_ != 0 ? free_[--free_count_] : end_++};
    }
    /// Frees a reserved slot without a value.
    void give_back(slot_index slot) noexcept {
        --reserved_;
        set_free(slot);
    }
    /// Ensures an entry for a living id. Destroying the id must call `forget`. May throw
    /// `std::bad_alloc`.
    void prepare(std::uint64_t id, bool is_dense) {
        entries_.prepare(key_of(id), is_dense);
        open();
        sparse_entry& entry = entries_.at(key_of(id));
        if (entry == absent) entry = shape_.entry(id, shape_.unset());
    }
    /// Erases the entry of a dead id. Returns the slot of its value, which is then reserved, or
    /// `no_slot`.
    slot_index forget(std::uint64_t id) noexcept;
    /// Assigns a reserved slot to the entity, which must be prepared and have no value.
    void attach(std::uint64_t id, slot_index slot) noexcept {
        sparse_entry& entry = entries_.at(key_of(id));
        drop_kept(entry, id);
        write_id(ids_at(slot), id, shape_.size);
        entry = shape_.entry(id, to_int(slot));
        marks_[to_int(slot)] = slot_mark::filled;
        size_.add(slot);
        --reserved_;
    }
    /// Takes the slot from the entity and reserves it. The value stays in the slot.
    void detach(std::uint64_t id, slot_index slot) noexcept {
        entries_.at(key_of(id)) = shape_.entry(id, shape_.unset());
        marks_[to_int(slot)] = slot_mark::empty;
        size_.remove(slot);
        ++reserved_;
    }

    // Values that are added and removed every frame: the entity keeps its slot.

    /// Enables the fast paths. Only for a fragment without hooks, observers and needed fragments,
    /// so that adding or removing a value has no further effects.
    void set_fast(bool is_added, bool is_removed) noexcept {
        has_fast_insert_ = is_added && shape_.first_key == 0;
        has_fast_remove_ = is_removed && shape_.first_key == 0;
        open();
    }
    [[nodiscard]] bool has_fast_insert() const noexcept { return has_fast_insert_; }
    /// The entries that the fast paths may use: those of dense keys, or none. A caller may change
    /// only the entry of the id that it looks up.
    [[nodiscard]] entry_words fast_insert_entries() const noexcept {
        return {entries_.dense_words().pages, added_pages_};
    }
    [[nodiscard]] entry_words fast_remove_entries() const noexcept {
        return {entries_.dense_words().pages, removed_pages_};
    }
    /// The entries of all dense keys, by `key_of`.
    [[nodiscard]] entry_words entries() const noexcept { return entries_.dense_words(); }
    [[nodiscard]] std::uint64_t key_of(std::uint64_t id) const noexcept {
        return (id & low_bits(shape_.key_bits)) - shape_.first_key;
    }
    /// Takes a slot for a prepared entity that has none, and keeps it without a value. Throws
    /// `std::bad_alloc` or `errc::limit`.
    void keep_slot(std::uint64_t id) {
        const slot_index slot = take();
        --reserved_;
        write_id(ids_at(slot), id, shape_.size);
        entries_.at(key_of(id)) = shape_.entry(id, shape_.kept() | to_int(slot));
    }
    /// Adds or removes the value in the slot that the entry keeps. The caller constructs or
    /// destroys it.
    void begin_value(slot_index slot, sparse_entry& entry, const id_shape& ids) noexcept {
        entry = ids.turn(entry);
        marks_[to_int(slot)] = slot_mark::filled;
        size_.add(slot);
    }
    void end_value(slot_index slot, sparse_entry& entry, const id_shape& ids) noexcept {
        entry = ids.turn(entry);
        marks_[to_int(slot)] = slot_mark::empty;
        size_.remove(slot);
    }

    /// Destroys the value of a reserved slot and frees the slot.
    void drop(slot_index slot) noexcept {
        if (type_->destroy != nullptr) type_->destroy(at(slot), 1);
        give_back(slot);
    }
    /// Destroys the value in `old`, moves the value of the reserved slot there, and frees that
    /// slot. Only for movable types.
    void replace(slot_index old, slot_index slot) noexcept;
    /// Swaps the values of two slots, using the memory at `aside`. Only for movable types.
    void trade(slot_index slot, slot_index other, void* aside) noexcept;
    /// Moves the values, with their entities, to slots 0, 1, 2, ... in this order, which must list
    /// all slots with a value. Only for movable types. `std::bad_alloc` changes nothing.
    void reorder(const array_list<slot_index>& order);

    /// Sets another value type. The set must have no values.
    void retype(const type_info& other) noexcept;
    /// Erases all entries, so that no value is found. The values live until `end_values`.
    void forget_entries() noexcept {
        entries_.clear();
        open();
        forgotten_ = end_;
        end_ = free_count_ = 0;
        reserved_ = 0;
        size_ = {};
    }
    void end_values() noexcept;
    /// Frees memory that no slot needs. No slot may be reserved.
    void trim() noexcept;

private:
    /// The number of slots with a value, in several parts. A loop over adjacent slots then does not
    /// stall on the counter that it has just written.
    class tally {
    public:
        void add(slot_index slot) noexcept { ++parts_[to_int(slot) % 8]; }
        void remove(slot_index slot) noexcept { --parts_[to_int(slot) % 8]; }
        [[nodiscard]] std::uint32_t count() const noexcept {
            std::uint32_t all = 0;
            for (const std::uint32_t part : parts_) all += part;
            return all;
        }

    private:
        std::uint32_t parts_[8]{};
    };

    template <class Layout>
    [[nodiscard]] slot_index find_in(std::uint64_t id, const entry_words& entries,
                                     std::uint64_t first_key) const noexcept {
        constexpr id_shape shape = id_shape::of<Layout>();
        const std::uint64_t key = (id & low_bits(shape.key_bits)) - first_key;
        if (entries.cover(key)) [[likely]] {
            const std::uint64_t slot = shape.read(entries[key], id);
            if (slot < shape.slot_limit()) [[likely]]
                return slot_index{static_cast<std::uint32_t>(slot)};
        }
        return entries_.has_overflow() ? find(id) : no_slot;
    }
    template <std::size_t Size>
    [[nodiscard]] static std::byte* at_of(slot_index slot, std::byte* const* pages) noexcept {
        constexpr page_shape shape = page_shape::of(Size);
        std::byte* const value = pages[to_int(slot) >> shape.shift] + shape.place(slot) * Size;
        if (value == nullptr) __builtin_unreachable();  // lets callers drop their null check
        return value;
    }
    /// Lets the fast paths see all dense entries if they are enabled, otherwise none.
    void open() noexcept {
        added_pages_ = has_fast_insert_ ? entries_.dense_words().size : 0;
        removed_pages_ = has_fast_remove_ ? entries_.dense_words().size : 0;
    }
    [[nodiscard]] std::uint32_t page_of(slot_index slot) const noexcept {
        return to_int(slot) >> pages_shape_.shift;
    }
    [[nodiscard]] std::uint32_t place_of(slot_index slot) const noexcept {
        return pages_shape_.place(slot);
    }
    /// The marks of the eight slots from `first` on.
    [[nodiscard]] std::uint64_t marks_at(std::uint32_t first) const noexcept {
        std::uint64_t marks = 0;
        __builtin_memcpy(&marks, marks_.data() + first, sizeof marks);
        return marks;
    }
    /// Packs eight marks into bits; the first mark becomes the lowest bit.
    [[nodiscard]] static std::uint64_t pack_marks(std::uint64_t marks) noexcept {
        // The product moves the bit of each byte to its position in the highest byte.
        if constexpr (std::endian::native == std::endian::little)
            return marks * 0x0102040810204080u >> 56;
        else
            return marks * 0x8040201008040201u >> 56;
    }
    /// The number of slots that entities keep without a value.
    [[nodiscard]] std::size_t kept_count() const noexcept {
        return std::size_t{end_} - free_count_ - size_.count() - reserved_;
    }
    void set_free(slot_index slot) noexcept {
        const std::uint32_t count = free_count_;
        free_[count] = to_int(slot);
        free_count_ = count + 1;
        if (count + 1 == end_) free_count_ = end_ = 0;  // all are free: use them in order again
    }
    /// Frees the slot that the entry keeps, if it keeps one.
    void drop_kept(sparse_entry& entry, std::uint64_t id) noexcept {
        const std::uint64_t slot = shape_.read(entry, id) - shape_.kept();
        if (!shape_.keeps_slots() || slot >= shape_.slot_limit()) return;
        entry = shape_.entry(id, shape_.unset());
        set_free(slot_index{static_cast<std::uint32_t>(slot)});
    }
    void drop_all_kept() noexcept;
    [[noreturn]] MUSTER_COLD void raise_too_many() const;
    void make_room();
    void shape_pages(const type_info& type) noexcept;
    /// Frees the pages from `first` on, except allocations that also contain earlier pages.
    void free_pages(std::size_t first) noexcept;
    void grow();
    void relocate(std::byte* to, std::byte* from, std::size_t count) const noexcept;

    // The members that every call reads come first.
    std::uint64_t added_pages_ = 0;    // pages that the fast insert may use, or 0
    std::uint64_t removed_pages_ = 0;  // pages that the fast remove may use, or 0
    bool has_fast_insert_ = false;
    bool has_fast_remove_ = false;
    std::uint32_t free_count_ = 0;
    std::uint32_t end_ = 0;          // slots from here on are unused
    std::uint32_t room_ = 0;         // slots with memory
    std::uint32_t forgotten_ = 0;    // slots below this have values without entities
    raw_array<std::byte*> pages_;    // values
    raw_array<std::uint32_t> free_;  // has room for all slots
    raw_array<slot_mark> marks_;     // one per slot, in groups of eight
    raw_array<std::byte*> id_pages_;
    array_list<std::size_t> owners_;  // the first page of each allocation
    std::size_t page_count_ = 0;
    tally size_;                // slots with a value of an entity
    std::size_t reserved_ = 0;  // reserved slots
    id_shape shape_;
    key_map<sparse_entry, absent> entries_;
    page_shape pages_shape_;
    std::size_t value_size_ = 0;  // of `type_`
    const type_info* type_;
};

}  // namespace MUSTER_NAMESPACE::detail
