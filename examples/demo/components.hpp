// The components and singletons of the demo.
#pragma once

#include <muster/muster.hpp>

#include <cstdint>
#include <vector>

namespace demo {

using muster::entity;

// ---- in chunks: components that most entities have all the time --------------------------------

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};
/// The wanted acceleration. The group `behavior` writes it, the group `motion` applies it.
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
/// Marks a bird and stores the number of its flock.
struct flock {
    std::uint8_t number;
};
inline constexpr int flocks = 6;

/// A random generator per entity, so that its behaviour depends neither on threads nor on ids.
struct dice {
    std::uint32_t state;

    std::uint32_t next() {
        state ^= state << 13;  // xorshift; never 0
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    /// Returns a number from 0 to 1.
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
    entity prey;  // may be dead: `alive` detects it
};
struct gust {
    float radius, left;
};

// ---- in chunks: states whose change moves the entity -------------------------------------------

struct fledgling {};
struct resting {
    float left;
};

// ---- sparse: states that change every frame ----------------------------------------------------

struct scared {
    float left;
};
struct hungry {
    entity meal;       // the insect that the bird has seen
    int patience = 0;  // frames until it looks again
};
/// State of an insect. If several birds bite it, the last bird in the order of the loop gets it.
struct bitten {
    entity by;
};
struct meal {
    float energy;
};

// ---- singletons --------------------------------------------------------------------------------

struct country {
    float width, height;
    std::size_t most_insects, insects_each_frame;
    dice insects;  // for the places where insects hatch
};

/// Moves round a circle by multiplication alone, since `std::sin` differs from machine to machine.
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

/// The places that attract the flocks, and the wind.
struct sky {
    struct wind {
        float x, y, radius, push_x, push_y;
    };
    orbit wide[flocks], high[flocks];
    position roosts[flocks];
    std::vector<wind> winds;
};

}  // namespace demo
