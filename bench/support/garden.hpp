// A frame of seven systems: in a garden, plants and visitors move, age, turn, grow, are bitten, and
// are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace muster::bench {

constexpr float frame_time = 1.0f / 60;
constexpr int width = 320;
constexpr int height = 240;

struct dice {  // a linear congruential generator; the upper half is random enough
    std::uint64_t state;
    std::uint32_t roll() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state >> 32);
    }
    std::uint32_t roll(std::uint32_t sides) {
        return static_cast<std::uint32_t>(std::uint64_t{roll()} * sides >> 32);
    }
};
struct place {
    float x, y;
};
struct speed {
    float x, y;
};
struct mind {
    double warmth;
    dice chance;
    std::uint32_t age, mood;
    bool is_awake;
};
struct species {
    std::uint32_t number;
};
struct body {
    std::int32_t strength, most;
    std::uint32_t phase;
};
struct teeth {
    std::int32_t bite, bark;
};
struct look {
    char sign;
};
struct picture {
    char signs[width * height];
};

inline void move(place& p, const speed& v) {
    p.x += v.x * frame_time;
    p.y += v.y * frame_time;
}
inline void live(mind& m) {
    ++m.age;
    m.warmth = m.warmth * 0.99 + 0.25;
    m.is_awake = m.age % 4 != 0;
    m.mood = m.chance.roll() & 0xff;
}
inline void turn(const place& p, speed& v, mind& m) {
    if (m.age % 16 != 0) return;
    const float stride = 1 + static_cast<float>(m.chance.roll(8));
    v.x = p.x < width / 2 ? stride : -stride;
    v.y = p.y < height / 2 ? stride : -stride;
}
inline void grow(body& b) {
    if (b.strength <= 0) {
        b.phase = 3;
        b.strength = -1;
    }
    if (b.phase == 3) {
        b.phase = 0;
        b.strength = b.most / 2;
        return;
    }
    b.phase = b.strength < b.most ? 1 : 2;
    if (b.phase == 1) ++b.strength;
}
inline void be_bitten(body& b, const teeth& t) {
    const std::int32_t hurt = t.bite - t.bark;
    b.strength -= hurt > 0 && b.phase == 2 ? hurt : 0;
}
inline void choose_look(look& l, const species& s, const body& b) {
    static constexpr char signs[3][4] = {
        {'.', ',', '*', 'x'}, {'o', 'b', 'B', '_'}, {'0', 'v', 'V', '-'}};
    l.sign = signs[s.number][b.phase];
}
inline void draw(picture& on, const place& p, const look& l) {
    const int x = static_cast<int>(p.x);
    const int y = static_cast<int>(p.y);
    if (x >= 0 && x < width && y >= 0 && y < height) on.signs[x + y * width] = l.sign;
}

enum : unsigned { placed = 1, moving = 2, minded = 4, bodied = 8 };

/// Returns the components of an entity: all, or one of eight kinds in unequal shares.
inline unsigned kind_of(std::size_t i, bool is_mixed) {
    constexpr unsigned kinds[] = {placed | bodied,          minded,
                                  placed | minded | bodied, placed | moving,
                                  placed | moving | bodied, placed | moving | bodied,
                                  placed | moving | minded, placed | moving | minded,
                                  placed | moving | minded, moving | minded};
    return !is_mixed || i % 16 >= std::size(kinds) ? placed | moving | minded | bodied
                                                   : kinds[i % 16];
}

struct recipe {
    place p;
    speed v;
    mind m;
    species s;
    body b;
    teeth t;
    look l;
    explicit recipe(std::size_t i) {
        dice d{i * 0x9E3779B97F4A7C15u + 1};
        p = {static_cast<float>(d.roll(width)), static_cast<float>(d.roll(height))};
        v = {1 + static_cast<float>(d.roll(3)), 1 + static_cast<float>(d.roll(3))};
        m = {0, dice{d.state + 99}, static_cast<std::uint32_t>(i % 16), 0, false};
        s = {d.roll(3)};
        b = {static_cast<std::int32_t>(2 + d.roll(9)), static_cast<std::int32_t>(6 + d.roll(9)), 0};
        t = {static_cast<std::int32_t>(d.roll(9)), static_cast<std::int32_t>(d.roll(6))};
        l = {'.'};
    }
};

/// A checksum of a garden that does not depend on the order of its entities.
struct result {
    std::uint64_t ages = 0, moods = 0, strengths = 0, signs = 0;
    friend bool operator==(const result&, const result&) = default;
    void add(const mind& m) {
        ages += m.age;
        moods += m.mood;
    }
    void add(const body& b, const look& l) {
        strengths += static_cast<std::uint64_t>(b.strength + 1000);
        signs += static_cast<unsigned char>(l.sign);
    }
};

/// Computes the result one entity at a time.
inline result expected(std::size_t count, bool is_mixed, std::size_t frames) {
    result made;
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned kind = kind_of(i, is_mixed);
        recipe r(i);
        for (std::size_t k = 0; k < frames; ++k) {
            if (kind & minded) live(r.m);
            if ((kind & (placed | moving | minded)) == (placed | moving | minded))
                r.m.age % 16 == 0 ? void(r.m.chance.roll(8)) : void();
            if (kind & bodied) {
                grow(r.b);
                be_bitten(r.b, r.t);
                choose_look(r.l, r.s, r.b);
            }
        }
        if (kind & minded) made.add(r.m);
        if (kind & bodied) made.add(r.b, r.l);
    }
    return made;
}

}  // namespace muster::bench
