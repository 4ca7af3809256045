// What does an id cost when it is made, one by one without reserve, and many at once?
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

}  // namespace
}  // namespace muster::bench
