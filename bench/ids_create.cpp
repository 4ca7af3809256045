// What does an id cost when it is made: one by one without reserve, many at once, of used keys?
#include "support/measure.hpp"

namespace muster::bench {
namespace {

template <class Pool>
void create_one_by_one(benchmark::State& state) {
    std::vector<typename Pool::id_type> out(static_cast<std::size_t>(state.range(0)));
    measure(
        state, [] { return std::make_unique<Pool>(); },
        [&](Pool& pool) {
            for (auto& e : out) e = pool.create();
        },
        [&](Pool& pool) { return count_alive(pool, out) == out.size(); });
}
MUSTER_BENCH_IDS("id_create", create_one_by_one);

template <class Pool>
void create_many(benchmark::State& state) {
    std::vector<typename Pool::id_type> out(static_cast<std::size_t>(state.range(0)));
    measure(
        state, [] { return std::make_unique<Pool>(); }, [&](Pool& pool) { pool.create(out); },
        [&](Pool& pool) { return count_alive(pool, out) == out.size(); });
}
MUSTER_BENCH_IDS("id_create_bulk", create_many);

/// All keys were used before and were freed in random order: the line of free keys jumps about in memory.
template <class Pool>
void create_reused(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    std::vector<typename Pool::id_type> out(count);
    const auto order = shuffled(count, 3);
    measure(
        state,
        [&] {
            auto pool = std::make_unique<Pool>();
            pool->create(out);
            for (const std::uint32_t i : order) pool->destroy(out[i]);
            return pool;
        },
        [&](Pool& pool) {
            for (auto& e : out) e = pool.create();
        },
        [&](Pool& pool) { return count_alive(pool, out) == count; });
}
MUSTER_BENCH_IDS("id_create_reused", create_reused);

}  // namespace
}  // namespace muster::bench
