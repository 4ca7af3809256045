// Measures `id_pool` without a world. The floor checks nothing: no limits, no exhausted versions,
// no world numbers, no dead ids.
#include <muster/id/id_pool.hpp>

#include "questions/ids.hpp"
#include "support/floor_ids.hpp"
#include "support/suite.hpp"

namespace muster::bench {
namespace {

/// Reuses keys that were freed in random order: the free list jumps about in memory.
template <class Pool>
void create_reused(trial& t) {
    std::vector<typename Pool::id_type> out(t.size());
    const auto order = shuffled(t.size(), 3);
    measure(
        t,
        [&] {
            auto pool = std::make_unique<Pool>();
            pool->create(out);
            for (const std::uint32_t i : order) pool->destroy(out[i]);
            return pool;
        },
        [&](Pool& pool) {
            for (auto& e : out) e = pool.create();
        },
        [&](Pool& pool) { return count_alive(pool, out) == out.size(); });
}

template <class Pool>
void add_pool(const char* who) {
    add("pool_create", who, id_create<Pool>);
    add("pool_create_bulk", who, id_create_bulk<Pool>);
    add("pool_create_reused", who, create_reused<Pool>);
    add("pool_destroy", who, static_cast<void (*)(trial&)>(id_destroy<Pool>));
    add("pool_destroy_random", who, id_destroy_random<Pool>);
    add("pool_churn", who, id_churn<Pool>);
    add("pool_alive", who, alive<Pool>);
}
[[maybe_unused]] const int registered = [] {
    add_pool<floor_ids>("floor");
    add_pool<id_pool<layouts::bound>>("muster");
    add_pool<id_pool<layouts::compact>>("compact");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
