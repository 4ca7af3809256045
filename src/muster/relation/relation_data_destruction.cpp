// The part of relation_data.hpp for entities that are destroyed.
#include <muster/base/error.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/entity/destroy_participant.hpp>
#include <muster/relation/relation_data.hpp>

#include <unordered_map>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

void relation_data::collect(destroy_set& dying, std::uint64_t e) const {
    if (e == id_) dying.add(links_->id);
    if (e == links_->id) dying.add(id_);
    if (policy != target_policy::destroy_sources) return;
    each_source(e, [&](const link_end& source) { dying.add(source.other); });
}

void relation_data::check(const destroy_set& dying) const {
    if (policy != target_policy::refuse || sources_.empty() || dying.has(links_->id)) return;
    for (const std::uint64_t e : dying.all()) refuse_end(dying, e);
}

/// Throws if a source survives this entity.
void relation_data::refuse_end(const destroy_set& dying, std::uint64_t e) const {
    std::size_t count = 0;
    std::uint64_t first = engine_.entities.null();
    each_source(e, [&](const link_end& source) {
        if (dying.has(source.other)) return;
        if (count++ == 0) first = source.other;
    });
    if (count == 0) return;
    raise(errc::still_related,
          text(engine_.errors.describe(e), " cannot be destroyed: ", count,
               count == 1 ? " entity is" : " entities are", " still related to it by ", name(),
               ", the first is ", engine_.errors.describe(first)));
}

/// Returns the first target above that survives, or the null id.
std::uint64_t relation_data::survivor(std::uint64_t target, const destroy_set& dying) const {
    std::size_t most = dying.size();  // a cycle ends here
    while (!is_null(target) && dying.has(target))
        target = most-- == 0 ? engine_.entities.null() : target_of(target);
    return target;
}

void relation_data::release(const destroy_set& dying, array_list<fragment_loss>& losses) {
    destruction made{&dying, {}, {}, {}, {}};
    if (own_.hooks.has_logs()) list_notes(dying, made);
    if (policy == target_policy::destroy_sources || sources_.empty() ||
        dying.has(links_->id)) {  // no source survives with a link
        if (!made.notes.empty()) destructions_.push_back(std::move(made));
        return;
    }
    array_list<link_step> moved;                          // of a leveled relation
    std::unordered_map<std::uint64_t, std::size_t> lost;  // how many links, by source
    for (const std::uint64_t e : dying.all())
        each_source(e, [&](const link_end& source) {
            if (dying.has(source.other)) return;
            const std::uint64_t null = engine_.entities.null();
            if (!is_exclusive) {
                ++lost[source.other];
                return made.shrunk.push_back({source.other, e, null, source.place});
            }
            const std::uint64_t to = policy == target_policy::pass_on ? survivor(e, dying) : null;
            const bool is_lost = is_null(to) || to == source.other;
            if (is_lost)
                losses.push_back({source.other, links_});
            else
                made.passed_on.push_back({source.other, e, to});
            if (is_grouping && !is_lost) losses.push_back({source.other, links_, true, to});
            if (is_leveled) moved.push_back({source.other, e, to, 0, level_of(source.other)});
        });
    made.shrunk.erase_if([&](const link_step& link) {
        std::size_t& count = lost[link.e];
        const bool is_all = count == 0 || count == find_list(link.e)->size();
        if (is_all && count != 0) losses.push_back({link.e, links_});
        if (is_all) count = 0;
        return is_all;
    });
    if (!moved.empty()) made.levels = levels_.after(dying, std::move(moved), losses);
    if (!made.passed_on.empty() || !made.shrunk.empty() || !made.levels.empty() ||
        !made.notes.empty())
        destructions_.push_back(std::move(made));
}

/// Lists the sources that lose links, or whose links are passed on.
void relation_data::list_notes(const destroy_set& dying, destruction& made) {
    if (dying.has(links_->id)) {
        for (const std::uint64_t e : engine_.components.owners_of(*links_))
            made.notes.push_back({e, hook_kind::remove});
        return;
    }
    for (const std::uint64_t e : dying.all()) {
        each_source(e, [&](const link_end& source) {
            if (dying.has(source.other)) return;
            const std::uint64_t to = policy == target_policy::pass_on && is_exclusive
                                         ? survivor(e, dying)
                                         : engine_.entities.null();
            const bool is_lost = is_null(to) || to == source.other;
            made.notes.push_back({source.other, is_lost ? hook_kind::remove : hook_kind::insert});
        });
        bool has_links = false;  // that observers have seen
        each_target(e,
                    [&](const link_end& target) { has_links = has_links || is_listed(e, target); });
        if (has_links) made.notes.push_back({e, hook_kind::remove});
    }
}

void relation_data::cancel(const destroy_set& dying) noexcept {
    if (!destructions_.empty() && destructions_.back().of == &dying) destructions_.pop_back();
}

void relation_data::prepare(const destroy_set& dying) {
    if (destructions_.empty() || destructions_.back().of != &dying) return;
    const destruction& made = destructions_.back();
    prepare_notes(made.notes);
    for (const link_step& link : made.passed_on) {
        engine_.catalog.mark_for_destroy(link.to);
        now_.reserved.push_back(link.to);
        ensure_sources(link.to).reserve_another();
    }
    // Hooks may begin another destruction.
    first_error ignored;
    const auto call_for = [&](hook_kind kind, const array_list<link_step>& steps, std::size_t i) {
        const auto call_one = [&] { call(kind, steps[i]); };
        if (dying.is_undo)
            ignored.attempt(call_one);
        else
            call_one();
    };
    for (std::size_t i = 0; i < destructions_.back().shrunk.size(); ++i)
        call_for(hook_kind::remove, destructions_.back().shrunk, i);
    for (std::size_t i = 0; i < destructions_.back().passed_on.size(); ++i)
        call_for(hook_kind::insert, destructions_.back().passed_on, i);
}

void relation_data::finish(const destroy_set& dying) noexcept {
    destruction made{&dying, {}, {}, {}, {}};
    if (!destructions_.empty() && destructions_.back().of == &dying) {
        made = std::move(destructions_.back());
        destructions_.pop_back();
    }
    note(made.notes);
    if (dying.has(links_->id)) return clear();
    for (const link_step& link : made.passed_on) {
        link_head& head = *find_link(link.e);
        head.target = link.to;
        head.place = find_sources(link.to)->append(link.e, 0);
        engine_.changes.mark_written(link.e, *links_);
    }
    levels_.set(made.levels);
    {
        const busy_guard busy(engine_.gate);
        for (const link_step& link : made.shrunk) find_list(link.e)->erase(link.place);
    }
    for (const link_step& link : made.shrunk) engine_.changes.mark_written(link.e, *links_);
    const bool has_left = leave_survivors(dying);
    for (const std::uint64_t e : dying.all()) drop_sources(e);
    for (const link_step& link : made.shrunk)
        if (link_list* const list = find_list(link.e)) close_holes(*list);
    for (std::size_t i = 0; i < dying.size() && has_left; ++i)
        each_target(dying.all()[i], [&](const link_end& target) {
            if (!dying.has(target.other)) close_holes(target.other);
        });
}

/// The sources of a new entity are entities that are undone, too, or its partners in a symmetric
/// relation, which lose their links to it. Those of an exclusive relation are related last.
void relation_data::abandon(std::uint64_t e) noexcept {
    each_target(e, [&](const link_end& target) {
        if (!is_listed(e, target)) return;
        find_sources(target.other)->erase(target.place);
        close_holes(target.other);
    });
    each_source(e, [&](const link_end& source) {
        link_list* const list = find_list(source.other);
        if (list == nullptr) return;
        const busy_guard busy(engine_.gate);
        list->erase(source.place);
        close_holes(*list);
        if (list->size() != 0) return;
        sparse_set& set = *links_->sparse_values;
        const slot_index slot = set.find(source.other);
        set.detach(source.other, slot);
        set.drop(slot);
    });
    drop_sources(e);
}

/// Removes the links of these entities from the lists of targets that survive. Returns whether there
/// were any.
bool relation_data::leave_survivors(const destroy_set& dying) noexcept {
    bool has_left = false;
    const auto leave = [&](std::uint64_t e, const link_end& target) {
        if (dying.has(target.other) || !is_listed(e, target)) return;
        find_sources(target.other)->erase(target.place);
        has_left = true;
    };
    for (const std::uint64_t e : dying.rest())
        each_target(e, [&](const link_end& target) { leave(e, target); });
    for (const chunk_data* chunk : dying.whole()) {
        const std::byte* const base = is_exclusive ? links_->base(chunk->index) : nullptr;
        for (std::size_t row = 0; row < chunk->size; ++row) {
            if (!is_exclusive)
                each_target(chunk->id_at(row),
                            [&](const link_end& target) { leave(chunk->id_at(row), target); });
            if (base == nullptr) continue;
            // SAFETY: the fragment stores links of this size.
            const auto& link = *reinterpret_cast<const link_head*>(base + row * links_->type->size);
            leave(chunk->id_at(row), {link.target, link.place});
        }
    }
    return has_left;
}

/// Whether a link was committed. Undoing the creation of an entity also ends links that were not: their
/// places are those of others.
bool relation_data::is_listed(std::uint64_t e, const link_end& target) const noexcept {
    const source_list* const sources = find_sources(target.other);
    return sources != nullptr && target.place < sources->places() &&
           (*sources)[target.place].other == e && !(*sources)[target.place].is_hole;
}

void relation_data::drop_sources(std::uint64_t target) noexcept {
    const std::uint64_t key = engine_.entities.key_of(target);
    if (!engine_.marks.test(key)) return;  // it was never a target
    source_list* const found = sources_.find(key);
    if (found == nullptr) return;
    found->free();
    sources_.erase(key);
}

void relation_data::clear() noexcept {
    for (std::uint64_t key = sources_.next(0); key != sources_.none; key = sources_.next(key + 1))
        sources_[key].free();
    sources_ = {};
    now_.steps.clear();
    now_.reserved.clear();
    now_.arrived = now_.called = now_.committed = 0;
}

}  // namespace MUSTER_NAMESPACE::detail
