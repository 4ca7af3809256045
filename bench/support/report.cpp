#include "support/report.hpp"

#include <muster/base/config.hpp>

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>

namespace muster::bench {
namespace {

std::string quoted(std::string_view text) {
    std::string made = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') made += '\\';
        made += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return made + '"';
}
std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text;
}

/// "2 × AMD EPYC, Linux 6.1.0"
std::string machine() {
    std::string model = "unknown processor";
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) {
            model = line.substr(line.find(':') + 2);
            break;
        }
    utsname system{};
    uname(&system);
    return std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + " × " + model + ", " + system.sysname +
           " " + system.release;
}

std::string compiler() {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

const char* unit(kind how) {
    return how == kind::bytes ? "bytes" : "ns";
}

void write_context(std::ofstream& out, const std::string& conditions) {
    out << "  \"context\": {\n"
        << "    \"date\": " << quoted(today()) << ",\n"
        << "    \"machine\": " << quoted(machine()) << ",\n"
        << "    \"compiler\": " << quoted(compiler()) << ",\n"
        << "    \"flags\": " << quoted(MUSTER_BENCH_FLAGS) << ",\n"
        << "    \"conditions\": " << quoted(conditions) << ",\n"
        << "    \"versions\": {\"Muster\": \"" << MUSTER_VERSION_MAJOR << "."
        << MUSTER_VERSION_MINOR << "." << MUSTER_VERSION_PATCH << "\"";
    for (const peer& other : peers())
        out << ", " << quoted(other.name) << ": " << quoted(other.version);
    out << "}\n  },\n";
}

}  // namespace

double figures::least() const {
    return rounds.empty() ? 0 : *std::min_element(rounds.begin(), rounds.end());
}

void show(const row& now, std::size_t number, std::size_t of, bool is_done) {
    const bool is_terminal = isatty(STDERR_FILENO) != 0;
    if (!is_done && !is_terminal) return;
    std::fprintf(stderr, "%s[%3zu/%zu] %-28s %9zu ", is_terminal ? "\r\033[K" : "", number, of,
                 std::string(now.workload->name).c_str(), now.size);
    for (const figures& value : now.all)
        if (!value.rounds.empty())
            std::fprintf(stderr, " %s %.3g", value.contestant.c_str(), value.least());
    if (is_done) std::fprintf(stderr, "\n");
}

bool write_json(const std::string& path, const std::vector<row>& rows,
                const std::string& conditions) {
    std::ofstream out(path);
    out << "{\n";
    write_context(out, conditions);
    out << "  \"rows\": [";
    const char* separator = "\n";
    for (const row& one : rows)
        for (const figures& of : one.all) {
            out << separator << "    {\"group\": " << quoted(one.workload->group)
                << ", \"workload\": " << quoted(one.workload->name) << ", \"n\": " << one.size
                << ", \"contestant\": " << quoted(of.contestant) << ", \"unit\": \""
                << unit(one.workload->kind) << "\", \"value\": " << number(of.least())
                << ", \"rounds\": [";
            for (std::size_t i = 0; i < of.rounds.size(); ++i)
                out << (i == 0 ? "" : ", ") << number(of.rounds[i]);
            out << "]}";
            separator = ",\n";
        }
    out << "\n  ]\n}\n";
    return out.good();
}

}  // namespace muster::bench
