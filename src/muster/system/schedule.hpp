// schedule: the systems of a world, their groups and their order. The room `system` owns them. A
// system is a function with a query, a group of other systems, or both. `schedule::run` runs its
// parts in this order:
//
//     prologue   outside of a scope
//     body       in a scope of its own
//     members    of the group, each in the same way, in their order
//     epilogue   outside of a scope
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/command/lane.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/query/terms.hpp>
#include <muster/system/payload.hpp>
#include <muster/type/boxed_value.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

/// How long a system took, in nanoseconds, in the runs since the last reset.
struct system_timings {
    std::uint64_t last = 0;
    std::uint64_t mean = 0;
    std::uint64_t max = 0;
    std::uint64_t count = 0;
};

/// Two systems that run in one call and access the same component, which at least one of them
/// writes. Only insertion order decides which system runs first.
struct system_conflict {
    std::string_view first;
    std::string_view second;
    std::string_view component;
};

class executor;

namespace detail {

struct phase_host;

/// A user's function with its state, and how to call it.
struct system_function {
    boxed_value function;
    void (*call)(void* function, payload given) = nullptr;
    /// Returns the rows that it loops over. Null: it has no rows to divide.
    shared_rows (*rows)(void* function) = nullptr;
};

struct system_data {
    std::string_view name;       // stored by the schedule, for its lifetime
    std::uint64_t group_id = 0;  // the id that stands for this group, if `is_id`
    bool is_id = false;
    bool is_enabled = true;
    system_data* group = nullptr;
    array_list<system_data*> members;  // in insertion order
    /// Everything that runs with it: the system itself, then its members with theirs, in order.
    struct step {
        system_data* system;
        std::size_t end;  // the step after its last member
    };
    array_list<step> steps;
    bool is_ordered = false;  // `steps` is up to date
    struct constraint {
        std::string_view name;  // of the other system
        bool is_before;         // this system runs before it; else after it
    };
    array_list<constraint> constraints;
    system_function prologue;
    system_function body;
    system_function epilogue;
    terms asked;                  // conditions in addition to the function's arguments
    array_list<access> taken;     // accesses by the function's arguments
    bool is_taken_known = false;  // `taken` has all accesses, unless some are declared
    array_list<access> declared;  // by `reads` and `writes`

    bool is_gone = false;  // removed; destroyed when no system runs
    std::uint64_t last = 0, total = 0, max = 0, count = 0;  // see system_timings
};

class MUSTER_API schedule {
public:
    schedule();
    schedule(const schedule&) = delete;
    schedule& operator=(const schedule&) = delete;
    ~schedule();

    /// Adds a system and returns its number, which is never reused. An empty name becomes "#" and
    /// the number. Throws `errc::system_taken` if the name exists. `std::bad_alloc` changes
    /// nothing.
    std::uint64_t add(std::string_view name);
    /// Returns null if there is no such system.
    [[nodiscard]] system_data* find(std::uint64_t number) const noexcept;
    /// Returns 0 if there is no such system.
    [[nodiscard]] std::uint64_t find(std::string_view name) const noexcept;
    /// Like `find`, but throws `errc::unknown_system`.
    [[nodiscard]] system_data& get(std::string_view name) const;
    [[nodiscard]] system_data& get(std::uint64_t number) const;
    /// Returns the group that an id stands for, or null if there is none.
    [[nodiscard]] system_data* find_group(std::uint64_t id) const noexcept;
    system_data& ensure_group(std::uint64_t id, std::string_view name);
    /// Removes a system. Its members then have no group. `std::bad_alloc` changes nothing.
    void remove(system_data& system);

    /// Moves a system to a group; null: to none. Throws `errc::system_circle` if it would contain
    /// itself.
    void set_group(system_data& system, system_data* group);
    void add_constraint(system_data& system, std::string_view other, bool is_before);
    /// Replaces a function, even while the old function runs.
    void set(system_function& which, system_function&& made);

    /// Runs these systems with their members; skips null. Members run in insertion order, unless
    /// `before` or `after` requires another. Throws `errc::unknown_system` and
    /// `errc::system_circle` before any system runs. Exceptions name the system, as in
    /// `call_named`. `current_system` is the name of the running system. The order is fixed at the
    /// start.
    void run(std::span<system_data* const> some, payload given, std::string_view& current_system);
    /// Like `run`, but consecutive functions run in parallel if their accesses are known and do not
    /// conflict, and neither `before` nor `after` orders them. Their recorded changes are applied
    /// when all are done, in order.
    void run_parallel(const phase_host& host, executor& threads, std::span<system_data* const> some,
                      payload given, std::string_view& current_system);
    [[nodiscard]] std::vector<system_conflict> conflicts(system_data* system);
    /// Returns the names of the systems that `run` would run, even if disabled, each group before
    /// its members. Null: none.
    [[nodiscard]] std::vector<std::string_view> order_of(system_data* system);
    /// The group of all systems without a group.
    [[nodiscard]] system_data& top() noexcept { return top_; }

    bool is_timed = false;

private:
    struct parts;
    class running_guard;
    class stage;
    void run_one(const system_data::step* steps, std::size_t at, payload given,
                 std::string_view& current_system);
    void run_parts(const system_data::step* steps, std::size_t at, payload given,
                   std::string_view& current_system);
    void call(system_data& system, const system_function& what, payload given,
              std::string_view& current_system);
    [[nodiscard]] array_list<system_data*> in_order(const system_data& group) const;
    [[nodiscard]] bool are_ordered(const system_data& a, const system_data& b) const;
    void add_steps(array_list<system_data::step>& steps, system_data& system) const;
    void put_in_order(system_data& system);
    void forget_order() noexcept;
    [[nodiscard]] bool has_ended() const noexcept;
    void end_gone() noexcept;
    [[nodiscard]] std::string_view keep_name(std::string_view name);

    parts* parts_;     // owned; a pointer, so that includers need not compile it
    system_data top_;  // the group of all systems without a group
    std::uint32_t running_ = 0;
    bool has_gone_ = false;  // a removed system is not destroyed yet
};

}  // namespace detail
}  // namespace muster
