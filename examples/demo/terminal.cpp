#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace demo {

namespace {

volatile std::sig_atomic_t interrupted = 0;

std::string_view variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

colours colours_of_terminal() {
    if (!variable("NO_COLOR").empty()) return colours::none;
    if (variable("COLORTERM") == "truecolor" || variable("COLORTERM") == "24bit")
        return colours::full;
    const std::string_view kind = variable("TERM");
    if (kind.find("direct") != std::string_view::npos) return colours::full;
    return kind.find("256") != std::string_view::npos ? colours::palette : colours::none;
}

bool is_utf8() {
    for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"})  // the first that is set decides
        if (const std::string_view value = variable(name); !value.empty())
            return value.find("UTF-8") != std::string_view::npos ||
                   value.find("utf8") != std::string_view::npos ||
                   value.find("UTF8") != std::string_view::npos;
    return false;
}

void write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

/// Returns the nearest of the 6 × 6 × 6 colours and 24 greys of the 256-colour palette.
int palette_index(int red, int green, int blue) {
    const auto level = [](int value) {
        return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40;
    };
    const auto shown = [](int index) { return index == 0 ? 0 : 55 + 40 * index; };
    const int r = level(red), g = level(green), b = level(blue);
    const auto distance = [&](int x, int y, int z) {
        return (x - red) * (x - red) + (y - green) * (y - green) + (z - blue) * (z - blue);
    };
    const int mean = (red + green + blue) / 3;
    const int grey = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 8) / 10;
    const int grey_shown = 8 + 10 * grey;
    if (distance(grey_shown, grey_shown, grey_shown) < distance(shown(r), shown(g), shown(b)))
        return 232 + grey;
    return 16 + 36 * r + 6 * g + b;
}

}  // namespace

bool is_live_terminal() {
    return isatty(STDOUT_FILENO) == 1 && variable("TERM") != "dumb" && !variable("TERM").empty();
}

bool was_interrupted() {
    return interrupted != 0;
}

terminal::terminal(colours wanted)
    : colours_(wanted == colours::automatic ? colours_of_terminal() : wanted),
      has_blocks_(is_utf8()) {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { interrupted = 1; });
    write_all("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J");  // alternate screen, no cursor, no line wrap
}

terminal::~terminal() {
    write_all("\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l");
}

terminal::extent terminal::room(std::size_t lines) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size = {24, 80, 0, 0};
    const std::size_t rows = size.ws_row > lines + 1 ? size.ws_row - lines : 1;
    if (size.ws_col != width_ || rows != rows_) write_all("\x1b[0m\x1b[2J");
    width_ = size.ws_col;
    rows_ = rows;
    return {width_, has_blocks_ && colours_ != colours::none ? 2 * rows_ : rows_};
}

void terminal::add_code(int what, const colour& c) {
    char text[40];
    if (colours_ == colours::full)
        std::snprintf(text, sizeof text, "\x1b[%d;2;%d;%d;%dm", what, c.red, c.green, c.blue);
    else
        std::snprintf(text, sizeof text, "\x1b[%d;5;%dm", what,
                      palette_index(c.red, c.green, c.blue));
    out_ += text;
}

void terminal::add_colours(const colour& upper, const colour& lower) {
    if (!is_coloured_ || !(upper == upper_)) add_code(38, upper);
    if (!is_coloured_ || !(lower == lower_)) add_code(48, lower);
    is_coloured_ = true;
    upper_ = upper;
    lower_ = lower;
}

void terminal::add_text(std::string_view line) {
    while (!line.empty()) {
        const std::size_t code = std::min(line.find('\x1b'), line.size());
        out_ += line.substr(0, code);
        line.remove_prefix(code);
        if (line.empty()) return;
        const std::size_t length = std::min(line.find('m'), line.size() - 1) + 1;
        if (colours_ != colours::none) out_ += line.substr(0, length);
        line.remove_prefix(length);
    }
}

void terminal::show(const image& picture, const std::vector<std::string>& lines) {
    const bool is_coloured = colours_ != colours::none;
    const bool is_halved = has_blocks_ && is_coloured;
    const auto at = [&](std::size_t x, std::size_t y) {
        const std::uint8_t* const p = &picture.pixels[(y * picture.width + x) * 3];
        // Drops the two lowest bits: fewer escape codes, no visible difference.
        return colour{p[0] & 0xfc, p[1] & 0xfc, p[2] & 0xfc};
    };
    out_.assign("\x1b[?2026h\x1b[H");  // synchronised update where supported; cursor to the top
    is_coloured_ = false;
    for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t x = 0; x < picture.width; ++x) {
            if (is_halved) {
                add_colours(at(x, 2 * row), at(x, 2 * row + 1));
                out_ += "\u2580";
                continue;
            }
            const colour pixel = at(x, row);
            if (is_coloured) add_colours(pixel, colour{0, 0, 0});
            const int brightness = (pixel.red * 3 + pixel.green * 5 + pixel.blue * 2) / 10;
            out_ += " .:-=+*%@#"[brightness * 10 / 256];
        }
        out_ += is_coloured ? "\x1b[0m\r\n" : "\r\n";
        is_coloured_ = false;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
        add_text(lines[i]);
        out_ += i + 1 < lines.size() ? "\x1b[0m\x1b[K\r\n" : "\x1b[0m\x1b[K";
    }
    out_ += "\x1b[?2026l";
    write_all(out_);
}

}  // namespace demo
