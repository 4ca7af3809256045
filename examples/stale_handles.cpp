// A handle detects that its entity is dead, even if a new entity uses the same key.
#include <muster/muster.hpp>

#include <iostream>

struct health {
    int points;
};
struct missile {
    muster::entity target;  // stored across frames
};

int main() {
    muster::world w;
    const muster::entity goblin = w.spawn(health{10});
    w.spawn_many(2, missile{goblin});

    w.destroy(goblin);                               // the first missile hits
    const muster::entity orc = w.spawn(health{99});  // the orc reuses the goblin's key
    std::cout << "the goblin was " << goblin << ", the orc is " << orc << '\n';

    w.each([&](muster::entity e, const missile& m) {
        if (w.alive(m.target)) {
            w.get<health>(m.target).points -= 10;
        } else {
            std::cout << e << ": its target " << m.target << " is gone\n";
            w.destroy(e);
        }
    });
    std::cout << "the orc has " << w.get<health>(orc).points << " points left\n";

    // Calls with the old handle never reach the orc.
    std::cout << std::boolalpha << "has health: " << w.has<health>(goblin)
              << ", destroyed again: " << w.destroy(goblin) << '\n';
    try {
        w.set(goblin, health{1});
    } catch (const muster::error& error) {
        std::cout << to_string(error.code()) << '\n';
    }
}
