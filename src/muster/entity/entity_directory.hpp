// entity_directory: the entities of a world, as code sees them that is compiled once for all
// layouts. Ids are passed as `basic_id::value`. `entity_table` implements it for a layout.
//
// A call costs a virtual call. The calls in bulk exist so that code about many entities pays it
// once; fast paths are templates of the layout, and do not come here.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/atomic_word.hpp>
#include <muster/base/config.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/change/gate.hpp>
#include <muster/entity/destroy_marks.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/id_column.hpp>
#include <muster/storage/transition.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace MUSTER_NAMESPACE::detail {

/// Where the values of an entity are. An entity without components is in the empty chunk.
struct location {
    chunk_index chunk{};
    std::size_t row = 0;
};

/// Keeps reserved ids for later use.
class MUSTER_API key_keeper {
public:
    /// Releases the ids that nobody needs any more. May throw `std::bad_alloc`; the remaining ids
    /// then stay reserved.
    virtual void release_unused() = 0;
    /// Releases the key of `wanted` if it keeps that key for no later version.
    virtual void release_key_of(std::uint64_t wanted) = 0;

protected:
    ~key_keeper() = default;
};

class MUSTER_API entity_directory {
public:
    /// Before a key is missing, this object releases those that it keeps.
    void set_keeper(key_keeper& keeper) noexcept { keeper_ = &keeper; }

    entity_directory(unsigned key_bits, std::uint64_t null) noexcept
        : key_bits_(key_bits), null_(null) {}
    entity_directory(const entity_directory&) = delete;
    entity_directory& operator=(const entity_directory&) = delete;

    /// Whether an entity at this location is away: its components are in another world.
    [[nodiscard]] static bool is_away(location at) noexcept {
        return at.chunk == chunk_graph::away_index;
    }
    [[nodiscard]] std::uint64_t key_of(std::uint64_t e) const noexcept {
        return e & ((std::uint64_t{1} << key_bits_) - 1);
    }
    [[nodiscard]] std::uint64_t null() const noexcept { return null_; }
    /// How often ids were created, destroyed or reserved by the functions below. While a
    /// `write_tracker` is on, nothing else does so.
    [[nodiscard]] std::uint64_t changes() const noexcept {
        return changes_ + reservations_.load_relaxed();
    }

    // ---- lookup --------------------------------------------------------------------------------

    /// Finds a living entity of this world. In a parallel phase, an entity of this phase is found
    /// without components.
    [[nodiscard]] virtual bool find(std::uint64_t e, location& at) const noexcept = 0;
    [[nodiscard]] bool alive(std::uint64_t e) const noexcept {
        location at;
        return find(e, at);
    }
    /// Returns where a living entity is.
    [[nodiscard]] location locate(std::uint64_t e) const noexcept {
        location at;
        (void)find(e, at);
        return at;
    }
    /// Whether the id names another world, and is no guest.
    [[nodiscard]] virtual bool is_foreign(std::uint64_t e) const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t version_of(std::uint64_t e) const noexcept = 0;
    /// Returns the living id with the lowest key at or above `key`, or the null id. Includes
    /// world-owned ids.
    [[nodiscard]] virtual std::uint64_t next_living(std::uint64_t key) const noexcept = 0;
    /// Whether the record of this id is in the array of records. False for guests.
    [[nodiscard]] virtual bool is_dense(std::uint64_t e) const noexcept = 0;
    /// The number of living ids, and how many fit into the array of records.
    [[nodiscard]] virtual std::size_t size() const noexcept = 0;
    [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;

    // ---- rows ----------------------------------------------------------------------------------

    virtual void place(std::uint64_t e, location at) noexcept = 0;
    /// Sets the locations of the ids in these rows of a chunk. For the empty chunk, `chunk` has the
    /// ids, and they are placed there.
    virtual void place_rows(const chunk_data& chunk, std::size_t first, std::size_t count,
                            chunk_index where) noexcept = 0;
    /// Moves a row along a transition that moves bytes, and stores the given values. The target has
    /// room. False, and nothing is changed, if the entity is not in the transition's chunk.
    virtual bool move_bytes(std::uint64_t e, const transition& step,
                            slice<const pending_value> values) noexcept = 0;
    /// Moves a row along a transition without arrivals in between, and destroys dropped values.
    virtual void move_row(std::uint64_t e, const transition& step, gate& changes) noexcept = 0;
    /// Removes the row of an entity and destroys its values. The entity is in the empty chunk then.
    virtual void remove_row(std::uint64_t e, chunk_data& from, gate& changes) noexcept = 0;

    // ---- creating and destroying ---------------------------------------------------------------

    /// Throws `errc::id_overflow` if fewer than `count` keys are left. Allocates nothing for them.
    virtual void refuse_overflow(std::size_t count) = 0;
    /// Does every part of the next `count` creations that may throw; they then cannot fail.
    virtual void prepare(std::size_t count) = 0;
    virtual std::uint64_t create() = 0;
    /// Creates ids for all of `out`, or throws.
    virtual void create_all(id_span out) = 0;
    /// Creates the ids of `count` new rows of a chunk, after `prepare`.
    virtual void create_rows(chunk_data& into, std::size_t count) noexcept = 0;
    /// Undoes `create`, whose id no caller has seen.
    virtual void undo_create(std::uint64_t e) noexcept = 0;
    /// Throws the error of `create_at`, if any.
    virtual void refuse_at(target wanted) const = 0;
    virtual void create_at(std::uint64_t wanted) = 0;
    /// Throws the error of `create_rows_at`, except for `std::bad_alloc` in that call. The keys must
    /// differ.
    virtual void refuse_at(id_span wanted) = 0;
    /// Creates exactly these ids, as `create_at` does, for as many new rows of a chunk, which has
    /// room; in the empty chunk, ids without rows. `refuse_at` must have accepted them.
    /// `std::bad_alloc` changes nothing.
    virtual void create_rows_at(chunk_data& into, id_span wanted) = 0;
    /// Returns an id for `create_at`, with the highest free key. Throws `errc::id_overflow`. O(keys
    /// above it).
    [[nodiscard]] std::uint64_t highest_free() { return highest_free_from(~std::uint64_t{0}); }
    /// Like `highest_free`, but prefers keys up to `from`.
    [[nodiscard]] virtual std::uint64_t highest_free_from(std::uint64_t from) = 0;
    virtual bool destroy(std::uint64_t e) noexcept = 0;

    // ---- guests: entities that another world has issued ----------------------------------------

    /// Makes the ids of the `count` rows after the last guests, and appends the rows. They are
    /// foreign, distinct and no guests yet. `std::bad_alloc` changes nothing.
    virtual void adopt_rows(chunk_data& into, std::size_t count) = 0;
    virtual void forget_guests() noexcept = 0;
    [[nodiscard]] bool is_guest(std::uint64_t e) const noexcept {
        return has_guests_ && find_guest(e);
    }
    /// Returns the first guest after `e` in the order of ids, or the null id. The null id comes
    /// before the first.
    [[nodiscard]] virtual std::uint64_t next_guest(std::uint64_t e) const noexcept = 0;
    [[nodiscard]] virtual std::size_t guest_count() const noexcept = 0;
    /// Returns the first row from `row` on whose key is marked, or the number of rows.
    [[nodiscard]] virtual std::size_t next_marked(const chunk_data& chunk, std::size_t row,
                                                  const destroy_marks& marks) const noexcept = 0;
    /// Destroys the ids in these rows, from the last on. Calls `destroy_marked` instead for those
    /// that are marked, or have used their last version. The caller removes the rows.
    virtual void destroy_rows(const chunk_data& chunk, std::size_t first, std::size_t count,
                              const destroy_marks& marks,
                              void (*destroy_marked)(void* context, std::uint64_t e) noexcept,
                              void* context) noexcept = 0;

    virtual void reserve(std::size_t count) = 0;
    virtual std::size_t recycle_tombstones() = 0;
    virtual void trim() noexcept = 0;

    // ---- reserved ids and parallel phases ------------------------------------------------------

    /// Reserves a few keys. Returns their ids in reverse; none if no key is open. Any thread.
    virtual void take_reserved(array_list<std::uint64_t>& out) = 0;
    [[nodiscard]] virtual bool has_open_keys() const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t available() const noexcept = 0;
    [[nodiscard]] virtual std::size_t fair_count() const noexcept = 0;
    virtual std::uint64_t reserve_id() = 0;
    virtual bool claim_reserved(std::uint64_t e) = 0;
    virtual void give_up(std::uint64_t e) = 0;

    /// Lets several threads create ids, until `end_sharing`.
    virtual void begin_sharing() = 0;
    [[nodiscard]] virtual bool is_sharing() const noexcept = 0;
    virtual std::uint64_t create_shared() = 0;
    virtual void end_sharing() = 0;

    // ---- messages ------------------------------------------------------------------------------

    /// "E:1-42[3]"
    [[nodiscard]] virtual std::string text_of(std::uint64_t e) const = 0;
    [[nodiscard]] virtual std::uint64_t world_of(std::uint64_t e) const noexcept = 0;
    /// Whether this world issued the id.
    [[nodiscard]] virtual bool is_well_formed(std::uint64_t e) const noexcept = 0;
    [[nodiscard]] virtual bool has_lived(std::uint64_t e) const noexcept = 0;
    /// "slot 42 is now at version 4"
    [[nodiscard]] virtual std::string slot_text(std::uint64_t e) const = 0;

protected:
    ~entity_directory() = default;
    [[nodiscard]] virtual bool find_guest(std::uint64_t e) const noexcept = 0;
    void release_unused_keys() const {
        if (keeper_ != nullptr) keeper_->release_unused();
    }
    void release_key_of(std::uint64_t wanted) const {
        if (keeper_ != nullptr) keeper_->release_key_of(wanted);
    }
    void note_guests() noexcept { has_guests_ = true; }
    void count_change() noexcept { ++changes_; }
    /// The same, for functions that any thread may call.
    void count_reservation() noexcept { reservations_.fetch_add_relaxed(1); }

private:
    key_keeper* keeper_ = nullptr;
    bool has_guests_ = false;
    std::uint64_t changes_ = 0;
    atomic_word<std::uint64_t> reservations_;
    unsigned key_bits_;
    std::uint64_t null_;
};

}  // namespace MUSTER_NAMESPACE::detail
