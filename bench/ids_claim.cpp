// Measures `create_at` for ids with holes in random order, and `alive` of these ids. There is no
// floor; compare with `pool_alive`, whose ids are created in order.
#include <muster/id/id_pool.hpp>

#include <memory>

#include "questions/order.hpp"
#include "support/suite.hpp"

namespace muster::bench {
namespace {

using pool_type = id_pool<layouts::bound>;

std::vector<id> saved_game(std::size_t count) {
    std::vector<id> saved;
    for (const std::uint32_t i : shuffled(count, 5)) saved.push_back(id::pack(i + i / 8, i % 5, 1));
    return saved;
}

void load(trial& t) {
    const std::vector<id> saved = saved_game(t.size());
    measure(
        t, [] { return std::make_unique<pool_type>(); },
        [&](pool_type& pool) {
            for (const id e : saved) pool.create_at(e);
        },
        [&](pool_type& pool) { return count_alive(pool, saved) == saved.size(); });
}

void ask(trial& t, const id_pool_options& options) {
    const std::vector<id> saved = saved_game(t.size());
    pool_type pool{options};
    for (const id e : saved) pool.create_at(e);
    std::size_t living = 0;
    measure(
        t, [&] { return &pool; },
        [&](pool_type& all) {
            living = count_alive(all, saved);
            keep(living);
        },
        [&](pool_type&) { return living == saved.size(); });
}

void ask_loaded(trial& t) {
    ask(t, {});
}

/// Ids outside of the pool's key range, such as server ids in a client.
void ask_other_range(trial& t) {
    ask(t, {.first_key = 100'000'000});
}

[[maybe_unused]] const int registered = [] {
    add("pool_create_at", "muster", load);
    add("pool_alive_loaded", "muster", ask_loaded);
    add("pool_alive_other_range", "muster", ask_other_range);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
