// The part of store_impl.hpp that calls hooks, and knows which there are.
#pragma once

#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/store.hpp>

#include <utility>
#include <vector>

namespace muster::detail {

/// A hook must close the scopes it opens: what it changes could not be put in order else.
template <class Layout>
void store<Layout>::run_hooks(hook_list& list, hook_kind kind, id_type who, void* value) {
    struct dropping {
        store& owner;
        const open_scope* mine;
        ~dropping() {
            while (owner.innermost_ != mine && owner.innermost_->is_users_)
                delete static_cast<scope*>(owner.innermost_);
        }
    };
    const dropping guard{*this, innermost_};
    list.run(kind, who.value(), value);
    if (innermost_ != guard.mine)
        raise(errc::unbalanced_scope,
              "a hook has opened a scope and not closed it: what it recorded is dropped");
}

template <class Layout>
void store<Layout>::call_hooks(hook_kind kind, id_type who, fragment_data& fragment) {
    if (fragment.hooks.has(to_bits(kind)))
        run_hooks(fragment.hooks, kind, who, find_raw(who, fragment));
}

/// Of one that is about to die.
template <class Layout>
void store<Layout>::tell_going(id_type who) {
    const chunk_data& here = graph_.at(find(who)->chunk());
    if (sparse_.has_any(who.value())) {
        for (fragment_data* one : fragments_of(who)) call_hooks(hook_kind::remove, who, *one);
    } else if (here.tells_going) {
        for (fragment_data* one : here.fragments) call_hooks(hook_kind::remove, who, *one);
    }
    if (entity_hooks_.has(remove_hooks)) run_hooks(entity_hooks_, hook_kind::remove, who, nullptr);
}

/// Of the entities that were made in the rows from `first` on.
template <class Layout>
void store<Layout>::tell_coming(chunk_data& into, std::size_t first) {
    if (tells_coming(into)) tell_coming({ids(into) + first, into.size - first}, into.fragments);
}

/// Of these, which have got these fragments.
template <class Layout>
void store<Layout>::tell_coming(std::span<const id_type> all,
                                std::span<fragment_data* const> fragments) {
    for (fragment_data* one : fragments) one->hooks.prepare(hook_kind::insert, all.size());
    for (const id_type who : all) {
        if (entity_hooks_.has(insert_hooks))
            run_hooks(entity_hooks_, hook_kind::insert, who, nullptr);
        for (fragment_data* one : fragments) {
            call_hooks(hook_kind::insert, who, *one);
            call_hooks(hook_kind::set, who, *one);
        }
    }
    for (fragment_data* one : fragments)
        if (one->hooks.has(insert_hooks))
            for (const id_type who : all) one->hooks.note(hook_kind::insert, who.value());
}

template <class Layout>
void store<Layout>::tell_assigned(id_type who, const fragment_data& fragment) {
    if (!fragment.hooks.has(assign_hooks)) return;
    fragment_data& known = *fragments_.find(fragment.id);
    known.hooks.prepare(hook_kind::assign, 1);
    call_hooks(hook_kind::assign, who, known);
    call_hooks(hook_kind::set, who, known);
    known.hooks.note(hook_kind::assign, who.value());
}

// Observers are told last: when no hook can undo the change any more, which nothing may then.

template <class Layout>
void store<Layout>::prepare_notes(const plan& way, std::size_t count) {
    for (fragment_data* one : way.removed) one->hooks.prepare(hook_kind::remove, count);
    for (const plan::told& one : way.present)
        one.fragment->hooks.prepare(one.is_new ? hook_kind::insert : hook_kind::assign, count);
}

template <class Layout>
void store<Layout>::note(const plan& way, id_type who) noexcept {
    for (fragment_data* one : way.removed) one->hooks.note(hook_kind::remove, who.value());
    for (const plan::told& one : way.present)
        one.fragment->hooks.note(one.is_new ? hook_kind::insert : hook_kind::assign, who.value());
}

/// Of one that dies, or of several of one chunk.
template <class Layout>
void store<Layout>::prepare_going(const chunk_data& from, std::size_t count) {
    if (!from.tells_going) return;
    for (fragment_data* one : from.fragments) one->hooks.prepare(hook_kind::remove, count);
}

template <class Layout>
void store<Layout>::prepare_going_beside(id_type who, std::size_t count) {
    sparse_.each(who.value(), [&](const sparse_set& one) {
        one.fragment->hooks.prepare(hook_kind::remove, count);
    });
}

template <class Layout>
void store<Layout>::note_going(id_type who) noexcept {
    sparse_.each(who.value(), [&](const sparse_set& one) {
        one.fragment->hooks.note(hook_kind::remove, who.value());
    });
    const chunk_data& from = graph_.at(find(who)->chunk());
    if (!from.tells_going) return;
    for (fragment_data* one : from.fragments) one->hooks.note(hook_kind::remove, who.value());
}

/// Of this fragment. False if a hook is to be called.
template <class Layout>
bool store<Layout>::noting::begin(fragment_data& one, hook_kind kind) {
    const unsigned kinds = kind == hook_kind::remove   ? remove_hooks
                           : kind == hook_kind::insert ? insert_hooks
                                                       : assign_hooks;
    if (one.hooks.has(kinds)) store_.notes_.push_back({&one, kind});
    return !one.hooks.calls(kinds);
}

template <class Layout>
bool store<Layout>::noting::finish(bool is_possible) {
    if (is_possible)
        for (const noted& one : store_.notes_) one.fragment->hooks.prepare(one.kind, 1);
    store_.is_noting_ = is_possible;
    return is_possible;
}

template <class Layout>
bool store<Layout>::noting::begin_put(id_type who, std::span<fragment_data* const> given,
                                      bool assigns) {
    for (const fragment_data* one : given)
        if (one->hooks.calls(insert_hooks | assign_hooks)) return false;
    chunk_data& here = store_.graph_.at(store_.find(who)->chunk());
    const chunk_data& more =
        given.size() == 1 ? store_.ensure_alone(*given[0]) : store_.ensure_set(given);
    const edge& way = store_.graph_.with(here, more);
    if (way.is_mixed) return false;
    const chunk_data& target = *way.target;
    store_.notes_.clear();
    bool is_possible = true;
    for (fragment_data* one : target.fragments)
        if (!here.has(*one)) is_possible = begin(*one, hook_kind::insert) && is_possible;
    for (fragment_data* one : given)
        if (assigns && here.has(*one)) is_possible = begin(*one, hook_kind::assign) && is_possible;
    return finish(is_possible);
}

template <class Layout>
bool store<Layout>::noting::begin_removal(const chunk_data& from, const chunk_data& less) {
    if (less.has_sparse) return false;
    store_.notes_.clear();
    bool is_possible = true;
    for (fragment_data* one : less.fragments)
        if (from.has(*one)) is_possible = begin(*one, hook_kind::remove) && is_possible;
    return finish(is_possible);
}

template <class Layout>
bool store<Layout>::noting::begin_arrival(const chunk_data& into) {
    store_.notes_.clear();
    bool is_possible = !store_.entity_hooks_.has(insert_hooks);
    for (fragment_data* one : into.fragments)
        is_possible = begin(*one, hook_kind::insert) && is_possible;
    return finish(is_possible);
}

template <class Layout>
void store<Layout>::noting::note_all(id_type who) noexcept {
    for (const noted& one : store_.notes_) one.fragment->hooks.note(one.kind, who.value());
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
void store<Layout>::destroy_told(at_type who) {
    if (fragments_.find(who.id.value()) != nullptr) return destroy_fragment(who);
    note_death(who);
    prepare_going(graph_.at(find(who.id)->chunk()), 1);
    prepare_going_beside(who.id, 1);
    tell_going(who.id);
    note_going(who.id);
    die(who.id, *find_record(who.id.key()));
    // A hook may have used it as a fragment: nobody has it yet.
    if (fragment_data* const used = fragments_.find(who.id.value())) forget_fragment(*used);
}

template <class Layout>
bool store<Layout>::has_hooks() const noexcept {
    return entity_hooks_.kinds() != 0 || hooked_ != 0;
}

/// Entities whose hooks throw stay; so do fragments that one of them has.
template <class Layout>
void store<Layout>::reset_told(const std::source_location& where) {
    std::vector<id_type> all;
    for (id_type e = next_living(0); e; e = next_living(e.key() + 1)) all.push_back(e);
    scope whole(*this);
    for (const fragment_data* one : fragments_.all())  // singletons
        if (one->is_own) journal_.add(one->id, change_kind::clear, nullptr);
    // Fragments last: those that have them can still be seen whole.
    for (const id_type e : all)
        if (fragments_.find(e.value()) == nullptr) record_destroy({e, where});
    for (const id_type e : all)
        if (fragments_.find(e.value()) != nullptr) record_destroy({e, where});
    whole.commit();
}

template <class Layout>
std::uint64_t store<Layout>::add_hook(id_type f, hook_kind kind, hook_function&& made) {
    const std::uint64_t number = open_fragment(f).hooks.add(kind, std::move(made));
    note_hooks();
    return number;
}

template <class Layout>
std::uint64_t store<Layout>::add_entity_hook(hook_kind kind, hook_function&& made) {
    refuse_in_change("adding a hook");
    const std::uint64_t number = entity_hooks_.add(kind, std::move(made));
    note_hooks();
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
    if (is_done) note_hooks();
    return is_done;
}

template <class Layout>
bool store<Layout>::remove_hook(id_type f, std::uint64_t number) noexcept {
    hook_list* const list = find_hooks(f);
    const bool is_done = list != nullptr && list->remove(number);
    if (is_done) note_hooks();
    return is_done;
}

template <class Layout>
bool store<Layout>::is_connected(id_type f, std::uint64_t number) const noexcept {
    // SAFETY: nothing is changed.
    const hook_list* const list = const_cast<store*>(this)->find_hooks(f);
    return list != nullptr && list->is_connected(number);
}

template <class Layout>
void store<Layout>::add_observer(change_log& log) {
    observers_.push_back(&log);
}

template <class Layout>
void store<Layout>::remove_observer(const change_log& log) noexcept {
    observers_.erase_if([&](const change_log* one) { return one == &log; });
    for (fragment_data* one : fragments_.all()) one->hooks.unwatch(log);
    note_hooks();
}

template <class Layout>
void store<Layout>::watch(change_log& log, id_type f, unsigned kinds) {
    refuse_in_change("observing");
    open_fragment(f).hooks.watch(log, kinds);
    note_hooks();
}

template <class Layout>
void store<Layout>::connect_observer(change_log& log, bool wanted) noexcept {
    log.is_cut = !wanted;
    for (fragment_data* one : fragments_.all()) one->hooks.note_kinds();
    note_hooks();
}

/// Others than before have to be told.
template <class Layout>
void store<Layout>::note_hooks() noexcept {
    hooked_ = 0;
    for (const fragment_data* one : fragments_.all()) hooked_ |= one->hooks.kinds();
    busy_ = entity_hooks_.kinds() != 0 ? busy_ | is_watched : busy_ & ~is_watched;
    forget_chunks();
    sparse_.note_meaning();
    graph_.note_hooks();
}

}  // namespace muster::detail
