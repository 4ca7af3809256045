// schedule: the systems of a world, their groups and their order. The room `system` owns them; a system
// is a function with a query, or a group of others, or both, and is run by `schedule::run`:
//
//     prologue   outside of a scope
//     body       in a scope of its own
//     members    of the group, each the same way, in their order
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

/// How long a system took, in nanoseconds, over the runs since it was last reset.
struct system_timings {
    std::uint64_t last = 0;
    std::uint64_t mean = 0;
    std::uint64_t max = 0;
    std::uint64_t count = 0;
};

/// Two systems that run in one call and touch the same component, which at least one of them writes; only
/// the order in which they came says which of them is first.
struct system_conflict {
    std::string_view first;
    std::string_view second;
    std::string_view component;
};

class executor;

namespace detail {

struct phase_host;

/// A function of the user's, with all that it needs, and how it is called.
struct system_function {
    boxed_value function;
    void (*call)(void* function, payload given) = nullptr;
    /// What it loops over; null: nothing that threads could share.
    shared_rows (*rows)(void* function) = nullptr;
};

struct system_data {
    std::string_view name;       // kept by the schedule, for good
    std::uint64_t group_id = 0;  // the id that stands for it as a group, if `is_id`
    bool is_id = false;
    bool is_enabled = true;
    system_data* group = nullptr;
    array_list<system_data*> members;  // in the order of their coming
    /// All that runs with it: itself, and its members with theirs, in their order.
    struct step {
        system_data* system;
        std::size_t end;  // the step behind its last member
    };
    array_list<step> steps;
    bool is_ordered = false;  // `steps` is true
    struct constraint {
        std::string_view name;  // of the other
        bool is_before;         // this one runs before it; else after it
    };
    array_list<constraint> constraints;
    system_function prologue;
    system_function body;
    system_function epilogue;
    terms asked;                  // of its entities, beside what its function takes
    array_list<access> taken;     // by its function's arguments
    bool is_taken_known = false;  // they tell all that it touches, unless something is declared
    array_list<access> declared;  // beside them

    bool is_gone = false;                                   // it ends when nothing runs any more
    std::uint64_t last = 0, total = 0, max = 0, count = 0;  // see system_timings
};

class MUSTER_API schedule {
public:
    schedule();
    schedule(const schedule&) = delete;
    schedule& operator=(const schedule&) = delete;
    ~schedule();

    /// A new system; without a name, it gets one. `errc::system_taken`. `std::bad_alloc` changes
    /// nothing. Gives its number, which is not given again.
    std::uint64_t add(std::string_view name);
    /// Null if there is none.
    [[nodiscard]] system_data* find(std::uint64_t number) const noexcept;
    /// 0 if there is none.
    [[nodiscard]] std::uint64_t find(std::string_view name) const noexcept;
    /// The same; `errc::unknown_system`.
    [[nodiscard]] system_data& get(std::string_view name) const;
    [[nodiscard]] system_data& get(std::uint64_t number) const;
    /// The group that an id stands for; null if no system is in it.
    [[nodiscard]] system_data* find_group(std::uint64_t id) const noexcept;
    system_data& ensure_group(std::uint64_t id, std::string_view name);
    /// Its members have no group then. `std::bad_alloc` changes nothing.
    void remove(system_data& one);

    /// Null: no group. `errc::system_circle` if it would be in itself.
    void set_group(system_data& one, system_data* group);
    void add_constraint(system_data& one, std::string_view other, bool is_before);
    /// Takes over the function, also while the old one runs.
    void set(system_function& which, system_function&& made);

    /// Runs systems, null for none, and those of a group, in the order they came in and as `before` and `after` say.
    /// Before anything runs: `errc::unknown_system` and `errc::system_circle`. What is thrown names the
    /// system. `acting` has the name of the one that runs. What runs is settled at the start.
    void run(std::span<system_data* const> some, payload given, std::string_view& acting);
    /// The same, but functions whose accesses are known and do not conflict, and which are not put in order
    /// by `before` or `after`, run side by side if they follow each other. What they record is carried out
    /// when they are done, in their order.
    void run_shared(const phase_host& host, executor& threads, std::span<system_data* const> some,
                    payload given, std::string_view& acting);
    [[nodiscard]] std::vector<system_conflict> conflicts(system_data* one);
    /// The names of those that `run` would run, each group before its members. Null: none.
    [[nodiscard]] std::vector<std::string_view> order_of(system_data* one);
    /// The group of those that have none.
    [[nodiscard]] system_data& top() noexcept { return top_; }

    bool is_timed = false;

private:
    struct parts;
    class running_guard;
    class stage;
    void run_one(const system_data::step* steps, std::size_t at, payload given,
                 std::string_view& acting);
    void run_parts(const system_data::step* steps, std::size_t at, payload given,
                   std::string_view& acting);
    void call(system_data& one, const system_function& what, payload given,
              std::string_view& acting);
    [[nodiscard]] array_list<system_data*> in_order(const system_data& group) const;
    [[nodiscard]] bool are_ordered(const system_data& a, const system_data& b) const;
    void add_steps(array_list<system_data::step>& steps, system_data& one) const;
    void put_in_order(system_data& one);
    void forget_order() noexcept;
    [[nodiscard]] bool has_ended() const noexcept;
    void end_gone() noexcept;
    [[nodiscard]] std::string_view keep_name(std::string_view name);

    parts* parts_;     // owned; apart, so that who includes this need not compile it
    system_data top_;  // the group of those that have none
    std::uint32_t running_ = 0;
    bool has_gone_ = false;  // a system was removed while one ran
};

}  // namespace detail
}  // namespace muster
