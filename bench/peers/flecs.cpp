// flecs, with its fastest idioms: components registered in advance, a kept table for new entities,
// bulk creation from arrays, cached queries, and C functions if they are faster than the C++ API.
#include <flecs.h>

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "questions/all.hpp"

namespace muster::bench {
namespace {

using id = ecs_entity_t;

/// The trait is a constant, which makes queries of this component alone faster.
struct sparse_extra {
    static constexpr bool dont_fragment = true;
    float value;
};

class flecs_world {
public:
    using id_type = id;

    std::vector<id> entities;

    flecs_world() {
        world_.component<position>();
        world_.component<velocity>();
        world_.component<payload>();
        world_.component<extra>();
        world_.component<tag>();
        world_.component<sparse_extra>();
        register_all(std::make_index_sequence<26>(), std::make_index_sequence<8>(),
                     std::make_index_sequence<6>());
    }

    id create() { return ecs_new(world_); }
    void create(std::span<id> out) {
        ecs_dim(world_, static_cast<std::int32_t>(out.size()));
        ecs_bulk_desc_t wanted = {};
        wanted.count = static_cast<std::int32_t>(out.size());
        std::memcpy(out.data(), ecs_bulk_init(world_, &wanted), out.size_bytes());
    }
    void destroy(id e) { ecs_delete(world_, e); }
    [[nodiscard]] bool alive(id e) const { return ecs_is_alive(world_, e); }

    void spawn(std::span<id> out) {
        const ecs_id_t ids[] = {world_.id<position>(), world_.id<velocity>()};
        ecs_table_t* const table = ecs_table_find(world_, ids, 2);
        const auto first = ecs_table_get_column_index(world_, table, ids[0]);
        const auto second = ecs_table_get_column_index(world_, table, ids[1]);
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = ecs_new_w_table(world_, table);
            const auto row = static_cast<std::int32_t>(i);
            *static_cast<position*>(ecs_table_get_column(table, first, row)) = position_of(i);
            *static_cast<velocity*>(ecs_table_get_column(table, second, row)) = velocity_of(i);
        }
    }
    void spawn_bulk(std::span<id> out, const std::vector<position>& positions,
                    const std::vector<velocity>& velocities) {
        ecs_bulk_desc_t wanted = {};
        wanted.count = static_cast<std::int32_t>(out.size());
        wanted.ids[0] = world_.id<position>();
        wanted.ids[1] = world_.id<velocity>();
        void* data[] = {const_cast<position*>(positions.data()),
                        const_cast<velocity*>(velocities.data())};
        wanted.data = data;
        std::memcpy(out.data(), ecs_bulk_init(world_, &wanted), out.size_bytes());
    }
    void spawn_deferred(std::span<id> out) {
        world_.defer_begin();
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = world_.entity().set<position>(position_of(i)).set<velocity>(velocity_of(i));
        world_.defer_end();
    }
    void fill(std::size_t count, bool with_payload) {
        entities.resize(count);
        spawn(entities);
        if (with_payload)
            for (const id e : entities) at(e).set<payload>({});
    }
    void fill_kinds(std::size_t count, std::size_t kinds) {
        for (std::size_t i = 0; i < count; ++i) {
            const flecs::entity e = world_.entity().set<position>(position_of(i));
            if (kinds == 26)
                set_variety(e, i % kinds, std::make_index_sequence<26>());
            else
                set_marks(e, i % kinds, std::make_index_sequence<8>());
        }
    }
    void enlarge() {
        for (const id e : entities) add_fillers(at(e), std::make_index_sequence<6>());
    }
    void destroy_all() { ecs_delete_with(world_, world_.id<payload>()); }
    void collect() { ecs_shrink(world_); }

    [[nodiscard]] double sum_of_x() {
        double sum = 0;
        world_.query<const position>().each(
            [&](const position& p) { sum += static_cast<double>(p.x); });
        return sum;
    }
    [[nodiscard]] std::size_t count_moving() {
        std::size_t count = 0;
        world_.query<const position, const velocity>().each(
            [&](const position&, const velocity&) { ++count; });
        return count;
    }
    [[nodiscard]] double sum_of(const std::vector<id>& ids) const {
        const ecs_id_t what = world_.id<position>();
        double sum = 0;
        for (const id e : ids)
            if (const auto* const p = static_cast<const position*>(ecs_get_id(world_, e, what)))
                sum += static_cast<double>(p->x);
        return sum;
    }
    double query_once() {
        double sum = 0;
        world_.each(
            [&](const position& p, const velocity& v) { sum += static_cast<double>(p.x + v.x); });
        return sum;
    }

    template <class T>
    void give(const std::vector<id>& ids) {
        const ecs_id_t what = world_.id<T>();
        for (const id e : ids) {
            if constexpr (std::is_empty_v<T>) {
                ecs_add_id(world_, e, what);
            } else {
                bool is_new = false;
                *static_cast<T*>(ecs_emplace_id(world_, e, what, sizeof(T), &is_new)) = {1};
            }
        }
    }
    template <class T>
    void take(const std::vector<id>& ids) {
        const ecs_id_t what = world_.id<T>();
        for (const id e : ids) ecs_remove_id(world_, e, what);
    }
    template <class T>
    [[nodiscard]] std::size_t count() const {
        return static_cast<std::size_t>(ecs_count_id(world_, world_.id<T>()));
    }
    void give_sparse(const std::vector<id>& ids) { give<sparse_extra>(ids); }
    void take_sparse(const std::vector<id>& ids) { take<sparse_extra>(ids); }
    /// Checks only the last entity.
    [[nodiscard]] std::size_t count_sparse() const {
        return at(entities.back()).has<sparse_extra>() ? entities.size() : 0;
    }
    void set_sparse(id e, float value) { at(e).set<sparse_extra>({value}); }
    [[nodiscard]] double sum_of_sparse(const std::vector<id>& ids) const {
        const ecs_id_t what = world_.id<sparse_extra>();
        double sum = 0;
        for (const id e : ids)
            if (const auto* const found = static_cast<const sparse_extra*>(
                    ecs_get_sparse_id(world_, e, what, sizeof(sparse_extra))))
                sum += static_cast<double>(found->value);
        return sum;
    }
    auto loop_sparse() {
        return [q = world_.query<sparse_extra>()] {
            q.each([](sparse_extra& one) { step_sparse(one.value); });
        };
    }
    /// Iterates over the sparse component. A query of both would look it up for each entity of the
    /// world.
    auto loop_with_sparse() {
        return [this, q = world_.query<const sparse_extra>(), what = world_.id<position>()] {
            q.each([&](flecs::entity e, const sparse_extra& one) {
                if (void* const found = ecs_get_mut_id(world_, e, what))
                    step_with_sparse(*static_cast<position*>(found), one.value);
            });
        };
    }

    auto loop_1() {
        return [q = world_.query_builder<position>().cached().build()] {
            q.run([](flecs::iter& it) {
                while (it.next()) {
                    position* const p = &it.field<position>(0)[0];
                    for (const auto i : it) step_1(p[i]);
                }
            });
        };
    }
    auto loop_2() {
        return [q = world_.query_builder<position, const velocity>().cached().build()] {
            q.run([](flecs::iter& it) {
                while (it.next()) {
                    position* const p = &it.field<position>(0)[0];
                    const velocity* const v = &it.field<const velocity>(1)[0];
                    for (const auto i : it) step_2(p[i], v[i]);
                }
            });
        };
    }
    auto loop_3() {
        return [q = world_.query_builder<position, const velocity, payload>().cached().build()] {
            q.run([](flecs::iter& it) {
                while (it.next()) {
                    position* const p = &it.field<position>(0)[0];
                    const velocity* const v = &it.field<const velocity>(1)[0];
                    payload* const d = &it.field<payload>(2)[0];
                    for (const auto i : it) step_3(p[i], v[i], d[i]);
                }
            });
        };
    }
    auto heavy_1() {
        return [q = world_.query_builder<position, const velocity>().cached().build()] {
            q.each([](position& p, const velocity& v) { work_hard(p, v); });
        };
    }
    auto heavy_2() {
        world_.system<position, const velocity>().multi_threaded().each(
            [](position& p, const velocity& v) { work_hard(p, v); });
        world_.set_threads(2);
        return [this] { world_.progress(0.1f); };
    }

private:
    [[nodiscard]] flecs::entity at(id e) const { return flecs::entity(world_, e); }

    template <std::size_t... Is, std::size_t... Js, std::size_t... Ks>
    void register_all(std::index_sequence<Is...>, std::index_sequence<Js...>,
                      std::index_sequence<Ks...>) {
        (world_.component<variety<Is>>(), ...);
        (world_.component<mark<Js>>(), ...);
        (world_.component<filler<Ks>>(), ...);
    }
    template <std::size_t... Is>
    void set_variety(flecs::entity e, std::size_t kind, std::index_sequence<Is...>) {
        ((kind == Is ? void(e.set<variety<Is>>({1})) : void()), ...);
    }
    template <std::size_t... Is>
    void set_marks(flecs::entity e, std::size_t kind, std::index_sequence<Is...>) {
        (((kind >> Is & 1) != 0 ? void(e.add<mark<Is>>()) : void()), ...);
    }
    template <std::size_t... Is>
    void add_fillers(flecs::entity e, std::index_sequence<Is...>) {
        (e.set<filler<Is>>({1, 2}), ...);
    }

    flecs::world world_;
};

/// Seven cached queries.
class flecs_garden {
public:
    void add(unsigned kind, const recipe& r) {
        const flecs::entity e = world_.entity();
        if (kind & placed) e.set<place>(r.p);
        if (kind & moving) e.set<speed>(r.v);
        if (kind & minded) e.set<mind>(r.m);
        if (kind & bodied) e.set<species>(r.s).set<body>(r.b).set<teeth>(r.t).set<look>(r.l);
    }
    void run(picture& on) {
        movers_.each([](place& p, const speed& v) { move(p, v); });
        minds_.each([](mind& m) { live(m); });
        turners_.each([](const place& p, speed& v, mind& m) { turn(p, v, m); });
        bodies_.each([](body& b) { grow(b); });
        bitten_.each([](body& b, const teeth& t) { be_bitten(b, t); });
        looks_.each([](look& l, const species& s, const body& b) { choose_look(l, s, b); });
        drawn_.each([&](const place& p, const look& l) { draw(on, p, l); });
    }
    result sum() {
        result made;
        minds_.each([&](mind& m) { made.add(m); });
        world_.query<const body, const look>().each(
            [&](const body& b, const look& l) { made.add(b, l); });
        return made;
    }

private:
    template <class... Ts>
    flecs::query<Ts...> cached() {
        return world_.query_builder<Ts...>().cached().build();
    }

    flecs::world world_;
    flecs::query<place, const speed> movers_ = cached<place, const speed>();
    flecs::query<mind> minds_ = cached<mind>();
    flecs::query<const place, speed, mind> turners_ = cached<const place, speed, mind>();
    flecs::query<body> bodies_ = cached<body>();
    flecs::query<body, const teeth> bitten_ = cached<body, const teeth>();
    flecs::query<look, const species, const body> looks_ =
        cached<look, const species, const body>();
    flecs::query<const place, const look> drawn_ = cached<const place, const look>();
};

[[maybe_unused]] const int registered = [] {
    add_peer("flecs", FLECS_VERSION);
    ask_about_ids<flecs_world>("flecs", million);
    ask_about_entities<flecs_world>("flecs", million);
    ask_about_components<flecs_world>("flecs", million);
    ask_about_sparse<flecs_world>("flecs", million);
    ask_about_frames<flecs_garden>("flecs");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
