// What does it cost to ask shuffled handles, half of them stale, whether they are alive?
#include "support/measure.hpp"

namespace muster::bench {
namespace {

template <class Pool>
void ask(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    Pool pool;
    std::vector<typename Pool::id_type> made(count), asked;
    pool.create(made);
    const auto victims = shuffled(count, 42);
    for (std::size_t i = 0; i < count / 2; ++i) pool.destroy(made[victims[i]]);
    for (std::size_t i = 0; i < count / 2; ++i) (void)pool.create();
    for (const std::uint32_t i : shuffled(count, 9)) asked.push_back(made[i]);

    std::size_t living = 0;
    measure(
        state, [&] { return &pool; },
        [&](Pool& all) {
            living = count_alive(all, asked);
            benchmark::DoNotOptimize(living);
        },
        [&](Pool&) { return living == count - count / 2; });
}
MUSTER_BENCH_IDS("alive", ask);

}  // namespace
}  // namespace muster::bench
