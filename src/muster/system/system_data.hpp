// system_data: the state of one system, and its place in the tree of groups.
//
//     top ─┬─ input            members are in insertion order
//          └─ physics ─┬─ move
//                      └─ collide
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/change/lane.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/query/terms.hpp>
#include <muster/system/conditions.hpp>
#include <muster/system/payload.hpp>
#include <muster/type/boxed_value.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct system_data;

/// A user's function with its state, and how to call it.
struct system_function {
    boxed_value function;
    void (*call)(void* function, payload given) = nullptr;
    /// Returns the rows that it loops over. Null: it has no rows to divide.
    shared_rows (*rows)(void* function) = nullptr;
};

/// The group of a system, its neighbours there, and its own members.
struct system_links {
    system_data* group = nullptr;  // null: none
    system_data* previous = nullptr;
    system_data* next = nullptr;
    system_data* first_member = nullptr;
    system_data* last_member = nullptr;
};

/// Everything that runs with a system: the system itself, then its members with theirs, in order.
struct system_plan {
    struct step {
        system_data* system;
        std::size_t end;  // the step after its last member
    };
    array_list<step> steps;
    std::uint64_t epoch = 0;  // of the schedule's order; `steps` is out of date if they differ
};

struct system_constraint {
    std::string_view name;  // of the other system
    bool is_before;         // this system runs before it; else after it
};

/// The components that a system accesses.
struct system_use {
    array_list<access> taken;     // by the function's arguments
    array_list<access> declared;  // by `reads` and `writes`
    bool is_taken_known = false;  // `taken` has all accesses, unless some are declared
    bool is_exclusive = false;    // may change the world at once

    [[nodiscard]] bool is_known() const noexcept {
        return !is_exclusive && (is_taken_known || !declared.empty());
    }
    [[nodiscard]] array_list<access> all() const {
        array_list<access> made = taken;
        made.insert(made.end(), declared.begin(), declared.end());
        return made;
    }
};

/// In nanoseconds; see `system_timings`.
struct system_time {
    std::uint64_t last = 0;
    std::uint64_t total = 0;
    std::uint64_t max = 0;
    std::uint64_t count = 0;

    void add(std::uint64_t took) noexcept {
        last = took;
        total += took;
        max = max < took ? took : max;
        ++count;
    }
};

struct system_data {
    std::string_view name;       // stored by the schedule, for its lifetime; one address per name
    std::uint64_t number = 0;    // never reused
    std::uint64_t group_id = 0;  // the id that stands for this group, if `is_id`
    bool is_id = false;          // runs only on request
    bool is_enabled = true;
    bool is_gone = false;    // removed; destroyed when no system runs
    std::uint32_t node = 0;  // in the last `system_order` that has it
    conditions_owner when;
    system_links links;
    system_plan plan;
    array_list<system_constraint> constraints;
    system_function prologue;
    system_function body;
    system_function epilogue;
    terms asked;  // conditions in addition to the function's arguments
    system_use use;
    system_time time;
};

/// Calls a function of the system, whose name is `current_system` meanwhile. Exceptions name the
/// system, as in `call_named`.
MUSTER_API void call_function(system_data& system, const system_function& what, payload given,
                              std::string_view& current_system);

}  // namespace MUSTER_NAMESPACE::detail
