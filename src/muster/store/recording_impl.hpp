// The part of store_impl.hpp that records changes in the journal. The caller has opened a scope,
// which drops the partial record if a step throws.
#pragma once

#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <vector>

namespace muster::detail {

template <class Layout>
auto store<Layout>::record_new_id(const id_type* wanted) -> id_type {
    journal_.reserve_one();
    id_type made;
    if (wanted != nullptr)
        claim(made = *wanted);
    else
        made = pool_.create();
    journal_.record_spawn(made.value());
    return made;
}

template <class Layout>
store<Layout>::pending_entity::pending_entity(store& owner, const id_type* wanted) : store_(owner) {
    if (wanted != nullptr) {
        owner.pool_.refuse_at(*wanted);
        id = *wanted;
    } else {
        id = owner.pool_.create();
        is_new_ = true;
    }
}

template <class Layout>
void store<Layout>::pending_entity::record(bool is_exact) {
    store_.journal_.reserve_one();
    if (is_exact) store_.claim(id);
    store_.journal_.record_spawn_last(id.value());
    is_new_ = false;
}

template <class Layout>
void store<Layout>::pending_entity::undo_create() noexcept {
    store_.pool_.undo_create(id);
}

/// Records a copy of a value, made as `clone` does or as the type does.
template <class Layout>
void store<Layout>::record_copy(at_type target, change_kind kind, fragment_data& fragment,
                                const void* value, bool as_clone) {
    journal_entry& made = journal_.add(target.id.value(), kind, &fragment);
    if (fragment.type->size == 0 && fragment.sparse_values == nullptr) return;
    void* const room = take_room(made);
    if (fragment.type->size == 0) return;
    const busy_guard busy(*this);
    if (as_clone)
        fragment.copy_value(room, value, 1);
    else
        fragment.type->copy_values(room, value, 1, 0);
    made.value = room;
}

template <class Layout>
void store<Layout>::record_boxed(at_type target, change_kind kind, fragment_data& fragment,
                                 boxed_value& value) {
    journal_entry& made = journal_.add(target.id.value(), kind, &fragment);
    if (fragment.type->size == 0) return;
    void* const room = journal_.allocate(*fragment.type);
    const busy_guard busy(*this);
    take_boxed(room, value);
    made.value = room;
}

/// Records the default value. Throws `errc::no_default` if the fragment has none.
template <class Layout>
void store<Layout>::record_default(at_type target, change_kind kind, fragment_data& fragment) {
    if (!fragment.has_default()) raise_no_default(fragment, fragment.name);
    journal_entry& made = journal_.add(target.id.value(), kind, &fragment);
    if (fragment.type->size == 0 && fragment.sparse_values == nullptr) return;
    void* const room = take_room(made);
    if (fragment.type->size == 0) return;
    const busy_guard busy(*this);
    fragment.default_construct(room, 1);
    made.value = room;
}

/// Records `spawn_many` or, with a prototype, `clone_many`.
template <class Layout>
void store<Layout>::record_many(std::span<id_type> out, chunk_data& given_chunk, row_values given,
                                const at_type* prototype) {
    const std::source_location where =
        prototype == nullptr ? std::source_location{} : prototype->where;
    std::vector<id_type> all(out.size());
    scope whole(*this);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = record_new_id(nullptr);
        if (prototype != nullptr) record_copies(all[i], *prototype, given_chunk);
        for (std::size_t at = 0; at < given.fragments.size(); ++at) {
            fragment_data& fragment = *given.fragments[at];
            const auto* const value = static_cast<const std::byte*>(given.values[at]);
            record_copy({all[i], where}, change_kind::put, fragment,
                        value + i * given.step * fragment.type->size, false);
        }
        for (fragment_data* owned : given_chunk.fragments) {  // fragments without a given value
            if (given.find(owned) != nullptr) continue;
            record_default({all[i], where}, change_kind::put, *owned);
        }
    }
    std::copy(all.begin(), all.end(), out.begin());
    whole.commit();
}

/// Records copies of the prototype's values for its clone, and of the changes pending for it.
template <class Layout>
void store<Layout>::record_copies(id_type made, at_type prototype, const chunk_data& given) {
    const at_type target(made, prototype.where);
    (void)require(prototype, "clone");
    const auto copy = [&](change_kind kind, fragment_data& fragment, const void* value) {
        if (fragment.is_unique || given.has(fragment)) return;
        if (fragment.type->size != 0 && !fragment.can_copy()) raise_no_clone(prototype, fragment);
        record_copy(target, kind, fragment, value, true);
    };
    const auto drop = [&](fragment_data* fragment) {
        if (fragment != nullptr) journal_.add(made.value(), change_kind::remove, fragment);
    };
    for (fragment_data* owned : fragments_of(prototype.id))
        copy(change_kind::put, *owned, find_raw(prototype.id, *owned));
    for (const std::uint32_t at : journal_.dependency_of(prototype.id.value())) {
        const journal_entry entry = journal_.entry(at);  // a copy: adding entries may reallocate
        if (entry.kind == change_kind::clear)
            journal_.add(made.value(), entry.kind, nullptr);
        else if (entry.kind == change_kind::destroy)  // the id may be a fragment
            drop(fragments_.find(journal_.group(entry.group).id));
        else if (entry.kind == change_kind::remove || entry.kind == change_kind::clear_fragment)
            drop(entry.fragment);
        else if (entry.fragment != nullptr && has_component(entry.kind))
            copy(entry.kind, *entry.fragment, entry.value);
    }
}

/// Whether a clone must be recorded: it involves sparse fragments or notifications.
template <class Layout>
bool store<Layout>::notifies_clone(at_type prototype, const chunk_data& given) {
    chunk_data& original = graph_.at(require(prototype, "clone").chunk());
    chunk_data& part = cloned_part(original);
    return has_sparse_part(given) || has_sparse_part(part) ||
           sparse_.has_any(prototype.id.value()) || notifies_insert(given) ||
           notifies_insert(cloned_chunk(part, given));
}

/// Creates new entities with their values in a chunk outside of the graph.
template <class Layout>
void store<Layout>::stage_rows(chunk_data& staged, std::size_t count, chunk_data& given_chunk,
                               row_values given) {
    const row_origin nothing{};
    staged.fragments = fragments_for(given_chunk, nullptr);
    staged.ids = column(*graph_.empty_chunk().ids.type, nullptr);
    for (fragment_data* fragment : staged.fragments) {
        if (fragment->type->pinned)
            raise(errc::not_movable, text(fragment->name,
                                          " cannot be moved, so spawn_rows cannot fill it in a "
                                          "scope; spawn one by one or outside of the scope"));
        if (fragment->type->size != 0) staged.columns.push_back(column(*fragment->type, fragment));
    }
    refuse_without_default(staged, nothing, given);
    bool done = staged.ids.resize(0, count, {});
    for (column& source : staged.columns) done = done && source.resize(0, count, {});
    if (!done) raise_out_of_memory();
    for (std::size_t row = 0; row < count; ++row) ids(staged)[row] = record_new_id(nullptr);
    write_rows(staged, count, given, nothing);
    staged.size = staged.capacity = count;
}

template <class Layout>
void store<Layout>::record_rows(chunk_data& staged) {
    // Starts at the last row, so that the remaining rows are intact if this throws.
    while (staged.size != 0) {
        const std::size_t row = staged.size - 1;
        const at_type target(ids(staged)[row], {});
        std::vector<void*> rooms;
        const std::uint32_t first = journal_.now().entries;
        for (fragment_data* fragment : staged.fragments) {
            journal_entry& made = journal_.add(target.id.value(), change_kind::put, fragment);
            const bool has_room = fragment->type->size != 0 || fragment->sparse_values != nullptr;
            rooms.push_back(has_room ? take_room(made) : nullptr);
        }
        const busy_guard busy(*this);
        for (std::size_t i = 0, at = 0; i < rooms.size(); ++i) {
            if (staged.fragments[i]->type->size == 0) continue;
            const column& column = staged.columns[at++];
            column.relocate(static_cast<std::byte*>(rooms[i]), column.at(row), 1);
            journal_.entry(first + static_cast<std::uint32_t>(i)).value = rooms[i];
        }
        --staged.size;
    }
}

template <class Layout>
bool store<Layout>::record_remove(at_type target, std::span<const fragment_data* const> set) {
    bool has_one = false;
    scope whole(*this);
    for (const fragment_data* fragment : set) {
        fragment_data* const known = fragments_.find(fragment->id);
        if (fragment == &no_fragment || known == nullptr) continue;
        has_one = has_one || has(target.id, *fragment);
        journal_.add(target.id.value(), change_kind::remove, known);
    }
    whole.commit();
    return has_one;
}

template <class Layout>
bool store<Layout>::record_clear(at_type target) {
    const bool has_one = has_any(target.id);
    scope whole(*this);
    journal_.add(target.id.value(), change_kind::clear, nullptr);
    whole.commit();
    return has_one;
}

template <class Layout>
bool store<Layout>::record_destroy(at_type target) {
    if (!alive(target.id)) return false;
    scope whole(*this);
    // Destroying a fragment affects all its owners.
    const bool is_fragment = fragments_.find(target.id.value()) != nullptr;
    journal_entry& made =
        is_fragment ? journal_.add_barrier(target.id.value(), change_kind::destroy, nullptr)
                    : journal_.add(target.id.value(), change_kind::destroy, nullptr);
    journal_.annotate(made, {.where = target.where, .system = current_system_});
    whole.commit();
    return true;
}

template <class Layout>
auto store<Layout>::pending_state_of(id_type e, const fragment_data& fragment) -> pending_state {
    pending_state made{has(e, fragment), nullptr};
    for (const std::uint32_t at : journal_.dependency_of(e.value())) {
        const journal_entry& entry = journal_.entry(at);
        const bool is_it = entry.fragment == &fragment;
        switch (entry.kind) {
        case change_kind::put:
            if (is_it) made = {true, &entry};
            break;
        case change_kind::keep:
            if (is_it && !made.is_there) made = {true, &entry};
            break;
        case change_kind::replace:
            if (is_it && made.is_there) made.entry = &entry;
            break;
        case change_kind::remove:
        case change_kind::clear_fragment:
            if (is_it) made = {false, nullptr};
            break;
        case change_kind::clear: made = {false, nullptr}; break;
        case change_kind::destroy: {
            const std::uint64_t gone = journal_.group(entry.group).id;
            if (gone == e.value() || gone == fragment.id) made = {false, nullptr};
            break;
        }
        default: break;
        }
    }
    return made;
}

/// Returns the pending value of the entity, or records a copy of its current value and returns
/// that.
template <class Layout>
void* store<Layout>::pending_copy(at_type target, const fragment_data& fragment) {
    (void)require(target, "patch");
    const void* original = nullptr;
    if (const journal_entry* const known = pending_state_of(target.id, fragment).entry) {
        // Cancelling this scope must not change a value that an outer scope has recorded.
        const open_scope* const mine = innermost_->outer_;
        if (known >= &journal_.entry(mine->start_.entries)) return known->value;
        original = known->value;
    } else {
        if (!has(target.id, fragment)) raise_missing(target, "patch", fragment.name, fragment);
        original = find_raw(target.id, fragment);
    }
    if (fragment.type->size != 0 && !fragment.type->can_copy())
        raise(errc::not_copyable,
              text("the ", fragment.name, " of ", describe(target.id),
                   " cannot be patched in a scope, because patch works on a copy there and it "
                   "cannot be copied. Write through get() and call touch() (patch at ",
                   place_text(target.where), ")"));
    fragment_data& known = *fragments_.find(fragment.id);
    record_copy(target, change_kind::replace, known, original, false);
    return journal_.entry(journal_.now().entries - 1).value;
}

template <class Layout>
bool store<Layout>::will_have(at_type target, const fragment_data& fragment, const char* call) {
    refuse_in_phase(call);
    (void)require(target, call);
    return is_deferred(call) ? pending_state_of(target.id, fragment).is_there
                             : has(target.id, fragment);
}

template <class Layout>
void store<Layout>::touch(at_type target, const fragment_data& fragment, std::string_view name) {
    const bool will_be = will_have(target, fragment, "touch");
    const bool must_defer = depth() != 0;
    if (!will_be && !has(target.id, fragment)) raise_missing(target, "touch", name, fragment);
    if (!must_defer && !fragment.hooks.has(assign_hooks)) return;
    scope whole(*this);
    journal_.add(target.id.value(), change_kind::touch, fragments_.find(fragment.id));
    whole.commit();
}

}  // namespace muster::detail
