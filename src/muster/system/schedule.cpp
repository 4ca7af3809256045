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
    for (const payload_value& one : given) what += text(what.empty() ? "" : ", ", one.type_name);
    raise(errc::bad_payload, text("it takes a ", wanted, " as value ", place + 1,
                                  ", but is processed with ", what, "; give it by process_with()"));
}

struct schedule::parts {
    struct numbered {
        std::uint64_t number;
        std::unique_ptr<system_data> system;
    };
    std::vector<numbered> all;  // by number
    std::list<std::string> names;
    std::uint64_t last = 0;
    std::vector<array_list<system_data::step>> old_steps;  // that may still run
    std::vector<system_function> old_functions;            // that may still run
};

schedule::schedule() : parts_(new parts) {}

schedule::~schedule() {
    // One by one: what ends may look at the others.
    for (const parts::numbered& one : parts_->all) one.system->is_gone = true;
    end_gone();
    delete parts_;
}

// ---- which there are ---------------------------------------------------------------------------

std::string_view schedule::keep_name(std::string_view name) {
    for (const std::string& one : parts_->names)
        if (one == name) return one;
    return parts_->names.emplace_back(name);
}

std::uint64_t schedule::add(std::string_view name) {
    if (!name.empty() && find(name) != 0)
        raise(errc::system_taken, text("there is a system \"", name,
                                       "\" already: find_system() gives it; names are unique"));
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
    for (const parts::numbered& one : parts_->all)
        if (!one.system->is_id && !one.system->is_gone && one.system->name == name)
            return one.number;
    return 0;
}

system_data& schedule::get(std::uint64_t number) const {
    system_data* const found = find(number);
    if (found == nullptr) raise(errc::unknown_system, "this system was removed, or never was one");
    return *found;
}

system_data& schedule::get(std::string_view name) const {
    const std::uint64_t number = find(name);
    if (number == 0) raise(errc::unknown_system, text("there is no system \"", name, "\""));
    return *find(number);
}

system_data* schedule::find_group(std::uint64_t id) const noexcept {
    for (const parts::numbered& one : parts_->all)
        if (one.system->is_id && !one.system->is_gone && one.system->group_id == id)
            return one.system.get();
    return nullptr;
}

system_data& schedule::ensure_group(std::uint64_t id, std::string_view name) {
    if (system_data* const known = find_group(id)) return *known;
    const std::string_view kept = keep_name(name);
    system_data& made = *find(add({}));
    made.name = kept;
    made.is_id = true;
    made.group_id = id;
    top_.members.erase_value(&made);  // it runs only when it is asked for
    return made;
}

void schedule::remove(system_data& one) {
    top_.members.reserve(top_.members.size() + one.members.size());
    one.is_gone = has_gone_ = true;
    (one.group != nullptr ? *one.group : top_).members.erase_value(&one);
    for (system_data* member : one.members) {
        member->group = nullptr;
        top_.members.push_back(member);
    }
    one.members.clear();
    forget_order();
    if (running_ == 0) end_gone();
}

/// What nobody needs any more, when nothing runs.
void schedule::end_gone() noexcept {
    has_gone_ = false;
    parts_->old_steps.clear();
    std::vector<system_function> functions;  // their ends may change the schedule
    functions.swap(parts_->old_functions);
    for (;;) {
        const auto found = std::ranges::find_if(
            parts_->all, [](const parts::numbered& one) { return one.system->is_gone; });
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
    for (const parts::numbered& one : parts_->all)
        if (one.system != nullptr) one.system->is_ordered = false;
}

void schedule::set_group(system_data& one, system_data* group) {
    for (const system_data* at = group; at != nullptr; at = at->group)
        if (at == &one)
            raise(errc::system_circle,
                  text("the system \"", one.name, "\" cannot be in the group \"", group->name,
                       "\", which is in it"));
    system_data& to = group != nullptr ? *group : top_;
    to.members.reserve(to.members.size() + 1);
    (one.group != nullptr ? *one.group : top_).members.erase_value(&one);
    to.members.push_back(&one);
    one.group = group;
    forget_order();
}

void schedule::add_constraint(system_data& one, std::string_view other, bool is_before) {
    one.constraints.push_back({keep_name(other), is_before});
    forget_order();
}

/// The members of a group as `before` and `after` say; where they leave it open, as they came.
array_list<system_data*> schedule::in_order(const system_data& group) const {
    // Which member of the group another system is, or is in.
    const auto member_of = [&](const system_data* one) -> const system_data* {
        const system_data* const wanted = &group == &top_ ? nullptr : &group;
        while (one != nullptr && one->group != wanted) one = one->group;
        return one != nullptr && !one->is_id ? one : nullptr;
    };
    struct wait {
        const system_data* first;
        const system_data* second;
    };
    std::vector<wait> waits;
    for (const parts::numbered& each : parts_->all) {
        const system_data& one = *each.system;
        const system_data* const mine = member_of(&one);
        if (mine == nullptr || one.is_gone) continue;
        for (const system_data::constraint& said : one.constraints) {
            const std::string_view name = said.name;
            const bool is_before = said.is_before;
            const std::uint64_t number = find(name);
            const auto sentence = [&](const char* why) {
                return text("the system \"", one.name, "\" is to run ",
                            is_before ? "before" : "after", " \"", name, "\", ", why);
            };
            if (number == 0)
                raise(errc::unknown_system, sentence("but there is no system of that name"));
            const system_data* const other = find(number);
            for (const system_data* at = one.group; at != nullptr; at = at->group)
                if (at == other) raise(errc::system_circle, sentence("which it is in"));
            const system_data* const theirs = member_of(other);
            if (theirs == nullptr || (theirs == mine && other != &one)) continue;
            waits.push_back(is_before ? wait{mine, theirs} : wait{theirs, mine});
        }
    }
    array_list<system_data*> order;
    array_list<system_data*> left = group.members;
    const auto is_in = [](const auto& some, const system_data* one) {
        return std::ranges::find(some, one) != some.end();
    };
    while (!left.empty()) {
        const auto next = std::ranges::find_if(left, [&](const system_data* one) {
            return std::ranges::none_of(
                waits, [&](const wait& w) { return w.second == one && !is_in(order, w.first); });
        });
        if (next == left.end()) {
            // Going back from one to what it waits for comes to a circle.
            std::vector<const system_data*> path{left.front()};
            for (;;) {
                const auto blocking = std::ranges::find_if(waits, [&](const wait& w) {
                    return w.second == path.back() && is_in(left, w.first);
                });
                const auto seen = blocking == waits.end()
                                      ? path.begin()  // never: all that are left wait for another
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
                  text("systems wait for each other: ", names, "\"", path.back()->name, "\""));
        }
        order.push_back(*next);
        left.erase(next);
    }
    return order;
}

void schedule::add_steps(array_list<system_data::step>& steps, system_data& one) const {
    const std::size_t at = steps.size();
    steps.push_back({&one, 0});
    for (system_data* member : in_order(one)) add_steps(steps, *member);
    steps[at].end = steps.size();
}

void schedule::put_in_order(system_data& one) {
    if (one.is_ordered) return;
    array_list<system_data::step> steps;
    add_steps(steps, one);
    if (running_ != 0) parts_->old_steps.push_back(std::move(one.steps));
    one.steps = std::move(steps);
    one.is_ordered = true;
}

std::vector<std::string_view> schedule::order_of(system_data* one) {
    std::vector<std::string_view> names;
    if (one == nullptr) return names;
    put_in_order(*one);
    for (const system_data::step& each : one->steps)
        if (each.system != &top_) names.push_back(each.system->name);
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

void schedule::run(std::span<system_data* const> some, payload given, std::string_view& acting) {
    for (system_data* one : some)
        if (one != nullptr) put_in_order(*one);
    const running_guard guard(*this);  // one of them may remove another, or change its order
    if (some.size() == 1 && some[0] != nullptr)
        return run_one(some[0]->steps.data(), 0, given, acting);
    std::vector<const system_data::step*> starts;
    for (const system_data* one : some)
        if (one != nullptr) starts.push_back(one->steps.data());
    for (const system_data::step* one : starts) run_one(one, 0, given, acting);
}

namespace {
/// Nanoseconds since then.
std::uint64_t since(std::chrono::steady_clock::time_point start) {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now() - start)
                                          .count());
}
/// A run took so long.
void note(system_data& one, std::uint64_t took) {
    one.last = took;
    one.total += took;
    one.max = std::max(one.max, took);
    ++one.count;
}
}  // namespace

void schedule::run_one(const system_data::step* steps, std::size_t at, payload given,
                       std::string_view& acting) {
    system_data& one = *steps[at].system;
    if (!one.is_enabled || one.is_gone) return;
    if (!is_timed) return run_parts(steps, at, given, acting);
    const auto start = std::chrono::steady_clock::now();
    run_parts(steps, at, given, acting);
    note(one, since(start));
}

void schedule::run_parts(const system_data::step* steps, std::size_t at, payload given,
                         std::string_view& acting) {
    system_data& one = *steps[at].system;
    const std::size_t end = steps[at].end;
    call(one, one.prologue, given, acting);
    call(one, one.body, given, acting);
    for (std::size_t next = at + 1; next < end; next = steps[next].end)
        run_one(steps, next, given, acting);
    call(one, one.epilogue, given, acting);
}

void schedule::call(system_data& one, const system_function& what, payload given,
                    std::string_view& acting) {
    if (what.call == nullptr) return;
    struct as_actor {
        std::string_view& acting;
        std::string_view before;
        ~as_actor() { acting = before; }
    };
    const as_actor guard{acting, std::exchange(acting, one.name)};
    call_named(one.name, what.call, what.function.room, given);
}

// ---- side by side ------------------------------------------------------------------------------

namespace {

/// All that a system touches.
array_list<access> accesses_of(const system_data& one) {
    array_list<access> all = one.taken;
    all.insert(all.end(), one.declared.begin(), one.declared.end());
    return all;
}

bool is_known(const system_data& one) {
    return one.is_taken_known || !one.declared.empty();
}

/// What both touch, and one writes; null: nothing.
const access* find_conflict(const array_list<access>& some, const array_list<access>& others) {
    for (const access& one : some)
        for (const access& other : others)
            if (one.type == other.type && (one.is_written || other.is_written)) return &one;
    return nullptr;
}

}  // namespace

/// Whether `before` or `after` was said of the two, or of groups that they are in.
bool schedule::are_ordered(const system_data& a, const system_data& b) const {
    const auto names = [](const system_data* from, const system_data* to) {
        return std::ranges::any_of(from->constraints, [&](const system_data::constraint& one) {
            return one.name == to->name;
        });
    };
    for (const system_data* one = &a; one != nullptr; one = one->group)
        for (const system_data* other = &b; other != nullptr; other = other->group)
            if (names(one, other) || names(other, one)) return true;
    return false;
}

/// Functions that run side by side.
class schedule::stage {
public:
    stage(schedule& owner, const phase_host& host, executor& threads, payload given,
          std::string_view& acting)
        : owner_(owner), host_(host), threads_(threads), given_(given), acting_(acting) {}

    /// All of these, one after the other unless they may share a stage.
    void run(const system_data::step* steps, std::size_t at, std::size_t group = no_group) {
        system_data& one = *steps[at].system;
        if (!one.is_enabled || one.is_gone) return pass(one);
        const std::size_t here = turns_.size();
        turns_.push_back({&one, group, 0});
        call_alone(here, one.prologue);
        add(here);
        const std::size_t end = steps[at].end;
        for (std::size_t next = at + 1; next < end; next = steps[next].end) run(steps, next, here);
        call_alone(here, one.epilogue);
    }
    /// What is left, and the times of all.
    void finish() {
        flush();
        if (!owner_.is_timed) return;
        for (std::size_t i = turns_.size(); i-- != 0;) {  // members come behind their group
            const turn& one = turns_[i];
            if (one.group != no_group) turns_[one.group].took += one.took;
            note(*one.system, one.took);
        }
    }

private:
    static constexpr std::size_t no_group = ~std::size_t{0};

    /// A system that runs now.
    struct turn {
        system_data* system;
        std::size_t group;  // its turn
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
        for (member& one : all_) {
            const system_data& system = system_of(one);
            const system_function& body = system.body;
            works.push_back(
                {.call = body.call,
                 .function = body.function.room,
                 .given = given_,
                 .rows = body.rows != nullptr ? body.rows(body.function.room) : shared_rows{},
                 .system = system.name,
                 .touched = one.touched,
                 .expected = owner_.is_timed ? system.last : 0});
        }
        std::vector<member> done;
        done.swap(all_);
        run_phase(host_, threads_, works);
        for (std::size_t i = 0; i < done.size(); ++i) turns_[done[i].turn].took += works[i].took;
    }
    void call_alone(std::size_t at, const system_function& what) {
        if (what.call == nullptr) return;
        flush();
        const auto start = std::chrono::steady_clock::now();
        owner_.call(*turns_[at].system, what, given_, acting_);
        turns_[at].took += since(start);
    }
    void add(std::size_t at) {
        const system_data& one = *turns_[at].system;
        if (one.body.call == nullptr) return pass(one);
        if (!is_known(one)) return call_alone(at, one.body);
        member made{at, accesses_of(one)};
        const bool must_wait = std::ranges::any_of(all_, [&](const member& other) {
            return find_conflict(made.touched, other.touched) != nullptr;
        });
        if (must_wait || waits_for_some(one)) flush();
        all_.push_back(std::move(made));
    }
    /// It does nothing itself, but who waits for it also waits for what it waits for.
    void pass(const system_data& one) {
        if (waits_for_some(one)) passed_.push_back(&one);
    }
    [[nodiscard]] bool waits_for_some(const system_data& one) const {
        return std::ranges::any_of(all_,
                                   [&](const member& other) {
                                       return owner_.are_ordered(one, system_of(other));
                                   }) ||
               std::ranges::any_of(passed_, [&](const system_data* other) {
                   return owner_.are_ordered(one, *other);
               });
    }
    [[nodiscard]] system_data& system_of(const member& one) const {
        return *turns_[one.turn].system;
    }

    schedule& owner_;
    const phase_host& host_;
    executor& threads_;
    payload given_;
    std::string_view& acting_;
    std::vector<turn> turns_;
    std::vector<member> all_;
    std::vector<const system_data*> passed_;  // that do nothing, and wait for one of these
};

void schedule::run_shared(const phase_host& host, executor& threads,
                          std::span<system_data* const> some, payload given,
                          std::string_view& acting) {
    for (system_data* one : some)
        if (one != nullptr) put_in_order(*one);
    const running_guard guard(*this);
    std::vector<const system_data::step*> starts;
    for (const system_data* one : some)
        if (one != nullptr) starts.push_back(one->steps.data());
    stage all(*this, host, threads, given, acting);
    for (const system_data::step* one : starts) all.run(one, 0);
    all.finish();
}

std::vector<system_conflict> schedule::conflicts(system_data* one) {
    std::vector<system_conflict> found;
    if (one == nullptr) return found;
    put_in_order(*one);
    const std::size_t count = one->steps.size();
    for (std::size_t i = 0; i < count; ++i) {
        const system_data& first = *one->steps[i].system;
        const array_list<access> some = accesses_of(first);
        std::vector<const system_data*> behind{&first};  // which were said to run after it
        for (std::size_t j = i + 1; j < count; ++j) {
            const system_data& second = *one->steps[j].system;
            if (std::ranges::any_of(
                    behind, [&](const system_data* at) { return are_ordered(*at, second); })) {
                behind.push_back(&second);
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
