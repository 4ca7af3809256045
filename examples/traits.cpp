// Traits: a fragment can have fragments itself, which describe it.
#include <muster/muster.hpp>

#include <cstdio>
#include <string>

struct position {
    float x, y;
};
struct cache {
    int entries;
};

int main() {
    muster::world w;
    const muster::entity saved = w.tag("saved");
    const muster::fragment<std::string> unit = w.fragment<std::string>("unit");
    const muster::fragment<int> health = w.fragment<int>("health");

    // Traits of a C++ type and of a fragment created at run time.
    w.set(w.component<position>(), saved);
    w.set(health, saved);
    w.set(health, unit, "points");

    const muster::entity e = w.spawn(position{1, 2}, cache{512}, with(health, 75));
    w.each_fragment(e, [&](muster::id fragment, void* value) {
        if (!w.has(fragment, saved)) return;
        const std::string* const text = w.try_get(fragment, unit);
        if (fragment == health)
            std::printf("health: %d %s\n", *static_cast<int*>(value), text->c_str());
        else
            std::printf("position: %g %g\n", static_cast<double>(w.get<position>(e).x),
                        static_cast<double>(w.get<position>(e).y));
    });

    // A fragment that has itself is a singleton.
    const muster::entity gravity = w.spawn();
    w.set(gravity, gravity, 9.81);
    std::printf("gravity: %g\n", w.get<double>(gravity, gravity));
}
