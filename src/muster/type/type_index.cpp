#include <muster/type/type_index.hpp>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <typeinfo>

namespace MUSTER_NAMESPACE::detail {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Whether a mangled name denotes the same type in every file, that is, no part of it is local to a
/// file. Local parts are named _GLOBAL__N_1 or $_0, or have an L before their length
/// (_ZN4gameL3runEv). The search for the L skips identifiers: a type may be called PUZZLE or
/// LEVEL2. A type that only looks local is identified by its address, which fails only if a shared
/// library hides the type.
bool means_one_type(const char* name) {
    for (const char* local : {"_GLOBAL__N_", "$_"})
        if (std::strstr(name, local) != nullptr) return false;
    for (const char* at = name; *at != 0;) {
        if (*at == 'L' && is_digit(at[1])) return false;
        if ((*at == 'L' && at[1] >= 'a' && at[1] <= 'z')) {  // Li42E: a literal
            at += std::strcspn(at, "E");
        } else if ((*at == 'S' || *at == 'T' || *at == 'A') &&
                   (is_digit(at[1]))) {  // S1_: a substitution
            at += std::strcspn(at, "_");
        } else if (is_digit(*at)) {
            std::size_t length = 0;
            while (is_digit(*at)) length = length * 10 + static_cast<std::size_t>(*at++ - '0');
            const bool is_name = length <= std::strlen(at) && *at != '_';  // E0_: a lambda's number
            if (is_name) at += length;
            if (is_name && *at == '_') at += 1 + std::strspn(at + 1, "_0123456789");
        } else {
            ++at;
        }
    }
    return true;
}

struct known_slot {
    std::string name;  // another type may reuse the address after a library was unloaded
    type_index number;
};

struct registry {
    std::mutex guard;
    std::uint32_t last = 0;
    std::map<const void*, known_slot> by_slot;
    std::map<std::string, type_index> by_name;  // mangled; see `means_one_type`

    type_index number(const std::type_info* known) {
        if (known == nullptr || !means_one_type(known->name())) return type_index{++last};
        const auto [place, is_new] = by_name.try_emplace(known->name(), type_index{last + 1});
        if (is_new) ++last;
        return place->second;
    }
};

// Never destroyed: worlds in static storage may use it until the program exits.
registry& types() {
    static auto* const all = new registry;
    return *all;
}

}  // namespace

type_index number_type(const void* slot, std::string_view name, const std::type_info* known) {
    registry& all = types();
    const std::lock_guard lock(all.guard);
    const auto found = all.by_slot.find(slot);
    if (found != all.by_slot.end() && found->second.name == name) return found->second.number;
    known_slot made{std::string(name), all.number(known)};
    return all.by_slot.insert_or_assign(slot, std::move(made)).first->second.number;
}

list_index number_list() noexcept {
    static std::atomic<std::uint32_t> last{0};
    return list_index{++last};
}

}  // namespace MUSTER_NAMESPACE::detail
