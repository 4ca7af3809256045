// transaction: the open scopes of a world, and what happens when the outermost closes: the recorded
// changes are applied, grouped by entity, or dropped.
#pragma once

#include <muster/base/arena.hpp>
#include <muster/change/change.hpp>
#include <muster/change/journal.hpp>
#include <muster/engine/held_values.hpp>
#include <muster/engine/notifier.hpp>
#include <muster/engine/open_scope.hpp>
#include <muster/storage/transition.hpp>

#include <cstdint>
#include <span>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API transaction final : public scope_fence {
public:
    explicit transaction(engine& owner) noexcept;
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;

    void defer();
    /// Closes the innermost scope. Throws `errc::unbalanced_scope` if `defer` did not open it;
    /// the message names `where`.
    void commit(const std::source_location* where = nullptr);
    void cancel(const std::source_location* where = nullptr);
    void drop_scopes(const open_scope* kept) noexcept override;
    /// Cancels all scopes. Objects that own one may outlive the world.
    void cancel_all() noexcept;

    /// Calls `apply` in a scope for the changes of hooks. They are applied afterwards, or dropped if
    /// `apply` throws. Submitted buffers are applied in any case. Defined in run.hpp.
    template <class Apply>
    void run(Apply apply);

    /// Drops the entries after `to`: restores the values that were patched there, destroys the
    /// recorded values and rolls back the entities created there.
    void rewind(const journal::position& to) noexcept override;
    [[nodiscard]] journal::position recorded() const noexcept override { return journal_.now(); }
    /// Applies all recorded changes and submitted buffers. Throws the first exception of a change,
    /// after all others are applied.
    void apply_recorded();

    // ---- recording: the caller has opened a scope or holds a `record_guard` --------------------

    /// Like `record_value`, all or nothing: needs no guard.
    void record_change(std::uint64_t e, change_kind kind, fragment_data& fragment,
                       const change& given);
    /// Records a value that is copied as bytes, of a fragment that is not sparse. All or nothing.
    void record_bytes(std::uint64_t e, change_kind kind, fragment_data& fragment,
                      const void* value);
    /// Records a value of `e`, which `given` constructs.
    void record_value(std::uint64_t e, change_kind kind, fragment_data& fragment,
                      const change& given);
    /// Records a copy of a value, made as `clone` does or as the type does.
    void record_copy(std::uint64_t e, change_kind kind, fragment_data& fragment, const void* value,
                     bool as_clone);
    /// Records the default value. Throws `errc::no_default` if the fragment has none.
    void record_default(std::uint64_t e, change_kind kind, fragment_data& fragment);
    /// Saves a copy of a value that is about to be patched: the pending value of entry `target` or,
    /// for `journal::none`, the value of the entity. All or nothing.
    void record_save(std::uint64_t e, fragment_data& fragment, std::uint32_t target,
                     const void* value);
    /// Allocates memory for the value of a journal entry: a slot if the fragment is sparse.
    [[nodiscard]] void* take_room(journal_entry& entry);
    /// Destroys the component of an entry, unless it was moved out.
    void end_value(const journal_entry& entry) noexcept;
    void drop_value(journal_entry& entry) noexcept;
    /// Destroys the values of this entry and of those before it in its group, unless moved out.
    void drop_values(std::uint32_t last) noexcept;
    /// Records the word of a fragment that the entity will have.
    void record_word(std::uint64_t e, fragment_data& fragment, std::uint64_t word);

    /// The values of the change that is applied now.
    held_values& held() noexcept { return held_; }
    /// Where the innermost scope began to record.
    [[nodiscard]] const journal::position& start() const noexcept { return innermost_->start_; }

private:
    friend class open_scope;
    void replace(const open_scope& open, open_scope* by) noexcept;
    void restore(journal_entry& saved) noexcept;
    void raise_unbalanced(const char* call, const std::source_location* where) const;
    void apply_journal();
    void apply_group(std::uint32_t which);
    bool apply_like_last(std::uint64_t e, const journal_group& group) noexcept;
    [[nodiscard]] bool combine(std::uint64_t e);
    void apply_changes(std::uint64_t e, bool is_new_entity);
    void destroy_now(target of, const journal_note& note, bool is_new_entity);
    void apply_barrier(const journal_group& group);
    void deliver(const journal_group& group) noexcept;

    engine& engine_;
    journal& journal_;
    held_values held_;
    transition_ref last_;                  // applied to the previous entity, if `apply_bytes` may
    array_list<change_shape> last_shape_;  // its changes
    std::uint64_t last_epoch_ = 0;
    array_list<pending_value> last_values_;  // room for the values of an entity like it
};

/// Guard: when it is destroyed, drops what was recorded since its construction unless `keep` was
/// called.
class record_guard {
public:
    record_guard(transaction& into, const journal& changes) noexcept
        : into_(into), start_(changes.now()) {}
    record_guard(const record_guard&) = delete;
    record_guard& operator=(const record_guard&) = delete;
    ~record_guard() {
        if (!is_kept_) into_.rewind(start_);
    }
    void keep() noexcept { is_kept_ = true; }

private:
    transaction& into_;
    journal::position start_;
    bool is_kept_ = false;
};

}  // namespace MUSTER_NAMESPACE::detail
