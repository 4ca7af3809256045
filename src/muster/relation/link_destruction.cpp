#include <muster/base/error.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/entity/destroy_participant.hpp>
#include <muster/relation/link_destruction.hpp>
#include <muster/relation/relation_data.hpp>

#include <unordered_map>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

void link_destruction::collect(destroy_set& dying, std::uint64_t e) const {
    if (e == of_.id()) dying.add(of_.links().id);
    if (e == of_.links().id) dying.add(of_.id());
    if (of_.policy != target_policy::destroy_sources) return;
    of_.each_source(e, [&](const link_end& source) { dying.add(source.other); });
}

void link_destruction::check(const destroy_set& dying) const {
    if (of_.policy != target_policy::refuse || of_.has_no_sources() || dying.has(of_.links().id))
        return;
    for (const std::uint64_t e : dying.all()) refuse_end(dying, e);
}

/// Throws if a source survives this entity.
void link_destruction::refuse_end(const destroy_set& dying, std::uint64_t e) const {
    std::size_t count = 0;
    std::uint64_t first = engine_.entities.null();
    of_.each_source(e, [&](const link_end& source) {
        if (dying.has(source.other)) return;
        if (count++ == 0) first = source.other;
    });
    if (count == 0) return;
    raise(errc::still_related,
          text(engine_.errors.describe(e), " cannot be destroyed: ", count,
               count == 1 ? " entity is" : " entities are", " still related to it by ", of_.name(),
               ", the first is ", engine_.errors.describe(first)));
}

/// Returns the first target above that survives, or the null id.
std::uint64_t link_destruction::survivor(std::uint64_t target, const destroy_set& dying) const {
    std::size_t most = dying.size();  // a cycle ends here
    while (!of_.is_null(target) && dying.has(target))
        target = most-- == 0 ? engine_.entities.null() : of_.target_of(target);
    return target;
}

void link_destruction::release(const destroy_set& dying, array_list<fragment_loss>& losses) {
    effect made{&dying, {}, {}, {}, {}};
    if (of_.own().hooks.has_logs()) list_notes(dying, made);
    if (of_.policy == target_policy::destroy_sources || of_.has_no_sources() ||
        dying.has(of_.links().id)) {  // no source survives with a link
        if (!made.notes.empty()) effects_.push_back(std::move(made));
        return;
    }
    array_list<link_step> moved;                          // of a leveled relation
    std::unordered_map<std::uint64_t, std::size_t> lost;  // how many links, by source
    for (const std::uint64_t e : dying.all())
        of_.each_source(e, [&](const link_end& source) {
            if (dying.has(source.other)) return;
            const std::uint64_t null = engine_.entities.null();
            if (!of_.is_exclusive) {
                ++lost[source.other];
                return made.shrunk.push_back({source.other, e, null, source.place});
            }
            const std::uint64_t to =
                of_.policy == target_policy::pass_on ? survivor(e, dying) : null;
            const bool is_lost = of_.is_null(to) || to == source.other;
            if (is_lost)
                losses.push_back({source.other, &of_.links()});
            else
                made.passed_on.push_back({source.other, e, to});
            if (of_.is_grouping && !is_lost)
                losses.push_back({source.other, &of_.links(), true, to});
            if (of_.is_leveled)
                moved.push_back({source.other, e, to, 0, of_.level_of(source.other)});
        });
    made.shrunk.erase_if([&](const link_step& link) {
        std::size_t& count = lost[link.e];
        const bool is_all = count == 0 || count == of_.find_list(link.e)->size();
        if (is_all && count != 0) losses.push_back({link.e, &of_.links()});
        if (is_all) count = 0;
        return is_all;
    });
    if (!moved.empty()) made.levels = of_.levels().after(dying, std::move(moved), losses);
    if (!made.passed_on.empty() || !made.shrunk.empty() || !made.levels.empty() ||
        !made.notes.empty())
        effects_.push_back(std::move(made));
}

/// Lists the sources that lose links, or whose links are passed on.
void link_destruction::list_notes(const destroy_set& dying, effect& made) const {
    if (dying.has(of_.links().id)) {
        for (const std::uint64_t e : engine_.components.owners_of(of_.links()))
            made.notes.add(e, hook_kind::remove);
        return;
    }
    for (const std::uint64_t e : dying.all()) {
        of_.each_source(e, [&](const link_end& source) {
            if (dying.has(source.other)) return;
            const std::uint64_t to = of_.policy == target_policy::pass_on && of_.is_exclusive
                                         ? survivor(e, dying)
                                         : engine_.entities.null();
            const bool is_lost = of_.is_null(to) || to == source.other;
            made.notes.add(source.other, is_lost ? hook_kind::remove : hook_kind::insert);
        });
        bool has_links = false;  // that observers have seen
        of_.each_target(
            e, [&](const link_end& target) { has_links = has_links || of_.is_listed(e, target); });
        if (has_links) made.notes.add(e, hook_kind::remove);
    }
}

void link_destruction::cancel(const destroy_set& dying) noexcept {
    if (!effects_.empty() && effects_.back().of == &dying) effects_.pop_back();
}

void link_destruction::prepare(const destroy_set& dying) {
    if (effects_.empty() || effects_.back().of != &dying) return;
    const effect& made = effects_.back();
    made.notes.prepare(of_.own().hooks);
    for (const link_step& link : made.passed_on) {
        of_.reserve_target(link.to);
    }
    // Hooks may begin another destruction.
    first_error ignored;
    const auto call_for = [&](hook_kind kind, const array_list<link_step>& steps, std::size_t i) {
        const auto call_one = [&] { of_.call(kind, steps[i]); };
        if (dying.is_undo)
            ignored.attempt(call_one);
        else
            call_one();
    };
    for (std::size_t i = 0; i < effects_.back().shrunk.size(); ++i)
        call_for(hook_kind::remove, effects_.back().shrunk, i);
    for (std::size_t i = 0; i < effects_.back().passed_on.size(); ++i)
        call_for(hook_kind::insert, effects_.back().passed_on, i);
}

void link_destruction::finish(const destroy_set& dying) noexcept {
    effect made{&dying, {}, {}, {}, {}};
    if (!effects_.empty() && effects_.back().of == &dying) {
        made = std::move(effects_.back());
        effects_.pop_back();
    }
    made.notes.commit(of_.own().hooks);
    if (dying.has(of_.links().id)) return of_.clear();
    for (const link_step& link : made.passed_on) {
        link_head& head = *of_.find_link(link.e);
        head.target = link.to;
        head.place = of_.find_sources(link.to)->append(link.e, 0);
        engine_.changes.mark_written(link.e, of_.links());
    }
    of_.levels().set(made.levels);
    {
        const busy_guard busy(engine_.gate);
        for (const link_step& link : made.shrunk) of_.find_list(link.e)->erase(link.place);
    }
    for (const link_step& link : made.shrunk) engine_.changes.mark_written(link.e, of_.links());
    const bool has_left = leave_survivors(dying);
    for (const std::uint64_t e : dying.all()) of_.drop_sources(e);
    for (const link_step& link : made.shrunk)
        if (link_list* const list = of_.find_list(link.e)) of_.close_holes(*list);
    for (std::size_t i = 0; i < dying.size() && has_left; ++i)
        of_.each_target(dying.all()[i], [&](const link_end& target) {
            if (!dying.has(target.other)) of_.close_holes(target.other);
        });
}

/// The sources of a new entity are entities that are undone, too, or its partners in a symmetric
/// relation, which lose their links to it. Those of an exclusive relation are related last.
void link_destruction::abandon(std::uint64_t e) noexcept {
    of_.each_target(e, [&](const link_end& target) {
        if (!of_.is_listed(e, target)) return;
        of_.find_sources(target.other)->erase(target.place);
        of_.close_holes(target.other);
    });
    of_.each_source(e, [&](const link_end& source) {
        link_list* const list = of_.find_list(source.other);
        if (list == nullptr) return;
        const busy_guard busy(engine_.gate);
        list->erase(source.place);
        of_.close_holes(*list);
        if (list->size() != 0) return;
        sparse_set& set = *of_.links().sparse_values;
        const slot_index slot = set.find(source.other);
        set.detach(source.other, slot);
        set.drop(slot);
    });
    of_.drop_sources(e);
}

/// Removes the links of these entities from the lists of targets that survive. Returns whether there
/// were any.
bool link_destruction::leave_survivors(const destroy_set& dying) noexcept {
    bool has_left = false;
    const auto leave = [&](std::uint64_t e, const link_end& target) {
        if (dying.has(target.other) || !of_.is_listed(e, target)) return;
        of_.find_sources(target.other)->erase(target.place);
        has_left = true;
    };
    for (const std::uint64_t e : dying.rest())
        of_.each_target(e, [&](const link_end& target) { leave(e, target); });
    for (const chunk_data* chunk : dying.whole()) {
        const std::byte* const base = of_.is_exclusive ? of_.links().base(chunk->index) : nullptr;
        for (std::size_t row = 0; row < chunk->size; ++row) {
            if (!of_.is_exclusive)
                of_.each_target(chunk->id_at(row),
                                [&](const link_end& target) { leave(chunk->id_at(row), target); });
            if (base == nullptr) continue;
            // SAFETY: the fragment stores links of this size.
            const auto& link =
                *reinterpret_cast<const link_head*>(base + row * of_.links().type->size);
            leave(chunk->id_at(row), {link.target, link.place});
        }
    }
    return has_left;
}

}  // namespace MUSTER_NAMESPACE::detail
