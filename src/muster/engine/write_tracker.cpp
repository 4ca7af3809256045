#include <muster/base/reserve.hpp>
#include <muster/engine/write_tracker.hpp>

namespace MUSTER_NAMESPACE::detail {

void write_tracker::begin() {
    gate_.refuse_in_scope("tracking writes");
    if (users_ != 0) {
        ++users_;
        return;
    }
    for (fragment_data* fragment : fragments_.all())
        if (fragment != nullptr) fragment->written.grow(fragment->bases.capacity());
    for (chunk_data* chunk : graph_.all()) reserve_more(chunk->followers, 1);

    users_ = 1;
    gate_.set_tracking(true);
    fragments_.track_writes(true);
    for (fragment_data* fragment : fragments_.all())
        for (std::uint32_t i = 0; fragment != nullptr && i < fragment->limit; ++i)
            fragment->written[i] = now_;
    for (sparse_set* set : sparse_.all())
        if (set != nullptr) set->written = now_;
    graph_.follow_all(this);
    for (chunk_data* chunk : graph_.all()) chunk->rows_written = now_;
    catalog_.invalidate_traits();
}

void write_tracker::end() noexcept {
    if (--users_ != 0) return;
    gate_.set_tracking(false);
    fragments_.track_writes(false);
    graph_.follow_all(nullptr);
    catalog_.invalidate_traits();
}

std::uint64_t write_tracker::written(const fragment_data& fragment, chunk_index chunk) noexcept {
    if (fragment.sparse_values != nullptr) return fragment.sparse_values->written;
    const std::uint32_t at = to_int(chunk) - fragment.first;
    return at < fragment.limit ? fragment.written[at] : 0;
}

void write_tracker::mark(const fragment_data& fragment, chunk_index chunk) const noexcept {
    if (!is_on()) return;
    std::uint64_t* marked = nullptr;
    if (fragment.sparse_values != nullptr)
        marked = &fragment.sparse_values->written;
    else if (const std::uint32_t at = to_int(chunk) - fragment.first; at < fragment.limit)
        marked = &fragment.written[at];
    if (marked != nullptr) __atomic_store_n(marked, now_, __ATOMIC_RELAXED);
}

void write_tracker::mark(const transition& step) const noexcept {
    for (const transition::arrival& arrival : step.arrivals)
        mark(*step.to->columns[arrival.column].fragment, step.to->index);
    for (const transition::sparse_change& change : step.sparse_changes)
        mark(*change.fragment, chunk_index{});
}

void write_tracker::mark_all(const chunk_data& chunk) const noexcept {
    for (const column& values : chunk.columns) mark(*values.fragment, chunk.index);
}

}  // namespace MUSTER_NAMESPACE::detail
