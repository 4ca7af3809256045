// sparse_toggle: the fast paths for entities that keep the slot of a sparse value, such as a state
// that they enter and leave each frame. These paths toggle a bit and the entry of the entity.
#pragma once

#include <muster/change/gate.hpp>
#include <muster/id/id.hpp>
#include <muster/storage/sparse_set.hpp>
#include <muster/store/bound_value.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Stores a value of an entity that keeps a slot or, if it `Replaces`, has a value. False, and
/// nothing has changed, otherwise.
template <bool Replaces, class Layout, class Arg>
bool try_fast_put(basic_id<Layout> e, sparse_set& set, gate& changes, bound_value<Arg>& value) {
    using type = typename bound_value<Arg>::type;
    constexpr std::size_t size = value_size<type>;
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const sparse_set::entry_words entries = set.fast_insert_entries();
    if (!entries.cover(e.key())) [[unlikely]]
        return false;
    sparse_entry& entry = entries[e.key()];
    std::uint64_t here = ids.read(entry, e.value());
    bool is_there = false;
    if (here - ids.kept() < ids.slot_limit()) [[likely]]
        here -= ids.kept();
    else if (is_there = Replaces && here < ids.slot_limit(); !is_there)
        return false;
    const slot_index slot{static_cast<std::uint32_t>(here)};
    if constexpr (size != 0 && !is_pinned<type>) {
        const guard_if<bound_value<Arg>::is_nontrivial> busy(changes);
        std::byte* const room = set.template at_of<size>(slot);
        if (is_there)
            value.assign(room, value.where());
        else
            value.construct(room, value.where());
    }
    if (!is_there) set.begin_value(slot, entry, ids);
    return true;
}
/// Removes the value of an entity, which keeps its slot. False, and nothing has changed, if it has
/// none or if that needs more.
template <class Layout>
bool try_fast_remove(basic_id<Layout> e, sparse_set& set) noexcept {
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const sparse_set::entry_words entries = set.fast_remove_entries();
    if (!entries.cover(e.key())) [[unlikely]]
        return false;
    sparse_entry& entry = entries[e.key()];
    const std::uint64_t here = ids.read(entry, e.value());
    if (here >= ids.slot_limit()) [[unlikely]]
        return false;
    set.end_value(slot_index{static_cast<std::uint32_t>(here)}, entry, ids);
    return true;
}

}  // namespace MUSTER_NAMESPACE::detail
