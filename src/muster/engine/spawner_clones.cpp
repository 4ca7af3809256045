// The part of spawner.hpp for many clones: of one prototype, and of several at once.
#include <muster/base/scope_guard.hpp>
#include <muster/engine/run.hpp>
#include <muster/engine/staging.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

void spawner::clone_many(id_span out, target prototype, chunk_data& given_chunk,
                         const row_values& given) {
    const writer_guard writer(engine_, "clone");
    if (engine_.gate.is_deferred("clone")) return record_many(out, given_chunk, given, &prototype);
    const location at = engine_.entities.locate(prototype.id);
    engine_.errors.refuse_away(prototype, at, "clone");
    chunk_data& original = engine_.graph.at(at.chunk);
    chunk_data& part = engine_.catalog.cloned_part(original);
    if (engine_.sparse.has_any(prototype.id) || engine_.catalog.has_sparse_part(given_chunk) ||
        engine_.catalog.has_sparse_part(part))
        return stage_many(out, given_chunk, given, &prototype);
    chunk_data& into = engine_.catalog.cloned_chunk(part, given_chunk);
    engine_.entities.prepare(out.count);
    if (into.index == chunk_index{}) return spawn_many(out, into, {});
    refuse_uncopyable(prototype, part, given_chunk);
    create_rows(into, out.count, given,
                {.copied = &part, .from = &original, .row = at.row, .defaulted = &given_chunk});
    show_rows(out, into);
}

void spawner::refuse_clones(slice<const cloned_rows> all) {
    for (const cloned_rows& rows : all)
        refuse_rows(rows.out.count, *rows.given_chunk, &rows.prototype);
}

namespace {

/// Returns the value of a clone; its fragment is not sparse.
std::byte* value_of(const cloned_rows& rows, const fragment_data& fragment, std::size_t number) {
    return fragment.base(rows.into->index) + (rows.first + number) * fragment.type->size;
}

}  // namespace

void spawner::clone_rows(slice<cloned_rows> all, id_span made, const row_translator& translate) {
    const writer_guard writer(engine_, "clone");
    std::vector<std::unique_ptr<staging>> staged;
    std::size_t placed = 0;  // the first `placed` of them are rows
    array_list<new_entities> shown;
    shown.reserve(all.size());
    scope_guard rollback([&] {
        for (std::size_t i = shown.size(); i-- != 0;) undo_clones(all[i]);
        for (std::size_t i = 0; i < placed; ++i) staged[i]->keep();  // they are gone
    });
    engine_.entities.prepare(made.count);
    chunk_data* last = nullptr;  // children of one parent often have the same fragments
    chunk_data* last_part = nullptr;
    for (cloned_rows& rows : all) {
        const location at = engine_.entities.locate(rows.prototype.id);
        chunk_data& original = engine_.graph.at(at.chunk);
        if (&original != last) last_part = &engine_.catalog.cloned_part(original);
        last = &original;
        chunk_data& part = *last_part;
        if (engine_.sparse.has_any(rows.prototype.id) ||
            engine_.catalog.has_sparse_part(*rows.given_chunk) ||
            engine_.catalog.has_sparse_part(part)) {
            staged.push_back(std::make_unique<staging>(engine_, rows.out.count));
            staging& values = *staged.back();
            values.construct(*rows.given_chunk, rows.given, &rows.prototype, rows.moved);
            rows.into = &values.place();
            ++placed;
            values.ids().copy_to(rows.out);
            shown.push_back({rows.out, values.fragments()});
        } else {
            rows.into = &engine_.catalog.cloned_chunk(part, *rows.given_chunk);
            append_clones(
                rows,
                {.copied = &part, .from = &original, .row = at.row, .defaulted = rows.given_chunk});
            shown.push_back({rows.out, rows.into->fragments});
        }
        if (rows.into->index != chunk_index{}) rows.first = rows.into->size - rows.out.count;
    }
    for (std::size_t i = 0; i < all.size(); ++i) translate(all[i], shown[i].fragments);
    // The participants move entities that are in the chunk of another group.
    const auto changes_group = [&](const cloned_rows& rows) {
        return std::ranges::any_of(rows.into->fragments, [&](const fragment_data* fragment) {
            const value_participant* const room = fragment->participant;
            return room != nullptr && fragment->has_word &&
                   (rows.given_chunk->has(*fragment) ||
                    room->word_of(value_of(rows, *fragment, 0)) != rows.into->word_of(*fragment));
        });
    };
    const auto notifies = [&](const cloned_rows& rows) {
        return engine_.notifier.notifies_first(*rows.into, *rows.into) || changes_group(rows);
    };
    if (staged.empty() && std::ranges::none_of(all, notifies)) {
        rollback.dismiss();
        return commit_clones(all, made);
    }
    scope whole(engine_);
    engine_.notifier.inserted(shown);
    rollback.dismiss();
    for (const auto& values : staged) values->keep();
    finish(made, [&] { whole.commit(); });
}

/// Shows clones to the participants, if no one else is to be notified of them.
void spawner::commit_clones(slice<const cloned_rows> all, id_span made) {
    scope_guard rollback([&] {
        for (std::size_t i = made.count; i-- != 0;) engine_.destroyer.rollback_spawn(made.at(i));
    });
    for (const cloned_rows& rows : all)
        for (const fragment_data* fragment : rows.into->fragments) {
            value_participant* const room = fragment->participant;
            for (std::size_t i = 0; room != nullptr && i < rows.out.count; ++i) {
                void* const value = value_of(rows, *fragment, i);
                room->prepare_first(value);
                room->commit_first(rows.out.at(i), value);
            }
        }
    rollback.dismiss();
}

/// Creates the rows of one prototype, without sparse fragments.
void spawner::append_clones(cloned_rows& rows, row_origin origin) {
    chunk_data& into = *rows.into;
    const std::size_t count = rows.out.count;
    if (into.index == chunk_index{}) return engine_.entities.create_all(rows.out);
    refuse_uncopyable(rows.prototype, *origin.copied, *rows.given_chunk);
    if (rows.moved.empty()) {
        create_rows(into, count, rows.given, origin);
    } else {
        origin.written = rows.given_chunk;
        refuse_without_default(into, origin, {});
        into.prepare_rows(count, engine_.graph.row_limit(), rows.given.values);
        write_rows(into, count, {}, origin);
        for (std::size_t i = 0; i < rows.moved.size(); ++i)
            rows.moved[i].self = rows.given.values[i];
        construct_given(into, rows.moved, rows.given.fragments);
        append_rows(into, count);
    }
    id_span{into.ids.at(into.size - count), count, rows.out.width}.copy_to(rows.out);
}

/// Ends clones that no one has seen.
void spawner::undo_clones(const cloned_rows& rows) noexcept {
    if (rows.into->index != chunk_index{})
        return engine_.destroyer.destroy_rows(*rows.into, rows.first);
    for (std::size_t i = rows.out.count; i-- != 0;) engine_.destroyer.undo_create(rows.out.at(i));
}

}  // namespace MUSTER_NAMESPACE::detail
