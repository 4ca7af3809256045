// Random changes, recorded by four threads and, in a second world, by one. Tokens identify the entities, since
// the ids of new ones differ. Both worlds must be equal, and so must the order in which hooks are called.
// Compiled for two layouts; see support/parallel_layout.hpp.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/numbered.hpp"
#include "support/parallel_layout.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace muster;
using muster::test::numbered;
using muster_tests::thread_executor;

namespace {

using muster_tests::parallel::entity;
using muster_tests::parallel::fragment;
using muster_tests::parallel::world;

/// Identifies an entity in both worlds.
struct token {
    std::uint64_t value;
};
struct position {
    int x;
};
struct label {
    std::string text;
};
struct owned {
    std::unique_ptr<int> value;
};
struct burning {
    int left;
};
struct mark {};

}  // namespace

template <>
struct muster::component_traits<burning> {
    static constexpr bool sparse = true;
};

namespace {

/// Random numbers that depend only on seed, round and token, not on the order of the calls.
class dice {
public:
    dice(std::uint64_t seed, std::uint64_t round, std::uint64_t id)
        : state_((seed * 1'000'003 + round) * 1'000'003 + id) {}
    std::uint64_t operator()(std::uint64_t below) {
        state_ += 0x9E3779B97F4A7C15u;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
        return (mixed ^ mixed >> 31) % below;
    }

private:
    std::uint64_t state_;
};

class story {
public:
    story(std::uint64_t seed, executor* threads) : seed_(seed), threads_(threads) {
        w.on_insert<position>([this](entity e, position& p) { note("in", e, p.x); });
        w.on_assign<position>([this](entity e, position& p) { note("as", e, p.x); });
        w.on_remove<label>([this](entity e, label& l) { note(l.text, e, 0); });
        w.on_insert<burning>([this](entity e, burning& b) { note("burn", e, b.left); });
        w.on_destroy([this](entity e) { note("destroy", e, 0); });
        extra_ = w.fragment<int>();
        dice roll(seed, 0, 0);
        const std::uint64_t count = 5 + roll(60);
        for (std::uint64_t i = 1; i <= count; ++i) {
            const entity e = w.spawn(token{i});
            if (roll(2) == 0) w.set(e, position{static_cast<int>(i)});
            if (roll(3) == 0) w.set(e, label{std::to_string(i)});
            if (roll(4) == 0) w.set(e, burning{static_cast<int>(i)});
            if (roll(5) == 0) w.destroy(w.spawn());  // free keys
        }
    }

    void run_round(std::uint64_t round) {
        others_.clear();
        for (auto [e, t] : w.query<const token>()) others_[t.value] = e;
        all_.clear();
        for (const auto& [value, e] : others_) all_.push_back(e);
        const auto callback = [this, round](entity e, const token& t) {
            change(e, t.value, round);
        };
        const auto some = w.query<const token>().without<mark>();
        if (threads_ == nullptr)
            some.each(callback);
        else
            some.par_each(*threads_, seed_ % 6, callback);
    }

    /// Describes the calls of hooks, then all rows in their order.
    [[nodiscard]] std::string dump() {
        std::string made = log_;
        w.query<const token, position*, label*, owned*, burning*>().each(
            [&](entity e, const token& t, const position* p, const label* l, const owned* o,
                const burning* b) {
                made += numbered("\n", t.value);
                if (p != nullptr) made += numbered(" p", p->x);
                if (l != nullptr) made.append(" l").append(l->text);
                if (o != nullptr) made += numbered(" o", *o->value);
                if (b != nullptr) made += numbered(" b", b->left);
                if (w.has<mark>(e)) made += " m";
                if (const int* extra = w.try_get(e, extra_)) made += numbered(" e", *extra);
            });
        return made + "\n" + std::to_string(w.size());
    }

    /// How many rows the rounds have visited.
    [[nodiscard]] std::uint64_t calls() const noexcept { return calls_.load(); }

    world w;

private:
    void change(entity e, std::uint64_t id, std::uint64_t round) {
        ++calls_;
        dice roll(seed_, round, id);
        for (std::uint64_t i = roll(4); i != 0; --i) {
            const entity target = roll(2) == 0 ? e : all_[roll(all_.size())];
            const int number = static_cast<int>(roll(1000));
            switch (roll(15)) {
            case 0: w.set(target, position{number}); break;
            case 1: w.set(target, label{std::to_string(number)}, position{number + 1}); break;
            case 2: w.set(target, owned{std::make_unique<int>(number)}); break;
            case 3: w.set(target, burning{number}); break;
            case 4: w.set(target, extra_, number); break;
            case 5: w.add<mark>(target); break;
            case 6: w.remove<position>(target); break;
            case 7: (void)w.remove<label, burning>(target); break;
            case 8: w.remove<mark>(target); break;
            case 9: w.destroy(target); break;
            case 10: (void)w.add<position>(target); break;
            case 11:
                if (w.has<position>(target)) w.touch<position>(target);
                break;
            default: spawn(roll, id * 64 + round * 8 + i, number);
            }
        }
    }
    void spawn(dice& roll, std::uint64_t value, int number) {
        const token made_for{(value + 1) * 4096 + roll(16)};
        const entity made = roll(2) == 0 ? w.spawn(made_for, position{number})
                                         : w.spawn(made_for, burning{number}, label{"new"});
        EXPECT_TRUE(w.alive(made));
        switch (roll(6)) {
        case 0: w.set(made, owned{std::make_unique<int>(number)}); break;
        case 1: w.remove<label>(made); break;
        case 2: w.destroy(made); break;
        case 3: w.clear(made); break;
        default: break;
        }
    }
    void note(const std::string& what, entity e, int number) {
        const token* const t = w.try_get<token>(e);
        log_ += what + std::to_string(number) + "@" +
                (t == nullptr ? "?" : std::to_string(t->value)) + " ";
    }

    std::uint64_t seed_;
    executor* threads_;
    fragment<int> extra_;
    std::map<std::uint64_t, entity> others_;
    std::vector<entity> all_;
    std::string log_;
    std::atomic<std::uint64_t> calls_ = 0;
};

TEST(parallel_model, four_threads_have_the_result_of_one) {
    const char* const scale = std::getenv("MUSTER_TEST_SCALE");
    const std::uint64_t seeds = 1000 * (scale == nullptr ? 1 : std::strtoull(scale, nullptr, 10));
    thread_executor four(4);
    std::uint64_t calls = 0;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        story alone(seed, nullptr);
        story together(seed, &four);
        for (std::uint64_t round = 1; round <= 4; ++round) {
            alone.run_round(round);
            together.run_round(round);
            ASSERT_EQ(alone.dump(), together.dump()) << "seed " << seed << ", round " << round;
        }
        calls += alone.calls();
        EXPECT_EQ(alone.calls(), together.calls());
    }
    EXPECT_GT(calls, 100 * seeds);
}

}  // namespace
