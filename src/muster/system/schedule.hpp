// schedule: the systems of a world, their groups and their order. The room `system` owns them. A
// system is a function with a query, a group of other systems, or both. `schedule::run` runs its
// parts in this order:
//
//     prologue   outside of a scope
//     body       in a scope of its own
//     members    of the group, each in the same way, in their order
//     epilogue   outside of a scope
#pragma once

#include <muster/base/slice.hpp>
#include <muster/system/payload.hpp>
#include <muster/system/system_data.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <vector>

namespace MUSTER_NAMESPACE {

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
struct engine;

/// A frame of a world.
struct frame_start {
    const void* world;  // for the functions of `run_if`
    const engine& owner;
    state_table& states;
};

/// The values that a run passes to its systems.
struct schedule_run {
    payload given;
    std::string_view& current_system;
    const void* world = nullptr;  // null: no frame, so conditions do not count
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
    /// Returns a number for a name that no system has, so that errors can name it; 0 if memory runs
    /// out.
    [[nodiscard]] std::uint64_t note_missing(std::string_view name) noexcept;
    [[nodiscard]] static bool is_missing(std::uint64_t number) noexcept {
        return number >= first_missing;
    }
    /// Like `find`, but throws `errc::unknown_system`. The message names the call site, if any.
    [[nodiscard]] system_data& get(std::string_view name, const char* call = nullptr,
                                   const std::source_location* where = nullptr) const;
    [[nodiscard]] system_data& get(std::uint64_t number) const;
    /// Returns the group that an id stands for, or null if there is none.
    [[nodiscard]] system_data* find_group(std::uint64_t id) const noexcept;
    /// The number of the system that was added last; 0 if there was none.
    [[nodiscard]] std::uint64_t last_number() const noexcept;
    system_data& ensure_group(std::uint64_t id, std::string_view name);
    /// Removes a system. Its members then have no group. `std::bad_alloc` changes nothing.
    void remove(system_data& system);

    /// Moves a system to a group; null: to none. Throws `errc::system_circle` if it would contain
    /// itself.
    void set_group(system_data& system, system_data* group);
    /// Orders a system before, or after, each of these. `std::bad_alloc` changes nothing.
    void add_constraints(system_data& system, std::span<const std::string_view> others,
                         bool is_before);
    /// Replaces a function, even while the old function runs.
    void set(system_function& which, system_function&& made);

    /// Runs these systems with their members; skips null. Members run in insertion order, unless
    /// `before` or `after` requires another. Throws `errc::unknown_system` and
    /// `errc::system_circle` before any system runs. Exceptions name the system, as in
    /// `call_named`. `current_system` is the name of the running system. The order is fixed at the
    /// start.
    void run(slice<system_data* const> some, payload given, std::string_view& current_system);
    /// Like `run`, but consecutive functions run in parallel if their accesses are known and do not
    /// conflict, and neither `before` nor `after` orders them. Their recorded changes are applied
    /// when all are done, in order.
    void run_parallel(const phase_host& host, executor& threads, slice<system_data* const> some,
                      payload given, std::string_view& current_system);
    /// Runs a frame: first the systems that a change of states concerns, then the systems without a
    /// group, as often as their conditions demand. A frame inside of a frame changes no states.
    void run_frame(const frame_start& begun, payload given, std::string_view& current_system);
    void run_frame_parallel(const frame_start& begun, const phase_host& host, executor& threads,
                            payload given, std::string_view& current_system);
    [[nodiscard]] std::vector<system_conflict> conflicts(system_data* system);
    /// Returns the names of the systems that `run` would run, even if disabled, each group before
    /// its members. Null: none.
    [[nodiscard]] std::vector<std::string_view> order_of(system_data* system);
    /// The group of all systems without a group.
    [[nodiscard]] system_data& top() noexcept { return top_; }

    bool is_timed = false;

private:
    static constexpr std::uint64_t first_missing = std::uint64_t{1} << 63;
    struct parts;
    class running_guard;
    template <class Pass>
    void run_passes(const frame_start& begun, Pass pass);
    void run_one(const system_plan::step* steps, std::size_t at, const schedule_run& run);
    void run_when_due(const system_plan::step* steps, std::size_t at, const schedule_run& run);
    void run_now(const system_plan::step* steps, std::size_t at, const schedule_run& run);
    void run_parts(const system_plan::step* steps, std::size_t at, const schedule_run& run);
    /// The members of a group; null: of the top.
    [[nodiscard]] system_links& links_of(system_data* group) noexcept;
    void append(system_data* group, system_data& system) noexcept;
    void unlink(system_data& system) noexcept;
    void put_in_order(system_data& system);
    [[nodiscard]] bool has_ended() const noexcept;
    void end_gone() noexcept;

    parts* parts_;             // owned; a pointer, so that includers need not compile it
    system_data top_;          // the group of all systems without a group
    std::uint64_t epoch_ = 1;  // of the order: changes with groups and constraints
    std::uint32_t running_ = 0;
    bool is_in_frame_ = false;
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
