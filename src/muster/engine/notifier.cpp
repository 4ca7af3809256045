#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/engine/notifier.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Throws `errc::unbalanced_scope` and drops the changes of a hook that leaves a scope open: their
/// order would be undefined.
void notifier::run(hook_list& list, hook_kind kind, std::uint64_t e, void* value) {
    const open_scope* const mine = scopes_.innermost();
    const scope_guard drop([&] {
        if (scopes_.innermost() != mine) scopes_.drop_scopes(mine);
    });
    list.run(kind, e, value);
    if (scopes_.innermost() != mine)
        raise(errc::unbalanced_scope, "a hook left a scope open: its changes are dropped");
}

void notifier::call(hook_kind kind, std::uint64_t e, location at, fragment_data& fragment) {
    if (fragment.hooks.calls(to_bits(kind)))
        run(fragment.hooks, kind, e, component_lookup::find(e, at, fragment));
}

void notifier::before(const transition& step, std::uint64_t e, location at) {
    const auto leave = [&](const fragment_data& fragment, bool is_removed) {
        if (fragment.participant != nullptr)
            fragment.participant->leaving(e, component_lookup::find(e, at, fragment), is_removed);
    };
    // Steps that can only run out of memory come before the first hook.
    for (const fragment_data* fragment : step.removed) leave(*fragment, true);
    for (const transition::notice& notice : step.present)
        if (!notice.is_new) leave(*notice.fragment, false);
    for (fragment_data* fragment : step.removed) {
        if (fragment->participant != nullptr) fragment->participant->call_before(e);
        call(hook_kind::remove, e, at, *fragment);
    }
    for (const transition::notice& notice : step.present)
        if (!notice.is_new && notice.fragment->participant != nullptr)
            notice.fragment->participant->call_before(e);
}

void notifier::ending(std::uint64_t e, location at, fragment_data& fragment) {
    if (fragment.participant != nullptr)
        fragment.participant->ending(e, component_lookup::find(e, at, fragment));
    call(hook_kind::remove, e, at, fragment);
}

void notifier::arrive(std::uint64_t e, location at, const fragment_data& fragment, bool is_new) {
    if (fragment.participant != nullptr)
        fragment.participant->arrived(e, component_lookup::find(e, at, fragment), is_new);
}

void notifier::after(const transition& step, std::uint64_t e, location at) {
    for (const transition::notice& notice : step.present)
        arrive(e, at, *notice.fragment, notice.is_new);
    for (const transition::notice& notice : step.present) {
        if (notice.fragment->participant != nullptr) notice.fragment->participant->call_after(e);
        call(notice.is_new ? hook_kind::insert : hook_kind::assign, e, at, *notice.fragment);
        call(hook_kind::set, e, at, *notice.fragment);
    }
}

bool notifier::notifies_first(chunk_data& into, const chunk_data& given) const noexcept {
    if (!notifies_insert(into)) return false;
    return calls_at_birth() ||
           std::ranges::any_of(into.fragments, [&](const fragment_data* fragment) {
               const value_participant* const room = fragment->participant;
               return room != nullptr ? !room->is_quiet() || !given.has(*fragment)
                                      : fragment->hooks.has(insert_hooks);
           });
}

bool notifier::notifies_last(chunk_data& from) const noexcept {
    if (!notifies_remove(from)) return false;
    return calls_at_death() ||
           std::ranges::any_of(from.fragments, [](const fragment_data* fragment) {
               const value_participant* const room = fragment->participant;
               return room != nullptr ? !room->is_quiet() : fragment->hooks.has(remove_hooks);
           });
}

void notifier::prepare(fragment_data& fragment, hook_kind kind, std::size_t count) {
    if (fragment.participant != nullptr) fragment.participant->begin(count);
    fragment.hooks.prepare(kind, count);
}

void notifier::note(fragment_data& fragment, hook_kind kind, std::uint64_t e) noexcept {
    if (fragment.participant != nullptr) fragment.participant->commit(e);
    fragment.hooks.note(kind, e);
}

void notifier::prepare(const transition& step, std::size_t count) {
    for (fragment_data* fragment : step.removed) prepare(*fragment, hook_kind::remove, count);
    for (const transition::notice& notice : step.present)
        prepare(*notice.fragment, notice.is_new ? hook_kind::insert : hook_kind::assign, count);
}

void notifier::note(const transition& step, std::uint64_t e) noexcept {
    for (fragment_data* fragment : step.removed) note(*fragment, hook_kind::remove, e);
    for (const transition::notice& notice : step.present)
        note(*notice.fragment, notice.is_new ? hook_kind::insert : hook_kind::assign, e);
}

void notifier::born(std::uint64_t e) {
    if (calls_at_birth()) run(entity_hooks_, hook_kind::insert, e, nullptr);
}

void notifier::dying(std::uint64_t e) {
    const location at = entities_.locate(e);
    chunk_data& here = graph_.at(at.chunk);
    if (calls_remove_sparse(e)) {  // listing the fragments needs memory
        for (fragment_data* fragment : components_.fragments_of(e)) ending(e, at, *fragment);
    } else if (graph_.refresh(here).notifies_remove) {
        for (fragment_data* fragment : here.fragments) ending(e, at, *fragment);
    }
    if (calls_at_death()) run(entity_hooks_, hook_kind::remove, e, nullptr);
}

void notifier::assigned(std::uint64_t e, fragment_data& fragment) {
    if (!fragment.hooks.has(assign_hooks)) return;
    fragment.hooks.prepare(hook_kind::assign, 1);
    const location at = entities_.locate(e);
    call(hook_kind::assign, e, at, fragment);
    call(hook_kind::set, e, at, fragment);
    fragment.hooks.note(hook_kind::assign, e);
}

void notifier::inserted(slice<const new_entities> all) {
    std::size_t count = 0;
    for (const new_entities& made : all) count += made.all.count;
    bool has_participant = false;
    for (const new_entities& made : all)
        for (fragment_data* fragment : made.fragments) {
            prepare(*fragment, hook_kind::insert, count);
            has_participant = has_participant || fragment->participant != nullptr;
        }
    if (has_participant) arrive_all(all);
    for (const new_entities& made : all) call_inserted(made);
    for (const new_entities& made : all)
        for (fragment_data* fragment : made.fragments)
            if (fragment->hooks.has(insert_hooks))
                for (std::size_t i = 0; i < made.all.count; ++i)
                    note(*fragment, hook_kind::insert, made.all.at(i));
}

/// Shows all new values to the participants, before the first hook.
void notifier::arrive_all(slice<const new_entities> all) {
    for (const new_entities& made : all)
        for (const fragment_data* fragment : made.fragments) {
            if (fragment->participant == nullptr) continue;
            for (std::size_t i = 0; i < made.all.count; ++i)
                arrive(made.all.at(i), entities_.locate(made.all.at(i)), *fragment, true);
        }
    for (const new_entities& made : all)
        for (const fragment_data* fragment : made.fragments)
            if (fragment->participant != nullptr) fragment->participant->reserve();
}

/// Calls the hooks of new entities.
void notifier::call_inserted(const new_entities& made) {
    const auto has_hooks = [](const fragment_data* fragment) {
        return fragment->hooks.has_user(insert_hooks);
    };
    const auto is_called = [&](const fragment_data* fragment) {
        return fragment->participant != nullptr || has_hooks(fragment);
    };
    if (!calls_at_birth() && std::ranges::none_of(made.fragments, is_called)) return;
    for (std::size_t i = 0; i < made.all.count; ++i) {
        const std::uint64_t e = made.all.at(i);
        born(e);
        const location at = entities_.locate(e);
        for (fragment_data* fragment : made.fragments) {
            if (fragment->participant != nullptr) fragment->participant->call_after(e);
            if (!has_hooks(fragment)) continue;
            call(hook_kind::insert, e, at, *fragment);
            call(hook_kind::set, e, at, *fragment);
        }
    }
}

bool notifier::notifies_remove_sparse(std::uint64_t e) const {
    bool notifies = false;
    sparse_.each_marked(e, [&](const sparse_set& set) {
        notifies = notifies ||
                   (set.fragment != nullptr && set.fragment->hooks.has(remove_hooks) && set.has(e));
    });
    return notifies;
}

/// Whether a sparse fragment of the entity has hooks of its removal.
bool notifier::calls_remove_sparse(std::uint64_t e) const noexcept {
    bool calls = false;
    sparse_.each(e, [&](const sparse_set& set) {
        calls = calls || set.fragment->hooks.calls(remove_hooks);
    });
    return calls;
}

bool notifier::calls_remove(const chunk_data& from) noexcept {
    return std::ranges::any_of(from.fragments, [](const fragment_data* fragment) {
        return fragment->hooks.calls(remove_hooks);
    });
}

void notifier::prepare_removal(std::uint64_t e, std::size_t count) {
    sparse_.each(
        e, [&](const sparse_set& set) { set.fragment->hooks.prepare(hook_kind::remove, count); });
    chunk_data& from = components_.chunk_of(e);
    if (!graph_.refresh(from).notifies_remove) return;
    for (fragment_data* fragment : from.fragments)
        fragment->hooks.prepare(hook_kind::remove, count);
}

void notifier::note_removal(std::uint64_t e) noexcept {
    sparse_.each(e, [&](const sparse_set& set) { note_removal(e, *set.fragment); });
    chunk_data& from = components_.chunk_of(e);
    if (!graph_.refresh(from).notifies_remove) return;
    for (fragment_data* fragment : from.fragments) note_removal(e, *fragment);
}

void notifier::note_removal(std::uint64_t e, fragment_data& fragment) noexcept {
    if (fragment.hooks.keeps_values()) {
        const busy_guard busy(gate_);
        fragment.hooks.keep(e, components_.find(e, fragment));
    }
    fragment.hooks.note(hook_kind::remove, e);
}

}  // namespace MUSTER_NAMESPACE::detail
