// The world calls hooks when components are added, assigned or removed. A hook may veto a change.
#include <muster/muster.hpp>

#include <cstdio>
#include <stdexcept>

struct health {
    int points;
};
struct burning {};
struct wet {};

int main() {
    muster::world w;
    w.define<health>()
        .on_insert([](muster::entity e, health& h) {
            std::printf("%s starts with %d\n", to_string(e).c_str(), h.points);
        })
        .on_assign([&](muster::entity e, health& h) {
            std::printf("%s has %d\n", to_string(e).c_str(), h.points);
            if (h.points <= 0) w.destroy(e);  // applied after the change that called the hook
        })
        .on_remove([](muster::entity e, health& h) {
            std::printf("%s ends with %d\n", to_string(e).c_str(), h.points);
        });

    // Wet entities do not burn: the hook refuses the change.
    muster::connection rain = w.on_insert<burning>([&](muster::entity e) {
        if (w.has<wet>(e)) throw std::runtime_error("too wet to burn");
    });
    w.on_destroy([](muster::entity e) { std::printf("%s dies\n", to_string(e).c_str()); });

    const muster::entity e = w.spawn(health{10}, wet{});
    try {
        w.add<burning>(e);
    } catch (const std::runtime_error& error) {
        std::printf("%s\n", error.what());
    }
    std::printf("burning: %s\n", w.has<burning>(e) ? "yes" : "no");
    rain.pause();
    w.add<burning>(e);
    std::printf("burning: %s\n", w.has<burning>(e) ? "yes" : "no");

    w.patch<health>(e, [](health& h) { h.points -= 3; });
    w.defer();  // hooks see only the net effect of a scope
    w.set(e, health{5});
    w.set(e, health{0});
    w.commit();
    std::printf("%s is %s\n", to_string(e).c_str(), w.alive(e) ? "alive" : "dead");
}
