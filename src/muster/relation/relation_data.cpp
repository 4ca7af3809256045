#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/entity/destroy_participant.hpp>
#include <muster/relation/relation_data.hpp>
#include <muster/relation/relations.hpp>
#include <muster/relation/tree_clone.hpp>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

relation_data::~relation_data() {
    clear();
}

void relation_data::make_links() {
    const fragment_key key{relations::key_kind, id_, is_exclusive ? 1u : 0u};
    const type_info& type = is_exclusive ? *types_.linked : type_info_of<link_list>;
    fragment_data& made = engine_.catalog.ensure_internal(key, type, own_.name);
    fragment_data* const old = std::exchange(links_, &made);
    scope_guard rollback([&] {
        drop_links();
        links_ = own_.alias = old;
    });
    engine_.catalog.take_part(made, *this);
    rollback.dismiss();
    own_.alias = &made;
    made.remap.call = is_exclusive ? &remap_link : &remap_links;
}

void relation_data::drop_links() noexcept {
    links_->participant = nullptr;
    own_.alias = nullptr;
    engine_.destroyer.rollback_spawn(links_->id);
}

bool relation_data::is_null(std::uint64_t e) const noexcept {
    return e == engine_.entities.null();
}

// ---- reading -----------------------------------------------------------------------------------

link_list* relation_data::find_list(std::uint64_t source) const noexcept {
    return is_exclusive ? nullptr
                        : static_cast<link_list*>(engine_.components.find(source, *links_));
}

link_head* relation_data::find_link(std::uint64_t source) const noexcept {
    return is_exclusive ? static_cast<link_head*>(engine_.components.find(source, *links_))
                        : nullptr;
}

std::uint64_t relation_data::target_of(std::uint64_t source) const noexcept {
    const link_head* const link = find_link(source);
    return link != nullptr ? link->target : engine_.entities.null();
}

source_list* relation_data::find_sources(std::uint64_t target) const noexcept {
    return sources_.find(engine_.entities.key_of(target));
}

bool relation_data::is_related(std::uint64_t source, std::uint64_t target) const noexcept {
    return find_value(source, target) != nullptr;
}

void* relation_data::find_value(std::uint64_t source, std::uint64_t target) const noexcept {
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
std::uint32_t relation_data::find_place(std::uint64_t source, const link_list& list,
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

std::size_t relation_data::count_targets(std::uint64_t source) const noexcept {
    if (!engine_.entities.alive(source)) return 0;
    if (is_exclusive) return find_link(source) != nullptr ? 1 : 0;
    const link_list* const list = find_list(source);
    return list != nullptr ? list->size() : 0;
}

// ---- changes -----------------------------------------------------------------------------------

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
    edit_.is_active = std::exchange(edit_.is_fresh, false);
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
    now_.notes.push_back({what.e, is_assigned ? hook_kind::assign : kind});
    prepare_notes(now_.notes);
}

void relation_data::prepare_notes(const array_list<link_note>& all) {
    if (all.empty()) return;
    for (const hook_kind kind : {hook_kind::insert, hook_kind::assign, hook_kind::remove})
        own_.hooks.prepare(kind, all.size());
}

void relation_data::note(array_list<link_note>& all) noexcept {
    for (const link_note& change : all) own_.hooks.note(change.kind, change.e);
    all.clear();
}

void relation_data::leaving(std::uint64_t e, const void* value, bool is_removed) {
    const std::uint64_t null = engine_.entities.null();
    now_.left = now_.steps.size();
    now_.is_left_for_good = is_removed || is_edited(e);
    if (is_exclusive) {
        const auto& link = *static_cast<const link_head*>(value);
        now_.steps.push_back({e, link.target, null, link.place, link.level});
        if (is_removed && is_leveled) levels_.plan(e, 0);
    } else if (is_edited(e)) {
        for (const std::uint64_t target : edit_.removed) now_.steps.push_back({e, target, null});
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
    const bool is_edit = !is_new && is_edited(e);
    const link_list& list = is_edit ? edit_.added : *static_cast<const link_list*>(value);
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
    engine_.catalog.mark_for_destroy(made.to);
    now_.reserved.push_back(made.to);
    ensure_sources(made.to).reserve_another();
}

source_list& relation_data::ensure_sources(std::uint64_t target) {
    return sources_.ensure(engine_.entities.key_of(target),
                           source_list(engine_.entities.null(), !is_exclusive));
}

void relation_data::refuse_cycle(const link_step& made) const {
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
bool relation_data::is_above(std::uint64_t from, std::uint64_t to) const {
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

void relation_data::raise_cycle(std::uint64_t e, std::uint64_t target) const {
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

void relation_data::commit(std::uint64_t e) noexcept {
    if (is_edited(e)) {
        commit_edit(e);
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
    note(now_.notes);
    levels_.apply();
    mirror_.apply();
    rows_.apply();
    mirror_.finish();
    for (const link_step& done : now_.steps)  // now that all places are valid
        if (!is_null(done.from)) close_holes(done.from);
    edit_.is_active = false;
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

void relation_data::commit_edit(std::uint64_t e) noexcept {
    link_list& list = *find_list(e);
    for (const std::uint64_t target : edit_.removed) {
        const std::uint32_t at = find_place(e, list, target);
        find_sources(target)->erase(list.ends()[at].place);
        list.erase(at);
    }
    const busy_guard busy(engine_.gate);
    const link_array& ends = edit_.added.ends();
    for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1)) {
        const std::uint64_t target = ends[i].other;
        const std::uint32_t known = find_place(e, list, target);
        if (known != list.ends().places()) {
            list.swap_value(known, edit_.added, i);
            continue;
        }
        const std::uint32_t at = list.take(edit_.added, i);
        list.ends()[at].place = find_sources(target)->append(e, at);
    }
    close_holes(list);
    engine_.changes.mark_written(e, *links_);
}

/// Closes the holes of a source's list, and corrects the places at its targets.
void relation_data::close_holes(link_list& list) const noexcept {
    list.close([&](std::uint32_t at) {
        const link_end& end = list.ends()[at];
        find_sources(end.other)->set_place(end.place, at);
    });
}

/// Closes the holes of a target's list, and corrects the places at its sources.
void relation_data::close_holes(std::uint64_t target) noexcept {
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

}  // namespace MUSTER_NAMESPACE::detail
