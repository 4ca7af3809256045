// Uses a header and something compiled.
#include <muster/muster.hpp>

#include <iostream>

int main() {
    const auto number = muster::world_number::take<muster::layouts::bound>();
    muster::id_pool<> pool{{.world = number.value()}};
    std::cout << pool.create() << '\n';
}
