// The part of store_impl.hpp that registers and calls hooks.
#pragma once

#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/store.hpp>

#include <utility>
#include <vector>

namespace muster::detail {

/// Calls hooks. Throws `errc::unbalanced_scope` and drops the changes of a hook that leaves a scope
/// open: their order would be undefined.
template <class Layout>
void store<Layout>::run_hooks(hook_list& list, hook_kind kind, id_type e, void* value) {
    struct dropping {
        store& owner;
        const open_scope* mine;
        ~dropping() {
            while (owner.innermost_ != mine && owner.innermost_->is_users_)
                delete static_cast<scope*>(owner.innermost_);
        }
    };
    const dropping guard{*this, innermost_};
    list.run(kind, e.value(), value);
    if (innermost_ != guard.mine)
        raise(errc::unbalanced_scope, "a hook left a scope open: its changes are dropped");
}

template <class Layout>
void store<Layout>::call_hooks(hook_kind kind, id_type e, fragment_data& fragment) {
    if (fragment.hooks.has(to_bits(kind)))
        run_hooks(fragment.hooks, kind, e, find_raw(e, fragment));
}

/// Calls the hooks of an entity that is about to be destroyed.
template <class Layout>
void store<Layout>::notify_remove(id_type e) {
    const chunk_data& here = graph_.at(find(e)->chunk());
    if (sparse_.has_any(e.value())) {
        for (fragment_data* fragment : fragments_of(e)) call_hooks(hook_kind::remove, e, *fragment);
    } else if (here.notifies_remove) {
        for (fragment_data* fragment : here.fragments) call_hooks(hook_kind::remove, e, *fragment);
    }
    if (entity_hooks_.has(remove_hooks)) run_hooks(entity_hooks_, hook_kind::remove, e, nullptr);
}

/// Notifies hooks and observers of the entities created in the rows from `first` on.
template <class Layout>
void store<Layout>::notify_insert(chunk_data& into, std::size_t first) {
    if (notifies_insert(into))
        notify_insert({ids(into) + first, into.size - first}, into.fragments);
}

/// Notifies hooks and observers that these entities have received these fragments.
template <class Layout>
void store<Layout>::notify_insert(std::span<const id_type> all,
                                  std::span<fragment_data* const> fragments) {
    for (fragment_data* fragment : fragments)
        fragment->hooks.prepare(hook_kind::insert, all.size());
    for (const id_type e : all) {
        if (entity_hooks_.has(insert_hooks))
            run_hooks(entity_hooks_, hook_kind::insert, e, nullptr);
        for (fragment_data* fragment : fragments) {
            call_hooks(hook_kind::insert, e, *fragment);
            call_hooks(hook_kind::set, e, *fragment);
        }
    }
    for (fragment_data* fragment : fragments)
        if (fragment->hooks.has(insert_hooks))
            for (const id_type e : all) fragment->hooks.note(hook_kind::insert, e.value());
}

template <class Layout>
void store<Layout>::notify_assign(id_type e, const fragment_data& fragment) {
    if (!fragment.hooks.has(assign_hooks)) return;
    fragment_data& known = *fragments_.find(fragment.id);
    known.hooks.prepare(hook_kind::assign, 1);
    call_hooks(hook_kind::assign, e, known);
    call_hooks(hook_kind::set, e, known);
    known.hooks.note(hook_kind::assign, e.value());
}

// Observers are notified last, when no hook can undo the change any more. From then on nothing may
// fail.

template <class Layout>
void store<Layout>::prepare_notes(const plan& transition, std::size_t count) {
    for (fragment_data* fragment : transition.removed)
        fragment->hooks.prepare(hook_kind::remove, count);
    for (const plan::notice& notice : transition.present)
        notice.fragment->hooks.prepare(notice.is_new ? hook_kind::insert : hook_kind::assign,
                                       count);
}

template <class Layout>
void store<Layout>::note(const plan& transition, id_type e) noexcept {
    for (fragment_data* fragment : transition.removed)
        fragment->hooks.note(hook_kind::remove, e.value());
    for (const plan::notice& notice : transition.present)
        notice.fragment->hooks.note(notice.is_new ? hook_kind::insert : hook_kind::assign,
                                    e.value());
}

/// Makes room in the logs of observers, for `count` destroyed entities of a chunk. May throw.
template <class Layout>
void store<Layout>::prepare_remove(const chunk_data& from, std::size_t count) {
    if (!from.notifies_remove) return;
    for (fragment_data* fragment : from.fragments)
        fragment->hooks.prepare(hook_kind::remove, count);
}

template <class Layout>
void store<Layout>::prepare_remove_sparse(id_type e, std::size_t count) {
    sparse_.each(e.value(), [&](const sparse_set& set) {
        set.fragment->hooks.prepare(hook_kind::remove, count);
    });
}

template <class Layout>
void store<Layout>::log_remove(id_type e) noexcept {
    sparse_.each(e.value(), [&](const sparse_set& set) {
        set.fragment->hooks.note(hook_kind::remove, e.value());
    });
    const chunk_data& from = graph_.at(find(e)->chunk());
    if (!from.notifies_remove) return;
    for (fragment_data* fragment : from.fragments)
        fragment->hooks.note(hook_kind::remove, e.value());
}

/// Prepares the notice for this fragment. False if a hook is to be called.
template <class Layout>
bool store<Layout>::noting::begin(fragment_data& fragment, hook_kind kind) {
    const unsigned kinds = kind == hook_kind::remove   ? remove_hooks
                           : kind == hook_kind::insert ? insert_hooks
                                                       : assign_hooks;
    if (fragment.hooks.has(kinds)) store_.notes_.push_back({&fragment, kind});
    return !fragment.hooks.calls(kinds);
}

template <class Layout>
bool store<Layout>::noting::finish(bool is_possible) {
    if (is_possible)
        for (const noted& notice : store_.notes_) notice.fragment->hooks.prepare(notice.kind, 1);
    store_.is_noting_ = is_possible;
    return is_possible;
}

template <class Layout>
bool store<Layout>::noting::begin_put(id_type e, std::span<fragment_data* const> given,
                                      bool assigns) {
    for (const fragment_data* fragment : given)
        if (fragment->hooks.calls(insert_hooks | assign_hooks)) return false;
    chunk_data& here = store_.graph_.at(store_.find(e)->chunk());
    const chunk_data& more =
        given.size() == 1 ? store_.ensure_single_chunk(*given[0]) : store_.ensure_set(given);
    const edge& transition = store_.graph_.with(here, more);
    if (transition.has_sparse_part) return false;
    const chunk_data& target = *transition.target;
    store_.notes_.clear();
    bool is_possible = true;
    for (fragment_data* fragment : target.fragments)
        if (!here.has(*fragment)) is_possible = begin(*fragment, hook_kind::insert) && is_possible;
    for (fragment_data* fragment : given)
        if (assigns && here.has(*fragment))
            is_possible = begin(*fragment, hook_kind::assign) && is_possible;
    return finish(is_possible);
}

template <class Layout>
bool store<Layout>::noting::begin_removal(const chunk_data& from, const chunk_data& less) {
    if (less.has_sparse) return false;
    store_.notes_.clear();
    bool is_possible = true;
    for (fragment_data* fragment : less.fragments)
        if (from.has(*fragment)) is_possible = begin(*fragment, hook_kind::remove) && is_possible;
    return finish(is_possible);
}

template <class Layout>
bool store<Layout>::noting::begin_arrival(const chunk_data& into) {
    store_.notes_.clear();
    bool is_possible = !store_.entity_hooks_.has(insert_hooks);
    for (fragment_data* fragment : into.fragments)
        is_possible = begin(*fragment, hook_kind::insert) && is_possible;
    return finish(is_possible);
}

template <class Layout>
void store<Layout>::noting::note_all(id_type e) noexcept {
    for (const noted& notice : store_.notes_) notice.fragment->hooks.note(notice.kind, e.value());
    end();
}

template <class Layout>
void store<Layout>::noting::end() noexcept {
    store_.is_noting_ = false;
    store_.notes_.clear();
}

template <class Layout>
bool store<Layout>::remove_told(id_type e, const chunk_data& less) {
    noting notes(*this);
    if (!notes.begin_removal(graph_.at(find(e)->chunk()), less))
        return record_remove({e, {}}, less.fragments);
    const bool is_done = remove_set(e, *find_record(e.key()), less);
    notes.note(e);
    return is_done;
}

template <class Layout>
void store<Layout>::destroy_told(at_type target) {
    if (fragments_.find(target.id.value()) != nullptr) return destroy_fragment(target);
    record_provenance(target);
    prepare_remove(graph_.at(find(target.id)->chunk()), 1);
    prepare_remove_sparse(target.id, 1);
    notify_remove(target.id);
    log_remove(target.id);
    finish_destroy(target.id, *find_record(target.id.key()));
    // A hook may have made it a fragment, without owners yet.
    if (fragment_data* const used = fragments_.find(target.id.value())) forget_fragment(*used);
}

template <class Layout>
bool store<Layout>::has_hooks() const noexcept {
    return entity_hooks_.kinds() != 0 || hooked_ != 0;
}

/// Entities whose hooks throw stay alive; so do the fragments that they have.
template <class Layout>
void store<Layout>::reset_told(const std::source_location& where) {
    std::vector<id_type> all;
    for (id_type e = next_living(0); e; e = next_living(e.key() + 1)) all.push_back(e);
    scope whole(*this);
    for (const fragment_data* fragment : fragments_.all())  // singletons
        if (fragment->is_world_owned) journal_.add(fragment->id, change_kind::clear, nullptr);
    // Fragments come last, so that the hooks of their owners still find all values.
    for (const id_type e : all)
        if (fragments_.find(e.value()) == nullptr) record_destroy({e, where});
    for (const id_type e : all)
        if (fragments_.find(e.value()) != nullptr) record_destroy({e, where});
    whole.commit();
}

template <class Layout>
std::uint64_t store<Layout>::add_hook(id_type f, hook_kind kind, hook_function&& made) {
    const std::uint64_t number = open_fragment(f).hooks.add(kind, std::move(made));
    refresh_hook_flags();
    return number;
}

template <class Layout>
std::uint64_t store<Layout>::add_entity_hook(hook_kind kind, hook_function&& made) {
    refuse_in_change("adding a hook");
    const std::uint64_t number = entity_hooks_.add(kind, std::move(made));
    refresh_hook_flags();
    return number;
}

template <class Layout>
hook_list* store<Layout>::find_hooks(id_type f) noexcept {
    if (f.is_null()) return &entity_hooks_;
    fragment_data* const found = fragments_.find(f.value());
    return found == nullptr ? nullptr : &found->hooks;
}

template <class Layout>
bool store<Layout>::connect_hook(id_type f, std::uint64_t number, bool wanted) noexcept {
    hook_list* const list = find_hooks(f);
    const bool is_done = list != nullptr && list->connect(number, wanted);
    if (is_done) refresh_hook_flags();
    return is_done;
}

template <class Layout>
bool store<Layout>::remove_hook(id_type f, std::uint64_t number) noexcept {
    hook_list* const list = find_hooks(f);
    const bool is_done = list != nullptr && list->remove(number);
    if (is_done) refresh_hook_flags();
    return is_done;
}

template <class Layout>
bool store<Layout>::is_connected(id_type f, std::uint64_t number) const noexcept {
    // SAFETY: `find_hooks` modifies nothing.
    const hook_list* const list = const_cast<store*>(this)->find_hooks(f);
    return list != nullptr && list->is_connected(number);
}

template <class Layout>
void store<Layout>::add_observer(change_log& log) {
    observers_.push_back(&log);
}

template <class Layout>
void store<Layout>::remove_observer(const change_log& log) noexcept {
    observers_.erase_if([&](const change_log* known_log) { return known_log == &log; });
    for (fragment_data* fragment : fragments_.all()) fragment->hooks.unsubscribe(log);
    refresh_hook_flags();
}

template <class Layout>
void store<Layout>::subscribe(change_log& log, id_type f, unsigned kinds) {
    refuse_in_change("observing");
    open_fragment(f).hooks.subscribe(log, kinds);
    refresh_hook_flags();
}

template <class Layout>
void store<Layout>::connect_observer(change_log& log, bool wanted) noexcept {
    log.is_paused = !wanted;
    for (fragment_data* fragment : fragments_.all()) fragment->hooks.refresh_kinds();
    refresh_hook_flags();
}

/// Updates all flags and caches that depend on hooks and observers.
template <class Layout>
void store<Layout>::refresh_hook_flags() noexcept {
    hooked_ = 0;
    for (const fragment_data* fragment : fragments_.all()) hooked_ |= fragment->hooks.kinds();
    busy_ = entity_hooks_.kinds() != 0 ? busy_ | has_entity_hooks : busy_ & ~has_entity_hooks;
    forget_chunks();
    sparse_.invalidate_traits();
    graph_.refresh_hook_flags();
}

}  // namespace muster::detail
