// Muster's relations and hierarchies.
#include "contestants/muster_world.hpp"
#include "questions/relations.hpp"

namespace muster::bench {
namespace {

struct likes {};

class muster_family {
public:
    using id_type = entity;

    void spawn_parents(std::span<entity> out) { w_.spawn_into(out); }
    entity spawn_child(entity parent, std::size_t i) {
        return w_.spawn(position_of(i), velocity_of(i), to(child_of, parent));
    }
    void reparent(entity child, entity parent) { w_.relate(child_of, child, parent); }
    void destroy(entity child) { w_.destroy(child); }
    [[nodiscard]] entity parent_of(entity child) const { return w_.parent(child); }
    [[nodiscard]] double sum_of_children(const std::vector<entity>& parents) {
        double sum = 0;
        for (const entity parent : parents)
            for (const entity child : w_.children(parent))
                sum += static_cast<double>(w_.get<position>(child).x);
        return sum;
    }
    [[nodiscard]] double sum_of_x() {
        double sum = 0;
        w_.each([&](const position& p) { sum += static_cast<double>(p.x); });
        return sum;
    }
    auto loop_2() {
        return [q = w_.query<position, const velocity>()] {
            q.each([](position& p, const velocity& v) { step_2(p, v); });
        };
    }

private:
    world w_;
};

class muster_tree {
public:
    using id_type = entity;

    entity spawn_root() { return w_.spawn(local_place{1, 2, 3}, world_place{}); }
    entity spawn_node(entity parent) {
        return w_.spawn(local_place{1, 2, 3}, world_place{}, to(child_of, parent));
    }
    void destroy_tree(entity root) { w_.destroy(root); }
    [[nodiscard]] std::size_t count_nodes() { return w_.count<local_place>(); }
    [[nodiscard]] bool alive(entity e) const { return w_.alive(e); }
    [[nodiscard]] world_place place_of(entity e) { return w_.get<world_place>(e); }
    void arrange() { w_.arrange(child_of); }
    auto transform() {
        return [q = w_.query<world_place, const local_place, up<const world_place*>>().top_down()] {
            q.each([](world_place& out, const local_place& at, const world_place* parent) {
                place_below(out, at, parent != nullptr ? *parent : world_place{});
            });
        };
    }

private:
    world w_;
};

class muster_crowd {
public:
    using id_type = entity;

    muster_crowd() { w_.define<likes>().relation(); }
    std::vector<entity> spawn(std::size_t count) { return w_.spawn_many(count); }
    void like(entity from, entity to) { w_.relate<likes>(from, to); }
    template <class Visit>
    void visit_sources(const std::vector<entity>& targets, Visit visit) {
        for (const entity target : targets)
            for (const entity source : w_.sources<likes>(target)) visit(source);
    }
    [[nodiscard]] static std::uint64_t number_of(entity e) { return e.value(); }

private:
    world w_;
};

/// `clone` and `clone_many` copy an entity alone, which is enough without children.
template <bool HasChildren>
class muster_prefab {
public:
    void make_prefab(std::size_t children) {
        prefab_ = w_.spawn(position{1, 2}, velocity{1, 2}, weight{1, 2}, prefab);
        for (std::size_t i = 0; i < children; ++i)
            (void)w_.spawn(position{1, 2}, velocity{1, 2}, prefab, to(child_of, prefab_));
    }
    void instantiate() {
        if constexpr (HasChildren)
            (void)w_.clone_tree(prefab_);
        else
            (void)w_.clone(prefab_);
    }
    void instantiate(std::size_t count) {
        if constexpr (HasChildren)
            (void)w_.clone_trees(count, prefab_);
        else
            (void)w_.clone_many(count, prefab_);
    }
    [[nodiscard]] std::size_t count_instances() {
        return w_.query<const position, const velocity, const weight>().count();
    }
    [[nodiscard]] std::size_t count_parts() {
        return w_.query<const position, const velocity>().without<weight>().count();
    }

private:
    world w_;
    entity prefab_;
};

[[maybe_unused]] const int registered = [] {
    ask_about_children<muster_family>("muster");
    ask_about_trees<muster_tree>("muster");
    ask_about_likes<muster_crowd>("muster");
    ask_about_prefabs<muster_prefab<false>, muster_prefab<true>>("muster");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
