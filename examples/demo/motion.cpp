// The third group: applies the steering and moves all entities.
#include "systems.hpp"

#include <algorithm>
#include <cmath>

namespace demo {

void add_motion(muster::world& w) {
    const auto motion = w.system("motion");
    w.system("fly").group(motion).each([](position& p, velocity& v, const steering& s,
                                          const wings& own, muster::single<const country> land,
                                          float dt) {
        v.x += s.x * dt;
        v.y += s.y * dt;
        const float speed = std::sqrt(v.x * v.x + v.y * v.y) + 0.001f;
        // Approaches cruising speed, fast from below, slowly from above, so that fear lasts.
        float wanted = speed < own.cruise ? speed * 0.8f + own.cruise * 0.2f
                                          : speed * 0.95f + own.cruise * 0.05f;
        wanted = std::min(wanted, own.top);
        v.x *= wanted / speed;
        v.y *= wanted / speed;
        p.x = std::clamp(p.x + v.x * dt, 0.0f, land->width);
        p.y = std::clamp(p.y + v.y * dt, 0.0f, land->height);
    });
    w.system("blow").group(motion).each(
        [&w](entity e, position& p, const velocity& v, gust& g, float dt) {
            p.x += v.x * dt;
            p.y += v.y * dt;
            g.left -= dt;
            if (g.left <= 0) w.destroy(e);
        });
}

}  // namespace demo
