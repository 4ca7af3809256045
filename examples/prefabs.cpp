// Entities by example: prefabs, needed components, and entities destroyed with a fragment.
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
    w.define<velocity>().default_value(velocity{0, -1});
    w.define<position>().needs<velocity>();  // every entity with a position can move

    const muster::entity level = w.tag("level");
    w.define(level).when_destroyed(muster::destroy_owners);

    const muster::entity orc = w.spawn(std::string("orc"), muster::prefab, with(level));
    for (int i = 0; i < 3; ++i) w.clone(orc, position{static_cast<float>(i), 0});
    const muster::entity urk = w.clone(orc, std::string("Urk"), position{9, 9});

    std::printf("%s falls at %g, and is %s prefab\n", w.get<std::string>(urk).c_str(),
                static_cast<double>(w.get<velocity>(urk).y),
                w.has(urk, muster::prefab) ? "a" : "no");
    std::printf("%zu entities\n", w.size());
    w.destroy(level);  // and all entities that have it
    std::printf("%zu entities\n", w.size());
}
