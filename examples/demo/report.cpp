#include "report.hpp"

#include <unistd.h>
#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>

namespace demo {

namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* how, ...) {
    char text[512];
    std::va_list all;
    va_start(all, how);
    std::vsnprintf(text, sizeof text, how, all);
    va_end(all);
    return text;
}

std::string mebibytes(std::size_t bytes) {
    return bytes == 0 ? "unknown" : format("%.0f MiB", static_cast<double>(bytes) / (1 << 20));
}

/// Returns the last `width` numbers as a line of small bars.
std::string bars(const std::vector<std::size_t>& all, std::size_t width) {
    const std::size_t count = std::min(width, all.size());
    if (count == 0) return {};
    const auto first = all.end() - static_cast<std::ptrdiff_t>(count);
    const auto [low, high] = std::minmax_element(first, all.end());
    std::string made;
    for (auto at = first; at != all.end(); ++at) {
        const std::size_t step = (*at - *low) * 7 / std::max<std::size_t>(*high - *low, 1);
        made += {'\xe2', '\x96', static_cast<char>('\x81' + static_cast<int>(step))};  // U+2581 ...
    }
    return made;
}

}  // namespace

std::string grouped(std::uint64_t number) {
    std::string made = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(made.size()) - 3; at > 0; at -= 3)
        made.insert(static_cast<std::size_t>(at), 1, ',');
    return made;
}

std::size_t memory_in_use() {
    std::size_t pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%*u %zu", &pages) != 1) pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

report::report(const options& given, unsigned threads) : given_(given), threads_(threads) {}

double report::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void report::note(simulation& of, std::chrono::nanoseconds took) {
    ++frames_;
    last_ = std::chrono::duration<double, std::milli>(took).count();
    sum_ += last_;
    worst_ = std::max(worst_, last_);
    now_ = of.census();
    memory_ = memory_in_use();
    birds_.push_back(now_.birds);
    insects_.push_back(now_.insects);
    hawks_.push_back(now_.hawks);

    moments_.push_back({seconds(), of.counts().spawned, of.counts().destroyed});
    if (moments_.size() > 2 && moments_.back().time - moments_[1].time > 1)
        moments_.erase(moments_.begin());
    const moment& then = moments_.front();
    const moment& here = moments_.back();
    if (here.time > then.time) {
        births_ = static_cast<double>(here.spawned - then.spawned) / (here.time - then.time);
        deaths_ = static_cast<double>(here.destroyed - then.destroyed) / (here.time - then.time);
    }
}

std::vector<std::string> report::status(std::size_t width, bool has_bars) const {
    const std::size_t all = now_.birds + now_.insects + now_.hawks + now_.gusts;
    std::vector<std::string> lines;
    lines.push_back(
        format(" \x1b[1m%6.1f ms\x1b[0m per frame \x1b[2m(%.1f on average, %u threads)\x1b[0m   "
               "\x1b[1m%s\x1b[0m "
               "entities   \x1b[1m%s\x1b[0m born/s   \x1b[1m%s\x1b[0m die/s",
               last_, sum_ / static_cast<double>(frames_), threads_, grouped(all).c_str(),
               grouped(static_cast<std::uint64_t>(births_)).c_str(),
               grouped(static_cast<std::uint64_t>(deaths_)).c_str()));
    const std::size_t room = !has_bars ? 0 : std::clamp<std::size_t>(width / 3, 33, 63) - 23;
    lines.push_back(format(
        " %s birds \x1b[33m%s\x1b[0m  %s insects \x1b[32m%s\x1b[0m  %s hawks \x1b[31m%s",
        grouped(now_.birds).c_str(), bars(birds_, room).c_str(), grouped(now_.insects).c_str(),
        bars(insects_, room).c_str(), grouped(now_.hawks).c_str(), bars(hawks_, room).c_str()));
    lines.push_back(
        format(" %s scared, %s hungry (sparse)   %zu chunks   %s   frame %zu%s   Ctrl-C ends",
               grouped(now_.scared).c_str(), grouped(now_.hungry).c_str(), now_.chunks,
               mebibytes(memory_).c_str(), frames_,
               given_.seconds > 0 ? "" : format(" of %zu", given_.frames).c_str()));
    return lines;
}

std::string report::progress() const {
    const std::size_t all = now_.birds + now_.insects + now_.hawks + now_.gusts;
    return format("frame %4zu: %6.1f ms, %s entities, %s births/s, %s deaths/s, %zu chunks, %s",
                  frames_, last_, grouped(all).c_str(),
                  grouped(static_cast<std::uint64_t>(births_)).c_str(),
                  grouped(static_cast<std::uint64_t>(deaths_)).c_str(), now_.chunks,
                  mebibytes(memory_).c_str());
}

bool report::print_summary(simulation& of) const {
    const tally& counts = of.counts();
    const double frames = static_cast<double>(frames_);
    const auto line = [](const char* name, std::uint64_t count, const std::string& note) {
        std::printf("  %-20s %12s   %s\n", name, grouped(count).c_str(), note.c_str());
    };
    std::printf("%zu frames in %.1f s on %u %s: %.1f ms per frame, %.1f ms at most\n\n", frames_,
                seconds(), threads_, threads_ == 1 ? "thread" : "threads", sum_ / frames, worst_);
    line("entities", now_.birds + now_.insects + now_.hawks + now_.gusts,
         format("%s birds in %d flocks, %s insects, %s hawks, %zu gusts of wind",
                grouped(now_.birds).c_str(), flocks, grouped(now_.insects).c_str(),
                grouped(now_.hawks).c_str(), now_.gusts));
    line("spawned", counts.spawned, "by loops on several threads, clones of prefabs, in rows");
    line("destroyed", counts.destroyed,
         format("%s insects eaten, %s catches of hawks, the rest by age and hunger",
                grouped(counts.eaten).c_str(), grouped(counts.caught).c_str()));
    line("structural changes", counts.moved,
         "between chunks: birds that grew up, hawks that rested");
    line("sparse states", counts.sparse,
         "added or removed without moving a row: scared, hungry, bitten, fed");
    line("stale handles", counts.stale, "of prey and insects, detected before use");
    line("commands", counts.submitted, "from the weather's own thread, by command buffer");
    line("chunks", now_.chunks, "with entities");
    std::printf("  %-20s %12s   of the process\n\n", "memory", mebibytes(memory_).c_str());

    std::printf("  time on all threads, ms per frame:\n");
    int column = 0;
    of.each_system([&](std::string_view name, std::uint64_t nanoseconds) {
        std::printf("    %-14.*s %6.2f%s", static_cast<int>(name.size()), name.data(),
                    static_cast<double>(nanoseconds) / 1e6, ++column % 3 == 0 ? "\n" : "");
    });
    std::printf("%s\n", column % 3 == 0 ? "" : "\n");

    const std::size_t lies = of.lies();
    std::printf("  %s handles of dead entities checked again: %s\n",
                grouped(counts.graves.size()).c_str(),
                lies == 0 ? "none is alive" : (grouped(lies) + " are wrong").c_str());
    std::printf("  hash %016" PRIx64 " of the last state: seed %" PRIu64
                ", %s entities, %zu frames\n",
                of.hash(), given_.seed, grouped(given_.entities).c_str(), frames_);
    std::printf("  %s\n",
                frames_ == given_.frames
                    ? "(the same on any number of threads)"
                    : "(depends on the number of frames, which is not fixed: use --frames)");
    return lies == 0;
}

}  // namespace demo
