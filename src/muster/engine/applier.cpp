#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/run.hpp>

namespace MUSTER_NAMESPACE::detail {

bool applier::apply_bytes(std::uint64_t e, const transition& step,
                          slice<const pending_value> values, bool is_new_entity) noexcept {
    if (!step.moves_bytes || step.has_notices || !step.types_fixed.empty() ||
        (is_new_entity && notifier_.calls_at_birth()) ||
        (step.from != step.to && step.to->size == step.to->capacity &&
         step.to->index != chunk_index{}))
        return false;
    return mover_.entities.move_bytes(e, step, values);
}

void applier::apply(std::uint64_t e, const transition& step, slice<pending_value> values,
                    bool is_new_entity) {
    apply(e, step, values, is_new_entity, {}, [] {});
}

void applier::apply_constructed(std::uint64_t e, const transition& step) {
    chunk_data& from = *step.from;
    const chunk_data& to = *step.to;
    const location at = mover_.entities.locate(e);
    if (step.calls_before) notifier_.before(step, e, at);
    if (to.index != chunk_index{})
        mover_.entities.move_row(e, step, mover_.changes);
    else
        mover_.entities.remove_row(e, from, mover_.changes);
    if (step.calls_after)
        call_or_undo([&] { notifier_.after(step, e, {to.index, to.size - 1}); },
                     [&] { mover_.undo_bytes(e, step, at.row); });
    if (step.has_notices) notifier_.note(step, e);
}

void applier::reserve(std::uint64_t e, const transition& step, argument_addresses arguments) {
    if (step.from->has_guests && !step.sparse_changes.empty())
        raise(errc::foreign_entity,
              text("sparse fragments of ", mover_.entities.text_of(e),
                   " cannot change: it was issued by another world, and has only rows here"));
    if (step.from != step.to && step.to->index != chunk_index{})
        step.to->prepare_rows(1, mover_.graph.row_limit(), arguments);
    if (step.has_notices) notifier_.prepare(step, 1);
    for (const transition::sparse_change& change : step.sparse_changes)
        if (change.is_inserted) catalog_.mark_for_destroy(e);
}

void applier::finish(std::uint64_t e, const transition& step,
                     slice<pending_value> values) noexcept {
    if (step.has_notices) notifier_.note(step, e);
    if (mover_.changes.is_tracking()) writes_.mark(step);
    for (const transition::arrival& arrival : step.arrivals)
        if (arrival.given != transition::none) values[arrival.given] = {};
    for (const transition::sparse_change& change : step.sparse_changes)
        if (change.given != transition::none) values[change.given] = {};
    catalog_.fix_types(step.types_fixed);
}

void applier::apply_chunk(const transition& step, slice<const value_source> values) {
    notifier_.prepare(step, step.from->size);
    chunk_move all(mover_, step, values);
    for (std::size_t i = 0; step.calls_before && i < all.count(); ++i)
        notifier_.before(step, step.from->id_at(i), {step.from->index, i});
    all.apply();
    const auto call_after = [&] {
        for (std::size_t i = 0; i < all.count(); ++i)
            notifier_.after(step, all.id_at(i), mover_.entities.locate(all.id_at(i)));
    };
    if (step.calls_after) call_or_undo(call_after, [&] { all.undo(); });
    if (step.keeps_last) all.keep_last();
    for (std::size_t i = 0; step.has_notices && i < all.count(); ++i)
        notifier_.note(step, all.id_at(i));
    if (mover_.changes.is_tracking()) writes_.mark(step);
    catalog_.fix_types(step.types_fixed);
}

}  // namespace MUSTER_NAMESPACE::detail
