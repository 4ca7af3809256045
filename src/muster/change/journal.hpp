// journal: changes that are deferred until a scope ends.
//
// Entries are stored in recording order, so that a cancelled scope pops its own entries from the
// end. The entries of one entity form a group. Groups are ordered by the first change of their
// entity, and applied in this order:
//
//     groups    [ e7       ][ e2     ][ e9 ][ barrier ][ e7 ]
//                   |            |
//     entries   [ put ]<-----[ put ]<--[ remove ]          each links to the previous in its group
//                   |            |
//     memory     position     velocity                     values are stored in reusable blocks
//
// A barrier affects many entities: changes before and after it are never merged.
#pragma once

#include <muster/base/arena.hpp>
#include <muster/base/array_list.hpp>
#include <muster/change/change.hpp>
#include <muster/change/scoped_log.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct chunk_data;

struct journal_entry {
    fragment_data* fragment;  // null: the change has no fragment, or the fragment was destroyed
    void* value;              // a component: owned; null: a tag, or the value was moved out.
                              // `save`: a `saved_value`. `record`: a `scoped_log`, or null if it
                              // was delivered. Other kinds: a `journal_note`, or null
    std::uint32_t group;
    std::uint32_t previous;  // previous entry of the group, or `journal::none`
    change_kind kind;
    bool is_there = false;      // of `touch`: the entity will have had the fragment
    slot_index slot = no_slot;  // of a sparse fragment: the reserved slot that the value is in
};

/// The value that a `save` owns.
struct saved_value {
    void* copy;
    std::uint32_t target;  // the entry with the pending value; `journal::none`: that of the entity
};

/// Returns the component that an entry owns, or null.
inline void* component_of(const journal_entry& entry) noexcept {
    if (entry.kind == change_kind::save)
        return entry.value == nullptr ? nullptr : static_cast<saved_value*>(entry.value)->copy;
    return has_component(entry.kind) ? entry.value : nullptr;
}

/// The entities that a batch changes: whole chunks or, if its query has sparse terms, single ids.
struct batch_targets {
    array_list<chunk_data*> chunks;
    array_list<std::uint64_t> ids;
    bool is_by_id = false;
};

/// Finds these entities: once to count them, and again when the batch is applied.
struct target_finder {
    void (*find)(void* store, void* cache, void* list, batch_targets& found);
    void* store;
    void* cache;
    void* list;

    void operator()(batch_targets& found) const { find(store, cache, list, found); }
};

/// Additional data of a change.
struct journal_note {
    std::source_location where{};
    std::string_view system{};  // the system that made the change; see `engine::current_system`
    std::uint64_t count = 0;    // for `reserve`: number of rows; for `regroup`: the word
    target_finder finder{};     // for `batch`
};

struct journal_group {
    std::uint64_t id;    // value of the entity's id; for `reserve`: serial of the chunk
    std::uint32_t last;  // last entry, or `journal::none`
    /// Previous group of the same entity, or `journal::none`. For a barrier: the previous barrier.
    std::uint32_t shadowed;
    bool is_barrier;
    bool is_new_entity;  // the entity was created in the same scope as the group
    bool has_records =
        false;  // of `scoped_log`s; such a group has no entity, and separates nothing
};

class MUSTER_API journal {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct position {
        std::uint32_t entries = 0;
        std::uint32_t groups = 0;
        std::uint32_t segment = 0;  // first group after the last barrier
        arena::position memory;
    };

    journal() = default;
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;

    /// Returns the position after the last entry, to which the caller may rewind the journal.
    [[nodiscard]] position now() const noexcept {
        capture();
        return now_;
    }
    /// Like `now`, for a caller that also calls `capture` before it may rewind.
    [[nodiscard]] const position& peek() const noexcept { return now_; }
    void capture() const noexcept { ++captures_; }
    /// Increases whenever a position is captured. Until then, a log may add to its last record.
    [[nodiscard]] std::uint64_t captures() const noexcept { return captures_; }
    [[nodiscard]] bool empty() const noexcept { return now_.groups == 0; }
    [[nodiscard]] std::uint32_t size() const noexcept { return now_.groups; }
    [[nodiscard]] journal_entry& entry(std::uint32_t index) const noexcept {
        return entries_[index];
    }
    [[nodiscard]] const journal_group& group(std::uint32_t index) const noexcept {
        return groups_[index];
    }

    /// Makes room for one entry and one group, so that the next `record_spawn` cannot fail. Throws
    /// `std::bad_alloc` or `errc::limit`.
    void reserve_one() {
        if (now_.entries == entries_.capacity() || now_.groups == groups_.capacity()) [[unlikely]]
            grow();
    }
    /// Appends a change of this entity, without a value. `std::bad_alloc` and `errc::limit` change
    /// nothing.
    journal_entry& add(std::uint64_t e, change_kind kind, fragment_data* fragment) {
        reserve_one();
        const std::uint32_t open = now_.segment > done_ ? now_.segment : done_;
        const std::uint32_t last = now_.groups - 1;
        const bool is_last =
            now_.groups > open && groups_[last].id == e && !groups_[last].has_records;
        if (is_last) return append(last, kind, fragment);
        const bool is_new = low_bits(e) > highest_;  // as when a loop visits rows in order of ids
        return append(is_new ? add_group(e, false) : ensure(e, open), kind, fragment);
    }
    /// Records that the entity was created. The caller has called `reserve_one`.
    void record_spawn(std::uint64_t e) noexcept {
        groups_[add_group(e, false)].is_new_entity = true;
    }
    /// Like `record_spawn`, for an entity whose changes, if any, were recorded last. The caller has
    /// called `reserve_one`.
    void record_spawn_last(std::uint64_t e) noexcept {
        if (now_.groups == 0 || groups_[now_.groups - 1].id != e ||
            groups_[now_.groups - 1].is_barrier)
            return record_spawn(e);
        groups_[now_.groups - 1].is_new_entity = true;
    }
    /// Appends a change of many entities.
    journal_entry& add_barrier(std::uint64_t e, change_kind kind, fragment_data* fragment) {
        reserve_one();
        groups_[add_group(e, true)].shadowed = now_.segment - 1;  // wraps to `none` for the first
        now_.segment = now_.groups;
        return append(now_.groups - 1, kind, fragment);
    }
    /// Appends a change to the group of the last barrier.
    journal_entry& extend_barrier(change_kind kind, fragment_data* fragment) {
        reserve_one();
        return append(now_.groups - 1, kind, fragment);
    }
    /// Notes that a log has one more record. The caller has called `reserve_one`.
    void add_record(scoped_log& log) noexcept {
        const std::uint32_t open = now_.segment > done_ ? now_.segment : done_;
        if (records_ < open || records_ >= now_.groups || !groups_[records_].has_records) {
            records_ = add_group(0, true);
            groups_[records_].has_records = true;
        }
        append(records_, change_kind::record, nullptr).value = &log;
    }
    void annotate(journal_entry& entry, const journal_note& note) {
        entry.value = ::new (allocate(sizeof note, alignof(journal_note))) journal_note(note);
    }
    /// Allocates room for a value in the journal's memory.
    [[nodiscard]] void* allocate(const type_info& type) {
        return allocate(type.size, type.alignment);
    }
    [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment) {
        void* const made = memory_.allocate(size, alignment);
        now_.memory = memory_.now();
        return made;
    }

    /// Visits the pending entries that affect an entity, from the last to the first. Includes
    /// barriers, except for batches, whose targets are not known yet.
    class dependencies {
    public:
        dependencies(journal& of, std::uint64_t e);
        /// Returns the index of the next entry, or `none`. O(1), amortised.
        [[nodiscard]] std::uint32_t next() noexcept;

    private:
        /// Groups, each with the one before it.
        struct chain {
            std::uint32_t group;
            std::uint32_t entry;
        };
        void find_entry(chain& from) const noexcept;

        const journal& of_;
        chain own_{none, none};
        chain barriers_{none, none};
    };
    /// After one more change, the next `dependencies` cannot fail.
    void prepare_dependencies() { find_places(2); }
    /// Returns these entries in order.
    [[nodiscard]] array_list<std::uint32_t> dependency_of(std::uint64_t e);
    /// Whether changes of the group's entity are still added to this group.
    [[nodiscard]] bool is_open(std::uint32_t group) const noexcept {
        return group >= now_.segment && group >= done_;
    }
    /// Entries from `first` up to, but not including, `end`.
    struct entry_range {
        std::uint32_t first = 0;
        std::uint32_t end = 0;
    };
    /// Returns a range that has all entries of this fragment, and maybe others.
    [[nodiscard]] entry_range range_of(const fragment_data& fragment) const noexcept {
        if (fragment.pending_epoch != epoch_) return {};
        const std::uint32_t last = fragment.last_pending;
        return {fragment.first_pending, last < now_.entries ? last + 1 : now_.entries};
    }
    /// Call this after assigning an entry to another fragment.
    void mark(fragment_data& fragment, std::uint32_t entry) const noexcept {
        if (fragment.pending_epoch != epoch_) {
            fragment.pending_epoch = epoch_;
            fragment.first_pending = fragment.last_pending = entry;
        }
        if (entry < fragment.first_pending) fragment.first_pending = entry;
        if (entry > fragment.last_pending) fragment.last_pending = entry;
    }
    /// Whether a value of this fragment is pending, for any entity or for this entity.
    /// O(entries of `range_of`).
    [[nodiscard]] bool has_value_of(const fragment_data& fragment) const noexcept;
    [[nodiscard]] bool has_value_of(const fragment_data& fragment, std::uint64_t e) const noexcept;

    /// Closes the groups before this one, which are being applied: no change is added to them any
    /// more.
    void begin(std::uint32_t group) noexcept { done_ = group; }

    /// Removes the last entry, if it was added after `to`. The caller destroys its value.
    [[nodiscard]] bool pop_entry(const position& to, journal_entry& popped) noexcept;
    /// Removes the last group, if it was added after `to`. Requires that the entries are removed.
    /// The call that finds no more groups also rewinds the memory.
    [[nodiscard]] bool pop_group(const position& to, journal_group& popped) noexcept;
    /// Removes all entries and groups; keeps the memory.
    void clear() noexcept;
    /// Frees the memory. There must be no entry.
    void free() noexcept;

private:
    struct place {
        std::uint64_t id;
        std::uint32_t group;
        std::uint32_t epoch;  // if not the current epoch, the place is free
    };

    [[nodiscard]] static std::uint32_t low_bits(std::uint64_t e) noexcept {
        return static_cast<std::uint32_t>(e);
    }
    [[nodiscard]] std::size_t place_of(std::uint64_t e) const noexcept;
    /// Returns the group of this entity, at or after `open`; adds one if there is none.
    [[nodiscard]] std::uint32_t ensure(std::uint64_t e, std::uint32_t open);
    std::uint32_t add_group(std::uint64_t e, bool is_barrier) noexcept {
        groups_[now_.groups] = {e, none, none, is_barrier, false, false};
        if (low_bits(e) > highest_) highest_ = low_bits(e);
        return now_.groups++;
    }
    journal_entry& append(std::uint32_t group, change_kind kind, fragment_data* fragment) noexcept {
        journal_entry& made = entries_[now_.entries];
        made = {fragment, nullptr, group, groups_[group].last, kind};
        if (fragment != nullptr) mark(*fragment, now_.entries);
        groups_[group].last = now_.entries++;
        return made;
    }
    MUSTER_COLD void grow();
    void find_places(std::size_t more = 1);
    void widen();

    position now_;
    mutable std::uint64_t captures_ = 1;
    std::uint32_t done_ = 0;     // groups before this one are closed; see `begin`
    std::uint32_t epoch_ = 1;    // current epoch of `places_`; never 0
    std::uint32_t highest_ = 0;  // no group has an id with low bits above this
    std::uint32_t records_ = 0;  // the last group with records, if it `has_records`
    raw_array<journal_entry> entries_;
    raw_array<journal_group> groups_;
    raw_array<place> places_;   // hash table by the low bits of ids, which rarely collide
    std::size_t taken_ = 0;     // used places of this epoch; at most half of all
    std::uint32_t placed_ = 0;  // groups in the table; `find_places` adds the others on demand
    arena memory_;
};

}  // namespace MUSTER_NAMESPACE::detail
