// Any text as JSON of several types: it is refused, or gives a value that reads back exactly.
#include <muster/reflect.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

using namespace muster;

enum class mood : std::int8_t { low = -3, calm = 0, angry = 3 };
struct node {
    int value = 0;
    std::vector<node> children;
};
struct goblin {
    bool wild = false;
    std::uint16_t hit_points = 10;
    double weight = 1;
    float height = 2;
    mood now = mood::calm;
    std::string name;
    std::optional<std::optional<int>> rank;
    std::map<std::string, node> skills;
    std::unordered_map<std::int64_t, std::string> words;
    std::set<entity> friends;
    std::array<basic_id<layouts::compact>, 2> legs{};
    std::variant<std::monostate, std::string, std::pair<int, bool>> other;
};

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

template <class T>
void run(std::string_view text, bool skips_unknown) {
    std::string written;
    try {
        written = to_json(from_json<T>(text, {.skips_unknown = skips_unknown, .most_levels = 30}));
    } catch (const error& thrown) {
        require(thrown.code() == errc::bad_json, "a text is refused with bad_json");
        require(std::string_view(thrown.what()).starts_with("line "), "an error names the place");
        return;
    }
    require(to_json(from_json<T>(written)) == written, "what was written reads back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    // SAFETY: any bytes are characters.
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const bool skips_unknown = (data[0] & 0x80) != 0;
    switch (data[0] % 8) {
    case 0: run<double>(text, skips_unknown); break;
    case 1: run<float>(text, skips_unknown); break;
    case 2: run<std::string>(text, skips_unknown); break;
    case 3: run<node>(text, skips_unknown); break;
    case 4: run<std::vector<std::int8_t>>(text, skips_unknown); break;
    default: run<goblin>(text, skips_unknown); break;
    }
    return 0;
}
