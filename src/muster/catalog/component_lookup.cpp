#include <muster/catalog/component_lookup.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

bool component_lookup::has(std::uint64_t e, const fragment_data& fragment) const noexcept {
    if (fragment.sparse_values != nullptr) return fragment.sparse_values->has(e);
    location at;
    return entities_.find(e, at) && has(e, at, fragment);
}

void* component_lookup::find(std::uint64_t e, const fragment_data& fragment) const noexcept {
    location at;
    if (fragment.sparse_values == nullptr && !entities_.find(e, at)) return nullptr;
    return find(e, at, fragment);
}

void* component_lookup::find(std::uint64_t e, location at, const fragment_data& fragment) noexcept {
    if (fragment.sparse_values != nullptr) {
        const slot_index slot = fragment.sparse_values->find(e);
        return slot == no_slot || fragment.type->size == 0 ? nullptr
                                                           : fragment.sparse_values->at(slot);
    }
    std::byte* const base = fragment.base(at.chunk);
    if (base == nullptr || fragment.type->size == 0) return nullptr;
    return base + at.row * fragment.type->size;
}

array_list<fragment_data*> component_lookup::fragments_of(std::uint64_t e) const {
    array_list<fragment_data*> all = chunk_of(e).fragments;
    sparse_.list(e, all);
    std::ranges::sort(all, {}, [](const fragment_data* fragment) { return fragment->index; });
    return all;
}

std::size_t component_lookup::count(const fragment_data& fragment) const noexcept {
    if (fragment.sparse_values != nullptr) return fragment.sparse_values->size();
    std::size_t sum = 0;
    for (const chunk_index index : fragment.chunks) sum += graph_.at(index).size;
    return sum;
}

array_list<std::uint64_t> component_lookup::owners_of(const fragment_data& fragment) const {
    array_list<std::uint64_t> all;
    all.reserve(count(fragment));
    for (const chunk_index index : fragment.chunks) {
        const chunk_data& chunk = graph_.at(index);
        for (std::size_t row = 0; row < chunk.size; ++row) all.push_back(chunk.id_at(row));
    }
    if (const sparse_set* const set = fragment.sparse_values)
        for (const slot_index slot : set->slots()) all.push_back(set->id_at(slot));
    return all;
}

array_list<chunk_data*> component_lookup::chunks_of(const fragment_data& fragment) const {
    array_list<chunk_data*> found;
    found.reserve(fragment.chunks.size());
    for (const chunk_index index : fragment.chunks)
        if (index != chunk_index{}) found.push_back(&graph_.at(index));
    return found;
}

}  // namespace MUSTER_NAMESPACE::detail
