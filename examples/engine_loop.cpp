// Muster inside an engine that has its own loop, its own objects and its own clock.
#include <muster/muster.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

// Types of the engine, which is independent of Muster.
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

constexpr float step = 0.1f;  // fixed time step of the game, in seconds

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
    /// Events of the engine come late: their entity may be dead. The handle detects it.
    void handle(const engine_event& event) {
        const auto e = muster::entity::from_value(event.user_data);
        if (health* const h = w_.try_get<health>(e))
            h->points -= event.damage;
        else
            std::printf("  an event for %s, which is gone\n", to_string(e).c_str());
    }
    /// Runs as many fixed steps as fit into the time that has passed and keeps the rest.
    void update(float passed) {
        for (left_ += passed; left_ >= step; left_ -= step) w_.process_all();
    }
    /// Interpolates between the last two steps. Returns false if the entity of the body is dead.
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
