// component_lookup: which components an entity has, and who has a fragment. For chunk and sparse
// fragments alike.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API component_lookup {
public:
    component_lookup(const entity_directory& entities, const chunk_graph& graph,
                     const sparse_table& sparse) noexcept
        : entities_(entities), graph_(graph), sparse_(sparse) {}

    /// Whether an entity, alive or not, has the fragment.
    [[nodiscard]] bool has(std::uint64_t e, const fragment_data& fragment) const noexcept;
    /// Like `has(e, fragment)`, for a living entity whose location the caller knows.
    [[nodiscard]] static bool has(std::uint64_t e, location at,
                                  const fragment_data& fragment) noexcept {
        return fragment.sparse_values != nullptr ? fragment.sparse_values->has(e)
                                                 : fragment.base(at.chunk) != nullptr;
    }
    /// Returns the address of the value, or null if there is none or the fragment is a tag.
    [[nodiscard]] void* find(std::uint64_t e, const fragment_data& fragment) const noexcept;
    /// Like `find(e, fragment)`, for a living entity whose location the caller knows.
    [[nodiscard]] static void* find(std::uint64_t e, location at,
                                    const fragment_data& fragment) noexcept;
    /// Whether a living entity has any fragment.
    [[nodiscard]] bool has_any(std::uint64_t e) const noexcept {
        return entities_.locate(e).chunk != chunk_index{} || sparse_.has_any(e);
    }
    /// Returns the chunk of a living entity.
    [[nodiscard]] chunk_data& chunk_of(std::uint64_t e) const noexcept {
        return graph_.at(entities_.locate(e).chunk);
    }
    /// Returns all fragments of a living entity, sorted by number.
    [[nodiscard]] array_list<fragment_data*> fragments_of(std::uint64_t e) const;

    /// Returns how many entities have the fragment. O(chunks of the fragment).
    [[nodiscard]] std::size_t count(const fragment_data& fragment) const noexcept;
    /// Returns all owners of the fragment, in the order of a loop over them.
    [[nodiscard]] array_list<std::uint64_t> owners_of(const fragment_data& fragment) const;
    [[nodiscard]] array_list<chunk_data*> chunks_of(const fragment_data& fragment) const;

private:
    const entity_directory& entities_;
    const chunk_graph& graph_;
    const sparse_table& sparse_;
};

}  // namespace MUSTER_NAMESPACE::detail
