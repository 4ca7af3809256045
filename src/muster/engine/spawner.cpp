#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/small_list.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/run.hpp>
#include <muster/engine/staging.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

namespace {

/// Makes room for a row, and updates the addresses of values that lie in a column of the chunk.
void make_room(chunk_data& into, std::size_t limit, slice<change> values) {
    if (into.index == chunk_index{}) return;
    if (into.size != into.capacity) return into.prepare_rows(1, limit, {});
    small_list<const void*> from(values.size());
    for (const change& given : values) from.push_back(given.self);
    into.prepare_rows(1, limit, {from.data(), from.size()});
    for (std::size_t i = 0; i < values.size(); ++i) values[i].self = from[i];
}

bool sets_words(slice<const change> values) {
    return std::ranges::any_of(values, &change::sets_word);
}

}  // namespace

// ---- rows --------------------------------------------------------------------------------------

/// Constructs the values of `count` rows after the last, except for those that the caller writes.
/// All or none.
void spawner::write_rows(chunk_data& into, std::size_t count, const row_values& given,
                         const row_origin& origin) {
    std::size_t done = 0;  // columns with values
    const busy_guard busy(engine_.gate);
    scope_guard rollback([&] {
        for (std::size_t i = 0; i < done; ++i) {
            const column& column = into.columns[i];
            const bool is_given = given.find(column.fragment) != nullptr;
            if (is_given ? !given.relocates : !origin.writes(*column.fragment))
                column.destroy(column.at(into.size), count);
        }
    });
    for (const column& source : into.columns) {
        const fragment_data& fragment = *source.fragment;
        std::byte* const to = source.at(into.size);
        if (const void* const* const value = given.find(&fragment)) {
            if (!given.relocates) source.type->copy_values(to, *value, count, given.step);
        } else if (origin.writes(fragment)) {
            // the caller does
        } else if (origin.copies(fragment)) {
            fragment.copy_value(to, fragment.base(origin.from->index) + origin.row * source.size,
                                count);
        } else {
            fragment.default_construct(to, count);
        }
        ++done;
    }
    rollback.dismiss();
}

void spawner::refuse_without_default(const chunk_data& into, const row_origin& origin,
                                     const row_values& given) const {
    for (const column& source : into.columns) {
        const fragment_data& fragment = *source.fragment;
        if (given.find(&fragment) != nullptr || origin.writes(fragment) || fragment.has_default() ||
            origin.copies(fragment))
            continue;
        raise(errc::no_default, text(fragment.name,
                                     " is needed but has no default value: pass a value "
                                     "or define a default"));
    }
}

void spawner::refuse_uncopyable(target prototype, const chunk_data& part,
                                const chunk_data& given) const {
    for (const column& source : part.columns)
        if (!source.fragment->can_copy() && !given.has(*source.fragment))
            engine_.errors.raise_no_clone(prototype, *source.fragment);
}

/// Moves the given values to the row after the last.
void spawner::construct_given(chunk_data& into, slice<const change> values,
                              slice<fragment_data* const> fragments) noexcept {
    const busy_guard busy(engine_.gate);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t size = fragments[i]->type->size;
        if (size == 0) continue;
        values[i].construct_at(fragments[i]->base(into.index) + into.size * size, size);
    }
}

/// Creates the ids of `count` rows, whose values are constructed.
void spawner::append_rows(chunk_data& into, std::size_t count) noexcept {
    if (count != 0) engine_.catalog.fix_types(into.fragments);
    engine_.entities.create_rows(into, count);
    into.note_appended(into.size - count, count);
}

/// Appends the row after the last, whose values are constructed, for this id.
std::uint64_t spawner::append_row(chunk_data& into, std::uint64_t made) noexcept {
    if (into.index == chunk_index{}) return made;
    engine_.catalog.fix_types(into.fragments);
    engine_.entities.place(made, {into.index, into.size});
    into.set_id(into.size++, made);
    into.note_appended(into.size - 1, 1);
    return made;
}

// ---- one entity --------------------------------------------------------------------------------

std::uint64_t spawner::spawn(slice<change> values, const target* wanted) {
    const writer_guard writer(engine_, "spawn");
    if (wanted == nullptr && engine_.gate.is_parallel())
        return engine_.parallel.record_spawn(values);
    if (engine_.gate.is_deferred("spawn")) return record_spawn(values, wanted);
    small_list<fragment_data*> fragments(values.size());
    for (const change& given : values) fragments.push_back(&engine_.catalog.ensure(given, nullptr));
    chunk_data& given = engine_.catalog.ensure_set(fragments);
    chunk_data& into = engine_.catalog.cloned_chunk(engine_.graph.empty_chunk(), given);
    const bool has_sparse = engine_.catalog.has_sparse_part(given);
    if (!has_sparse && !engine_.notifier.notifies_first(into, given) && !sets_words(values) &&
        !engine_.catalog.is_ordered(given))
        return spawn_now(group_of(into, values, fragments), given, values, fragments, wanted);
    return spawn_notifying([](held_values&) {}, values, fragments, engine_.graph.empty_chunk(),
                           wanted, has_sparse || wanted != nullptr);
}

/// Returns the chunk of the same fragments for an entity that receives these values.
chunk_data& spawner::group_of(chunk_data& into, slice<const change> values,
                              slice<fragment_data* const> fragments) {
    if (into.words.empty()) return into;
    array_list<std::uint64_t> words;
    for (const fragment_data* fragment : into.fragments) {
        if (!fragment->has_word) continue;
        const auto given =
            static_cast<std::size_t>(std::ranges::find(fragments, fragment) - fragments.begin());
        const bool has_room = given != fragments.size() && fragment->participant != nullptr;
        words.push_back(has_room ? fragment->participant->word_of(values[given].self) : 0);
    }
    return engine_.graph.regroup(into, words);
}

/// Creates an entity that notifies participants at most, and has no sparse fragments.
std::uint64_t spawner::spawn_now(chunk_data& into, chunk_data& given, slice<change> values,
                                 slice<fragment_data* const> fragments, const target* wanted) {
    const row_origin origin{.written = &given};
    if (wanted != nullptr) engine_.entities.refuse_at(*wanted);
    refuse_without_default(into, origin, {});
    make_room(into, engine_.graph.row_limit(), values);
    if (wanted == nullptr) engine_.entities.prepare(1);
    for (std::size_t i = 0; into.has_participants && i < values.size(); ++i)
        if (value_participant* const room = fragments[i]->participant)
            room->prepare_first(values[i].self);
    write_rows(into, 1, {}, origin);
    scope_guard rollback([&] {
        for (const column& source : into.columns)
            if (!given.has(*source.fragment)) source.destroy(source.at(into.size), 1);
    });
    if (wanted != nullptr) engine_.entities.create_at(wanted->id);
    rollback.dismiss();
    construct_given(into, values, fragments);
    const std::size_t row = into.size;
    const std::uint64_t made =
        append_row(into, wanted != nullptr ? wanted->id : engine_.entities.create());
    for (std::size_t i = 0; into.has_participants && i < values.size(); ++i)
        if (value_participant* const room = fragments[i]->participant)
            room->commit_first(made,
                               fragments[i]->base(into.index) + row * fragments[i]->type->size);
    return made;
}

void spawner::take_back(id_span made) noexcept {
    first_error ignored;
    for (std::size_t i = 0; i < made.count; ++i)
        ignored.attempt([&] { (void)engine_.destroyer.destroy({made.at(i), {}}); });
    for (std::size_t i = 0; i < made.count; ++i) engine_.destroyer.rollback_spawn(made.at(i));
}

/// Creates an entity with these values and those that `fill` adds. Hooks and observers are notified.
/// Values that set no words take those of the chunk `like`.
template <class Fill>
std::uint64_t spawner::spawn_notifying(Fill fill, slice<change> values,
                                       slice<fragment_data* const> fragments,
                                       const chunk_data& like, const target* wanted,
                                       bool opens_scope) {
    if (wanted != nullptr) engine_.entities.refuse_at(*wanted);
    std::uint64_t made = wanted != nullptr ? wanted->id : engine_.entities.create();
    held_values& held = engine_.transaction.held();
    scope_guard rollback([&] {
        held.clear();
        if (wanted == nullptr) engine_.entities.undo_create(made);
    });
    fill(held);
    const std::size_t first = held.shape().size();
    small_list<const void*> from(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const fragment_data& fragment = *fragments[i];
        const std::uint64_t word = values[i].sets_word ? values[i].word
                                   : fragment.has_word && fragment.participant != nullptr
                                       ? fragment.participant->word_of(values[i].self)
                                       : like.word_of(fragment);
        held.add({fragments[i], change_kind::put, word}, {});
        from.push_back(values[i].self);
    }
    const transition_ref step =
        engine_.catalog.transition_for(engine_.graph.empty_chunk(), made, held.shape());
    bool is_constructed = false;
    const auto construct = [&] {
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i].self = from[i];
            held.construct(first + i, values[i]);
        }
        is_constructed = true;
    };
    if (wanted != nullptr) {
        construct();  // before the version of the id is spent
        engine_.entities.create_at(made);
    }
    const auto apply = [&] {
        scope_guard end([&] {
            held.clear();
            if (is_constructed)  // hooks may have seen it
                engine_.destroyer.rollback_spawn(made);
            else
                engine_.destroyer.undo_create(made);
        });
        engine_.applier.apply(made, *step, held.values(), true, {from.data(), from.size()}, [&] {
            if (wanted == nullptr) construct();
        });
        end.dismiss();
        held.clear();
    };
    rollback.dismiss();
    // A scope is for the changes of hooks, which are dropped on failure.
    if (opens_scope || step->calls_hooks() || engine_.notifier.calls_at_birth())
        finish({reinterpret_cast<std::byte*>(&made), 1}, [&] { engine_.transaction.run(apply); });
    else
        apply();
    return made;
}

std::uint64_t spawner::record_new_id() {
    engine_.pending.reserve_one();
    const std::uint64_t made = engine_.entities.create();
    engine_.pending.record_spawn(made);
    return made;
}

/// Records an entity that is alive, and empty, until its values are added.
template <class Record>
std::uint64_t spawner::record_entity(Record record, const target* wanted) {
    record_guard guard(engine_.transaction, engine_.pending);
    if (wanted != nullptr) engine_.entities.refuse_at(*wanted);
    const std::uint64_t made = wanted != nullptr ? wanted->id : engine_.entities.create();
    scope_guard undo([&] {
        if (wanted == nullptr) engine_.entities.undo_create(made);
    });
    record(made);
    engine_.pending.reserve_one();
    if (wanted != nullptr) engine_.entities.create_at(made);
    engine_.pending.record_spawn_last(made);
    undo.dismiss();
    guard.keep();
    return made;
}

std::uint64_t spawner::record_spawn(slice<change> values, const target* wanted) {
    const bool is_by_id =
        std::ranges::any_of(values, [](const change& given) { return !given.fragment.is_typed(); });
    if (is_by_id && values.size() > 1) {  // throws if a fragment is named twice
        small_list<fragment_data*> fragments(values.size());
        for (const change& given : values)
            fragments.push_back(&engine_.catalog.ensure(given, nullptr));
        (void)engine_.catalog.ensure_set(fragments);
    }
    return record_entity(
        [&](std::uint64_t made) {
            for (const change& given : values) {
                fragment_data& fragment = engine_.catalog.ensure(given, nullptr);
                engine_.transaction.record_value(made, change_kind::put, fragment, given);
                if (given.sets_word) engine_.transaction.record_word(made, fragment, given.word);
            }
        },
        wanted);
}

// ---- clones ------------------------------------------------------------------------------------

std::uint64_t spawner::clone(target prototype, slice<change> values) {
    const writer_guard writer(engine_, "clone");
    const bool is_deferred = engine_.gate.is_deferred("clone");
    location at;
    if (!engine_.entities.find(prototype.id, at))
        engine_.errors.raise_not_alive(prototype, "clone");
    engine_.errors.refuse_away(prototype, at, "clone");
    small_list<fragment_data*> fragments(values.size());
    for (const change& value : values)
        fragments.push_back(&engine_.catalog.ensure(value, &prototype.where));
    chunk_data& given = engine_.catalog.ensure_set(fragments);
    if (is_deferred)
        return record_entity(
            [&](std::uint64_t made) {
                record_copies(made, prototype, given);
                for (std::size_t i = 0; i < values.size(); ++i) {
                    engine_.transaction.record_value(made, change_kind::put, *fragments[i],
                                                     values[i]);
                    if (values[i].sets_word)
                        engine_.transaction.record_word(made, *fragments[i], values[i].word);
                    else if (const std::uint64_t word =
                                 engine_.graph.at(at.chunk).word_of(*fragments[i]);
                             word != 0)
                        engine_.transaction.record_word(made, *fragments[i], word);
                }
            },
            nullptr);
    chunk_data& original = engine_.graph.at(at.chunk);
    chunk_data& part = engine_.catalog.cloned_part(original);
    chunk_data& into = engine_.catalog.cloned_chunk(part, given);
    if (engine_.catalog.has_sparse_part(given) || engine_.catalog.has_sparse_part(part) ||
        engine_.sparse.has_any(prototype.id) || engine_.notifier.notifies_insert(into) ||
        sets_words(values) || engine_.catalog.is_ordered(given) || engine_.catalog.is_ordered(part))
        return spawn_notifying([&](held_values& held) { hold_copies(held, prototype, given); },
                               values, fragments, part, nullptr, true);
    engine_.entities.prepare(1);
    if (into.index == chunk_index{}) return engine_.entities.create();
    refuse_uncopyable(prototype, part, given);
    const row_origin origin{.copied = &part, .from = &original, .row = at.row, .written = &given};
    refuse_without_default(into, origin, {});
    make_room(into, engine_.graph.row_limit(), values);
    write_rows(into, 1, {}, origin);
    construct_given(into, values, fragments);
    return append_row(into, engine_.entities.create());
}

/// Constructs copies of the prototype's values for its clone.
void spawner::hold_copies(held_values& held, target prototype, const chunk_data& given) {
    const chunk_data& original = engine_.components.chunk_of(prototype.id);
    for (fragment_data* owned : engine_.components.fragments_of(prototype.id)) {
        if (owned->is_unique || given.has(*owned)) continue;
        if (owned->type->size != 0 && !owned->can_copy())
            engine_.errors.raise_no_clone(prototype, *owned);
        held.add({owned, change_kind::put, original.word_of(*owned)}, {});
        held.construct(held.shape().size() - 1,
                       value_source{engine_.components.find(prototype.id, *owned), 0, owned});
    }
}

/// Records copies of the prototype's values for its clone, and of the changes pending for it.
void spawner::record_copies(std::uint64_t made, target prototype, const chunk_data& given) {
    const auto copy = [&](change_kind kind, fragment_data& fragment, const void* value) {
        if (fragment.is_unique || given.has(fragment)) return;
        if (fragment.type->size != 0 && !fragment.can_copy())
            engine_.errors.raise_no_clone(prototype, fragment);
        engine_.transaction.record_copy(made, kind, fragment, value, true);
    };
    const auto drop = [&](fragment_data* fragment) {
        if (fragment != nullptr) engine_.pending.add(made, change_kind::remove, fragment);
    };
    const chunk_data& original = engine_.components.chunk_of(prototype.id);
    for (fragment_data* owned : engine_.components.fragments_of(prototype.id)) {
        copy(change_kind::put, *owned, engine_.components.find(prototype.id, *owned));
        if (const std::uint64_t word = original.word_of(*owned); word != 0)
            engine_.transaction.record_word(made, *owned, word);
    }
    for (const std::uint32_t at : engine_.pending.dependency_of(prototype.id)) {
        // A copy: adding entries may reallocate.
        const journal_entry entry = engine_.pending.entry(at);
        if (entry.kind == change_kind::clear)
            engine_.pending.add(made, entry.kind, nullptr);
        else if (entry.kind == change_kind::destroy)  // the id may be a fragment
            drop(engine_.fragments.find(engine_.pending.group(entry.group).id));
        else if (entry.kind == change_kind::remove || entry.kind == change_kind::clear_fragment)
            drop(entry.fragment);
        else if (entry.kind == change_kind::regroup && entry.fragment != nullptr)
            engine_.transaction.record_word(made, *entry.fragment,
                                            static_cast<const journal_note*>(entry.value)->count);
        else if (entry.fragment != nullptr && has_component(entry.kind))
            copy(entry.kind, *entry.fragment, entry.value);
    }
}

// ---- many entities -----------------------------------------------------------------------------

void spawner::spawn_many(id_span out, chunk_data& given_chunk, const row_values& given) {
    const writer_guard writer(engine_, "spawn");
    const bool is_empty = given_chunk.fragments.empty();
    if (engine_.gate.is_deferred("spawn")) return record_many(out, given_chunk, given, nullptr);
    if (engine_.catalog.has_sparse_part(given_chunk))
        return stage_many(out, given_chunk, given, nullptr);
    if (is_empty && engine_.notifier.calls_at_birth()) return spawn_empty(out);
    if (is_empty) return engine_.entities.create_all(out);
    chunk_data& into = engine_.catalog.cloned_chunk(engine_.graph.empty_chunk(), given_chunk);
    create_rows(into, out.count, given, {});
    show_rows(out, into);
}

/// Creates rows with these values, all or none.
void spawner::create_rows(chunk_data& into, std::size_t count, const row_values& given,
                          const row_origin& origin) {
    refuse_without_default(into, origin, given);
    into.refuse_rows(count, engine_.graph.row_limit());
    engine_.entities.prepare(count);
    into.prepare_rows(count, engine_.graph.row_limit(), given.values);
    write_rows(into, count, given, origin);
    append_rows(into, count);
}

/// Notifies hooks of the new rows, the last of this chunk, and copies their ids to `out`.
void spawner::show_rows(id_span out, chunk_data& into) {
    const std::size_t first = into.size - out.count;
    const id_span made{into.ids.at(first), out.count, out.width};
    if (engine_.notifier.notifies_insert(into)) {
        scope_guard rollback([&] { engine_.destroyer.destroy_rows(into, first); });
        const kept_ids kept(made);  // may throw: no hook and no observer has seen the rows yet
        scope whole(engine_);
        engine_.notifier.inserted(made, into.fragments);
        rollback.dismiss();
        finish(kept.all, [&] { whole.commit(); });
        return kept.all.copy_to(out);
    }
    made.copy_to(out);
}

/// Creates entities without components, all or none, and notifies hooks.
void spawner::spawn_empty(id_span out) {
    const kept_ids kept(out);  // `out` itself changes only if the call succeeds
    const id_span made = kept.all;
    engine_.entities.create_all(made);
    scope_guard rollback([&] {
        for (std::size_t i = made.count; i-- != 0;) engine_.destroyer.rollback_spawn(made.at(i));
    });
    scope whole(engine_);
    for (std::size_t i = 0; i < made.count; ++i) engine_.notifier.born(made.at(i));
    rollback.dismiss();
    finish(made, [&] { whole.commit(); });
    made.copy_to(out);
}

/// `spawn_many` or, with a prototype, `clone_many`, with sparse fragments.
void spawner::stage_many(id_span out, const chunk_data& given_chunk, const row_values& given,
                         const target* prototype) {
    engine_.entities.prepare(out.count);
    staging made(engine_, out.count);
    made.construct(given_chunk, given, prototype);
    scope whole(engine_);
    made.commit();
    finish(made.ids(), [&] { whole.commit(); });
    made.ids().copy_to(out);
}

/// Records `spawn_many` or, with a prototype, `clone_many`.
void spawner::record_many(id_span out, chunk_data& given_chunk, const row_values& given,
                          const target* prototype) {
    array_list<std::uint64_t> all(out.count);
    record_guard guard(engine_.transaction, engine_.pending);
    if (prototype != nullptr)
        engine_.errors.refuse_away(*prototype, engine_.entities.locate(prototype->id), "clone");
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = record_new_id();
        if (prototype != nullptr) record_copies(all[i], *prototype, given_chunk);
        for (fragment_data* owned : given_chunk.fragments) {
            const void* const* const value = given.find(owned);
            if (value == nullptr) {
                engine_.transaction.record_default(all[i], change_kind::put, *owned);
                continue;
            }
            const auto* const first = static_cast<const std::byte*>(*value);
            engine_.transaction.record_copy(all[i], change_kind::put, *owned,
                                            first + i * given.step * owned->type->size, false);
        }
        for (fragment_data* owned : given_chunk.fragments) {
            if (!owned->has_word) continue;
            const chunk_data& original = prototype != nullptr
                                             ? engine_.components.chunk_of(prototype->id)
                                             : engine_.graph.empty_chunk();
            engine_.transaction.record_word(all[i], *owned,
                                            catalog::joined_word(original, given_chunk, *owned));
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) out.set(i, all[i]);
    guard.keep();
}

}  // namespace MUSTER_NAMESPACE::detail
