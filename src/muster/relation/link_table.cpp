#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/link_table.hpp>
#include <muster/relation/relations.hpp>
#include <muster/relation/tree_clone.hpp>

#include <string>
#include <unordered_set>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

link_table::~link_table() {
    clear_sources();
}

void link_table::make_links(value_participant& room) {
    const fragment_key key{relations::key_kind, id_, is_exclusive ? 1u : 0u};
    const type_info& type = is_exclusive ? *types_.linked : type_info_of<link_list>;
    fragment_data& made = engine_.catalog.ensure_internal(key, type, own_.name);
    fragment_data* const old = std::exchange(links_, &made);
    scope_guard rollback([&] {
        drop_links();
        links_ = own_.alias = old;
    });
    engine_.catalog.take_part(made, room);
    rollback.dismiss();
    own_.alias = &made;
    made.remap.call = is_exclusive ? &remap_link : &remap_links;
}

void link_table::drop_links() noexcept {
    links_->participant = nullptr;
    own_.alias = nullptr;
    engine_.destroyer.rollback_spawn(links_->id);
}

bool link_table::is_null(std::uint64_t e) const noexcept {
    return e == engine_.entities.null();
}

// ---- reading -----------------------------------------------------------------------------------

link_list* link_table::find_list(std::uint64_t source) const noexcept {
    return is_exclusive ? nullptr
                        : static_cast<link_list*>(engine_.components.find(source, *links_));
}

link_head* link_table::find_link(std::uint64_t source) const noexcept {
    return is_exclusive ? static_cast<link_head*>(engine_.components.find(source, *links_))
                        : nullptr;
}

std::uint64_t link_table::target_of(std::uint64_t source) const noexcept {
    const link_head* const link = find_link(source);
    return link != nullptr ? link->target : engine_.entities.null();
}

source_list* link_table::find_sources(std::uint64_t target) const noexcept {
    return sources_.find(engine_.entities.key_of(target));
}

bool link_table::is_related(std::uint64_t source, std::uint64_t target) const noexcept {
    return find_value(source, target) != nullptr;
}

void* link_table::find_value(std::uint64_t source, std::uint64_t target) const noexcept {
    if (!engine_.entities.alive(source) || !engine_.entities.alive(target)) return nullptr;
    if (is_exclusive) {
        link_head* const link = find_link(source);
        if (link == nullptr || link->target != target) return nullptr;
        return reinterpret_cast<std::byte*>(link) + types_.value_offset;
    }
    link_list* const list = find_list(source);
    const std::uint32_t place = list != nullptr ? find_place(source, *list, target) : 0;
    if (list == nullptr || place == list->ends().places()) return nullptr;
    return types_.value->size != 0 ? list->value_at(place) : static_cast<void*>(list);
}

/// Returns the place of a target in the list of a source, or `places()`. Searches the shorter end.
std::uint32_t link_table::find_place(std::uint64_t source, const link_list& list,
                                     std::uint64_t target) const noexcept {
    const source_list* const sources = find_sources(target);
    if (sources == nullptr) return list.ends().places();
    if (list.ends().places() <= sources->places()) return list.ends().find(target);
    const std::uint32_t at = sources->find(source);
    if (at == sources->places()) return list.ends().places();
    const std::uint32_t place = (*sources)[at].place;
    // A dead target may share its key with a living one.
    return list.ends()[place].other == target ? place : list.ends().places();
}

std::size_t link_table::count_targets(std::uint64_t source) const noexcept {
    if (!engine_.entities.alive(source)) return 0;
    if (is_exclusive) return find_link(source) != nullptr ? 1 : 0;
    const link_list* const list = find_list(source);
    return list != nullptr ? list->size() : 0;
}

/// Whether a link was committed. Undoing the creation of an entity also ends links that were not: their
/// places are those of others.
bool link_table::is_listed(std::uint64_t e, const link_end& target) const noexcept {
    const source_list* const sources = find_sources(target.other);
    return sources != nullptr && target.place < sources->places() &&
           (*sources)[target.place].other == e && !(*sources)[target.place].is_hole;
}

// ---- sources -----------------------------------------------------------------------------------

source_list& link_table::ensure_sources(std::uint64_t target) {
    return sources_.ensure(engine_.entities.key_of(target),
                           source_list(engine_.entities.null(), !is_exclusive));
}

/// Makes room for a source of this target, and marks it.
source_list& link_table::reserve_sources(std::uint64_t target) {
    source_list* sources = find_sources(target);
    if (sources == nullptr) {
        engine_.catalog.mark_for_destroy(target);
        sources = &ensure_sources(target);
    }
    sources->reserve(1);
    return *sources;
}

void link_table::drop_sources(std::uint64_t target) noexcept {
    const std::uint64_t key = engine_.entities.key_of(target);
    if (!engine_.marks.test(key)) return;  // it was never a target
    source_list* const found = sources_.find(key);
    if (found == nullptr) return;
    found->free();
    sources_.erase(key);
}

void link_table::clear_sources() noexcept {
    for (std::uint64_t key = sources_.next(0); key != sources_.none; key = sources_.next(key + 1))
        sources_[key].free();
    sources_ = {};
}

/// Closes the holes of a source's list, and corrects the places at its targets.
void link_table::close_holes(link_list& list) const noexcept {
    list.close([&](std::uint32_t at) {
        const link_end& end = list.ends()[at];
        find_sources(end.other)->set_place(end.place, at);
    });
}

/// Closes the holes of a target's list, and corrects the places at its sources.
void link_table::close_holes(std::uint64_t target) noexcept {
    source_list* const sources = find_sources(target);
    if (sources == nullptr || !sources->is_sparse()) return;
    sources->close([&](std::uint32_t at) {
        const link_end end = (*sources)[at];
        if (is_exclusive)
            find_link(end.other)->place = at;
        else
            find_list(end.other)->ends()[end.place].place = at;
        engine_.changes.mark_written(end.other, *links_);
    });
}

// ---- cycles ------------------------------------------------------------------------------------

void link_table::refuse_cycle(const link_step& made) const {
    if (made.e == made.to) raise_cycle(made.e, made.to);
    const source_list* const below = find_sources(made.e);
    if (below == nullptr || below->size() == 0) return;
    if (!is_exclusive) {
        if (is_above(made.to, made.e)) raise_cycle(made.e, made.to);
        return;
    }
    std::uint64_t up = made.to;
    if (is_leveled)
        for (std::uint32_t at = level_of(up); at > made.level; --at) up = target_of(up);
    else
        while (!is_null(up) && up != made.e) up = target_of(up);
    if (up == made.e) raise_cycle(made.e, made.to);
}

/// Whether a path of links leads from `from` to `to`.
bool link_table::is_above(std::uint64_t from, std::uint64_t to) const {
    std::unordered_set<std::uint64_t> seen{from};
    array_list<std::uint64_t> open{from};
    while (!open.empty()) {
        const std::uint64_t e = open.back();
        open.pop_back();
        if (e == to) return true;
        const link_list* const list = find_list(e);
        if (list == nullptr) continue;
        const link_array& ends = list->ends();
        for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1))
            if (seen.insert(ends[i].other).second) open.push_back(ends[i].other);
    }
    return false;
}

void link_table::raise_cycle(std::uint64_t e, std::uint64_t target) const {
    constexpr std::size_t most = 8;
    std::string path = engine_.errors.describe(e);
    std::size_t length = 0;
    for (std::uint64_t up = target; is_exclusive && !is_null(up); up = target_of(up)) {
        if (++length <= most) path += text(" -> ", engine_.errors.describe(up));
        if (up == e) break;
    }
    if (length > most) path += text(" ... (", length, " links)");
    if (!is_exclusive) path += text(" -> ", engine_.errors.describe(target), " -> ... -> itself");
    raise(errc::cycle, text(name(), " is acyclic, but this link would close a cycle: ", path));
}

}  // namespace MUSTER_NAMESPACE::detail
