// A handle that outlives what it names: it is told apart from the thing that took its place.
#include <muster/muster.hpp>

#include <iostream>
#include <vector>

struct missile {
    muster::id target;
};

int main() {
    muster::id_pool<> ids;
    const muster::id goblin = ids.create();
    const std::vector<missile> in_flight{{goblin}, {goblin}};

    ids.destroy(goblin);                  // one missile hits
    const muster::id orc = ids.create();  // the orc gets the goblin's key

    std::cout << "goblin was " << goblin << ", orc is " << orc << '\n';
    for (const missile& m : in_flight)
        std::cout << "target " << m.target << (ids.alive(m.target) ? ": follow it\n" : ": gone\n");
    std::cout << "destroying the goblin again: "
              << (ids.destroy(goblin) ? "done" : "it is not alive") << '\n';
    std::cout << "the orc " << (ids.alive(orc) ? "lives on\n" : "is dead\n");
}
