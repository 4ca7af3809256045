// Measures changes of many entities by one call of a query. The floor changes them one by one.
#include "support/scene.hpp"

namespace muster::bench {
namespace {

/// Times `change` on a new scene. `sound(world)` must hold afterwards.
template <class Change, class Sound>
void measure_change(trial& t, Change change, Sound sound) {
    measure(
        t, [&] { return std::make_unique<scene>(t.size(), true); }, [&](scene& s) { change(s); },
        [&](scene& s) { return sound(s.world); });
}

// A component that no entity has.
void set_new(trial& t, bool by_query) {
    measure_change(
        t,
        [&](scene& s) {
            if (by_query)
                s.world.query<position>().set(extra{1});
            else
                for (const entity e : s.entities) s.world.set(e, extra{1});
        },
        [&](world& w) { return w.count<extra>() == t.size(); });
}
// A component that all entities have; the first change of each world.
void set_there(trial& t, bool by_query) {
    measure_change(
        t,
        [&](scene& s) {
            if (by_query)
                s.world.query<position>().set(velocity{7, 7});
            else
                for (const entity e : s.entities) s.world.set(e, velocity{7, 7});
        },
        [&](world& w) {
            bool is_right = true;
            w.each([&](const velocity& v) { is_right = is_right && v.x == 7; });
            return is_right;
        });
}
void remove(trial& t, bool by_query) {
    measure_change(
        t,
        [&](scene& s) {
            if (by_query)
                s.world.query<position>().remove<velocity>();
            else
                for (const entity e : s.entities) s.world.remove<velocity>(e);
        },
        [&](world& w) { return w.count<velocity>() == 0 && w.count<position>() == t.size(); });
}
void destroy(trial& t, bool by_query) {
    measure_change(
        t,
        [&](scene& s) {
            if (by_query)
                s.world.query<payload>().destroy();
            else
                for (const entity e : s.entities) s.world.destroy(e);
        },
        [](world& w) { return w.size() == 0; });
}
// Adds and removes a tag: this changes only records, no columns.
void flip_tag(trial& t, bool by_query) {
    scene s(t.size());
    const auto all = s.world.query<position>();
    measure_again(
        t,
        [&] {
            if (by_query) {
                all.set(tag{});
                all.remove<tag>();
            } else {
                for (const entity e : s.entities) s.world.set(e, tag{});
                for (const entity e : s.entities) s.world.remove<tag>(e);
            }
        },
        [&] { return s.world.count<tag>() == 0 && all.count() == t.size(); });
}

template <class Function>
void add_both(const char* workload, Function function) {
    add(workload, "floor", [=](trial& t) { function(t, false); });
    add(workload, "muster", [=](trial& t) { function(t, true); });
}
[[maybe_unused]] const int registered = [] {
    add_both("batch set, new", set_new);
    add_both("batch set, there", set_there);
    add_both("batch remove", remove);
    add_both("batch destroy", destroy);
    add_both("batch tag on and off", flip_tag);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
