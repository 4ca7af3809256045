// terminal: a live picture of half blocks, two pixels per character; of letters without colours.
#pragma once

#include "options.hpp"
#include "png.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace demo {

/// Returns whether standard output is a terminal that can show the picture.
[[nodiscard]] bool is_live_terminal();
/// Returns whether a signal asked the program to stop, since the first `terminal` was created.
[[nodiscard]] bool was_interrupted();

class terminal {
public:
    explicit terminal(colours wanted);
    /// Restores the screen.
    ~terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    /// The number of pixels above `lines` lines of text. Call `room` in every frame, since the user
    /// may resize the window.
    struct extent {
        std::size_t width, height;
    };
    [[nodiscard]] extent room(std::size_t lines);

    /// Returns whether the terminal can show half blocks.
    [[nodiscard]] bool has_blocks() const { return has_blocks_; }

    /// Shows the picture and lines of text below it. Without colours, strips escape codes.
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
    colour upper_{}, lower_{};  // the colours set last
};

}  // namespace demo
