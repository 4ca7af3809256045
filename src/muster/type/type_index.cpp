#include <muster/type/type_index.hpp>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <typeinfo>

namespace muster::detail {

namespace {

/// Whether a mangled name means the same type in every file: not if a part of it is local to one.
/// g++ marks such types, and `==` knows the mark; clang does not. A name that only looks local is
/// known by its address instead, which is never wrong.
bool means_one_type(const char* name) {
    for (const char* local : {"_GLOBAL__N_", "ZL", "$_"})
        if (std::strstr(name, local) != nullptr) return false;
    return true;
}

struct named_type {
    const std::type_info* known;
    type_index number;
};

struct known_slot {
    std::string
        name;  // after a library was unloaded, another type's variable may be at its address
    type_index number;
};

struct registry {
    std::mutex guard;
    std::uint32_t last = 0;
    std::map<const void*, known_slot> by_slot;
    std::multimap<std::string, named_type> by_name;

    type_index number(const std::type_info* known) {
        if (known == nullptr || !means_one_type(known->name())) return type_index{++last};
        const auto [begin, end] = by_name.equal_range(known->name());
        for (auto at = begin; at != end; ++at)
            if (*at->second.known == *known) return at->second.number;
        const type_index made{last + 1};
        by_name.emplace(known->name(), named_type{known, made});
        ++last;
        return made;
    }
};

// Never destroyed: worlds in static storage end late.
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

}  // namespace muster::detail
