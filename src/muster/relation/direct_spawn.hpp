// direct_spawn: the fast path of `spawn(position{}, to(child_of, ship))`: an entity with one link of an
// exclusive relation, whose creation notifies no one. It constructs the link in the row, like a value,
// and appends the entity to the target's sources.
#pragma once

#include <muster/relation/link_argument.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

/// The part of one argument. A value has a fragment and is copied; a link has neither.
template <class Arg>
struct direct_argument {
    using type = std::remove_cvref_t<Arg>;
    static constexpr bool fits = !is_with<type> && std::is_trivially_copyable_v<type>;
    static constexpr std::size_t links = 0;
};
template <class Arg>
    requires is_to<std::remove_cvref_t<Arg>>
struct direct_argument<Arg> {
    using type = link_value_of<typename std::remove_cvref_t<Arg>::relation_type>;
    static constexpr bool fits = std::is_trivially_copyable_v<type>;
    static constexpr std::size_t links = 1;
};

/// Whether user code of no argument can run: the call cannot fail after its preparation.
template <class... Args>
inline constexpr bool can_spawn_directly =
    (... && direct_argument<Args>::fits) && (0 + ... + direct_argument<Args>::links) == 1;

/// Creates the entity, or returns the null id and has changed nothing: the call needs an edit.
template <class Layout, class... Args>
basic_id<Layout> spawn_directly(store<Layout>& into, const Args&... args) {
    const writer_guard writer(into, "spawn");
    if (!into.is_ready_to_append()) return {};
    relation_ref relation;
    std::uint64_t target = 0;
    const auto find_relation = [&]<class Arg>(const Arg& arg) {
        if constexpr (is_to<Arg>) {
            target = arg.target.value();
            if (into.alive(arg.target)) relation = relation_of(into, arg.relation, "spawn");
        }
    };
    (find_relation(args), ...);
    if (!relation) return {};
    fragment_data* set[sizeof...(Args)];
    std::size_t count = 0;
    const auto find_fragment = [&]<class Arg>(const Arg&) {
        if constexpr (!is_to<Arg>) set[count++] = &into.template ensure_fragment<Arg>();
    };
    (find_fragment(args), ...);
    const source_place place =
        relation.prepare_source(find_list_index<Args...>(), {set, count}, target);
    if (place.into == nullptr) return {};
    const std::size_t row = place.into->size;
    std::size_t next = 0;
    link_head* link = nullptr;
    const auto construct = [&]<class Arg>(const Arg& arg) {
        // SAFETY: the row after the last has room in each column of the chunk.
        if constexpr (is_to<Arg>) {
            using linked_type = linked<typename direct_argument<Arg>::type>;
            link = ::new (place.links + row * sizeof(linked_type)) linked_type(target, arg.value);
        } else {
            std::byte* const base = set[next++]->base(place.into->index);
            if constexpr (!is_tag<Arg>) ::new (base + row * sizeof(Arg)) Arg(arg);
        }
    };
    (construct(args), ...);
    const basic_id<Layout> made = into.append(*place.into);
    link->place = place.sources->append(made.value(), 0);
    link->level = place.level;
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
