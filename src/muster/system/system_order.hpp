// system_order: the order in which a system and its members run. Members run in insertion order,
// unless `before` or `after` requires another. A constraint between systems in different groups
// orders these groups:
//
//     physics ─┬─ move                 move.after("read") orders physics after input, the members
//              └─ collide              of their first common group, here of the top
//     input ───── read
//
// O((systems + constraints) * log systems), however deep groups are nested.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/system/system_data.hpp>
#include <muster/system/system_registry.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API system_order {
public:
    /// Orders `root` with its members. Throws `errc::unknown_system` and `errc::system_circle`.
    system_order(const system_registry& systems, system_data& root);

    [[nodiscard]] array_list<system_plan::step>& steps() noexcept { return steps_; }
    /// The number of nodes and constraints that were looked at: tests of growth read it.
    [[nodiscard]] std::size_t work() const noexcept { return work_; }

private:
    /// The index of a system in `nodes_`, which has a group before its members.
    using node_index = std::uint32_t;
    static constexpr node_index none = ~node_index{0};
    static constexpr std::size_t no_edge = ~std::size_t{0};

    struct node {
        system_data* system;
        node_index group;  // of the root: itself
        node_index jump;   // a group further up, so that `find_at_depth` is O(log depth)
        std::uint32_t depth;
        std::size_t first_in = no_edge;  // edges to and from this node, by `edge::next_...`
        std::size_t first_out = no_edge;
        std::uint32_t blocked = 0;  // members that must run before it and have no place yet
        bool is_placed = false;
    };
    /// `first` runs before `second`, a member of the same group.
    struct edge {
        node_index first;
        node_index second;
        std::size_t next_in;
        std::size_t next_out;
    };

    void add_nodes(system_data& root);
    void add_node(system_data& system, node_index group);
    void add_edges(const system_registry& systems, const system_data& root);
    void add_edge(node_index first, node_index second);
    void link_edges();
    void add_steps(node_index at);
    [[nodiscard]] std::vector<node_index> members_in_order(const system_data& group);
    [[noreturn]] void raise_cycle(const std::vector<node_index>& members);
    [[nodiscard]] node_index find(const system_data* system) const noexcept;
    [[nodiscard]] node_index find_at_depth(node_index at, std::uint32_t depth) noexcept;

    std::vector<node> nodes_;
    std::vector<edge> edges_;
    array_list<system_plan::step> steps_;
    std::size_t work_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
