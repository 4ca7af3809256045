// What do fragments cost that are made at run time: against C++ types, and against arrays?
#include "support/scene.hpp"

namespace muster::bench {
namespace {

/// A world whose positions and velocities are values of fragments.
struct fragment_scene {
    muster::world world;
    fragment<position> place = world.fragment<position>("position");
    fragment<velocity> speed = world.fragment<velocity>("velocity");
    std::vector<entity> entities;

    void fill(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            entities.push_back(
                world.spawn(with(place, position_of(i)), with(speed, velocity_of(i))));
    }
};

void get_by_fragment(benchmark::State& state) {
    fragment_scene s;
    s.fill(size_of(state));
    std::vector<entity> order;
    for (const std::uint32_t i : shuffled(s.entities.size(), 42)) order.push_back(s.entities[i]);
    sum_shuffled(state, order, [&](entity e) { return s.world.get(e, s.place).x; });
}
/// The floor here is access by type.
void get_by_type(benchmark::State& state) {
    scene<world> s(size_of(state));
    sum_shuffled(state, s.shuffled_entities(),
                 [&](entity e) { return s.world.get<position>(e).x; });
}

void spawn_by_fragment(benchmark::State& state) {
    std::vector<entity> out(size_of(state));
    measure(
        state, [] { return std::make_unique<fragment_scene>(); },
        [&](fragment_scene& s) {
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] =
                    s.world.spawn(with(s.place, position_of(i)), with(s.speed, velocity_of(i)));
        },
        [&](fragment_scene& s) { return s.world.count(s.place) == out.size(); });
}
void spawn_by_type(benchmark::State& state) {
    std::vector<entity> out(size_of(state));
    measure(
        state, [] { return std::make_unique<world>(); },
        [&](world& w) {
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = w.spawn(position_of(i), velocity_of(i));
        },
        [&](world& w) { return w.count<position>() == out.size(); });
}

/// Gives each entity one more component, and takes it away.
void set_by_fragment(benchmark::State& state) {
    fragment_scene s;
    s.fill(size_of(state));
    const fragment<extra> more = s.world.fragment<extra>("extra");
    measure_again(
        state,
        [&] {
            for (const entity e : s.entities) s.world.set(e, more, extra{1});
            for (const entity e : s.entities) s.world.remove(e, more);
        },
        [&] { return s.world.count(more) == 0 && s.world.count(s.place) == s.entities.size(); });
}
void set_by_type(benchmark::State& state) {
    scene<world> s(size_of(state));
    measure_again(
        state,
        [&] {
            for (const entity e : s.entities) s.world.set(e, extra{1});
            for (const entity e : s.entities) s.world.remove<extra>(e);
        },
        [&] { return s.world.count<extra>() == 0; });
}

const int registered = [] {
    add("get_random, by fragment", "floor", get_by_type);
    add("get_random, by fragment", "muster", get_by_fragment);
    add("spawn2, by fragment", "floor", spawn_by_type);
    add("spawn2, by fragment", "muster", spawn_by_fragment);
    add("add_remove, by fragment", "floor", set_by_type);
    add("add_remove, by fragment", "muster", set_by_fragment);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
