// Tries out changes and drops them: a cancelled scope leaves no trace.
#include <muster/muster.hpp>

#include <cstdio>
#include <string>

struct wood {
    int logs;
};
struct building {
    std::string kind;
};

/// Builds all walls, or nothing if there is not enough wood.
bool build(muster::world& w, muster::entity town, const std::string& kind, int walls, int price) {
    muster::deferred changes{w};
    for (int i = 0; i < walls; ++i) {
        w.spawn(building{kind + " wall"});
        if (w.patch<wood>(town, [&](wood& it) { it.logs -= price; }).logs < 0) {
            changes.cancel();
            return false;
        }
    }
    w.name(w.spawn(building{kind}), kind);
    return true;  // the destructor of `changes` commits
}

int main() {
    muster::world w;
    const muster::entity town = w.spawn(wood{10});
    for (const char* kind : {"barn", "castle", "hut"}) {
        const bool done = build(w, town, kind, kind[0] == 'c' ? 40 : 3, 1);
        std::printf("%s: %s; %d logs, %zu buildings\n", kind, done ? "built" : "not enough wood",
                    w.get<wood>(town).logs, w.count<building>());
    }
    std::printf("the castle %s\n", w.lookup("castle").is_null() ? "was never there" : "stands");

    // Scopes nest: an inner scope can be cancelled alone.
    w.defer();
    w.set(town, wood{100});
    w.defer();
    w.destroy(town);
    w.cancel();
    w.commit();
    std::printf("the town has %d logs\n", w.get<wood>(town).logs);
}
