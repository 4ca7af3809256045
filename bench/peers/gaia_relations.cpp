// The relations of gaia-ecs. `Parent`, which stores the target as data, is faster in all rows about
// hierarchies than `ChildOf`, which gives the children of each parent an archetype of their own.
#include <gaia.h>

#include <vector>

#include "questions/relations.hpp"

namespace muster::bench {
namespace {

namespace ecs = gaia::ecs;
using id = ecs::Entity;

class gaia_family {
public:
    using id_type = id;

    void spawn_parents(std::vector<id>& out) {
        for (id& parent : out) parent = world_.add();
    }
    id spawn_child(id parent, std::size_t i) {
        const id made = world_.copy(first_);
        {
            auto values = world_.acc_mut(made);
            values.smut<position>() = position_of(i);
            values.smut<velocity>() = velocity_of(i);
        }
        world_.parent(made, parent);
        return made;
    }
    void reparent(id child, id parent) { world_.parent(child, parent); }
    void destroy(id child) { world_.del(child); }
    void finish_frame() { world_.update(); }
    [[nodiscard]] id parent_of(id child) const { return world_.target(child, ecs::Parent); }
    [[nodiscard]] double sum_of_children(const std::vector<id>& parents) {
        double sum = 0;
        for (const id parent : parents)
            world_.sources(ecs::Parent, parent, [&](id child) {
                sum += static_cast<double>(world_.get<position>(child).x);
            });
        return sum;
    }
    [[nodiscard]] double sum_of_x() {
        double sum = 0;
        world_.uquery().all<position>().each(
            [&](const position& p) { sum += static_cast<double>(p.x); });
        return sum - static_cast<double>(world_.get<position>(first_).x);
    }
    auto loop_2() {
        // The prototype of the children has a velocity of 0.
        return [q = world_.query().all<position&>().all<velocity>()]() mutable {
            q.each([](ecs::Iter& it) {
                position* const p = it.sview_mut<position>(0).data();
                const velocity* const v = it.view<velocity>(1).data();
                const auto size = it.size();
                for (std::uint32_t i = 0; i < size; ++i) step_2(p[i], v[i]);
            });
        };
    }

private:
    ecs::World world_;
    id first_ = [this] {
        const id made = world_.add();
        world_.build(made).add<position>().add<velocity>().commit();
        world_.set<position>(made) = {};
        world_.set<velocity>(made) = {};
        return made;
    }();
};

class gaia_tree {
public:
    using id_type = id;

    id spawn_root() {
        const id made = world_.add();
        world_.build(made).add<local_place>().add<world_place>().commit();
        world_.set<local_place>(made) = {1, 2, 3};
        world_.set<world_place>(made) = {};
        return made;
    }
    id spawn_node(id parent) {
        const id made = spawn_root();
        world_.parent(made, parent);
        return made;
    }
    void destroy_tree(id root) { world_.del(root); }
    void finish_frame() { world_.update(); }
    [[nodiscard]] std::size_t count_nodes() {
        return world_.uquery().all<local_place>().all<world_place>().count();
    }
    [[nodiscard]] bool alive(id e) const { return world_.valid(e); }
    [[nodiscard]] world_place place_of(id e) const { return world_.get<world_place>(e); }
    auto transform() {
        return [this, q = world_.query().all<world_place&>().all<local_place>()]() mutable {
            q.order_by(ecs::Parent, ecs::TravOrder::Down).each([&](id e) {
                const id parent = world_.target(e, ecs::Parent);
                const world_place above =
                    parent == ecs::EntityBad ? world_place{} : world_.get<world_place>(parent);
                world_place out{};
                place_below(out, world_.get<local_place>(e), above);
                world_.set<world_place>(e) = out;
            });
        };
    }

private:
    ecs::World world_;
};

/// A relation that stores its targets as data, which is at least as fast as pairs.
class gaia_crowd {
public:
    using id_type = id;

    gaia_crowd() { world_.add(likes_, ecs::DontFragment); }
    std::vector<id> spawn(std::size_t count) {
        std::vector<id> made(count);
        for (id& e : made) e = world_.add();
        return made;
    }
    void like(id from, id to) { world_.add(from, ecs::Pair(likes_, to)); }
    template <class Visit>
    void visit_sources(const std::vector<id>& targets, Visit visit) {
        for (const id target : targets) world_.sources(likes_, target, visit);
    }
    [[nodiscard]] static std::uint64_t number_of(id e) { return e.value(); }

private:
    ecs::World world_;
    id likes_ = world_.add();
};

class gaia_prefab {
public:
    void make_prefab(std::size_t children) {
        prefab_ = world_.prefab();
        fill(prefab_);
        world_.add<weight>(prefab_, {1, 2});
        for (std::size_t i = 0; i < children; ++i) {
            const id child = world_.prefab();
            fill(child);
            world_.parent(child, prefab_);
        }
    }
    void instantiate() { (void)world_.instantiate(prefab_); }
    void instantiate(std::size_t count) {
        world_.instantiate_n(prefab_, static_cast<std::uint32_t>(count));
    }
    [[nodiscard]] std::size_t count_instances() {
        return world_.uquery().all<position>().all<velocity>().all<weight>().count();
    }
    [[nodiscard]] std::size_t count_parts() {
        return world_.uquery().all<position>().all<velocity>().no<weight>().count();
    }

private:
    void fill(id e) {
        world_.add<position>(e, {1, 2});
        world_.add<velocity>(e, {1, 2});
    }

    ecs::World world_;
    id prefab_ = ecs::EntityBad;
};

[[maybe_unused]] const int registered = [] {
    ask_about_children<gaia_family>("gaia-ecs");
    ask_about_trees<gaia_tree>("gaia-ecs");
    ask_about_likes<gaia_crowd>("gaia-ecs");
    ask_about_prefabs<gaia_prefab>("gaia-ecs");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
