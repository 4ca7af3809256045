#include <muster/base/error.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/run.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

namespace {

/// Whether the change affects the entities of a chunk.
bool concerns_chunk(const chunk_data& chunk, const change_shape& step) noexcept {
    if (step.kind == change_kind::keep) return !chunk.has(*step.fragment);
    if (step.kind == change_kind::remove) return chunk.has(*step.fragment);
    return true;
}

/// Returns the chunks for which the predicate holds, followed by the others.
template <class Predicate>
array_list<chunk_data*> first_those(const array_list<chunk_data*>& all, Predicate holds) {
    array_list<chunk_data*> made;
    for (chunk_data* chunk : all)
        if (holds(chunk)) made.push_back(chunk);
    for (chunk_data* chunk : all)
        if (!holds(chunk)) made.push_back(chunk);
    return made;
}

}  // namespace

// ---- by query: recording -----------------------------------------------------------------------

/// Whether one of the changes affects the entity.
bool batch::concerns(std::uint64_t e, slice<const change_shape> shape) const {
    return std::ranges::any_of(shape, [&](const change_shape& step) {
        if (step.kind == change_kind::keep) return !engine_.components.has(e, *step.fragment);
        if (step.kind == change_kind::remove) return engine_.components.has(e, *step.fragment);
        return true;
    });
}

std::size_t batch::count_concerned(const chunk_data& chunk, slice<const change_shape> shape) const {
    if (engine_.catalog.has_sparse_part(shape)) {
        std::size_t count = 0;
        for (std::size_t row = 0; row < chunk.size; ++row)
            count += concerns(chunk.id_at(row), shape) ? 1u : 0u;
        return count;
    }
    if (std::ranges::none_of(shape,
                             [&](const change_shape& step) { return concerns_chunk(chunk, step); }))
        return 0;
    return shape[0].kind == change_kind::destroy ? count_mortal(chunk) : chunk.size;
}

/// Returns how many entities of a chunk a batch may destroy: all except for world-owned ids.
std::size_t batch::count_mortal(const chunk_data& chunk) const noexcept {
    std::size_t count = chunk.size;
    const auto next = [&](std::size_t from) {
        return engine_.entities.next_marked(chunk, from, engine_.marks);
    };
    for (std::size_t row = next(0); row < chunk.size; row = next(row + 1))  // fragments are marked
        count -= engine_.catalog.is_world_owned(chunk.id_at(row)) ? 1u : 0u;
    return count;
}

std::size_t batch::change_all(const target_finder& finder, slice<const change_shape> changes,
                              slice<const void* const> values, const char* call,
                              const std::source_location& where) {
    const writer_guard writer(engine_, call);
    engine_.gate.refuse_in_change(call);
    if (changes.empty()) return 0;
    for (std::size_t i = 0; i < changes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (changes[i].fragment == changes[j].fragment)
                error_reporter::raise_given_twice(*changes[i].fragment);
    batch_targets found;
    finder(found);
    std::size_t count = 0;
    for (const std::uint64_t e : found.ids)
        if (changes[0].kind == change_kind::destroy ? !engine_.catalog.is_world_owned(e)
                                                    : concerns(e, changes))
            ++count;
    for (const chunk_data* chunk : found.chunks) count += count_concerned(*chunk, changes);
    scope whole(engine_);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const auto [fragment, kind, word] = changes[i];
        journal_entry& made =
            i == 0 ? engine_.pending.add_barrier(engine_.entities.null(), kind, fragment)
                   : engine_.pending.extend_barrier(kind, fragment);
        if (i >= values.size() || values[i] == nullptr || fragment->type->size == 0) continue;
        void* const room = engine_.pending.allocate(*fragment->type);
        const busy_guard busy(engine_.gate);
        fragment->type->copy_values(room, values[i], 1, 0);
        made.value = room;
    }
    engine_.pending.annotate(engine_.pending.extend_barrier(change_kind::batch, nullptr),
                             {.where = where, .system = engine_.current_system, .finder = finder});
    whole.commit();
    return count;
}

std::size_t batch::put_defaults(const target_finder& finder, change_kind kind,
                                slice<const std::uint64_t> fragments, const char* call) {
    const writer_guard writer(engine_, call);
    engine_.gate.refuse_in_change(call);
    array_list<change_shape> changes;
    for (const std::uint64_t f : fragments) {
        fragment_data& fragment = engine_.catalog.typed_or_tag(f, nullptr);
        if (!fragment.has_default()) error_reporter::raise_no_default(fragment, fragment.name);
        changes.push_back({&fragment, kind});
    }
    return change_all(finder, {changes.data(), changes.size()}, {}, call);
}

std::size_t batch::remove_all(const target_finder& finder, slice<const std::uint64_t> fragments) {
    array_list<change_shape> changes;
    for (const std::uint64_t f : fragments) {
        if (engine_.entities.is_foreign(f)) engine_.errors.raise_no_fragment(f, "remove", nullptr);
        if (fragment_data* fragment = engine_.fragments.find(f)) {
            if (fragment->alias != nullptr) fragment = fragment->alias;
            if (std::ranges::find(changes, fragment, &change_shape::fragment) == changes.end())
                changes.push_back({fragment, change_kind::remove});
        }
    }
    return change_all(finder, {changes.data(), changes.size()}, {}, "remove");
}

// ---- by query: applying ------------------------------------------------------------------------

void batch::apply(const journal_group& group) {
    const journal& pending = engine_.pending;
    const std::uint32_t last = pending.entry(group.last).previous;
    const scope_guard rest([&] { engine_.transaction.drop_values(last); });
    const journal_note note = *static_cast<journal_note*>(pending.entry(group.last).value);
    array_list<change_shape> shape;
    array_list<value_source> values;
    bool is_lost = false;
    for (std::uint32_t at = last; at != journal::none; at = pending.entry(at).previous) {
        const journal_entry& entry = pending.entry(at);
        is_lost = is_lost || (entry.fragment == nullptr && has_component(entry.kind));
        if (entry.fragment == nullptr && entry.kind == change_kind::remove) continue;
        shape.push_back({entry.fragment, entry.kind});
        values.push_back({entry.value});
    }
    if (is_lost)
        raise(errc::dead_fragment,
              text("a batch is dropped: its fragment was destroyed in the same scope (at ",
                   place_text(note.where), ")"));
    std::ranges::reverse(shape);
    std::ranges::reverse(values);

    batch_targets all;
    note.finder(all);
    const bool destroys = !shape.empty() && shape[0].kind == change_kind::destroy;
    if (destroys && destroy_together(all, note)) return;
    if (all.is_by_id || engine_.catalog.has_sparse_part(shape) || arrange(all, shape, {}))
        return apply_by_id(all, shape, values, note);
    // Chunks that keep their entities come first: others may move entities into them, which would
    // then be changed twice.
    const array_list<chunk_data*> found = first_those(all.chunks, [&](const chunk_data* chunk) {
        return std::ranges::all_of(shape, [&](const change_shape& step) {
            return has_component(step.kind) && chunk->has(*step.fragment);
        });
    });
    each_chunk(found, [&](chunk_data& chunk) {
        if (destroys) return destroy_chunk(chunk, note);
        if (!shape.empty() && shape[0].kind == change_kind::clear && clear_with_sparse(chunk))
            return;
        change_chunk(chunk, shape, values);
    });
}

/// Calls `change` for each chunk that has rows, and returns how many rows changed. An exception
/// does not stop the others; the first is thrown at the end.
template <class Change>
std::size_t batch::each_chunk(slice<chunk_data* const> chunks, Change change) {
    std::size_t count = 0;
    first_error error;
    for (chunk_data* chunk : chunks)
        if (const std::size_t size = chunk->size; size != 0)
            error.attempt([&] {
                change(*chunk);
                count += size;
            });
    error.rethrow();
    return count;
}

/// Like `each_chunk`, for each owner of a fragment.
template <class Change>
std::size_t batch::each_owner(const fragment_data& fragment, Change change) {
    std::size_t count = 0;
    first_error error;
    array_list<std::uint64_t> owners = engine_.components.owners_of(fragment);
    if (fragment.participant != nullptr) (void)fragment.participant->arrange(owners);
    for (const std::uint64_t e : owners)
        error.attempt([&] {
            change(e);
            ++count;
        });
    error.rethrow();
    return count;
}

/// Changes all entities of a chunk, or none.
void batch::change_chunk(chunk_data& chunk, slice<const change_shape> shape,
                         slice<const value_source> values) {
    const transition_ref step =
        engine_.catalog.transition_for(chunk, engine_.entities.null(), shape);
    if (step->from == step->to && step->arrivals.empty() && !step->has_notices) return;
    scope changes(engine_);  // changes of hooks; dropped on failure
    const scope_guard rewind([&] { engine_.scratch.rewind({}); });
    engine_.applier.apply_chunk(*step, values);
    changes.commit();
}

// ---- by query: one entity at a time ------------------------------------------------------------

void batch::apply_by_id(const batch_targets& found, slice<const change_shape> shape,
                        slice<const value_source> values, const journal_note& note) {
    array_list<std::uint64_t> all = found.ids;
    for (const chunk_data* chunk : found.chunks)
        for (std::size_t row = 0; row < chunk->size; ++row) all.push_back(chunk->id_at(row));
    (void)arrange(found, shape, all);
    first_error error;
    for (const std::uint64_t e : all)
        error.attempt([&] {
            if (!shape.empty() && shape[0].kind == change_kind::destroy)
                destroy_one({e, note.where}, note.system);
            else
                change_one(e, shape, values);
        });
    error.rethrow();
}

/// Lets the participants order entities whose values these changes remove. Returns whether a removal
/// concerns other entities, too; see `value_participant::arrange`.
bool batch::arrange(const batch_targets& found, slice<const change_shape> shape,
                    slice<std::uint64_t> all) const {
    array_list<const value_participant*> rooms;
    const auto is_removed = [&](const fragment_data* fragment) {
        return std::ranges::any_of(shape, [&](const change_shape& step) {
            return step.kind == change_kind::clear ||
                   (step.kind == change_kind::remove && step.fragment == fragment);
        });
    };
    const auto add_rooms = [&](const chunk_data& chunk) {
        if (!chunk.has_participants) return;
        for (const fragment_data* fragment : chunk.fragments)
            if (const value_participant* const room = fragment->participant;
                room != nullptr && is_removed(fragment) &&
                std::ranges::find(rooms, room) == rooms.end())
                rooms.push_back(room);
    };
    for (const chunk_data* chunk : found.chunks) add_rooms(*chunk);
    for (const std::uint64_t e : found.ids) add_rooms(engine_.components.chunk_of(e));
    bool concerns_others = false;
    for (const value_participant* room : rooms)
        concerns_others = room->arrange(all) || concerns_others;
    return concerns_others;
}

/// Applies a batch to one entity, completely or not at all.
void batch::change_one(std::uint64_t e, slice<const change_shape> shape,
                       slice<const value_source> values) {
    if (!engine_.entities.alive(e)) return;
    held_values& held = engine_.transaction.held();
    const scope_guard clear([&] { held.clear(); });
    for (std::size_t i = 0; i < shape.size(); ++i) {
        held.add(shape[i], {});
        if (has_component(shape[i].kind) &&
            !(shape[i].kind == change_kind::keep && engine_.components.has(e, *shape[i].fragment)))
            held.construct(i, values[i]);
    }
    scope changes(engine_);  // changes of hooks; dropped on failure
    const transition_ref step =
        engine_.catalog.transition_for(engine_.components.chunk_of(e), e, shape);
    engine_.applier.apply(e, *step, held.values(), false);
    changes.commit();
}

void batch::destroy_one(target of, std::string_view system) {
    if (!engine_.entities.alive(of.id) || engine_.catalog.is_world_owned(of.id)) return;
    const system_guard acts(engine_, system);
    if (engine_.fragments.find(of.id) != nullptr) {  // a barrier: it affects all owners
        engine_.destroyer.record(of);
        return;
    }
    scope changes(engine_);
    engine_.destroyer.destroy_notifying(of);
    changes.commit();
}

/// Clears the entities of a chunk one by one if any has sparse fragments; otherwise returns false.
bool batch::clear_with_sparse(const chunk_data& chunk) {
    if (engine_.sparse.empty()) return false;
    array_list<std::uint64_t> all;
    for (std::size_t row = 0; row < chunk.size; ++row) all.push_back(chunk.id_at(row));
    if (std::ranges::none_of(all, [&](std::uint64_t e) { return engine_.sparse.has_any(e); }))
        return false;
    const change_shape shape[] = {{nullptr, change_kind::clear}};
    const value_source nothing[1];
    first_error error;
    for (const std::uint64_t e : all) error.attempt([&] { change_one(e, shape, nothing); });
    error.rethrow();
    return true;
}

/// Destroys the entities in one operation if others may depend on them. Otherwise returns false.
bool batch::destroy_together(const batch_targets& found, const journal_note& note) {
    destroyer& owner = engine_.destroyer;
    const bool is_depended_on =
        std::ranges::any_of(found.chunks,
                            [&](const auto* c) { return owner.concerns_rooms(*c); }) ||
        std::ranges::any_of(found.ids, [&](auto e) { return owner.concerns_rooms(e); });
    if (!is_depended_on) return false;
    array_list<std::uint64_t> all;
    const auto add = [&](std::uint64_t e) {
        if (engine_.entities.alive(e) && !engine_.catalog.is_world_owned(e)) all.push_back(e);
    };
    for (const std::uint64_t e : found.ids) add(e);
    for (const chunk_data* chunk : found.chunks)
        for (std::size_t row = 0; row < chunk->size; ++row) add(chunk->id_at(row));
    const system_guard acts(engine_, note.system);
    scope changes(engine_);  // changes of hooks; dropped on failure
    owner.destroy_together(all, note.where);
    changes.commit();
    return true;
}

void batch::destroy_chunk(chunk_data& chunk, const journal_note& note) {
    const system_guard acts(engine_, note.system);
    scope changes(engine_);  // changes of hooks; dropped on failure
    engine_.destroyer.destroy_chunk(chunk, note.where);
    changes.commit();
}

// ---- by fragment -------------------------------------------------------------------------------

std::size_t batch::clear_fragment(const fragment_data& fragment) {
    const writer_guard writer(engine_, "clear");
    const bool is_deferred = engine_.gate.is_deferred("clear");
    if (&fragment == &no_fragment) return 0;
    if (fragment.alias != nullptr) return clear_fragment(*fragment.alias);
    fragment_data& known = *engine_.fragments.find(fragment.id);
    if (!is_deferred && !fragment.hooks.has(remove_hooks)) {
        if (known.sparse_values == nullptr || known.implies_on_removal())
            return clear_fragment_now(known);
        const std::size_t size = known.sparse_values->size();
        engine_.destroyer.drop_all(*known.sparse_values);
        return size;
    }
    const std::size_t had_it = engine_.components.count(fragment);
    scope whole(engine_);
    engine_.pending.add_barrier(engine_.entities.null(), change_kind::clear_fragment, &known);
    whole.commit();
    return had_it;
}

std::size_t batch::clear_fragment_now(fragment_data& fragment) {
    const change_shape shape[] = {{&fragment, change_kind::remove}};
    const value_source nothing[1];
    if (fragment.sparse_values != nullptr ||
        (fragment.participant != nullptr && fragment.participant->arrange({})))
        return each_owner(fragment, [&](std::uint64_t e) { change_one(e, shape, nothing); });
    return each_chunk(engine_.components.chunks_of(fragment),
                      [&](chunk_data& chunk) { change_chunk(chunk, shape, nothing); });
}

std::size_t batch::copy_fragment(std::uint64_t from, std::uint64_t to,
                                 const std::source_location& where) {
    const writer_guard writer(engine_, "copy_fragment");
    const bool is_deferred = engine_.gate.is_deferred("copy_fragment");
    const fragment_data& source = engine_.catalog.get(from, "copy_fragment", &where);
    if (!source.can_copy() && source.type->size != 0)
        raise(errc::not_copyable,
              text("the values of ", source.name, " cannot be copied (copy_fragment at ",
                   place_text(where), ")"));
    fragment_data* target = engine_.fragments.find(to);
    if (target == nullptr || target->is_untyped)
        target = &engine_.catalog.adopt_like(source, to, where);
    if (!target->has_same_type(source))
        error_reporter::raise_mismatch(*target, source.type->name, "copy_fragment", &where);
    if (target == &source) return 0;
    if (!is_deferred && !engine_.notifier.has_any()) return copy_fragment_now(source, *target);
    const std::size_t had_it = engine_.components.count(source);
    scope whole(engine_);
    engine_.pending.annotate(engine_.pending.add_barrier(from, change_kind::copy_fragment, target),
                             {.where = where});
    whole.commit();
    return had_it;
}

std::size_t batch::copy_fragment_now(const fragment_data& source, fragment_data& target) {
    const change_shape shape[] = {{&target, change_kind::put}};
    if (source.sparse_values != nullptr || engine_.catalog.has_sparse_part(shape))
        return each_owner(source, [&](std::uint64_t e) {
            const value_source values[] = {{engine_.components.find(e, source), 1, &source}};
            change_one(e, shape, values);
        });
    // Chunks that have both come first: the others move into them, and would be copied twice.
    const array_list<chunk_data*> owners =
        first_those(engine_.components.chunks_of(source),
                    [&](const chunk_data* chunk) { return chunk->has(target); });
    return each_chunk(owners, [&](chunk_data& chunk) {
        const value_source values[] = {{source.base(chunk.index), 1, &source}};
        change_chunk(chunk, shape, values);
    });
}

}  // namespace MUSTER_NAMESPACE::detail
