// Random sends from everywhere, random readers, systems and frames, compared with queues of numbers.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/numbered.hpp"
#include "support/scale.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

using muster_tests::thread_executor;

struct plain {
    int number;
};
/// Not trivial, and counted.
struct counted {
    static inline std::atomic<long> alive = 0;  // threads send, too
    std::string text;
    int number;
    explicit counted(int value) : text(40, 'c'), number(value) { ++alive; }
    counted(counted&& from) noexcept : text(std::move(from.text)), number(from.number) { ++alive; }
    counted(const counted& from) : text(from.text), number(from.number) { ++alive; }
    counted& operator=(counted&&) = delete;
    ~counted() { --alive; }
};
struct token {
    int number;
};
struct born {
    int number;
};

struct model_event {
    int number;
    std::uint64_t sent;   // how many were sent before it
    std::uint64_t frame;  // in which it was delivered
};
struct model_reader {
    std::deque<model_event> unseen;
    std::uint64_t since;  // sees events sent after these
};

/// What a scope has recorded.
struct model_scope {
    std::vector<model_event> sent;
    std::vector<int> spawned;  // the hook sends these
};

template <class E>
class event_story {
public:
    explicit event_story(std::uint64_t seed) : random_(seed), threads_(3) {
        for (int i = 0; i < 7; ++i) w_.spawn(token{i});
        w_.on_insert<born>([this](entity, born& b) { w_.send(E{b.number}); });
        for (int i = 0; i < 3; ++i) add_system();
    }
    ~event_story() {
        while (w_.depth() != 0) w_.cancel();
    }

    void run(int steps) {
        for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
        while (!scopes_.empty()) commit();
        for (std::size_t i = 0; i < readers_.size(); ++i) read(i, 1'000'000);
    }

    std::string log;

private:
    struct system_pair {
        std::string name;
        model_reader model;
        int most = 0;  // events that a run visits
        bool is_each = false;
        bool is_enabled = true;
        std::vector<int> seen;  // by the function
    };
    struct reader_pair {
        event_reader<E> real;
        model_reader model;
    };

    int roll(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
    void note(const char* what, int number = 0) { log += test::numbered(what, number) + " "; }

    void step() {
        switch (roll(20)) {
        case 0:
        case 1:
        case 2:
        case 3: return send(next());
        case 4: return spawn();
        case 5: return send_in_phase();
        case 6: return send_in_loop();
        case 7: return send_by_buffer();
        case 8: return defer();
        case 9: return scopes_.empty() ? defer() : commit();
        case 10: return scopes_.empty() ? end_frame() : cancel();
        case 11: return add_reader();
        case 12: return remove_reader();
        case 13: return readers_.empty() ? add_reader() : read(some_reader(), roll(4));
        case 14: return readers_.empty() ? add_reader() : read(some_reader(), 1'000'000);
        case 15: return clear();
        case 16: return toggle_system();
        case 17: return process();
        case 18: return process_all();
        default: return replace_system();
        }
    }

    // ---- the model -----------------------------------------------------------------------------

    template <class Use>
    void each_model(Use use) {
        for (reader_pair& reader : readers_) use(reader.model);
        for (const auto& system : systems_) use(system->model);
    }
    void deliver(model_event event) {
        event.frame = frame_;
        each_model([&](model_reader& reader) {
            if (event.sent >= reader.since) reader.unseen.push_back(event);
        });
    }
    void model_send(int number) {
        const model_event event{number, sent_++, 0};
        if (scopes_.empty())
            deliver(event);
        else
            scopes_.back().sent.push_back(event);
    }
    void close(bool is_kept) {
        model_scope last = std::move(scopes_.back());
        scopes_.pop_back();
        if (is_kept && !scopes_.empty()) {
            model_scope& outer = scopes_.back();
            outer.sent.insert(outer.sent.end(), last.sent.begin(), last.sent.end());
            outer.spawned.insert(outer.spawned.end(), last.spawned.begin(), last.spawned.end());
        } else if (is_kept) {
            for (const model_event& event : last.sent) deliver(event);
            for (const int number : last.spawned) model_send(number);
        }
        if (!scopes_.empty()) return;
        w_.apply_submitted();
        for (const int number : std::exchange(submitted_, {})) model_send(number);
    }
    void model_end_frame() {
        each_model([&](model_reader& reader) {
            while (!reader.unseen.empty() && reader.unseen.front().frame < frame_)
                reader.unseen.pop_front();
        });
        ++frame_;
    }

    // ---- sending -------------------------------------------------------------------------------

    int next() { return ++last_number_; }
    /// The first of ten numbers.
    int next_ten() { return (last_number_ += 10) - 9; }
    void send(int number) {
        note("send", number);
        if (number % 2 == 0) {
            w_.send(E{number});
        } else {
            const E kept{number};
            w_.send(kept);
        }
        model_send(number);
    }
    void spawn() {
        const int number = next();
        note("spawn", number);
        w_.spawn(born{number});
        if (scopes_.empty())
            model_send(number);
        else
            scopes_.back().spawned.push_back(number);
    }
    void send_in_phase() {
        const int number = next_ten();
        note("phase", number);
        w_.query<const token>().par_each(threads_, static_cast<std::size_t>(1 + roll(3)),
                                         [&](const token& t) {
                                             if (t.number % 2 == 0) w_.send(E{number + t.number});
                                         });
        for (int i = 0; i < 7; i += 2) model_send(number + i);
    }
    void send_in_loop() {
        const int number = next_ten();
        const bool throws = roll(3) == 0;
        note(throws ? "failing loop" : "loop", number);
        try {
            w_.query<const token>().each([&](const token& t) {
                if (t.number == 5 && throws) throw 1;
                w_.send(E{number + t.number});
            });
        } catch (int) {
            return;
        }
        for (int i = 0; i < 7; ++i) model_send(number + i);
    }
    void send_by_buffer() {
        command_buffer b{w_};
        for (int i = roll(4); i != 0; --i) {
            const int number = next();
            note("buffer", number);
            b.send(E{number});
            submitted_.push_back(number);
        }
        w_.submit(b);
        if (!scopes_.empty()) return;
        for (const int number : std::exchange(submitted_, {})) model_send(number);
    }

    // ---- scopes and frames ---------------------------------------------------------------------

    void defer() {
        note("defer");
        if (scopes_.size() > 4) return;
        w_.defer();
        scopes_.emplace_back();
    }
    void commit() {
        note("commit");
        w_.commit();
        close(true);
    }
    void cancel() {
        note("cancel");
        w_.cancel();
        close(false);
    }
    void end_frame() {
        note("frame");
        w_.end_frame();
        model_end_frame();
    }

    // ---- readers -------------------------------------------------------------------------------

    std::size_t some_reader() {
        return static_cast<std::size_t>(roll(static_cast<int>(readers_.size())));
    }
    void add_reader() {
        if (readers_.size() > 5) return;
        note("reader");
        readers_.push_back({w_.reader<E>(), {{}, sent_}});
    }
    void remove_reader() {
        if (readers_.empty()) return;
        note("remove reader");
        readers_.erase(readers_.begin() + static_cast<std::ptrdiff_t>(some_reader()));
    }
    void read(std::size_t which, int most) {
        note("read", static_cast<int>(which));
        reader_pair& reader = readers_[which];
        ASSERT_EQ(reader.real.size(), reader.model.unseen.size());
        if (most == 0) return;
        std::vector<int> seen;
        for (const E& event : reader.real) {
            seen.push_back(event.number);
            if (--most == 0) break;
        }
        EXPECT_EQ(seen, take(reader.model, seen.size()));
        EXPECT_TRUE(most == 0 || reader.model.unseen.empty());
    }
    void clear() {
        if (readers_.empty()) return;
        note("clear");
        reader_pair& reader = readers_[some_reader()];
        EXPECT_TRUE(reader.real.clear());
        reader.model.unseen.clear();
    }
    static std::vector<int> take(model_reader& reader, std::size_t count) {
        std::vector<int> made;
        for (; count != 0 && !reader.unseen.empty(); --count) {
            made.push_back(reader.unseen.front().number);
            reader.unseen.pop_front();
        }
        return made;
    }

    // ---- systems -------------------------------------------------------------------------------

    void add_system() {
        auto made = std::make_unique<system_pair>();
        made->name = "s" + std::to_string(++system_count_);
        (void)w_.system(made->name);
        set_function(*made);
        systems_.push_back(std::move(made));
    }
    void set_function(system_pair& system) {
        system.most = 1 + roll(5);
        system.is_each = roll(2) == 0;
        system.model = {{}, sent_};
        const auto handle = w_.find_system(system.name);
        if (system.is_each)
            handle.each_event([&system, this](const E& event) {
                system.seen.push_back(event.number);
                if (answers(event.number)) w_.send(E{-event.number});
            });
        else
            handle.execute([&system](muster::events<const E> all) {
                int left = system.most;
                for (const E& event : all) {
                    system.seen.push_back(event.number);
                    if (--left == 0) break;
                }
            });
    }
    static bool answers(int number) { return number > 0 && number % 5 == 0; }
    void replace_system() {
        note("replace system");
        const auto which = static_cast<std::size_t>(roll(static_cast<int>(systems_.size())));
        if (roll(2) == 0) return set_function(*systems_[which]);
        w_.find_system(systems_[which]->name).remove();
        systems_.erase(systems_.begin() + static_cast<std::ptrdiff_t>(which));
        add_system();
    }
    void toggle_system() {
        system_pair& system =
            *systems_[static_cast<std::size_t>(roll(static_cast<int>(systems_.size())))];
        note("toggle", system.is_enabled);
        system.is_enabled = !system.is_enabled;
        w_.find_system(system.name).enable(system.is_enabled);
    }
    void model_run(system_pair& system) {
        if (!system.is_enabled) return;
        const std::vector<int> expected =
            take(system.model, system.is_each ? 1'000'000 : static_cast<std::size_t>(system.most));
        EXPECT_EQ(system.seen, expected) << system.name;
        system.seen.clear();
        if (!system.is_each) return;
        for (const int number : expected)
            if (answers(number)) model_send(-number);
    }
    void process() {
        system_pair& system =
            *systems_[static_cast<std::size_t>(roll(static_cast<int>(systems_.size())))];
        note("process", system.is_each);
        w_.process(system.name);
        model_run(system);
    }
    void process_all() {
        const bool is_parallel = roll(2) == 0;
        note(is_parallel ? "par_process_all" : "process_all");
        if (is_parallel)
            w_.par_process_all(threads_);
        else
            w_.process_all();
        for (const auto& system : systems_) model_run(*system);
        model_end_frame();
    }

    std::mt19937_64 random_;
    thread_executor threads_;
    world w_;
    std::vector<std::unique_ptr<system_pair>> systems_;  // in the order in which they run
    std::vector<reader_pair> readers_;
    std::vector<model_scope> scopes_;
    std::vector<int> submitted_;
    std::uint64_t sent_ = 0;
    std::uint64_t frame_ = 0;
    int last_number_ = 0;
    int system_count_ = 0;
};

template <class E>
void tell_stories(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        event_story<E> story(seed);
        story.run(150);
        if (!testing::Test::HasFailure()) continue;
        FAIL() << "seed " << seed << ": " << story.log;
    }
}

TEST(random_events, readers_and_systems_see_what_queues_have) {
    tell_stories<plain>(1, 1000);
}

TEST(random_events, values_are_destroyed_exactly_once) {
    tell_stories<counted>(100'001, 500);
    EXPECT_EQ(counted::alive, 0);
}

}  // namespace
}  // namespace muster
