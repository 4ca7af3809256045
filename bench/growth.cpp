// Measures how the cost of many calls grows: for n, 2n, 4n and 8n fragments, chunks, names, hooks and
// the like. Prints the times and the exponent: 1 is linear, 2 quadratic. Small figures vary by a few
// tenths, since larger worlds leave the caches. Each case checks its result.
//
//     growth            all cases
//     growth TEXT...    the cases whose names contain one of these texts
//     growth --check    each case once, with few elements: fails if a result is wrong
#include <muster/muster.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace muster::bench {
namespace {

struct position {
    float x = 0;
    float y = 0;
};
struct velocity {
    float x = 0;
    float y = 0;
};

class stopwatch {
public:
    void start() { start_ = clock::now(); }
    void stop() { seconds_ += std::chrono::duration<double>(clock::now() - start_).count(); }
    [[nodiscard]] double seconds() const { return seconds_; }

private:
    using clock = std::chrono::steady_clock;
    clock::time_point start_;
    double seconds_ = 0;
};

/// Times the part of a case that grows, and requires a result.
class run {
public:
    explicit run(std::size_t count) : n(count) {}
    template <class Call>
    void time(Call call) {
        watch_.start();
        call();
        watch_.stop();
    }
    void expect(bool is_right) {
        if (is_right) return;
        std::printf("wrong result\n");
        std::exit(1);
    }
    [[nodiscard]] double seconds() const { return watch_.seconds(); }

    const std::size_t n;

private:
    stopwatch watch_;
};

struct growth_case {
    const char* name;
    std::size_t first;  // the smallest n
    void (*body)(run&);
};

/// A world with n tags, each with an owner in a chunk of its own.
struct tagged_world {
    muster::world world;
    std::vector<entity> tags;
    std::vector<entity> owners;

    explicit tagged_world(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            tags.push_back(world.tag());
            owners.push_back(world.spawn(position{}));
            world.set(owners.back(), tags.back());
        }
    }
};
std::vector<entity> make_tags(world& w, std::size_t count) {
    std::vector<entity> made;
    for (std::size_t i = 0; i < count; ++i) made.push_back(w.tag());
    return made;
}
std::string name_of(std::size_t number) {
    return "s" + std::to_string(number);
}

void destroy_all(run& r, world& w, const std::vector<entity>& all) {
    r.time([&] {
        for (const entity e : all) w.destroy(e);
    });
    r.expect(!w.alive(all.back()));
}

// ---- fragments and chunks ----------------------------------------------------------------------

const growth_case fragments[] = {
    {"fragments: destroy an unused one, beside n chunks", 1000,
     [](run& r) {
         tagged_world t(r.n);
         const std::vector<entity> unused = make_tags(t.world, 100);
         destroy_all(r, t.world, unused);
     }},
    {"fragments: destroy n unused ones", 2000,
     [](run& r) {
         world w;
         destroy_all(r, w, make_tags(w, r.n));
     }},
    {"fragments: destroy n with owners", 1000,
     [](run& r) {
         tagged_world t(r.n);
         destroy_all(r, t.world, t.tags);
         r.expect(t.world.count<position>() == r.n);
     }},
    {"fragments: destroy n in a scope", 1000,
     [](run& r) {
         tagged_world t(r.n);
         r.time([&] {
             const deferred changes(t.world);
             for (const entity f : t.tags) t.world.destroy(f);
         });
         r.expect(t.world.size() == r.n);
     }},
    {"fragments: destroy n with hooks", 1000,
     [](run& r) {
         tagged_world t(r.n);
         for (const entity f : t.tags) t.world.on_remove(f, [] {});
         destroy_all(r, t.world, t.tags);
     }},
    {"fragments: destroy a chain of n owners", 1000,
     [](run& r) {
         world w;
         const std::vector<entity> all = make_tags(w, r.n);
         for (std::size_t i = 0; i < r.n; ++i) {
             w.define(all[i]).when_destroyed(destroy_owners);
             if (i != 0) w.set(all[i], all[i - 1]);
         }
         r.time([&] { w.destroy(all[0]); });
         r.expect(w.size() == 0);
     }},
    {"fragments: destroy one of n owners that are fragments", 1000,
     [](run& r) {
         tagged_world t(r.n);
         const entity root = t.world.tag();
         t.world.define(root).when_destroyed(destroy_owners);
         for (const entity f : t.tags) t.world.set(f, root);
         r.time([&] { t.world.destroy(root); });
         r.expect(t.world.size() == r.n);
     }},
    {"fragments: reset n with owners", 1000,
     [](run& r) {
         tagged_world t(r.n);
         r.time([&] { t.world.reset(); });
         r.expect(t.world.size() == 0);
     }},
    {"fragments: reset n with owners, hooked", 1000,
     [](run& r) {
         tagged_world t(r.n);
         t.world.on_remove<position>([] {});
         r.time([&] { t.world.reset(); });
         r.expect(t.world.size() == 0);
     }},
    {"fragments: destroy n that need the next", 1000,
     [](run& r) {
         world w;
         const std::vector<entity> all = make_tags(w, r.n);
         for (std::size_t i = 1; i < r.n; ++i) w.define(all[i - 1]).needs(all[i]);
         destroy_all(r, w, all);
     }},
    {"fragments: add the first of n that need the next", 500,
     [](run& r) {
         world w;
         const std::vector<entity> all = make_tags(w, r.n);
         for (std::size_t i = 1; i < r.n; ++i) w.define(all[i - 1]).needs(all[i]);
         const entity e = w.spawn();
         r.time([&] { w.set(e, all[0]); });
         r.expect(w.has(e, all.back()));
     }},
    {"chunks: collect n empty ones", 1000,
     [](run& r) {
         tagged_world t(r.n);
         for (const entity e : t.owners) t.world.destroy(e);
         r.time([&] { t.world.collect_garbage(); });
         r.expect(t.world.count<position>() == 0);
     }},
    {"sparse: define n", 1000,
     [](run& r) {
         world w;
         const std::vector<entity> all = make_tags(w, r.n);
         r.time([&] {
             for (const entity f : all) w.define(f).sparse();
         });
         const entity e = w.spawn();
         w.set(e, all.back());
         r.expect(w.has(e, all.back()));
     }},
    {"sparse: destroy n entities with one of n each", 1000,
     [](run& r) {
         world w;
         std::vector<entity> owners;
         for (const entity f : make_tags(w, r.n)) {
             w.define(f).sparse();
             owners.push_back(w.spawn());
             w.set(owners.back(), f);
         }
         destroy_all(r, w, owners);
     }},
};

// ---- names, hooks, observers -------------------------------------------------------------------

std::vector<entity> make_named(world& w, std::size_t count) {
    std::vector<entity> made = w.spawn_many(count);
    for (const entity e : made) w.name(e, "goblin");
    return made;
}

const growth_case names_and_hooks[] = {
    {"names: rename n equal ones", 4000,
     [](run& r) {
         world w;
         const std::vector<entity> all = make_named(w, r.n);
         r.time([&] {
             for (const entity e : all) w.name(e, "orc");
         });
         r.expect(w.lookup_all("orc").size() == r.n);
     }},
    {"names: destroy n equal ones", 4000,
     [](run& r) {
         world w;
         destroy_all(r, w, make_named(w, r.n));
         r.expect(!w.lookup("goblin"));
     }},
    {"names: reset n equal ones", 4000,
     [](run& r) {
         world w;
         (void)make_named(w, r.n);
         r.time([&] { w.reset(); });
         r.expect(!w.lookup("goblin"));
     }},
    {"hooks: disconnect n", 2000,
     [](run& r) {
         world w;
         std::vector<connection> all;
         for (std::size_t i = 0; i < r.n; ++i) all.push_back(w.on_insert<position>([] {}));
         r.time([&] {
             for (connection& hook : all) hook.disconnect();
         });
         r.expect(!all.back().connected());
     }},
    {"hooks: pause and resume n", 2000,
     [](run& r) {
         world w;
         std::vector<connection> all;
         for (std::size_t i = 0; i < r.n; ++i) all.push_back(w.on_insert<position>([] {}));
         r.time([&] {
             for (connection& hook : all) hook.pause();
             for (connection& hook : all) hook.resume();
         });
         r.expect(all.front().connected());
     }},
    {"observers: end n of one fragment", 1000,
     [](run& r) {
         world w;
         std::deque<decltype(w.observer<position>())> all;
         for (std::size_t i = 0; i < r.n; ++i) all.push_back(w.observer<position>());
         r.time([&] {
             while (!all.empty()) all.pop_front();
         });
     }},
    {"observers: create, pause and end, beside n fragments", 1000,
     [](run& r) {
         tagged_world t(r.n);
         r.time([&] {
             for (int i = 0; i < 1000; ++i) {
                 auto seen = t.world.observer<velocity>();
                 seen.pause();
             }
         });
     }},
};

// ---- scopes, command buffers, systems, worlds --------------------------------------------------

const growth_case calls[] = {
    {"scopes: cancel n nested ones", 2000,
     [](run& r) {
         world w;
         for (std::size_t i = 0; i < r.n; ++i) {
             w.defer();
             w.spawn();
         }
         r.time([&] {
             while (w.depth() != 0) w.cancel();
         });
         r.expect(w.size() == 0);
     }},
    {"scopes: end n in the order of their opening", 2000,
     [](run& r) {
         world w;
         std::deque<std::unique_ptr<deferred>> all;
         for (std::size_t i = 0; i < r.n; ++i) {
             all.push_back(std::make_unique<deferred>(w));
             w.spawn();
         }
         r.time([&] {
             while (!all.empty()) all.pop_front();
         });
         r.expect(w.size() == r.n);
     }},
    {"scopes: touch an entity n times", 1000,
     [](run& r) {
         world w;
         const entity e = w.spawn(position{});
         r.time([&] {
             const deferred changes(w);
             for (std::size_t i = 0; i < r.n; ++i) w.touch<position>(e);
         });
     }},
    {"scopes: emplace a component n times", 1000,
     [](run& r) {
         world w;
         const entity e = w.spawn(position{});
         r.time([&] {
             const deferred changes(w);
             for (std::size_t i = 0; i < r.n; ++i) w.emplace<position>(e, 1.0f, 2.0f);
         });
         r.expect(w.get<position>(e).y == 2);
     }},
    {"command buffers: submit and end n", 1000,
     [](run& r) {
         world w;
         r.time([&] {
             for (std::size_t i = 0; i < r.n; ++i) {
                 command_buffer b(w);
                 b.spawn(position{});
                 if (i % 2 == 0) w.submit(b);
             }
         });
         r.expect(w.size() == (r.n + 1) / 2);
     }},
    {"systems: run n in reversed order", 1000,
     [](run& r) {
         world w;
         for (std::size_t i = 0; i < r.n; ++i) {
             const auto made = w.system(name_of(i)).execute([] {});
             if (i + 1 != r.n) made.after(name_of(i + 1));
         }
         r.time([&] { w.process_all(); });
     }},
    {"systems: run n nested groups", 500,
     [](run& r) {
         world w;
         std::size_t count = 0;
         w.system(name_of(0));
         for (std::size_t i = 1; i < r.n; ++i)
             w.system(name_of(i)).execute([&] { ++count; }).group(name_of(i - 1));
         r.time([&] { w.process_all(); });
         r.expect(count == r.n - 1);
     }},
    {"worlds: create n after all numbers were used", 100,
     [](run& r) {
         static const bool is_used_up = [] {
             for (int i = 0; i < 65'535; ++i) const world w;
             return true;
         }();
         r.expect(is_used_up);
         r.time([&] {
             for (std::size_t i = 0; i < r.n; ++i) const world w;
         });
     }},
};

double measure(const growth_case& one, std::size_t n, int rounds) {
    double best = 1e9;
    for (int round = 0; round < rounds; ++round) {
        run r(n);
        one.body(r);
        best = std::min(best, r.seconds());
    }
    return best;
}

void report(const growth_case& one) {
    double seconds[4];
    std::printf("%-56s n = %-5zu", one.name, one.first);
    for (int i = 0; i < 4; ++i) {
        seconds[i] = measure(one, one.first << i, 3);
        std::printf(" %9.1f us", seconds[i] * 1e6);
    }
    std::printf("   exponent %.2f\n", std::log2(seconds[3] / seconds[0]) / 3);
    std::fflush(stdout);
}

bool is_wanted(const growth_case& one, int argc, char** argv) {
    bool is_named = argc <= 1;
    for (int i = 1; i < argc; ++i)
        is_named = is_named || std::string_view(one.name).find(argv[i]) != std::string_view::npos;
    return is_named;
}

}  // namespace
}  // namespace muster::bench

int main(int argc, char** argv) {
    using namespace muster::bench;
    const bool is_check = argc > 1 && std::string_view(argv[1]) == "--check";
    const auto visit = [&](const auto& cases) {
        for (const growth_case& one : cases)
            if (is_check)
                (void)measure(one, 100, 1);
            else if (is_wanted(one, argc, argv))
                report(one);
    };
    visit(fragments);
    visit(names_and_hooks);
    visit(calls);
}
