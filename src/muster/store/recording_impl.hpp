// The part of store_impl.hpp that writes changes into the journal. Whatever fails here happens in a
// scope that the caller has opened, and is taken back with it.
#pragma once

#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <vector>

namespace muster::detail {

template <class Layout>
auto store<Layout>::record_birth(const id_type* wanted) -> id_type {
    journal_.reserve_one();
    id_type made;
    if (wanted != nullptr)
        claim(made = *wanted);
    else
        made = pool_.create();
    journal_.bear(made.value());
    return made;
}

template <class Layout>
store<Layout>::birth::birth(store& owner, const id_type* wanted) : store_(owner) {
    if (wanted != nullptr) {
        owner.pool_.refuse_at(*wanted);
        id = *wanted;
    } else {
        id = owner.pool_.create();
        is_new_ = true;
    }
}

template <class Layout>
void store<Layout>::birth::record(bool is_exact) {
    store_.journal_.reserve_one();
    if (is_exact) store_.claim(id);
    store_.journal_.bear_last(id.value());
    is_new_ = false;
}

template <class Layout>
void store<Layout>::birth::take_back() noexcept {
    store_.pool_.take_back(id);
}

/// A copy of a value in the world, made as `clone` does or as the type says.
template <class Layout>
void store<Layout>::record_copy(at_type who, change_kind kind, fragment_data& fragment,
                                const void* value, bool as_clone) {
    journal_entry& made = journal_.add(who.id.value(), kind, &fragment);
    if (fragment.type->size == 0 && fragment.beside == nullptr) return;
    void* const room = take_room(made);
    if (fragment.type->size == 0) return;
    const busy_scope nobody_else(*this);
    if (as_clone)
        fragment.copy_value(room, value, 1);
    else
        fragment.type->copy_values(room, value, 1, 0);
    made.value = room;
}

template <class Layout>
void store<Layout>::record_boxed(at_type who, change_kind kind, fragment_data& fragment,
                                 boxed_value& value) {
    journal_entry& made = journal_.add(who.id.value(), kind, &fragment);
    if (fragment.type->size == 0) return;
    void* const room = journal_.allocate(*fragment.type);
    const busy_scope nobody_else(*this);
    take_boxed(room, value);
    made.value = room;
}

/// Its default value, which it must have.
template <class Layout>
void store<Layout>::record_started(at_type who, change_kind kind, fragment_data& fragment) {
    if (!fragment.can_start()) raise_no_default(fragment, fragment.name);
    journal_entry& made = journal_.add(who.id.value(), kind, &fragment);
    if (fragment.type->size == 0 && fragment.beside == nullptr) return;
    void* const room = take_room(made);
    if (fragment.type->size == 0) return;
    const busy_scope nobody_else(*this);
    fragment.start_values(room, 1);
    made.value = room;
}

/// What `spawn_many` and, if there is a prototype, `clone_many` do.
template <class Layout>
void store<Layout>::record_many(std::span<id_type> out, chunk_data& given_chunk, row_values given,
                                const at_type* prototype) {
    const std::source_location where =
        prototype == nullptr ? std::source_location{} : prototype->where;
    std::vector<id_type> all(out.size());
    scope whole(*this);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = record_birth(nullptr);
        if (prototype != nullptr) record_copies(all[i], *prototype, given_chunk);
        for (std::size_t at = 0; at < given.fragments.size(); ++at) {
            fragment_data& fragment = *given.fragments[at];
            const auto* const value = static_cast<const std::byte*>(given.values[at]);
            record_copy({all[i], where}, change_kind::put, fragment,
                        value + i * given.step * fragment.type->size, false);
        }
        for (fragment_data* one : given_chunk.fragments) {  // what was given without a value
            if (given.find(one) != nullptr) continue;
            record_started({all[i], where}, change_kind::put, *one);
        }
    }
    std::copy(all.begin(), all.end(), out.begin());
    whole.commit();
}

/// What a clone has of its prototype: its values, and what has been recorded for it.
template <class Layout>
void store<Layout>::record_copies(id_type made, at_type prototype, const chunk_data& given) {
    const at_type who(made, prototype.where);
    (void)require(prototype, "clone");
    const auto copy = [&](change_kind kind, fragment_data& fragment, const void* value) {
        if (fragment.is_unique || given.has(fragment)) return;
        if (fragment.type->size != 0 && !fragment.can_copy()) raise_no_clone(prototype, fragment);
        record_copy(who, kind, fragment, value, true);
    };
    const auto drop = [&](fragment_data* fragment) {
        if (fragment != nullptr) journal_.add(made.value(), change_kind::remove, fragment);
    };
    for (fragment_data* one : fragments_of(prototype.id))
        copy(change_kind::put, *one, find_raw(prototype.id, *one));
    for (const std::uint32_t at : journal_.waiting_for(prototype.id.value())) {
        const journal_entry one = journal_.entry(at);  // adding to the journal moves it
        if (one.kind == change_kind::clear)
            journal_.add(made.value(), one.kind, nullptr);
        else if (one.kind == change_kind::destroy)  // of a fragment, perhaps
            drop(fragments_.find(journal_.group(one.group).id));
        else if (one.kind == change_kind::remove || one.kind == change_kind::clear_fragment)
            drop(one.fragment);
        else if (one.fragment != nullptr && has_component(one.kind))
            copy(one.kind, *one.fragment, one.value);
    }
}

/// Whether a clone has to be recorded.
template <class Layout>
bool store<Layout>::tells_clone(at_type prototype, const chunk_data& given) {
    chunk_data& original = graph_.at(require(prototype, "clone").chunk());
    chunk_data& part = cloned_part(original);
    return is_mixed(given) || is_mixed(part) || sparse_.has_any(prototype.id.value()) ||
           tells_coming(given) || tells_coming(cloned_chunk(part, given));
}

/// New entities with their values, in a chunk that is in no graph.
template <class Layout>
void store<Layout>::stage_rows(chunk_data& staged, std::size_t count, chunk_data& given_chunk,
                               row_values given) {
    const row_origin nothing{};
    staged.fragments = fragments_for(given_chunk, nullptr);
    staged.ids = column(*graph_.nowhere().ids.type, nullptr);
    for (fragment_data* one : staged.fragments) {
        if (one->type->pinned)
            raise(errc::not_movable, text(one->name,
                                          " cannot be moved: spawn_rows cannot fill it in a "
                                          "scope; spawn one by one, or outside of it"));
        if (one->type->size != 0) staged.columns.push_back(column(*one->type, one));
    }
    refuse_unstartable(staged, nothing, given);
    bool done = staged.ids.resize(0, count, {});
    for (column& one : staged.columns) done = done && one.resize(0, count, {});
    if (!done) raise_out_of_memory();
    for (std::size_t row = 0; row < count; ++row) ids(staged)[row] = record_birth(nullptr);
    write_rows(staged, count, given, nothing);
    staged.size = staged.capacity = count;
}

template <class Layout>
void store<Layout>::record_rows(chunk_data& staged) {
    // From the last one on, so that the rows that are left are whole if this fails.
    while (staged.size != 0) {
        const std::size_t row = staged.size - 1;
        const at_type who(ids(staged)[row], {});
        std::vector<void*> rooms;
        const std::uint32_t first = journal_.now().entries;
        for (fragment_data* one : staged.fragments) {
            journal_entry& made = journal_.add(who.id.value(), change_kind::put, one);
            const bool has_room = one->type->size != 0 || one->beside != nullptr;
            rooms.push_back(has_room ? take_room(made) : nullptr);
        }
        const busy_scope nobody_else(*this);
        for (std::size_t i = 0, at = 0; i < rooms.size(); ++i) {
            if (staged.fragments[i]->type->size == 0) continue;
            const column& one = staged.columns[at++];
            one.relocate(static_cast<std::byte*>(rooms[i]), one.at(row), 1);
            journal_.entry(first + static_cast<std::uint32_t>(i)).value = rooms[i];
        }
        --staged.size;
    }
}

template <class Layout>
bool store<Layout>::record_remove(at_type who, std::span<const fragment_data* const> set) {
    bool has_one = false;
    scope whole(*this);
    for (const fragment_data* one : set) {
        fragment_data* const known = fragments_.find(one->id);
        if (one == &no_fragment || known == nullptr) continue;
        has_one = has_one || has(who.id, *one);
        journal_.add(who.id.value(), change_kind::remove, known);
    }
    whole.commit();
    return has_one;
}

template <class Layout>
bool store<Layout>::record_clear(at_type who) {
    const bool has_one = has_any(who.id);
    scope whole(*this);
    journal_.add(who.id.value(), change_kind::clear, nullptr);
    whole.commit();
    return has_one;
}

template <class Layout>
bool store<Layout>::record_destroy(at_type who) {
    if (!alive(who.id)) return false;
    scope whole(*this);
    // The end of a fragment concerns all that have it.
    const bool is_fragment = fragments_.find(who.id.value()) != nullptr;
    journal_entry& made = is_fragment
                              ? journal_.add_barrier(who.id.value(), change_kind::destroy, nullptr)
                              : journal_.add(who.id.value(), change_kind::destroy, nullptr);
    journal_.annotate(made, {.where = who.where, .system = acting_});
    whole.commit();
    return true;
}

template <class Layout>
auto store<Layout>::foresee(id_type who, const fragment_data& fragment) -> prospect {
    prospect made{has(who, fragment), nullptr};
    for (const std::uint32_t at : journal_.waiting_for(who.value())) {
        const journal_entry& one = journal_.entry(at);
        const bool is_it = one.fragment == &fragment;
        switch (one.kind) {
        case change_kind::put:
            if (is_it) made = {true, &one};
            break;
        case change_kind::keep:
            if (is_it && !made.is_there) made = {true, &one};
            break;
        case change_kind::replace:
            if (is_it && made.is_there) made.entry = &one;
            break;
        case change_kind::remove:
        case change_kind::clear_fragment:
            if (is_it) made = {false, nullptr};
            break;
        case change_kind::clear: made = {false, nullptr}; break;
        case change_kind::destroy: {
            const std::uint64_t gone = journal_.group(one.group).id;
            if (gone == who.value() || gone == fragment.id) made = {false, nullptr};
            break;
        }
        default: break;
        }
    }
    return made;
}

/// The value that waits for `who`; a copy of what it has, if none does.
template <class Layout>
void* store<Layout>::waiting_copy(at_type who, const fragment_data& fragment) {
    (void)require(who, "patch");
    const void* original = nullptr;
    if (const journal_entry* const known = foresee(who.id, fragment).entry) {
        // One that an outer scope has recorded must not change if this one is cancelled.
        const open_scope* const mine = innermost_->outer_;
        if (known >= &journal_.entry(mine->start_.entries)) return known->value;
        original = known->value;
    } else {
        if (!has(who.id, fragment)) raise_missing(who, "patch", fragment.name, fragment);
        original = find_raw(who.id, fragment);
    }
    if (fragment.type->size != 0 && !fragment.type->can_copy())
        raise(errc::not_copyable,
              text("the ", fragment.name, " of ", describe(who.id),
                   " cannot be patched in a scope, which works on a copy: it cannot be copied. "
                   "Write through get() and call touch() (patch at ",
                   place_text(who.where), ")"));
    fragment_data& known = *fragments_.find(fragment.id);
    record_copy(who, change_kind::replace, known, original, false);
    return journal_.entry(journal_.now().entries - 1).value;
}

template <class Layout>
bool store<Layout>::will_have(at_type who, const fragment_data& fragment, const char* call) {
    refuse_in_phase(call);
    (void)require(who, call);
    return waits(call) ? foresee(who.id, fragment).is_there : has(who.id, fragment);
}

template <class Layout>
void store<Layout>::touch(at_type who, const fragment_data& fragment, std::string_view name) {
    const bool will_be = will_have(who, fragment, "touch");
    const bool must_wait = depth() != 0;
    if (!will_be && !has(who.id, fragment)) raise_missing(who, "touch", name, fragment);
    if (!must_wait && !fragment.hooks.has(assign_hooks)) return;
    scope whole(*this);
    journal_.add(who.id.value(), change_kind::touch, fragments_.find(fragment.id));
    whole.commit();
}

}  // namespace muster::detail
