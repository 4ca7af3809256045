// Factions: who belongs to whom, and who thinks what of whom.
#include <muster/muster.hpp>

#include <cstdio>
#include <string>

struct name {
    std::string text;
};
struct health {
    int points;
};
struct member_of {};
struct opinion {
    int value = 0;
};

int main() {
    muster::world w;
    w.define<member_of>().relation().grouping();  // members of a faction are neighbours in memory
    w.define<opinion>().relation();               // of many factions, with a value for each

    const muster::entity elves = w.spawn(name{"elves"}), orcs = w.spawn(name{"orcs"});
    const muster::entity dwarves = w.spawn(name{"dwarves"});
    w.relate<opinion>(elves, dwarves, opinion{-2});
    w.relate<opinion>(elves, orcs, opinion{-9});
    w.relate<opinion>(dwarves, orcs, opinion{-8});
    w.relate<opinion>(dwarves, elves, opinion{1});

    for (int i = 0; i < 3; ++i) {
        w.spawn(name{"elf"}, health{20}, to<member_of>(elves));
        w.spawn(name{"orc"}, health{30}, to<member_of>(orcs));
    }
    const muster::entity gimli = w.spawn(name{"Gimli"}, health{25}, to<member_of>(dwarves));

    // Whoever hates the orcs attacks them.
    for (const muster::entity enemy : w.sources<opinion>(orcs)) {
        if (w.link<opinion>(enemy, orcs).value > -5) continue;
        const std::size_t attackers = w.query<const health>().to<member_of>(enemy).count();
        std::printf("%zu of the %s attack\n", attackers, w.get<name>(enemy).text.c_str());
        w.query<health>().to<member_of>(orcs).each(
            [&](health& h) { h.points -= static_cast<int>(attackers); });
    }
    w.query<const health>().to<member_of>(orcs).each(
        [](const health& h) { std::printf("an orc with %d points\n", h.points); });

    w.relate<member_of>(gimli, elves);  // an elf-friend
    w.link<opinion>(elves, dwarves).value += 5;
    w.query<>().each_link<opinion>([&](muster::entity from, muster::entity to, const opinion& o) {
        std::printf("%s of %s: %d\n", w.get<name>(from).text.c_str(), w.get<name>(to).text.c_str(),
                    o.value);
    });

    w.destroy(orcs);  // ends all links to them; the orcs live on, without a faction
    std::printf("%zu of %zu belong to a faction\n", w.query<const health>().to<member_of>().count(),
                w.count<health>());
    std::printf("%zu factions have an opinion\n", w.query<>().with<opinion>().count());
}
