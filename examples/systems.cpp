// A frame as a list of systems, with groups, an order, and values passed to all of them.
#include <muster/muster.hpp>

#include <cstdio>

struct position {
    float x;
};
struct velocity {
    float x;
};
struct frozen {};

int main() {
    muster::world w;
    const muster::entity ball = w.spawn(position{0}, velocity{2});
    w.spawn(position{5}, velocity{1}, frozen{});

    const auto physics = w.system("physics")
                             .prologue([](float dt) { std::printf("physics for %.1f s\n", dt); })
                             .epilogue([] { std::printf("physics is done\n"); });
    w.system("draw").after("physics").each([](muster::entity e, const position& p) {
        std::printf("%s is at %.1f\n", to_string(e).c_str(), p.x);
    });
    const auto wall =
        w.system("wall").group(physics).each([&w](muster::entity e, position& p, velocity& v) {
            if (p.x < 2) return;
            v.x = -v.x;
            w.set(e, frozen{});  // applied after the last entity
        });
    w.system("move").group(physics).before("wall").without<frozen>().each(
        [](position& p, const velocity& v, float dt) { p.x += v.x * dt; });

    std::printf("order:");
    for (const std::string_view name : w.system_order())
        std::printf(" %.*s", static_cast<int>(name.size()), name.data());
    std::printf("\n");

    w.process_all(0.5f);
    wall.disable();
    w.process_with("physics", 2.0f);
    std::printf("the ball is at %.1f\n", w.get<position>(ball).x);

    try {
        w.process("move");  // without the argument `dt`
    } catch (const muster::error& error) {
        std::printf("%s\n", error.what());
    }
}
