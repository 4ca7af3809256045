// Creates many entities at once: from values, from a prototype and from a builder.
#include <muster/muster.hpp>

#include <cstdio>
#include <memory>
#include <string>

struct position {
    float x, y;
};

int main() {
    muster::world w;
    w.spawn_many(100, position{1, 1});
    w.spawn_rows(
        3,
        [](muster::rows r) {
            float next = 10;
            for (position& p : r.components<position>()) p.x = next++;
        },
        position{0, 0}, std::string("row"));

    const muster::entity orc = w.spawn(position{7, 7}, std::string("orc"));
    const muster::entity chief = w.clone(orc, std::string("chief"));
    auto recipe = w.builder();
    recipe.set(position{2, 2}).set(std::string("guard"));
    recipe.spawn_many(5);

    std::printf("%zu entities, %zu of them with a text\n", w.size(), w.count<std::string>());
    std::printf("the %s stands where the %s stands: %g\n", w.get<std::string>(chief).c_str(),
                w.get<std::string>(orc).c_str(), static_cast<double>(w.get<position>(chief).x));

    // A clone needs its own value of a component that cannot be copied.
    w.set(orc, std::make_unique<int>(1));
    try {
        w.clone(orc);
    } catch (const muster::error& error) {
        std::printf("%s\n", to_string(error.code()));
    }
    w.clone(orc, std::make_unique<int>(2));
    std::printf("%zu entities\n", w.size());
}
