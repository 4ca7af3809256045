// Muster as a contestant: its ordinary calls, on a world of any layout.
#pragma once

#include <muster/world/world.hpp>

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "questions/sparse.hpp"
#include "support/components.hpp"
#include "support/garden.hpp"

namespace muster::bench {

template <class Layout>
class muster_world {
public:
    using world_type = basic_world<Layout>;
    using id_type = typename world_type::id_type;

    world_type world;
    std::vector<id_type> entities;

    id_type create() { return world.spawn(); }
    void create(std::span<id_type> out) { world.spawn_into(out); }
    void destroy(id_type e) { world.destroy(e); }
    [[nodiscard]] bool alive(id_type e) const { return world.alive(e); }

    void spawn(std::span<id_type> out) {
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = world.spawn(position_of(i), velocity_of(i));
    }
    void spawn_bulk(std::span<id_type> out, const std::vector<position>& positions,
                    const std::vector<velocity>& velocities) {
        world.spawn_columns_into(out, positions, velocities);
    }
    void spawn_deferred(std::span<id_type> out) {
        world.defer();
        spawn(out);
        world.commit();
    }
    void fill(std::size_t count, bool with_payload) {
        entities.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            entities[i] = with_payload ? world.spawn(position_of(i), velocity_of(i), payload{})
                                       : world.spawn(position_of(i), velocity_of(i));
    }
    void fill_kinds(std::size_t count, std::size_t kinds) {
        for (std::size_t i = 0; i < count; ++i) {
            const id_type e = world.spawn(position_of(i));
            if (kinds == 26)
                set_variety(e, i % kinds, std::make_index_sequence<26>());
            else
                set_marks(e, i % kinds, std::make_index_sequence<8>());
        }
    }
    void enlarge() {
        for (const id_type e : entities)
            world.set(e, filler<0>{1, 2}, filler<1>{1, 2}, filler<2>{1, 2}, filler<3>{1, 2},
                      filler<4>{1, 2}, filler<5>{1, 2});
    }
    void destroy_all() { world.template query<payload>().destroy(); }
    void collect() { world.collect_garbage(); }

    [[nodiscard]] double sum_of_x() {
        double sum = 0;
        world.each([&](const position& p) { sum += static_cast<double>(p.x); });
        return sum;
    }
    [[nodiscard]] std::size_t count_moving() {
        return world.template query<const position, const velocity>().count();
    }
    [[nodiscard]] double sum_of(const std::vector<id_type>& ids) {
        double sum = 0;
        for (const id_type e : ids) sum += static_cast<double>(world.template get<position>(e).x);
        return sum;
    }
    double query_once() {
        double sum = 0;
        world.template query<const position, const velocity>().each(
            [&](const position& p, const velocity& v) { sum += static_cast<double>(p.x + v.x); });
        return sum;
    }

    template <class T>
    void give(const std::vector<id_type>& ids) {
        for (const id_type e : ids) {
            if constexpr (std::is_empty_v<T>)
                world.set(e, T{});
            else
                world.set(e, T{1});
        }
    }
    template <class T>
    void take(const std::vector<id_type>& ids) {
        for (const id_type e : ids) world.template remove<T>(e);
    }
    template <class T>
    [[nodiscard]] std::size_t count() const {
        return world.template count<T>();
    }
    auto loop_1() {
        return [q = world.template query<position>()] { q.each([](position& p) { step_1(p); }); };
    }
    auto loop_2() {
        return [q = world.template query<position, const velocity>()] {
            q.each([](position& p, const velocity& v) { step_2(p, v); });
        };
    }
    auto loop_3() {
        return [q = world.template query<position, const velocity, payload>()] {
            q.each([](position& p, const velocity& v, payload& d) { step_3(p, v, d); });
        };
    }
    auto heavy_1() {
        return [q = world.template query<position, const velocity>()] {
            q.each([](position& p, const velocity& v) { work_hard(p, v); });
        };
    }

private:
    template <std::size_t... Is>
    void set_variety(id_type e, std::size_t kind, std::index_sequence<Is...>) {
        ((kind == Is ? world.set(e, variety<Is>{1}) : void()), ...);
    }
    template <std::size_t... Is>
    void set_marks(id_type e, std::size_t kind, std::index_sequence<Is...>) {
        (((kind >> Is & 1) != 0 ? world.set(e, mark<Is>{}) : void()), ...);
    }
};

/// A sparse component.
struct sparse_extra {
    float value;
};

/// A world with a sparse component.
template <class Layout>
class muster_sparse_world : public muster_world<Layout> {
public:
    using typename muster_world<Layout>::id_type;

    void give_sparse(const std::vector<id_type>& ids) { this->template give<sparse_extra>(ids); }
    void take_sparse(const std::vector<id_type>& ids) { this->template take<sparse_extra>(ids); }
    [[nodiscard]] std::size_t count_sparse() const { return this->template count<sparse_extra>(); }
    void set_sparse(id_type e, float value) { this->world.set(e, sparse_extra{value}); }
    [[nodiscard]] double sum_of_sparse(const std::vector<id_type>& ids) {
        double sum = 0;
        for (const id_type e : ids)
            sum += static_cast<double>(this->world.template get<sparse_extra>(e).value);
        return sum;
    }
    auto loop_sparse() {
        return [q = this->world.template query<sparse_extra>()] {
            q.each([](sparse_extra& s) { step_sparse(s.value); });
        };
    }
    auto loop_with_sparse() {
        return [q = this->world.template query<position, const sparse_extra>()] {
            q.each([](position& p, const sparse_extra& s) { step_with_sparse(p, s.value); });
        };
    }
};

}  // namespace muster::bench

template <>
struct muster::component_traits<muster::bench::sparse_extra> {
    static constexpr bool sparse = true;
};
