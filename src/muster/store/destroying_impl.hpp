// The part of store_impl.hpp that destroys entities, and fragments together with their values.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/integer.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace muster::detail {

/// Records the call site for later error messages. May throw, so it runs before the first
/// irreversible step.
template <class Layout>
void store<Layout>::record_provenance(at_type target) {
    if (keeps_provenance_)
        provenance_.note(target.id.key(), target.id.version(), target.where,
                         names_.find(target.id.value()), current_system_);
}

/// Destroys the entity, after all steps that can fail.
template <class Layout>
void store<Layout>::finish_destroy(id_type e, record_type& found) noexcept {
    names_.erase(e.value());
    destroy_marks_.reset(e.key());
    drop_sparse(e);
    if (found.chunk() != chunk_index{}) leave_row(found);
    pool_.destroy(e);
}

template <class Layout>
void store<Layout>::destroy_fragment(at_type target) {
    // Destruction cascades to the owners of fragments with `destroys_owners`.
    std::vector<id_type> dying{target.id};
    std::unordered_set<std::uint64_t> seen{target.id.value()};
    array_list<fragment_data*> gone;
    for (std::size_t i = 0; i < dying.size(); ++i) {
        fragment_data* const fragment = fragments_.find(dying[i].value());
        if (fragment == nullptr) continue;
        gone.push_back(fragment);
        if (!fragment->destroys_owners) continue;
        for (const id_type e : owners_of(*fragment))
            if (seen.insert(e.value()).second) dying.push_back(e);
    }
    std::vector<std::pair<id_type, fragment_data*>> losing;
    if (has_hooks()) {  // a hook that throws keeps all of them alive
        for (const chunk_data* chunk : graph_.all())
            for (fragment_data* fragment : gone)
                if (chunk->has(*fragment) && fragment->hooks.has(remove_hooks))
                    for (std::size_t row = 0; row < chunk->size; ++row)
                        if (const id_type e = ids(*chunk)[row]; !seen.contains(e.value()))
                            losing.emplace_back(e, fragment);
        for (fragment_data* fragment : gone)
            if (fragment->sparse_values != nullptr && fragment->hooks.has(remove_hooks))
                for (const id_type e : owners_of(*fragment))
                    if (!seen.contains(e.value())) losing.emplace_back(e, fragment);
        const std::size_t notes = dying.size() + losing.size();
        for (const id_type e : dying) {
            prepare_remove(graph_.at(find(e)->chunk()), notes);
            prepare_remove_sparse(e, notes);
        }
        for (fragment_data* fragment : gone) fragment->hooks.prepare(hook_kind::remove, notes);
        for (const id_type e : dying) notify_remove(e);
        for (const auto& [e, fragment] : losing) call_hooks(hook_kind::remove, e, *fragment);
        for (const id_type e : dying)  // a hook may have made it a fragment, without owners yet
            if (fragment_data* const used = fragments_.find(e.value());
                used != nullptr && std::find(gone.begin(), gone.end(), used) == gone.end())
                gone.push_back(used);
    }
    // Steps that can fail come before the first irreversible one: edges and room for the owners
    // that survive, and provenance.
    struct move {
        chunk_data* from;
        const edge* transition;
    };
    const chunk_data& less = ensure_set(gone);
    array_list<chunk_data*> owners;
    for (chunk_data* chunk : graph_.all())
        if (chunk->size != 0 && std::any_of(gone.begin(), gone.end(),
                                            [&](const fragment_data* f) { return chunk->has(*f); }))
            owners.push_back(chunk);
    std::vector<move> moves;
    std::unordered_map<const chunk_data*, std::size_t> arrivals;  // chunks may share a target
    for (chunk_data* chunk : owners) {
        const edge& transition = graph_.without(*chunk, less);
        moves.push_back({chunk, &transition});
        if (transition.target != &graph_.empty_chunk())
            transition.target->make_room(arrivals[transition.target] += chunk->size, row_limit, {});
    }
    for (const id_type e : dying) record_provenance({e, target.where});

    for (const id_type e : dying) log_remove(e);
    for (const auto& [e, fragment] : losing) fragment->hooks.note(hook_kind::remove, e.value());
    for (std::size_t i = dying.size(); i-- != 0;)
        finish_destroy(dying[i], *find_record(dying[i].key()));
    for (const move& planned : moves)
        if (planned.from->size != 0) move_all(*planned.from, *planned.transition);
    for (fragment_data* owned : gone)
        if (owned->sparse_values != nullptr) drop_all_sparse(*owned->sparse_values);
    for (fragment_data* owned : gone) forget_fragment(*owned);
}

/// Returns all owners of the fragment, in the order of a loop over them.
template <class Layout>
auto store<Layout>::owners_of(const fragment_data& fragment) const -> std::vector<id_type> {
    std::vector<id_type> all;
    all.reserve(count(fragment));
    for (const chunk_index owner : fragment.chunks) {
        const chunk_data& chunk = graph_.at(owner);
        all.insert(all.end(), ids(chunk), ids(chunk) + chunk.size);
    }
    if (const sparse_set* const set = fragment.sparse_values)
        for (const slot_index at : slots_of(*set))
            all.push_back(*reinterpret_cast<const id_type*>(set->ids_at(at)));
    return all;
}

/// Removes a fragment that no row has any more.
template <class Layout>
void store<Layout>::forget_fragment(fragment_data& fragment) noexcept {
    forget_chunks();
    world_owned_count_ -= fragment.is_world_owned ? 1u : 0u;
    graph_.collect_garbage(&fragment);
    const bool is_world_owned = fragment.is_world_owned;
    const type_index type = fragment.value_type;
    const type_info& info = *fragment.type;
    const bool is_hooked = fragment.hooks.kinds() != 0;
    const fragment_data* const gone = &fragment;
    bool is_awaited = false;
    const auto each_entry = [&](auto change) {
        for (std::uint32_t i = 0; i < journal_.now().entries; ++i)
            if (journal_.entry(i).fragment == gone) change(journal_.entry(i));
    };
    const auto drop = [&](journal_entry& entry, const fragment_data& of) {  // makes it a no-op
        entry.fragment = nullptr;
        if (!has_component(entry.kind)) return;
        end_value(of, entry.value, entry.slot);
        entry.value = nullptr;
        entry.slot = no_slot;
    };
    sparse_set* const set = fragment.sparse_values;  // holds the pending values
    {
        const busy_guard busy(*this);
        each_entry([&](journal_entry& entry) {
            is_awaited = is_world_owned;
            if (!is_world_owned) drop(entry, fragment);
        });
        if (set != nullptr && !is_awaited) sparse_.remove(*set);
        if (set != nullptr && is_awaited) {
            set->fragment = nullptr;
            sparse_.invalidate_traits();
        }
        fragment.sparse_values = nullptr;
        fragments_.remove(fragment);
    }
    graph_.invalidate_traits();  // other fragments may need it
    if (is_hooked) refresh_hook_flags();
    if (!is_awaited) return;
    // Pending changes of a C++ type apply to its next fragment.
    fragment_data* next = nullptr;
    first_error ignored;
    ignored.attempt([&] { next = &ensure_fragment(type, info); });
    const busy_guard busy(*this);
    if (next != nullptr) {
        each_entry([&](journal_entry& entry) { entry.fragment = next; });
        if (set != nullptr) sparse_.hand_over(*set, *next);
        return;
    }
    fragment_data placeholder;
    placeholder.type = &info;
    placeholder.sparse_values = set;
    each_entry([&](journal_entry& entry) { drop(entry, placeholder); });
    if (set != nullptr) {
        set->fragment = &placeholder;
        sparse_.remove(*set);
    }
}

/// Fast path of `destroy` for an entity with components.
template <class Layout>
[[gnu::flatten]] bool store<Layout>::destroy_placed(id_type e, record_type& found) {
    if (graph_.at(found.chunk()).notifies_remove) [[unlikely]]
        return destroy_noted(e, found);
    leave_row(found);
    pool_.destroy_now(e);
    return true;
}

/// Like `destroy_placed`, with notifications.
template <class Layout>
[[gnu::noinline]] bool store<Layout>::destroy_noted(id_type e, record_type& found) {
    const chunk_data& from = graph_.at(found.chunk());
    noting notes(*this);
    if (!notes.begin_removal(from, from)) return record_destroy({e, {}});
    leave_row(found);
    pool_.destroy_now(e);
    notes.note(e);
    return true;
}

template <class Layout>
bool store<Layout>::destroy_slowly(at_type target) {
    const bool must_defer = is_recording("destroy");
    if (must_defer && is_parallel()) return share_destroy(target);
    record_type* const found = find_local(target, "destroy");
    if (found == nullptr) return false;
    const bool is_fragment = fragments_.find(target.id.value()) != nullptr;
    if (must_defer || notifies_remove(graph_.at(found->chunk())) || (is_fragment && has_hooks()) ||
        notifies_remove_sparse(target.id))
        return record_destroy(target);
    if (is_fragment) {
        destroy_fragment(target);
        return true;
    }
    record_provenance(target);
    finish_destroy(target.id, *found);
    return true;
}

template <class Layout>
std::size_t store<Layout>::destroy(std::span<const id_type> all,
                                   const std::source_location& where) {
    const writer_guard writer(*this, "destroy");
    const bool must_defer = is_recording("destroy");
    for (const id_type e : all)
        if (is_foreign(e)) raise_not_alive({e, where}, "destroy");
    if (must_defer && is_parallel()) {
        std::size_t count = 0;
        for (const id_type e : all) count += share_destroy({e, where}) ? 1u : 0u;
        return count;
    }
    if (must_defer || has_hooks()) {  // an exception from a hook does not stop the others
        std::unordered_set<std::uint64_t> living;
        scope whole(*this);
        for (const id_type e : all)
            if (record_destroy({e, where})) living.insert(e.value());
        whole.commit();
        return living.size();
    }
    for (const id_type e : all)  // may throw: before the first is destroyed
        if (alive(e)) record_provenance({e, where});
    std::size_t count = 0;
    for (const id_type e : all) count += destroy(at_type(e, where)) ? 1u : 0u;
    return count;
}

template <class Layout>
void store<Layout>::reset(const std::source_location& where) {
    const writer_guard writer(*this, "reset");
    refuse_in_scope("reset");
    if (has_hooks()) return reset_told(where);
    if (keeps_provenance_)
        for (id_type e = next_living(0); e; e = next_living(e.key() + 1))
            record_provenance({e, where});
    array_list<fragment_data*> gone;  // fragments of the user
    for (fragment_data* fragment : fragments_.all())
        if (!fragment->is_world_owned) gone.push_back(fragment);
    for (const fragment_data* fragment : fragments_.all())
        if (fragment->is_world_owned) pool_.find(id_of(*fragment).key())->place(chunk_index{}, 0);
    for (id_type e = next_living(0); e; e = next_living(e.key() + 1)) {
        names_.erase(e.value());
        destroy_marks_.reset(e.key());
        pool_.destroy(e);
    }
    {
        const busy_guard busy(*this);
        end_values();
    }
    for (fragment_data* fragment : gone) forget_fragment(*fragment);
}

/// Destroys all values. No entity is alive any more.
template <class Layout>
void store<Layout>::end_values() noexcept {
    // First hide everything: a destructor that queries the world must not meet a dead entity.
    sparse_.forget_entries();
    for (chunk_data* chunk : graph_.all()) chunk->forget_rows();
    for (std::size_t i = 0; i < sparse_.all().size(); ++i)
        if (sparse_set* const set = sparse_.all()[i]) set->end_values();
    for (std::size_t i = 0; i < graph_.all().size(); ++i)  // a destructor may add a chunk
        graph_.all()[i]->end_values();
}

template <class Layout>
auto store<Layout>::next_living(std::uint64_t key) const noexcept -> id_type {
    id_type found = pool_.next_living(larger(key, Layout::first_key));
    while (found && is_world_owned(found)) found = pool_.next_living(found.key() + 1);
    return found;
}

}  // namespace muster::detail
