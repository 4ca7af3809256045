// A batch changes all entities that a query finds, chunk by chunk.
#include <muster/muster.hpp>

#include <cstdio>

struct position {
    float x, y;
};
struct fuel {
    int litres = 50;
};
struct broken {};
struct convoy {
    int number;
};

int main() {
    muster::world w;
    w.spawn_many(1000, position{0, 0}, fuel{});
    w.spawn_many(20, position{5, 5}, fuel{0});
    w.spawn_many(3, position{9, 9}, broken{});

    const auto working = w.query<position>().without<broken>();
    std::printf("%zu join the convoy\n", working.set(convoy{7}));
    std::printf("%zu get fuel\n", w.query<position>().add<fuel>());
    std::printf("%zu were broken\n", w.query<broken>().remove<broken>());

    // In a scope a batch is deferred. It changes the entities that match when it is applied.
    w.defer();
    const muster::entity late = w.spawn(position{1, 1});
    working.set(convoy{8});
    w.commit();
    std::printf("the last one is in convoy %d\n", w.get<convoy>(late).number);

    std::printf("%zu are gone\n", w.query<const fuel>().destroy());
    std::printf("%zu are left\n", w.size());
}
