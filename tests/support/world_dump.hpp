// world_dump: the observable state of a world as text, so that "unchanged" is one comparison.
#pragma once

#include <muster/world/world.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster::test {

// A component's value as text. A test that defines a type also defines its overload.
inline std::string text_of(const std::string& text) {
    return detail::text("\"", text, "\"");
}
inline std::string text_of(int value) {
    return std::to_string(value);
}

/// "7[2]", without the world, so that two worlds can be compared. Versions count from `base`.
template <class Layout>
std::string text_of(basic_id<Layout> e, std::uint64_t base) {
    return detail::text(e.key(), "[", e.version() - base, "]");
}

/// The chunks that living entities are in, by the first entity of each.
template <class Layout>
std::vector<basic_chunk<Layout>> chunks_of(basic_world<Layout>& w) {
    std::vector<basic_chunk<Layout>> found;
    for (const basic_id<Layout> e : w.entities()) {
        const basic_chunk<Layout> here = w.locate(e).chunk;
        if (here && std::ranges::find(found, here) == found.end()) found.push_back(here);
    }
    return found;
}

namespace dumping {

template <class Layout>
std::string list(std::span<const basic_id<Layout>> ids, std::uint64_t base) {
    std::string made;
    for (const basic_id<Layout> e : ids) made += detail::text(" ", text_of(e, base));
    return made;
}

/// The T of `e` according to every call that reads it, which must agree; empty if `e` has none.
template <class T, class Layout>
std::string value(basic_world<Layout>& w, basic_id<Layout> e) {
    const auto [chunk, row] = w.locate(e);
    const T* const found = w.template try_get<T>(e);
    const bool has = w.template has<T>(e);
    const std::string name(detail::type_name<T>());
    bool agree = has == (found != nullptr) && has == (chunk && chunk.template has<T>());
    if constexpr (!detail::is_tag<T>)
        if (has) agree = agree && found == &chunk.template components<T>()[row];
    if (!agree) return detail::text(" CONTRADICTION about ", name);
    return has ? detail::text(" ", name, "=", text_of(*found)) : std::string();
}

}  // namespace dumping

/// The size, the living entities by key with name, position and values, and the chunks row by row.
/// Equal worlds return equal text, if `base` is the first version of each.
template <class Layout, class... Ts>
std::string dump(basic_world<Layout>& w, std::uint64_t base = 0) {
    const std::vector<basic_chunk<Layout>> chunks = chunks_of(w);
    std::string made = detail::text("size ", w.size(), "\n");
    for (const basic_id<Layout> e : w.entities()) {
        const auto [chunk, row] = w.locate(e);
        const auto number =
            static_cast<std::size_t>(std::ranges::find(chunks, chunk) - chunks.begin());
        made += text_of(e, base);
        if (!w.alive(e)) made += " NOT ALIVE";
        if (const std::string name(w.name(e)); !name.empty()) {
            const std::vector<basic_id<Layout>> all = w.lookup_all(name);
            made += detail::text(" \"", name, "\" of", dumping::list<Layout>(all, base));
        }
        if (w.empty(e) == static_cast<bool>(chunk)) made += " CONTRADICTION about being empty";
        if (chunk) made += detail::text(" in ", number, " row ", row);
        (made.append(dumping::value<Ts>(w, e)), ...);
        made += "\n";
    }
    for (std::size_t i = 0; i < chunks.size(); ++i)
        made += detail::text("chunk ", i, " <", dumping::list<Layout>(chunks[i].fragments(), base),
                             " >:", dumping::list<Layout>(chunks[i].entities(), base), "\n");
    (made.append(
         detail::text(std::string(detail::type_name<Ts>()), ": ", w.template count<Ts>(), "\n")),
     ...);
    return made;
}

}  // namespace muster::test
