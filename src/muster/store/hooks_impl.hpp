// The part of store_impl.hpp that calls hooks, and knows which there are.
#pragma once

#include <muster/base/text.hpp>
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
    if (here.tells_going)
        for (fragment_data* one : here.fragments) call_hooks(hook_kind::remove, who, *one);
    if (entity_hooks_.has(remove_hooks)) run_hooks(entity_hooks_, hook_kind::remove, who, nullptr);
}

/// Of the entities that were made in the rows from `first` on.
template <class Layout>
void store<Layout>::tell_coming(chunk_data& into, std::size_t first) {
    if (!tells_coming(into)) return;
    for (std::size_t row = first; row < into.size; ++row) {
        const id_type who = ids(into)[row];
        if (entity_hooks_.has(insert_hooks))
            run_hooks(entity_hooks_, hook_kind::insert, who, nullptr);
        for (fragment_data* one : into.fragments) {
            call_hooks(hook_kind::insert, who, *one);
            call_hooks(hook_kind::set, who, *one);
        }
    }
}

template <class Layout>
void store<Layout>::tell_assigned(id_type who, const fragment_data& fragment) {
    if (!fragment.hooks.has(assign_hooks)) return;
    fragment_data& known = *fragments_.find(fragment.id);
    call_hooks(hook_kind::assign, who, known);
    call_hooks(hook_kind::set, who, known);
}

template <class Layout>
void store<Layout>::destroy_told(at_type who) {
    if (fragments_.find(who.id.value()) != nullptr) return destroy_fragment(who);
    if (provenance_)
        deaths_.note(who.id.key(), who.id.version(), who.where, names_.find(who.id.value()));
    tell_going(who.id);
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

/// Others than before have to be told.
template <class Layout>
void store<Layout>::note_hooks() noexcept {
    hooked_ = 0;
    for (const fragment_data* one : fragments_.all()) hooked_ |= one->hooks.kinds();
    busy_ = entity_hooks_.kinds() != 0 ? busy_ | is_watched : busy_ & ~is_watched;
    forget_chunks();
    graph_.note_hooks();
}

}  // namespace muster::detail
