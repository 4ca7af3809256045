// sparse_set: the values of one fragment that is kept beside the chunks. An entity that gets or loses it
// moves nothing, and a value stays where it is while it lives.
//
//     key         0     1     2     3     4
//     entries   [   ][ v0 2 ][   ][ v7 0 ][ v3(1) ]  the id that may have a slot, which is in its key's
//                                                    place
//     slot        0     1     2   |  2048   ...      pages, of up to 2,048 slots, which never move;
//     values    [ x ][     ][ x ] | [     ]          some are next to each other
//     ids       [ e3 ][ e4 ][ e1 ]| [     ]
//     marks        1     0     1       0             which slots have a value of an entity
//     free      [ 2048 ]                             the next that are used
//
// An entry is made for a living entity before it gets its first value, and ends with the entity. So who
// finds an entry of an id need not ask whether that is alive, and whether its end will be seen to. Who
// loses a value can keep the slot, as e4 does: what comes and goes every frame turns a bit of its entry and a
// mark. Others get such slots, all at once, when half of all are kept and no other is free: so
// memory follows what is stored.
//
// A slot that was taken and has no entity yet, or no more, is waiting: a value can be made there before
// the entity gets it, and kept there until nothing can fail any more. So values need not be movable.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/integer.hpp>
#include <muster/storage/key_map.hpp>
#include <muster/type/fragment_data.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace muster::detail {

/// The place of a value in a sparse set.
enum class slot_index : std::uint32_t {};
inline constexpr slot_index no_slot{~std::uint32_t{0}};
constexpr std::uint32_t to_int(slot_index index) noexcept {
    return static_cast<std::uint32_t>(index);
}

/// Whether a slot has a value of an entity. No character: who writes one changes nothing else, as the
/// compiler knows.
enum class slot_mark : std::uint8_t { empty, filled };

/// How a slot is found.
struct page_shape {
    unsigned shift = 11;  // log2 of the slots of a page

    /// Values of 16 KiB, if they are not too large or too many.
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
    /// How many bits of an id are its key, and how many the rest; which key comes first, and how large an
    /// id is.
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
        // An entry is the id without its key, and a slot in its place, which may be larger: there are more
        // slots than keys, since some wait. A slot that is kept without a value has another bit set, if
        // there is one to spare: few layouts have as many versions.
        [[nodiscard]] constexpr unsigned slot_bits() const noexcept { return 64 - rest_bits; }
        /// In place of a slot: it has none. Above it, there is no entry.
        [[nodiscard]] constexpr std::uint64_t unset() const noexcept {
            return smaller(low_bits(slot_bits()), to_int(no_slot)) - 1;
        }
        [[nodiscard]] constexpr bool keeps_slots() const noexcept {
            return key_bits < smaller(slot_bits(), 32) || key_bits > 30;
        }
        [[nodiscard]] constexpr std::uint64_t kept() const noexcept {
            return keeps_slots() ? unset() / 2 + 1 : 0;
        }
        /// No slot is as large.
        [[nodiscard]] constexpr std::uint64_t slot_limit() const noexcept {
            return keeps_slots() ? unset() - kept() : unset();
        }
        // NOLINTBEGIN(clang-analyzer-core.BitwiseShift): a layout has both, and they are fewer than 64
        [[nodiscard]] constexpr sparse_entry entry(std::uint64_t id,
                                                   std::uint64_t slot) const noexcept {
            return sparse_entry{rest_bits == 0 ? slot : id >> key_bits << slot_bits() | slot};
        }
        /// A slot that is kept has a value, or the other way round.
        [[nodiscard]] constexpr sparse_entry turn(sparse_entry one) const noexcept {
            return sparse_entry{static_cast<std::uint64_t>(one) ^ kept()};
        }
        /// The slot if it is below `slot_limit`, the slot that is kept if it is so from `kept` on, or
        /// `unset`; more than that if the entry is not of this id.
        [[nodiscard]] constexpr std::uint64_t read(sparse_entry entry,
                                                   std::uint64_t id) const noexcept {
            // Bits beyond the layout are no id's.
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

    fragment_data* fragment;      // null: gone, while values wait for the next one of its type
    const std::uint32_t ordinal;  // among the sparse fragments of a world
    [[nodiscard]] std::size_t size() const noexcept { return size_.count(); }
    /// Slots from here on have no entity.
    [[nodiscard]] std::uint32_t end() const noexcept { return end_; }
    /// How many slots stand next to each other.
    [[nodiscard]] std::uint32_t page_size() const noexcept {
        return std::uint32_t{1} << pages_shape_.shift;
    }

    /// The slot of this id, or `no_slot`: for any bits. Whoever is found is alive.
    [[nodiscard, gnu::pure]] slot_index find(std::uint64_t id) const noexcept;
    /// The same, if it is known which bits are the key.
    template <class Layout>
    [[nodiscard]] slot_index find_of(std::uint64_t id) const noexcept {
        return find_in<Layout>(id, entries_.look(), shape_.first_key);
    }
    /// Which of these have one: a bit each, as in `lanes`, which says who is asked for.
    template <class Layout, class Id>
    [[nodiscard]] std::uint64_t having(const Id* ids, std::uint64_t lanes) const noexcept {
        constexpr id_shape shape = id_shape::of<Layout>();
        const entry_words entries = entries_.look();
        const std::uint64_t first_key = shape_.first_key;
        const bool has_far = entries_.has_far();
        std::uint64_t having = 0;
        for (; lanes != 0; lanes &= lanes - 1) {
            const int lane = std::countr_zero(lanes);
            const std::uint64_t id{ids[lane].value()};
            const std::uint64_t key = (id & low_bits(shape.key_bits)) - first_key;
            if (has_far) [[unlikely]]
                having |= std::uint64_t{has(id)} << lane;
            else if (entries.cover(key))  // no branch depends on what is found
                having |= std::uint64_t{shape.read(entries[key], id) < shape.slot_limit()} << lane;
        }
        return having;
    }
    /// The value of this id, if values are of this size; or null.
    template <class Layout, std::size_t Size>
    [[nodiscard]] std::byte* find_value(std::uint64_t id) const noexcept {
        // What does not depend on the entity comes before the first branch: a loop does it once.
        const entry_words entries = entries_.look();
        const std::uint64_t first_key = shape_.first_key;
        std::byte* const* const pages = pages_.data();
        const slot_index slot = find_in<Layout>(id, entries, first_key);
        return slot == no_slot ? nullptr : at_of<Size>(slot, pages);
    }
    [[nodiscard]] bool has(std::uint64_t id) const noexcept { return find(id) != no_slot; }

    [[nodiscard]] std::byte* at(slot_index slot) const noexcept {
        return pages_[page_of(slot)] + place_of(slot) * value_size_;
    }
    /// The same for values of this size.
    template <std::size_t Size>
    [[nodiscard]] std::byte* at_of(slot_index slot) const noexcept {
        return at_of<Size>(slot, pages_.data());
    }
    /// The ids of this slot and, up to the end of its page, of those behind it.
    [[nodiscard]] std::byte* ids_at(slot_index slot) const noexcept {
        return id_pages_[page_of(slot)] + place_of(slot) * shape_.size;
    }
    /// How many slots make a block: their ids and values stand next to each other.
    [[nodiscard]] std::uint32_t block_size() const noexcept {
        return static_cast<std::uint32_t>(smaller(64, page_size()));
    }
    /// Which slots of the block that begins here have an entity.
    [[nodiscard]] std::uint64_t block_at(slot_index first) const noexcept {
        std::uint64_t block = 0;
        for (std::uint32_t i = 0; i < block_size(); i += 8)
            block |= pack_marks(marks_at(to_int(first) + i)) << i;
        return block;
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
        if (free_count_ == 0 && end_ == room_) [[unlikely]]
            make_room();
        ++waiting_;
        return slot_index{free_count_ != 0 ? free_[--free_count_] : end_++};
    }
    /// A waiting slot without a value is free again.
    void give_back(slot_index slot) noexcept {
        --waiting_;
        set_free(slot);
    }
    /// An entry for this id, which is alive, and whose end will be seen to: see `forget`.
    void prepare(std::uint64_t id, bool is_near) {
        entries_.prepare(key_of(id), is_near);
        open();
        sparse_entry& entry = entries_.at(key_of(id));
        if (entry == absent) entry = shape_.entry(id, shape_.unset());
    }
    /// The id is dead. Gives the slot with the value that it had, which waits, or `no_slot`.
    slot_index forget(std::uint64_t id) noexcept;
    /// The entity gets a waiting slot. It was prepared, and has no value.
    template <class Id>
    void attach(Id who, slot_index slot) noexcept {
        sparse_entry& entry = entries_.at(key_of(who.value()));
        drop_kept(entry, who.value());
        // SAFETY: the ids of this page.
        *reinterpret_cast<Id*>(ids_at(slot)) = who;
        entry = shape_.entry(who.value(), to_int(slot));
        marks_[to_int(slot)] = slot_mark::filled;
        size_.add(slot);
        --waiting_;
    }
    /// Its slot waits.
    void detach(std::uint64_t id, slot_index slot) noexcept {
        entries_.at(key_of(id)) = shape_.entry(id, shape_.unset());
        marks_[to_int(slot)] = slot_mark::empty;
        size_.remove(slot);
        ++waiting_;
    }

    // What comes and goes every frame: an entity keeps its slot.

    /// Getting or losing a value is no more than that: no hook, no observer, nothing that is needed.
    void set_simple(bool is_added, bool is_removed) noexcept {
        is_added_simply_ = is_added && shape_.first_key == 0;
        is_removed_simply_ = is_removed && shape_.first_key == 0;
        open();
    }
    [[nodiscard]] bool is_added_simply() const noexcept { return is_added_simply_; }
    /// The entries of keys whose entities get or lose a value simply. Only who finds that of a certain id
    /// may change it.
    [[nodiscard]] entry_words simply_added() const noexcept {
        return {entries_.look().pages, added_pages_};
    }
    [[nodiscard]] entry_words simply_removed() const noexcept {
        return {entries_.look().pages, removed_pages_};
    }
    /// Those of all near keys, by `key_of`.
    [[nodiscard]] entry_words entries() const noexcept { return entries_.look(); }
    [[nodiscard]] std::uint64_t key_of(std::uint64_t id) const noexcept {
        return (id & low_bits(shape_.key_bits)) - shape_.first_key;
    }
    /// An entity that was prepared, and has no slot, gets one, without a value: `std::bad_alloc` or
    /// `errc::limit`.
    template <class Id>
    void keep_slot(Id who) {
        const slot_index slot = take();
        --waiting_;
        *reinterpret_cast<Id*>(ids_at(slot)) = who;  // SAFETY: as in `attach`
        entries_.at(key_of(who.value())) = shape_.entry(who.value(), shape_.kept() | to_int(slot));
    }
    /// A value begins or ends in the slot that the entry keeps.
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
    void reorder(const array_list<slot_index>& order);

    /// The values are of another type from now on. There must be none.
    void retype(const type_info& other) noexcept;
    /// Nobody has a value any more: none is found. The values are still there, until the next call.
    void forget_entries() noexcept {
        entries_.clear();
        open();
        forgotten_ = end_;
        end_ = free_count_ = 0;
        waiting_ = 0;
        size_ = {};
    }
    void end_values() noexcept;
    /// Gives back memory that no slot needs. No slot may wait.
    void trim() noexcept;

private:
    /// How many slots have a value: in several parts, so that a loop that changes it for slots which
    /// are next to each other need not wait for what it wrote just before.
    class tally {
    public:
        void add(slot_index slot) noexcept { ++parts_[to_int(slot) % 8]; }
        void remove(slot_index slot) noexcept { --parts_[to_int(slot) % 8]; }
        [[nodiscard]] std::uint32_t count() const noexcept {
            std::uint32_t all = 0;
            for (const std::uint32_t one : parts_) all += one;
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
        return entries_.has_far() ? find(id) : no_slot;
    }
    template <std::size_t Size>
    [[nodiscard]] static std::byte* at_of(slot_index slot, std::byte* const* pages) noexcept {
        constexpr page_shape shape = page_shape::of(Size);
        std::byte* const value = pages[to_int(slot) >> shape.shift] + shape.place(slot) * Size;
        if (value == nullptr) __builtin_unreachable();  // who finds a value need not ask again
        return value;
    }
    /// Those who add or remove simply find all entries that there are, or none.
    void open() noexcept {
        added_pages_ = is_added_simply_ ? entries_.look().size : 0;
        removed_pages_ = is_removed_simply_ ? entries_.look().size : 0;
    }
    [[nodiscard]] std::uint32_t page_of(slot_index slot) const noexcept {
        return to_int(slot) >> pages_shape_.shift;
    }
    [[nodiscard]] std::uint32_t place_of(slot_index slot) const noexcept {
        return pages_shape_.place(slot);
    }
    /// The marks of eight slots, of which this is the first.
    [[nodiscard]] std::uint64_t marks_at(std::uint32_t first) const noexcept {
        std::uint64_t marks = 0;
        __builtin_memcpy(&marks, marks_.data() + first, sizeof marks);
        return marks;
    }
    /// A bit for each of eight marks, the first in the lowest.
    [[nodiscard]] static std::uint64_t pack_marks(std::uint64_t marks) noexcept {
        // The product moves the bit of each byte to its place in the highest one.
        if constexpr (std::endian::native == std::endian::little)
            return marks * 0x0102040810204080u >> 56;
        else
            return marks * 0x8040201008040201u >> 56;
    }
    /// Slots without a value of an entity, and that no entity has to get.
    [[nodiscard]] std::size_t kept_count() const noexcept {
        return std::size_t{end_} - free_count_ - size_.count() - waiting_;
    }
    void set_free(slot_index slot) noexcept {
        const std::uint32_t count = free_count_;
        free_[count] = to_int(slot);
        free_count_ = count + 1;
        if (count + 1 == end_) free_count_ = end_ = 0;  // all: the next ones come in order
    }
    /// Whoever has this entry keeps no slot any more.
    void drop_kept(sparse_entry& entry, std::uint64_t id) noexcept {
        const std::uint64_t slot = shape_.read(entry, id) - shape_.kept();
        if (!shape_.keeps_slots() || slot >= shape_.slot_limit()) return;
        entry = shape_.entry(id, shape_.unset());
        set_free(slot_index{static_cast<std::uint32_t>(slot)});
    }
    void drop_all_kept() noexcept;
    void make_room();
    void shape_pages(const type_info& type) noexcept;
    /// Frees those from this one on, but for those that share their memory with others.
    void free_pages(std::size_t first) noexcept;
    void grow();
    void relocate(std::byte* to, std::byte* from, std::size_t count) const noexcept;

    // What every call reads comes first.
    std::uint64_t added_pages_ = 0;    // as `entries_` has, or 0
    std::uint64_t removed_pages_ = 0;  // the same
    bool is_added_simply_ = false;
    bool is_removed_simply_ = false;
    std::uint32_t free_count_ = 0;
    std::uint32_t end_ = 0;          // slots from here on were not taken
    std::uint32_t room_ = 0;         // slots that have memory
    std::uint32_t forgotten_ = 0;    // slots up to here have values that nobody has
    raw_array<std::byte*> pages_;    // of values
    raw_array<std::uint32_t> free_;  // has room for all slots
    raw_array<slot_mark> marks_;     // the same, and for eights of them
    raw_array<std::byte*> id_pages_;
    array_list<std::size_t>
        owners_;  // pages whose memory is theirs and that of those up to the next
    std::size_t page_count_ = 0;
    tally size_;               // slots that have a value of an entity
    std::size_t waiting_ = 0;  // slots that wait
    id_shape shape_;
    key_map<sparse_entry, absent> entries_;
    page_shape pages_shape_;
    std::size_t value_size_ = 0;  // that of `type_`
    const type_info* type_;
};

}  // namespace muster::detail
