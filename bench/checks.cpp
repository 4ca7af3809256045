// Measures the checks of `get`, compared with a Muster without checks; and `try_get`, compared with
// `get`.
#include "support/scene.hpp"
#include "unchecked/unchecked.hpp"

namespace muster::bench {
namespace {

void get_shuffled(trial& t) {
    scene s(t.size());
    sum_shuffled(t, shuffled(s.entities, 42), [&](entity e) { return s.world.get<position>(e).x; });
}
void try_get_shuffled(trial& t) {
    scene s(t.size());
    sum_shuffled(t, shuffled(s.entities, 42), [&](entity e) {
        const position* const p = s.world.try_get<position>(e);
        return p == nullptr ? 0 : p->x;
    });
}
/// Muster, built with MUSTER_UNCHECKED.
void get_without_checks(trial& t) {
    const unchecked_scene s(t.size());
    double sum = 0;
    measure_again(
        t,
        [&] {
            sum = s.sum_of_x();
            keep(sum);
        },
        [&] { return sum == sum_of_x(t.size()); });
}

[[maybe_unused]] const int registered = [] {
    add("get_random, checks", "floor", get_without_checks);
    add("get_random, checks", "muster", get_shuffled);
    add("try_get_random", "floor", get_shuffled);
    add("try_get_random", "muster", try_get_shuffled);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
