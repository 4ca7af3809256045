// A whole program: a server with a network thread and rollback. Clients throw snowballs. Their
// inputs arrive late; the server then goes back to the tick of the input and plays again. The
// result is the same as if each input had arrived on time.
#include <muster/muster.hpp>

#include <algorithm>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

constexpr int last_tick = 120;
constexpr int window = 12;  // how many ticks the server can go back

// ---- components ---------------------------------------------------------------------------------

struct client {
    std::string name;
    int from, until = last_tick + 1;
    [[nodiscard]] bool plays(int tick) const { return from <= tick && tick < until; }
};
struct player {
    int x, y, hits;
};
struct steering {  // stays as it is until the next input
    int dx, dy;
    bool throws;
};
struct snowball {
    int x, y, dx, dy, left;
    muster::entity thrower;
};
/// An input is an entity, too, on its way from the network thread to the simulation.
struct input {
    muster::entity player;
    int tick;
    steering wish;
    bool leaves;
};

// ---- the simulation -----------------------------------------------------------------------------

void add_rules(muster::world& w) {
    w.system("move").each([](player& p, const steering& s, const client& c, int tick) {
        if (tick == c.from) p = {10 * static_cast<int>(c.name.size()), 15, 0};
        if (!c.plays(tick)) return;
        p.x = std::clamp(p.x + s.dx, 0, 60);
        p.y = std::clamp(p.y + s.dy, 0, 30);
    });
    w.system("throw").each(
        [&w](muster::entity e, const player& p, steering& s, const client& c, int tick) {
            if (c.plays(tick) && std::exchange(s.throws, false))
                w.spawn(snowball{p.x, p.y, 3 * s.dx, 3 * s.dy, 12, e});
        });
    w.system("fly").each([&w](muster::entity e, snowball& ball) {
        ball.x += ball.dx;
        ball.y += ball.dy;
        if (--ball.left == 0) w.destroy(e);
    });
    w.system("hit").each([&w](muster::entity e, const snowball& ball, int tick) {
        w.each([&](muster::entity target, const player& p, const client& c) {
            if (target == ball.thrower || !c.plays(tick)) return;
            if (std::abs(p.x - ball.x) > 3 || std::abs(p.y - ball.y) > 3) return;
            if (player* const own = w.try_get<player>(ball.thrower)) ++own->hits;  // may be gone
            w.destroy(e);
        });
    });
}

/// Everything that the rules change. Clients and inputs are not part of it.
struct moment {
    std::vector<std::tuple<muster::entity, player, steering>> players;
    std::vector<snowball> balls;
};

class server {
public:
    server() {
        add_rules(w_);
        w_.on_insert<client>([this](muster::entity e, client& c) { w_.name(e, c.name); });
    }
    muster::world& world() { return w_; }

    /// Sorts the inputs that have arrived into the timeline.
    void take_inputs() {
        w_.apply_submitted();
        w_.each([&](muster::entity e, const input& i) {
            w_.destroy(e);
            try {
                (void)w_.get<client>(i.player);  // throws if the client is gone
                if (i.tick < tick_ - static_cast<int>(past_.size())) {
                    std::printf("  refused: an input for tick %d is too late\n", i.tick);
                } else {
                    inputs_.insert_or_assign({i.tick, i.player}, i);
                    replay_from_ = std::min(replay_from_, i.tick);
                }
            } catch (const muster::error& gone) {
                std::printf("  refused: %s\n", gone.what());
            }
        });
    }

    /// Plays the next tick, after all ticks to which a late input belongs.
    void play() {
        if (replay_from_ < tick_) {
            replayed_ += tick_ - replay_from_;
            const auto then = past_.end() - (tick_ - replay_from_);
            restore(*then);
            past_.erase(then, past_.end());
            for (int tick = replay_from_; tick < tick_; ++tick) advance(tick);
        }
        advance(tick_);
        replay_from_ = ++tick_;
        // No late input can concern these any more.
        inputs_.erase(inputs_.begin(), inputs_.lower_bound({tick_ - window, {}}));
        w_.each([&](muster::entity e, const client& c) {
            if (c.until < tick_ - window) w_.destroy(e);
        });
    }

    std::string scores() const {
        std::printf("  %d ticks played again\n", replayed_);
        std::string text;
        w_.each([&](const client& c, const player& p) {
            text += c.name + ": " + std::to_string(p.hits) + " hits, at " + std::to_string(p.x) +
                    ", " + std::to_string(p.y) + "\n";
        });
        return text;
    }

private:
    void advance(int tick) {
        past_.push_back(save());
        if (past_.size() > window) past_.pop_front();
        const auto end = inputs_.lower_bound({tick + 1, {}});
        for (auto next = inputs_.lower_bound({tick, {}}); next != end; ++next) {
            const input& i = next->second;
            if (i.leaves) w_.get<client>(i.player).until = tick;
            w_.get<steering>(i.player) = i.wish;
        }
        w_.process_all(tick);
    }
    [[nodiscard]] moment save() const {
        moment now;
        w_.each([&](muster::entity e, const player& p, const steering& s) {
            now.players.emplace_back(e, p, s);
        });
        w_.each([&](const snowball& ball) { now.balls.push_back(ball); });
        return now;
    }
    void restore(const moment& then) {
        w_.query<client>().set(player{}, steering{});  // also those that came later
        for (const auto& [e, p, s] : then.players)
            if (w_.alive(e)) w_.set(e, p, s);  // clients that left may be gone by now
        w_.query<snowball>().destroy();
        w_.spawn_columns(then.balls);
    }

    muster::world w_{muster::world_options{.provenance = true}};
    std::map<std::pair<int, muster::entity>, input> inputs_;  // of the last ticks
    std::deque<moment> past_;                                 // before each of the last ticks
    int tick_ = 0;                                            // the next one
    int replay_from_ = 0;
    int replayed_ = 0;
};

// ---- the network --------------------------------------------------------------------------------

struct message {
    int arrives;
    std::string from;
    input what = {};  // its player is only known to the network thread
    bool is_hello = false;
};

/// The network thread. The barrier stands for the clock: in each tick, some messages arrive, the
/// simulation takes them, and plays while this thread submits those of the next tick.
void receive(muster::world& w, const std::vector<message>& messages, std::barrier<>& clock) {
    muster::command_buffer changes(w);
    std::map<std::string, muster::entity> players;
    for (int now = 0; now <= last_tick; ++now) {
        for (const message& m : messages) {
            if (m.arrives != now) continue;
            muster::entity& sender = players[m.from];
            if (m.is_hello)  // a real id, which the answer to the client can contain
                sender = changes.spawn(client{m.from, now}, player{}, steering{});
            else
                changes.spawn(input{sender, m.what.tick, m.what.wish, m.what.leaves});
        }
        w.submit(changes);
        clock.arrive_and_wait();  // submitted
        clock.arrive_and_wait();  // taken
    }
}

std::vector<message> script(bool on_time) {
    std::vector<message> all;
    unsigned dice = 25;
    const auto roll = [&](int sides) {
        dice = dice * 747796405u + 2891336453u;
        return static_cast<int>((dice >> 16) % static_cast<unsigned>(sides));
    };
    const auto play = [&](const char* name, int joins, int leaves) {
        all.push_back({joins, name, {}, true});
        for (int tick = joins + 2; tick < leaves; tick += 1 + roll(6)) {
            const int delay = roll(window);
            const steering wish{roll(3) - 1, roll(3) - 1, roll(3) == 0};
            all.push_back({on_time ? tick : tick + delay, name, {{}, tick, wish, false}});
        }
    };
    play("ann", 0, 108);
    play("bob", 0, 80);
    play("edith", 30, 108);
    all.push_back({on_time ? 80 : 84, "bob", {{}, 80, {}, true}});
    all.push_back({60, "ann", {{}, 3, {}, false}});   // took too long
    all.push_back({93, "bob", {{}, 93, {}, false}});  // bob is gone
    return all;
}

std::string run(const char* title, bool on_time) {
    std::printf("%s\n", title);
    server game;
    std::barrier<> clock(2);
    std::thread network([&] { receive(game.world(), script(on_time), clock); });
    for (int tick = 0; tick <= last_tick; ++tick) {
        clock.arrive_and_wait();
        game.take_inputs();
        clock.arrive_and_wait();
        game.play();
    }
    network.join();
    return game.scores();
}

int main() {
    const std::string expected = run("each input on time:", true);
    const std::string scores = run("late inputs:", false);
    std::printf("%sthe same scores: %s\n", scores.c_str(), scores == expected ? "yes" : "NO");
    return scores == expected ? 0 : 1;
}
