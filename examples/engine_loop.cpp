// Muster inside of an engine that has its own loop, its own objects and its own idea of time.
#include <muster/muster.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

// The engine's: it knows nothing of Muster.
struct engine_body {
    std::uint64_t user_data;  // engines have a number or a pointer to spare
    float x;
};
struct engine_event {
    std::uint64_t user_data;
    int damage;
};

// The game's.
struct position {
    float x, before;
};
struct velocity {
    float x;
};
struct health {
    int points;
};

constexpr float step = 0.1f;  // of the game, in seconds

class game {
public:
    game() {
        w_.system("move").each([](position& p, const velocity& v) { p = {p.x + v.x * step, p.x}; });
        w_.system("reap").each([this](muster::entity e, const health& h) {
            if (h.points <= 0) w_.destroy(e);
        });
    }
    std::uint64_t add(float x, float speed) {
        return w_.spawn(position{x, x}, velocity{speed}, health{10}).value();
    }
    /// What the engine says comes late: of what it names, some may be gone. The handle knows.
    void handle(const engine_event& event) {
        const auto e = muster::entity::from_value(event.user_data);
        if (health* const h = w_.try_get<health>(e))
            h->points -= event.damage;
        else
            std::printf("  an event for %s, which is gone\n", to_string(e).c_str());
    }
    /// As many steps of fixed length as fit into the time that has passed; the rest is kept.
    void update(float passed) {
        for (left_ += passed; left_ >= step; left_ -= step) w_.process_all();
    }
    /// Between two steps, bodies are drawn between two places. False: the engine may forget the body.
    bool place(engine_body& body) const {
        const auto* const p = w_.try_get<position>(muster::entity::from_value(body.user_data));
        if (p != nullptr) body.x = p->before + (p->x - p->before) * (left_ / step);
        return p != nullptr;
    }

private:
    muster::world w_;
    float left_ = 0;
};

int main() {
    game it;
    std::vector<engine_body> bodies{{it.add(0, 1), 0}, {it.add(5, -2), 0}};
    const std::uint64_t doomed = bodies[1].user_data;
    for (int frame = 0; frame < 4;
         ++frame) {  // the engine's frames are longer than the game's steps
        if (frame >= 1) it.handle({doomed, 5});
        it.update(0.15f);
        std::erase_if(bodies, [&](engine_body& body) { return !it.place(body); });
        std::printf("frame %d:", frame);
        for (const engine_body& body : bodies) std::printf(" %.2f", static_cast<double>(body.x));
        std::printf("\n");
    }
}
