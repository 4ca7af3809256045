// parallel_stage: decides which consecutive systems run in parallel, and finds conflicts between
// systems whose order nothing defines.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/system/phase.hpp>
#include <muster/system/schedule.hpp>
#include <muster/system/system_data.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

/// Some systems, to find out whether `before` or `after` orders another system, or a group that it
/// is in, with one of them or their groups.
class MUSTER_API order_marks {
public:
    /// O(groups above it that are new + their constraints).
    void add(const system_data& system);
    /// O(groups above it + their constraints).
    [[nodiscard]] bool is_ordered_with(const system_data& system) const;
    void clear() noexcept;

private:
    // A name is stored once, so its address stands for it.
    std::unordered_set<const system_data*> systems_;  // with the groups above them
    std::unordered_set<const char*> names_;           // of `systems_`
    std::unordered_set<const char*> constraints_;     // the names in their constraints
};

/// The accesses of several systems.
class MUSTER_API access_marks {
public:
    void add(slice<const access> all);
    /// Whether one of these and one of those added access the same component, and at least one
    /// writes it.
    [[nodiscard]] bool has_conflict(slice<const access> all) const;
    void clear() noexcept { is_written_.clear(); }

private:
    std::unordered_map<type_index, bool> is_written_;
};

/// Runs systems, several functions at the same time where that is allowed.
class parallel_stage {
public:
    parallel_stage(const phase_host& host, executor& threads, const schedule_run& run,
                   bool is_timed)
        : host_(host), threads_(threads), run_(run), given_(run.given), is_timed_(is_timed) {}

    /// Runs a system and its members, one after another unless they can share a stage.
    void run(const system_plan::step* steps, std::size_t at) { run(steps, at, no_group); }
    /// Like `run`, whatever the conditions of the system are.
    void run_now(const system_plan::step* steps, std::size_t at) { run_now(steps, at, no_group); }
    /// Runs the functions that wait. Their recorded changes are then applied.
    void flush();
    /// Runs the remaining functions and records all timings.
    void finish();

private:
    static constexpr std::size_t no_group = ~std::size_t{0};

    /// A system of this run.
    struct turn {
        system_data* system;
        std::size_t group;  // index of the group's turn
        std::uint64_t took;
    };
    /// A function of the stage.
    struct member {
        std::size_t turn;
        payload given;
        array_list<access> touched;
    };

    void run(const system_plan::step* steps, std::size_t at, std::size_t group);
    void run_when_due(const system_plan::step* steps, std::size_t at, std::size_t group);
    void run_now(const system_plan::step* steps, std::size_t at, std::size_t group);
    void call_exclusively(std::size_t at, const system_function& what);
    void add(std::size_t at);
    void pass(const system_data& system);

    const phase_host& host_;
    executor& threads_;
    const schedule_run run_;
    payload given_;  // that of the run, or of the current step of a group
    bool is_timed_;
    std::deque<stepped_payload> stepped_;
    std::vector<turn> turns_;
    // The stage: functions that will run in parallel.
    std::vector<member> all_;
    access_marks touched_;
    order_marks ordered_;  // also systems that run nothing, but are ordered with one of `all_`
};

/// Finds the pairs of systems with a conflict that neither `before` nor `after` orders, directly or
/// through other systems.
[[nodiscard]] MUSTER_API std::vector<system_conflict> find_conflicts(
    slice<const system_plan::step> steps);

}  // namespace MUSTER_NAMESPACE::detail
