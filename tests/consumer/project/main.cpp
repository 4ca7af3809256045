// Uses inline and compiled functions. Prints the same text however Muster is found.
#include <muster/muster.hpp>

#include <iostream>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

int main() {
    muster::world w;
    const muster::entity e = w.spawn(position{0, 0}, velocity{1, 2});
    w.each([](position& p, const velocity& v) { p.y += v.y; });
    std::cout << e << " moves to " << w.get<position>(e).y << '\n';
    return w.get<position>(e).y == 2 ? 0 : 1;
}
