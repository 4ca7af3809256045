// destroyer: destroys entities, and fragments together with their values.
//
// An entity on which nothing depends is destroyed by itself. Otherwise the destroyer first collects
// all that is destroyed in one operation: by its own rule, that of fragments and their owners, and
// by those of the participants. Then all of it is destroyed, or nothing.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/change/journal.hpp>
#include <muster/storage/chunk_data.hpp>
#include <muster/storage/id_column.hpp>
#include <muster/storage/sparse_set.hpp>
#include <muster/storage/transition.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>

namespace MUSTER_NAMESPACE::detail {

class destroy_participant;
class destroy_set;
struct engine;

class MUSTER_API destroyer {
public:
    explicit destroyer(engine& owner) noexcept : engine_(owner) {}
    destroyer(const destroyer&) = delete;
    destroyer& operator=(const destroyer&) = delete;

    /// Destroys an entity, now or when the scope ends. Returns whether it was alive.
    bool destroy(target of);
    /// Destroys these entities and returns how many were alive. If an id is of another world,
    /// throws and destroys none.
    std::size_t destroy(slice<const std::uint64_t> all, const std::source_location& where);
    void reset(const std::source_location& where);

    /// Records the destruction of an entity, in an open scope. Returns whether it is alive.
    bool record(target of);
    /// Destroys an entity now and notifies hooks and observers. The caller has opened a scope.
    void destroy_notifying(target of);
    /// Destroys these living entities, and all that depends on them, now: all or none. Notifies
    /// hooks and observers. The caller has opened a scope.
    void destroy_together(slice<const std::uint64_t> first, const std::source_location& where);
    /// Whether participants must be asked before this entity is destroyed.
    [[nodiscard]] bool concerns_rooms(std::uint64_t e) const noexcept;
    /// Whether participants must be asked before any entity of the chunk is destroyed.
    [[nodiscard]] bool concerns_rooms(const chunk_data& chunk) const noexcept;
    /// Destroys the entities of a chunk, and notifies. Ids that are fragments are recorded.
    void destroy_chunk(chunk_data& chunk, const std::source_location& where);
    /// Destroys the entities of the rows from `first` on. Notifies no one.
    void destroy_rows(chunk_data& chunk, std::size_t first) noexcept;
    /// Like `destroy_rows`, but leaves the values, after the last row, to the caller.
    void destroy_ids(chunk_data& chunk, std::size_t first) noexcept;
    /// Destroys an id that was created in a scope. Entities that have it as a fragment lose it.
    void rollback_spawn(std::uint64_t made) noexcept;
    /// Undoes the creation of an id that no caller has seen.
    void undo_create(std::uint64_t e) noexcept;
    /// Records the call site for later error messages. May throw, so it runs before the first
    /// irreversible step.
    void record_provenance(target of);

    /// Lets a room take part from now on. The caller owns it.
    void add_participant(destroy_participant& room) { participants_.push_back(&room); }
    void remove_participant(const destroy_participant& room) noexcept;
    [[nodiscard]] bool has_participants() const noexcept { return !participants_.empty(); }
    [[nodiscard]] slice<destroy_participant* const> participants() const noexcept {
        return participants_;
    }

    /// Destroys all values of a sparse fragment.
    void drop_all(sparse_set& set) noexcept;
    /// Destroys all values. No entity is alive any more.
    void end_values() noexcept;

private:
    struct cascade;
    /// An entity that survives, and loses a fragment or changes its group.
    struct entity_loss {
        std::uint64_t e;
        fragment_data* fragment;
        transition_ref step;  // null: the fragment is sparse
    };
    /// The rows that lose fragments, all of a chunk.
    struct chunk_loss {
        chunk_data* from;
        transition_ref step;
    };

    /// The pending changes of a fragment that was destroyed.
    struct orphans {
        const fragment_data* of;
        journal::entry_range entries;
    };

    /// Does those parts of the destruction of these entities, one by one, that may run out of
    /// memory: provenance, and room in the logs of observers.
    void prepare(slice<const std::uint64_t> all, const std::source_location& where);
    bool destroy_alone(target of);
    [[nodiscard]] bool has_dependents(std::uint64_t e) const noexcept;
    void forget(std::uint64_t e) noexcept;
    void finish(std::uint64_t e) noexcept;
    void collect(slice<const std::uint64_t> first, cascade& all);
    void collect_losses(cascade& all) const;
    void notify(cascade& all);
    [[nodiscard]] bool is_fragment(std::uint64_t e) const noexcept;
    void forget_fragment(fragment_data& fragment) noexcept;
    static void drop(journal_entry& entry, const fragment_data& of) noexcept;
    void rebind(const orphans& pending, const type_info& info, type_index type,
                sparse_set* set) noexcept;
    void lose(const entity_loss& lost) noexcept;
    void move_rows(chunk_data& from, const transition& step) noexcept;
    [[nodiscard]] array_list<std::uint64_t> all_mortal() const;
    void reset_notifying(const std::source_location& where);

    engine& engine_;
    array_list<destroy_participant*> participants_;
    bool is_forced_ = false;  // participants are not asked whether they permit it
    bool is_undo_ = false;    // see `destroy_set::is_undo`
};

}  // namespace MUSTER_NAMESPACE::detail
