// Muster inside an engine that has its own loop, its own objects and its own clock.
#include <muster/muster.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

// Types of the engine.
struct engine_body {
    std::uint64_t user_data;  // most engines store a number or a pointer for the user
    float x;
};
struct engine_event {
    std::uint64_t user_data;
    int damage;
};

// Components of the game.
struct position {
    float x, before;
};
struct velocity {
    float x;
};
struct health {
    int points;
};

class game {
public:
    game() {
        // Events of the engine come late: their entity may be dead. The handle detects it.
        w_.system("hurt").each_event([this](const engine_event& event) {
            const auto e = muster::entity::from_value(event.user_data);
            if (health* const h = w_.try_get<health>(e))
                h->points -= event.damage;
            else
                std::printf("  an event for %s, which is gone\n", to_string(e).c_str());
        });
        // Runs as many steps as fit into the time that has passed, and keeps the rest.
        steps_ = w_.system("steps").fixed(step);
        w_.system("move").group(steps_).each(
            [](position& p, const velocity& v, float dt) { p = {p.x + v.x * dt, p.x}; });
        w_.system("reap").group(steps_).each([this](muster::entity e, const health& h) {
            if (h.points <= 0) w_.destroy(e);
        });
    }
    std::uint64_t add(float x, float speed) {
        return w_.spawn(position{x, x}, velocity{speed}, health{10}).value();
    }
    void handle(const engine_event& event) { w_.send(event); }
    void update(float passed) { w_.process_all(muster::frame{passed}); }
    /// Interpolates between the last two steps. Returns false if the entity of the body is dead.
    bool place(engine_body& body) const {
        const auto* const p = w_.try_get<position>(muster::entity::from_value(body.user_data));
        const float part = static_cast<float>(steps_.elapsed()) / step;
        if (p != nullptr) body.x = p->before + (p->x - p->before) * part;
        return p != nullptr;
    }

private:
    static constexpr float step = 0.1f;  // in seconds
    muster::world w_;
    muster::system steps_;
};

int main() {
    game it;
    std::vector<engine_body> bodies{{it.add(0, 1), 0}, {it.add(5, -2), 0}};
    const std::uint64_t doomed = bodies[1].user_data;
    for (int frame = 0; frame < 4; ++frame) {
        if (frame >= 1) it.handle({doomed, 5});
        it.update(0.15f);  // longer than a step
        std::erase_if(bodies, [&](engine_body& body) { return !it.place(body); });
        std::printf("frame %d:", frame);
        for (const engine_body& body : bodies) std::printf(" %.2f", static_cast<double>(body.x));
        std::printf("\n");
    }
}
