// The floor of relations: arrays of parents' indices, and an array of children for each parent.
#include <cstring>

#include "questions/relations.hpp"
#include "support/floor_ids.hpp"

namespace muster::bench {
namespace {

using key = std::uint32_t;

class floor_family {
public:
    using id_type = key;

    void spawn_parents(std::vector<key>& out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<key>(i);
        children_.resize(out.size());
    }
    key spawn_child(key parent, std::size_t i) {
        const auto child = static_cast<key>(positions_.size());
        positions_.push_back(position_of(i));
        velocities_.push_back(velocity_of(i));
        parents_.push_back({parent, static_cast<key>(children_[parent].size())});
        children_[parent].push_back(child);
        return child;
    }
    void reparent(key child, key parent) {
        remove(child);
        parents_[child] = {parent, static_cast<key>(children_[parent].size())};
        children_[parent].push_back(child);
    }
    /// Leaves a hole in the arrays.
    void destroy(key child) {
        remove(child);
        positions_[child] = {};
        velocities_[child] = {};
    }
    [[nodiscard]] key parent_of(key child) const { return parents_[child].parent; }
    [[nodiscard]] double sum_of_children(const std::vector<key>& parents) const {
        double sum = 0;
        for (const key parent : parents)
            for (const key child : children_[parent])
                sum += static_cast<double>(positions_[child].x);
        return sum;
    }
    [[nodiscard]] double sum_of_x() const {
        double sum = 0;
        for (const position& p : positions_) sum += static_cast<double>(p.x);
        return sum;
    }
    auto loop_2() {
        return [p = positions_.data(), v = velocities_.data(), count = positions_.size()] {
            for (std::size_t i = 0; i < count; ++i) step_2(p[i], v[i]);
        };
    }

private:
    struct link {
        key parent, place;
    };
    /// Fills the gap with the last child.
    void remove(key child) {
        auto& siblings = children_[parents_[child].parent];
        const key place = parents_[child].place;
        siblings[place] = siblings.back();
        parents_[siblings[place]].place = place;
        siblings.pop_back();
    }

    std::vector<position> positions_;
    std::vector<velocity> velocities_;
    std::vector<link> parents_;
    std::vector<std::vector<key>> children_;
};

/// Nodes are in the order of their creation, so that parents come first.
class floor_tree {
public:
    using id_type = floor_ids::id_type;

    id_type spawn_root() { return add(0); }
    id_type spawn_node(id_type parent) { return add(floor_ids::key(parent)); }
    /// Destroys the nodes whose parents are destroyed: in one pass.
    void destroy_tree(id_type root) {
        is_dead_[floor_ids::key(root)] = 1;
        for (std::size_t i = 0; i < parents_.size(); ++i)
            if (is_dead_[i] |= is_dead_[parents_[i]]; is_dead_[i] != 0) {
                ids_.destroy(nodes_[i]);
                --count_;
            }
    }
    [[nodiscard]] std::size_t count_nodes() const { return count_; }
    [[nodiscard]] bool alive(id_type e) const { return ids_.alive(e); }
    auto transform() {
        return [this] {
            world_[0] = {local_[0].x, local_[0].y, local_[0].z};
            for (std::size_t i = 1; i < parents_.size(); ++i)
                place_below(world_[i], local_[i], world_[parents_[i]]);
        };
    }
    [[nodiscard]] world_place place_of(id_type e) const { return world_[row_of(e)]; }
    /// Sorts the nodes by their parents' rows.
    void arrange() {
        std::vector<std::vector<key>> children(parents_.size());
        for (key i = 1; i < parents_.size(); ++i) children[parents_[i]].push_back(i);
        std::vector<key> order{0}, parents{0};
        rows_.resize(parents_.size());
        for (std::size_t at = 0; at < order.size(); ++at) {
            rows_[order[at]] = static_cast<key>(at);
            for (const key child : children[order[at]]) {
                order.push_back(child);
                parents.push_back(static_cast<key>(at));
            }
        }
        parents_ = parents;  // the places of all nodes are equal
    }

private:
    [[nodiscard]] key row_of(id_type e) const {
        return rows_.empty() ? floor_ids::key(e) : rows_[floor_ids::key(e)];
    }
    id_type add(key parent) {
        parents_.push_back(parent);
        local_.push_back({1, 2, 3});
        world_.push_back({});
        is_dead_.push_back(0);
        nodes_.push_back(ids_.create());
        ++count_;
        return nodes_.back();
    }

    floor_ids ids_;
    std::vector<id_type> nodes_;
    std::vector<key> parents_;
    std::vector<local_place> local_;
    std::vector<world_place> world_;
    std::vector<char> is_dead_;
    std::vector<key> rows_;
    std::size_t count_ = 0;
};

class floor_crowd {
public:
    using id_type = key;

    std::vector<key> spawn(std::size_t count) {
        std::vector<key> made(count);
        for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<key>(i);
        targets_.resize(std::max(targets_.size(), count));
        sources_.resize(targets_.size());
        return made;
    }
    void like(key from, key to) {
        auto& targets = targets_[from];
        if (std::find(targets.begin(), targets.end(), to) != targets.end()) return;
        targets.push_back(to);
        sources_[to].push_back(from);
    }
    template <class Visit>
    void visit_sources(const std::vector<key>& targets, Visit visit) const {
        for (const key target : targets)
            for (const key source : sources_[target]) visit(source);
    }
    [[nodiscard]] static std::uint64_t number_of(key e) { return e; }

private:
    std::vector<std::vector<key>> targets_;
    std::vector<std::vector<key>> sources_;
};

class floor_prefab {
public:
    void make_prefab(std::size_t children) { children_ = children; }
    void instantiate() {
        const auto root = static_cast<key>(roots_.size());
        roots_.push_back(ids_.create());
        positions_.push_back({1, 2});
        velocities_.push_back({1, 2});
        weights_.push_back({1, 2});
        for (std::size_t i = 0; i < children_; ++i) {
            parts_.push_back(ids_.create());
            parents_.push_back(root);
            part_positions_.push_back({1, 2});
            part_velocities_.push_back({1, 2});
        }
    }
    void instantiate(std::size_t count) {
        roots_.resize(count);
        ids_.create(roots_);
        positions_.assign(count, {1, 2});
        velocities_.assign(count, {1, 2});
        weights_.assign(count, {1, 2});
        parts_.resize(count * children_);
        if (children_ != 0) ids_.create(parts_);
        for (std::size_t i = 0; i < parts_.size(); ++i)
            parents_.push_back(static_cast<key>(i / children_));
        part_positions_.assign(parts_.size(), {1, 2});
        part_velocities_.assign(parts_.size(), {1, 2});
    }
    [[nodiscard]] std::size_t count_instances() const { return weights_.size(); }
    [[nodiscard]] std::size_t count_parts() const { return parents_.size(); }

private:
    std::size_t children_ = 0;
    floor_ids ids_;
    std::vector<floor_ids::id_type> roots_, parts_;
    std::vector<position> positions_, part_positions_;
    std::vector<velocity> velocities_, part_velocities_;
    std::vector<weight> weights_;
    std::vector<key> parents_;
};

[[maybe_unused]] const int registered = [] {
    ask_about_children<floor_family>("floor");
    ask_about_trees<floor_tree>("floor");
    ask_about_likes<floor_crowd>("floor");
    ask_about_prefabs<floor_prefab>("floor");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
