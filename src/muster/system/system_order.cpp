#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/system/system_order.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

system_order::system_order(const system_registry& systems, system_data& root) {
    add_nodes(root);
    add_edges(systems, root);
    link_edges();
    add_steps(0);
}

// ---- the tree ----------------------------------------------------------------------------------

void system_order::add_node(system_data& system, node_index group) {
    const auto index = static_cast<node_index>(nodes_.size());
    system.node = index;
    ++work_;
    if (index == 0) {
        nodes_.push_back({.system = &system, .group = 0, .jump = 0, .depth = 0});
        return;
    }
    // The group's jump is skipped together with the next one if both are equally long. So jumps
    // grow with the depth, and a few of them lead to any depth.
    const node& above = nodes_[group];
    const node& skipped = nodes_[above.jump];
    const bool is_even = above.depth - skipped.depth == skipped.depth - nodes_[skipped.jump].depth;
    nodes_.push_back({.system = &system,
                      .group = group,
                      .jump = is_even && group != 0 ? skipped.jump : group,
                      .depth = above.depth + 1});
}

/// Adds the root with its members, each before its own.
void system_order::add_nodes(system_data& root) {
    add_node(root, 0);
    node_index group = 0;
    for (system_data* at = root.links.first_member; at != nullptr;) {
        add_node(*at, group);
        if (at->links.first_member != nullptr) {
            group = at->node;
            at = at->links.first_member;
            continue;
        }
        while (at->links.next == nullptr && group != 0) {
            at = nodes_[group].system;
            group = nodes_[group].group;
        }
        at = at->links.next;
    }
}

/// Returns `none` if the system is outside of the tree.
system_order::node_index system_order::find(const system_data* system) const noexcept {
    return system->node < nodes_.size() && nodes_[system->node].system == system ? system->node
                                                                                 : none;
}

/// Returns the group of a node at this depth, or the node itself.
system_order::node_index system_order::find_at_depth(node_index at, std::uint32_t depth) noexcept {
    while (nodes_[at].depth > depth) {
        const node& here = nodes_[at];
        at = nodes_[here.jump].depth < depth ? here.group : here.jump;
        ++work_;
    }
    return at;
}

// ---- constraints -------------------------------------------------------------------------------

void system_order::add_edge(node_index first, node_index second) {
    edges_.push_back({first, second, no_edge, no_edge});
    ++nodes_[second].blocked;
}

/// Translates the constraints of all members, in the order of the systems' numbers, so that the
/// first wrong one is always the same.
void system_order::add_edges(const system_registry& systems, const system_data& root) {
    std::vector<const system_data*> constrained;
    for (const node& member : nodes_)
        if (member.system != &root && !member.system->constraints.empty())
            constrained.push_back(member.system);
    std::ranges::sort(constrained, {}, &system_data::number);
    std::vector<const system_data*> above;  // the groups that the root is in
    for (const system_data* at = root.links.group; at != nullptr; at = at->links.group)
        above.push_back(at);
    std::ranges::sort(above, std::less<>());

    for (const system_data* system : constrained) {
        for (const system_constraint& wanted : system->constraints) {
            ++work_;
            const auto sentence = [&](const char* why) {
                return text("the system \"", system->name, "\" must run ",
                            wanted.is_before ? "before" : "after", " \"", wanted.name, "\", ", why);
            };
            const system_data* const other = systems.find(wanted.name);
            if (other == nullptr)
                raise(errc::unknown_system, sentence("but no system has that name"));
            node_index mine = system->node;
            node_index theirs = find(other);
            if (theirs == none) {
                if (std::ranges::binary_search(above, other, std::less<>()))
                    raise(errc::system_circle, sentence("but it is a member of that group"));
                continue;  // it runs in another call
            }
            if (mine == theirs) {
                mine = theirs = find_at_depth(mine, 1);  // a cycle of one
            } else {
                const std::uint32_t depth = std::min(nodes_[mine].depth, nodes_[theirs].depth);
                const node_index their_end = find_at_depth(theirs, depth);
                const node_index my_end = find_at_depth(mine, depth);
                if (my_end == theirs)
                    raise(errc::system_circle, sentence("but it is a member of that group"));
                if (their_end == mine) continue;  // a group runs before its members
                mine = my_end;
                theirs = their_end;
                while (nodes_[mine].group != nodes_[theirs].group) {
                    const bool is_far = nodes_[mine].jump != nodes_[theirs].jump;
                    mine = is_far ? nodes_[mine].jump : nodes_[mine].group;
                    theirs = is_far ? nodes_[theirs].jump : nodes_[theirs].group;
                    ++work_;
                }
            }
            if (wanted.is_before)
                add_edge(mine, theirs);
            else
                add_edge(theirs, mine);
        }
    }
}

/// Links the edges of each node, in the order of the constraints.
void system_order::link_edges() {
    for (std::size_t i = edges_.size(); i-- != 0;) {
        edges_[i].next_in = std::exchange(nodes_[edges_[i].second].first_in, i);
        edges_[i].next_out = std::exchange(nodes_[edges_[i].first].first_out, i);
    }
}

// ---- the order ---------------------------------------------------------------------------------

void system_order::add_steps(node_index at) {
    system_data& system = *nodes_[at].system;
    const std::size_t step = steps_.size();
    steps_.push_back({&system, 0});
    if (system.links.first_member != nullptr)
        for (const node_index member : members_in_order(system)) add_steps(member);
    steps_[step].end = steps_.size();
}

std::vector<system_order::node_index> system_order::members_in_order(const system_data& group) {
    std::vector<node_index> members;
    for (const system_data* at = group.links.first_member; at != nullptr; at = at->links.next)
        members.push_back(at->node);
    // Nodes are in insertion order, so the smallest one that is not blocked is next.
    std::priority_queue<node_index, std::vector<node_index>, std::greater<>> ready;
    for (const node_index member : members)
        if (nodes_[member].blocked == 0) ready.push(member);
    std::vector<node_index> order;
    while (!ready.empty()) {
        const node_index next = ready.top();
        ready.pop();
        order.push_back(next);
        nodes_[next].is_placed = true;
        ++work_;
        for (std::size_t i = nodes_[next].first_out; i != no_edge; i = edges_[i].next_out) {
            ++work_;
            if (--nodes_[edges_[i].second].blocked == 0) ready.push(edges_[i].second);
        }
    }
    if (order.size() != members.size()) raise_cycle(members);
    return order;
}

/// Following constraints backwards from any remaining member leads to a cycle.
void system_order::raise_cycle(const std::vector<node_index>& members) {
    const auto is_left = [&](node_index at) { return !nodes_[at].is_placed; };
    std::vector<node_index> path{*std::ranges::find_if(members, is_left)};
    std::vector<bool> is_on_path(nodes_.size());
    for (;;) {
        is_on_path[path.back()] = true;
        std::size_t blocking = nodes_[path.back()].first_in;
        while (!is_left(edges_[blocking].first)) blocking = edges_[blocking].next_in;
        const node_index before = edges_[blocking].first;
        if (is_on_path[before]) {
            path.erase(path.begin(), std::ranges::find(path, before));
            break;
        }
        path.push_back(before);
    }
    std::string names;
    for (auto at = path.rbegin(); at != path.rend(); ++at)
        names += text("\"", nodes_[*at].system->name, "\" before ");
    raise(errc::system_circle, text("the order of systems has a cycle: ", names, "\"",
                                    nodes_[path.back()].system->name, "\""));
}

}  // namespace MUSTER_NAMESPACE::detail
