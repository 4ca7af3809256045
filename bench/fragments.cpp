// Measures fragments that are created at run time. The floor is Muster with C++ types.
#include "support/scene.hpp"

namespace muster::bench {
namespace {

/// A world that stores positions and velocities in run-time fragments.
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

void get_by_fragment(trial& t) {
    fragment_scene s;
    s.fill(t.size());
    std::vector<entity> order;
    for (const std::uint32_t i : shuffled(s.entities.size(), 42)) order.push_back(s.entities[i]);
    sum_shuffled(t, order, [&w = s.world, place = s.place](entity e) { return w.get(e, place).x; });
}
/// The floor: access by type.
void get_by_type(trial& t) {
    scene s(t.size());
    sum_shuffled(t, shuffled(s.entities, 42), [&](entity e) { return s.world.get<position>(e).x; });
}

void spawn_by_fragment(trial& t) {
    std::vector<entity> out(t.size());
    measure(
        t, [] { return std::make_unique<fragment_scene>(); },
        [&](fragment_scene& s) {
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] =
                    s.world.spawn(with(s.place, position_of(i)), with(s.speed, velocity_of(i)));
        },
        [&](fragment_scene& s) { return s.world.count(s.place) == out.size(); });
}
void spawn_by_type(trial& t) {
    std::vector<entity> out(t.size());
    measure(
        t, [] { return std::make_unique<world>(); },
        [&](world& w) {
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = w.spawn(position_of(i), velocity_of(i));
        },
        [&](world& w) { return w.count<position>() == out.size(); });
}

/// Adds a component to each entity and removes it.
void set_by_fragment(trial& t) {
    fragment_scene s;
    s.fill(t.size());
    const fragment<extra> more = s.world.fragment<extra>("extra");
    measure_again(
        t,
        [&] {
            for (const entity e : s.entities) s.world.set(e, more, extra{1});
            for (const entity e : s.entities) s.world.remove(e, more);
        },
        [&] { return s.world.count(more) == 0 && s.world.count(s.place) == s.entities.size(); });
}
void set_by_type(trial& t) {
    scene s(t.size());
    measure_again(
        t,
        [&] {
            for (const entity e : s.entities) s.world.set(e, extra{1});
            for (const entity e : s.entities) s.world.remove<extra>(e);
        },
        [&] { return s.world.count<extra>() == 0; });
}

[[maybe_unused]] const int registered = [] {
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
