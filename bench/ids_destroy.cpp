// What does it cost to destroy ids, in the order they were made and in random order?
#include "support/measure.hpp"

namespace muster::bench {
namespace {

template <class Pool>
void destroy_all(benchmark::State& state, const std::vector<std::uint32_t>* order) {
    std::vector<typename Pool::id_type> made(static_cast<std::size_t>(state.range(0))),
        doomed(made);
    measure(
        state,
        [&] {
            auto pool = std::make_unique<Pool>();
            pool->create(made);
            for (std::size_t i = 0; i < made.size(); ++i) doomed[i] = made[order ? (*order)[i] : i];
            return pool;
        },
        [&](Pool& pool) {
            for (const auto e : doomed) pool.destroy(e);
        },
        [&](Pool& pool) { return count_alive(pool, doomed) == 0; });
}

template <class Pool>
void destroy_in_order(benchmark::State& state) {
    destroy_all<Pool>(state, nullptr);
}
MUSTER_BENCH_IDS("id_destroy", destroy_in_order);

template <class Pool>
void destroy_shuffled(benchmark::State& state) {
    const auto order = shuffled(static_cast<std::size_t>(state.range(0)), 3);
    destroy_all<Pool>(state, &order);
}
MUSTER_BENCH_IDS("id_destroy_random", destroy_shuffled);

}  // namespace
}  // namespace muster::bench
