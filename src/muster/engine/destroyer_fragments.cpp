// The part of destroyer.hpp for fragments, and for entities that are destroyed together.
#include <muster/base/first_error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/engine/run.hpp>
#include <muster/entity/destroy_participant.hpp>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

/// Everything that one operation destroys.
struct destroyer::cascade {
    explicit cascade(const entity_directory& entities) noexcept : dying(entities) {}

    destroy_set dying;
    array_list<fragment_data*> gone;   // the fragments among them
    array_list<fragment_loss> losing;  // of entities that survive: first those for `move_losers`,
    std::size_t moving = 0;            // as many; then, if anyone is notified, owners of `gone`

    void add(fragment_data& fragment) {
        fragment.loss = static_cast<std::uint32_t>(gone.size());
        gone.push_back(&fragment);
    }
    [[nodiscard]] bool has(const fragment_data& fragment) const noexcept {
        return fragment.loss < gone.size() && gone[fragment.loss] == &fragment;
    }
    /// Returns the fragments that entities of this chunk lose, in their order.
    [[nodiscard]] array_list<fragment_data*> losses_of(const chunk_data& chunk) const {
        array_list<fragment_data*> found;
        for (fragment_data* fragment : chunk.fragments)
            if (has(*fragment)) found.push_back(fragment);
        std::ranges::sort(found, {}, &fragment_data::loss);
        return found;
    }
};

/// Collects what is destroyed: destruction cascades to the owners of fragments with
/// `destroys_owners`, and to what the participants add.
void destroyer::collect(slice<const std::uint64_t> first, cascade& all) {
    for (const std::uint64_t e : first) all.dying.add(e);
    std::size_t asked = 0;  // the participants know these
    for (std::size_t i = 0; i < all.dying.size() || asked < all.dying.size();) {
        if (i == all.dying.size()) {
            const std::size_t from = std::exchange(asked, all.dying.size());
            for (destroy_participant* room : participants_) room->collect(all.dying, from);
            continue;
        }
        const std::uint64_t e = all.dying.all()[i++];
        if (!engine_.marks.test(engine_.entities.key_of(e))) continue;
        fragment_data* const fragment = engine_.fragments.find(e);
        if (fragment == nullptr) continue;
        all.add(*fragment);
        if (!fragment->destroys_owners) continue;
        for (const std::uint64_t owner : engine_.components.owners_of(*fragment))
            all.dying.add(owner);
    }
    if (!is_forced_)
        for (const destroy_participant* room : participants_) room->check(all.dying);
    if (engine_.notifier.has_any())
        for (destroy_participant* room : participants_) room->arrange(all.dying);
    for (destroy_participant* room : participants_) room->release(all.dying, all.losing);
    all.losing.erase_if([&](const fragment_loss& lost) { return all.has(*lost.fragment); });
    all.moving = all.losing.size();
    if (engine_.notifier.has_any()) collect_losses(all);
}

/// Lists the owners of destroyed fragments that survive: in the order of chunks, then of fragments;
/// sparse fragments last.
void destroyer::collect_losses(cascade& all) const {
    array_list<chunk_data*> owners;
    for (const fragment_data* fragment : all.gone)
        if (fragment->sparse_values == nullptr && fragment->hooks.has(remove_hooks))
            for (chunk_data* chunk : engine_.components.chunks_of(*fragment))
                owners.push_back(chunk);
    std::ranges::sort(owners, {}, &chunk_data::serial);
    owners.erase(std::ranges::unique(owners).begin(), owners.end());
    for (const chunk_data* chunk : owners)
        for (fragment_data* fragment : all.losses_of(*chunk))
            if (fragment->hooks.has(remove_hooks))
                for (std::size_t row = 0; row < chunk->size; ++row)
                    if (const std::uint64_t e = chunk->id_at(row); !all.dying.has(e))
                        all.losing.push_back({e, fragment});
    for (fragment_data* fragment : all.gone)
        if (fragment->sparse_values != nullptr && fragment->hooks.has(remove_hooks))
            for (const std::uint64_t e : engine_.components.owners_of(*fragment))
                if (!all.dying.has(e)) all.losing.push_back({e, fragment});
}

/// Calls the hooks. One that throws keeps all of them alive.
void destroyer::notify(cascade& all) {
    notifier& hooks = engine_.notifier;
    const std::size_t notes = all.dying.size() + all.losing.size();
    for (const std::uint64_t e : all.dying.all()) hooks.prepare_removal(e, notes);
    for (fragment_data* fragment : all.gone) fragment->hooks.prepare(hook_kind::remove, notes);
    for (std::size_t i = 0; i < all.moving; ++i)
        if (!all.losing[i].is_regrouped)
            all.losing[i].fragment->hooks.prepare(hook_kind::remove, notes);
    first_error ignored;
    const auto call = [&](auto notify_one) {
        if (all.dying.is_undo)
            ignored.attempt(notify_one);
        else
            notify_one();
    };
    for (const std::uint64_t e : all.dying.ordered()) call([&] { hooks.dying(e); });
    for (const fragment_loss& lost : all.losing)
        if (!lost.is_regrouped)
            call([&] { hooks.ending(lost.e, engine_.entities.locate(lost.e), *lost.fragment); });
    // A hook may have made one a fragment, without owners yet.
    for (const std::uint64_t e : all.dying.all())
        if (fragment_data* const used = engine_.fragments.find(e);
            used != nullptr && !all.has(*used))
            all.add(*used);
}

void destroyer::destroy_together(slice<const std::uint64_t> first,
                                 const std::source_location& where) {
    cascade all(engine_.entities);
    all.dying.is_undo = is_undo_;
    scope_guard undo([&] {
        for (destroy_participant* room : participants_) room->cancel(all.dying);
    });
    collect(first, all);
    const slice<const std::uint64_t> dying = all.dying.all();
    for (destroy_participant* room : participants_) room->prepare(all.dying);
    if (engine_.notifier.has_any()) notify(all);
    // Steps that can fail come before the first irreversible one: transitions and room for the
    // owners that survive, and provenance.
    array_list<chunk_data*> owners;
    for (const fragment_data* fragment : all.gone)
        for (chunk_data* chunk : engine_.components.chunks_of(*fragment))
            if (chunk->size != 0) owners.push_back(chunk);
    std::ranges::sort(owners, {}, &chunk_data::serial);
    owners.erase(std::ranges::unique(owners).begin(), owners.end());
    std::vector<chunk_loss> losses;
    std::unordered_map<const chunk_data*, std::size_t> arrivals;  // chunks may share a target
    for (chunk_data* chunk : owners) {
        array_list<change_shape> shape;
        for (fragment_data* fragment : all.losses_of(*chunk))
            shape.push_back({fragment, change_kind::clear_fragment});
        losses.push_back({chunk, build_transition(engine_.graph, *chunk, {}, shape)});
        chunk_data& to = *losses.back().step->to;
        if (to.index != chunk_index{})
            to.prepare_rows(arrivals[&to] += chunk->size, engine_.graph.row_limit(), {});
    }
    // These move after the chunks: a row may lose more fragments than one.
    std::vector<entity_loss> moves;
    std::unordered_map<std::uint64_t, chunk_data*> places;  // where each will be
    for (std::size_t i = 0; i < all.moving; ++i) {
        const auto [e, fragment, is_regrouped, word] = all.losing[i];
        chunk_data*& place = places[e];
        if (place == nullptr) {
            place = &engine_.components.chunk_of(e);
            const auto moved = std::ranges::find(losses, place, &chunk_loss::from);
            if (moved != losses.end()) place = moved->step->to;
        }
        const change_shape shape[] = {
            {fragment, is_regrouped ? change_kind::regroup : change_kind::clear_fragment, word}};
        moves.push_back({e, fragment, {}});
        if (fragment->sparse_values != nullptr) continue;
        moves.back().step = engine_.catalog.transition_for(*place, e, shape);
        place = moves.back().step->to;
        if (place->index != chunk_index{})
            place->prepare_rows(arrivals[place] += 1, engine_.graph.row_limit(), {});
    }
    for (std::size_t i = 0; i < dying.size() && engine_.gate.keeps_provenance; ++i)
        record_provenance({dying[i], where});
    constexpr std::size_t many = 64;
    if (dying.size() >= many && all.gone.empty()) all.dying.divide(engine_.graph);

    undo.dismiss();
    for (destroy_participant* room : participants_) room->finish(all.dying);
    const slice<const std::uint64_t> ordered = all.dying.ordered();
    for (std::size_t i = 0; i < ordered.size() && engine_.notifier.has_any(); ++i)
        engine_.notifier.note_removal(ordered[i]);
    for (const fragment_loss& lost : all.losing)
        if (!lost.is_regrouped) engine_.notifier.note_removal(lost.e, *lost.fragment);
    const slice<const std::uint64_t> rest = all.dying.rest();
    for (std::size_t i = rest.size(); i-- != 0;) finish(rest[i]);
    for (chunk_data* chunk : all.dying.whole()) destroy_rows(*chunk, 0);
    for (const chunk_loss& planned : losses)
        if (planned.from->size != 0) move_rows(*planned.from, *planned.step);
    for (const entity_loss& planned : moves) lose(planned);
    for (fragment_data* owned : all.gone)
        if (owned->sparse_values != nullptr) drop_all(*owned->sparse_values);
    for (fragment_data* owned : all.gone) forget_fragment(*owned);
}

/// Moves an entity that survives, and loses a fragment or changes its group. The target has room for it.
void destroyer::lose(const entity_loss& lost) noexcept {
    if (sparse_set* const set = lost.fragment->sparse_values) {
        engine_.writes.mark(*lost.fragment, {});
        const slot_index slot = set->find(lost.e);
        set->detach(lost.e, slot);
        const busy_guard busy(engine_.gate);
        return set->drop(slot);
    }
    const transition& step = *lost.step;
    if (step.to->index == chunk_index{})
        return engine_.entities.remove_row(lost.e, *step.from, engine_.gate);
    const std::size_t row = engine_.entities.locate(lost.e).row;
    engine_.entities.move_row(lost.e, step, engine_.gate);
    step.from->note_removed(row);
    step.to->note_appended(step.to->size - 1, 1);
    if (engine_.gate.is_tracking()) engine_.writes.mark(step);
}

/// Moves all rows along a transition that drops values. The target has room for them.
void destroyer::move_rows(chunk_data& from, const transition& step) noexcept {
    chunk_data& to = *step.to;
    const bool has_rows = to.index != chunk_index{};
    const std::size_t count = from.size;
    const std::size_t first = has_rows ? to.size : 0;
    const busy_guard busy(engine_.gate);
    for (std::size_t i = 0; i < from.columns.size(); ++i) {
        const column& column = from.columns[i];
        if (step.columns[i] == transition::dropped)
            column.destroy(column.data, count);
        else
            column.relocate(to.columns[step.columns[i]].at(first), column.data, count);
    }
    if (has_rows) {
        std::memcpy(to.ids.at(first), from.ids.data, count * from.ids.size);
        to.size += count;
    }
    engine_.entities.place_rows(has_rows ? to : from, first, count, to.index);
    from.size = 0;
    from.note_truncated();
    to.note_appended(first, count);
}

/// Removes a fragment that no row has any more.
void destroyer::forget_fragment(fragment_data& fragment) noexcept {
    engine_.catalog.forget(fragment);
    const type_index type = fragment.value_type;
    const type_info& info = *fragment.type;
    const bool is_of_type = fragment.is_of_type();
    const journal::entry_range pending = engine_.pending.range_of(fragment);
    sparse_set* const set = fragment.sparse_values;  // holds the pending values
    bool is_awaited = false;  // pending changes of a C++ type apply to its next fragment
    {
        const busy_guard busy(engine_.gate);
        for (std::uint32_t i = pending.first; i < pending.end; ++i) {
            journal_entry& entry = engine_.pending.entry(i);
            if (entry.fragment != &fragment) continue;
            is_awaited = is_of_type;
            if (!is_of_type) drop(entry, fragment);
        }
        if (set != nullptr && !is_awaited) engine_.sparse.remove(*set);
        if (set != nullptr && is_awaited) {
            set->fragment = nullptr;
            engine_.sparse.invalidate_traits();
        }
        fragment.sparse_values = nullptr;
        engine_.fragments.remove(fragment);
    }
    if (is_awaited) rebind({&fragment, pending}, info, type, set);
}

/// Makes a pending change of a destroyed fragment a no-op.
void destroyer::drop(journal_entry& entry, const fragment_data& of) noexcept {
    entry.fragment = nullptr;
    if (!has_component(entry.kind) && entry.kind != change_kind::save) return;
    end_pending(of, component_of(entry), entry.slot);
    entry.value = nullptr;
    entry.slot = no_slot;
}

/// Assigns the pending changes of a destroyed fragment to the next fragment of its type; drops them
/// if there is no memory for that. `set` holds the values if they are sparse.
void destroyer::rebind(const orphans& pending, const type_info& info, type_index type,
                       sparse_set* set) noexcept {
    fragment_data* next = nullptr;
    first_error ignored;
    ignored.attempt([&] { next = &engine_.catalog.ensure(type, info); });
    fragment_data placeholder;
    placeholder.type = &info;
    placeholder.sparse_values = set;
    const busy_guard busy(engine_.gate);
    for (std::uint32_t i = pending.entries.first; i < pending.entries.end; ++i) {
        journal_entry& entry = engine_.pending.entry(i);
        if (entry.fragment != pending.of) continue;
        if (next == nullptr) {
            drop(entry, placeholder);
            continue;
        }
        entry.fragment = next;
        engine_.pending.mark(*next, i);
    }
    if (set == nullptr) return;
    if (next != nullptr) return engine_.sparse.hand_over(*set, *next);
    set->fragment = &placeholder;
    engine_.sparse.remove(*set);
}

}  // namespace MUSTER_NAMESPACE::detail
