#include <muster/base/scope_guard.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/link_mirror.hpp>
#include <muster/relation/relation_data.hpp>
#include <muster/relation/row_regrouping.hpp>

#include <new>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

void link_mirror::begin() noexcept {
    if (changes_.empty() && links_.empty() && pending_.empty()) return;
    const busy_guard busy(engine_.gate);
    const type_info& type = *relation_.types().linked;
    for (void* link : links_) {
        if (!is_stored_ && type.destroy != nullptr) type.destroy(link, 1);
        ::operator delete(link, std::align_val_t(type.alignment));
    }
    for (const auto& [e, list] : pending_)
        if (list.slot != no_slot) relation_.links().sparse_values->drop(list.slot);
    links_.clear();
    lists_.clear();
    pending_.clear();
    changes_.clear();
    called_ = 0;
    is_stored_ = false;
}

// ---- planning ----------------------------------------------------------------------------------

void link_mirror::plan(const link_step& step) {
    changes_.push_back({step});
}

void link_mirror::remove(std::uint64_t e, std::uint64_t target) {
    const std::uint64_t null = engine_.entities.null();
    if (!relation_.is_exclusive) return plan({e, target, null});
    const link_head& link = *relation_.find_link(e);
    plan({e, target, null, link.place});
    rows_.add(e, {&relation_.links(), change_kind::clear_fragment});
}

void link_mirror::relate(std::uint64_t e, std::uint64_t target, const void* value, bool is_bulk) {
    const std::uint64_t null = engine_.entities.null();
    if (!relation_.is_exclusive) {
        const bool is_known = relation_.is_related(e, target);
        const link_list* const list = is_bulk && !is_known ? relation_.find_list(e) : nullptr;
        if (list != nullptr && list->ends().find(target) != list->ends().places()) return;
        const link_step step{e, is_known ? target : null, target};
        if (!is_known) {
            relation_.reserve_source(step);
            make_room(e);
        }
        copy_link(value);
        plan(step);
        changes_.back().copy = static_cast<std::uint32_t>(lists_.size() - 1);
        return;
    }
    const link_head* const present = relation_.find_link(e);
    const link_step step{e, present != nullptr ? present->target : null, target,
                         present != nullptr ? present->place : 0};
    if (step.from != null && step.from != target && step.from != e) remove(step.from, e);
    if (step.from != target) relation_.reserve_source(step);
    copy_link(value);
    plan(step);
    changes_.back().copy = static_cast<std::uint32_t>(links_.size() - 1);
    if (present == nullptr) rows_.add(e, {&relation_.links(), change_kind::put}, links_.back());
}

/// Makes room for one more link of an entity, beside those that are planned.
void link_mirror::make_room(std::uint64_t e) {
    pending_list& pending = pending_[e];
    link_list* list = relation_.find_list(e);
    if (list == nullptr) {
        sparse_set& set = *relation_.links().sparse_values;
        if (pending.slot == no_slot) {
            engine_.catalog.mark_for_destroy(e);
            engine_.mover.prepare_sparse(set, e);
            pending.slot = set.take();
            ::new (set.at(pending.slot)) link_list(*relation_.types().value);
        }
        // SAFETY: the slot has the list that was constructed above.
        list = reinterpret_cast<link_list*>(set.at(pending.slot));
    }
    list->reserve(++pending.added);
}

void link_mirror::copy_link(const void* value) {
    const type_info& type =
        relation_.is_exclusive ? *relation_.types().linked : *relation_.types().value;
    const busy_guard busy(engine_.gate);
    if (!relation_.is_exclusive) {
        lists_.emplace_back(type);
        lists_.back().reserve(1);
        if (type.size != 0) type.copy_values(lists_.back().next_value(), value, 1, 0);
        (void)lists_.back().append(engine_.entities.null());
        return;
    }
    links_.reserve(links_.size() + 1);
    void* const room = ::operator new(type.size, std::align_val_t(type.alignment));
    scope_guard free([&] { ::operator delete(room, std::align_val_t(type.alignment)); });
    type.copy_values(room, value, 1, 0);
    free.dismiss();
    links_.push_back(room);
}

void link_mirror::call_hooks() {
    while (called_ < changes_.size()) {
        const link_step step = changes_[called_++].step;
        relation_.call_and_note(
            step.to == engine_.entities.null() ? hook_kind::remove : hook_kind::insert, step);
    }
}

// ---- applying ----------------------------------------------------------------------------------

void link_mirror::apply() noexcept {
    if (changes_.empty()) return;
    for (auto& [e, list] : pending_)
        if (list.slot != no_slot)
            relation_.links().sparse_values->attach(e, std::exchange(list.slot, no_slot));
    is_stored_ = true;
    {
        const busy_guard busy(engine_.gate);
        for (const change& made : changes_)
            if (relation_.is_exclusive)
                apply_one(made);
            else
                apply_list(made);
    }
    for (const change& made : changes_)
        engine_.changes.mark_written(made.step.e, relation_.links());
    if (!relation_.is_exclusive) end_lists();
}

void link_mirror::finish() noexcept {
    const std::uint64_t null = engine_.entities.null();
    for (const change& made : changes_)
        if (made.step.from != null && made.step.from != made.step.to)
            relation_.close_holes(made.step.from);
    begin();
}

/// Changes the link of an exclusive relation. A new link moves with the row of its source, and a
/// removed one ends with it.
void link_mirror::apply_one(const change& made) noexcept {
    const link_step& step = made.step;
    const std::uint64_t null = engine_.entities.null();
    if (step.from != null && step.from != step.to)
        relation_.find_sources(step.from)->erase(step.place);
    if (step.to == null) return;
    const std::uint32_t place =
        step.from == step.to ? step.place : relation_.find_sources(step.to)->append(step.e, 0);
    link_head* link = relation_.find_link(step.e);
    // SAFETY: the copy is a link of the relation.
    auto* const copy = static_cast<link_head*>(links_[made.copy]);
    if (step.from != null) {
        const type_info& type = *relation_.types().linked;
        if (type.destroy != nullptr) type.destroy(link, 1);
        type.relocate_values(link, copy, 1);
    } else if (link == nullptr) {  // its row has not moved yet
        link = copy;
    }
    link->target = step.to;
    link->place = place;
}

void link_mirror::apply_list(const change& made) noexcept {
    const link_step& step = made.step;
    link_list& list = *relation_.find_list(step.e);
    if (step.to == engine_.entities.null()) {
        const std::uint32_t at = relation_.find_place(step.e, list, step.from);
        relation_.find_sources(step.from)->erase(list.ends()[at].place);
        return list.erase(at);
    }
    link_list& copy = lists_[made.copy];
    const std::uint32_t known = relation_.find_place(step.e, list, step.to);
    if (known != list.ends().places()) return list.swap_value(known, copy, 0);
    copy.ends()[0].other = step.to;
    const std::uint32_t at = list.take(copy, 0);
    list.ends()[at].place = relation_.find_sources(step.to)->append(step.e, at);
}

/// Removes lists that have lost their last link, and closes the holes of others.
void link_mirror::end_lists() noexcept {
    sparse_set& set = *relation_.links().sparse_values;
    for (const change& made : changes_) {
        link_list* const list = relation_.find_list(made.step.e);
        if (list == nullptr) continue;
        if (list->size() != 0) {
            relation_.close_holes(*list);
            continue;
        }
        const slot_index slot = set.find(made.step.e);
        set.detach(made.step.e, slot);
        const busy_guard busy(engine_.gate);
        set.drop(slot);
    }
}

}  // namespace MUSTER_NAMESPACE::detail
