// A chunk stores the entities with the same components as parallel arrays.
#include <muster/muster.hpp>

#include <cstdio>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};
struct frozen {};

int main() {
    muster::world w;
    const auto movers = w.spawn_many(4, position{0, 0}, velocity{1, 2});
    w.add<frozen>(movers[1]);  // moves to the chunk <position, velocity, frozen>

    const muster::chunk moving = w.chunk<position, velocity>();
    const auto p = moving.components<position>();
    const auto v = moving.components<velocity>();
    for (std::size_t row = 0; row < moving.size(); ++row) {
        p[row].x += v[row].x;
        p[row].y += v[row].y;
    }

    for (const muster::entity e : movers) {
        const auto [chunk, row] = w.locate(e);
        std::printf("%s: %zu fragments, row %zu of %zu, x = %g\n", to_string(e).c_str(),
                    chunk.fragments().size(), row, chunk.size(),
                    static_cast<double>(w.get<position>(e).x));
    }
}
