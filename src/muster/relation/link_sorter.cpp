#include <muster/base/error.hpp>
#include <muster/base/merge_sort.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/link_sorter.hpp>
#include <muster/relation/relation_data.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

void link_sorter::require(const target& end, const char* call) const {
    location at;
    if (!engine_.entities.find(end.id, at)) engine_.errors.raise_not_alive(end, call);
    engine_.errors.refuse_away(end, at, call);
}

/// Stores one end of a link at another place, and tells the source.
void link_sorter::set(source_list& all, std::uint32_t place, const link_end& end) noexcept {
    all.set(place, end);
    if (end.is_hole) return;
    if (link_head* const link = relation_.find_link(end.other))
        link->place = place;
    else
        relation_.find_list(end.other)->ends()[end.place].place = place;
    engine_.changes.mark_written(end.other, relation_.links());
}

/// Moves the end at `from` before that at `to`.
void link_sorter::move(source_list& all, std::uint32_t from, std::uint32_t to) noexcept {
    const link_end moved = all[from];
    std::uint32_t at = from;
    for (; at > to; --at) set(all, at, all[at - 1]);
    for (; at + 1 < to; ++at) set(all, at, all[at + 1]);
    set(all, at, moved);
}

void link_sorter::place_before(const target& source, const target& sibling) {
    engine_.gate.refuse_in_scope("place_before");
    require(source, "place_before");
    require(sibling, "place_before");
    bool has_shared = false;
    relation_.each_target(sibling.id, [&](const link_end& shared) {
        if (!relation_.is_related(source.id, shared.other)) return;
        has_shared = true;
        if (source.id == sibling.id) return;
        source_list& all = *relation_.find_sources(shared.other);
        std::uint32_t from = 0;
        relation_.each_target(source.id, [&](const link_end& own) {
            if (own.other == shared.other) from = own.place;
        });
        move(all, from, shared.place);
    });
    if (!has_shared)
        raise(errc::missing_component,
              text(engine_.errors.describe(source.id), " and ", engine_.errors.describe(sibling.id),
                   " are not related to the same entity by ", relation_.name(),
                   place_of("place_before", &source.where)));
}

void link_sorter::sort(const target& of, source_order order, void* context) {
    engine_.gate.refuse_in_scope("sort_sources");
    require(of, "sort_sources");
    source_list* const sources = relation_.find_sources(of.id);
    if (sources == nullptr) return;
    array_list<link_end> sorted;
    relation_.each_source(of.id, [&](const link_end& end) { sorted.push_back(end); });
    {
        const busy_guard busy(engine_.gate);
        merge_sort(sorted, [&](const link_end& a, const link_end& b) {
            return order(context, a.other, b.other);
        });
    }
    const link_end* next = sorted.begin();
    for (std::uint32_t at = sources->next(0); at != sources->places(); at = sources->next(at + 1))
        set(*sources, at, *next++);
}

namespace {

/// The new order of the rows of all chunks with links of a relation.
class row_arrangement {
public:
    row_arrangement(engine& owner, const relation_data& of) : engine_(owner), relation_(of) {
        numbers_.resize(owner.graph.end(), none);
        for (chunk_data* chunk : owner.components.chunks_of(of.links())) {
            if (chunk->size == 0) continue;
            numbers_[to_int(chunk->index)] = static_cast<std::uint32_t>(chunks_.size());
            chunks_.push_back({chunk, 0, array_list<std::uint32_t>(chunk->size),
                               array_list<std::uint32_t>(chunk->size)});
        }
        list_rows();
        std::ranges::sort(rows_, {}, &row::level);  // targets come before their sources
        for (std::size_t first = 0; first < rows_.size();) {
            std::size_t last = first;
            while (last < rows_.size() && rows_[last].level == rows_[first].level) ++last;
            order_level(first, last);
            first = last;
        }
    }
    void apply() const {
        for (const chunk_rows& rows : chunks_)
            if (!std::ranges::is_sorted(rows.order)) engine_.mover.permute(*rows.chunk, rows.order);
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct chunk_rows {
        chunk_data* chunk;
        std::uint32_t ordered;            // the rows that have a place in the order
        array_list<std::uint32_t> order;  // the old row, by new row
        array_list<std::uint32_t> place;  // the new row, by old row
    };
    struct row {
        std::uint32_t level, chunk, at;
        std::uint32_t place;   // among the sources of its target
        std::uint64_t target;  // then its new position
    };

    void list_rows() {
        for (std::uint32_t number = 0; number < chunks_.size(); ++number) {
            const chunk_data& chunk = *chunks_[number].chunk;
            const std::byte* const base = relation_.links().base(chunk.index);
            const std::size_t size = relation_.links().type->size;
            for (std::uint32_t at = 0; at < chunk.size; ++at) {
                // SAFETY: the fragment stores links of this size.
                const auto& link = *reinterpret_cast<const link_head*>(base + at * size);
                rows_.push_back({link.level, number, at, link.place, link.target});
            }
        }
    }
    /// Returns the chunk and the new row of a target as one number.
    [[nodiscard]] std::uint64_t position_of(std::uint64_t target) const noexcept {
        const location at = engine_.entities.locate(target);
        const std::uint32_t number = numbers_[to_int(at.chunk)];
        const std::uint64_t chunk = engine_.graph.at(at.chunk).order;
        return (chunk << 32) + (number == none ? at.row : chunks_[number].place[at.row]);
    }
    void order_level(std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) rows_[i].target = position_of(rows_[i].target);
        std::ranges::sort(rows_.begin() + first, rows_.begin() + last, {},
                          [](const row& r) { return std::tuple(r.chunk, r.target, r.place); });
        for (std::size_t i = first; i < last; ++i) {
            chunk_rows& rows = chunks_[rows_[i].chunk];
            rows.place[rows_[i].at] = rows.ordered;
            rows.order[rows.ordered++] = rows_[i].at;
        }
    }

    engine& engine_;
    const relation_data& relation_;
    std::vector<chunk_rows> chunks_;
    array_list<std::uint32_t> numbers_;  // in `chunks_`, by chunk number
    array_list<row> rows_;
};

}  // namespace

void link_sorter::arrange() {
    engine_.gate.refuse_in_scope("arrange");
    if (!relation_.is_leveled)
        raise(errc::not_a_relation,
              text(relation_.name(), " cannot be arranged: it is not defined as leveled()"));
    row_arrangement(engine_, relation_).apply();
}

}  // namespace MUSTER_NAMESPACE::detail
