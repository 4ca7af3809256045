// The part of relation_data.hpp for changes outside of scopes of which no one is notified. They
// reserve memory, and then change both ends in place. All other changes are edits, in which the
// relation takes part.
#include <muster/engine/engine.hpp>
#include <muster/relation/relation_data.hpp>

#include <new>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

bool relation_data::is_quiet(std::uint64_t e) const noexcept {
    return engine_.gate.is_idle() && own_.hooks.is_quiet() && links_->hooks.is_quiet() &&
           links_->implied.empty() && !engine_.entities.is_guest(e);
}

auto relation_data::relate_directly(std::uint64_t e, location at, std::uint64_t target,
                                    const change& link) -> effect {
    if (!is_quiet(e)) return effect::unknown;
    return is_exclusive ? move_link(e, at, target, link) : add_link(e, target, link);
}

/// Moves the link of an entity to another target, or assigns its value.
auto relation_data::move_link(std::uint64_t e, location at, std::uint64_t target,
                              const change& given) -> effect {
    const type_info& type = *links_->type;
    std::byte* const base = links_->base(at.chunk);
    if (base == nullptr || !given.is_bytes() || type.destroy != nullptr) return effect::unknown;
    // SAFETY: the fragment stores links of this size.
    auto& link = *reinterpret_cast<link_head*>(base + at.row * type.size);
    const std::uint64_t from = link.target;
    std::uint32_t place = link.place;
    const std::uint32_t level = link.level;
    if (from != target) {
        if (is_grouping || (is_leveled && level_of(target) + 1 != level)) return effect::unknown;
        if (is_acyclic) refuse_cycle({e, from, target, place, level});
        link_array& sources = reserve_sources(target);
        find_sources(from)->erase(place);
        place = sources.append(e, 0);
    }
    copy_bytes(&link, given.self, type.size);
    link.place = place;
    link.level = level & relation_levels::most;
    if (from == target) return effect::none;
    close_holes(from);
    return effect::changed;
}

/// Adds a link to those of an entity, or assigns its value.
auto relation_data::add_link(std::uint64_t e, std::uint64_t target, const change& given) -> effect {
    // SAFETY: the caller owns the list, which has one link, and passed it to be moved.
    auto& added = *static_cast<link_list*>(const_cast<void*>(given.self));
    link_list* const list = find_list(e);
    if (list != nullptr) {
        const std::uint32_t known = find_place(e, *list, target);
        if (known != list->ends().places()) {
            list->swap_value(known, added, 0);
            return effect::none;
        }
    }
    if (is_acyclic) refuse_cycle({e, engine_.entities.null(), target});
    link_array& sources = reserve_sources(target);
    if (list == nullptr) {
        insert_list(e, std::move(added)).ends()[0].place = sources.append(e, 0);
    } else {
        list->reserve(1);
        const std::uint32_t at = list->take(added, 0);
        list->ends()[at].place = sources.append(e, at);
    }
    return effect::changed;
}

/// Stores the first links of an entity. May throw, and has changed nothing then.
link_list& relation_data::insert_list(std::uint64_t e, link_list&& list) {
    sparse_set& set = *links_->sparse_values;
    engine_.catalog.mark_for_destroy(e);
    engine_.mover.prepare_sparse(set, e);
    const slot_index slot = set.take();
    // SAFETY: the slot is free, and stores lists.
    auto* const stored = ::new (set.at(slot)) link_list(std::move(list));
    set.attach(e, slot);
    return *stored;
}

auto relation_data::unrelate_directly(std::uint64_t e, std::uint64_t target) -> effect {
    if (is_exclusive || !is_quiet(e)) return effect::unknown;
    link_list* const list = find_list(e);
    if (list == nullptr) return effect::none;
    const std::uint32_t at = find_place(e, *list, target);
    if (at == list->ends().places()) return effect::none;
    if (list->size() == 1) return effect::unknown;  // the entity loses its fragment
    find_sources(target)->erase(list->ends()[at].place);
    {
        const busy_guard busy(engine_.gate);
        list->erase(at);
    }
    close_holes(*list);
    close_holes(target);
    return effect::changed;
}

/// Makes room for a source of this target, and marks it.
link_array& relation_data::reserve_sources(std::uint64_t target) {
    engine_.catalog.mark_for_destroy(target);
    link_array& sources = ensure_sources(target);
    sources.reserve(1);
    return sources;
}

}  // namespace MUSTER_NAMESPACE::detail
