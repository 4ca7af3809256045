// Measures the cost that an observer adds to a change, and the cost of reading it.
#include "support/scene.hpp"

namespace muster::bench {
namespace {

// Assignments, with and without an observer. Reading is timed only if `is_read`.
void assign(trial& t, bool is_observed, bool is_read) {
    scene s(t.size());
    auto seen = s.world.observer<position>();
    if (!is_observed) seen.pause();
    std::size_t count = 0;
    measure_again(
        t,
        [&] {
            for (const entity e : s.entities) s.world.set(e, position{1, 1});
            if (is_read)
                seen.each([&](position&) { ++count; });
            else
                seen.clear();
        },
        [&] { return !is_read || count % t.size() == 0; });
    keep(count);
}
// Adds and removes a component.
void add_and_remove(trial& t, bool is_observed) {
    scene s(t.size());
    auto seen = s.world.observer().added<extra>().removed<extra>();
    if (!is_observed) seen.pause();
    measure_again(
        t,
        [&] {
            for (const entity e : s.entities) s.world.set(e, extra{1});
            for (const entity e : s.entities) s.world.remove<extra>(e);
            seen.clear();
        },
        [&] { return s.world.count<extra>() == 0; });
}
[[maybe_unused]] const int registered = [] {
    const auto plain = [](trial& t) { assign(t, false, false); };
    add("assign, observed", "floor", plain);
    add("assign, observed", "muster", [](trial& t) { assign(t, true, false); });
    add("assign, observed and read", "floor", plain);
    add("assign, observed and read", "muster", [](trial& t) { assign(t, true, true); });
    add("add_remove, observed", "floor", [](trial& t) { add_and_remove(t, false); });
    add("add_remove, observed", "muster", [](trial& t) { add_and_remove(t, true); });
    return 0;
}();

}  // namespace
}  // namespace muster::bench
