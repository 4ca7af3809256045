// A loader thread makes entities while the game goes on.
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
        tree = changes.spawn(position{3, 4});      // the id is real, and nobody else's
        changes.set(tree, model{"tree.obj"});      // whatever the loader has to say about it
        changes.set(player, model{"player.obj"});  // entities that exist
        const muster::entity mistake = changes.spawn();
        changes.destroy(mistake);
        std::cout << "recorded: " << changes.pending() << '\n';
        w.submit(changes);  // from this thread: the world takes it when it is ready

        changes.spawn(position{9, 9});
        changes.discard();  // never happened
    });

    w.set(player, position{1, 1});  // the game goes on
    loader.join();

    std::cout << "before: " << w.size() << '\n';
    w.apply_submitted();  // a loop or a system would do it, too
    std::cout << "behind: " << w.size() << '\n';
    std::cout << w.get<model>(tree).file << ", " << w.get<model>(player).file << '\n';
}
