// The second group: birds keep together, flee and look for food; hawks hunt. Positions stay fixed,
// so that all threads see the same country.
#include "grid.hpp"
#include "systems.hpp"

#include <algorithm>
#include <cmath>

namespace demo {

namespace {

constexpr float fear_reach = 20;
constexpr float bite_reach = 6;
constexpr float catch_reach = 5;

struct vec {
    float x = 0, y = 0;

    float length() const { return std::sqrt(x * x + y * y); }
    /// Returns a vector of this direction and the length `wanted`, or zero.
    vec scaled_to(float wanted) const {
        const float now = length();
        return now > 0 ? vec{x * (wanted / now), y * (wanted / now)} : vec{};
    }
};

/// Steers away from other birds and along with the own flock.
vec keep_together(const bird_grid& birds, const position& p, const velocity& v, const flock& f) {
    vec apart, course, middle;
    float own = 1e-6f;
    // No branches: they would be unpredictable. The own sample of the bird adds zero vectors.
    birds.near(p.x, p.y, 3, [&](const bird_sample& other, std::size_t) {
        const float dx = p.x - other.x;
        const float dy = p.y - other.y;
        const float distance = dx * dx + dy * dy;
        const float is_own = other.flock == f.number ? 1.0f : 0.0f;
        own += is_own;
        course.x += is_own * (other.vx - v.x);
        course.y += is_own * (other.vy - v.y);
        middle.x -= is_own * dx;
        middle.y -= is_own * dy;
        // Birds of other flocks are kept at a greater distance.
        const float reach = 49 - 40 * is_own;
        const float weight = distance < reach ? 1 / (distance + 0.2f) : 0;
        apart.x += dx * weight;
        apart.y += dy * weight;
    });
    return {70 * apart.x + (2.5f * course.x + 2 * middle.x) / own,
            70 * apart.y + (2.5f * course.y + 2 * middle.y) / own};
}

vec circle(const position& roost, const position& p, float turn) {
    const vec to{roost.x - p.x, roost.y - p.y};
    const float distance = to.length() + 1;
    const float pull = 90 * distance / (distance + 150);
    return {(to.x * pull - to.y * turn) / distance, (to.y * pull + to.x * turn) / distance};
}

vec blown(const sky& above, const position& p) {
    vec sum;
    for (const sky::wind& wind : above.winds) {
        const float dx = p.x - wind.x;
        const float dy = p.y - wind.y;
        const float inside = 1 - (dx * dx + dy * dy) / (wind.radius * wind.radius);
        if (inside <= 0) continue;
        sum.x += 4 * inside * wind.push_x;
        sum.y += 4 * inside * wind.push_y;
    }
    return sum;
}

vec back_from_the_edge(const country& land, const position& p) {
    constexpr float margin = 50;
    constexpr float push = 500 / margin;
    return {push * (std::max(margin - p.x, 0.0f) - std::max(p.x - land.width + margin, 0.0f)),
            push * (std::max(margin - p.y, 0.0f) - std::max(p.y - land.height + margin, 0.0f))};
}

}  // namespace

void add_behavior(muster::world& w, tally& counts) {
    const auto behavior = w.system("behavior");
    const muster::world& seen = w;  // a const world: other entities are only read

    // The longest loop by far: it takes whole columns.
    w.system("flock")
        .group(behavior)
        .query(w.query<const position, const velocity, const flock, steering>())
        .execute([](muster::chunk_view rows, muster::single<const bird_grid> birds,
                    muster::single<const sky> above, muster::single<const country> land) {
            const auto p = rows.components<const position>();
            const auto v = rows.components<const velocity>();
            const auto f = rows.components<const flock>();
            const auto s = rows.components<steering>();
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const int number = f[i].number;
                const vec together = keep_together(*birds, p[i], v[i], f[i]);
                const vec round =
                    circle(above->roosts[number], p[i], number % 2 == 0 ? 45.0f : -45.0f);
                const vec wind = blown(*above, p[i]);
                const vec back = back_from_the_edge(*land, p[i]);
                s[i] = {together.x + round.x + wind.x + back.x,
                        together.y + round.y + wind.y + back.y};
            }
        });

    // Few birds are scared, and the state changes often: it is sparse, so that no bird moves.
    w.system("frighten")
        .group(behavior)
        .with<flock>()
        .without<scared>()
        .each([&w](entity e, const position& p, muster::single<const hawk_grid> hawks) {
            if (hawks->nearest(p.x, p.y, fear_reach, 4)) w.set(e, scared{0.5f});
        });
    w.system("flee").group(behavior).each([&w](entity e, const position& p, scared& fear,
                                               steering& s, muster::single<const hawk_grid> hawks,
                                               float dt) {
        vec away;
        hawks->near(p.x, p.y, 4, [&](const place_sample& hawk, std::size_t) {
            const float dx = p.x - hawk.x;
            const float dy = p.y - hawk.y;
            if (dx * dx + dy * dy > fear_reach * fear_reach) return;
            away.x += dx;
            away.y += dy;
        });
        if (away.x == 0 && away.y == 0) {
            fear.left -= dt;
            if (fear.left <= 0) w.remove<scared>(e);
            return;
        }
        fear.left = 0.5f;
        away = away.scaled_to(600);
        s.x += away.x;
        s.y += away.y;
    });

    // Another bird may have eaten the insect since: the handle in `hungry` detects it.
    w.system("forage").group(behavior).each(
        [&w, &seen, &counts](entity e, const position& p, hungry& h, steering& s,
                             muster::single<const insect_grid> insects) {
            if (!seen.alive(h.meal)) {
                if (h.meal) tally::add(counts.stale);
                h.meal = {};
                if (h.patience > 0) {
                    --h.patience;
                    return;
                }
                h.meal = insects->nearest(p.x, p.y, 20, 4);
                if (!h.meal) {
                    h.patience = 4;
                    return;
                }
            }
            const position& at = seen.get<position>(h.meal);
            const vec to{at.x - p.x, at.y - p.y};
            if (to.x * to.x + to.y * to.y < bite_reach * bite_reach) {
                w.set(h.meal, bitten{e});
                h.meal = {};
                return;
            }
            const vec pull = to.scaled_to(220);
            s.x += pull.x;
            s.y += pull.y;
        });

    w.system("hunt").group(behavior).without<resting>().each(
        [&w, &seen, &counts](entity e, const position& p, const velocity& v, hawk& h, energy& left,
                             dice& d, steering& s, muster::single<const bird_grid> birds,
                             muster::single<const country> land) {
            const vec back = back_from_the_edge(*land, p);
            s = {back.x, back.y};
            if (!seen.alive(h.prey)) {
                if (h.prey) tally::add(counts.stale);
                h.prey = birds->nearest(p.x, p.y, 20, 8);
                if (!h.prey) {  // it looks for prey
                    s.x += 2 * v.x + d.between(-80, 80);
                    s.y += 2 * v.y + d.between(-80, 80);
                    return;
                }
            }
            const position& at = seen.get<position>(h.prey);
            const vec to{at.x - p.x, at.y - p.y};
            const float distance = to.length();
            if (distance < catch_reach) {
                w.destroy(h.prey);
                w.set(e, resting{0.4f});
                left.left += 0.5f;
                tally::add(counts.caught);
                tally::add(counts.moved);
            } else if (distance > 120) {
                h.prey = {};
            } else {
                const vec wanted = to.scaled_to(190);
                s.x += 6 * (wanted.x - v.x);
                s.y += 6 * (wanted.y - v.y);
            }
        });
    w.system("rest").group(behavior).each(
        [&w, &counts](entity e, resting& r, const velocity& v, steering& s, float dt) {
            s = {-v.x, -v.y};
            r.left -= dt;
            if (r.left > 0) return;
            w.remove<resting>(e);
            tally::add(counts.moved);
        });
}

}  // namespace demo
