// entity_changes: calls that change the components of one entity. Each call is applied at once,
// recorded in the journal of a scope, or recorded in the lane of a thread.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/change/journal.hpp>
#include <muster/engine/open_scope.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/storage/transition.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstdint>
#include <source_location>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct engine;

class MUSTER_API entity_changes {
public:
    explicit entity_changes(engine& owner) noexcept : engine_(owner) {}
    entity_changes(const entity_changes&) = delete;
    entity_changes& operator=(const entity_changes&) = delete;

    /// Puts or keeps the values of a call. Returns whether anything is put, or new.
    bool submit(const edit& call);
    /// Applies a transition of the entity that `is_hooked`, in a scope for the changes of its hooks.
    /// See `applier::apply_constructed`.
    void apply_hooked(std::uint64_t e, transition& step);
    /// Moves an entity that has this fragment to the group of this word; nothing if it does not have
    /// it. For whole chunks, see `catalog::regroup`.
    void regroup(target of, fragment_data& fragment, std::uint64_t word);
    /// Removes these fragments. Returns whether the entity has one of them.
    bool remove(target of, slice<const fragment_name> set);
    bool clear(target of);
    /// Notifies hooks and observers as if the value were assigned.
    void touch(target of, const fragment_data& fragment, std::string_view name);

    /// Marks the value of a living entity as written; see `write_tracker`.
    void mark_written(std::uint64_t e, const fragment_data& fragment) const noexcept;

    /// Puts or, with `keep`, adds the fragment's default value.
    bool put_default(change_kind kind, target of, std::uint64_t f, const char* call);
    /// Adds the default values of the fragments that the entity does not have, in one change.
    bool add_defaults(target of, slice<const fragment_name> set, const char* call);
    /// Stores a copy of a value of the fragment's type.
    void put_raw(target of, std::uint64_t f, const void* value);

    /// Prepares the entity for the fast path of a sparse value; see sparse_toggle.hpp. False if
    /// the change must take the slow path.
    bool prepare_fast_put(target of, sparse_set& set, const char* call);

    // ---- pending changes -----------------------------------------------------------------------

    /// The state of a fragment of an entity when all pending changes are applied.
    struct pending_state {
        bool is_there;
        const journal_entry* entry;  // the entry with the value; null: the present value, if any
        bool is_saved = false;       // the innermost scope can restore this value
        bool is_touched = false;     // the hooks of its assignment will be called
    };
    [[nodiscard]] pending_state pending_state_of(std::uint64_t e, const fragment_data& fragment,
                                                 bool needs_entry);
    struct patched_value {
        void* at;  // null: a tag
        bool is_pending;
    };
    /// Prepares a patch in a scope: saves the value for a cancel of the innermost scope, records
    /// the notification, and returns the value to write: the pending value, or that of the entity.
    /// All or nothing. `name` is that of the type, in messages.
    patched_value begin_patch(target of, const fragment_data& fragment, std::string_view name);
    /// Whether the entity has the fragment; in a scope, whether it will have it when the scope
    /// ends.
    bool will_have(target of, const fragment_data& fragment, const char* call);
    /// Gives the entity a copy of the value that it inherits, unless it has one, or will have one when
    /// the scope ends. Returns whether it has.
    bool own(target of, const fragment_data& fragment, const char* call);
    /// Before a call that stores a value: `find_stored` cannot fail after it, so the call is all or
    /// nothing.
    void prepare_find_stored();
    /// Returns the address of the value that a call has stored: in the world or, in a scope, the
    /// pending value. Null if the entity has none.
    void* find_stored(target of, const fragment_data& fragment, const char* call);

private:
    void require(target of, const char* call) const;
    [[nodiscard]] bool find_local(target of, location& at, const char* call) const;
    bool record(const edit& call);
    void ensure_fragments(const edit& call);
    bool apply_now(const edit& call);
    bool apply_now(target of, slice<const change_shape> shape, bool opens_scope);
    template <class Apply>
    void run(bool opens_scope, Apply apply);
    void prepare_default(std::uint64_t e, fragment_data& fragment, bool is_there);
    bool name_removed(slice<const fragment_name> set, slice<fragment_data* const> there);
    bool remove_sparse(target of, sparse_set& set);
    void record_remove(target of, slice<fragment_data* const> set);

    engine& engine_;
};

}  // namespace MUSTER_NAMESPACE::detail
