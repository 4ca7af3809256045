// The last group: animals eat, age, breed and die. A system that must see another system's recorded
// changes declares `after`.
#include "systems.hpp"

#include <algorithm>

namespace demo {

namespace {

constexpr int fledged = 25;          // frames
constexpr float metabolism = 0.07f;  // energy per second
constexpr float breeding = 0.7f;

/// Reflects a coordinate beyond the edge back into the country.
float inside(float at, float edge) {
    at = at < 0 ? -at : at;
    return at > edge ? 2 * edge - at : at;
}

}  // namespace

void add_life(muster::world& w, tally& counts) {
    const auto life = w.system("life");

    w.system("swallow").group(life).after("forage").each([&w, &counts](entity e, const bitten& b) {
        if (w.alive(b.by))
            w.set(b.by, meal{0.45f});
        else
            tally::add(counts.stale);
        w.destroy(e);
        tally::add(counts.eaten);
    });
    w.system("digest").group(life).after("swallow").each(
        [&w](entity e, const meal& m, energy& own) {
            own.left = std::min(own.left + m.energy, 1.1f);
            w.remove<meal>(e);
        });
    w.system("live").group(life).after("digest").without<fledgling>().each(
        [&w](entity e, const position& p, const velocity& v, const flock& f, const wings& own,
             energy& left, age& old, dice& d, float dt) {
            left.left -= metabolism * dt;
            ++old.frames;
            if (left.left <= 0 || old.frames > 220 + static_cast<int>(d.state % 60)) {
                w.destroy(e);
            } else if (left.left > breeding && d.roll() < 0.012f) {
                left.left *= 0.5f;
                const position nest{p.x + d.between(-2, 2), p.y + d.between(-2, 2)};
                w.spawn(nest, v, steering{0, 0}, own, energy{left.left}, age{0}, f,
                        dice::seeded(d.next()), fledgling{});
            }
        });
    w.system("grow up").group(life).with<flock, fledgling>().each(
        [&w, &counts](entity e, energy& left, age& old, float dt) {
            left.left -= metabolism * dt;
            if (left.left <= 0) {
                w.destroy(e);
            } else if (++old.frames > fledged) {
                w.remove<fledgling>(e);  // moves it to the chunk of its parents
                tally::add(counts.moved);
            }
        });
    w.system("get hungry")
        .group(life)
        .with<flock>()
        .without<hungry>()
        .each([&w](entity e, const energy& own) {
            if (own.left < 0.5f) w.set(e, hungry{{}, static_cast<int>(1000 * own.left) % 4});
        });
    w.system("be full")
        .group(life)
        .after("get hungry")
        .each([&w](entity e, const hungry&, const energy& own) {
            if (own.left > 0.7f) w.remove<hungry>(e);
        });

    w.system("wither").group(life).with<insect>().each([&w](entity e, age& old) {
        if (++old.frames > 120) w.destroy(e);
    });

    // A system that does not declare its accesses runs alone. It may make any change that a loop
    // may make, such as `clone`.
    const auto hawks = w.query<const position, hawk, energy, dice>();
    w.system("breed hawks").group(life).execute([&w, hawks](float dt) {
        const entity prefab = w.lookup("hawk");
        hawks.each([&](entity e, const position& p, const hawk&, energy& left, dice& d) {
            left.left -= 0.36f * dt;
            if (left.left <= 0) {
                w.destroy(e);
            } else if (left.left > 2) {
                left.left = 1;
                const velocity v{d.between(-100, 100), d.between(-100, 100)};
                w.clone(prefab, p, v, dice::seeded(d.next()));
            }
        });
    });
    const auto insects = w.query<const position>().with<insect>();
    w.system("swarm").group(life).execute(
        [&w, insects](muster::single<country> land, muster::single<const sky> above) {
            const entity prefab = w.lookup("insect");
            dice& d = land->insects;
            const std::size_t there = insects.count();
            const std::size_t room = land->most_insects - std::min(land->most_insects, there);
            for (std::size_t i = std::min(room, land->insects_each_frame); i > 0; --i) {
                // Some hatch anywhere, most of them near the places that flocks visit.
                position p{d.between(0, land->width), d.between(0, land->height)};
                if (i % 8 != 0) {
                    const position& roost = above->roosts[d.next() % flocks];
                    const float spread = land->height * 0.3f;
                    p.x = inside(roost.x + d.between(-spread, spread), land->width);
                    p.y = inside(roost.y + d.between(-spread, spread), land->height);
                }
                w.clone(prefab, p);
            }
        });
}

}  // namespace demo
