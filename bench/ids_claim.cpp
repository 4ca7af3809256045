// What does it cost to load ids by their exact values, with holes and in random order, and to ask them
// afterwards? There is no floor that does the same; `alive` of ids made in order stands in for it.
#include "support/measure.hpp"

namespace muster::bench {
namespace {

using pool_type = id_pool<layouts::bound>;

std::vector<id> saved_game(std::size_t count) {
    std::vector<id> saved;
    for (const std::uint32_t i : shuffled(count, 5)) saved.push_back(id::pack(i + i / 8, i % 5, 1));
    return saved;
}

void load(benchmark::State& state) {
    const std::vector<id> saved = saved_game(static_cast<std::size_t>(state.range(0)));
    measure(
        state, [] { return std::make_unique<pool_type>(); },
        [&](pool_type& pool) {
            for (const id e : saved) pool.create_at(e);
        },
        [&](pool_type& pool) { return count_alive(pool, saved) == saved.size(); });
}

void ask(benchmark::State& state, const id_pool_options& options) {
    const std::vector<id> saved = saved_game(static_cast<std::size_t>(state.range(0)));
    pool_type pool{options};
    for (const id e : saved) pool.create_at(e);
    std::size_t living = 0;
    measure(
        state, [&] { return &pool; },
        [&](pool_type& all) {
            living = count_alive(all, saved);
            benchmark::DoNotOptimize(living);
        },
        [&](pool_type&) { return living == saved.size(); });
}

void ask_loaded(benchmark::State& state) {
    ask(state, {});
}

/// Ids outside of the own range, as a client has those of its server.
void ask_other_range(benchmark::State& state) {
    ask(state, {.first_key = 100'000'000});
}

const int registered = [] {
    add("id_create_at", "muster", load);
    add("alive_loaded", "muster", ask_loaded);
    add("alive_other_range", "muster", ask_other_range);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
