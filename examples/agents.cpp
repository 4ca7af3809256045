// A whole program: 100,000 agents on several threads. Grazers eat grass, foxes hunt grazers, both
// multiply and starve. The result is the same on one thread and on four.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

constexpr int width = 256;  // cells of the meadow, which has no borders
constexpr int most_grass = 12;

// ---- components ---------------------------------------------------------------------------------

struct place {
    int x, y;
    [[nodiscard]] std::size_t cell() const { return static_cast<std::size_t>(y * width + x); }
};
struct energy {
    int left;
};
/// Each agent has random numbers of its own: those of one generator would depend on the order in
/// which the threads ask.
struct dice {
    std::uint32_t state;
    std::uint32_t next() { return state = state * 747796405u + 2891336453u; }
    int roll(int sides) { return static_cast<int>((next() >> 16) * std::uint64_t(sides) >> 16); }
};
struct grazer {};
struct fox {};

// ---- data of the world, by cell: singletons -----------------------------------------------------

struct meadow {
    std::vector<int> grass = std::vector<int>(width * width, most_grass);
};
/// Agents on several threads count themselves. Sums do not depend on the order.
struct herds {
    std::vector<std::atomic<int>> size = std::vector<std::atomic<int>>(width * width);
};
struct packs {
    std::vector<std::atomic<int>> size = std::vector<std::atomic<int>>(width * width);
    std::vector<std::atomic<int>> prey = std::vector<std::atomic<int>>(width * width);
};

void count(std::atomic<int>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
}
int value(const std::atomic<int>& counter) {
    return counter.load(std::memory_order_relaxed);
}

/// Returns how much each grazer of this cell eats today.
int bite(const meadow& field, const herds& herd, std::size_t cell) {
    return std::min(4, field.grass[cell] / std::max(1, value(herd.size[cell])));
}

// ---- systems ------------------------------------------------------------------------------------

/// An agent with much energy shares it with a child; one without energy dies.
template <class Kind>
void live(muster::world& w, muster::entity e, const place& at, energy& own, dice& luck, int food) {
    own.left += food - 2;
    if (own.left < 0) {
        w.destroy(e);
    } else if (own.left > 30 && luck.roll(4) == 0) {
        own.left /= 2;
        w.spawn(at, energy{own.left}, dice{luck.next()}, Kind{});
    }
}

/// The parameters of a system, `reads` and `writes` declare what it accesses. Systems without
/// conflicts run at the same time: here, those that count.
void add_systems(muster::world& w) {
    meadow& field = w.single<meadow>();
    herds& herd = w.single<herds>();
    packs& pack = w.single<packs>();

    w.system("wander").each([](place& p, dice& luck) {
        p.x = (p.x + width + luck.roll(3) - 1) % width;
        p.y = (p.y + width + luck.roll(3) - 1) % width;
    });
    w.system("count grazers").with<grazer>().writes<herds>().each([&herd](const place& p) {
        count(herd.size[p.cell()]);
    });
    w.system("count foxes").with<fox>().writes<packs>().each([&pack](const place& p) {
        count(pack.size[p.cell()]);
    });
    w.system("hunt").with<grazer>().reads<herds>().writes<packs>().each(
        [&](muster::entity e, const place& p, dice& luck) {
            const int hunters = value(pack.size[p.cell()]);
            if (hunters == 0 || luck.roll(2 * value(herd.size[p.cell()])) >= hunters) return;
            count(pack.prey[p.cell()]);
            w.destroy(e);
        });
    w.system("graze").after("hunt").with<grazer>().reads<meadow, herds>().each(
        [&](muster::entity e, const place& p, energy& own, dice& luck) {
            live<grazer>(w, e, p, own, luck, bite(field, herd, p.cell()));
        });
    w.system("feed").after("hunt").with<fox>().reads<packs>().each(
        [&](muster::entity e, const place& p, energy& own, dice& luck) {
            const int share = 10 * value(pack.prey[p.cell()]) / value(pack.size[p.cell()]);
            live<fox>(w, e, p, own, luck, share);
        });
    w.system("regrow").after("graze").writes<meadow, herds, packs>().execute([&] {
        for (std::size_t cell = 0; cell < field.grass.size(); ++cell) {
            const int eaten = value(herd.size[cell]) * bite(field, herd, cell);
            field.grass[cell] = std::min(most_grass, field.grass[cell] - eaten + 3);
            herd.size[cell] = pack.size[cell] = pack.prey[cell] = 0;
        }
    });
}

// ---- the program --------------------------------------------------------------------------------

/// Runs Muster's work on threads of its own. A program that uses oneTBB passes
/// `muster::tbb_executor()` instead.
class crew final : public muster::executor {
public:
    explicit crew(unsigned size) : size_(size) {}
    [[nodiscard]] unsigned concurrency() const noexcept override { return size_; }
    void run(unsigned parts, const task& work) override {
        std::vector<std::thread> others;
        for (unsigned i = 1; i < parts; ++i) others.emplace_back([&work, i] { work(i); });
        work(0);
        for (std::thread& other : others) other.join();
    }

private:
    unsigned size_;
};

/// Mixes all values in the order of the loop: other values or another order give another sum.
std::uint64_t checksum(const muster::world& w) {
    std::uint64_t sum = w.size();
    w.each([&](const place& p, const energy& own, const dice& luck) {
        for (const std::uint64_t part :
             {std::uint64_t(p.cell()), std::uint64_t(own.left), std::uint64_t(luck.state)})
            sum = (sum ^ part) * 1099511628211u;
    });
    for (const int grass : w.single<meadow>().grass)
        sum = (sum ^ std::uint64_t(grass)) * 1099511628211u;
    return sum;
}

std::uint64_t simulate(unsigned threads, int days, bool prints) {
    muster::world w;
    w.set_single(meadow{});
    w.set_single(herds{});
    w.set_single(packs{});
    add_systems(w);

    dice luck{2024};
    const auto settle = [&](muster::rows some) {
        for (std::size_t row = 0; row < some.size(); ++row) {
            some.components<place>()[row] = {luck.roll(width), luck.roll(width)};
            some.components<energy>()[row].left = luck.roll(20);
            some.components<dice>()[row].state = luck.next();
        }
    };
    w.spawn_rows(95'000, settle, place{}, energy{}, dice{}, grazer{});
    w.spawn_rows(5'000, settle, place{}, energy{}, dice{}, fox{});

    int born = 0;
    int died = 0;
    w.on_spawn([&] { ++born; });  // on this thread: when the changes of the others are applied
    w.on_destroy([&] { ++died; });

    crew workers(threads);
    for (int day = 1; day <= days; ++day) {
        w.par_process_all(workers);
        if (prints && day % 8 == 0)
            std::printf("day %2d: %zu grazers, %zu foxes; %d born, %d died\n", day,
                        w.count<grazer>(), w.count<fox>(), born, died);
    }
    return checksum(w);
}

int main() {
    constexpr int days = 32;
    const std::uint64_t alone = simulate(1, days, true);
    const std::uint64_t together = simulate(4, days, false);
    std::printf("checksum %016llx, %s\n", static_cast<unsigned long long>(alone),
                alone == together ? "the same on four threads" : "ANOTHER ON FOUR THREADS");
    return alone == together ? 0 : 1;
}
