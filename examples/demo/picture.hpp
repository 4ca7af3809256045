// picture: how the country looks from above. Light is gathered in each pixel, as on a film, so that the
// same code makes 120 × 70 pixels for a terminal and a million for a file.
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

    /// `trail` of what was there before stays: 0 is a sharp picture, 0.5 one that moves smoothly. A
    /// `streak` draws each bird as a stroke of so many seconds.
    void draw(simulation& of, float trail, float streak);
    /// As it is shown: light becomes colours.
    const image& develop();

private:
    void shine(float x, float y, const light& what, float strength);
    /// Spread over the four pixels around it.
    void shine_softly(float x, float y, const light& what, float strength);

    std::size_t width_ = 0, height_ = 0;
    std::vector<light> film_;
    float exposure_ = 1;
    image developed_;
};

}  // namespace demo
