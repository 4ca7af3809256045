// Two worlds in one program, each with a number of its own: a handle of one means nothing in the other.
#include <muster/muster.hpp>

#include <iostream>

struct hits {
    int count;
};

int main() {
    // Numbers are given out process-wide; one can also be chosen, for a shard or a rank.
    muster::world here;
    muster::world there{muster::world_options{.number = 700}};
    const muster::entity a = here.spawn(hits{1});
    const muster::entity b = there.spawn(hits{2});
    std::cout << a << " is of " << here << ", " << b << " of " << there << '\n';

    // Both have key 0 and version 0. Without the world's number they would be the same.
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
