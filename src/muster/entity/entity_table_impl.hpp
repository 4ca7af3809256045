// The part of `entity_table` that is compiled once per layout.
#pragma once

#include <muster/entity/entity_table.hpp>
#include <muster/id/pool_sharing.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

template <class Layout>
struct entity_table<Layout>::sharing {
    explicit sharing(pool_type& pool) : ids(pool) {}
    pool_sharing<Layout, record_type> ids;
    record_type without_components = record_type::live(id_type{});
};

template <class Layout>
entity_table<Layout>::~entity_table() {
    delete sharing_;
    delete guests_;
}

template <class Layout>
void guest_table<Layout>::order() noexcept {
    const auto by_value = [](id_type a, id_type b) { return a.value() < b.value(); };
    id_type* const inserted = order_.begin() + ordered_;
    std::sort(inserted, order_.end(), by_value);
    merged_.resize(order_.size());  // within its capacity
    std::merge(order_.begin(), inserted, inserted, order_.end(), merged_.begin(), by_value);
    order_.swap(merged_);
    merged_.clear();
    order_.erase_if([&](id_type e) { return find(e) == nullptr; });
    const id_type* const end = std::unique(order_.begin(), order_.end());
    order_.erase(end, order_.end());
    ordered_ = order_.size();
}

template <class Layout>
auto entity_table<Layout>::ensure_guests() -> guest_table<Layout>& {
    if (guests_ == nullptr) guests_ = new guest_table<Layout>;
    first_direct_ = std::uint64_t{1} << 63;
    return *guests_;
}

template <class Layout>
auto entity_table<Layout>::record_of(id_type e) const noexcept -> record_type& {
    if (has_guests() && e.world() != pool_.world())
        if (record_type* const found = guests_->find(e)) return *found;
    return *find_record(e.key());
}

template <class Layout>
void entity_table<Layout>::begin_sharing() {
    if (sharing_ == nullptr) sharing_ = new sharing(pool_);
}

template <class Layout>
void entity_table<Layout>::end_sharing() {
    struct guard {
        sharing*& owned;
        ~guard() {
            delete owned;
            owned = nullptr;
        }
    };
    const guard end{sharing_};
    sharing_->ids.end();
}

template <class Layout>
auto entity_table<Layout>::find_overflow(id_type e) const noexcept -> const record_type* {
    const record_type* const found = pool_.find(e.key());
    if (found != nullptr && found->seen().is(e, pool_.origin())) return found;
    if (has_guests())
        if (const record_type* const guest = guests_->find(e)) return guest;
    return sharing_ != nullptr && sharing_->ids.has(e) ? &sharing_->without_components : nullptr;
}

template <class Layout>
auto entity_table<Layout>::find_overflow_record(std::uint64_t key) const noexcept -> record_type* {
    // SAFETY: only non-const functions write to the record, so the pool is not const then.
    return const_cast<record_type*>(pool_.find(key));
}

template <class Layout>
void entity_table<Layout>::move_row(id_type e, record_type& found, chunk_data& from,
                                    const transition& step, gate& changes) noexcept {
    chunk_data& to = *step.to;
    const std::size_t row = found.row();
    if (from.is_nontrivial && step.drops) {
        // Destructors run first: one that queries the world must find the row where it was.
        const busy_guard busy(changes);
        for (std::size_t i = 0; i < from.columns.size(); ++i)
            if (step.columns[i] == transition::dropped)
                from.columns[i].destroy(from.columns[i].at(row), 1);
    }
    const std::size_t to_row = to.size++;
    ids(to)[to_row] = e;
    found.place(to.index, to_row);
    if (from.index == chunk_index{}) return;
    const std::size_t last = --from.size;
    id_type* const tenants = ids(from);
    if (row != last) {
        const id_type moved = tenants[row] = tenants[last];
        pool_.find(moved.key())->place(from.index, row);
    }
    if (from.is_nontrivial) return move_values(from, step, row, to_row, changes);
    const column* const targets = to.columns.data();
    const std::uint32_t* target = step.columns.data();
    for (const column& source : from.columns) {
        const std::uint32_t which = *target++;
        source.take_bytes(row, last, which == transition::dropped ? nullptr : targets + which,
                          to_row);
    }
}

/// Moves the values of a row along the transition; those of the last row replace them.
template <class Layout>
[[gnu::noinline]] void entity_table<Layout>::move_values(const chunk_data& from,
                                                         const transition& step, std::size_t row,
                                                         std::size_t to_row,
                                                         gate& changes) noexcept {
    const busy_guard busy(changes);
    const std::size_t last = from.size;  // the caller has removed it
    const std::uint32_t* target = step.columns.data();
    for (const column& source : from.columns) {
        const std::uint32_t which = *target++;
        std::byte* const value = source.at(row);
        if (which != transition::dropped)
            source.relocate(step.to->columns[which].at(to_row), value, 1);
        if (row != last) source.relocate(value, source.at(last), 1);
    }
}

}  // namespace MUSTER_NAMESPACE::detail
