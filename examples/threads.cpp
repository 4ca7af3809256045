// A parallel loop creates and destroys entities. The result is the same on any number of threads.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <iostream>

struct position {
    int x;
};
struct cell {
    int energy;
};

/// Cells eat, divide when their energy suffices, and starve when it runs out.
long live(muster::executor& threads) {
    muster::world w;
    for (int i = 0; i < 5000; ++i) w.spawn(position{i}, cell{i % 10});
    const auto cells = w.query<const position, cell>();
    for (int day = 0; day < 5; ++day)
        cells.par_each(threads, 100, [&](muster::entity e, const position& p, cell& c) {
            c.energy += p.x % 3 - 1;
            if (c.energy > 9) {
                c.energy /= 2;
                w.spawn(position{p.x + 1}, cell{c.energy});
            } else if (c.energy < 0) {
                w.destroy(e);
            }
        });
    long sum = static_cast<long>(w.size()) * 1000;
    cells.each([&](const position& p, const cell& c) { sum += p.x * c.energy; });
    return sum;
}

int main() {
    muster::sequential_executor sequential;
    const long alone = live(sequential);
    const long together = live(muster::tbb_executor());
    std::cout << "the same on one thread and on all: " << std::boolalpha << (alone == together)
              << '\n';
}
