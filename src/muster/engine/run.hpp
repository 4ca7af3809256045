// run: the templates with which the sources of the engine apply changes.
#pragma once

#include <muster/base/first_error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/slice.hpp>
#include <muster/engine/chunk_move.hpp>
#include <muster/engine/engine.hpp>
#include <muster/engine/row_move.hpp>

namespace MUSTER_NAMESPACE::detail {

template <class Apply>
void transaction::run(Apply apply) {
    first_error error;
    bool is_done = false;
    scope changes(engine_);
    error.attempt([&] {
        apply();
        is_done = true;
    });
    if (is_done) return changes.commit();
    changes.cancel();
    if (engine_.submissions.has_submissions())
        error.attempt([&] { engine_.parallel.apply_submitted(); });
    error.rethrow();
}

template <class Call>
void spawner::finish(id_span made, Call call) {
    scope_guard undo([&] { take_back(made); });
    call();
    undo.dismiss();
}

/// Calls hooks after a move. If one throws, undoes first what they have patched, then the move.
template <class Call, class Undo>
void applier::call_or_undo(Call call, Undo undo) {
    const journal::position start = scopes_.recorded();
    scope_guard rollback([&] {
        scopes_.rewind(start);
        undo();
    });
    call();
    rollback.dismiss();
}

template <class Construct>
void applier::apply(std::uint64_t e, const transition& step, slice<pending_value> values,
                    bool is_new_entity, argument_addresses arguments, Construct construct) {
    const bool calls_at_birth = is_new_entity && notifier_.calls_at_birth();
    const bool calls_after = step.calls_after || calls_at_birth;
    const auto call_before = [&] {
        if (step.calls_before) notifier_.before(step, e, mover_.entities.locate(e));
    };
    const auto call_after = [&] {
        if (calls_at_birth) notifier_.born(e);
        if (step.calls_after) notifier_.after(step, e, mover_.entities.locate(e));
    };
    reserve(e, step, arguments);
    if (step.moves_bytes && !(calls_after && step.drops)) {
        construct();
        call_before();
        const std::size_t row = calls_after ? mover_.entities.locate(e).row : 0;
        (void)mover_.entities.move_bytes(e, step, values);
        if (calls_after) call_or_undo(call_after, [&] { mover_.undo_bytes(e, step, row); });
    } else {
        row_move moved(mover_, e, step);
        construct();
        call_before();
        moved.apply(values);
        if (calls_after) call_or_undo(call_after, [&] { moved.undo(); });
        if (step.keeps_last) moved.keep_last();
    }
    finish(e, step, values);
}

}  // namespace MUSTER_NAMESPACE::detail
