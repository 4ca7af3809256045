// Two worlds in one program, each with a number of its own: a handle of one means nothing in the other.
#include <muster/muster.hpp>

#include <iostream>

int main() {
    // Numbers are given out process-wide; one can also be chosen, for a shard or a rank.
    const auto first = muster::world_number::take<muster::layouts::bound>();
    const auto second = muster::world_number::take<muster::layouts::bound>(700);

    muster::id_pool<> here{{.world = first.value()}};
    muster::id_pool<> there{{.world = second.value()}};
    const muster::id a = here.create();
    const muster::id b = there.create();

    std::cout << a << ": here " << here.alive(a) << ", there " << there.alive(a) << '\n';
    std::cout << b << ": here " << here.alive(b) << ", there " << there.alive(b) << '\n';

    try {
        there.create_at(a);
    } catch (const muster::error& e) {
        std::cout << to_string(e.code()) << ": " << e.what() << '\n';
    }
    try {
        (void)muster::world_number::take<muster::layouts::bound>(700);
    } catch (const muster::error& e) {
        std::cout << to_string(e.code()) << ": " << e.what() << '\n';
    }
}
