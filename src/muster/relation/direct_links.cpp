#include <muster/engine/engine.hpp>
#include <muster/relation/direct_links.hpp>
#include <muster/relation/relation_data.hpp>

#include <iterator>
#include <new>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

bool direct_links::is_possible(std::uint64_t e) const noexcept {
    return engine_.gate.is_idle() && of_.is_quiet() && of_.links().implied.empty() &&
           !engine_.entities.is_guest(e);
}

// ---- links of new entities ---------------------------------------------------------------------

source_place direct_links::prepare_source(list_index types, slice<fragment_data* const> set,
                                          std::uint64_t target) {
    if (!of_.is_exclusive) return {};
    const std::uint32_t level = of_.is_leveled ? of_.levels().below(of_.level_of(target)) : 0;
    const std::uint64_t word = of_.is_leveled    ? relation_levels::word_of(level)
                               : of_.is_grouping ? target
                                                 : 0;
    const std::size_t hash = static_cast<std::size_t>(types) + word * 5;
    source_chunk& known = recent_[hash % std::size(recent_)];
    if (known.types != types || known.word != word || known.epoch != engine_.graph.epoch())
        [[unlikely]] {
        chunk_data* const found = find_plain_chunk(set, word);
        if (found == nullptr) return {};
        known = {types, word, engine_.graph.epoch(), found};
    }
    chunk_data& into = *known.chunk;
    if (into.size == into.capacity) [[unlikely]]
        return {};
    source_list& sources = of_.reserve_sources(target);
    return {&into, of_.links().base(into.index), &sources, level & relation_levels::most};
}

/// Returns the chunk of the sources with these fragments, if it may grow without notice.
chunk_data* direct_links::find_plain_chunk(slice<fragment_data* const> set, std::uint64_t word) {
    array_list<fragment_data*> all(set.data(), set.data() + set.size());
    all.push_back(&of_.links());
    chunk_data& given = engine_.catalog.ensure_set(all);
    if (engine_.catalog.has_sparse_part(given) || engine_.catalog.is_ordered(given)) return nullptr;
    chunk_data& into = engine_.catalog.cloned_chunk(engine_.graph.empty_chunk(), given);
    const bool is_plain = &into == &given && into.has_plain_rows() && !into.is_nontrivial &&
                          !engine_.notifier.notifies_first(into, given);
    if (!is_plain) return nullptr;
    return of_.links().has_word ? &engine_.graph.regroup(into, {&word, 1}) : &into;
}

// ---- links of any entity -----------------------------------------------------------------------

auto direct_links::relate(std::uint64_t e, location at, std::uint64_t target, const change& link)
    -> effect {
    if (!is_possible(e)) return effect::unknown;
    return of_.is_exclusive ? move_link(e, at, target, link) : add_link(e, target, link);
}

/// Moves the link of an entity to another target, or assigns its value.
auto direct_links::move_link(std::uint64_t e, location at, std::uint64_t target,
                             const change& given) -> effect {
    const type_info& type = *of_.links().type;
    std::byte* const base = of_.links().base(at.chunk);
    if (base == nullptr || !given.is_bytes() || type.destroy != nullptr) return effect::unknown;
    // SAFETY: the fragment stores links of this size.
    auto& link = *reinterpret_cast<link_head*>(base + at.row * type.size);
    const std::uint64_t from = link.target;
    std::uint32_t place = link.place;
    const std::uint32_t level = link.level;
    source_list* left = nullptr;
    if (from != target) {
        // A target of the level above is not below the entity: the link closes no cycle.
        if (of_.is_grouping || (of_.is_leveled && of_.level_of(target) + 1 != level))
            return effect::unknown;
        if (of_.is_acyclic && !of_.is_leveled) of_.refuse_cycle({e, from, target, place, level});
        source_list& sources = of_.reserve_sources(target);
        left = of_.find_sources(from);
        left->erase(place);
        place = sources.append(e, 0);
    }
    copy_bytes(&link, given.self, type.size);
    link.place = place;
    link.level = level & relation_levels::most;
    if (left == nullptr) return effect::none;
    if (left->is_sparse()) of_.close_holes(from);
    return effect::changed;
}

/// Adds a link to those of an entity, or assigns its value.
auto direct_links::add_link(std::uint64_t e, std::uint64_t target, const change& given) -> effect {
    // SAFETY: the caller owns the list, which has one link, and passed it to be moved.
    auto& added = *static_cast<link_list*>(const_cast<void*>(given.self));
    link_list* const list = of_.find_list(e);
    if (list != nullptr) {
        const std::uint32_t known = of_.find_place(e, *list, target);
        if (known != list->ends().places()) {
            list->swap_value(known, added, 0);
            return effect::none;
        }
    }
    if (of_.is_acyclic) of_.refuse_cycle({e, engine_.entities.null(), target});
    source_list& sources = of_.reserve_sources(target);
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
link_list& direct_links::insert_list(std::uint64_t e, link_list&& list) {
    sparse_set& set = *of_.links().sparse_values;
    engine_.catalog.mark_for_destroy(e);
    engine_.mover.prepare_sparse(set, e);
    const slot_index slot = set.take();
    // SAFETY: the slot is free, and stores lists.
    auto* const stored = ::new (set.at(slot)) link_list(std::move(list));
    set.attach(e, slot);
    return *stored;
}

auto direct_links::unrelate(std::uint64_t e, std::uint64_t target) -> effect {
    if (of_.is_exclusive || !is_possible(e)) return effect::unknown;
    link_list* const list = of_.find_list(e);
    if (list == nullptr) return effect::none;
    const std::uint32_t at = of_.find_place(e, *list, target);
    if (at == list->ends().places()) return effect::none;
    if (list->size() == 1) return effect::unknown;  // the entity loses its fragment
    of_.find_sources(target)->erase(list->ends()[at].place);
    {
        const busy_guard busy(engine_.gate);
        list->erase(at);
    }
    of_.close_holes(*list);
    of_.close_holes(target);
    return effect::changed;
}

}  // namespace MUSTER_NAMESPACE::detail
