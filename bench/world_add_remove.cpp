// What does it cost to add a component to each entity, and to take it away again?
#include "support/scene.hpp"

namespace muster::bench {
namespace {

template <class World>
void enlarge(scene<World>& s) {
    for (const auto e : s.entities)
        s.world.set(e, filler<0>{1, 2}, filler<1>{1, 2}, filler<2>{1, 2}, filler<3>{1, 2},
                    filler<4>{1, 2}, filler<5>{1, 2});
}

template <class World, class Added>
void add_and_remove(benchmark::State& state, scene<World>& s, Added added) {
    std::size_t had = 0;
    measure_again(
        state,
        [&] {
            for (const auto e : s.entities) s.world.set(e, added);
            had = s.world.template count<Added>();
            for (const auto e : s.entities) s.world.template remove<Added>(e);
        },
        [&] { return had == s.entities.size() && s.world.template count<Added>() == 0; });
}

template <class World>
void to_two(benchmark::State& state) {
    scene<World> s(size_of(state));
    add_and_remove(state, s, extra{1});
}
template <class World>
void tag_to_two(benchmark::State& state) {
    scene<World> s(size_of(state));
    add_and_remove(state, s, tag{});
}
template <class World>
void to_eight(benchmark::State& state) {
    scene<World> s(size_of(state));
    enlarge(s);
    add_and_remove(state, s, extra{1});
}

void floor_component(benchmark::State& state) {
    scene<floor_world> s(size_of(state));
    measure_again(
        state,
        [&] {
            for (const auto e : s.entities) s.world.add(e, extra{1});
            for (const auto e : s.entities) s.world.remove(e);
        },
        [&] { return s.world.has[0] == 3; });
}
void floor_tag(benchmark::State& state) {
    scene<floor_world> s(size_of(state));
    measure_again(
        state,
        [&] {
            for (const auto e : s.entities) s.world.add_tag(e);
            for (const auto e : s.entities) s.world.remove(e);
        },
        [&] { return s.world.has[0] == 3; });
}
MUSTER_BENCH_WORLD("add_remove", to_two, floor_component);
MUSTER_BENCH_WORLD("add_remove_tag", tag_to_two, floor_tag);
MUSTER_BENCH_WORLD("add_remove8", to_eight, floor_component);

}  // namespace
}  // namespace muster::bench
