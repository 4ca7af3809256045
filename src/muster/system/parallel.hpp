// parallel: loops on several threads. The rows of a query are divided among the threads of an executor;
// each thread may read, write through the references that it is given, and call spawn, destroy, set, add,
// remove and clear on the world, which are recorded and carried out in the end as if one thread had done it.
//
//     w.query<position, const velocity>().par_each([](position& p, const velocity& v) {
//         p.x += v.x;
//     });
//
// Needs the target muster::parallel for the threads of oneTBB; with an executor of your own, only
// muster::muster.
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
template <class Look>
void basic_query<Layout, Ts...>::par_each(executor& threads, std::size_t grain, Look&& look) const {
    if (store_->is_shared())
        return each(look);                // this thread's part in a phase is not divided again
    static constinit detail::pace known;  // of this function's rows
    const detail::shared_rows all = shared_rows();
    const std::uint64_t count = all.count();
    if (grain == 0 && known.is_short(count)) {
        cache_->refresh_all(store_->depth() != 0);
        return detail::run_briefly(*store_, [&] { each(look); });
    }
    struct body {
        const basic_query& query;
        std::remove_reference_t<Look>& look;
    };
    body what{*this, look};
    detail::shared_work work[] = {{
        [](void* function, detail::payload) {
            const auto& self = *static_cast<body*>(function);
            self.query.each(self.look);
        },
        &what,
    }};
    work[0].rows = all;
    work[0].grain = grain;
    work[0].expected = known.expect(count);
    detail::run_phase(detail::phase_host::of(*store_, *cache_), threads, work);
    known.learn(count, work[0].took);
}

template <class Layout, class... Ts>
template <class Look>
void basic_query<Layout, Ts...>::par_each(Look&& look) const {
    par_each(tbb_executor(), 0, look);
}

template <class Layout>
template <class... Values>
void detail::systems<Layout>::run_shared(executor& threads, std::span<system_data* const> some,
                                         const Values&... values) {
    entities.refuse_in_change("process");
    entities.receive();
    const payload_value given[] = {payload_of(values)..., {}};
    all.run_shared(phase_host::of(entities, queries), threads, some, {given, sizeof...(Values)},
                   entities.acting());
}

}  // namespace muster
