// The relations of flecs, in both of its ways: pairs (`ChildOf`), which give each parent's children
// tables of their own, and `Parent` and `DontFragment`, which store targets as data.
#include <flecs.h>

#include <span>
#include <vector>

#include "questions/relations.hpp"

namespace muster::bench {
namespace {

using id = ecs_entity_t;

enum class way { pairs, data };

template <way Way>
class flecs_hierarchy {
public:
    using id_type = id;

    [[nodiscard]] bool alive(id e) const { return ecs_is_alive(world_, e); }
    void destroy(id e) { ecs_delete(world_, e); }
    [[nodiscard]] id parent_of(id e) const { return ecs_get_target(world_, e, EcsChildOf, 0); }
    void reparent(id child, id parent) {
        if constexpr (Way == way::pairs) {
            ecs_add_id(world_, child, ecs_pair(EcsChildOf, parent));
        } else {
            const EcsParent value{parent};
            ecs_set_id(world_, child, ecs_id(EcsParent), sizeof value, &value);
        }
    }

protected:
    /// Creates an entity in this table, or in that of the children of `parent`.
    id spawn(ecs_table_t* table, id parent) {
        if constexpr (Way == way::pairs)
            return ecs_new_w_table(world_,
                                   ecs_table_add_id(world_, table, ecs_pair(EcsChildOf, parent)));
        const id made = ecs_new_w_table(world_, table);
        reparent(made, parent);
        return made;
    }
    template <class T>
    [[nodiscard]] T& value_of(id e) {
        return *static_cast<T*>(ecs_get_mut_id(world_, e, world_.id<T>()));
    }
    template <class First, class Second>
    ecs_table_t* table_of() {
        const ecs_id_t ids[] = {world_.component<First>(), world_.component<Second>()};
        return ecs_table_find(world_, ids, 2);
    }

    flecs::world world_;
};

template <way Way>
class flecs_family : public flecs_hierarchy<Way> {
public:
    void spawn_parents(std::vector<id>& out) {
        for (id& parent : out) parent = ecs_new(world_);
    }
    id spawn_child(id parent, std::size_t i) {
        const id made = this->spawn(table_, parent);
        this->template value_of<position>(made) = position_of(i);
        this->template value_of<velocity>(made) = velocity_of(i);
        return made;
    }
    [[nodiscard]] double sum_of_children(const std::vector<id>& parents) {
        const ecs_id_t what = world_.template id<position>();
        double sum = 0;
        for (const id parent : parents) {
            ecs_iter_t it = ecs_children(world_, parent);
            while (ecs_children_next(&it)) {
                const position* const all = Way == way::pairs && it.table != nullptr
                                                ? static_cast<const position*>(ecs_table_get_id(
                                                      world_, it.table, what, it.offset))
                                                : nullptr;
                for (int i = 0; i < it.count; ++i)
                    sum += static_cast<double>((all != nullptr
                                                    ? all[i]
                                                    : *static_cast<const position*>(
                                                          ecs_get_id(world_, it.entities[i], what)))
                                                   .x);
            }
        }
        return sum;
    }
    [[nodiscard]] double sum_of_x() {
        double sum = 0;
        world_.template query<const position>().each(
            [&](const position& p) { sum += static_cast<double>(p.x); });
        return sum;
    }
    auto loop_2() {
        return [q = world_.template query_builder<position, const velocity>().cached().build()] {
            q.run([](flecs::iter& it) {
                while (it.next()) {
                    position* const p = &it.field<position>(0)[0];
                    const velocity* const v = &it.field<const velocity>(1)[0];
                    for (const auto i : it) step_2(p[i], v[i]);
                }
            });
        };
    }

private:
    using flecs_hierarchy<Way>::world_;
    ecs_table_t* table_ = this->template table_of<position, velocity>();
};

template <way Way>
class flecs_tree : public flecs_hierarchy<Way> {
public:
    id spawn_root() { return root_ = fill(ecs_new_w_table(world_, table_)); }
    id spawn_node(id parent) { return fill(this->spawn(table_, parent)); }
    void destroy_tree(id root) { ecs_delete(world_, root); }
    [[nodiscard]] std::size_t count_nodes() const {
        return static_cast<std::size_t>(ecs_count_id(world_, world_.template id<local_place>()));
    }
    [[nodiscard]] world_place place_of(id e) { return this->template value_of<world_place>(e); }
    auto transform() {
        if constexpr (Way == way::pairs)
            return [q = world_
                            .template query_builder<world_place, const local_place,
                                                    const world_place*>()
                            .term_at(2)
                            .parent()
                            .cascade()
                            .cached()
                            .build()] {
                q.run([](flecs::iter& it) {
                    while (it.next()) {
                        world_place* const out = &it.field<world_place>(0)[0];
                        const local_place* const at = &it.field<const local_place>(1)[0];
                        const world_place above =
                            it.is_set(2) ? it.field<const world_place>(2)[0] : world_place{};
                        for (const auto i : it) place_below(out[i], at[i], above);
                    }
                });
            };
        else
            return [this, q = by_depth(world_)] {
                const ecs_id_t what = world_.template id<world_place>();
                place_below(this->template value_of<world_place>(root_),
                            this->template value_of<local_place>(root_), {});
                for (std::uint64_t depth = 1; depth <= 20; ++depth) {
                    ecs_iter_t it = ecs_query_iter(world_, q);
                    ecs_iter_set_group(&it, depth);
                    while (ecs_query_next(&it)) {
                        auto* const out = static_cast<world_place*>(
                            ecs_field_w_size(&it, sizeof(world_place), 0));
                        const auto* const at = static_cast<const local_place*>(
                            ecs_field_w_size(&it, sizeof(local_place), 1));
                        const auto* const up = static_cast<const EcsParent*>(
                            ecs_field_w_size(&it, sizeof(EcsParent), 2));
                        for (int i = 0; i < it.count; ++i)
                            place_below(out[i], at[i],
                                        *static_cast<const world_place*>(
                                            ecs_get_id(world_, up[i].value, what)));
                    }
                }
            };
    }

private:
    using flecs_hierarchy<Way>::world_;

    static ecs_query_t* by_depth(const flecs::world& world) {
        ecs_query_desc_t wanted = {};
        wanted.terms[0].id = world.id<world_place>();
        wanted.terms[1].id = world.id<local_place>();
        wanted.terms[2].id = ecs_id(EcsParent);
        wanted.terms[2].inout = EcsIn;
        wanted.group_by = EcsParentDepth;
        wanted.cache_kind = EcsQueryCacheAuto;
        return ecs_query_init(world, &wanted);
    }
    id fill(id made) {
        this->template value_of<local_place>(made) = {1, 2, 3};
        this->template value_of<world_place>(made) = {};
        return made;
    }

    ecs_table_t* table_ = this->template table_of<local_place, world_place>();
    id root_ = 0;
};

template <way Way>
class flecs_crowd {
public:
    using id_type = id;

    flecs_crowd() {
        ecs_add_id(world_, likes_, EcsRelationship);
        if (Way == way::data) ecs_add_id(world_, likes_, EcsDontFragment);
    }
    std::vector<id> spawn(std::size_t count) {
        std::vector<id> made(count);
        for (id& e : made) e = ecs_new(world_);
        return made;
    }
    void like(id from, id to) { ecs_add_id(world_, from, ecs_pair(likes_, to)); }
    template <class Visit>
    void visit_sources(const std::vector<id>& targets, Visit visit) {
        for (const id target : targets) {
            ecs_query_desc_t wanted = {};
            wanted.terms[0].id = ecs_pair(likes_, target);
            ecs_query_t* const q = ecs_query_init(world_, &wanted);
            ecs_iter_t it = ecs_query_iter(world_, q);
            while (ecs_query_next(&it))
                for (int i = 0; i < it.count; ++i) visit(it.entities[i]);
            ecs_query_fini(q);
        }
    }
    [[nodiscard]] static std::uint64_t number_of(id e) { return e; }

private:
    flecs::world world_;
    id likes_ = ecs_new(world_);
};

/// Instances copy the values of the prefab.
template <way Way>
class flecs_prefab : flecs_hierarchy<Way> {
public:
    void make_prefab(std::size_t children) {
        world_.template component<position>();
        world_.template component<velocity>();
        world_.template component<weight>();
        prefab_ = ecs_new_w_id(world_, EcsPrefab);
        fill(prefab_);
        flecs::entity(world_, prefab_).set<weight>({1, 2});
        for (std::size_t i = 0; i < children; ++i) {
            const id child = ecs_new_w_id(world_, EcsPrefab);
            fill(child);
            this->reparent(child, prefab_);
        }
    }
    void instantiate() { (void)ecs_new_w_pair(world_, EcsIsA, prefab_); }
    void instantiate(std::size_t count) {
        ecs_bulk_desc_t wanted = {};
        wanted.count = static_cast<std::int32_t>(count);
        wanted.ids[0] = ecs_pair(EcsIsA, prefab_);
        (void)ecs_bulk_init(world_, &wanted);
    }
    [[nodiscard]] std::size_t count_instances() {
        return count(world_.template query<const position, const velocity, const weight>());
    }
    [[nodiscard]] std::size_t count_parts() {
        return count(world_.template query_builder<const position, const velocity>()
                         .template without<weight>()
                         .build());
    }

private:
    using flecs_hierarchy<Way>::world_;

    template <class Query>
    static std::size_t count(const Query& of) {
        return static_cast<std::size_t>(of.count());
    }
    void fill(id e) {
        flecs::entity(world_, e).set<position>({1, 2}).template set<velocity>({1, 2});
    }

    id prefab_ = 0;
};

[[maybe_unused]] const int registered = [] {
    ask_about_children<flecs_family<way::pairs>>("flecs");
    ask_about_trees<flecs_tree<way::pairs>>("flecs");
    ask_about_likes<flecs_crowd<way::pairs>>("flecs");
    ask_about_prefabs<flecs_prefab<way::pairs>>("flecs");
    ask_about_children<flecs_family<way::data>>("flecs Parent");
    ask_about_trees<flecs_tree<way::data>>("flecs Parent");
    ask_about_likes<flecs_crowd<way::data>>("flecs Parent");
    ask_about_prefabs<flecs_prefab<way::data>>("flecs Parent");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
