// The part of store_impl.hpp that ends entities, and fragments with all that have them.
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

/// Where it dies, for who asks later. Can fail: comes before all that cannot.
template <class Layout>
void store<Layout>::note_death(at_type who) {
    if (provenance_)
        deaths_.note(who.id.key(), who.id.version(), who.where, names_.find(who.id.value()),
                     acting_);
}

/// What is left to do when all that can fail is done.
template <class Layout>
void store<Layout>::die(id_type e, record_type& found) noexcept {
    names_.erase(e.value());
    told_.reset(e.key());
    drop_beside(e);
    if (found.chunk() != chunk_index{}) leave_row(found);
    pool_.destroy(e);
}

template <class Layout>
void store<Layout>::destroy_fragment(at_type who) {
    // Who dies: this one, the owners of fragments that die with them, and so on.
    std::vector<id_type> dying{who.id};
    std::unordered_set<std::uint64_t> seen{who.id.value()};
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
    if (has_hooks()) {  // whoever throws keeps all of them
        for (const chunk_data* one : graph_.all())
            for (fragment_data* fragment : gone)
                if (one->has(*fragment) && fragment->hooks.has(remove_hooks))
                    for (std::size_t row = 0; row < one->size; ++row)
                        if (const id_type e = ids(*one)[row]; !seen.contains(e.value()))
                            losing.emplace_back(e, fragment);
        for (fragment_data* fragment : gone)
            if (fragment->beside != nullptr && fragment->hooks.has(remove_hooks))
                for (const id_type e : owners_of(*fragment))
                    if (!seen.contains(e.value())) losing.emplace_back(e, fragment);
        const std::size_t notes = dying.size() + losing.size();
        for (const id_type e : dying) {
            prepare_going(graph_.at(find(e)->chunk()), notes);
            prepare_going_beside(e, notes);
        }
        for (fragment_data* fragment : gone) fragment->hooks.prepare(hook_kind::remove, notes);
        for (const id_type e : dying) tell_going(e);
        for (const auto& [e, fragment] : losing) call_hooks(hook_kind::remove, e, *fragment);
        for (const id_type e : dying)  // a hook may have used it as a fragment: nobody has it yet
            if (fragment_data* const used = fragments_.find(e.value());
                used != nullptr && std::find(gone.begin(), gone.end(), used) == gone.end())
                gone.push_back(used);
    }
    // All that can fail: the ways of those that live on, room for them, and the places.
    struct move {
        chunk_data* from;
        const edge* way;
    };
    const chunk_data& less = ensure_set(gone);
    array_list<chunk_data*> owners;
    for (chunk_data* one : graph_.all())
        if (one->size != 0 && std::any_of(gone.begin(), gone.end(),
                                          [&](const fragment_data* f) { return one->has(*f); }))
            owners.push_back(one);
    std::vector<move> moves;
    std::unordered_map<const chunk_data*, std::size_t> arrivals;  // several may go to one chunk
    for (chunk_data* one : owners) {
        const edge& way = graph_.without(*one, less);
        moves.push_back({one, &way});
        if (way.target != &graph_.nowhere())
            way.target->make_room(arrivals[way.target] += one->size, row_limit, {});
    }
    for (const id_type e : dying) note_death({e, who.where});

    for (const id_type e : dying) note_going(e);
    for (const auto& [e, fragment] : losing) fragment->hooks.note(hook_kind::remove, e.value());
    for (std::size_t i = dying.size(); i-- != 0;) die(dying[i], *find_record(dying[i].key()));
    for (const move& one : moves)
        if (one.from->size != 0) move_all(*one.from, *one.way);
    for (fragment_data* one : gone)
        if (one->beside != nullptr) drop_all_beside(*one->beside);
    for (fragment_data* one : gone) forget_fragment(*one);
}

/// All that have it, in the order of a loop over them.
template <class Layout>
auto store<Layout>::owners_of(const fragment_data& fragment) const -> std::vector<id_type> {
    std::vector<id_type> all;
    all.reserve(count(fragment));
    for (const chunk_index owner : fragment.chunks) {
        const chunk_data& chunk = graph_.at(owner);
        all.insert(all.end(), ids(chunk), ids(chunk) + chunk.size);
    }
    if (const sparse_set* const set = fragment.beside)
        for (const slot_index at : slots_of(*set))
            all.push_back(*reinterpret_cast<const id_type*>(set->ids_at(at)));
    return all;
}

/// No row has it any more.
template <class Layout>
void store<Layout>::forget_fragment(fragment_data& fragment) noexcept {
    forget_chunks();
    own_ -= fragment.is_own ? 1u : 0u;
    graph_.collect_garbage(&fragment);
    const bool is_own = fragment.is_own;
    const type_index type = fragment.value_type;
    const type_info& info = *fragment.type;
    const bool is_hooked = fragment.hooks.kinds() != 0;
    const fragment_data* const gone = &fragment;
    bool is_awaited = false;
    const auto each_entry = [&](auto change) {
        for (std::uint32_t i = 0; i < journal_.now().entries; ++i)
            if (journal_.entry(i).fragment == gone) change(journal_.entry(i));
    };
    const auto drop = [&](journal_entry& one, const fragment_data& of) {  // a change of nothing
        one.fragment = nullptr;
        if (!has_component(one.kind)) return;
        end_value(of, one.value, one.slot);
        one.value = nullptr;
        one.slot = no_slot;
    };
    sparse_set* const waiting = fragment.beside;  // values that wait are there
    {
        const busy_scope nobody_else(*this);
        each_entry([&](journal_entry& one) {
            is_awaited = is_own;
            if (!is_own) drop(one, fragment);
        });
        if (waiting != nullptr && !is_awaited) sparse_.remove(*waiting);
        if (waiting != nullptr && is_awaited) {
            waiting->fragment = nullptr;
            sparse_.note_meaning();
        }
        fragment.beside = nullptr;
        fragments_.remove(fragment);
    }
    graph_.note_meaning();  // it may have been needed
    if (is_hooked) note_hooks();
    if (!is_awaited) return;
    // What was recorded for a C++ type means its next fragment.
    fragment_data* next = nullptr;
    first_error ignored;
    ignored.attempt([&] { next = &ensure_fragment(type, info); });
    const busy_scope nobody_else(*this);
    if (next != nullptr) {
        each_entry([&](journal_entry& one) { one.fragment = next; });
        if (waiting != nullptr) sparse_.hand_over(*waiting, *next);
        return;
    }
    fragment_data nobody;
    nobody.type = &info;
    nobody.beside = waiting;
    each_entry([&](journal_entry& one) { drop(one, nobody); });
    if (waiting != nullptr) {
        waiting->fragment = &nobody;
        sparse_.remove(*waiting);
    }
}

/// `destroy` of an entity that has components and dies easily.
template <class Layout>
[[gnu::flatten]] bool store<Layout>::destroy_placed(id_type e, record_type& found) {
    if (graph_.at(found.chunk()).tells_going) [[unlikely]]
        return destroy_noted(e, found);
    leave_row(found);
    pool_.destroy_now(e);
    return true;
}

/// The same where somebody is told.
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
bool store<Layout>::destroy_slowly(at_type who) {
    const bool must_wait = is_recorded("destroy");
    if (must_wait && is_shared()) return share_destroy(who);
    record_type* const found = find_own(who, "destroy");
    if (found == nullptr) return false;
    const bool is_fragment = fragments_.find(who.id.value()) != nullptr;
    if (must_wait || tells_going(graph_.at(found->chunk())) || (is_fragment && has_hooks()) ||
        tells_going_beside(who.id))
        return record_destroy(who);
    if (is_fragment) {
        destroy_fragment(who);
        return true;
    }
    note_death(who);
    die(who.id, *found);
    return true;
}

template <class Layout>
std::size_t store<Layout>::destroy(std::span<const id_type> all,
                                   const std::source_location& where) {
    const writing alone(*this, "destroy");
    const bool must_wait = is_recorded("destroy");
    for (const id_type e : all)
        if (is_foreign(e)) raise_not_alive({e, where}, "destroy");
    if (must_wait && is_shared()) {
        std::size_t count = 0;
        for (const id_type e : all) count += share_destroy({e, where}) ? 1u : 0u;
        return count;
    }
    if (must_wait || has_hooks()) {  // those that are kept alive by a hook do not stop the others
        std::unordered_set<std::uint64_t> living;
        scope whole(*this);
        for (const id_type e : all)
            if (record_destroy({e, where})) living.insert(e.value());
        whole.commit();
        return living.size();
    }
    for (const id_type e : all)  // what can fail comes first
        if (alive(e)) note_death({e, where});
    std::size_t count = 0;
    for (const id_type e : all) count += destroy(at_type(e, where)) ? 1u : 0u;
    return count;
}

template <class Layout>
void store<Layout>::reset(const std::source_location& where) {
    const writing alone(*this, "reset");
    refuse_in_scope("reset");
    if (has_hooks()) return reset_told(where);
    if (provenance_)
        for (id_type e = next_living(0); e; e = next_living(e.key() + 1)) note_death({e, where});
    array_list<fragment_data*> gone;  // the user's
    for (fragment_data* one : fragments_.all())
        if (!one->is_own) gone.push_back(one);
    for (const fragment_data* one : fragments_.all())
        if (one->is_own) pool_.find(id_of(*one).key())->place(chunk_index{}, 0);
    for (id_type e = next_living(0); e; e = next_living(e.key() + 1)) {
        names_.erase(e.value());
        told_.reset(e.key());
        pool_.destroy(e);
    }
    {
        const busy_scope nobody_else(*this);
        end_values();
    }
    for (fragment_data* one : gone) forget_fragment(*one);
}

/// Nobody is alive any more: their values end.
template <class Layout>
void store<Layout>::end_values() noexcept {
    sparse_.forget_entries();
    for (std::size_t i = 0; i < sparse_.all().size(); ++i)
        if (sparse_set* const one = sparse_.all()[i]) one->end_values();
    for (std::size_t i = 0; i < graph_.all().size(); ++i) {  // a destructor may make a chunk
        chunk_data* const one = graph_.all()[i];
        const std::size_t count = one->size;
        one->size = 0;
        one->destroy_values(0, count);
    }
}

template <class Layout>
auto store<Layout>::next_living(std::uint64_t key) const noexcept -> id_type {
    id_type found = pool_.next_living(larger(key, Layout::first_key));
    while (found && is_own(found)) found = pool_.next_living(found.key() + 1);
    return found;
}

}  // namespace muster::detail
