// terminal: a live picture of half blocks, two pixels to a character; letters where there are no colours.
#pragma once

#include "options.hpp"
#include "png.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace demo {

/// Whether standard output is a terminal that can show the picture.
[[nodiscard]] bool is_live_terminal();
/// Whether the user has asked to stop; from the first `terminal` on.
[[nodiscard]] bool was_interrupted();

class terminal {
public:
    explicit terminal(colours wanted);
    /// The screen is as it was before.
    ~terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    /// How many pixels there are above `lines` lines of text; asked again in every frame, since the user
    /// may change the size of the window.
    struct extent {
        std::size_t width, height;
    };
    [[nodiscard]] extent room(std::size_t lines);

    /// Whether it knows characters such as half blocks.
    [[nodiscard]] bool has_blocks() const { return has_blocks_; }

    /// The picture, and lines of text below it, whose codes are left out where there are no colours.
    void show(const image& picture, const std::vector<std::string>& lines);

private:
    struct colour {
        int red, green, blue;
        friend bool operator==(const colour&, const colour&) = default;
    };
    void add_colours(const colour& upper, const colour& lower);
    void add_code(int what, const colour& c);
    void add_text(std::string_view line);

    colours colours_;
    bool has_blocks_;
    std::size_t width_ = 0, rows_ = 0;
    std::string out_;
    bool is_coloured_ = false;
    colour upper_{}, lower_{};  // what was set last
};

}  // namespace demo
