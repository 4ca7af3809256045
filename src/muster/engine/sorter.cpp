#include <muster/base/error.hpp>
#include <muster/base/merge_sort.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/sorter.hpp>
#include <muster/engine/write_tracker.hpp>

#include <vector>

namespace MUSTER_NAMESPACE::detail {

/// Throws if the fragment cannot be sorted.
void sorter::refuse_unsortable(const fragment_data& fragment) const {
    gate_.refuse_in_scope("sort");
    if (fragment.sparse_values == nullptr)
        raise(errc::not_sparse,
              text(fragment.name,
                   " is stored in chunks, which cannot be sorted: make the fragment sparse"));
    if (fragment.type->pinned)
        raise(errc::not_movable,
              text(fragment.name, " cannot be sorted: its values cannot be moved"));
}

void sorter::sort(fragment_data& fragment, value_order order, void* context) {
    refuse_unsortable(fragment);
    sparse_set& set = *fragment.sparse_values;
    array_list<slot_index> all = set.slots();
    const busy_guard busy(gate_);
    merge_sort(all,
               [&](slot_index a, slot_index b) { return order(context, set.at(a), set.at(b)); });
    set.reorder(all);
    writes_.mark(fragment, {});
}

void sorter::sort_like(fragment_data& fragment, const fragment_data& other) {
    refuse_unsortable(fragment);
    sparse_set& set = *fragment.sparse_values;
    array_list<slot_index> all;
    all.reserve(set.size());
    std::vector<bool> is_taken(set.end());
    const auto take = [&](slot_index slot) {
        if (slot == no_slot || is_taken[to_int(slot)]) return;
        is_taken[to_int(slot)] = true;
        all.push_back(slot);
    };
    for (const std::uint64_t e : components_.owners_of(other)) take(set.find(e));
    for (const slot_index slot : set.slots()) take(slot);
    const busy_guard busy(gate_);
    set.reorder(all);
    writes_.mark(fragment, {});
}

}  // namespace MUSTER_NAMESPACE::detail
