// What do sparse components cost: to come and go beside many others, to be found, and to be looped
// over, alone and beside others? The floor has them in an array, or as a list of indices into
// another.
#include "support/floor_ids.hpp"
#include "support/scene.hpp"

namespace muster::bench {
namespace {

struct burning {
    float v;
};

}  // namespace
}  // namespace muster::bench

template <>
struct muster::component_traits<muster::bench::burning> {
    static constexpr bool sparse = true;
};

namespace muster::bench {
namespace {

/// Entities with a position and a velocity; `burning` is sparse.
struct sparse_scene : scene {
    explicit sparse_scene(const trial& t) : scene(t.size()) {}

    /// Gives one to the first of each `many` entities.
    void light(std::size_t many) {
        for (std::size_t i = 0; i < entities.size(); i += many)
            world.set(entities[i], burning{position_of(i).x});
    }
};

/// What the floor has: an array, indexed by the key.
struct floor_values {
    floor_ids ids;
    std::vector<floor_ids::id_type> entities;
    std::vector<burning> values;

    explicit floor_values(std::size_t count) : entities(count) {
        ids.create(entities);
        for (std::size_t i = 0; i < count; ++i) values.push_back({position_of(i).x});
    }
};

void to_eight(trial& t) {
    sparse_scene s(t);
    for (const entity e : s.entities)
        s.world.set(e, filler<0>{1, 2}, filler<1>{1, 2}, filler<2>{1, 2}, filler<3>{1, 2},
                    filler<4>{1, 2}, filler<5>{1, 2});
    bool had_all = true;
    measure_again(
        t,
        [&] {
            for (const entity e : s.entities) s.world.set(e, burning{1});
            had_all = had_all && s.world.count<burning>() == s.entities.size();
            for (const entity e : s.entities) s.world.remove<burning>(e);
        },
        [&] { return had_all && s.world.count<burning>() == 0; });
}
void floor_to_eight(trial& t) {
    const floor_values all(t.size());
    std::vector<std::uint32_t> masks(t.size(), 3);
    std::vector<burning> values(t.size());
    measure_again(
        t,
        [&] {
            for (const auto e : all.entities) {
                values[floor_ids::key(e)] = {1};
                masks[floor_ids::key(e)] |= 4;
            }
            clobber();
            for (const auto e : all.entities) masks[floor_ids::key(e)] &= ~4u;
        },
        [&] { return masks.back() == 3 && values.back().v == 1; });
}

void get_shuffled(trial& t) {
    sparse_scene s(t);
    s.light(1);
    sum_shuffled(t, shuffled(s.entities, 42), [&](entity e) { return s.world.get<burning>(e).v; });
}
void floor_get(trial& t) {
    const floor_values all(t.size());
    sum_shuffled(t, shuffled(all.entities, 42), [&](floor_ids::id_type e) {
        return all.ids.alive(e) ? all.values[floor_ids::key(e)].v : 0;
    });
}

void loop_alone(trial& t) {
    sparse_scene s(t);
    s.light(1);
    const auto q = s.world.query<burning>();
    measure_again(
        t, [&] { q.each([](burning& b) { b.v += 1; }); },
        [&](std::size_t passes) {
            return s.world.get<burning>(s.entities[1]).v ==
                   position_of(1).x + static_cast<float>(passes);
        });
}
void floor_alone(trial& t) {
    std::vector<burning> all(t.size(), burning{0});
    measure_again(
        t,
        [&] {
            for (burning& b : all) b.v += 1;
        },
        [&](std::size_t passes) { return all[1].v == static_cast<float>(passes); });
}

/// One of every `Step` has both; nanoseconds are for each entity of the world.
template <std::size_t Step>
void loop_with_chunk(trial& t) {
    sparse_scene s(t);
    s.light(Step);
    const auto q = s.world.query<position, const burning>();
    measure_again(
        t, [&] { q.each([](position& p, const burning& b) { p.y += b.v; }); },
        [&] {
            return q.count() == (s.entities.size() + Step - 1) / Step &&
                   s.world.get<position>(s.entities[0]).y == 1;
        });
}
template <std::size_t Step>
void floor_with_chunk(trial& t) {
    std::vector<position> places(t.size(), position{1, 1});
    std::vector<std::uint32_t> who;
    std::vector<burning> all;
    for (std::size_t i = 0; i < places.size(); i += Step) {
        who.push_back(static_cast<std::uint32_t>(i));
        all.push_back({0});
    }
    measure_again(
        t,
        [&] {
            for (std::size_t i = 0; i < who.size(); ++i) places[who[i]].y += all[i].v;
        },
        [&] { return places[0].y == 1; });
}

[[maybe_unused]] const int registered = [] {
    add("sparse_add_remove8", "floor", floor_to_eight);
    add("sparse_add_remove8", "muster", to_eight);
    add("sparse_get_random", "floor", floor_get);
    add("sparse_get_random", "muster", get_shuffled);
    add("sparse_iter", "floor", floor_alone);
    add("sparse_iter", "muster", loop_alone);
    add("sparse_with_chunk, 1 %", "floor", floor_with_chunk<100>);
    add("sparse_with_chunk, 1 %", "muster", loop_with_chunk<100>);
    add("sparse_with_chunk, 50 %", "floor", floor_with_chunk<2>);
    add("sparse_with_chunk, 50 %", "muster", loop_with_chunk<2>);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
