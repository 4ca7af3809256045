// A loop may change its world: it visits each entity once, and the changes are applied at its end.
#include <muster/muster.hpp>

#include <cstdio>

struct age {
    int days;
};
struct fertile {};

int main() {
    muster::world w;
    for (int i = 0; i < 4; ++i) w.spawn(age{i}, fertile{});

    for (int day = 1; day <= 3; ++day) {
        int seen = 0;
        w.each([&](muster::entity e, age& a) {
            ++seen;
            ++a.days;  // immediate
            if (a.days > 4) {
                w.destroy(e);  // deferred, like the changes below
            } else if (w.has<fertile>(e)) {
                w.spawn(age{0});
                w.remove<fertile>(e);
            } else if (a.days == 2) {
                w.add<fertile>(e);
            }
        });
        std::printf("day %d: %d seen, %zu alive, %zu fertile\n", day, seen, w.size(),
                    w.count<fertile>());
    }

    // A range-for loop does the same. An exception drops the changes that the loop has recorded.
    try {
        for (auto [e, a] : w.query<const age>()) {
            w.destroy(e);
            if (a.days == 0) throw a.days;
        }
    } catch (int) {
    }
    std::printf("%zu alive\n", w.size());
}
