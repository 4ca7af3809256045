// Measures sending and reading events, beside appending to an array by hand and reading it.
#include "support/scene.hpp"

#include <vector>

namespace muster::bench {
namespace {

struct damage {
    entity target;
    int amount;
};

// A frame: sends an event for each entity and reads all of them.
void by_hand(trial& t) {
    scene s(t.size());
    std::vector<damage> all;
    int sum = 0;
    measure_again(
        t,
        [&] {
            for (const entity e : s.entities) all.push_back({e, 1});
            for (const damage& d : all) sum += d.amount;
            all.clear();
        },
        [&] { return static_cast<std::size_t>(sum) % t.size() == 0; });
    keep(sum);
}
void by_events(trial& t) {
    scene s(t.size());
    auto reader = s.world.reader<damage>();
    int sum = 0;
    measure_again(
        t,
        [&] {
            for (const entity e : s.entities) s.world.send(damage{e, 1});
            for (const damage& d : reader) sum += d.amount;
            s.world.end_frame();
        },
        [&] { return static_cast<std::size_t>(sum) % t.size() == 0; });
    keep(sum);
}

// Events between systems: one sends in its loop, the other reads.
void by_hand_in_systems(trial& t) {
    scene s(t.size());
    std::vector<damage> all;
    int sum = 0;
    s.world.system("send").each([&](entity e, position&) { all.push_back({e, 1}); });
    s.world.system("read").execute([&] {
        for (const damage& d : all) sum += d.amount;
        all.clear();
    });
    measure_again(
        t, [&] { s.world.process_all(); },
        [&] { return static_cast<std::size_t>(sum) % t.size() == 0; });
    keep(sum);
}
void by_events_in_systems(trial& t) {
    scene s(t.size());
    int sum = 0;
    s.world.system("send").each([&](entity e, position&) { s.world.send(damage{e, 1}); });
    s.world.system("read").each_event([&](const damage& d) { sum += d.amount; });
    measure_again(
        t, [&] { s.world.process_all(); },
        [&] { return static_cast<std::size_t>(sum) % t.size() == 0; });
    keep(sum);
}

[[maybe_unused]] const int registered = [] {
    add("events", "floor", by_hand);
    add("events", "muster", by_events);
    add("events of systems", "floor", by_hand_in_systems);
    add("events of systems", "muster", by_events_in_systems);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
