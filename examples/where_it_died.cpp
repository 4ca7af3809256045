// Error messages name the problem, the entity and the source location.
#include <muster/muster.hpp>

#include <cstdio>
#include <string>

struct position {
    float x, y;
};
struct health {
    int points;
};

namespace {
template <class Call>
void attempt(Call call) {
    try {
        call();
    } catch (const muster::error& error) {
        std::printf("%s: %s\n", to_string(error.code()), error.what());
    }
}
}  // namespace

int main() {
    muster::world w{muster::world_options{.number = 1, .provenance = true}};
    muster::world other{muster::world_options{.number = 2}};

    const muster::entity goblin = w.spawn(position{1, 2});
    w.name(goblin, "goblin");
    attempt([&] { (void)w.get<health>(goblin); });
    attempt([&] { other.set(goblin, health{3}); });

    w.destroy(goblin);
    w.spawn(position{3, 4});  // reuses its key
    attempt([&] { w.set(goblin, health{3}); });
    attempt([&] { (void)w.get<health>(muster::entity{}); });

    // For entities that may be dead, there are calls that accept any id.
    std::printf("%s, %s, %s\n", w.alive(goblin) ? "alive" : "dead",
                w.has<position>(goblin) ? "has one" : "has none",
                w.destroy(goblin) ? "destroyed" : "was gone already");
}
