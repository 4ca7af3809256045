// What do sparse components cost: to come and go, to be found, and to be looped over, alone and beside
// others?
#include "support/scene.hpp"

namespace muster::bench {
namespace {

struct burning {
    float v;
};

/// Entities of two or eight components; `burning` is sparse.
struct sparse_scene : scene<world> {
    explicit sparse_scene(const benchmark::State& state) : scene(size_of(state)) {
        world.define<burning>().sparse();
    }
    /// Gives every `step`th entity one.
    void light(std::size_t step) {
        for (std::size_t i = 0; i < entities.size(); i += step)
            world.set(entities[i], burning{position_of(i).x});
    }
};

void come_and_go(benchmark::State& state, sparse_scene& s) {
    std::size_t had = 0;
    measure_again(
        state,
        [&] {
            for (const entity e : s.entities) s.world.set(e, burning{1});
            had = s.world.count<burning>();
            for (const entity e : s.entities) s.world.remove<burning>(e);
        },
        [&] { return had == s.entities.size() && s.world.count<burning>() == 0; });
}
void to_two(benchmark::State& state) {
    sparse_scene s(state);
    come_and_go(state, s);
}
void to_eight(benchmark::State& state) {
    sparse_scene s(state);
    for (const entity e : s.entities)
        s.world.set(e, filler<0>{1, 2}, filler<1>{1, 2}, filler<2>{1, 2}, filler<3>{1, 2},
                    filler<4>{1, 2}, filler<5>{1, 2});
    come_and_go(state, s);
}
void floor_come_and_go(benchmark::State& state) {
    scene<floor_world> s(size_of(state));
    measure_again(
        state,
        [&] {
            for (const auto e : s.entities) s.world.add(e, extra{1});
            for (const auto e : s.entities) s.world.remove(e);
        },
        [&] { return s.world.has[0] == 3; });
}

void get_shuffled(benchmark::State& state) {
    sparse_scene s(state);
    s.light(1);
    sum_shuffled(state, s.shuffled_entities(), [&](entity e) { return s.world.get<burning>(e).v; });
}
void floor_get(benchmark::State& state) {
    scene<floor_world> s(size_of(state));
    sum_shuffled(state, s.shuffled_entities(), [&](auto e) {
        const auto* const p = s.world.try_get(e);
        return p == nullptr ? 0 : p->x;
    });
}

void loop_alone(benchmark::State& state) {
    sparse_scene s(state);
    s.light(1);
    const auto q = s.world.query<burning>();
    float times = 0;
    measure_again(
        state,
        [&] {
            q.each([](burning& b) { b.v += 1; });
            ++times;
        },
        [&] { return s.world.get<burning>(s.entities[1]).v == position_of(1).x + times; });
}
void floor_alone(benchmark::State& state) {
    std::vector<burning> all(size_of(state), burning{0});
    float times = 0;
    measure_again(
        state,
        [&] {
            for (burning& b : all) b.v += 1;
            ++times;
        },
        [&] { return all[1].v == times; });
}

/// Per entity that has both, one of every `Step`; the floor is a list of indices into an array.
template <std::size_t Step>
void loop_with_chunk(benchmark::State& state) {
    sparse_scene s(state);
    s.light(Step);
    const auto q = s.world.query<position, const burning>();
    measure_again(
        state, [&] { q.each([](position& p, const burning& b) { p.y += b.v; }); },
        [&] { return q.count() == (s.entities.size() + Step - 1) / Step; });
}
template <std::size_t Step>
void floor_with_chunk(benchmark::State& state) {
    std::vector<position> places(size_of(state), position{1, 1});
    std::vector<std::uint32_t> who;
    std::vector<burning> all;
    for (std::size_t i = 0; i < places.size(); i += Step) {
        who.push_back(static_cast<std::uint32_t>(i));
        all.push_back({0});
    }
    measure_again(
        state,
        [&] {
            for (std::size_t i = 0; i < who.size(); ++i) places[who[i]].y += all[i].v;
        },
        [&] { return places[0].y == 1; });
}

const int registered = [] {
    add("sparse_add_remove", "floor", floor_come_and_go);
    add("sparse_add_remove", "muster", to_two);
    add("sparse_add_remove8", "floor", floor_come_and_go);
    add("sparse_add_remove8", "muster", to_eight);
    add("sparse_get_random", "floor", floor_get);
    add("sparse_get_random", "muster", get_shuffled);
    add("sparse_iter", "floor", floor_alone);
    add("sparse_iter", "muster", loop_alone);
    add("sparse_with_chunk_1%", "floor", floor_with_chunk<100>);
    add("sparse_with_chunk_1%", "muster", loop_with_chunk<100>);
    add("sparse_with_chunk_50%", "floor", floor_with_chunk<2>);
    add("sparse_with_chunk_50%", "muster", loop_with_chunk<2>);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
