// Runs a loop on the threads of oneTBB through the component `parallel`.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <iostream>

struct position {
    float x, y;
};

int main() {
    muster::world w;
    w.spawn_many(1000, position{0, 0});
    w.query<position>().par_each([](position& p) { p.x = 1; });
    int moved = 0;
    w.each([&](const position& p) { moved += p.x == 1; });
    std::cout << moved << " moved\n";
    return moved == 1000 ? 0 : 1;
}
