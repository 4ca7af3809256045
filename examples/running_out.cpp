// A call that reaches a limit changes nothing; the program decides by the error code.
#include <muster/muster.hpp>

#include <iostream>
#include <vector>

int main() {
    muster::id_pool<muster::layouts::compact> ids{{.last_key = 3}};
    std::vector<muster::basic_id<muster::layouts::compact>> wave(3);
    ids.create(wave);
    try {
        ids.create(wave);  // all or none
    } catch (const muster::error& e) {
        if (e.code() != muster::errc::id_overflow) throw;
        std::cout << e.what() << '\n';
    }
    std::cout << ids.size() << " alive, one more: " << ids.create() << '\n';
}
