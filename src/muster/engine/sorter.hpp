// sorter: the order of the values of a sparse fragment, and of the loops over it.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/catalog/component_lookup.hpp>
#include <muster/change/gate.hpp>
#include <muster/storage/sparse_set.hpp>
#include <muster/type/fragment_data.hpp>

namespace MUSTER_NAMESPACE::detail {

class write_tracker;

/// Returns whether value `a` comes before value `b`.
using value_order = bool (*)(void* context, const void* a, const void* b);

class MUSTER_API sorter {
public:
    sorter(const component_lookup& components, gate& changes, const write_tracker& writes) noexcept
        : components_(components), gate_(changes), writes_(writes) {}

    void sort(fragment_data& fragment, value_order order, void* context);
    /// Sorts in the order of the entities that have `other`; the remaining values come last.
    void sort_like(fragment_data& fragment, const fragment_data& other);

private:
    void refuse_unsortable(const fragment_data& fragment) const;

    const component_lookup& components_;
    gate& gate_;
    const write_tracker& writes_;
};

}  // namespace MUSTER_NAMESPACE::detail
