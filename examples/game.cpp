// A whole program: a small game without a window. A hero, played by a script, clears level after
// level. In the middle, the game is saved and loaded into a second world, where it goes on with
// exactly the same story.
#include <muster/muster.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <type_traits>

constexpr int width = 48, height = 12;

// ---- components ---------------------------------------------------------------------------------

struct position {
    int x, y;
};
struct looks {
    char letter;
};
struct health {
    int points;
};
struct hero {};
struct monster {
    int pace, bite;            // it moves in each so many frames
    muster::entity prey = {};  // may be dead: the handle detects it
};
struct arrow {
    int x, y, range;
};
struct potion {};
struct of_level {};  // ends with its level

struct progress {  // a singleton
    int frame = 0, level = 0, slain = 0;
    std::uint32_t dice = 2024;
    int roll(int sides) {
        dice = dice * 747796405u + 2891336453u;
        return static_cast<int>((dice >> 16) % static_cast<std::uint32_t>(sides));
    }
};

int sign(int n) {
    return (n > 0) - (n < 0);
}
int distance(position a, position b) {
    return std::max(std::abs(a.x - b.x), std::abs(a.y - b.y));
}

// ---- the game -----------------------------------------------------------------------------------

class game {
public:
    game() : hurt_(w_.observer<const health>()) {
        w_.set_single(progress{});
        prefab("goblin", looks{'g'}, health{2}, monster{2, 1}, of_level{});
        prefab("ogre", looks{'O'}, health{5}, monster{3, 4}, of_level{});
        prefab("potion", looks{'?'}, potion{}, of_level{});
        prefab("arrow", looks{':'}, of_level{});

        w_.system("aim").with<hero>().each([this](position& at) { aim(at); });
        w_.system("hunt").each([this](position& at, const monster& m) {
            if (now().frame % m.pace != 0) return;
            if (const position* const to = w_.try_get<position>(m.prey))
                at = {at.x + sign(to->x - at.x), at.y + sign(to->y - at.y)};
        });
        w_.system("fly").each([this](muster::entity e, position& at, arrow& a) {
            at = {at.x + a.x, at.y + a.y};
            if (--a.range == 0) w_.destroy(e);
        });
        w_.system("hit").each([this](muster::entity e, const position& at, const arrow&) {
            w_.each([&](muster::entity target, const position& there, const monster&) {
                if (distance(at, there) > 1) return;
                w_.patch<health>(target, [](health& h) { --h.points; });
                w_.destroy(e);
            });
        });
        w_.system("bite").each([this](const position& at, const monster& m) {
            const position* const there = w_.try_get<position>(m.prey);
            if (there == nullptr || distance(at, *there) > 1 || now().frame % 6 != 0) return;
            w_.patch<health>(m.prey, [&](health& h) { h.points -= m.bite; });
        });
        w_.system("drink").with<hero>().each([this](muster::entity e, const position& at) {
            w_.query<const position>().with<potion>().each([&](muster::entity p, position there) {
                if (distance(at, there) > 2) return;
                w_.patch<health>(e, [](health& own) { own.points += 5; });
                w_.destroy(p);
            });
        });
        // Only entities whose health has changed in this frame.
        w_.system("bury").execute([this] {
            hurt_.each([this](muster::entity e, const health& h) {
                if (h.points <= 0) w_.destroy(e);
            });
        });
        // A hook hears of each death, whatever the reason.
        w_.on_remove<monster>([this](muster::entity e, monster& m) {
            ++now().slain;
            const position at = w_.get<position>(e);
            if ((at.x + at.y + m.pace) % 3 == 0) w_.clone(w_.lookup("potion"), at);
        });
    }

    void begin() {
        hero_ = w_.spawn(position{width / 2, height / 2}, looks{'@'}, health{40}, hero{});
    }
    void save(std::ostream& out) const;
    void load(std::istream& in);  // into a game that has not begun

    /// Plays one frame. Returns false when the hero is dead.
    bool play(std::string& story) {
        if (w_.query<monster>().empty()) start_level(story);
        ++now().frame;
        w_.process_all();
        if (!w_.alive(hero_)) tell(story, "the hero dies");
        return w_.alive(hero_);
    }

    [[nodiscard]] std::string picture() const {
        std::string map(height * (width + 1), '.');
        for (std::size_t y = 1; y <= height; ++y) map[y * (width + 1) - 1] = '\n';
        w_.each([&](const position& at, const looks& l) {
            if (at.x < 0 || at.x >= width || at.y < 0 || at.y >= height) return;
            char& cell = map[static_cast<std::size_t>(at.y * (width + 1) + at.x)];
            cell = std::max(cell, l.letter);  // whatever the order of the loop
        });
        return map;
    }

private:
    progress& now() { return w_.single<progress>(); }
    void tell(std::string& story, const std::string& what) {
        story += "  frame " + std::to_string(now().frame) + ": " + what + "\n";
    }
    template <class... Ts>
    void prefab(const char* name, const Ts&... components) {
        w_.name(w_.spawn(components..., muster::prefab), name);
    }

    void start_level(std::string& story) {
        w_.query<of_level>().destroy();  // arrows and potions; not the prefabs, which are hidden
        progress& p = now();
        tell(story, "level " + std::to_string(++p.level) + ", " + std::to_string(p.slain) +
                        " slain, " + std::to_string(w_.get<health>(hero_).points) + " health");
        for (int i = 0; i < 2 + 2 * p.level; ++i) {
            const char* const kind = i % 4 == 3 ? "ogre" : "goblin";
            const position at{p.roll(2) * (width - 1), p.roll(height)};
            w_.get<monster>(w_.clone(w_.lookup(kind), at)).prey = hero_;
        }
    }

    /// The script of the hero: keeps away from the nearest monster and shoots at it.
    void aim(position& at) {
        int nearest = width;
        position target{};
        w_.query<const position>().with<monster>().each([&](position there) {
            const int far = distance(at, there);
            if (far > nearest) return;
            // The order of the loop must not matter, since a loaded world may have another one.
            if (far == nearest && there.y * width + there.x > target.y * width + target.x) return;
            nearest = far;
            target = there;
        });
        const position away{sign(at.x - target.x), sign(at.y - target.y)};
        if (nearest < 5 && now().frame % 2 == 0)
            at = {std::clamp(at.x + away.x, 0, width - 1),
                  std::clamp(at.y + away.y, 0, height - 1)};
        if (now().frame % 6 == 0) w_.clone(w_.lookup("arrow"), at, arrow{-away.x, -away.y, 20});
    }

    muster::world w_;
    muster::observer<const health> hurt_;
    muster::entity hero_;
};

// ---- saving -------------------------------------------------------------------------------------

// Until Muster saves worlds itself, a program lists its components, and writes them type by type.

template <class T>
void write(std::ostream& out, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "bytes are not enough for this type");
    out.write(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T read(std::istream& in) {
    T value{};
    in.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
}
/// A saved id names the number of its world, and the loaded world has another one.
muster::entity read_id(const muster::world& w, std::istream& in) {
    const auto saved = read<muster::entity>(in);
    return saved ? muster::entity::pack(saved.key(), saved.version(), w.number()) : saved;
}

template <class... Ts>
struct saved_types {
    static void save(const muster::world& w, std::ostream& out) { (save_type<Ts>(w, out), ...); }
    static void load(muster::world& w, std::istream& in) {
        muster::deferred all(w);  // each entity is one move
        (load_type<Ts>(w, in), ...);
    }

private:
    template <class T>
    static void save_type(const muster::world& w, std::ostream& out) {
        const auto owners = w.query<const T>();  // prefabs are hidden: the game creates them
        write(out, owners.count());
        owners.each([&](muster::entity e, const T& value) {
            write(out, e);
            write(out, value);
            // A dead handle must not name a new entity of the loaded world.
            if constexpr (requires { value.prey; })
                write(out, w.alive(value.prey) ? value.prey : muster::entity{});
        });
    }
    template <class T>
    static void load_type(muster::world& w, std::istream& in) {
        for (auto count = read<std::size_t>(in); count > 0; --count) {
            const muster::entity e = read_id(w, in);
            T value = read<T>(in);
            if constexpr (requires { value.prey; }) value.prey = read_id(w, in);
            if (!w.alive(e)) w.spawn_at(e);
            w.set(e, value);
        }
    }
};
using saved_game = saved_types<position, looks, health, hero, monster, arrow, potion, of_level>;

void game::save(std::ostream& out) const {
    write(out, w_.single<progress>());
    write(out, hero_);
    saved_game::save(w_, out);
}
void game::load(std::istream& in) {
    now() = read<progress>(in);
    hero_ = read_id(w_, in);
    saved_game::load(w_, in);
}

// ---- the program --------------------------------------------------------------------------------

int main() {
    std::string story;
    game first;
    first.begin();
    for (int frame = 0; frame < 128; ++frame) first.play(story);
    std::printf("the story so far:\n%s%s", story.c_str(), first.picture().c_str());

    std::stringstream file;  // or a std::fstream
    first.save(file);
    game second;
    second.load(file);

    std::string rest, again;
    for (int frame = 0; frame < 600 && first.play(rest); ++frame) {
    }
    for (int frame = 0; frame < 600 && second.play(again); ++frame) {
    }
    std::printf("and further:\n%s", rest.c_str());
    const bool is_same = rest == again && first.picture() == second.picture();
    std::printf("the loaded game goes on in the same way: %s\n", is_same ? "yes" : "NO");
    return is_same ? 0 : 1;
}
