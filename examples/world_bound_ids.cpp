// Two worlds in one program, each with its own number: a world rejects handles of the other world.
#include <muster/muster.hpp>

#include <iostream>

struct hits {
    int count;
};

int main() {
    // World numbers are unique in the process. A program can choose them, for a shard or a rank.
    muster::world here;
    muster::world there{muster::world_options{.number = 700}};
    const muster::entity a = here.spawn(hits{1});
    const muster::entity b = there.spawn(hits{2});
    std::cout << a << " is of " << here << ", " << b << " of " << there << '\n';

    // Both ids have key 0 and version 0. Only the world number distinguishes them.
    std::cout << std::boolalpha << "here: " << here.alive(a) << " and " << here.alive(b)
              << ", there: " << there.alive(a) << " and " << there.alive(b) << '\n';

    try {
        there.set(a, hits{3});
    } catch (const muster::error& error) {
        std::cout << to_string(error.code()) << ": " << error.what() << '\n';
    }
    try {
        muster::world third{muster::world_options{.number = 700}};
    } catch (const muster::error& error) {
        std::cout << to_string(error.code()) << ": " << error.what() << '\n';
    }
}
