// applier: applies a transition to an entity, or to all entities of a chunk. Every change that does
// not take an inline fast path ends here: direct, deferred, parallel and batched changes.
//
//     reserve   memory, default values, room in logs       may throw
//     before    hooks of removed values                    may throw
//     move      values, records, ids                       cannot fail
//     after     hooks of inserted and assigned values      may throw: the move is undone
//     note      logs of observers                          cannot fail
#pragma once

#include <muster/base/scope_guard.hpp>
#include <muster/catalog/catalog.hpp>
#include <muster/engine/chunk_move.hpp>
#include <muster/engine/notifier.hpp>
#include <muster/engine/row_move.hpp>

#include <cstdint>
#include <span>

namespace muster::detail {

class MUSTER_API applier {
public:
    applier(catalog& fragments, notifier& hooks, const row_mover& mover) noexcept
        : catalog_(fragments), notifier_(hooks), mover_(mover) {}
    applier(const applier&) = delete;
    applier& operator=(const applier&) = delete;

    /// Moves the entity once. `values` belong to the changes of the transition; stored values
    /// become empty. All or nothing. The caller has opened a scope for the changes of hooks, and
    /// owns a reference of the transition.
    void apply(std::uint64_t e, const transition& step, std::span<pending_value> values,
               bool is_new_entity) {
        apply(e, step, values, is_new_entity, {}, [] {});
    }
    /// The same, for values that `construct` makes when nothing else can fail any more: an argument
    /// that is moved is not lost. Updates `arguments` that lie in a column.
    template <class Construct>
    void apply(std::uint64_t e, const transition& step, std::span<pending_value> values,
               bool is_new_entity, argument_addresses arguments, Construct construct);
    /// Like `apply`, if the transition only moves bytes and notifies no one. False, and nothing has
    /// changed, if that is not so or memory is needed.
    bool apply_bytes(std::uint64_t e, const transition& step, std::span<const pending_value> values,
                     bool is_new_entity) noexcept;
    /// Moves all entities of the transition's chunk. All or nothing.
    void apply_chunk(const transition& step, std::span<const value_source> values);

private:
    void reserve(std::uint64_t e, const transition& step, argument_addresses arguments);
    void finish(std::uint64_t e, const transition& step, std::span<pending_value> values) noexcept;

    catalog& catalog_;
    notifier& notifier_;
    const row_mover& mover_;
};

template <class Construct>
void applier::apply(std::uint64_t e, const transition& step, std::span<pending_value> values,
                    bool is_new_entity, argument_addresses arguments, Construct construct) {
    const bool calls_at_birth = is_new_entity && notifier_.calls_at_birth();
    const bool calls_after = step.calls_after || calls_at_birth;
    const auto call_after = [&] {
        if (calls_at_birth) notifier_.born(e);
        if (step.calls_after) notifier_.after(step, e);
    };
    reserve(e, step, arguments);
    if (step.moves_bytes && !(calls_after && step.drops)) {
        construct();
        if (step.calls_before) notifier_.before(step, e);
        const std::size_t row = calls_after ? mover_.entities.locate(e).row : 0;
        (void)mover_.entities.move_bytes(e, step, values);
        if (calls_after) {
            scope_guard undo([&] { mover_.undo_bytes(e, step, row); });
            call_after();
            undo.dismiss();
        }
    } else {
        row_move moved(mover_, e, step);
        construct();
        if (step.calls_before) notifier_.before(step, e);
        moved.apply(values);
        scope_guard undo([&] { moved.undo(); });
        if (calls_after) call_after();
        undo.dismiss();
    }
    finish(e, step, values);
}

}  // namespace muster::detail
