// Muster as two files: a world, a parallel loop, and a user-defined layout in own_layout.cpp.
#include "muster.hpp"

#include <iostream>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

int count_in_own_layout();

int main() {
    muster::world w;
    const muster::entity e = w.spawn(position{0, 0}, velocity{1, 2});
    muster::sequential_executor threads;
    w.query<position, const velocity>().par_each(
        threads, 16, [](position& p, const velocity& v) { p.y += v.y; });
    std::cout << e << ' ' << w.get<position>(e).y << ' ' << count_in_own_layout() << '\n';
    try {
        w.patch<int>(e, [](int&) {});
    } catch (const muster::error& error) {
        std::cout << to_string(error.code()) << '\n';
    }
}
