// parallel: loops on several threads. The threads of an executor share the rows of a query. Each
// thread may read, write through its arguments, and call spawn, destroy, set, add, emplace, patch,
// touch, remove and clear on the world. These changes are recorded and applied at the end, as if by
// one thread.
//
//     w.query<position, const velocity>().par_each([](position& p, const velocity& v) {
//         p.x += v.x;
//     });
//
// Requires the target muster::parallel for the threads of oneTBB. With an executor of your own,
// muster::muster is enough.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/query/query.hpp>
#include <muster/system/executor.hpp>
#include <muster/system/part_reducer.hpp>
#include <muster/system/phase.hpp>
#include <muster/system/system.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace MUSTER_NAMESPACE {

template <class Callback>
struct detail::parallel_header {
    [[nodiscard]] static executor& default_executor() { return tbb_executor(); }

    /// Runs a loop over rows as a phase. Each thread calls `loop` for the window in its lane. A loop that
    /// was short the last times runs on this thread.
    template <class Layout, class Loop>
    static void run(store<Layout>& owner, query_cache& queries, executor& threads,
                    std::size_t grain, const shared_rows& all, Loop& loop) {
        static constinit pace recent_pace;  // of the rows of this callback
        const std::uint64_t count = all.count();
        if (grain == 0 && recent_pace.is_short(count)) {
            queries.refresh_all(owner.depth() != 0);
            return run_briefly(owner.parallel, loop);
        }
        shared_work work[] = {{
            [](void* function, payload) { (*static_cast<Loop*>(function))(); },
            &loop,
        }};
        work[0].rows = all;
        work[0].grain = grain;
        work[0].expected = recent_pace.expect(count);
        run_phase(phase_host::of(owner.parallel, queries), threads, work);
        recent_pace.learn(count, work[0].took);
    }
};

/// @cond Doxygen does not match private members of a variadic template with their declarations.
template <class Layout, class... Ts>
template <class Callback>
void basic_query<Layout, Ts...>::divide(executor& threads, std::size_t grain,
                                        Callback& callback) const {
    world_.require();
    auto visit = [&] { each(callback); };
    if (store_->gate.is_parallel()) return visit();  // a phase divides rows only once
    detail::parallel_header<Callback>::run(*store_, *cache_, threads, grain, rows_for<Callback>(),
                                           visit);
}

template <class Layout, class... Ts>
template <class Callback>
void basic_query<Layout, Ts...>::divide(Callback& callback) const {
    divide(tbb_executor(), 0, callback);
}

template <class Layout, class... Ts>
template <class Value, class Function, class Combine>
void basic_query<Layout, Ts...>::reduce_parts(executor& threads, Value& value, Function& function,
                                              Combine& combine) const {
    using visitor = detail::part_reducer<Value, Function>;
    world_.require();
    const bool is_nested = store_->gate.is_parallel();  // a phase divides rows only once
    const detail::chunk_range all = chunks();
    detail::shared_rows to_divide{all.is_plain ? (is_nested ? &shared_list() : &list()) : nullptr,
                                  all};
    if (to_divide.list != nullptr) to_divide.unit = detail::rows_per_part(to_divide.count());
    detail::part_values<Value> parts(to_divide, value);
    if (parts.empty()) return;
    const auto reduce_from = [&](std::uint64_t row) {
        visitor visit(function, parts, row);
        each(visit);
        visit.finish();
    };
    if (is_nested) {
        reduce_from(0);
    } else {
        auto reduce_window = [&] { reduce_from(detail::find_lane(store_)->first_row()); };
        detail::parallel_header<visitor>::run(*store_, *cache_, threads, 0, to_divide,
                                              reduce_window);
    }
    parts.combine_into(value, combine);
}
/// @endcond

template <class Layout>
template <class... Values>
void detail::systems<Layout>::run_parallel(executor& threads, slice<system_data* const> some,
                                           const Values&... values) {
    begin("process");
    const payload_value given[] = {payload_of(values)..., {}};
    all.run_parallel(phase_host::of(entities.parallel, queries), threads, some,
                     {given, sizeof...(Values)}, entities.current_system);
}

template <class Layout>
template <class... Values>
void detail::systems<Layout>::run_frame_parallel(executor& threads, const void* of,
                                                 const Values&... values) {
    begin("process_all");
    const payload_value given[] = {payload_of(values)..., {}};
    all.run_frame_parallel({of, entities, states}, phase_host::of(entities.parallel, queries),
                           threads, {given, sizeof...(Values)}, entities.current_system);
}

}  // namespace MUSTER_NAMESPACE
