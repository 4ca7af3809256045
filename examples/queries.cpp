// Loops over entities by their components.
#include <muster/muster.hpp>

#include <cstdio>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};
struct health {
    int points;
};
struct frozen {};

int main() {
    muster::world w;
    for (int i = 0; i < 5; ++i) w.spawn(position{static_cast<float>(i), 0}, velocity{1, 1});
    w.spawn(position{100, 0}, velocity{1, 1}, frozen{});
    w.spawn(position{200, 0}, health{3});
    const muster::entity sleeper = w.spawn(position{300, 0}, velocity{1, 1}, muster::disabled);

    auto moving = w.query<position, const velocity>().without<frozen>();
    moving.each([](position& p, const velocity& v) { p.x += v.x; });
    std::printf("%zu move\n", moving.count());

    // A pointer parameter is an optional component.
    w.each([](muster::entity e, const position& p, const health* h) {
        std::printf("%s is at %g%s\n", to_string(e).c_str(), static_cast<double>(p.x),
                    h == nullptr ? "" : " and has health");
    });

    // `each_chunk` passes whole columns.
    moving.each_chunk([](muster::chunk_view v) {
        float sum = 0;
        for (const position& p : v.components<const position>()) sum += p.x;
        std::printf("%zu in a chunk, x adds up to %g\n", v.size(), static_cast<double>(sum));
    });

    std::printf("the sleeper: %s\n", moving.matches(sleeper) ? "moves" : "is not seen");
}
