#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/entity/destroy_participant.hpp>

#include <algorithm>
#include <functional>

namespace MUSTER_NAMESPACE::detail {

chunk_data& row_exchange::guest_chunk(slice<fragment_data* const> set) {
    fragment_data& mark =
        engine_.catalog.ensure(ensure_type_index<guest_mark>(), type_info_of<guest_mark>);
    mark.holds_guests = true;
    array_list<fragment_data*> marked(set.data(), set.data() + set.size());
    const auto index = [](const fragment_data* fragment) { return fragment->index; };
    marked.insert(std::ranges::lower_bound(marked, mark.index, {}, index), &mark);
    return engine_.graph.ensure(marked);
}

void row_exchange::refuse_adopted(const chunk_data& into, slice<const std::uint64_t> ids) const {
    for (const std::uint64_t e : ids) {
        location at;
        const bool is_here = engine_.entities.find(e, at);
        if (into.has_guests) {
            if (is_here)
                raise(errc::id_taken, text(engine_.errors.describe(e), " is here already"));
            if (!engine_.entities.is_foreign(e)) engine_.errors.raise_not_alive({e, {}}, "adopt");
        } else if (!is_here) {
            engine_.errors.raise_not_alive({e, {}}, "adopt");
        } else if (!entity_directory::is_away(at)) {
            raise(errc::id_taken, text(engine_.errors.describe(e), " is not away"));
        }
    }
    if (std::ranges::is_sorted(ids, std::less_equal<>())) return;
    array_list<std::uint64_t> sorted(ids.data(), ids.data() + ids.size());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end())
        raise(errc::id_taken, text(engine_.errors.describe(*twice), " is passed twice"));
}

void row_exchange::adopt(chunk_data& into, slice<const std::uint64_t> ids,
                         slice<std::byte* const> columns) {
    const writer_guard writer(engine_, "adopt");
    engine_.gate.refuse_in_scope("adopt");
    refuse_adopted(into, ids);
    const std::size_t count = ids.size();
    const std::size_t first = into.size;
    into.prepare_rows(count, engine_.graph.row_limit(), {});
    for (std::size_t i = 0; i < count; ++i) into.set_id(first + i, ids[i]);
    if (into.has_guests) {
        engine_.entities.adopt_rows(into, count);
    } else {
        engine_.entities.place_rows(into, first, count, into.index);
        into.size += count;
        away_count_ -= count;
    }
    {
        const busy_guard busy(engine_.gate);
        for (std::size_t i = 0; i < columns.size(); ++i)
            into.columns[i].relocate(into.columns[i].at(first), columns[i], count);
    }
    engine_.catalog.fix_types(into.fragments);
    into.note_appended(first, count);
}

void row_exchange::refuse_taken(const chunk_data& from, slice<const std::uint32_t> rows,
                                std::uint64_t world) const {
    if (world >= engine_.graph.row_limit())
        raise(errc::limit, text("the records of this layout cannot refer to W:", world));
    for (const std::uint32_t row : rows) {
        const std::uint64_t e = from.id_at(row);
        if (engine_.fragments.find(e) != nullptr)
            raise(errc::not_movable,
                  text(engine_.errors.describe(e), " cannot leave its world: it is a fragment"));
        if (from.has_guests) continue;
        for (const destroy_participant* room : engine_.destroyer.participants())
            room->refuse_to_leave(e);
        if (engine_.sparse.has_any(e))
            raise(errc::not_movable, text(engine_.errors.describe(e),
                                          " cannot leave its world: it has sparse fragments"));
    }
}

void row_exchange::take(chunk_data& from, slice<const std::uint32_t> rows, std::uint64_t world,
                        slice<std::byte* const> columns) {
    const writer_guard writer(engine_, "take");
    engine_.gate.refuse_in_scope("take");
    refuse_taken(from, rows, world);
    const busy_guard busy(engine_.gate);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const column& source = from.columns[i];
        for (std::size_t at = 0; at < rows.size(); ++at)
            source.relocate(columns[i] + at * source.size, source.at(rows[at]), 1);
    }
    for (std::size_t at = rows.size(); at-- != 0;) {
        const std::uint32_t row = rows[at];
        const std::uint64_t e = from.id_at(row);
        engine_.mover.close_gap(from, row);
        if (from.has_guests) {
            engine_.names.erase(e);
            engine_.entities.destroy(e);
        } else {
            // Entries of sparse sets may remain without a value.
            engine_.sparse.forget(e, [](const sparse_set&, slot_index) {});
            engine_.entities.place(e, {chunk_graph::away_index, world});
            ++away_count_;
        }
        from.note_removed(row);
    }
}

bool row_exchange::is_away(std::uint64_t e) const noexcept {
    location at;
    return away_count_ != 0 && engine_.entities.find(e, at) && entity_directory::is_away(at);
}

std::uint64_t row_exchange::world_of(std::uint64_t e) const noexcept {
    return engine_.entities.locate(e).row;
}

void row_exchange::move_away(std::uint64_t e, std::uint64_t world) {
    if (world >= engine_.graph.row_limit())
        raise(errc::limit, text("the records of this layout cannot refer to W:", world));
    engine_.entities.place(e, {chunk_graph::away_index, world});
}

void row_exchange::destroy_away(std::uint64_t e) noexcept {
    engine_.names.erase(e);
    engine_.marks.reset(engine_.entities.key_of(e));
    engine_.entities.destroy(e);
    --away_count_;
}

}  // namespace MUSTER_NAMESPACE::detail
