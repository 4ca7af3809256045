// Singletons: data that exists once per world, such as the time or the weather. No entity needed.
#include <muster/muster.hpp>

#include <cstdio>

struct gravity {
    float pull;
};
struct clock_time {
    int frame = 0;
    float seconds = 0;
};
struct height {
    float metres;
};

int main() {
    muster::world w;
    w.set_single(gravity{9.81f});
    w.set_single(clock_time{});
    w.spawn_many(2, height{100});
    std::printf("%zu entities: singletons are not among them\n", w.size());

    w.system("tick").execute([&w](float dt) {
        clock_time& now = w.single<clock_time>();
        ++now.frame;
        now.seconds += dt;
    });
    w.system("fall").each([&w](height& h, float dt) { h.metres -= w.single<gravity>().pull * dt; });

    w.process_all(0.5f);
    w.single<gravity>().pull = 1.62f;  // on the moon
    w.process_all(0.5f);
    const muster::entity first = w.query<height>().first();
    std::printf("frame %d, %.1f s: %.2f m\n", w.single<clock_time>().frame,
                static_cast<double>(w.single<clock_time>().seconds),
                static_cast<double>(w.get<height>(first).metres));

    // A singleton belongs to the fragment of its type. Any fragment can be its own component.
    const muster::entity of_type = w.component<gravity>();
    std::printf("the same: %s\n", &w.get<gravity>(of_type) == &w.single<gravity>() ? "yes" : "no");
    const muster::fragment<int> level = w.fragment<int>("level");
    w.set(level, level, 7);
    std::printf("level %d\n", w.get(level, level));

    w.remove_single<gravity>();
    try {
        (void)w.single<gravity>();
    } catch (const muster::error& error) {
        std::printf("%s, and has_single says %s\n", to_string(error.code()),
                    w.has_single<gravity>() ? "yes" : "no");
    }
}
