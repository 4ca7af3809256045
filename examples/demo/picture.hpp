// picture: the country from above. Each pixel accumulates light, as a film does. So the same code
// draws 120 × 70 pixels for a terminal and a million for a file.
#pragma once

#include "png.hpp"
#include "simulation.hpp"

#include <vector>

namespace demo {

struct light {
    float red = 0, green = 0, blue = 0;
};

class picture {
public:
    void resize(std::size_t width, std::size_t height);

    /// Draws the current state. `trail` is the part of the old light that stays: 0 is sharp, 0.5
    /// moves smoothly. `streak` draws each bird as a stroke: its path in that many seconds.
    void draw(simulation& of, float trail, float streak);
    /// Converts the light to colours.
    const image& develop();

private:
    void shine(float x, float y, const light& what, float strength);
    /// Like `shine`, but spreads the light over the four pixels around the point.
    void shine_softly(float x, float y, const light& what, float strength);

    std::size_t width_ = 0, height_ = 0;
    std::vector<light> film_;
    float exposure_ = 1;
    image developed_;
};

}  // namespace demo
