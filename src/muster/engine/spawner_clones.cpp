// The part of spawner.hpp for clones of several prototypes at once.
#include <muster/base/scope_guard.hpp>
#include <muster/engine/run.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

bool spawner::find_rows(slice<cloned_rows> all) {
    for (cloned_rows& rows : all) {
        chunk_data& part =
            engine_.catalog.cloned_part(engine_.components.chunk_of(rows.prototype.id));
        if (engine_.sparse.has_any(rows.prototype.id) ||
            engine_.catalog.has_sparse_part(*rows.given_chunk) ||
            engine_.catalog.has_sparse_part(part))
            return false;
        rows.into = &engine_.catalog.cloned_chunk(part, *rows.given_chunk);
        if (std::ranges::any_of(rows.into->fragments, &fragment_data::has_word)) return false;
        if (rows.into->index != chunk_index{})
            rows.into->refuse_rows(rows.out.count, engine_.graph.row_limit());
    }
    return true;
}

/// Creates the rows of one prototype.
void spawner::append_clones(cloned_rows& rows) {
    chunk_data& into = *rows.into;
    const std::size_t count = rows.out.count;
    const location at = engine_.entities.locate(rows.prototype.id);
    chunk_data& original = engine_.graph.at(at.chunk);
    row_origin origin{.copied = &engine_.catalog.cloned_part(original),
                      .from = &original,
                      .row = at.row,
                      .defaulted = rows.given_chunk};
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
    rows.first = into.size - count;
    id_span{into.ids.at(rows.first), count, rows.out.width}.copy_to(rows.out);
}

void spawner::clone_rows(slice<cloned_rows> all, id_span made, const row_translator& translate) {
    const writer_guard writer(engine_, "clone");
    std::size_t done = 0;
    scope_guard rollback([&] {
        while (done-- != 0) {
            const cloned_rows& rows = all[done];
            if (rows.into->index != chunk_index{})
                engine_.destroyer.destroy_rows(*rows.into, rows.first);
            else
                for (std::size_t i = rows.out.count; i-- != 0;)
                    engine_.destroyer.rollback_spawn(rows.out.at(i));
        }
    });
    engine_.entities.prepare(made.count);
    for (cloned_rows& rows : all) {
        if (rows.into->index == chunk_index{}) {
            engine_.entities.create_all(rows.out);
        } else {
            append_clones(rows);
        }
        ++done;
    }
    for (const cloned_rows& rows : all)
        if (rows.into->index != chunk_index{}) translate(rows);
    array_list<new_entities> shown;
    shown.reserve(all.size());
    for (const cloned_rows& rows : all) shown.push_back({rows.out, rows.into->fragments});
    scope whole(engine_);
    engine_.notifier.inserted(shown);
    rollback.dismiss();
    finish(made, [&] { whole.commit(); });
}

}  // namespace MUSTER_NAMESPACE::detail
