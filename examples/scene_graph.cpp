// A scene: parts follow the parts that they are children of.
#include <muster/muster.hpp>

#include <cstdio>
#include <string>

struct name {
    std::string text;
};
struct offset {  // from the parent
    int x, y;
};
struct place {  // in the scene
    int x = 0, y = 0;
};

int main() {
    muster::world w;
    const auto part = [&](const char* text, offset at, auto... parent) {
        return w.spawn(name{text}, at, place{}, to(muster::child_of, parent)...);
    };
    const muster::entity tank = part("tank", {10, 0});
    const muster::entity turret = part("turret", {0, 2}, tank);
    const muster::entity gun = part("gun", {3, 0}, turret);
    const muster::entity wreck = part("wreck", {50, 5});

    const auto show = [&] {
        // Parents come before their children, so the place of the parent is new already.
        w.query<place, const offset, muster::up<const place*>>().top_down().each(
            [](place& out, const offset& at, const place* parent) {
                out = parent != nullptr ? place{parent->x + at.x, parent->y + at.y}
                                        : place{at.x, at.y};
            });
        w.query<const name, const place>().each(
            [&](muster::entity e, const name& n, const place& p) {
                std::printf("%*s%s at %d %d\n", static_cast<int>(2 * w.level(e)), "",
                            n.text.c_str(), p.x, p.y);
            });
        std::printf("--\n");
    };
    show();

    w.get<offset>(tank).x += 5;  // everything on the tank moves with it
    show();

    w.relate(muster::child_of, turret, wreck);  // the turret is blown off, together with the gun
    show();

    try {
        w.relate(muster::child_of, wreck, gun);
    } catch (const muster::error& refused) {
        std::printf("%s\n", muster::to_string(refused.code()));
    }
    w.destroy(wreck);  // a parent takes its children along
    std::printf("%zu part left, the gun is %s\n", w.count<place>(),
                w.alive(gun) ? "there" : "gone");
}
