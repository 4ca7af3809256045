// The part of store_impl.hpp that changes many entities at once, chunk by chunk. Each chunk changes
// as a whole or not at all. A chunk that fails does not stop the others; the first exception is
// thrown at the end. Changes of sparse fragments are applied entity by entity instead.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/store/chunk_move_impl.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <vector>

namespace muster::detail {

// ---- by query ----------------------------------------------------------------------------------

/// Whether the change affects the entities of a chunk.
inline bool concerns(const chunk_data& chunk, const change_shape& change) noexcept {
    if (change.kind == change_kind::keep) return !chunk.has(*change.fragment);
    if (change.kind == change_kind::remove) return chunk.has(*change.fragment);
    return true;
}

/// Returns the chunks for which the predicate holds, followed by the others.
template <class Predicate>
array_list<chunk_data*> first_those(const array_list<chunk_data*>& all, Predicate holds) {
    array_list<chunk_data*> made;
    for (chunk_data* chunk : all)
        if (holds(chunk)) made.push_back(chunk);
    for (chunk_data* chunk : all)
        if (!holds(chunk)) made.push_back(chunk);
    return made;
}

template <class Layout>
std::size_t store<Layout>::change_all(const target_finder& finder,
                                      std::span<const change_shape> changes,
                                      std::span<const void* const> values, const char* call,
                                      const std::source_location& where) {
    const writer_guard writer(*this, call);
    refuse_in_change(call);
    if (changes.empty()) return 0;
    for (std::size_t i = 0; i < changes.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (changes[i].fragment == changes[j].fragment) raise_given_twice(*changes[i].fragment);
    batch_targets found;
    finder(found);
    std::size_t count = 0;
    for (const std::uint64_t value : found.ids)
        if (const auto e = to_id<Layout>(value);
            changes[0].kind == change_kind::destroy
                ? !is_world_owned(e)
                : std::ranges::any_of(changes, [&](const auto& each) { return concerns(e, each); }))
            ++count;
    for (const chunk_data* chunk : found.chunks)
        if (has_sparse_part(changes))
            count += static_cast<std::size_t>(
                std::count_if(ids(*chunk), ids(*chunk) + chunk->size, [&](id_type e) {
                    return std::ranges::any_of(changes,
                                               [&](const auto& each) { return concerns(e, each); });
                }));
        else if (std::ranges::any_of(
                     changes, [&](const auto& each) { return detail::concerns(*chunk, each); }))
            count += changes[0].kind == change_kind::destroy ? count_mortal(*chunk) : chunk->size;
    scope whole(*this);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const auto [fragment, kind] = changes[i];
        journal_entry& made = i == 0 ? journal_.add_barrier(id_type{}.value(), kind, fragment)
                                     : journal_.extend_barrier(kind, fragment);
        if (i >= values.size() || values[i] == nullptr || fragment->type->size == 0) continue;
        void* const room = journal_.allocate(*fragment->type);
        const busy_guard busy(*this);
        fragment->type->copy_values(room, values[i], 1, 0);
        made.value = room;
    }
    journal_.annotate(journal_.extend_barrier(change_kind::batch, nullptr),
                      {.where = where, .system = current_system_, .finder = finder});
    whole.commit();
    return count;
}

template <class Layout>
std::size_t store<Layout>::put_defaults(const target_finder& finder, change_kind kind,
                                        std::span<const id_type> fragments, const char* call) {
    const writer_guard writer(*this, call);
    refuse_in_change(call);
    std::vector<change_shape> changes;
    for (const id_type f : fragments) {
        fragment_data& fragment = typed_or_tag(f, nullptr);
        if (!fragment.has_default()) raise_no_default(fragment, fragment.name);
        changes.push_back({&fragment, kind});
    }
    return change_all(finder, changes, {}, call);
}

template <class Layout>
std::size_t store<Layout>::remove_all(const target_finder& finder,
                                      std::span<const id_type> fragments) {
    std::vector<change_shape> changes;
    for (const id_type f : fragments) {
        if (is_foreign(f)) raise_no_fragment(f, "remove", nullptr);
        if (fragment_data* const fragment = fragments_.find(f.value()))
            if (std::ranges::find(changes, fragment, &change_shape::fragment) == changes.end())
                changes.push_back({fragment, change_kind::remove});
    }
    return change_all(finder, changes, {}, "remove");
}

template <class Layout>
void store<Layout>::apply_batch(const journal_group& group) {
    struct rest {
        store& owner;
        std::uint32_t last;
        ~rest() { owner.drop_values(last); }
    };
    const rest guard{*this, journal_.entry(group.last).previous};
    const journal_note note = *static_cast<journal_note*>(journal_.entry(group.last).value);
    std::vector<change_shape> shape;
    std::vector<value_source> values;
    bool is_lost = false;
    for (std::uint32_t at = guard.last; at != journal::none; at = journal_.entry(at).previous) {
        const journal_entry& entry = journal_.entry(at);
        is_lost = is_lost || (entry.fragment == nullptr && has_component(entry.kind));
        if (entry.fragment == nullptr && entry.kind == change_kind::remove) continue;
        shape.push_back({entry.fragment, entry.kind});
        values.push_back({entry.value});
    }
    if (is_lost)
        raise(errc::dead_fragment,
              text("a batch is dropped: its fragment was destroyed in the same scope (at ",
                   place_text(note.where), ")"));
    std::ranges::reverse(shape);
    std::ranges::reverse(values);

    batch_targets all;
    note.finder(all);
    const bool destroys = !shape.empty() && shape[0].kind == change_kind::destroy;
    if (all.is_by_id || has_sparse_part(shape)) return apply_by_id(all, shape, values, note);
    array_list<chunk_data*>& found = all.chunks;
    // Chunks that keep their entities come first: others may move entities into them, which would
    // then be changed twice.
    found = first_those(found, [&](const chunk_data* chunk) {
        return std::ranges::all_of(shape, [&](const change_shape& change) {
            return has_component(change.kind) && chunk->has(*change.fragment);
        });
    });
    each_chunk(found, [&](chunk_data& chunk) {
        if (destroys) return destroy_chunk(chunk, note);
        if (!shape.empty() && shape[0].kind == change_kind::clear && clear_sparse(chunk)) return;
        change_chunk(chunk, shape, values);
    });
}

// ---- sparse fragments: one entity at a time ----------------------------------------------------

template <class Layout>
bool store<Layout>::concerns(id_type e, const change_shape& change) const {
    if (change.kind == change_kind::keep) return !has(e, *change.fragment);
    if (change.kind == change_kind::remove) return has(e, *change.fragment);
    return true;
}

/// Whether these changes add or remove sparse fragments.
template <class Layout>
bool store<Layout>::has_sparse_part(std::span<const change_shape> shape) {
    return std::ranges::any_of(shape, [&](const change_shape& change) {
        return change.fragment != nullptr && has_sparse_part(ensure_single_chunk(*change.fragment));
    });
}

template <class Layout>
void store<Layout>::apply_by_id(const batch_targets& found, std::span<const change_shape> shape,
                                std::span<const value_source> values, const journal_note& note) {
    array_list<std::uint64_t> all = found.ids;
    for (const chunk_data* chunk : found.chunks)
        for (std::size_t row = 0; row < chunk->size; ++row) all.push_back(ids(*chunk)[row].value());
    first_error error;
    for (const std::uint64_t value : all) {
        const auto e = to_id<Layout>(value);
        error.attempt([&] {
            if (!shape.empty() && shape[0].kind == change_kind::destroy)
                destroy_one({e, note.where}, note.system);
            else
                change_one(e, shape, values);
        });
    }
    error.rethrow();
}

/// Applies a batch to one entity, completely or not at all.
template <class Layout>
void store<Layout>::change_one(id_type e, std::span<const change_shape> shape,
                               std::span<const value_source> values) {
    if (!alive(e)) return;
    struct rest {
        store& owner;
        ~rest() {
            owner.drop_given();
            owner.buffers_->scratch.rewind({});
        }
    };
    buffers_->shape.assign(shape.begin(), shape.end());
    buffers_->values.assign(shape.size(), {});
    const rest guard{*this};
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!has_component(shape[i].kind) ||
            (shape[i].kind == change_kind::keep && has(e, *shape[i].fragment)))
            continue;
        fragment_data& fragment = *shape[i].fragment;
        pending_value& made = buffers_->values[i];
        void* room = nullptr;
        if (fragment.sparse_values != nullptr)
            room = fragment.sparse_values->at(made.slot = fragment.sparse_values->take());
        else
            room = buffers_->scratch.allocate(fragment.type->size, fragment.type->alignment);
        if (fragment.type->size == 0) continue;
        if (values[i].first == nullptr && !fragment.has_default())
            raise_no_default(fragment, fragment.name);
        const busy_guard busy(*this);
        values[i].fill(fragment, static_cast<std::byte*>(room), 1);
        made.at = room;
    }
    scope changes(*this);  // changes of hooks; dropped on failure
    chunk_data& here = graph_.at(find(e)->chunk());
    apply(e, buffers_->plans.find(graph_, here, sparse_of(e), shape), buffers_->values, false);
    changes.commit();
}

template <class Layout>
void store<Layout>::destroy_one(at_type target, std::string_view system) {
    if (!alive(target.id) || is_world_owned(target.id)) return;
    const system_guard acts(*this, system);
    if (fragments_.find(target.id.value()) != nullptr) {  // a barrier: it affects all owners
        record_destroy(target);
        return;
    }
    scope changes(*this);
    destroy_told(target);
    changes.commit();
}

/// Clears the entities of a chunk one by one if any has sparse fragments; otherwise returns false.
template <class Layout>
bool store<Layout>::clear_sparse(const chunk_data& chunk) {
    const std::vector<id_type> all(ids(chunk), ids(chunk) + chunk.size);
    if (sparse_.empty() ||
        std::ranges::none_of(all, [&](id_type e) { return sparse_.has_any(e.value()); }))
        return false;
    const change_shape shape[] = {{nullptr, change_kind::clear}};
    const value_source nothing[1];
    first_error error;
    for (const id_type e : all) error.attempt([&] { change_one(e, shape, nothing); });
    error.rethrow();
    return true;
}

/// Calls `change` for each chunk that has rows, and returns how many rows changed. An exception
/// does not stop the others; the first is thrown at the end.
template <class Layout>
template <class Change>
std::size_t store<Layout>::each_chunk(std::span<chunk_data* const> chunks, Change change) {
    std::size_t count = 0;
    first_error error;
    for (chunk_data* chunk : chunks)
        if (const std::size_t size = chunk->size; size != 0)
            error.attempt([&] {
                change(*chunk);
                count += size;
            });
    error.rethrow();
    return count;
}

/// Like `each_chunk`, for each owner of a fragment.
template <class Layout>
template <class Change>
std::size_t store<Layout>::each_owner(const fragment_data& fragment, Change change) {
    std::size_t count = 0;
    first_error error;
    for (const id_type e : owners_of(fragment))
        error.attempt([&] {
            change(e);
            ++count;
        });
    error.rethrow();
    return count;
}

/// Changes all entities of a chunk, or none.
template <class Layout>
void store<Layout>::change_chunk(chunk_data& chunk, std::span<const change_shape> shape,
                                 std::span<const value_source> values) {
    const plan& transition = buffers_->plans.find(graph_, chunk, {}, shape);
    if (transition.from == transition.to && transition.arrivals.empty() &&
        !transition.has_notices())
        return;
    scope changes(*this);  // changes of hooks; dropped on failure
    prepare_notes(transition, chunk.size);
    chunk_move all(*this, transition, values);
    for (std::size_t i = 0; transition.calls && i < all.count(); ++i)
        for (fragment_data* fragment : transition.removed)
            call_hooks(hook_kind::remove, ids(chunk)[i], *fragment);
    all.apply();
    struct undo {
        chunk_move& all;
        bool is_done = false;
        ~undo() {
            if (!is_done) all.undo();
        }
    };
    undo guard{all};
    for (std::size_t i = 0; transition.calls && i < all.count(); ++i)
        for (const plan::notice& notice : transition.present) {
            call_hooks(notice.is_new ? hook_kind::insert : hook_kind::assign, all.id_at(i),
                       *notice.fragment);
            call_hooks(hook_kind::set, all.id_at(i), *notice.fragment);
        }
    guard.is_done = true;
    for (std::size_t i = 0; transition.has_notices() && i < all.count(); ++i)
        note(transition, all.id_at(i));
    for (fragment_data* fragment : transition.types_fixed) fragment->is_untyped = false;
    changes.commit();
}

// ---- destroying many ---------------------------------------------------------------------------

/// Returns how many entities of a chunk a batch may destroy: all except for world-owned ids.
template <class Layout>
std::size_t store<Layout>::count_mortal(const chunk_data& chunk) const noexcept {
    return static_cast<std::size_t>(std::count_if(ids(chunk), ids(chunk) + chunk.size,
                                                  [&](id_type e) { return !is_world_owned(e); }));
}

template <class Layout>
void store<Layout>::destroy_chunk(chunk_data& chunk, const journal_note& note) {
    const system_guard acts(*this, note.system);
    scope changes(*this);  // changes of hooks; dropped on failure
    const auto is_fragment = [&](id_type e) {
        return (e.key() >= marked_from_ || destroy_marks_.test(e.key())) &&
               fragments_.find(e.value()) != nullptr;
    };
    std::vector<id_type> remaining;  // the ids to destroy, if not all rows
    std::span<const id_type> dying(ids(chunk), chunk.size);
    if (std::ranges::any_of(dying, is_fragment)) {
        for (const id_type e : dying)
            if (!is_fragment(e))
                remaining.push_back(e);
            else if (!is_world_owned(e))  // a barrier of its own: it affects all owners
                record_destroy({e, note.where});
        dying = remaining;
    }
    if (keeps_provenance_)
        for (const id_type e : dying) record_provenance({e, note.where});
    const auto notifies_sparse = [](const sparse_set* set) {
        return set != nullptr && set->size() != 0 && set->fragment->hooks.has(remove_hooks);
    };
    if (notifies_remove(chunk) || std::ranges::any_of(sparse_.all(), notifies_sparse)) {
        prepare_remove(chunk, dying.size());
        for (const id_type e : dying) prepare_remove_sparse(e, dying.size());
        for (const id_type e : dying) notify_remove(e);
        for (const id_type e : dying) log_remove(e);
    }
    if (dying.size() == chunk.size)
        destroy_rows(chunk, 0);
    else
        for (const id_type e : dying) {
            finish_destroy(e, *find_record(e.key()));
            if (fragment_data* const used = fragments_.find(e.value())) forget_fragment(*used);
        }
    changes.commit();
}

/// Destroys the entities of the rows from `first` on. Notifies neither hooks nor observers.
template <class Layout>
void store<Layout>::destroy_rows(chunk_data& chunk, std::size_t first) noexcept {
    const std::size_t count = chunk.size - first;
    chunk.size = first;
    for (std::size_t i = count; i-- != 0;) {
        const id_type e = ids(chunk)[first + i];
        if (e.key() < marked_from_ && !destroy_marks_.test(e.key()) && pool_.is_destroyed_easily(e))
            [[likely]] {
            pool_.destroy_now(e);
            continue;
        }
        names_.erase(e.value());
        destroy_marks_.reset(e.key());
        drop_sparse(e);
        pool_.destroy(e);
        if (fragment_data* const used = fragments_.find(e.value())) forget_fragment(*used);
    }
    const busy_guard busy(*this);
    chunk.destroy_values(first, count);
}

// ---- by fragment -------------------------------------------------------------------------------

template <class Layout>
std::size_t store<Layout>::clear_fragment(const fragment_data& fragment) {
    const writer_guard writer(*this, "clear");
    const bool must_defer = is_deferred("clear");
    fragment_data* const known = fragments_.find(fragment.id);
    if (&fragment == &no_fragment || known == nullptr) return 0;
    if (!must_defer && !fragment.hooks.has(remove_hooks)) {
        if (known->sparse_values == nullptr) return clear_fragment_now(*known);
        const std::size_t size = known->sparse_values->size();
        drop_all_sparse(*known->sparse_values);
        return size;
    }
    const std::size_t had_it = count(fragment);
    scope whole(*this);
    journal_.add_barrier(id_type{}.value(), change_kind::clear_fragment, known);
    whole.commit();
    return had_it;
}

template <class Layout>
std::size_t store<Layout>::clear_fragment_now(fragment_data& fragment) {
    const change_shape shape[] = {{&fragment, change_kind::remove}};
    const value_source nothing[1];
    if (fragment.sparse_values != nullptr)
        return each_owner(fragment, [&](id_type e) { change_one(e, shape, nothing); });
    return each_chunk(chunks_of(fragment),
                      [&](chunk_data& chunk) { change_chunk(chunk, shape, nothing); });
}

template <class Layout>
array_list<chunk_data*> store<Layout>::chunks_of(const fragment_data& fragment) const {
    array_list<chunk_data*> found;
    found.reserve(fragment.chunks.size());
    for (const chunk_index index : fragment.chunks) found.push_back(&graph_.at(index));
    return found;
}

template <class Layout>
std::size_t store<Layout>::copy_fragment(id_type from, id_type to,
                                         const std::source_location& where) {
    const writer_guard writer(*this, "copy_fragment");
    const bool must_defer = is_deferred("copy_fragment");
    const fragment_data& source = get_fragment(from, "copy_fragment", &where);
    if (!source.can_copy() && source.type->size != 0)
        raise(errc::not_copyable,
              text("the values of ", source.name, " cannot be copied (copy_fragment at ",
                   place_text(where), ")"));
    fragment_data* target = fragments_.find(to.value());
    if (target == nullptr || target->is_untyped) {
        target = &adopt_like(source, to, where);
    }
    if (!target->has_same_type(source))
        raise_mismatch(*target, source.type->name, "copy_fragment", &where);
    if (target == &source) return 0;
    if (!must_defer && !has_hooks()) return copy_fragment_now(source, *target);
    const std::size_t had_it = count(source);
    scope whole(*this);
    journal_.annotate(journal_.add_barrier(from.value(), change_kind::copy_fragment, target),
                      {.where = where});
    whole.commit();
    return had_it;
}

template <class Layout>
std::size_t store<Layout>::copy_fragment_now(const fragment_data& source, fragment_data& target) {
    const change_shape shape[] = {{&target, change_kind::put}};
    if (source.sparse_values != nullptr || has_sparse_part(shape))
        return each_owner(source, [&](id_type e) {
            const value_source values[] = {{find_raw(e, source), 1, &source}};
            change_one(e, shape, values);
        });
    // Chunks that have both come first: the others move into them, and would be copied twice.
    const array_list<chunk_data*> owners =
        first_those(chunks_of(source), [&](const chunk_data* chunk) { return chunk->has(target); });
    return each_chunk(owners, [&](chunk_data& chunk) {
        const value_source values[] = {{source.base(chunk.index), 1, &source}};
        change_chunk(chunk, shape, values);
    });
}

/// Makes a living id a fragment of the same type as `source`.
template <class Layout>
fragment_data& store<Layout>::adopt_like(const fragment_data& source, id_type f,
                                         const std::source_location& where) {
    if (source.own_type == nullptr) return adopt(f, source.value_type, *source.type, &where);
    struct rollback {
        const type_info* kept;
        ~rollback() { delete kept; }
    };
    rollback guard{new type_info(*source.own_type)};
    fragment_data& made = adopt(f, no_type, *guard.kept, &where);
    if (made.type == guard.kept) std::swap(made.own_type, guard.kept);
    return made;
}

}  // namespace muster::detail
