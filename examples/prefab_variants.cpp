// Prefabs that inherit: a variant stores only what differs, and an instance stores only what is its own.
// A tree of entities is copied in one call.
#include <muster/muster.hpp>

#include <iostream>

struct armor {
    int value;
};
struct speed {
    int value;
};
struct damage {
    int taken;
};
struct turret {
    muster::entity target;
};

int main() {
    muster::world w;
    w.define<armor>().inherited();
    w.define<speed>().inherited();

    // A fast tank is a tank with less armor. It inherits nothing that it has itself.
    const muster::entity tank = w.spawn(armor{90}, speed{10}, muster::prefab);
    const muster::entity fast = w.spawn(armor{40}, muster::prefab, to(muster::is_a, tank));
    w.name(tank, "tank");
    w.name(fast, "fast tank");

    const muster::entity one = w.spawn(damage{0}, to(muster::is_a, tank));
    const muster::entity two = w.spawn(damage{5}, to(muster::is_a, fast));
    const auto report = [&](const char* when) {
        std::cout << when << '\n';
        w.query<const damage, const armor, const speed>().each(
            [&](muster::entity e, const damage& d, const armor& a, const speed& s) {
                std::cout << "  a " << w.name(w.target(muster::is_a, e)) << ": armor "
                          << a.value - d.taken << ", speed " << s.value << '\n';
            });
    };
    report("at first");

    w.get<speed>(tank).value = 12;  // of all tanks
    report("with a better engine");

    w.own<armor>(two).value += 25;  // of this one only
    w.set(fast, speed{20});         // of all fast tanks
    report("after the workshop");

    w.remove<armor>(two);
    report("as new");

    try {
        w.get<speed>(one).value = 0;
    } catch (const muster::error& error) {
        std::cout << to_string(error.code()) << '\n';
    }

    // A prefab of several entities: the turret of each copy aims at the copy's own flag.
    w.define<turret>().remap(
        [](turret& t, const muster::entity_map& map) { t.target = map(t.target); });
    const muster::entity range = w.spawn(muster::prefab);
    const muster::entity gun = w.spawn(turret{}, to(muster::child_of, range));
    w.get<turret>(gun).target = w.spawn(to(muster::child_of, range));
    int hits = 0;
    for (const muster::entity copy : w.clone_trees(3, range))
        for (const muster::entity part : w.children(copy))
            if (const turret* t = w.try_get<turret>(part))
                hits += w.parent(t->target) == copy ? 1 : 0;
    std::cout << hits << " turrets aim at their own flag\n";
}
