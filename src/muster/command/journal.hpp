// journal: changes that wait for the end of a scope. The room `command` owns them and works out what
// several changes of one entity come to (`plan`); `store` carries them out.
//
// Entries stand in the order of their recording, so that a scope that is cancelled takes its own away
// from the end. Those of one entity are a group; groups stand in the order in which their entities
// were first touched, which is the order they are carried out in:
//
//     groups    [ e7       ][ e2     ][ e9 ][ barrier ][ e7 ]
//                   |            |
//     entries   [ put ]<-----[ put ]<--[ remove ]          each knows the one before it in its group
//                   |            |
//     memory     position     velocity                     values lie in blocks that are used again
//
// A barrier concerns many entities: nothing is put together across it.
#pragma once

#include <muster/base/arena.hpp>
#include <muster/base/array_list.hpp>
#include <muster/storage/sparse_set.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace muster::detail {

struct chunk_data;

enum class change_kind : std::uint8_t {
    put,             // a value to insert or assign
    keep,            // a value to insert, if there is none
    replace,         // a value to assign, if there is one
    touch,           // as if the value were assigned
    remove,          // the fragment
    clear,           // all fragments
    destroy,         // the entity
    clear_fragment,  // from here on: of a barrier
    copy_fragment,
    reserve,
    batch,  // the changes before it in its group are made to all entities that it finds
};

/// Whether the value of a change is a component.
constexpr bool has_component(change_kind kind) noexcept {
    return kind == change_kind::put || kind == change_kind::keep || kind == change_kind::replace;
}

struct journal_entry {
    fragment_data* fragment;  // null: the change concerns none, or it was destroyed meanwhile
    void* value;  // of a component, owned; null: a tag, or it has gone where it belongs.
                  // Of others: a `journal_note`, or null
    std::uint32_t group;
    std::uint32_t previous;  // of the same group, or `journal::none`
    change_kind kind;
    slot_index slot = no_slot;  // of a sparse fragment, where the value is made: it need not move
};

/// A change without its value.
struct change_shape {
    fragment_data* fragment;  // null: it concerns none, as `clear`
    change_kind kind;

    friend bool operator==(const change_shape&, const change_shape&) noexcept = default;
};

/// Whom a batch concerns: all entities of some chunks or, where sparse fragments are asked for, some.
struct batch_targets {
    array_list<chunk_data*> chunks;
    array_list<std::uint64_t> ids;
    bool is_by_id = false;
};

/// Who knows that; asked when the batch's turn comes.
struct target_finder {
    void (*find)(void* store, void* cache, void* list, batch_targets& found);
    void* store;
    void* cache;
    void* list;

    void operator()(batch_targets& found) const { find(store, cache, list, found); }
};

/// What else is to be known of a change.
struct journal_note {
    std::source_location where{};
    std::string_view system{};  // that made the change; see `store::acting`
    std::uint64_t count = 0;    // of `reserve`: rows
    target_finder finder{};     // of `batch`
};

struct journal_group {
    std::uint64_t id;    // the entity's, as `basic_id::value` says it
    std::uint32_t last;  // entry, or `journal::none`
    /// The group that the entity had before, or `journal::none`; of a barrier: the barrier before.
    std::uint32_t shadowed;
    bool is_barrier;
    bool is_born;  // the entity was made in the scope that the group was made in
};

class MUSTER_API journal {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct position {
        std::uint32_t entries = 0;
        std::uint32_t groups = 0;
        std::uint32_t segment = 0;  // the first group behind the last barrier
        arena::position memory;
    };

    journal() = default;
    journal(const journal&) = delete;
    journal& operator=(const journal&) = delete;

    [[nodiscard]] position now() const noexcept { return now_; }
    [[nodiscard]] bool empty() const noexcept { return now_.groups == 0; }
    [[nodiscard]] std::uint32_t size() const noexcept { return now_.groups; }
    [[nodiscard]] journal_entry& entry(std::uint32_t index) const noexcept {
        return entries_[index];
    }
    [[nodiscard]] const journal_group& group(std::uint32_t index) const noexcept {
        return groups_[index];
    }

    /// Room for another entry in another group: the next `add` or `bear` cannot fail.
    void reserve_one() {
        if (now_.entries == entries_.capacity() || now_.groups == groups_.capacity()) [[unlikely]]
            grow();
    }
    /// A change of this entity, behind all others; without a value. `std::bad_alloc` changes nothing.
    journal_entry& add(std::uint64_t who, change_kind kind, fragment_data* fragment) {
        reserve_one();
        const std::uint32_t open = now_.segment > done_ ? now_.segment : done_;
        const std::uint32_t last = now_.groups - 1;
        const bool is_last = now_.groups > open && groups_[last].id == who;
        return append(is_last ? last : ensure(who, open), kind, fragment);
    }
    /// An entity was made. Room is there.
    void bear(std::uint64_t who) noexcept { groups_[add_group(who, false)].is_born = true; }
    /// The same for one whose changes, if there are any, were recorded last. Room is there.
    void bear_last(std::uint64_t who) noexcept {
        if (now_.groups == 0 || groups_[now_.groups - 1].id != who ||
            groups_[now_.groups - 1].is_barrier)
            return bear(who);
        groups_[now_.groups - 1].is_born = true;
    }
    /// A change of many.
    journal_entry& add_barrier(std::uint64_t who, change_kind kind, fragment_data* fragment) {
        reserve_one();
        groups_[add_group(who, true)].shadowed = now_.segment - 1;  // `none` if there is none
        now_.segment = now_.groups;
        return append(now_.groups - 1, kind, fragment);
    }
    /// One more in the group of the barrier that was added last.
    journal_entry& extend_barrier(change_kind kind, fragment_data* fragment) {
        reserve_one();
        return append(now_.groups - 1, kind, fragment);
    }
    void annotate(journal_entry& one, const journal_note& note) {
        one.value = ::new (memory_.allocate(sizeof note, alignof(journal_note))) journal_note(note);
        now_.memory = memory_.now();
    }
    /// Room for a value in the journal's memory.
    [[nodiscard]] void* allocate(const type_info& type) {
        void* const made = memory_.allocate(type.size, type.alignment);
        now_.memory = memory_.now();
        return made;
    }

    /// All that waits for this entity, in its order, and the barriers among it, but for batches: who
    /// they will concern is not known yet. O(its changes).
    [[nodiscard]] array_list<std::uint32_t> waiting_for(std::uint64_t who);
    /// Whether a value of this fragment waits, for anyone or for this entity. O(all).
    [[nodiscard]] bool has_value_of(const fragment_data& fragment) const noexcept;
    [[nodiscard]] bool has_value_of(const fragment_data& fragment,
                                    std::uint64_t who) const noexcept;

    /// The groups before this one have been carried out: nothing is added to them any more.
    void begin(std::uint32_t group) noexcept { done_ = group; }

    /// Takes the last entry away, if there is one behind `to`. What becomes of its value is the caller's
    /// to see to.
    [[nodiscard]] bool pop_entry(const position& to, journal_entry& popped) noexcept;
    /// The same with groups, when the entries are gone.
    [[nodiscard]] bool pop_group(const position& to, journal_group& popped) noexcept;
    /// Forgets everything; keeps the memory.
    void clear() noexcept;
    /// Gives memory back; there must be no entry.
    void free() noexcept;

private:
    struct place {
        std::uint64_t id;
        std::uint32_t group;
        std::uint32_t epoch;  // of another: the place is free
    };

    [[nodiscard]] std::size_t place_of(std::uint64_t who) const noexcept;
    /// The group of this entity from `open` on.
    [[nodiscard]] std::uint32_t ensure(std::uint64_t who, std::uint32_t open);
    std::uint32_t add_group(std::uint64_t who, bool is_barrier) noexcept {
        groups_[now_.groups] = {who, none, none, is_barrier, false};
        return now_.groups++;
    }
    journal_entry& append(std::uint32_t group, change_kind kind, fragment_data* fragment) noexcept {
        journal_entry& made = entries_[now_.entries];
        made = {fragment, nullptr, group, groups_[group].last, kind};
        groups_[group].last = now_.entries++;
        return made;
    }
    MUSTER_COLD void grow();
    void find_places();
    void widen();

    position now_;
    std::uint32_t done_ = 0;   // groups that were carried out
    std::uint32_t epoch_ = 1;  // of the table; never 0
    raw_array<journal_entry> entries_;
    raw_array<journal_group> groups_;
    raw_array<place> places_;   // by the lowest bits of ids, which differ for most
    std::size_t taken_ = 0;     // places in this epoch; at most half of them
    std::uint32_t placed_ = 0;  // groups that have a place: others get theirs when one is sought
    arena memory_;
};

}  // namespace muster::detail
