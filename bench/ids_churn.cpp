// What does it cost to destroy a random id and make another?
#include "support/measure.hpp"

namespace muster::bench {
namespace {

template <class Pool>
void churn(benchmark::State& state) {
    const auto count = static_cast<std::size_t>(state.range(0));
    std::vector<typename Pool::id_type> ids(count);
    std::vector<std::uint32_t> victims(count);
    std::mt19937 dice(7);
    for (auto& victim : victims) victim = static_cast<std::uint32_t>(dice() % count);
    measure(
        state,
        [&] {
            auto pool = std::make_unique<Pool>();
            pool->create(ids);
            return pool;
        },
        [&](Pool& pool) {
            for (const std::uint32_t victim : victims) {
                pool.destroy(ids[victim]);
                ids[victim] = pool.create();
            }
        },
        [&](Pool& pool) { return count_alive(pool, ids) == count; });
}
MUSTER_BENCH_IDS("id_churn", churn);

}  // namespace
}  // namespace muster::bench
