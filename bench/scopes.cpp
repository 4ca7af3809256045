// What does it cost to record a change and apply it later, and to be told of one?
#include "support/scene.hpp"

namespace muster::bench {
namespace {

/// New entities with two components, each by `make(world, i)`: recorded, then applied.
template <class World, class Make>
void make_deferred(benchmark::State& state, Make make) {
    const std::size_t count = size_of(state);
    std::vector<typename World::id_type> out(count);
    measure(
        state, [] { return std::make_unique<World>(); },
        [&](World& w) {
            w.defer();
            for (std::size_t i = 0; i < count; ++i) out[i] = make(w, i);
            w.commit();
        },
        [&](World& w) {
            return w.template count<velocity>() == count && count_alive(w, out) == count;
        });
}

// The floor makes them at once.
template <class World>
void spawn_deferred(benchmark::State& state) {
    make_deferred<World>(
        state, [](World& w, std::size_t i) { return w.spawn(position_of(i), velocity_of(i)); });
}
void spawn_at_once(benchmark::State& state) {
    const std::size_t count = size_of(state);
    std::vector<floor_world::id_type> out(count);
    measure(
        state, [] { return std::make_unique<floor_world>(); },
        [&](floor_world& w) {
            for (std::size_t i = 0; i < count; ++i)
                out[i] = w.spawn(position_of(i), velocity_of(i));
        },
        [&](floor_world& w) { return count_alive(w, out) == count; });
}
MUSTER_BENCH_WORLD("deferred", spawn_deferred, spawn_at_once);

// The same as an empty entity and two calls of set.
template <class World>
void set_deferred(benchmark::State& state) {
    make_deferred<World>(state, [](World& w, std::size_t i) {
        const auto e = w.spawn();
        w.set(e, position_of(i));
        w.set(e, velocity_of(i));
        return e;
    });
}
MUSTER_BENCH_WORLD("deferred, spawn and set", set_deferred, spawn_at_once);

/// Adds a component to each of many entities and removes it, by `change`, counted as one.
template <class World, class Change>
void add_and_remove(benchmark::State& state, scene<World>& s, Change change) {
    measure_again(state, change, [&] {
        return s.world.template count<velocity>() == s.entities.size() &&
               s.world.template count<extra>() == 0;
    });
}

// A component that is added and removed, each time in a scope; its memory is used again. The floor is
// the same without scopes.
template <class World, bool Deferred>
void add_remove_deferred(benchmark::State& state) {
    scene<World> s(size_of(state));
    add_and_remove(state, s, [&] {
        if (Deferred) s.world.defer();
        for (const auto e : s.entities) s.world.set(e, extra{1});
        if (Deferred) s.world.commit();
        if (Deferred) s.world.defer();
        for (const auto e : s.entities) s.world.template remove<extra>(e);
        if (Deferred) s.world.commit();
    });
}
// The same inside a loop over the entities.
template <class World>
void add_remove_in_loops(benchmark::State& state) {
    scene<World> s(size_of(state));
    add_and_remove(state, s, [&] {
        using id_type = typename World::id_type;
        s.world.each([&](id_type e, position&) { s.world.set(e, extra{1}); });
        s.world.each([&](id_type e, position&) { s.world.template remove<extra>(e); });
    });
}
// The same with hooks that count.
template <class World>
void add_remove_told(benchmark::State& state) {
    scene<World> s(size_of(state));
    std::size_t calls = 0;
    s.world.template define<extra>().on_insert([&] { ++calls; }).on_remove([&] { ++calls; });
    add_and_remove(state, s, [&] {
        for (const auto e : s.entities) s.world.set(e, extra{1});
        for (const auto e : s.entities) s.world.template remove<extra>(e);
    });
    benchmark::DoNotOptimize(calls);
}
const int registered_changes = [] {
    add("add_remove, deferred", "floor", add_remove_deferred<world, false>);
    add("add_remove, deferred", "muster", add_remove_deferred<world, true>);
    add("add_remove, in loops", "floor", add_remove_deferred<world, false>);
    add("add_remove, in loops", "muster", add_remove_in_loops<world>);
    add("add_remove, hooks", "floor", add_remove_deferred<world, false>);
    add("add_remove, hooks", "muster", add_remove_told<world>);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
