// Sparse fragments, for states that change every frame: nothing moves, values keep their address.
#include <muster/muster.hpp>

#include <cstdio>
#include <mutex>

struct position {
    float x, y;
};
struct burning {
    int left;  // frames
};
struct selected {};

int main() {
    muster::world w;
    w.define<burning>().sparse();
    w.define<selected>().sparse();

    const auto trees = w.spawn_many(1000, position{0, 0});
    const position* const first = &w.get<position>(trees[0]);
    w.set(trees[7], burning{2});
    w.set(trees[42], burning{1});
    w.add<selected>(trees[42]);
    const burning* const fire = &w.get<burning>(trees[7]);

    for (int frame = 1; frame <= 3; ++frame) {
        w.each([&](muster::entity e, burning& b, const position&) {
            if (--b.left == 0) w.remove<burning>(e);  // applied at the end of the loop
        });
        std::printf("frame %d: %zu burn, of %zu entities\n", frame, w.count<burning>(), w.size());
        if (w.has<burning>(trees[7]))
            std::printf("  tree 7 has its fire where it was: %s\n",
                        fire == &w.get<burning>(trees[7]) ? "yes" : "no");
    }
    std::printf("positions have not moved: %s\n",
                first == &w.get<position>(trees[0]) ? "yes" : "no");

    // A type that cannot be moved is always sparse.
    std::mutex& lock = w.emplace<std::mutex>(trees[1]);
    const std::lock_guard guard(lock);
    for (int i = 0; i < 1000; ++i) w.emplace<std::mutex>(w.spawn(position{1, 1}));
    std::printf("the mutex is where it was: %s\n",
                &lock == &w.get<std::mutex>(trees[1]) ? "yes" : "no");
}
