#include <muster/system/parallel_stage.hpp>
#include <muster/system/stopwatch.hpp>

#include <algorithm>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

// ---- marks -------------------------------------------------------------------------------------

void order_marks::add(const system_data& system) {
    for (const system_data* at = &system; at != nullptr; at = at->links.group) {
        if (!systems_.insert(at).second) return;  // its groups were added with it
        names_.insert(at->name.data());
        for (const system_constraint& constraint : at->constraints)
            constraints_.insert(constraint.name.data());
    }
}

bool order_marks::is_ordered_with(const system_data& system) const {
    if (systems_.empty()) return false;
    for (const system_data* at = &system; at != nullptr; at = at->links.group) {
        if (constraints_.contains(at->name.data())) return true;
        for (const system_constraint& constraint : at->constraints)
            if (names_.contains(constraint.name.data())) return true;
    }
    return false;
}

void order_marks::clear() noexcept {
    systems_.clear();
    names_.clear();
    constraints_.clear();
}

void access_marks::add(slice<const access> all) {
    for (const access& use : all) is_written_[use.type] |= use.is_written;
}

bool access_marks::has_conflict(slice<const access> all) const {
    return std::ranges::any_of(all, [&](const access& use) {
        const auto found = is_written_.find(use.type);
        return found != is_written_.end() && (use.is_written || found->second);
    });
}

// ---- stages ------------------------------------------------------------------------------------

void parallel_stage::run(const system_plan::step* steps, std::size_t at, std::size_t group) {
    const system_data& system = *steps[at].system;
    if (!system.is_enabled || system.is_gone) return pass(system);
    if (system.when.get() != nullptr && run_.world != nullptr)
        return run_when_due(steps, at, group);
    run_now(steps, at, group);
}

/// Runs a system with conditions. Members that run several times wait for each other.
void parallel_stage::run_when_due(const system_plan::step* steps, std::size_t at,
                                  std::size_t group) {
    const system_data& system = *steps[at].system;
    if (system.when.get()->ask_world()) flush();
    const turns due = system.when.get()->decide(system.name, given_, run_.world);
    if (due.count == 0) return pass(system);
    if (due.step == 0) return run_now(steps, at, group);
    const payload outer = std::exchange(given_, stepped_.emplace_back(given_, due.step).values());
    for (std::uint32_t i = 0; i < due.count && system.is_enabled && !system.is_gone; ++i) {
        if (i != 0) flush();
        run_now(steps, at, group);
    }
    given_ = outer;
}

void parallel_stage::run_now(const system_plan::step* steps, std::size_t at, std::size_t group) {
    system_data& system = *steps[at].system;
    const std::size_t here = turns_.size();
    turns_.push_back({&system, group, 0});
    call_exclusively(here, system.prologue);
    add(here);
    const std::size_t end = steps[at].end;
    for (std::size_t next = at + 1; next < end; next = steps[next].end) run(steps, next, here);
    call_exclusively(here, system.epilogue);
}

void parallel_stage::finish() {
    flush();
    if (!is_timed_) return;
    for (std::size_t i = turns_.size(); i-- != 0;) {  // members before their group
        const turn& finished = turns_[i];
        if (finished.group != no_group) turns_[finished.group].took += finished.took;
        finished.system->time.add(finished.took);
    }
}

void parallel_stage::flush() {
    ordered_.clear();
    touched_.clear();
    if (all_.empty()) return;
    std::vector<shared_work> works;
    for (member& unit : all_) {
        const system_data& system = *turns_[unit.turn].system;
        const system_function& body = system.body;
        works.push_back(
            {.call = body.call,
             .function = body.function.room,
             .given = unit.given,
             .rows = body.rows != nullptr ? body.rows(body.function.room) : shared_rows{},
             .system = system.name,
             .touched = unit.touched,
             .expected = is_timed_ ? system.time.last : 0});
    }
    std::vector<member> done;
    done.swap(all_);
    run_phase(host_, threads_, works);
    for (std::size_t i = 0; i < done.size(); ++i) turns_[done[i].turn].took += works[i].took;
}

void parallel_stage::call_exclusively(std::size_t at, const system_function& what) {
    if (what.call == nullptr) return;
    flush();
    const stopwatch watch;
    call_function(*turns_[at].system, what, given_, run_.current_system);
    turns_[at].took += watch.elapsed();
}

void parallel_stage::add(std::size_t at) {
    const system_data& system = *turns_[at].system;
    if (system.body.call == nullptr) return pass(system);
    if (!system.use.is_known()) return call_exclusively(at, system.body);
    member made{at, given_, system.use.all()};
    const slice<const access> touched(made.touched.data(), made.touched.size());
    if (touched_.has_conflict(touched) || ordered_.is_ordered_with(system)) flush();
    touched_.add(touched);
    ordered_.add(system);
    all_.push_back(std::move(made));
}

/// Skips a system that has nothing to run. A system ordered after it must still run after the
/// systems before it.
void parallel_stage::pass(const system_data& system) {
    if (ordered_.is_ordered_with(system)) ordered_.add(system);
}

// ---- conflicts ---------------------------------------------------------------------------------

namespace {

/// Returns the first access that both have and at least one writes. There is one.
const access& find_conflict(const array_list<access>& some, const array_list<access>& others) {
    return *std::ranges::find_if(some, [&](const access& use) {
        return std::ranges::any_of(others, [&](const access& other) {
            return use.type == other.type && (use.is_written || other.is_written);
        });
    });
}

/// The steps that access a component, and those that write it, in order.
struct accessors {
    std::vector<std::size_t> all;
    std::vector<std::size_t> writers;
};

}  // namespace

std::vector<system_conflict> find_conflicts(slice<const system_plan::step> steps) {
    std::vector<array_list<access>> uses;
    std::unordered_map<type_index, accessors> by_type;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        uses.push_back(steps[i].system->use.all());
        for (const access& use : uses.back()) {
            accessors& known = by_type[use.type];
            known.all.push_back(i);
            if (use.is_written) known.writers.push_back(i);
        }
    }
    std::vector<system_conflict> found;
    order_marks ordered;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        std::vector<std::size_t> others;  // later steps with a conflict
        for (const access& use : uses[i]) {
            const accessors& known = by_type[use.type];
            const std::vector<std::size_t>& all = use.is_written ? known.all : known.writers;
            others.insert(others.end(), std::ranges::upper_bound(all, i), all.end());
        }
        if (others.empty()) continue;
        std::ranges::sort(others);
        const system_data& first = *steps[i].system;
        ordered.clear();
        ordered.add(first);
        auto other = others.begin();
        for (std::size_t j = i + 1; j <= others.back(); ++j) {
            const system_data& second = *steps[j].system;
            const bool is_other = *other == j;
            while (other != others.end() && *other == j) ++other;
            if (ordered.is_ordered_with(second))
                ordered.add(second);  // so that a system after it counts, too
            else if (is_other)
                found.push_back({first.name, second.name, find_conflict(uses[i], uses[j]).name});
        }
    }
    return found;
}

}  // namespace MUSTER_NAMESPACE::detail
