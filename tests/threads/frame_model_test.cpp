// Random programs of systems with times, conditions and states: frames on several threads have the
// result of frames on one thread, and both that of a naive model in whole ticks.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/parallel_layout.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace muster;
using muster_tests::thread_executor;

namespace {

using muster_tests::parallel::entity;
using muster_tests::parallel::layout;
using muster_tests::parallel::world;

/// Times are multiples of it, which are exact.
constexpr double tick = 1.0 / 64;

enum class mode { menu, playing, over };
enum class weather { sun, rain };

template <int Number>
struct trace {
    std::uint64_t value = 1;
};
struct marker {};

[[nodiscard]] std::uint64_t mixed(std::uint64_t value, std::size_t system, int ticks) {
    return (value * 1'000'003 + system) * 1'000'003 + static_cast<std::uint64_t>(ticks);
}

// ---- a program, without a world ----------------------------------------------------------------

struct state_value {
    int which;  // 0: mode, 1: weather
    int value;
};
struct state_rule {
    enum moment { in, on_enter, on_exit } when;
    state_value wanted;
};
/// A condition of `run_if`.
struct question {
    int trace_number;  // 3: the counter
    unsigned divisor;
    unsigned rest;
    [[nodiscard]] bool is_met(std::uint64_t value) const { return value % divisor == rest; }
};
struct plan {
    enum kind { group_only, rows, declared, alone, immediate } what = group_only;
    int group = -1;  // index of an earlier plan; -1: none
    bool has_brackets = false;
    bool is_disabled = false;
    int trace_number = 0;            // of `rows` and `declared`: the component that it writes
    std::optional<int> reads_trace;  // of `rows`
    int every = 0;                   // ticks; 0: no timer
    int fixed = 0;
    int most = 0;
    std::vector<question> asks;
    std::vector<state_rule> states;
    std::optional<state_value> sets;
};

struct program {
    std::vector<plan> systems;
    std::vector<int> frames;                              // ticks
    std::vector<std::optional<state_value>> set_between;  // before each frame
};

state_value random_state(std::mt19937& random) {
    const int which = static_cast<int>(random() % 2);
    return {which, static_cast<int>(random() % (which == 0 ? 3 : 2))};
}

program random_program(std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto roll = [&](unsigned sides) { return static_cast<int>(random() % sides); };
    program made;
    const int count = 1 + roll(14);
    for (int i = 0; i < count; ++i) {
        plan p;
        p.what = static_cast<plan::kind>(roll(5));
        if (i != 0 && roll(2) == 0) p.group = roll(static_cast<unsigned>(i));
        p.has_brackets = roll(6) == 0;
        p.is_disabled = roll(12) == 0;
        p.trace_number = roll(3);
        if (roll(3) == 0) p.reads_trace = (p.trace_number + 1 + roll(2)) % 3;
        if (roll(5) == 0) p.every = 1 + roll(40);
        if (p.every == 0 && roll(5) == 0) {
            p.fixed = 1 + roll(20);
            p.most = 1 + roll(4);
        }
        for (int n = roll(8) == 0 ? 1 + roll(2) : 0; n != 0; --n) {
            const auto divisor = static_cast<unsigned>(2 + roll(3));
            p.asks.push_back({roll(4), divisor, static_cast<unsigned>(roll(divisor))});
        }
        for (int n = roll(4) == 0 ? 1 + roll(2) : 0; n != 0; --n)
            p.states.push_back({static_cast<state_rule::moment>(roll(3)), random_state(random)});
        if (roll(4) == 0) p.sets = random_state(random);
        made.systems.push_back(p);
    }
    for (int i = 0; i < 12; ++i) {
        made.frames.push_back(roll(6) == 0 ? 0 : roll(50));
        made.set_between.push_back(roll(3) == 0 ? std::optional(random_state(random))
                                                : std::nullopt);
    }
    return made;
}

/// What can be observed after each frame.
struct outcome {
    std::array<std::uint64_t, 3> traces{1, 1, 1};
    std::vector<std::string> logs;  // of the systems, each of its own
    std::uint64_t counter = 0;
    std::array<std::optional<int>, 2> states;
    friend bool operator==(const outcome&, const outcome&) = default;
};

// ---- the model ---------------------------------------------------------------------------------

class model {
public:
    explicit model(const program& all) : all_(all), passed_(all.systems.size()) {
        now.logs.resize(all.systems.size());
    }

    void set(const state_value& wanted) {
        wanted_[static_cast<std::size_t>(wanted.which)] = wanted.value;
    }
    void run_frame(int ticks) {
        const auto before = current_;
        const auto wanted = wanted_;
        is_changing_ = {};
        for (std::size_t i = 0; i < 2; ++i) is_changing_[i] = wanted[i] != before[i];
        if (is_changing_[0] || is_changing_[1]) {
            change(-1, state_rule::on_exit, ticks);
            for (std::size_t i = 0; i < 2; ++i) current_[i] = wanted[i];
            change(-1, state_rule::on_enter, ticks);
        }
        for (const std::size_t member : members_of(-1)) visit(member, ticks);
        now.states = current_;
        for (std::size_t i = 0; i < 2; ++i)
            if (!current_[i]) now.states[i] = wanted_[i];
    }
    outcome now;

private:
    [[nodiscard]] std::vector<std::size_t> members_of(int group) const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < all_.systems.size(); ++i)
            if (all_.systems[i].group == group) found.push_back(i);
        return found;
    }
    [[nodiscard]] bool is_current(const state_value& v) const {
        return current_[static_cast<std::size_t>(v.which)] == v.value;
    }
    [[nodiscard]] bool hold(const plan& p) const {
        for (const int which : {0, 1}) {
            bool is_asked = false;
            bool is_met = false;
            for (const state_rule& rule : p.states)
                if (rule.when == state_rule::in && rule.wanted.which == which) {
                    is_asked = true;
                    is_met = is_met || is_current(rule.wanted);
                }
            if (is_asked && !is_met) return false;
        }
        for (const question& asked : p.asks)
            if (!asked.is_met(asked.trace_number == 3
                                  ? now.counter
                                  : now.traces[static_cast<std::size_t>(asked.trace_number)]))
                return false;
        return true;
    }
    [[nodiscard]] static bool concerns_changes(const plan& p) {
        bool does = false;
        for (const state_rule& rule : p.states) does = does || rule.when != state_rule::in;
        return does;
    }
    void change(int group, state_rule::moment when, int ticks) {
        for (const std::size_t member : members_of(group)) {
            const plan& p = all_.systems[member];
            if (p.is_disabled || !hold(p)) continue;
            if (!concerns_changes(p)) {
                change(static_cast<int>(member), when, ticks);
                continue;
            }
            bool is_due = false;
            for (const state_rule& rule : p.states)
                is_due = is_due || (rule.when == when && is_current(rule.wanted) &&
                                    is_changing_[static_cast<std::size_t>(rule.wanted.which)]);
            if (is_due) run(member, ticks);
        }
    }
    void visit(std::size_t at, int ticks) {
        const plan& p = all_.systems[at];
        if (p.is_disabled || concerns_changes(p) || !hold(p)) return;
        int& passed = passed_[at];
        if (p.every != 0) {
            passed += ticks;
            if (passed < p.every) return;
            passed %= p.every;
            run(at, ticks);
        } else if (p.fixed != 0) {
            passed += ticks;
            const int steps = std::min(p.most, passed / p.fixed);
            passed %= p.fixed;
            for (int i = 0; i < steps; ++i) run(at, p.fixed);
        } else {
            run(at, ticks);
        }
    }
    void run(std::size_t at, int ticks) {
        const plan& p = all_.systems[at];
        const std::string time = std::to_string(ticks) + " ";
        if (p.has_brackets) {
            now.logs[at] += "(" + time;
            ++now.counter;
        }
        std::uint64_t& value = now.traces[static_cast<std::size_t>(p.trace_number)];
        if (p.what == plan::rows) {
            if (p.reads_trace) value += now.traces[static_cast<std::size_t>(*p.reads_trace)];
            value = mixed(value, at, ticks);
        } else if (p.what == plan::declared) {
            value = mixed(value, at, ticks);
            now.logs[at] += time;
        } else if (p.what != plan::group_only) {
            now.logs[at] += time;
            ++now.counter;
        }
        if (p.sets && p.what != plan::group_only) set(*p.sets);
        for (const std::size_t member : members_of(static_cast<int>(at))) visit(member, ticks);
        if (p.has_brackets) {
            now.logs[at] += ")" + time;
            ++now.counter;
        }
    }

    const program& all_;
    std::vector<int> passed_;
    std::array<std::optional<int>, 2> current_;
    std::array<std::optional<int>, 2> wanted_;
    std::array<bool, 2> is_changing_{};
};

// ---- the program in a world --------------------------------------------------------------------

class story {
public:
    story(const program& all, executor* threads) : all_(all), threads_(threads) {
        now_.logs.resize(all.systems.size());
        for (int i = 0; i < 70; ++i) {
            const entity e = w_.spawn(trace<0>{}, trace<1>{}, trace<2>{});
            if (i % 3 == 0) w_.add<marker>(e);
            if (i == 40) chosen_ = e;
        }
        for (std::size_t i = 0; i < all.systems.size(); ++i) add(i);
    }

    void set(const state_value& v) {
        if (v.which == 0)
            w_.set_state(static_cast<mode>(v.value));
        else
            w_.set_state(static_cast<weather>(v.value));
    }
    void run_frame(int ticks) {
        if (threads_ == nullptr)
            w_.process_all(frame{tick * ticks});
        else
            w_.par_process_all(*threads_, frame{tick * ticks});
    }
    outcome now() {
        is_uniform_ = true;
        read<0>();
        read<1>();
        read<2>();
        now_.states = {state_of<mode>(), state_of<weather>()};
        return now_;
    }
    [[nodiscard]] bool is_uniform() const { return is_uniform_; }

private:
    using handle = basic_system<layout>;

    template <class State>
    [[nodiscard]] std::optional<int> state_of() const {
        try {
            return static_cast<int>(w_.state<State>());
        } catch (const error&) {
            return std::nullopt;
        }
    }
    /// All entities have the same history.
    template <int Number>
    void read() {
        const std::uint64_t value = w_.get<trace<Number>>(chosen_).value;
        w_.query<const trace<Number>>().each(
            [&](const trace<Number>& other) { is_uniform_ = is_uniform_ && other.value == value; });
        now_.traces[Number] = value;
    }
    [[nodiscard]] static int ticks_of(double dt) {
        return static_cast<int>(std::lround(dt / tick));
    }

    template <int Number>
    void add_rows(handle s, std::size_t at) {
        const plan& p = all_.systems[at];
        const auto finish = [this, at](entity e, trace<Number>& own, float dt) {
            own.value = mixed(own.value, at, ticks_of(static_cast<double>(dt)));
            if (e == chosen_ && all_.systems[at].sets) set(*all_.systems[at].sets);
        };
        using second = trace<(Number + 1) % 3>;
        using third = trace<(Number + 2) % 3>;
        if (!p.reads_trace)
            s.each([=](entity e, trace<Number>& own, float dt) { finish(e, own, dt); });
        else if (*p.reads_trace == (Number + 1) % 3)
            s.each([=](entity e, trace<Number>& own, const second& other, float dt) {
                own.value += other.value;
                finish(e, own, dt);
            });
        else
            s.each([=](entity e, trace<Number>& own, const third& other, float dt) {
                own.value += other.value;
                finish(e, own, dt);
            });
    }
    template <int Number>
    void add_declared(handle s, std::size_t at) {
        s.writes<trace<Number>>().execute([this, at](double dt) {
            const int ticks = ticks_of(dt);
            now_.logs[at] += std::to_string(ticks) + " ";
            w_.query<trace<Number>>().each(
                [&](trace<Number>& own) { own.value = mixed(own.value, at, ticks); });
            if (all_.systems[at].sets) set(*all_.systems[at].sets);
        });
    }
    template <class State>
    static void add_rule(handle s, const state_rule& rule) {
        const auto value = static_cast<State>(rule.wanted.value);
        if (rule.when == state_rule::in) s.in(value);
        if (rule.when == state_rule::on_enter) s.on_enter(value);
        if (rule.when == state_rule::on_exit) s.on_exit(value);
    }
    void add(std::size_t at) {
        const plan& p = all_.systems[at];
        const handle s = w_.system(std::to_string(at));
        const auto log = [this, at](const char* what) {
            return [this, at, what](frame f) {
                now_.logs[at] += what + std::to_string(ticks_of(f.dt)) + " ";
                ++now_.counter;
            };
        };
        const auto body = [this, at, log = log("")](frame f) {
            log(f);
            if (all_.systems[at].sets) set(*all_.systems[at].sets);
        };
        switch (p.what) {
        case plan::group_only: break;
        case plan::rows:
            if (p.trace_number == 0) add_rows<0>(s, at);
            if (p.trace_number == 1) add_rows<1>(s, at);
            if (p.trace_number == 2) add_rows<2>(s, at);
            break;
        case plan::declared:
            if (p.trace_number == 0) add_declared<0>(s, at);
            if (p.trace_number == 1) add_declared<1>(s, at);
            if (p.trace_number == 2) add_declared<2>(s, at);
            break;
        case plan::alone: s.execute(body); break;
        case plan::immediate: s.immediate(body); break;
        }
        if (p.has_brackets) s.prologue(log("(")).epilogue(log(")"));
        if (p.group >= 0) s.group(std::to_string(p.group));
        s.enable(!p.is_disabled);
        if (p.every != 0) s.every(p.every * tick);
        if (p.fixed != 0) s.fixed(p.fixed * tick, p.most);
        for (const question& asked : p.asks)
            s.run_if([this, asked](const world& all) {
                switch (asked.trace_number) {
                case 0: return asked.is_met(all.get<const trace<0>>(chosen_).value);
                case 1: return asked.is_met(all.get<const trace<1>>(chosen_).value);
                case 2: return asked.is_met(all.get<const trace<2>>(chosen_).value);
                default: return asked.is_met(now_.counter);
                }
            });
        for (const state_rule& rule : p.states) {
            if (rule.wanted.which == 0) add_rule<mode>(s, rule);
            if (rule.wanted.which == 1) add_rule<weather>(s, rule);
        }
    }

    const program& all_;
    executor* threads_;
    world w_;
    entity chosen_;
    outcome now_;
    bool is_uniform_ = true;
};

/// Compares after each frame. Returns a description of the first difference, or nothing.
std::string difference(const program& all, executor* threads) {
    model wanted(all);
    story told(all, threads);
    // A phase refuses the first use of an enumeration.
    for (const state_value first : {state_value{0, 0}, state_value{1, 0}}) {
        wanted.set(first);
        told.set(first);
    }
    for (std::size_t i = 0; i < all.frames.size(); ++i) {
        if (all.set_between[i]) {
            wanted.set(*all.set_between[i]);
            told.set(*all.set_between[i]);
        }
        wanted.run_frame(all.frames[i]);
        told.run_frame(all.frames[i]);
        const outcome found = told.now();
        if (found == wanted.now && told.is_uniform()) continue;
        std::string why = "frame " + std::to_string(i);
        for (std::size_t at = 0; at < all.systems.size(); ++at)
            if (found.logs[at] != wanted.now.logs[at])
                why += "\nsystem " + std::to_string(at) + " ran at " + found.logs[at] +
                       "instead of " + wanted.now.logs[at];
        for (std::size_t number = 0; number < 3; ++number)
            if (found.traces[number] != wanted.now.traces[number])
                why += "\ntrace " + std::to_string(number) + " differs";
        if (found.states != wanted.now.states) why += "\na state differs";
        if (!told.is_uniform()) why += "\nentities differ";
        return why;
    }
    return {};
}

/// Removes systems and frames as long as the programs still differ.
program shrunk(program all, executor* threads) {
    for (bool is_smaller = true; is_smaller;) {
        is_smaller = false;
        for (std::size_t i = all.systems.size(); i-- != 0;) {
            program fewer = all;
            fewer.systems.erase(fewer.systems.begin() + static_cast<std::ptrdiff_t>(i));
            bool is_whole = true;
            for (plan& p : fewer.systems) {
                if (p.group == static_cast<int>(i)) is_whole = false;
                if (p.group > static_cast<int>(i)) --p.group;
            }
            if (!is_whole || difference(fewer, threads).empty()) continue;
            all = fewer;
            is_smaller = true;
        }
    }
    return all;
}

std::string described(const program& all) {
    std::string made;
    for (std::size_t i = 0; i < all.systems.size(); ++i) {
        const plan& p = all.systems[i];
        made += "\n" + std::to_string(i) + ": kind " + std::to_string(p.what) + " group " +
                std::to_string(p.group) + " every " + std::to_string(p.every) + " fixed " +
                std::to_string(p.fixed) + "/" + std::to_string(p.most) + " trace " +
                std::to_string(p.trace_number) + (p.has_brackets ? " brackets" : "") +
                (p.is_disabled ? " disabled" : "") + (p.asks.empty() ? "" : " run_if");
        for (const state_rule& rule : p.states)
            made += " state " + std::to_string(rule.when) + ":" +
                    std::to_string(rule.wanted.which) + "=" + std::to_string(rule.wanted.value);
        if (p.sets)
            made += " sets " + std::to_string(p.sets->which) + "=" + std::to_string(p.sets->value);
    }
    return made;
}

TEST(frame_model, systems_run_when_a_naive_model_says_so_on_one_thread_and_on_several) {
    const char* const scale = std::getenv("MUSTER_TEST_SCALE");
    const std::uint64_t seeds = 1000 * (scale == nullptr ? 1 : std::strtoull(scale, nullptr, 10));
    thread_executor three(3);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const program all = random_program(seed);
        for (executor* const threads :
             {static_cast<executor*>(nullptr), static_cast<executor*>(&three)}) {
            const std::string why = difference(all, threads);
            ASSERT_TRUE(why.empty())
                << "seed " << seed << (threads == nullptr ? ", in order: " : ", in parallel: ")
                << why << described(shrunk(all, threads));
        }
    }
}

}  // namespace
