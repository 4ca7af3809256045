// What the inhabitants of the demo are made of.
#pragma once

#include <muster/muster.hpp>

#include <cstdint>
#include <vector>

namespace demo {

using muster::entity;

// ---- what most of them have all the time: in chunks --------------------------------------------

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};
/// Where it wants to go, as an acceleration: written while it looks around, obeyed when all have looked.
struct steering {
    float x, y;
};
struct wings {
    float cruise, top;  // units per second
};
struct energy {
    float left;
};
struct age {
    std::int32_t frames;
};
/// A bird, and of which flock.
struct flock {
    std::uint8_t number;
};
inline constexpr int flocks = 6;

/// Each has dice of its own, so that what it does depends neither on threads nor on ids.
struct dice {
    std::uint32_t state;

    std::uint32_t next() {
        state ^= state << 13;  // xorshift; never 0
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    /// From 0 to 1.
    float roll() { return static_cast<float>(next() >> 8) * (1.0f / 16777216.0f); }
    float between(float low, float high) { return low + (high - low) * roll(); }
    static dice seeded(std::uint64_t seed) {
        seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
        seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
        const auto made = static_cast<std::uint32_t>(seed ^ (seed >> 31));
        return {made == 0 ? 1u : made};
    }
};

struct insect {};
struct hawk {
    entity prey;  // may be dead by now, and says so
};
struct gust {
    float radius, left;
};

// ---- what comes and goes with a move to another chunk ------------------------------------------

struct fledgling {};
struct resting {
    float left;
};

// ---- what comes and goes every frame: sparse ---------------------------------------------------

struct scared {
    float left;
};
struct hungry {
    entity meal;       // the insect that it has seen
    int patience = 0;  // frames until it looks again
};
/// Of an insect. If several birds reach for it, the one that comes last in the order of the loop has it.
struct bitten {
    entity by;
};
struct meal {
    float energy;
};

// ---- of the world itself -----------------------------------------------------------------------

struct country {
    float width, height;
    std::size_t most_insects, insects_each_frame;
    dice insects;  // where they come from the eggs
};

/// Goes round in a circle by multiplication alone: sines differ from machine to machine.
struct orbit {
    float cosine, sine, step_cosine, step_sine;

    void advance() {
        const float c = cosine * step_cosine - sine * step_sine;
        const float s = cosine * step_sine + sine * step_cosine;
        const float correction = 1.5f - 0.5f * (c * c + s * s);
        cosine = c * correction;
        sine = s * correction;
    }
};

/// What can be felt everywhere: the places the flocks are drawn to, and the wind.
struct sky {
    struct wind {
        float x, y, radius, push_x, push_y;
    };
    orbit wide[flocks], high[flocks];
    position roosts[flocks];
    std::vector<wind> winds;
};

}  // namespace demo
