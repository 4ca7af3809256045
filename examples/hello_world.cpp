// A world, some entities, a frame.
#include <muster/muster.hpp>

#include <cstdio>
#include <string>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

int main() {
    muster::world w;
    const muster::entity ship = w.spawn(position{0, 0}, velocity{2, 1}, std::string("ship"));
    w.spawn_many(3, position{5, 5}, velocity{-1, 0});
    w.spawn(position{9, 9});  // it has no velocity, and stays

    for (int frame = 0; frame < 3; ++frame)
        for (const muster::entity e : w.entities())
            if (const auto [p, v] = w.try_get<position, velocity>(e); v != nullptr) {
                p->x += v->x;
                p->y += v->y;
            }

    const position& p = w.get<position>(ship);
    std::printf("the %s is at %g, %g\n", w.get<std::string>(ship).c_str(), static_cast<double>(p.x),
                static_cast<double>(p.y));
    for (const muster::entity e : w.entities())
        std::printf("%s at %g\n", to_string(e).c_str(), static_cast<double>(w.get<position>(e).x));
}
