// system_calls: the calls of a world that create, find and run systems.
#pragma once

#include <muster/world/event_calls.hpp>

#include <muster/system/system.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace MUSTER_NAMESPACE {

/// The calls of a world for systems.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class system_calls : public event_calls<Layout> {
    using target_type = detail::basic_target<Layout>;

public:
    /// Creates a system; the calls of `basic_system` set what it does and when. Throws
    /// `errc::system_taken` if another system has this name. A system without a name is named by a
    /// number. Refused in a phase.
    basic_system<Layout> system(std::string_view name = {}) {
        store_.gate.refuse_in_phase("creating a system");
        return basic_world<Layout>::template make_handle<basic_system<Layout>>(
            systems_, systems_.all.add(name));
    }
    template <class T, class... Ts>
    basic_system<Layout> system(std::string_view name = {}) {
        static_assert(!std::is_same_v<T, T>,
                      "muster: the parameters of a system's function name its components: write "
                      "system(name).each(function).");
        return system(name);
    }
    /// Returns the system with this name, or the null system, whose errors then contain the name.
    /// Never throws. May be called in a phase.
    [[nodiscard]] basic_system<Layout> find_system(std::string_view name) noexcept {
        std::uint64_t found = systems_.all.find(name);
        if (found == 0 && !store_.gate.is_parallel()) found = systems_.all.note_missing(name);
        return found == 0 ? basic_system<Layout>()
                          : basic_world<Layout>::template make_handle<basic_system<Layout>>(
                                systems_, found);
    }

    /// Runs these systems in this order. A target is a system, its name, or the id of a group. Each
    /// system runs its prologue, its function in a scope, the members of its group, and its
    /// epilogue.
    ///
    /// Throws `errc::unknown_system` and `errc::system_circle` before anything runs. Throws
    /// `errc::bad_payload` when it reaches a function whose arguments the values do not match. An
    /// exception stops the call: what the function has recorded is dropped, what ran before stays.
    /// The exception names the system: an `error` keeps its code, another `std::exception` is
    /// nested in `errc::system_failed`. All other exceptions, and `std::bad_alloc`, propagate
    /// unchanged. Refused in a phase.
    // The first target captures the call site: a default argument after a pack is never used.
    template <class... Targets>
    void process(const target_type& first, const Targets&... others) {
        detail::system_data* const all[] = {systems_.find(first, "process"),
                                            find_beside(first, others, "process")...};
        systems_.run(all);
    }
    void process() { systems_.run({}); }
    /// Like `process` for one target, but passes these values, or as many as it takes, to each
    /// function. A number may be taken as another number type: an integer if its value stays the
    /// same, a floating-point number after rounding. Refused in a phase.
    template <class... Values>
    void process_with(const target_type& target, const Values&... values) {
        detail::system_data* const all[] = {systems_.find(target, "process_with")};
        systems_.run(all, values...);
    }
    /// Runs a frame: all systems that are in no group, in their order, if their conditions hold.
    /// Passes the values as `process_with` does. Changes of states begin the frame; see `set_state`.
    /// A `process_all` in a system of a frame changes no states. After an exception, time has passed
    /// only for the systems before the one that threw.
    ///
    /// Ends the frame for events, even if a system throws, unless it is called in a frame; see
    /// `end_frame`. Refused in a phase.
    template <class... Values>
    void process_all(const Values&... values) {
        systems_.run_frame(static_cast<const basic_world<Layout>*>(this), values...);
    }
    /// Like `process`, on several threads. Divides the rows of each system as
    /// `basic_query::par_each` does. Consecutive systems run concurrently if none accesses what
    /// another writes and no `before` or `after` orders them. They all see the world as it is
    /// before them.
    ///
    /// Their recorded changes are applied when all of them are done, in the order of the systems.
    /// So the result does not depend on the number of threads or on timing, except for the numbers
    /// of new ids. A system that must see another system's recorded changes declares `after`.
    /// Prologues, epilogues and systems with unknown accesses (see `basic_system::reads`) run
    /// alone.
    ///
    /// Without an executor, runs on the threads of oneTBB.
    ///
    /// Throws as `par_each` does. All recorded changes of systems that ran concurrently with the
    /// system that threw are dropped. Requires the header <muster/system/parallel.hpp>.
    /// Refused in a phase.
    template <class... Targets>
    void par_process(executor& threads, const target_type& first, const Targets&... others) {
        if constexpr (detail::has_parallel_header<Layout>()) {
            detail::system_data* const all[] = {systems_.find(first, "par_process"),
                                                find_beside(first, others, "par_process")...};
            systems_.run_parallel(threads, all);
        }
    }
    void par_process(executor& threads) {
        if constexpr (detail::has_parallel_header<Layout>()) systems_.run_parallel(threads, {});
    }
    template <class... Targets>
    void par_process(const target_type& first, const Targets&... others) {
        if constexpr (detail::has_parallel_header<Layout>()) {
            detail::system_data* const all[] = {systems_.find(first, "par_process"),
                                                find_beside(first, others, "par_process")...};
            systems_.run_parallel(default_executor<Targets...>(), all);
        }
    }
    /// Like `process_with`, on several threads; see `par_process`.
    template <class... Values>
    void par_process_with(executor& threads, const target_type& target, const Values&... values) {
        if constexpr (detail::has_parallel_header<Layout>()) {
            detail::system_data* const all[] = {systems_.find(target, "par_process_with")};
            systems_.run_parallel(threads, all, values...);
        }
    }
    template <class... Values>
    void par_process_with(const target_type& target, const Values&... values) {
        if constexpr (detail::has_parallel_header<Layout>())
            par_process_with(default_executor<Values...>(), target, values...);
    }
    /// Like `process_all`, on several threads; see `par_process`. Conditions are decided on the
    /// calling thread, when it is the system's turn. So it runs the systems that `process_all` runs.
    template <class... Values>
    void par_process_all(executor& threads, const Values&... values) {
        if constexpr (detail::has_parallel_header<Layout>())
            systems_.run_frame_parallel(threads, static_cast<const basic_world<Layout>*>(this),
                                        values...);
    }
    template <class... Values>
        requires(!detail::begins_with_executor<Values...>)
    void par_process_all(const Values&... values) {
        if constexpr (detail::has_parallel_header<Layout>())
            par_process_all(default_executor<Values...>(), values...);
    }
    /// Returns the pairs of systems of `process_all` that cannot run concurrently and that no
    /// `before` or `after` orders, not even transitively. They run in the order in which they were
    /// added. Throws `errc::unknown_system` and `errc::system_circle` as `process` does.
    /// O(systems^2). Needs exclusive access to the world. Refused in a phase.
    [[nodiscard]] std::vector<system_conflict> system_conflicts() {
        store_.gate.refuse_in_phase("system_conflicts");
        return systems_.all.conflicts(&systems_.all.top());
    }
    /// Like `system_conflicts`, for the systems of `process(target)`.
    [[nodiscard]] std::vector<system_conflict> system_conflicts(const target_type& target) {
        store_.gate.refuse_in_phase("system_conflicts");
        return systems_.all.conflicts(systems_.find(target, "system_conflicts"));
    }
    /// Returns the names of the systems in the order in which `process_all` would run them,
    /// disabled systems included. Refused in a phase.
    [[nodiscard]] std::vector<std::string_view> system_order() {
        store_.gate.refuse_in_phase("system_order");
        return systems_.all.order_of(&systems_.all.top());
    }
    /// Like `system_order`, for the systems of `process(target)`.
    [[nodiscard]] std::vector<std::string_view> system_order(const target_type& target) {
        store_.gate.refuse_in_phase("system_order");
        return systems_.all.order_of(systems_.find(target, "system_order"));
    }
    /// Switches the timing of systems on or off; see `basic_system::timings`. Off by default, when
    /// it costs nothing. Returns false in a parallel phase, and does nothing.
    bool time_systems(bool wanted) noexcept {
        if (store_.gate.is_parallel()) return false;
        systems_.all.is_timed = wanted;
        return true;
    }

protected:
    using event_calls<Layout>::event_calls;
    using detail::world_base<Layout>::store_;
    using detail::world_base<Layout>::systems_;

private:
    /// The threads of oneTBB. `Args` defer the look-up: the header need not be included.
    template <class... Args>
    [[nodiscard]] static executor& default_executor() {
        return detail::parallel_header<void(Args...)>::default_executor();
    }
    /// Finds a further target of the call whose first target is `first`.
    template <class Target>
    [[nodiscard]] detail::system_data* find_beside(const target_type& first, const Target& target,
                                                   const char* call) {
        return systems_.find(target_type(target, first.where), call);
    }
};

}  // namespace MUSTER_NAMESPACE
