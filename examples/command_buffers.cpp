// A loader thread creates entities while the game runs.
#include <muster/muster.hpp>

#include <iostream>
#include <string>
#include <thread>

struct position {
    float x, y;
};
struct model {
    std::string file;
};

int main() {
    muster::world w;
    const muster::entity player = w.spawn(position{0, 0});

    muster::entity tree;
    std::thread loader([&] {
        muster::command_buffer changes{w};
        tree = changes.spawn(position{3, 4});      // a real id, used by no other entity
        changes.set(tree, model{"tree.obj"});      // sets more components of the new entity
        changes.set(player, model{"player.obj"});  // changes an entity that exists
        const muster::entity mistake = changes.spawn();
        changes.destroy(mistake);
        std::cout << "recorded: " << changes.pending() << '\n';
        w.submit(changes);  // any thread may submit; the world applies it later

        changes.spawn(position{9, 9});
        changes.discard();  // drops the spawn
    });

    w.set(player, position{1, 1});  // the game runs meanwhile
    loader.join();

    std::cout << "before: " << w.size() << '\n';
    w.apply_submitted();  // closing a loop or processing a system applies it, too
    std::cout << "after: " << w.size() << '\n';
    std::cout << w.get<model>(tree).file << ", " << w.get<model>(player).file << '\n';
}
