#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/event/event_log.hpp>
#include <muster/system/parallel_stage.hpp>
#include <muster/system/phase.hpp>
#include <muster/system/schedule.hpp>
#include <muster/system/stopwatch.hpp>
#include <muster/system/system_order.hpp>
#include <muster/system/system_registry.hpp>

#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

void raise_bad_payload(payload given, std::size_t place, std::string_view wanted) {
    std::string what = given.empty() ? "nothing" : std::string();
    for (const payload_value& value : given)
        what += text(what.empty() ? "" : ", ", value.type_name);
    raise(errc::bad_payload,
          text("it takes ", wanted, " as value ", place + 1, ", but was called with ", what,
               "; pass it to process_with() or process_all(), or take a component by reference"));
}

struct schedule::parts {
    system_registry systems;
    std::vector<array_list<system_plan::step>> old_steps;  // may still be running
    std::vector<system_function> old_functions;            // may still be running
};

schedule::schedule() : parts_(new parts) {}

schedule::~schedule() {
    // One by one: the destructor of a function may use the schedule, and add to it.
    parts_->systems.remove_all();
    top_.links = {};
    end_gone();
    delete parts_;
}

// ---- systems -----------------------------------------------------------------------------------

std::uint64_t schedule::add(std::string_view name) {
    if (!name.empty() && find(name) != 0)
        raise(errc::system_taken,
              text("a system \"", name, "\" already exists; find_system() returns it"));
    system_data& made = parts_->systems.add(name);
    append(nullptr, made);
    ++epoch_;
    return made.number;
}

system_data* schedule::find(std::uint64_t number) const noexcept {
    return parts_->systems.find(number);
}

std::uint64_t schedule::find(std::string_view name) const noexcept {
    const system_data* const found = parts_->systems.find(name);
    return found != nullptr ? found->number : 0;
}

std::uint64_t schedule::note_missing(std::string_view name) noexcept {
    const std::uint64_t noted = parts_->systems.note_missing(name);
    return noted == 0 ? 0 : first_missing + noted;
}

system_data& schedule::get(std::uint64_t number) const {
    system_data* const found = find(number);
    if (is_missing(number))
        raise(errc::unknown_system, text("no system had the name \"",
                                         parts_->systems.missing_name(number - first_missing),
                                         "\" when find_system() looked for it"));
    if (found == nullptr) raise(errc::unknown_system, "this system was removed or never existed");
    return *found;
}

system_data& schedule::get(std::string_view name, const char* call,
                           const std::source_location* where) const {
    system_data* const found = parts_->systems.find(name);
    if (found == nullptr)
        raise(errc::unknown_system,
              text("no system has the name \"", name, "\"", place_of(call, where)));
    return *found;
}

std::uint64_t schedule::last_number() const noexcept {
    return parts_->systems.last_number();
}

system_data* schedule::find_group(std::uint64_t id) const noexcept {
    return parts_->systems.find_group(id);
}

system_data& schedule::ensure_group(std::uint64_t id, std::string_view name) {
    system_data* const known = find_group(id);
    return known != nullptr ? *known : parts_->systems.add_group(id, name);
}

void schedule::remove(system_data& system) {
    unlink(system);
    while (system_data* const member = system.links.first_member) {
        unlink(*member);
        append(nullptr, *member);
    }
    parts_->systems.remove(system);
    ++epoch_;
    if (running_ == 0) end_gone();
}

/// Destroys removed systems, and functions and steps that were replaced. No system may run.
void schedule::end_gone() noexcept {
    parts_->old_steps.clear();
    std::vector<system_function> functions;  // their destructors may change the schedule
    functions.swap(parts_->old_functions);
    parts_->systems.destroy_removed();
}

void schedule::set(system_function& which, system_function&& made) {
    if (running_ != 0 && which.call != nullptr) parts_->old_functions.push_back(std::move(which));
    which = std::move(made);
}

// ---- groups and order --------------------------------------------------------------------------

system_links& schedule::links_of(system_data* group) noexcept {
    return group != nullptr ? group->links : top_.links;
}

void schedule::append(system_data* group, system_data& system) noexcept {
    system_links& to = links_of(group);
    system.links.group = group;
    system.links.previous = to.last_member;
    system.links.next = nullptr;
    (to.last_member != nullptr ? to.last_member->links.next : to.first_member) = &system;
    to.last_member = &system;
}

void schedule::unlink(system_data& system) noexcept {
    if (system.is_id) return;  // in no list
    system_links& from = links_of(system.links.group);
    const auto [group, previous, next, first, last] = system.links;
    (previous != nullptr ? previous->links.next : from.first_member) = next;
    (next != nullptr ? next->links.previous : from.last_member) = previous;
}

void schedule::set_group(system_data& system, system_data* group) {
    // A system without members can only contain itself.
    for (const system_data* at = group; at != nullptr; at = at->links.group) {
        if (at == &system)
            raise(errc::system_circle,
                  text("the system \"", system.name, "\" cannot join the group \"", group->name,
                       "\", which is a member of it"));
        if (system.links.first_member == nullptr) break;
    }
    unlink(system);
    append(group, system);
    ++epoch_;
}

void schedule::add_constraints(system_data& system, std::span<const std::string_view> others,
                               bool is_before) {
    array_list<system_constraint> all = system.constraints;
    for (const std::string_view other : others)
        all.push_back({parts_->systems.keep_name(other), is_before});
    system.constraints.swap(all);
    ++epoch_;
}

void schedule::put_in_order(system_data& system) {
    if (system.plan.epoch == epoch_) return;
    system_order order(parts_->systems, system);
    if (running_ != 0) parts_->old_steps.push_back(std::move(system.plan.steps));
    system.plan.steps = std::move(order.steps());
    system.plan.epoch = epoch_;
}

std::vector<std::string_view> schedule::order_of(system_data* system) {
    std::vector<std::string_view> names;
    if (system == nullptr) return names;
    put_in_order(*system);
    for (const system_plan::step& step : system->plan.steps)
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
    return parts_->systems.has_removed() || !parts_->old_functions.empty() ||
           !parts_->old_steps.empty();
}

void schedule::run(slice<system_data* const> some, payload given,
                   std::string_view& current_system) {
    for (system_data* system : some)
        if (system != nullptr) put_in_order(*system);
    const running_guard guard(*this);  // until the end, removed systems and old steps stay alive
    const schedule_run run{given, current_system};
    if (some.size() == 1 && some[0] != nullptr) return run_one(some[0]->plan.steps.data(), 0, run);
    std::vector<const system_plan::step*> starts;
    for (const system_data* system : some)
        if (system != nullptr) starts.push_back(system->plan.steps.data());
    for (const system_plan::step* step : starts) run_one(step, 0, run);
}

void schedule::run_one(const system_plan::step* steps, std::size_t at, const schedule_run& run) {
    const system_data& system = *steps[at].system;
    if (!system.is_enabled || system.is_gone) return;
    if (system.when.get() != nullptr) [[unlikely]]
        return run_when_due(steps, at, run);
    run_now(steps, at, run);
}

void schedule::run_now(const system_plan::step* steps, std::size_t at, const schedule_run& run) {
    if (!is_timed) return run_parts(steps, at, run);
    const stopwatch watch;
    run_parts(steps, at, run);
    steps[at].system->time.add(watch.elapsed());
}

void schedule::run_parts(const system_plan::step* steps, std::size_t at, const schedule_run& run) {
    system_data& system = *steps[at].system;
    const std::size_t end = steps[at].end;
    call_function(system, system.prologue, run.given, run.current_system);
    call_function(system, system.body, run.given, run.current_system);
    for (std::size_t next = at + 1; next < end; next = steps[next].end) run_one(steps, next, run);
    call_function(system, system.epilogue, run.given, run.current_system);
}

/// Runs a system with conditions.
void schedule::run_when_due(const system_plan::step* steps, std::size_t at,
                            const schedule_run& run) {
    if (run.world == nullptr) return run_now(steps, at, run);
    const system_data& system = *steps[at].system;
    const turns due = system.when.get()->decide(system.name, run.given, run.world);
    if (due.step == 0) {
        if (due.count != 0) run_now(steps, at, run);
        return;
    }
    const stepped_payload stepped(run.given, due.step);
    const schedule_run each{stepped.values(), run.current_system, run.world};
    for (std::uint32_t i = 0; i < due.count && system.is_enabled && !system.is_gone; ++i)
        run_now(steps, at, each);
}

void call_function(system_data& system, const system_function& what, payload given,
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

void schedule::run_parallel(const phase_host& host, executor& threads,
                            slice<system_data* const> some, payload given,
                            std::string_view& current_system) {
    for (system_data* system : some)
        if (system != nullptr) put_in_order(*system);
    const running_guard guard(*this);
    std::vector<const system_plan::step*> starts;
    for (const system_data* system : some)
        if (system != nullptr) starts.push_back(system->plan.steps.data());
    parallel_stage all(host, threads, {given, current_system}, is_timed);
    for (const system_plan::step* step : starts) all.run(step, 0);
    all.finish();
}

// ---- frames ------------------------------------------------------------------------------------

namespace {

/// Calls `run(at)` for the systems that concern a moment of a change of states, with their members,
/// if the conditions of their groups hold. `before_asking()` precedes functions of `run_if`.
template <class Ask, class Run>
void each_concerned(const system_plan::step* steps, const void* world, state_condition::moment now,
                    Ask before_asking, Run run) {
    for (std::size_t at = 0; at < steps[0].end;) {
        const system_data& system = *steps[at].system;
        const conditions* const when = system.when.get();
        const std::size_t end = steps[at].end;
        if (when != nullptr && when->ask_world()) before_asking();
        if (!system.is_enabled || system.is_gone ||
            (when != nullptr && !when->hold(system.name, world))) {
            at = end;
        } else if (when == nullptr || !when->concern_changes()) {
            ++at;
        } else {
            if (when->concern(now)) run(at);
            at = end;
        }
    }
}

}  // namespace

/// Calls `pass(steps, now)` for both moments of a change of states, if there is one, and then
/// `pass(steps, in)` for all other systems.
template <class Pass>
void schedule::run_passes(const frame_start& begun, Pass pass) {
    put_in_order(top_);
    const running_guard guard(*this);
    const system_plan::step* const steps = top_.plan.steps.data();
    const bool is_outermost = !std::exchange(is_in_frame_, true);
    const scope_guard end_frame([&] {
        is_in_frame_ = !is_outermost;
        if (is_outermost) event_logs::end_frame(begun.owner);
    });
    if (is_outermost && begun.states.begin_frame(begun.owner)) [[unlikely]] {
        pass(steps, state_condition::moment::on_exit);
        begun.states.change();
        const scope_guard settle([&] { begun.states.settle(); });
        pass(steps, state_condition::moment::on_enter);
    }
    pass(steps, state_condition::moment::in);
}

void schedule::run_frame(const frame_start& begun, payload given,
                         std::string_view& current_system) {
    const schedule_run run{given, current_system, begun.world};
    run_passes(begun, [&](const system_plan::step* steps, state_condition::moment now) {
        if (now == state_condition::moment::in) return run_one(steps, 0, run);
        each_concerned(
            steps, run.world, now, [] {}, [&](std::size_t at) { run_now(steps, at, run); });
    });
}

void schedule::run_frame_parallel(const frame_start& begun, const phase_host& host,
                                  executor& threads, payload given,
                                  std::string_view& current_system) {
    run_passes(begun, [&](const system_plan::step* steps, state_condition::moment now) {
        parallel_stage stage(host, threads, {given, current_system, begun.world}, is_timed);
        if (now == state_condition::moment::in)
            stage.run(steps, 0);
        else
            each_concerned(
                steps, begun.world, now, [&] { stage.flush(); },
                [&](std::size_t at) { stage.run_now(steps, at); });
        stage.finish();
    });
}

std::vector<system_conflict> schedule::conflicts(system_data* system) {
    if (system == nullptr) return {};
    put_in_order(*system);
    return find_conflicts({system->plan.steps.data(), system->plan.steps.size()});
}

}  // namespace MUSTER_NAMESPACE::detail
