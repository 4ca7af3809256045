#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/system/phase.hpp>
#include <muster/system/schedule.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <utility>

namespace muster::detail {

void raise_bad_payload(payload given, std::size_t place, std::string_view wanted) {
    std::string what = given.empty() ? "nothing" : std::string();
    for (const payload_value& value : given)
        what += text(what.empty() ? "" : ", ", value.type_name);
    raise(errc::bad_payload, text("it takes ", wanted, " as value ", place + 1,
                                  ", but was called with ", what, "; pass it with process_with()"));
}

struct schedule::parts {
    struct numbered {
        std::uint64_t number;
        std::unique_ptr<system_data> system;
    };
    std::vector<numbered> all;  // sorted by number
    std::list<std::string> names;
    std::uint64_t last = 0;
    std::vector<array_list<system_data::step>> old_steps;  // may still be running
    std::vector<system_function> old_functions;            // may still be running
};

schedule::schedule() : parts_(new parts) {}

schedule::~schedule() {
    // One by one: the destructor of a function may use the remaining systems.
    for (const parts::numbered& numbered : parts_->all) numbered.system->is_gone = true;
    end_gone();
    delete parts_;
}

// ---- systems -----------------------------------------------------------------------------------

std::string_view schedule::keep_name(std::string_view name) {
    for (const std::string& candidate : parts_->names)
        if (candidate == name) return candidate;
    return parts_->names.emplace_back(name);
}

std::uint64_t schedule::add(std::string_view name) {
    if (!name.empty() && find(name) != 0)
        raise(errc::system_taken,
              text("a system \"", name, "\" already exists; find_system() returns it"));
    auto made = std::make_unique<system_data>();
    std::string number = text("#", parts_->last + 1);
    while (name.empty() && find(number) != 0) number += "'";
    made->name = keep_name(name.empty() ? std::string_view(number) : name);
    top_.members.reserve(top_.members.size() + 1);
    parts_->all.push_back({parts_->last + 1, nullptr});
    top_.members.push_back(made.get());
    parts_->all.back().system = std::move(made);
    forget_order();
    return ++parts_->last;
}

system_data* schedule::find(std::uint64_t number) const noexcept {
    const auto found = std::ranges::lower_bound(parts_->all, number, {}, &parts::numbered::number);
    const bool is_there = found != parts_->all.end() && found->number == number;
    return is_there && !found->system->is_gone ? found->system.get() : nullptr;
}

std::uint64_t schedule::find(std::string_view name) const noexcept {
    for (const parts::numbered& numbered : parts_->all)
        if (!numbered.system->is_id && !numbered.system->is_gone && numbered.system->name == name)
            return numbered.number;
    return 0;
}

system_data& schedule::get(std::uint64_t number) const {
    system_data* const found = find(number);
    if (found == nullptr) raise(errc::unknown_system, "this system was removed or never existed");
    return *found;
}

system_data& schedule::get(std::string_view name) const {
    const std::uint64_t number = find(name);
    if (number == 0) raise(errc::unknown_system, text("no system has the name \"", name, "\""));
    return *find(number);
}

system_data* schedule::find_group(std::uint64_t id) const noexcept {
    for (const parts::numbered& numbered : parts_->all)
        if (numbered.system->is_id && !numbered.system->is_gone && numbered.system->group_id == id)
            return numbered.system.get();
    return nullptr;
}

system_data& schedule::ensure_group(std::uint64_t id, std::string_view name) {
    if (system_data* const known = find_group(id)) return *known;
    const std::string_view kept = keep_name(name);
    system_data& made = *find(add({}));
    made.name = kept;
    made.is_id = true;
    made.group_id = id;
    top_.members.erase_value(&made);  // runs only on request
    return made;
}

void schedule::remove(system_data& system) {
    top_.members.reserve(top_.members.size() + system.members.size());
    system.is_gone = has_gone_ = true;
    (system.group != nullptr ? *system.group : top_).members.erase_value(&system);
    for (system_data* member : system.members) {
        member->group = nullptr;
        top_.members.push_back(member);
    }
    system.members.clear();
    forget_order();
    if (running_ == 0) end_gone();
}

/// Destroys removed systems, and functions and steps that were replaced. No system may run.
void schedule::end_gone() noexcept {
    has_gone_ = false;
    parts_->old_steps.clear();
    std::vector<system_function> functions;  // their destructors may change the schedule
    functions.swap(parts_->old_functions);
    for (;;) {
        const auto found = std::ranges::find_if(
            parts_->all, [](const parts::numbered& numbered) { return numbered.system->is_gone; });
        if (found == parts_->all.end()) return;
        const std::unique_ptr<system_data> ended = std::move(found->system);
        parts_->all.erase(found);
    }
}

void schedule::set(system_function& which, system_function&& made) {
    if (running_ != 0 && which.call != nullptr) parts_->old_functions.push_back(std::move(which));
    which = std::move(made);
}

// ---- order -------------------------------------------------------------------------------------

void schedule::forget_order() noexcept {
    top_.is_ordered = false;
    for (const parts::numbered& numbered : parts_->all)
        if (numbered.system != nullptr) numbered.system->is_ordered = false;
}

void schedule::set_group(system_data& system, system_data* group) {
    for (const system_data* at = group; at != nullptr; at = at->group)
        if (at == &system)
            raise(errc::system_circle,
                  text("the system \"", system.name, "\" cannot join the group \"", group->name,
                       "\", which is a member of it"));
    system_data& to = group != nullptr ? *group : top_;
    to.members.reserve(to.members.size() + 1);
    (system.group != nullptr ? *system.group : top_).members.erase_value(&system);
    to.members.push_back(&system);
    system.group = group;
    forget_order();
}

void schedule::add_constraint(system_data& system, std::string_view other, bool is_before) {
    system.constraints.push_back({keep_name(other), is_before});
    forget_order();
}

/// Returns the members of a group in the order of `before` and `after`, otherwise in insertion
/// order.
array_list<system_data*> schedule::in_order(const system_data& group) const {
    // Returns the member of the group that the system is, or is in; null if there is none.
    const auto member_of = [&](const system_data* system) -> const system_data* {
        const system_data* const wanted = &group == &top_ ? nullptr : &group;
        while (system != nullptr && system->group != wanted) system = system->group;
        return system != nullptr && !system->is_id ? system : nullptr;
    };
    struct dependency {
        const system_data* first;
        const system_data* second;
    };
    std::vector<dependency> dependencies;
    for (const parts::numbered& numbered : parts_->all) {
        const system_data& system = *numbered.system;
        const system_data* const mine = member_of(&system);
        if (mine == nullptr || system.is_gone) continue;
        for (const system_data::constraint& said : system.constraints) {
            const std::string_view name = said.name;
            const bool is_before = said.is_before;
            const std::uint64_t number = find(name);
            const auto sentence = [&](const char* why) {
                return text("the system \"", system.name, "\" must run ",
                            is_before ? "before" : "after", " \"", name, "\", ", why);
            };
            if (number == 0) raise(errc::unknown_system, sentence("but no system has that name"));
            const system_data* const other = find(number);
            for (const system_data* at = system.group; at != nullptr; at = at->group)
                if (at == other)
                    raise(errc::system_circle, sentence("but it is a member of that group"));
            const system_data* const theirs = member_of(other);
            if (theirs == nullptr || (theirs == mine && other != &system)) continue;
            dependencies.push_back(is_before ? dependency{mine, theirs} : dependency{theirs, mine});
        }
    }
    array_list<system_data*> order;
    array_list<system_data*> left = group.members;
    const auto is_in = [](const auto& some, const system_data* system) {
        return std::ranges::find(some, system) != some.end();
    };
    while (!left.empty()) {
        const auto next = std::ranges::find_if(left, [&](const system_data* system) {
            return std::ranges::none_of(dependencies, [&](const dependency& d) {
                return d.second == system && !is_in(order, d.first);
            });
        });
        if (next == left.end()) {
            // Following dependencies backwards from any remaining system leads to a cycle.
            std::vector<const system_data*> path{left.front()};
            for (;;) {
                const auto blocking = std::ranges::find_if(dependencies, [&](const dependency& d) {
                    return d.second == path.back() && is_in(left, d.first);
                });
                const auto seen =
                    blocking == dependencies.end()
                        ? path.begin()  // never: each remaining system depends on another
                        : std::ranges::find(path, blocking->first);
                if (seen != path.end()) {
                    path.erase(path.begin(), seen);
                    break;
                }
                path.push_back(blocking->first);
            }
            std::string names;
            for (auto at = path.rbegin(); at != path.rend(); ++at)
                names += text("\"", (*at)->name, "\" before ");
            raise(errc::system_circle,
                  text("the order of systems has a cycle: ", names, "\"", path.back()->name, "\""));
        }
        order.push_back(*next);
        left.erase(next);
    }
    return order;
}

void schedule::add_steps(array_list<system_data::step>& steps, system_data& system) const {
    const std::size_t at = steps.size();
    steps.push_back({&system, 0});
    for (system_data* member : in_order(system)) add_steps(steps, *member);
    steps[at].end = steps.size();
}

void schedule::put_in_order(system_data& system) {
    if (system.is_ordered) return;
    array_list<system_data::step> steps;
    add_steps(steps, system);
    if (running_ != 0) parts_->old_steps.push_back(std::move(system.steps));
    system.steps = std::move(steps);
    system.is_ordered = true;
}

std::vector<std::string_view> schedule::order_of(system_data* system) {
    std::vector<std::string_view> names;
    if (system == nullptr) return names;
    put_in_order(*system);
    for (const system_data::step& step : system->steps)
        if (step.system != &top_) names.push_back(step.system->name);
    return names;
}

// ---- running -----------------------------------------------------------------------------------

class schedule::running_guard {
public:
    explicit running_guard(schedule& owner) noexcept : owner_(owner) { ++owner_.running_; }
    running_guard(const running_guard&) = delete;
    running_guard& operator=(const running_guard&) = delete;
    ~running_guard() {
        if (--owner_.running_ == 0 && owner_.has_ended()) owner_.end_gone();
    }

private:
    schedule& owner_;
};

bool schedule::has_ended() const noexcept {
    return has_gone_ || !parts_->old_functions.empty() || !parts_->old_steps.empty();
}

void schedule::run(std::span<system_data* const> some, payload given,
                   std::string_view& current_system) {
    for (system_data* system : some)
        if (system != nullptr) put_in_order(*system);
    const running_guard guard(*this);  // until the end, removed systems and old steps stay alive
    if (some.size() == 1 && some[0] != nullptr)
        return run_one(some[0]->steps.data(), 0, given, current_system);
    std::vector<const system_data::step*> starts;
    for (const system_data* system : some)
        if (system != nullptr) starts.push_back(system->steps.data());
    for (const system_data::step* step : starts) run_one(step, 0, given, current_system);
}

namespace {
/// Nanoseconds since `start`.
std::uint64_t since(std::chrono::steady_clock::time_point start) {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now() - start)
                                          .count());
}
/// Adds the time of one run to the timings.
void note(system_data& system, std::uint64_t took) {
    system.last = took;
    system.total += took;
    system.max = std::max(system.max, took);
    ++system.count;
}
}  // namespace

void schedule::run_one(const system_data::step* steps, std::size_t at, payload given,
                       std::string_view& current_system) {
    system_data& system = *steps[at].system;
    if (!system.is_enabled || system.is_gone) return;
    if (!is_timed) return run_parts(steps, at, given, current_system);
    const auto start = std::chrono::steady_clock::now();
    run_parts(steps, at, given, current_system);
    note(system, since(start));
}

void schedule::run_parts(const system_data::step* steps, std::size_t at, payload given,
                         std::string_view& current_system) {
    system_data& system = *steps[at].system;
    const std::size_t end = steps[at].end;
    call(system, system.prologue, given, current_system);
    call(system, system.body, given, current_system);
    for (std::size_t next = at + 1; next < end; next = steps[next].end)
        run_one(steps, next, given, current_system);
    call(system, system.epilogue, given, current_system);
}

void schedule::call(system_data& system, const system_function& what, payload given,
                    std::string_view& current_system) {
    if (what.call == nullptr) return;
    struct current_system_guard {
        std::string_view& current_system;
        std::string_view previous;
        ~current_system_guard() { current_system = previous; }
    };
    const current_system_guard guard{current_system, std::exchange(current_system, system.name)};
    call_named(system.name, what.call, what.function.room, given);
}

// ---- parallel ----------------------------------------------------------------------------------

namespace {

/// All accesses of a system.
array_list<access> accesses_of(const system_data& system) {
    array_list<access> all = system.taken;
    all.insert(all.end(), system.declared.begin(), system.declared.end());
    return all;
}

bool is_known(const system_data& system) {
    return system.is_taken_known || !system.declared.empty();
}

/// Returns an access that both have and at least one writes, or null.
const access* find_conflict(const array_list<access>& some, const array_list<access>& others) {
    for (const access& use : some)
        for (const access& other : others)
            if (use.type == other.type && (use.is_written || other.is_written)) return &use;
    return nullptr;
}

}  // namespace

/// Whether `before` or `after` orders the two systems, or groups that they are in.
bool schedule::are_ordered(const system_data& a, const system_data& b) const {
    const auto names = [](const system_data* from, const system_data* to) {
        return std::ranges::any_of(
            from->constraints,
            [&](const system_data::constraint& constraint) { return constraint.name == to->name; });
    };
    for (const system_data* system = &a; system != nullptr; system = system->group)
        for (const system_data* other = &b; other != nullptr; other = other->group)
            if (names(system, other) || names(other, system)) return true;
    return false;
}

/// Functions that run in parallel.
class schedule::stage {
public:
    stage(schedule& owner, const phase_host& host, executor& threads, payload given,
          std::string_view& current_system)
        : owner_(owner),
          host_(host),
          threads_(threads),
          given_(given),
          current_system_(current_system) {}

    /// Runs a system and its members, one after another unless they can share a stage.
    void run(const system_data::step* steps, std::size_t at, std::size_t group = no_group) {
        system_data& system = *steps[at].system;
        if (!system.is_enabled || system.is_gone) return pass(system);
        const std::size_t here = turns_.size();
        turns_.push_back({&system, group, 0});
        call_exclusively(here, system.prologue);
        add(here);
        const std::size_t end = steps[at].end;
        for (std::size_t next = at + 1; next < end; next = steps[next].end) run(steps, next, here);
        call_exclusively(here, system.epilogue);
    }
    /// Runs the remaining functions and records all timings.
    void finish() {
        flush();
        if (!owner_.is_timed) return;
        for (std::size_t i = turns_.size(); i-- != 0;) {  // members before their group
            const turn& finished = turns_[i];
            if (finished.group != no_group) turns_[finished.group].took += finished.took;
            note(*finished.system, finished.took);
        }
    }

private:
    static constexpr std::size_t no_group = ~std::size_t{0};

    /// A system of this run.
    struct turn {
        system_data* system;
        std::size_t group;  // index of the group's turn
        std::uint64_t took;
    };
    struct member {
        std::size_t turn;
        array_list<access> touched;
    };

    void flush() {
        passed_.clear();
        if (all_.empty()) return;
        std::vector<shared_work> works;
        for (member& unit : all_) {
            const system_data& system = system_of(unit);
            const system_function& body = system.body;
            works.push_back(
                {.call = body.call,
                 .function = body.function.room,
                 .given = given_,
                 .rows = body.rows != nullptr ? body.rows(body.function.room) : shared_rows{},
                 .system = system.name,
                 .touched = unit.touched,
                 .expected = owner_.is_timed ? system.last : 0});
        }
        std::vector<member> done;
        done.swap(all_);
        run_phase(host_, threads_, works);
        for (std::size_t i = 0; i < done.size(); ++i) turns_[done[i].turn].took += works[i].took;
    }
    void call_exclusively(std::size_t at, const system_function& what) {
        if (what.call == nullptr) return;
        flush();
        const auto start = std::chrono::steady_clock::now();
        owner_.call(*turns_[at].system, what, given_, current_system_);
        turns_[at].took += since(start);
    }
    void add(std::size_t at) {
        const system_data& system = *turns_[at].system;
        if (system.body.call == nullptr) return pass(system);
        if (!is_known(system)) return call_exclusively(at, system.body);
        member made{at, accesses_of(system)};
        const bool must_defer = std::ranges::any_of(all_, [&](const member& other) {
            return find_conflict(made.touched, other.touched) != nullptr;
        });
        if (must_defer || has_unfinished_dependency(system)) flush();
        all_.push_back(std::move(made));
    }
    /// Skips a system that has nothing to run. A system ordered after it must still run after the
    /// systems before it.
    void pass(const system_data& system) {
        if (has_unfinished_dependency(system)) passed_.push_back(&system);
    }
    [[nodiscard]] bool has_unfinished_dependency(const system_data& system) const {
        return std::ranges::any_of(all_,
                                   [&](const member& other) {
                                       return owner_.are_ordered(system, system_of(other));
                                   }) ||
               std::ranges::any_of(passed_, [&](const system_data* other) {
                   return owner_.are_ordered(system, *other);
               });
    }
    [[nodiscard]] system_data& system_of(const member& unit) const {
        return *turns_[unit.turn].system;
    }

    schedule& owner_;
    const phase_host& host_;
    executor& threads_;
    payload given_;
    std::string_view& current_system_;
    std::vector<turn> turns_;
    std::vector<member> all_;
    std::vector<const system_data*> passed_;  // run nothing, but are ordered with one of `all_`
};

void schedule::run_parallel(const phase_host& host, executor& threads,
                            std::span<system_data* const> some, payload given,
                            std::string_view& current_system) {
    for (system_data* system : some)
        if (system != nullptr) put_in_order(*system);
    const running_guard guard(*this);
    std::vector<const system_data::step*> starts;
    for (const system_data* system : some)
        if (system != nullptr) starts.push_back(system->steps.data());
    stage all(*this, host, threads, given, current_system);
    for (const system_data::step* step : starts) all.run(step, 0);
    all.finish();
}

std::vector<system_conflict> schedule::conflicts(system_data* system) {
    std::vector<system_conflict> found;
    if (system == nullptr) return found;
    put_in_order(*system);
    const std::size_t count = system->steps.size();
    for (std::size_t i = 0; i < count; ++i) {
        const system_data& first = *system->steps[i].system;
        const array_list<access> some = accesses_of(first);
        std::vector<const system_data*> ordered_after{&first};  // ordered after it, directly or not
        for (std::size_t j = i + 1; j < count; ++j) {
            const system_data& second = *system->steps[j].system;
            if (std::ranges::any_of(ordered_after, [&](const system_data* at) {
                    return are_ordered(*at, second);
                })) {
                ordered_after.push_back(&second);
                continue;
            }
            const array_list<access> others = accesses_of(second);
            if (const access* const both = find_conflict(some, others))
                found.push_back({first.name, second.name, both->name});
        }
    }
    return found;
}

}  // namespace muster::detail
