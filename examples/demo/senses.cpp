// The first group of a frame: fills the grids in which entities look for each other. A system takes
// its grid as an argument and declares what its query reads, so these systems run concurrently.
#include "grid.hpp"
#include "systems.hpp"

namespace demo {

void add_systems(muster::world& w, tally& counts) {
    add_senses(w);
    add_behavior(w, counts);
    add_motion(w);
    add_life(w, counts);
}

void add_senses(muster::world& w) {
    const auto senses = w.system("senses");
    const auto birds = w.query<const position, const velocity, const flock>();
    w.system("see birds")
        .group(senses)
        .reads<position, velocity, flock>()
        .execute([birds](muster::single<bird_grid> grid) {
            grid->rebuild(birds, [](const position& p, const velocity& v, const flock& f) {
                return bird_sample{p.x, p.y, v.x, v.y, f.number};
            });
        });
    const auto insects = w.query<const position>().with<insect>();
    w.system("see insects")
        .group(senses)
        .reads<position, insect>()
        .execute([insects](muster::single<insect_grid> grid) {
            grid->rebuild(insects, [](const position& p) { return place_sample{p.x, p.y}; });
        });
    const auto hawks = w.query<const position>().with<hawk>();
    w.system("see hawks")
        .group(senses)
        .reads<position, hawk>()
        .execute([hawks](muster::single<hawk_grid> grid) {
            grid->rebuild(hawks, [](const position& p) { return place_sample{p.x, p.y}; });
        });
    const auto gusts = w.query<const position, const velocity, const gust>();
    w.system("feel the sky")
        .group(senses)
        .reads<position, velocity, gust>()
        .execute([gusts](muster::single<sky> all, muster::single<const country> land) {
            for (int i = 0; i < flocks; ++i) {
                all->wide[i].advance();
                all->high[i].advance();
                all->roosts[i] = {land->width * (0.5f + 0.36f * all->wide[i].cosine),
                                  land->height * (0.5f + 0.34f * all->high[i].sine)};
            }
            all->winds.clear();
            gusts.each([&](const position& p, const velocity& v, const gust& g) {
                all->winds.push_back({p.x, p.y, g.radius, v.x, v.y});
            });
        });
}

}  // namespace demo
