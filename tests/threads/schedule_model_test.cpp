// Random systems with components, singletons, events and new entities, processed by four threads and, in a
// second world, by one. Both worlds must be equal after each frame. A system that sees what another one records
// declares `after`.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/numbered.hpp"
#include "support/scale.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace muster {
namespace {

using muster_tests::thread_executor;

struct position {
    int x;
};
struct health {
    int points;
};
struct spark {
    int heat;
};
struct wind {
    int strength = 1;
};
struct score {
    long sum = 0;
};
struct hit {
    int amount;
};
struct shout {
    std::string words;
};

class schedule_story {
public:
    schedule_story(std::uint64_t seed, executor* threads) : random_(seed), threads_(threads) {
        w_.set_single(wind{1 + roll(5)});
        w_.set_single(score{});
        for (int i = 1 + roll(60); i != 0; --i) {
            if (roll(3) != 0)
                w_.spawn(position{roll(100)}, health{roll(100)});
            else
                w_.spawn(position{roll(100)});
        }
        for (int i = 3 + roll(6); i != 0; --i) add_system();
    }

    void run_frame() {
        if (threads_ == nullptr)
            w_.process_all(frame_);
        else
            w_.par_process_all(*threads_, frame_);
        ++frame_;
        if (roll(3) == 0) w_.send(hit{roll(9)});
        if (roll(4) == 0) w_.send(shout{"between " + std::to_string(frame_)});
        const auto& name = names_[static_cast<std::size_t>(roll(static_cast<int>(names_.size())))];
        if (roll(4) == 0) w_.find_system(name).enable(!w_.find_system(name).is_enabled());
    }

    [[nodiscard]] std::string dump() {
        std::string made;
        w_.each([&](const position& p, const health* h) {
            made += test::numbered(" p", p.x);
            if (h != nullptr) made += test::numbered("h", h->points);
        });
        w_.each([&](const spark& s) { made += test::numbered(" s", s.heat); });
        made += test::numbered(" w", w_.single<wind>().strength);
        made += test::numbered(" c", w_.single<score>().sum);
        for (const hit& event : hits_) made += test::numbered(" e", event.amount);
        for (const shout& event : shouts_) made += " " + event.words;
        for (const auto& log : logs_) made += "\n" + *log;
        return made;
    }

private:
    int roll(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

    /// Adds a system that runs after all those of `before`, whose records it sees.
    muster::system_handle named(const std::vector<std::string>& before) {
        names_.push_back("s" + std::to_string(names_.size()));
        auto made = w_.system(names_.back());
        for (const std::string& other : before) made.after(other);
        return made;
    }
    std::string& new_log() {
        logs_.push_back(std::make_unique<std::string>(names_.back() + ":"));
        return *logs_.back();
    }

    void add_system() {
        const int factor = 1 + roll(7);
        switch (roll(11)) {
        case 0:
            named({}).each([factor](position& p, single<const wind> v, int frame) {
                p.x = (p.x * factor + v->strength + frame) % 1000;
            });
            break;
        case 1:
            named({}).each([factor](const position& p, health& h) {
                h.points = (h.points + p.x * factor) % 1000;
            });
            break;
        case 2:
            named({}).each([factor](const position& p, single<score> s) {
                s->sum = (s->sum * 3 + p.x * factor) % 1'000'003;
            });
            break;
        case 3:
            named({}).each([factor](health& h, single<const score> s, single<wind> v) {
                h.points = (h.points + static_cast<int>(s->sum % 100)) % 1000;
                v->strength = (v->strength + factor) % 50;
            });
            break;
        case 4:
            named({}).each([this, factor](const position& p, int frame) {
                if ((p.x + frame) % 3 == 0) w_.send(hit{p.x % 50 * factor});
            });
            hitters_.push_back(names_.back());
            break;
        case 5:
            named({}).each([this](const health& h, single<const wind> v) {
                if (h.points % 4 == 0) w_.send(shout{test::numbered("h", h.points + v->strength)});
            });
            shouters_.push_back(names_.back());
            break;
        case 6:
            named(hitters_).each([factor](position& p, events<const hit> all) {
                for (const hit& event : all) p.x = (p.x + event.amount * factor) % 1000;
            });
            break;
        case 7: {
            const auto made = named(hitters_);
            std::string& log = new_log();
            made.each_event([this, &log, factor](const hit& event, int frame) {
                log += test::numbered(" ", event.amount + frame);
                if (event.amount % 5 == 0)
                    w_.send(shout{test::numbered("of", event.amount * factor)});
            });
            shouters_.push_back(names_.back());
            break;
        }
        case 8: {
            const auto made = named(shouters_);
            std::string& log = new_log();
            made.execute([&log, factor](events<const shout> all, events<const hit> others) {
                int left = factor;
                for (const shout& event : all) {
                    log += " " + event.words;
                    if (--left == 0) break;
                }
                log += test::numbered("/", others.size());
            });
            break;
        }
        case 9:
            named(sparks_).each([this](entity e, const position& p, int frame) {
                if ((p.x + frame) % 5 == 0) w_.spawn(spark{p.x});
                if (p.x % 97 == 96) w_.destroy(e);
            });
            // It destroys entities that any other system visits.
            sparks_.push_back(names_.back());
            break;
        default: named(sparks_).each([factor](spark& s) { s.heat = (s.heat * factor + 1) % 777; });
        }
        // Spawned and destroyed entities are seen by all later systems.
        for (const std::string& other : sparks_)
            if (other != names_.back()) w_.find_system(names_.back()).after(other);
    }

    std::mt19937_64 random_;
    executor* threads_;
    world w_;
    event_reader<hit> hits_ = w_.reader<hit>();
    event_reader<shout> shouts_ = w_.reader<shout>();
    std::vector<std::string> names_;
    std::vector<std::string> hitters_;   // send `hit`
    std::vector<std::string> shouters_;  // send `shout`
    std::vector<std::string> sparks_;    // spawn and destroy
    std::vector<std::unique_ptr<std::string>> logs_;
    int frame_ = 0;
};

TEST(schedule_model, four_threads_have_the_result_of_one) {
    thread_executor four(4);
    sequential_executor one;
    std::size_t length = 0;
    for (std::uint64_t seed = 1; seed <= 1000 * test::scale(); ++seed) {
        schedule_story alone(seed, nullptr);
        schedule_story together(seed, &four);
        schedule_story in_turn(seed, &one);
        for (int frame = 0; frame < 6; ++frame) {
            alone.run_frame();
            together.run_frame();
            in_turn.run_frame();
            const std::string expected = alone.dump();
            ASSERT_EQ(expected, together.dump()) << "seed " << seed << ", frame " << frame;
            ASSERT_EQ(expected, in_turn.dump()) << "seed " << seed << ", frame " << frame;
            length += expected.size();
        }
    }
    EXPECT_GT(length, 1'000'000u);
}

}  // namespace
}  // namespace muster
