#include "picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace demo {

namespace {

constexpr light background{0.0020f, 0.0030f, 0.0080f};
constexpr light insect_light{0.04f, 0.13f, 0.03f};
constexpr light fear_light{0.9f, 0.9f, 0.85f};
constexpr light hawk_light{1.0f, 0.10f, 0.06f};
constexpr light flock_lights[flocks] = {
    {1.00f, 0.42f, 0.05f},  // amber
    {0.03f, 0.45f, 1.00f},  // blue
    {0.95f, 0.10f, 0.35f},  // rose
    {0.05f, 0.80f, 0.60f},  // teal
    {0.52f, 0.18f, 1.00f},  // violet
    {0.95f, 0.80f, 0.10f},  // yellow
};

/// Converts linear light to a gamma-corrected byte, by table lookup.
std::uint8_t to_screen(float value) {
    static const auto table = [] {
        std::array<std::uint8_t, 4096> made{};
        for (std::size_t i = 0; i < made.size(); ++i)
            made[i] = static_cast<std::uint8_t>(
                255 * std::pow(static_cast<float>(i) / 4095, 1 / 2.2f) + 0.5f);
        return made;
    }();
    return table[static_cast<std::size_t>(std::clamp(value, 0.0f, 1.0f) * 4095)];
}

}  // namespace

void picture::resize(std::size_t width, std::size_t height) {
    if (width == width_ && height == height_) return;
    width_ = width;
    height_ = height;
    film_.assign(width * height, {});
    developed_ = {width, height, std::vector<std::uint8_t>(width * height * 3)};
}

void picture::shine(float x, float y, const light& what, float strength) {
    const auto column = static_cast<std::ptrdiff_t>(x);
    const auto row = static_cast<std::ptrdiff_t>(y);
    if (x < 0 || y < 0 || column >= static_cast<std::ptrdiff_t>(width_) ||
        row >= static_cast<std::ptrdiff_t>(height_))
        return;
    light& pixel = film_[static_cast<std::size_t>(row) * width_ + static_cast<std::size_t>(column)];
    pixel.red += what.red * strength;
    pixel.green += what.green * strength;
    pixel.blue += what.blue * strength;
}

void picture::shine_softly(float x, float y, const light& what, float strength) {
    const float left = std::floor(x - 0.5f);
    const float top = std::floor(y - 0.5f);
    const float right_part = x - 0.5f - left;
    const float lower_part = y - 0.5f - top;
    shine(left, top, what, strength * (1 - right_part) * (1 - lower_part));
    shine(left + 1, top, what, strength * right_part * (1 - lower_part));
    shine(left, top + 1, what, strength * (1 - right_part) * lower_part);
    shine(left + 1, top + 1, what, strength * right_part * lower_part);
}

void picture::draw(simulation& of, float trail, float streak) {
    for (light& pixel : film_) pixel = {pixel.red * trail, pixel.green * trail, pixel.blue * trail};
    const country& land = of.world().single<country>();
    const float across = static_cast<float>(width_) / land.width;
    const float down = static_cast<float>(height_) / land.height;
    const float fresh = 1 - trail;
    std::size_t birds = 0;

    of.each_insect(
        [&](const position& p) { shine(p.x * across, p.y * down, insect_light, fresh); });
    const int strokes = streak > 0 ? 5 : 1;
    of.each_bird([&](const position& p, const velocity& v, const flock& f) {
        ++birds;
        for (int i = 0; i < strokes; ++i) {
            const float back = streak * static_cast<float>(i) / 5;
            const float x = (p.x - v.x * back) * across;
            const float y = (p.y - v.y * back) * down;
            const float strength = fresh / static_cast<float>(strokes);
            if (strokes == 1)
                shine(x, y, flock_lights[f.number], strength);
            else
                shine_softly(x, y, flock_lights[f.number], strength);
        }
    });
    // A pixel with the average number of birds is well lit.
    exposure_ = 0.5f * static_cast<float>(film_.size()) /
                static_cast<float>(std::max<std::size_t>(birds, 1));
    of.each_scared(
        [&](const position& p) { shine(p.x * across, p.y * down, fear_light, 0.8f * fresh); });
    // Hawks are few: a hawk lights its pixel visibly, however many birds there are.
    const float beam = std::max(6.0f / exposure_, 1.0f);
    of.each_hawk([&](const position& p, const velocity& v) {
        for (int i = 0; i < strokes; ++i) {
            const float back = 2 * streak * static_cast<float>(i) / 5;
            const float x = (p.x - v.x * back) * across;
            const float y = (p.y - v.y * back) * down;
            if (strokes == 1)
                shine(x, y, hawk_light, beam * fresh);
            else
                shine_softly(x, y, hawk_light, beam * fresh);
        }
    });
}

const image& picture::develop() {
    std::uint8_t* out = developed_.pixels.data();
    for (const light& pixel : film_) {
        // Compresses all three channels by one factor: no pixel is overexposed, and hues stay.
        const float strongest = std::max({pixel.red, pixel.green, pixel.blue, 1e-6f}) * exposure_;
        const float part = exposure_ / (0.6f + strongest);
        *out++ = to_screen(background.red + pixel.red * part);
        *out++ = to_screen(background.green + pixel.green * part);
        *out++ = to_screen(background.blue + pixel.blue * part);
    }
    return developed_;
}

}  // namespace demo
