// link_sorter: changes the order of the sources of a target, and of the rows of a leveled relation.
#pragma once

#include <muster/change/change.hpp>
#include <muster/relation/link.hpp>
#include <muster/relation/relation_ref.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class relation_data;

class MUSTER_API link_sorter {
public:
    link_sorter(engine& owner, relation_data& of) noexcept : engine_(owner), relation_(of) {}

    /// Moves a source before another, at each target that they share. Throws
    /// `errc::missing_component` if they share none.
    void place_before(const target& source, const target& sibling);
    /// Sorts the sources of a target. Stable. What `order` throws changes nothing.
    void sort(const target& of, source_order order, void* context);
    /// Orders the rows of each level by the rows of their targets, then by the order of the sources.
    void arrange();

private:
    void require(const target& end, const char* call) const;
    void set(source_list& all, std::uint32_t place, const link_end& end) noexcept;
    void move(source_list& all, std::uint32_t from, std::uint32_t to) noexcept;

    engine& engine_;
    relation_data& relation_;
};

}  // namespace MUSTER_NAMESPACE::detail
