// applier: applies a transition to an entity, or to all entities of a chunk. Every change of
// components that does not take a fast path ends here: direct, deferred, parallel and batched ones.
// New rows without hooks (`spawner`) and destroyed entities (`destroyer`) have no transition.
//
//     reserve   memory, default values, room in logs       may throw
//     before    hooks of removed values                    may throw
//     move      values, records, ids                       cannot fail
//     after     hooks of inserted and assigned values      may throw: the move is undone
//     note      logs of observers                          cannot fail
#pragma once

#include <muster/base/slice.hpp>
#include <muster/catalog/catalog.hpp>
#include <muster/engine/notifier.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

struct row_mover;
struct value_source;
class write_tracker;

class MUSTER_API applier {
public:
    applier(catalog& fragments, notifier& hooks, const row_mover& mover,
            const write_tracker& writes, scope_fence& scopes) noexcept
        : catalog_(fragments), notifier_(hooks), mover_(mover), writes_(writes), scopes_(scopes) {}
    applier(const applier&) = delete;
    applier& operator=(const applier&) = delete;

    /// Moves the entity once. `values` belong to the changes of the transition; stored values
    /// become empty. All or nothing. The caller has opened a scope for the changes of hooks, and
    /// owns a reference of the transition.
    void apply(std::uint64_t e, const transition& step, slice<pending_value> values,
               bool is_new_entity);
    /// The same, for values that `construct` makes when nothing else can fail any more: an argument
    /// that is moved is not lost. Updates `arguments` that lie in a column.
    template <class Construct>
    void apply(std::uint64_t e, const transition& step, slice<pending_value> values,
               bool is_new_entity, argument_addresses arguments,
               Construct construct);  // in run.hpp
    /// Like `apply`, if the transition only moves bytes and notifies no one. False, and nothing has
    /// changed, if that is not so or memory is needed.
    bool apply_bytes(std::uint64_t e, const transition& step, slice<const pending_value> values,
                     bool is_new_entity) noexcept;
    /// Applies a transition that `is_plain` except for its hooks, after the steps up to `reserve`.
    /// The caller has constructed the arrivals, if any, behind the rows of the target; the
    /// transition has no `before` then.
    void apply_constructed(std::uint64_t e, const transition& step);
    /// Moves all entities of the transition's chunk. All or nothing.
    void apply_chunk(const transition& step, slice<const value_source> values);

private:
    void reserve(std::uint64_t e, const transition& step, argument_addresses arguments);
    template <class Call, class Undo>
    void call_or_undo(Call call, Undo undo);  // in run.hpp
    void finish(std::uint64_t e, const transition& step, slice<pending_value> values) noexcept;

    catalog& catalog_;
    notifier& notifier_;
    const row_mover& mover_;
    const write_tracker& writes_;
    scope_fence& scopes_;
};

}  // namespace MUSTER_NAMESPACE::detail
