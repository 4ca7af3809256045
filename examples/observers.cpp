// An observer collects the entities that changed, each entity once, until the program reads it.
#include <muster/muster.hpp>

#include <cstdio>
#include <vector>

struct position {
    int x, y;
};
struct visible {};

int main() {
    muster::world w;
    auto moved = w.observer<const position>().with<visible>();
    auto gone = w.observer().removed<visible>();

    std::vector<muster::entity> ships;
    for (int i = 0; i < 4; ++i) ships.push_back(w.spawn(position{i, 0}, visible{}));
    w.spawn(position{9, 9});  // not visible: `moved` does not show it
    moved.clear();            // the first picture is drawn

    w.set(ships[2], position{2, 5});
    w.patch<position>(ships[0], [](position& p) { p.y = 1; });
    w.patch<position>(ships[2], [](position& p) { p.y += 1; });
    w.get<position>(ships[1]).y = 3;  // through a reference: unnoticed without touch()
    w.remove<visible>(ships[3]);
    w.destroy(ships[0]);

    moved.each([](muster::entity e, const position& p) {
        std::printf("draw %s at %d, %d\n", to_string(e).c_str(), p.x, p.y);
    });
    for (auto [e] : gone)
        std::printf("hide %s, which is %s\n", to_string(e).c_str(), w.alive(e) ? "alive" : "dead");
    std::printf("%zu and %zu are left to read\n", moved.size(), gone.size());
}
