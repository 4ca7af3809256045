#include "options.hpp"

#include <charconv>
#include <string_view>

namespace demo {

namespace {

template <class T>
T read_number(std::string_view option, std::string_view text, T least, T most) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const auto say = [](T number) {
        char made[32];
        return std::string(made, std::to_chars(made, made + sizeof made, number).ptr);
    };
    if (error != std::errc{} || end != text.data() + text.size() ||
        !(value >= least && value <= most))
        throw bad_option(std::string(option) + " takes a number from " + say(least) + " to " +
                         say(most) + ", not \"" + std::string(text) + "\"");
    return value;
}

colours read_colours(std::string_view text) {
    if (text == "auto") return colours::automatic;
    if (text == "24bit") return colours::full;
    if (text == "256") return colours::palette;
    if (text == "none") return colours::none;
    throw bad_option("--colours takes auto, 24bit, 256 or none, not \"" + std::string(text) + "\"");
}

}  // namespace

options read_options(int count, const char* const* arguments) {
    options read;
    bool has_frames = false;
    for (int i = 1; i < count; ++i) {
        std::string_view option = arguments[i];
        std::string_view given;
        bool is_given = false;
        if (const auto equals = option.find('='); equals != std::string_view::npos) {
            given = option.substr(equals + 1);
            option = option.substr(0, equals);
            is_given = true;
        }
        const auto value = [&] {
            if (is_given) return given;
            if (i + 1 == count) throw bad_option(std::string(option) + " needs a value");
            return std::string_view(arguments[++i]);
        };
        if (option == "--frames") {
            read.frames = read_number<std::size_t>(option, value(), 1, 1'000'000);
            has_frames = true;
        } else if (option == "--seconds") {
            read.seconds = read_number<double>(option, value(), 0.1, 86'400);
        } else if (option == "--entities") {
            read.entities = read_number<std::size_t>(option, value(), 1'000, 20'000'000);
        } else if (option == "--threads") {
            read.threads = read_number<unsigned>(option, value(), 1, 256);
        } else if (option == "--seed") {
            read.seed = read_number<std::uint64_t>(option, value(), 0, ~std::uint64_t{0});
        } else if (option == "--png") {
            read.png = value();
            if (read.png.empty()) throw bad_option("--png needs the name of a file");
        } else if (option == "--colours") {
            read.colours = read_colours(value());
        } else if (!is_given && option == "--plain") {
            read.plain = true;
        } else if (!is_given && (option == "--help" || option == "-h")) {
            read.help = true;
        } else {
            throw bad_option("unknown option \"" + std::string(arguments[i]) + "\"");
        }
    }
    if (read.seconds > 0 && !has_frames) read.frames = 1'000'000;
    return read;
}

const char* help_text() {
    return "Usage: demo [OPTIONS]\n"
           "\n"
           "Simulates flocks of birds, hawks and insects: several hundred thousand entities that\n"
           "are born, eat, flee and die in every frame. Draws a live picture in a terminal and\n"
           "prints progress lines otherwise, then a summary.\n"
           "\n"
           "  --frames N      number of frames (default 160)\n"
           "  --seconds S     stop after S seconds; the final state then depends on the machine\n"
           "  --entities N    initial number of entities (default 300000)\n"
           "  --threads N     number of threads (default: all)\n"
           "  --seed N        random seed (default 1); equal seeds produce equal final states,\n"
           "                  on any number of threads\n"
           "  --png FILE      write a picture of the last frame\n"
           "  --colours MODE  auto, 24bit, 256 or none\n"
           "  --plain         print progress lines even in a terminal\n"
           "  --help          print this text\n";
}

}  // namespace demo
