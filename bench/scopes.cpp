// Measures deferred changes, and changes with hooks. The floor is Muster without scopes and without
// hooks.
#include "support/scene.hpp"

namespace muster::bench {
namespace {

/// Spawns an empty entity and calls `set` twice, deferred or at once.
template <bool IsDeferred>
void spawn_and_set(trial& t) {
    std::vector<entity> out(t.size());
    measure(
        t, [] { return std::make_unique<world>(); },
        [&](world& w) {
            if (IsDeferred) w.defer();
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = w.spawn();
                w.set(out[i], position_of(i));
                w.set(out[i], velocity_of(i));
            }
            if (IsDeferred) w.commit();
        },
        [&](world& w) {
            return w.count<velocity>() == out.size() && count_alive(w, out) == out.size();
        });
}

/// Times `change`, which adds a component to each entity and removes it; both count as one
/// operation.
template <class Change>
void add_and_remove(trial& t, scene& s, Change change) {
    measure_again(t, change, [&] {
        return s.world.count<velocity>() == s.entities.size() && s.world.count<extra>() == 0;
    });
}

// One scope for adding and one for removing; the memory of the journal is reused.
template <bool IsDeferred>
void add_remove_deferred(trial& t) {
    scene s(t.size());
    add_and_remove(t, s, [&] {
        if (IsDeferred) s.world.defer();
        for (const entity e : s.entities) s.world.set(e, extra{1});
        if (IsDeferred) s.world.commit();
        if (IsDeferred) s.world.defer();
        for (const entity e : s.entities) s.world.remove<extra>(e);
        if (IsDeferred) s.world.commit();
    });
}
// Inside a loop over the entities.
void add_remove_in_loops(trial& t) {
    scene s(t.size());
    add_and_remove(t, s, [&] {
        s.world.each([&](entity e, position&) { s.world.set(e, extra{1}); });
        s.world.each([&](entity e, position&) { s.world.remove<extra>(e); });
    });
}
// With hooks that count their calls.
void add_remove_with_hooks(trial& t) {
    scene s(t.size());
    std::size_t calls = 0;
    s.world.define<extra>().on_insert([&] { ++calls; }).on_remove([&] { ++calls; });
    add_and_remove(t, s, [&] {
        for (const entity e : s.entities) s.world.set(e, extra{1});
        for (const entity e : s.entities) s.world.remove<extra>(e);
    });
    if (calls == 0 || calls % (2 * t.size()) != 0) t.fail("the number of hook calls is wrong");
}

[[maybe_unused]] const int registered = [] {
    add("deferred, spawn and set", "floor", spawn_and_set<false>);
    add("deferred, spawn and set", "muster", spawn_and_set<true>);
    add("add_remove, deferred", "floor", add_remove_deferred<false>);
    add("add_remove, deferred", "muster", add_remove_deferred<true>);
    add("add_remove, in loops", "floor", add_remove_deferred<false>);
    add("add_remove, in loops", "muster", add_remove_in_loops);
    add("add_remove, hooks", "floor", add_remove_deferred<false>);
    add("add_remove, hooks", "muster", add_remove_with_hooks);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
