// The part of spawner.hpp for limits, for rows that the caller fills, and for fragments.
#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/run.hpp>
#include <muster/engine/staging.hpp>

#include <algorithm>
#include <memory>

namespace MUSTER_NAMESPACE::detail {

// ---- limits ------------------------------------------------------------------------------------

void spawner::refuse_many(std::size_t count) {
    const writer_guard writer(engine_, "spawn");
    engine_.gate.refuse_in_change("spawn");
    engine_.entities.refuse_overflow(count);
}

void spawner::refuse_rows(std::size_t count, chunk_data& given_chunk, const target* prototype) {
    const std::size_t limit = engine_.graph.row_limit();
    chunk_data& original = prototype == nullptr ? engine_.graph.empty_chunk()
                                                : engine_.components.chunk_of(prototype->id);
    const bool has_rows =
        !original.fragments.empty() ||
        std::ranges::any_of(given_chunk.fragments, [](const fragment_data* given) {
            return given->sparse_values == nullptr;
        });
    if (has_rows && count > limit) given_chunk.refuse_rows(count, limit);
    for (const fragment_data* fragment : given_chunk.fragments)
        if (fragment->sparse_values != nullptr) fragment->sparse_values->refuse_beyond(count);
    if (engine_.gate.is_deferred("spawn")) return;  // changes in the scope may make room
    // Creates the chunks that the call will create, in the same order. Sparse values need no rows.
    chunk_data& part = engine_.catalog.cloned_part(original);
    if ((prototype != nullptr && engine_.sparse.has_any(prototype->id)) ||
        engine_.catalog.has_sparse_part(given_chunk) || engine_.catalog.has_sparse_part(part))
        return;
    const chunk_data& into = engine_.catalog.cloned_chunk(part, given_chunk);
    if (into.index != chunk_index{}) into.refuse_rows(count, limit);
}

// ---- rows that the caller fills ----------------------------------------------------------------

void spawner::spawn_rows(std::size_t count, chunk_data& given_chunk, const row_values& given,
                         const row_filler& fill) {
    const writer_guard writer(engine_, "spawn");
    if (engine_.gate.is_deferred("spawn")) {
        chunk_data staged;  // outside of the graph
        scope whole(engine_);
        stage_rows(staged, count, given_chunk, given);
        fill(staged, 0);
        record_rows(staged);
        return whole.commit();
    }
    if (engine_.catalog.has_sparse_part(given_chunk)) {
        staging made(engine_, count);
        made.construct(given_chunk, given, nullptr);
        made.create();
        scope whole(engine_);
        fill(made.rows(), 0);
        made.commit();
        return finish(made.ids(), [&] { whole.commit(); });
    }
    chunk_data& into = engine_.catalog.cloned_chunk(engine_.graph.empty_chunk(), given_chunk);
    create_rows(into, count, given, {});
    const std::size_t first = into.size - count;
    scope_guard rollback([&] { engine_.destroyer.destroy_rows(into, first); });
    scope whole(engine_);
    fill(into, first);
    const bool notifies = engine_.notifier.notifies_insert(into);
    const bool is_final =
        !notifies && engine_.pending.empty() && !engine_.submissions.has_submissions();
    // May throw: no hook and no observer has seen the rows yet.
    const kept_ids kept({into.ids.at(first), is_final ? 0 : count, into.ids.size});
    if (notifies)
        engine_.notifier.inserted({into.ids.at(first), count, into.ids.size}, into.fragments);
    rollback.dismiss();
    finish(kept.all, [&] { whole.commit(); });
}

// ---- rows with exact ids -----------------------------------------------------------------------

/// Throws if two ids have the same key.
void spawner::refuse_equal_keys(id_span wanted) const {
    const auto key = [&](std::uint64_t e) { return engine_.entities.key_of(e); };
    bool is_ascending = true;
    for (std::size_t i = 1; i < wanted.count; ++i)
        is_ascending = is_ascending && key(wanted.at(i - 1)) < key(wanted.at(i));
    if (is_ascending) return;
    array_list<std::uint64_t> all;
    all.reserve(wanted.count);
    for (std::size_t i = 0; i < wanted.count; ++i) all.push_back(wanted.at(i));
    std::ranges::sort(all, {}, key);
    const auto* const twice = std::ranges::adjacent_find(all, {}, key);
    if (twice != all.end())
        raise(errc::id_taken, text("two of the ids to create have the same key: ",
                                   engine_.entities.text_of(twice[0]), " and ",
                                   engine_.entities.text_of(twice[1])));
}

/// Moves the given values to these rows, or back.
void spawner::relocate_given(const chunk_data& into, std::size_t first, std::size_t count,
                             const row_values& given, bool is_back) noexcept {
    if (!given.relocates) return;
    for (const column& target : into.columns) {
        const void* const* const value = given.find(target.fragment);
        if (value == nullptr) continue;
        // SAFETY: the caller passed values that may be moved.
        auto* const outside = static_cast<std::byte*>(const_cast<void*>(*value));
        if (is_back)
            target.relocate(outside, target.at(first), count);
        else
            target.relocate(target.at(first), outside, count);
    }
}

void spawner::spawn_rows_at(id_span wanted, chunk_data& into, const row_values& given) {
    const writer_guard writer(engine_, "spawn_rows_at");
    engine_.gate.refuse_in_scope("creating rows with exact ids");
    const std::size_t count = wanted.count;
    if (into.has_sparse)
        raise(errc::missing_component, text("no chunk has ", to_text(into),
                                            ": one of them is sparse and stored outside of the "
                                            "chunks"));
    refuse_without_default(into, {}, given);
    refuse_equal_keys(wanted);
    engine_.entities.refuse_at(wanted);
    if (into.index != chunk_index{})
        into.prepare_rows(count, engine_.graph.row_limit(), given.values);
    const std::size_t first = into.size;
    write_rows(into, count, given, {});
    scope_guard drop_values([&] {
        const busy_guard busy(engine_.gate);
        for (const column& source : into.columns)
            if (!given.relocates || given.find(source.fragment) == nullptr)
                source.destroy(source.at(first), count);
    });
    engine_.entities.create_rows_at(into, wanted);
    drop_values.dismiss();
    {
        const busy_guard busy(engine_.gate);
        relocate_given(into, first, count, given, false);
    }
    into.note_appended(first, count);
    if (count != 0) engine_.catalog.fix_types(into.fragments);
    if (!engine_.notifier.notifies_insert(into)) return;
    scope_guard rollback([&] {
        if (into.index == chunk_index{}) {
            for (std::size_t i = count; i-- != 0;) engine_.destroyer.rollback_spawn(wanted.at(i));
            return;
        }
        engine_.destroyer.destroy_ids(into, first);
        {
            const busy_guard busy(engine_.gate);
            relocate_given(into, first, count, given, true);
            for (const column& source : into.columns)
                if (!given.relocates || given.find(source.fragment) == nullptr)
                    source.destroy(source.at(first), count);
        }
        into.note_truncated();
    });
    scope whole(engine_);
    engine_.notifier.inserted(wanted, into.fragments);
    rollback.dismiss();
    whole.commit();
}

// ---- rows that the caller fills, in a scope ----------------------------------------------------

/// Creates new entities with their values in a chunk outside of the graph.
void spawner::stage_rows(chunk_data& staged, std::size_t count, chunk_data& given_chunk,
                         const row_values& given) {
    staged.fragments = fragments_for(engine_, given_chunk, nullptr);
    staged.ids = column(*engine_.graph.empty_chunk().ids.type, nullptr);
    for (fragment_data* fragment : staged.fragments) {
        if (fragment->type->pinned)
            raise(errc::not_movable, text(fragment->name,
                                          " cannot be moved, so spawn_rows cannot fill it in a "
                                          "scope; spawn one by one or outside of the scope"));
        if (fragment->type->size != 0) staged.columns.push_back(column(*fragment->type, fragment));
    }
    refuse_without_default(staged, {}, given);
    bool done = staged.ids.resize(0, count, {});
    for (column& source : staged.columns) done = done && source.resize(0, count, {});
    if (!done) raise_out_of_memory();
    for (std::size_t row = 0; row < count; ++row) staged.set_id(row, record_new_id());
    write_rows(staged, count, given, {});
    staged.size = staged.capacity = count;
}

void spawner::record_rows(chunk_data& staged) {
    // Starts at the last row, so that the remaining rows are intact if this throws.
    while (staged.size != 0) {
        const std::size_t row = staged.size - 1;
        const std::uint64_t made = staged.id_at(row);
        array_list<void*> rooms;
        const std::uint32_t first = engine_.pending.now().entries;
        for (fragment_data* fragment : staged.fragments) {
            journal_entry& entry = engine_.pending.add(made, change_kind::put, fragment);
            const bool has_room = fragment->type->size != 0 || fragment->sparse_values != nullptr;
            rooms.push_back(has_room ? engine_.transaction.take_room(entry) : nullptr);
        }
        const busy_guard busy(engine_.gate);
        for (std::size_t i = 0, at = 0; i < rooms.size(); ++i) {
            if (staged.fragments[i]->type->size == 0) continue;
            const column& column = staged.columns[at++];
            column.relocate(static_cast<std::byte*>(rooms[i]), column.at(row), 1);
            engine_.pending.entry(first + static_cast<std::uint32_t>(i)).value = rooms[i];
        }
        --staged.size;
    }
}

// ---- fragments ---------------------------------------------------------------------------------

std::uint64_t spawner::make_fragment(value_type_ref type, std::string_view name) {
    engine_.gate.refuse_in_change("creating a fragment");  // before the id: it could not be one
    const std::uint64_t made = spawn({}, nullptr);
    scope_guard rollback([&] {
        if (engine_.entities.alive(made)) engine_.destroyer.rollback_spawn(made);
    });
    if (!engine_.entities.alive(made))  // a hook destroyed it
        engine_.errors.raise_not_alive({made, {}}, "fragment");
    engine_.catalog.add(made, type);
    if (!name.empty()) engine_.catalog.name({made, {}}, name);
    rollback.dismiss();
    return made;
}

std::uint64_t spawner::make_fragment(const type_info& own, std::string_view name) {
    auto copy = std::make_unique<const type_info>(own);
    const std::uint64_t made = make_fragment({copy.get(), no_type}, name);
    engine_.fragments.find(made)->own_type = copy.release();
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
