// parallel: loops on several threads. The threads of an executor share the rows of a query. Each
// thread may read, write through its arguments, and call spawn, destroy, set, add, emplace, remove
// and clear on the world. These changes are recorded and applied at the end, as if by one thread.
//
//     w.query<position, const velocity>().par_each([](position& p, const velocity& v) {
//         p.x += v.x;
//     });
//
// Requires the target muster::parallel for the threads of oneTBB. With an executor of your own,
// muster::muster is enough.
#pragma once

#include <muster/query/query.hpp>
#include <muster/system/executor.hpp>
#include <muster/system/phase.hpp>
#include <muster/system/system.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace muster {

template <class Layout, class... Ts>
template <class Callback>
    requires(!detail::query_world<Layout>::is_const)
void basic_query<Layout, Ts...>::par_each(executor& threads, std::size_t grain,
                                          Callback&& callback) const {
    if (store_->gate.is_parallel()) return each(callback);  // a phase divides rows only once
    static constinit detail::pace recent_pace;              // of the rows of this callback
    const detail::shared_rows all = shared_rows();
    const std::uint64_t count = all.count();
    if (grain == 0 && recent_pace.is_short(count)) {
        cache_->refresh_all(store_->depth() != 0);
        return detail::run_briefly(store_->parallel, [&] { each(callback); });
    }
    struct body {
        const basic_query& query;
        std::remove_reference_t<Callback>& callback;
    };
    body what{*this, callback};
    detail::shared_work work[] = {{
        [](void* function, detail::payload) {
            const auto& self = *static_cast<body*>(function);
            self.query.each(self.callback);
        },
        &what,
    }};
    work[0].rows = all;
    work[0].grain = grain;
    work[0].expected = recent_pace.expect(count);
    detail::run_phase(detail::phase_host::of(store_->parallel, *cache_), threads, work);
    recent_pace.learn(count, work[0].took);
}

template <class Layout, class... Ts>
template <class Callback>
    requires(!detail::query_world<Layout>::is_const)
void basic_query<Layout, Ts...>::par_each(Callback&& callback) const {
    par_each(tbb_executor(), 0, callback);
}

template <class Layout>
template <class... Values>
void detail::systems<Layout>::run_parallel(executor& threads, std::span<system_data* const> some,
                                           const Values&... values) {
    entities.gate.refuse_in_change("process");
    entities.parallel.apply_submitted();
    const payload_value given[] = {payload_of(values)..., {}};
    all.run_parallel(phase_host::of(entities.parallel, queries), threads, some,
                     {given, sizeof...(Values)}, entities.current_system);
}

}  // namespace muster
