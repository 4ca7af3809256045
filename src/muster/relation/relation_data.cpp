#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/relation_data.hpp>
#include <muster/relation/row_regrouping.hpp>

namespace MUSTER_NAMESPACE::detail {

relation_data::relation_data(engine& owner, fragment_data& own, const link_types& types,
                             row_regrouping& rows) noexcept
    : link_table(owner, own, types),
      rows_(rows),
      levels_(owner, *this, rows),
      mirror_(owner, *this, rows),
      direct_(owner, *this),
      destruction_(owner, *this) {}

auto relation_data::combine(std::uint64_t e, const void* present, slice<void* const> given,
                            std::size_t& which) -> outcome {
    return edit_.combine(*this, e, present, given, which);
}

std::uint64_t relation_data::word_of(const void* value) const {
    if (!is_exclusive) return 0;
    const std::uint64_t target = static_cast<const link_head*>(value)->target;
    return is_leveled ? relation_levels::word_of(levels_.below(level_of(target))) : target;
}

/// Removing the link of an entity changes the levels of all below it, or the link of its partner.
bool relation_data::arrange(slice<std::uint64_t> all) const {
    if (is_leveled) levels_.arrange(all);
    return is_leveled || is_symmetric;
}

void relation_data::begin(std::size_t count) {
    now_.is_bulk = count > 1;
    for (const std::uint64_t target : now_.reserved)
        if (source_list* const sources = find_sources(target)) sources->end_reservations();
    now_.reserved.clear();
    now_.steps.clear();
    now_.notes.clear();
    now_.arrived = now_.called = now_.committed = 0;
    levels_.begin();
    mirror_.begin();
    rows_.begin();
    edit_.begin();
}

void relation_data::call(hook_kind kind, const link_step& what) {
    if (!own_.hooks.has_user(to_bits(kind))) return;
    link_step given = what;
    engine_.notifier.run(own_.hooks, kind, what.e, &given);
}

/// Calls the hooks of one link, and makes room for the notes of observers.
void relation_data::call_and_note(hook_kind kind, const link_step& what) {
    call(kind, what);
    if (!own_.hooks.has_logs()) return;
    const bool is_assigned = kind == hook_kind::insert && what.from == what.to;
    now_.notes.add(what.e, is_assigned ? hook_kind::assign : kind);
    now_.notes.prepare(own_.hooks);
}

void relation_data::leaving(std::uint64_t e, const void* value, bool is_removed) {
    const std::uint64_t null = engine_.entities.null();
    now_.left = now_.steps.size();
    now_.is_left_for_good = is_removed || edit_.is_of(e);
    if (is_exclusive) {
        const auto& link = *static_cast<const link_head*>(value);
        now_.steps.push_back({e, link.target, null, link.place, link.level});
        if (is_removed && is_leveled) levels_.plan(e, 0);
    } else if (edit_.is_of(e)) {
        for (const std::uint64_t target : edit_.removed()) now_.steps.push_back({e, target, null});
    } else {
        const link_array& ends = static_cast<const link_list*>(value)->ends();
        for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1))
            now_.steps.push_back({e, ends[i].other, null, ends[i].place});
    }
    // Partners lose their links to the entity.
    for (std::size_t i = now_.left; is_symmetric && now_.is_left_for_good && i < now_.steps.size();
         ++i)
        if (const link_step& gone = now_.steps[i]; gone.from != gone.e)
            mirror_.remove(gone.from, gone.e);
}

/// Links the partner of an exclusive relation, and frees the former one.
void relation_data::mirror_link(const link_step& made, const void* link) {
    if (now_.is_bulk)
        raise(errc::limit,
              text(name(), " is symmetric and exclusive: ", engine_.errors.describe(made.to),
                   " cannot be related to several entities at once"));
    if (!is_null(made.from) && made.from != made.to && made.from != made.e)
        mirror_.remove(made.from, made.e);
    if (made.to != made.e) mirror_.relate(made.to, made.e, link, false);
}

void relation_data::call_before(std::uint64_t) {
    rows_.reserve();
    mirror_.call_hooks();
    for (std::size_t i = now_.left; now_.is_left_for_good && i < now_.steps.size(); ++i)
        call_and_note(hook_kind::remove, now_.steps[i]);
}

/// Links that were never committed end without a notice.
void relation_data::ending(std::uint64_t e, const void*) {
    const std::uint64_t null = engine_.entities.null();
    if (!own_.hooks.has_user(to_bits(hook_kind::remove))) return;
    each_target(e, [&](const link_end& target) {
        if (is_listed(e, target)) call(hook_kind::remove, {e, target.other, null});
    });
}

void relation_data::arrived(std::uint64_t e, void* value, bool is_new) {
    const std::uint64_t null = engine_.entities.null();
    if (is_exclusive) {
        auto& link = *static_cast<link_head*>(value);
        if (is_new) now_.steps.push_back({e, null, link.target});
        link_step& made = is_new ? now_.steps.back() : now_.steps[now_.arrived++];
        made.to = link.target;
        if (made.from != made.to) reserve_source(made);
        if (is_symmetric) mirror_link(made, value);
        if (now_.is_bulk || made.to == e)
            join_group(e, value);  // a single clone may lead to itself
        if (!is_leveled) return;
        const std::uint32_t level = levels_.below(level_of(made.to));
        link.level = level & relation_levels::most;
        if (level != made.level) levels_.plan(e, level);
        return;
    }
    const bool is_edit = !is_new && edit_.is_of(e);
    const link_list& list = is_edit ? edit_.added() : *static_cast<const link_list*>(value);
    const link_array& ends = list.ends();
    std::size_t fresh = 0;
    for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1)) {
        const std::uint64_t target = ends[i].other;
        const bool is_known = is_edit && is_related(e, target);
        now_.steps.push_back({e, is_known ? target : null, target});
        if (is_known) continue;
        reserve_source(now_.steps.back());
        ++fresh;
    }
    if (is_edit) static_cast<link_list*>(value)->reserve(fresh);
    for (std::uint32_t i = ends.next(0); is_symmetric && i != ends.places(); i = ends.next(i + 1))
        if (ends[i].other != e) mirror_.relate(ends[i].other, e, list.value_at(i), now_.is_bulk);
}

/// Moves an entity whose clone stayed in the group of its prototype, although its link differs.
void relation_data::join_group(std::uint64_t e, const void* value) {
    if (!links_->has_word) return;
    const std::uint64_t word = word_of(value);
    if (engine_.components.chunk_of(e).word_of(*links_) != word)
        rows_.add(e, {links_, change_kind::regroup, word});
}

void relation_data::reserve() {
    rows_.reserve();
}

void relation_data::call_after(std::uint64_t e) {
    rows_.reserve();
    mirror_.call_hooks();
    for (; now_.called < now_.steps.size() && now_.steps[now_.called].e == e; ++now_.called) {
        const link_step made = now_.steps[now_.called];
        if (!is_null(made.to)) call_and_note(hook_kind::insert, made);
    }
}

void relation_data::reserve_source(const link_step& made) {
    for (const std::uint64_t end : {made.e, made.to}) {
        location at;
        if (!engine_.entities.find(end, at) || engine_.entities.is_guest(end))
            engine_.errors.raise_not_alive({end, {}}, "relate");
        engine_.errors.refuse_away({end, {}}, at, "relate");
    }
    if (is_acyclic) refuse_cycle(made);
    reserve_target(made.to);
}

void relation_data::reserve_target(std::uint64_t target) {
    engine_.catalog.mark_for_destroy(target);
    now_.reserved.push_back(target);
    ensure_sources(target).reserve_another();
}

void relation_data::commit(std::uint64_t e) noexcept {
    if (edit_.is_of(e)) {
        edit_.apply(*this);
        now_.committed = now_.steps.size();
    }
    link_list* const list = find_list(e);
    if (now_.committed < now_.steps.size() && list != nullptr) commit_new(e, *list);
    for (; now_.committed < now_.steps.size() && now_.steps[now_.committed].e == e;
         ++now_.committed)
        if (is_exclusive)
            commit_one(now_.steps[now_.committed]);
        else if (const link_step& done = now_.steps[now_.committed]; !is_null(done.from))
            find_sources(done.from)->erase(done.place);
    if (now_.committed != now_.steps.size()) return;
    now_.notes.commit(own_.hooks);
    levels_.apply();
    mirror_.apply();
    rows_.apply();
    mirror_.finish();
    for (const link_step& done : now_.steps)  // now that all places are valid
        if (!is_null(done.from)) close_holes(done.from);
    edit_.end();
}

void relation_data::commit_one(const link_step& done) noexcept {
    link_head* const link = find_link(done.e);
    if (link != nullptr && done.from == done.to) {
        link->place = done.place;
        return;
    }
    if (!is_null(done.from)) find_sources(done.from)->erase(done.place);
    if (link != nullptr) link->place = find_sources(done.to)->append(done.e, 0);
}

/// Shows the links of a new list to their targets.
void relation_data::commit_new(std::uint64_t e, link_list& list) noexcept {
    link_array& ends = list.ends();
    for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1))
        ends[i].place = find_sources(ends[i].other)->append(e, i);
}

void relation_data::clear() noexcept {
    clear_sources();
    now_.steps.clear();
    now_.reserved.clear();
    now_.arrived = now_.called = now_.committed = 0;
}

// ---- links of new and of destroyed entities, of which no one is notified -----------------------

bool relation_data::is_quiet() const noexcept {
    return !is_symmetric && own_.hooks.is_quiet() && links_->hooks.is_quiet();
}

/// A new entity has no sources, so its link closes no cycle.
void relation_data::prepare_first(const void* value) {
    const std::uint64_t target = static_cast<const link_head*>(value)->target;
    if (!engine_.entities.alive(target)) engine_.errors.raise_not_alive({target, {}}, "relate");
    (void)reserve_sources(target);
}

void relation_data::commit_first(std::uint64_t e, void* value) noexcept {
    auto& link = *static_cast<link_head*>(value);
    link.place = find_sources(link.target)->append(e, 0);
    if (is_leveled) link.level = (level_of(link.target) + 1) & relation_levels::most;
}

void relation_data::end_quietly(std::uint64_t, const void* value) noexcept {
    const auto& link = *static_cast<const link_head*>(value);
    find_sources(link.target)->erase(link.place);
    close_holes(link.target);
}

}  // namespace MUSTER_NAMESPACE::detail
