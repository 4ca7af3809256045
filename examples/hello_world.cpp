// A world, some entities, a frame.
#include <muster/muster.hpp>

#include <cstdio>
#include <string>

// Components are plain structs; no registration is needed.
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
    const muster::entity rock = w.spawn(position{9, 9});  // has no velocity and stays

    for (int frame = 0; frame < 3; ++frame)
        w.each([](position& p, const velocity& v) {  // all entities that have both
            p.x += v.x;
            p.y += v.y;
        });

    const position& p = w.get<position>(ship);
    std::printf("the %s is at %g, %g\n", w.get<std::string>(ship).c_str(), static_cast<double>(p.x),
                static_cast<double>(p.y));

    w.set(rock, std::string("rock"));  // components can be added at any time
    w.destroy(ship);
    w.each([](muster::entity e, const position& at, const velocity* v) {  // a pointer may be null
        std::printf("%s is at %g, %g%s\n", to_string(e).c_str(), static_cast<double>(at.x),
                    static_cast<double>(at.y), v == nullptr ? ", at rest" : "");
    });
}
