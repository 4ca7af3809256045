// open_world: a world whose parts a test may read, and checks of its links by brute force.
#pragma once

#include <muster/muster.hpp>
#include <muster/relation/relations.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace muster::test {

template <class Layout = layouts::bound>
struct open_world : basic_world<Layout> {
    using basic_world<Layout>::basic_world;
    [[nodiscard]] detail::store<Layout>& parts() noexcept {
        return this->detail::world_base<Layout>::store_;
    }
    /// Returns the relation of a C++ type, or null before its first use.
    template <class R>
    [[nodiscard]] const detail::relation_data* find_data() {
        const detail::relations* const all = detail::relations::find(parts());
        return all != nullptr ? all->find(parts().template find_fragment<R>()) : nullptr;
    }
    /// Returns the word of an entity's group in a relation.
    template <class R>
    [[nodiscard]] std::uint64_t word_in(basic_id<Layout> e) {
        const detail::relation_data* const data = find_data<R>();
        if (data == nullptr) return 0;
        return parts().components.chunk_of(e.value()).word_of(data->links());
    }
};

/// Compares the levels of all entities, and the words of their chunks, with the links above them.
/// Returns what differs first, or nothing.
template <class R, class Layout>
[[nodiscard]] std::string wrong_level(open_world<Layout>& w) {
    const detail::relation_data* const relation = w.template find_data<R>();
    if (relation == nullptr) return {};
    for (const auto e : w.entities()) {
        std::uint32_t level = 0;
        for (auto up = w.template target<R>(e); up; up = w.template target<R>(up)) ++level;
        const std::string text = to_string(e) + " at level " + std::to_string(level);
        if (relation->level_of(e.value()) != level)
            return text + " has the level " + std::to_string(relation->level_of(e.value()));
        if (w.template word_in<R>(e) != std::min<std::uint64_t>(level, 63))
            return text + " has the word " + std::to_string(w.template word_in<R>(e));
    }
    return {};
}

/// Like `wrong_level`, for the words of a grouping relation.
template <class R, class Layout>
[[nodiscard]] std::string wrong_group(open_world<Layout>& w) {
    for (const auto e : w.entities())
        if (const auto target = w.template target<R>(e); target) {
            if (w.template word_in<R>(e) != target.value())
                return to_string(e) + " is not in the group of " + to_string(target);
        } else if (w.template word_in<R>(e) != 0) {
            return to_string(e) + " is in a group";
        }
    return {};
}

}  // namespace muster::test
