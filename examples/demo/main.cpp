// The demo: a country of flocks, hawks and insects. Start reading at components.hpp, then see
// behavior.cpp and life.cpp for the systems.
#include "options.hpp"
#include "picture.hpp"
#include "report.hpp"
#include "simulation.hpp"
#include "terminal.hpp"
#include "threads.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::milliseconds;

int run(const demo::options& given) {
    const auto threads = demo::make_threads(given.threads);
    const unsigned count = threads->concurrency();
    if (count < given.threads)
        std::fprintf(stderr, "demo: built without oneTBB, so there is one thread\n");
    const bool is_live = !given.plain && demo::is_live_terminal();
    std::printf("%s entities, seed %llu, %u %s\n", demo::grouped(given.entities).c_str(),
                static_cast<unsigned long long>(given.seed), count,
                count == 1 ? "thread" : "threads");
    std::fflush(stdout);

    demo::simulation simulation(given.entities, given.seed, *threads);
    demo::report report(given, count);
    {
        std::optional<demo::terminal> screen;
        if (is_live) screen.emplace(given.colours);
        demo::picture picture;
        double said = 0;
        while (report.frames() < given.frames && !demo::was_interrupted()) {
            if (given.seconds > 0 && report.seconds() >= given.seconds) break;
            const auto start = clock_type::now();
            simulation.step();
            report.note(simulation, clock_type::now() - start);
            if (screen) {
                const auto [width, height] = screen->room(3);
                picture.resize(width, height);
                picture.draw(simulation, 0.45f, 0);
                screen->show(picture.develop(), report.status(width, screen->has_blocks()));
                std::this_thread::sleep_until(start + milliseconds(33));  // at most 30 frames per s
            } else if (report.seconds() - said >= 1 || report.frames() == given.frames) {
                said = report.seconds();
                std::printf("%s\n", report.progress().c_str());
                std::fflush(stdout);
            }
        }
    }
    const bool is_true = report.print_summary(simulation);

    if (!given.png.empty()) {
        demo::picture picture;
        picture.resize(1600, 900);
        picture.draw(simulation, 0, 0.05f);
        if (!demo::write_png(given.png, picture.develop())) {
            std::fprintf(stderr, "demo: cannot write %s: %s\n", given.png.c_str(),
                         std::strerror(errno));
            return 1;
        }
        std::printf("  picture of the last frame: %s\n", given.png.c_str());
    }
    return is_true ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const demo::options given = demo::read_options(argc, argv);
        if (given.help) {
            std::fputs(demo::help_text(), stdout);
            return 0;
        }
        return run(given);
    } catch (const demo::bad_option& error) {
        std::fprintf(stderr, "demo: %s\n(--help lists the options)\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "demo: %s\n", error.what());
        return 1;
    }
}
