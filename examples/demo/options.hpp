// options: the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace demo {

enum class colours { automatic, full, palette, none };

struct options {
    std::size_t frames = 160;
    double seconds = 0;  // 0: no limit
    std::size_t entities = 300'000;
    unsigned threads = 0;  // 0: all of the machine
    std::uint64_t seed = 1;
    std::string png;
    demo::colours colours = demo::colours::automatic;
    bool plain = false;
    bool help = false;
};

/// An invalid command line; `what()` is a sentence for the user.
struct bad_option : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[nodiscard]] options read_options(int count, const char* const* arguments);
[[nodiscard]] const char* help_text();

}  // namespace demo
