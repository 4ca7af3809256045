// Measures the fixed cost of loops: seven kept queries over a single entity.
#include <muster/world/world.hpp>

#include "support/components.hpp"
#include "support/suite.hpp"

namespace muster::bench {
namespace {

/// The components of the entity; for the floor, an element of an array.
struct one_entity {
    position p{0, 0};
    velocity v{1, 1};
    payload d{};
    extra e{1};
    filler<0> f{};
    filler<1> g{};
};

void move(position& p, const velocity& v) {
    p.x += v.x;
}
void count(payload& d) {
    d.count += 1;
}
void weigh(const position& p, const velocity& v, payload& d) {
    d.amount += static_cast<double>(p.y + v.y);
}
void raise(extra& e) {
    e.value += 1;
}
void add_filler(extra& e, const filler<0>& f) {
    e.value += f.a;
}
void mix(filler<1>& g, const extra& e, const filler<0>& f) {
    g.a += e.value + f.a;
}

bool is_right(const position& p, const payload& d, const extra& e, std::size_t passes) {
    if (passes >= 1 << 24) return true;  // beyond the exact integers of float
    const auto wanted = static_cast<float>(passes);
    return p.x == wanted && d.count == static_cast<std::int32_t>(passes) && e.value == 1 + wanted;
}

void seven_queries(trial& t) {
    world w;
    const one_entity one;
    const entity e = w.spawn(one.p, one.v, one.d, one.e, one.f, one.g);
    auto q1 = w.query<position, const velocity>();
    auto q2 = w.query<payload>();
    auto q3 = w.query<const position, const velocity, payload>();
    auto q4 = w.query<extra>();
    auto q5 = w.query<extra, const filler<0>>();
    auto q6 = w.query<filler<1>, const extra, const filler<0>>();
    auto q7 = w.query<const position, const filler<1>>();
    float seen = 0;
    measure_again(
        t,
        [&] {
            q1.each([](position& p, const velocity& v) { move(p, v); });
            q2.each([](payload& d) { count(d); });
            q3.each([](const position& p, const velocity& v, payload& d) { weigh(p, v, d); });
            q4.each([](extra& x) { raise(x); });
            q5.each([](extra& x, const filler<0>& f) { add_filler(x, f); });
            q6.each([](filler<1>& g, const extra& x, const filler<0>& f) { mix(g, x, f); });
            q7.each([&](const position& p, const filler<1>& g) { seen += p.x + g.b; });
            keep(seen);
        },
        [&](std::size_t passes) {
            return is_right(w.get<position>(e), w.get<payload>(e), w.get<extra>(e), passes);
        });
}

/// Seven loops over an array with one element.
void seven_loops(trial& t) {
    std::vector<one_entity> all(1);
    float seen = 0;
    const auto each = [&](auto call) {
        clobber();
        for (one_entity& value : all) call(value);
    };
    measure_again(
        t,
        [&] {
            each([](one_entity& o) { move(o.p, o.v); });
            each([](one_entity& o) { count(o.d); });
            each([](one_entity& o) { weigh(o.p, o.v, o.d); });
            each([](one_entity& o) { raise(o.e); });
            each([](one_entity& o) { add_filler(o.e, o.f); });
            each([](one_entity& o) { mix(o.g, o.e, o.f); });
            each([&](one_entity& o) { seen += o.p.x + o.g.b; });
            keep(seen);
        },
        [&](std::size_t passes) { return is_right(all[0].p, all[0].d, all[0].e, passes); });
}

[[maybe_unused]] const int registered = [] {
    add("seven_queries", "floor", seven_loops);
    add("seven_queries", "muster", seven_queries);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
