// The part of store_impl.hpp that changes many entities at once, chunk by chunk. Each chunk is all or
// nothing; one that fails does not stop the others, and the first exception is thrown in the end. Where
// sparse fragments are concerned, it goes entity by entity instead.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/store/chunk_exchange_impl.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <vector>

namespace muster::detail {

// ---- by query ----------------------------------------------------------------------------------

/// Whether a chunk's entities are changed by this.
inline bool concerns(const chunk_data& chunk, const change_shape& change) noexcept {
    if (change.kind == change_kind::keep) return !chunk.has(*change.fragment);
    if (change.kind == change_kind::remove) return chunk.has(*change.fragment);
    return true;
}

/// The same chunks: those for which it holds, then the others.
template <class Predicate>
array_list<chunk_data*> first_those(const array_list<chunk_data*>& all, Predicate holds) {
    array_list<chunk_data*> made;
    for (chunk_data* one : all)
        if (holds(one)) made.push_back(one);
    for (chunk_data* one : all)
        if (!holds(one)) made.push_back(one);
    return made;
}

template <class Layout>
std::size_t store<Layout>::change_all(const target_finder& finder,
                                      std::span<const change_shape> changes,
                                      std::span<const void* const> values, const char* call,
                                      const std::source_location& where) {
    const writing alone(*this, call);
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
                ? !is_own(e)
                : std::ranges::any_of(changes, [&](const auto& each) { return concerns(e, each); }))
            ++count;
    for (const chunk_data* one : found.chunks)
        if (is_beside(changes))
            count += static_cast<std::size_t>(
                std::count_if(ids(*one), ids(*one) + one->size, [&](id_type e) {
                    return std::ranges::any_of(changes,
                                               [&](const auto& each) { return concerns(e, each); });
                }));
        else if (std::ranges::any_of(
                     changes, [&](const auto& each) { return detail::concerns(*one, each); }))
            count += changes[0].kind == change_kind::destroy ? count_mortal(*one) : one->size;
    scope whole(*this);
    for (std::size_t i = 0; i < changes.size(); ++i) {
        const auto [fragment, kind] = changes[i];
        journal_entry& made = i == 0 ? journal_.add_barrier(id_type{}.value(), kind, fragment)
                                     : journal_.extend_barrier(kind, fragment);
        if (i >= values.size() || values[i] == nullptr || fragment->type->size == 0) continue;
        void* const room = journal_.allocate(*fragment->type);
        const busy_scope nobody_else(*this);
        fragment->type->copy_values(room, values[i], 1, 0);
        made.value = room;
    }
    journal_.annotate(journal_.extend_barrier(change_kind::batch, nullptr),
                      {.where = where, .system = acting_, .finder = finder});
    whole.commit();
    return count;
}

template <class Layout>
std::size_t store<Layout>::start_all(const target_finder& finder, change_kind kind,
                                     std::span<const id_type> fragments, const char* call) {
    const writing alone(*this, call);
    refuse_in_change(call);
    std::vector<change_shape> changes;
    for (const id_type f : fragments) {
        fragment_data& one = typed_or_tag(f, nullptr);
        if (!one.can_start()) raise_no_default(one, one.name);
        changes.push_back({&one, kind});
    }
    return change_all(finder, changes, {}, call);
}

template <class Layout>
std::size_t store<Layout>::remove_all(const target_finder& finder,
                                      std::span<const id_type> fragments) {
    std::vector<change_shape> changes;
    for (const id_type f : fragments) {
        if (is_foreign(f)) raise_no_fragment(f, "remove", nullptr);
        if (fragment_data* const one = fragments_.find(f.value()))
            if (std::ranges::find(changes, one, &change_shape::fragment) == changes.end())
                changes.push_back({one, change_kind::remove});
    }
    return change_all(finder, changes, {}, "remove");
}

template <class Layout>
void store<Layout>::carry_out_batch(const journal_group& group) {
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
        const journal_entry& one = journal_.entry(at);
        is_lost = is_lost || (one.fragment == nullptr && has_component(one.kind));
        if (one.fragment == nullptr && one.kind == change_kind::remove) continue;
        shape.push_back({one.fragment, one.kind});
        values.push_back({one.value});
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
    if (all.is_by_id || is_beside(shape)) return carry_out_by_id(all, shape, values, note);
    array_list<chunk_data*>& found = all.chunks;
    // Those that stay where they are come first: others may join them.
    found = first_those(found, [&](const chunk_data* one) {
        return std::ranges::all_of(shape, [&](const change_shape& change) {
            return has_component(change.kind) && one->has(*change.fragment);
        });
    });
    each_chunk(found, [&](chunk_data& one) {
        if (destroys) return destroy_chunk(one, note);
        if (!shape.empty() && shape[0].kind == change_kind::clear && clear_beside(one)) return;
        change_chunk(one, shape, values);
    });
}

// ---- one by one: sparse fragments --------------------------------------------------------------

template <class Layout>
bool store<Layout>::concerns(id_type e, const change_shape& change) const {
    if (change.kind == change_kind::keep) return !has(e, *change.fragment);
    if (change.kind == change_kind::remove) return has(e, *change.fragment);
    return true;
}

/// Whether sparse fragments come or go with these changes.
template <class Layout>
bool store<Layout>::is_beside(std::span<const change_shape> shape) {
    return std::ranges::any_of(shape, [&](const change_shape& one) {
        return one.fragment != nullptr && is_mixed(ensure_alone(*one.fragment));
    });
}

template <class Layout>
void store<Layout>::carry_out_by_id(const batch_targets& found, std::span<const change_shape> shape,
                                    std::span<const value_source> values,
                                    const journal_note& note) {
    array_list<std::uint64_t> all = found.ids;
    for (const chunk_data* one : found.chunks)
        for (std::size_t row = 0; row < one->size; ++row) all.push_back(ids(*one)[row].value());
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

/// All that a batch does to one entity, or nothing.
template <class Layout>
void store<Layout>::change_one(id_type who, std::span<const change_shape> shape,
                               std::span<const value_source> values) {
    if (!alive(who)) return;
    struct rest {
        store& owner;
        ~rest() {
            owner.drop_given();
            owner.playback_->scratch.rewind({});
        }
    };
    playback_->shape.assign(shape.begin(), shape.end());
    playback_->values.assign(shape.size(), {});
    const rest guard{*this};
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (!has_component(shape[i].kind) ||
            (shape[i].kind == change_kind::keep && has(who, *shape[i].fragment)))
            continue;
        fragment_data& fragment = *shape[i].fragment;
        waiting_value& made = playback_->values[i];
        void* room = nullptr;
        if (fragment.beside != nullptr)
            room = fragment.beside->at(made.slot = fragment.beside->take());
        else
            room = playback_->scratch.allocate(fragment.type->size, fragment.type->alignment);
        if (fragment.type->size == 0) continue;
        if (values[i].first == nullptr && !fragment.can_start())
            raise_no_default(fragment, fragment.name);
        const busy_scope nobody_else(*this);
        values[i].fill(fragment, static_cast<std::byte*>(room), 1);
        made.at = room;
    }
    scope changes(*this);  // of hooks: dropped if this fails
    chunk_data& here = graph_.at(find(who)->chunk());
    follow(who, playback_->plans.find(graph_, here, beside_of(who), shape), playback_->values,
           false);
    changes.commit();
}

template <class Layout>
void store<Layout>::destroy_one(at_type who, std::string_view system) {
    if (!alive(who.id) || is_own(who.id)) return;
    const as_system acts(*this, system);
    if (fragments_.find(who.id.value()) != nullptr) {  // its end concerns all that have it
        record_destroy(who);
        return;
    }
    scope changes(*this);
    destroy_told(who);
    changes.commit();
}

/// `clear` of a chunk in which some have sparse fragments, one by one. False if there is none.
template <class Layout>
bool store<Layout>::clear_beside(const chunk_data& chunk) {
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

/// Calls `change` for each that has rows; how many rows it has changed. One that throws does not stop the
/// others.
template <class Layout>
template <class Change>
std::size_t store<Layout>::each_chunk(std::span<chunk_data* const> chunks, Change change) {
    std::size_t count = 0;
    first_error error;
    for (chunk_data* one : chunks)
        if (const std::size_t size = one->size; size != 0)
            error.attempt([&] {
                change(*one);
                count += size;
            });
    error.rethrow();
    return count;
}

/// The same for all that have a fragment, one by one.
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

/// All entities of a chunk, or none.
template <class Layout>
void store<Layout>::change_chunk(chunk_data& chunk, std::span<const change_shape> shape,
                                 std::span<const value_source> values) {
    const plan& way = playback_->plans.find(graph_, chunk, {}, shape);
    if (way.from == way.to && way.arrivals.empty() && !way.is_told()) return;
    scope changes(*this);  // of hooks: dropped if this fails
    prepare_notes(way, chunk.size);
    chunk_exchange all(*this, way, values);
    for (std::size_t i = 0; way.calls && i < all.count(); ++i)
        for (fragment_data* one : way.removed) call_hooks(hook_kind::remove, ids(chunk)[i], *one);
    all.go();
    struct undo {
        chunk_exchange& all;
        bool is_done = false;
        ~undo() {
            if (!is_done) all.go_back();
        }
    };
    undo guard{all};
    for (std::size_t i = 0; way.calls && i < all.count(); ++i)
        for (const plan::told& one : way.present) {
            call_hooks(one.is_new ? hook_kind::insert : hook_kind::assign, all.who(i),
                       *one.fragment);
            call_hooks(hook_kind::set, all.who(i), *one.fragment);
        }
    guard.is_done = true;
    for (std::size_t i = 0; way.is_told() && i < all.count(); ++i) note(way, all.who(i));
    for (fragment_data* one : way.settled) one->is_open = false;
    changes.commit();
}

// ---- the end of many ---------------------------------------------------------------------------

/// How many of a chunk's entities a batch may destroy: the world's own ids stay.
template <class Layout>
std::size_t store<Layout>::count_mortal(const chunk_data& chunk) const noexcept {
    return static_cast<std::size_t>(
        std::count_if(ids(chunk), ids(chunk) + chunk.size, [&](id_type e) { return !is_own(e); }));
}

template <class Layout>
void store<Layout>::destroy_chunk(chunk_data& chunk, const journal_note& note) {
    const as_system acts(*this, note.system);
    scope changes(*this);  // of hooks: dropped if this fails
    const auto is_fragment = [&](id_type e) {
        return (e.key() >= told_from_ || told_.test(e.key())) &&
               fragments_.find(e.value()) != nullptr;
    };
    std::vector<id_type> others;  // if not all rows die
    std::span<const id_type> dying(ids(chunk), chunk.size);
    if (std::ranges::any_of(dying, is_fragment)) {
        for (const id_type e : dying)
            if (!is_fragment(e))
                others.push_back(e);
            else if (!is_own(e))  // its end concerns all that have it: it goes by itself
                record_destroy({e, note.where});
        dying = others;
    }
    if (provenance_)
        for (const id_type e : dying) note_death({e, note.where});
    const auto tells_beside = [](const sparse_set* one) {
        return one != nullptr && one->size() != 0 && one->fragment->hooks.has(remove_hooks);
    };
    if (tells_going(chunk) || std::ranges::any_of(sparse_.all(), tells_beside)) {
        prepare_going(chunk, dying.size());
        for (const id_type e : dying) prepare_going_beside(e, dying.size());
        for (const id_type e : dying) tell_going(e);
        for (const id_type e : dying) note_going(e);
    }
    if (dying.size() == chunk.size)
        destroy_rows(chunk, 0);
    else
        for (const id_type e : dying) {
            die(e, *find_record(e.key()));
            if (fragment_data* const used = fragments_.find(e.value())) forget_fragment(*used);
        }
    changes.commit();
}

/// Destroys the entities of the rows from `first` on. Tells nobody.
template <class Layout>
void store<Layout>::destroy_rows(chunk_data& chunk, std::size_t first) noexcept {
    const std::size_t count = chunk.size - first;
    chunk.size = first;
    for (std::size_t i = count; i-- != 0;) {
        const id_type e = ids(chunk)[first + i];
        if (e.key() < told_from_ && !told_.test(e.key()) && pool_.is_destroyed_easily(e))
            [[likely]] {
            pool_.destroy_now(e);
            continue;
        }
        names_.erase(e.value());
        told_.reset(e.key());
        drop_beside(e);
        pool_.destroy(e);
        if (fragment_data* const used = fragments_.find(e.value())) forget_fragment(*used);
    }
    const busy_scope nobody_else(*this);
    chunk.destroy_values(first, count);
}

// ---- by fragment -------------------------------------------------------------------------------

template <class Layout>
std::size_t store<Layout>::clear_fragment(const fragment_data& fragment) {
    const writing alone(*this, "clear");
    const bool must_wait = waits("clear");
    fragment_data* const known = fragments_.find(fragment.id);
    if (&fragment == &no_fragment || known == nullptr) return 0;
    if (!must_wait && !fragment.hooks.has(remove_hooks)) {
        if (known->beside == nullptr) return clear_fragment_now(*known);
        const std::size_t size = known->beside->size();
        drop_all_beside(*known->beside);
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
    if (fragment.beside != nullptr)
        return each_owner(fragment, [&](id_type e) { change_one(e, shape, nothing); });
    return each_chunk(chunks_of(fragment),
                      [&](chunk_data& one) { change_chunk(one, shape, nothing); });
}

template <class Layout>
array_list<chunk_data*> store<Layout>::chunks_of(const fragment_data& fragment) const {
    array_list<chunk_data*> found;
    found.reserve(fragment.chunks.size());
    for (const chunk_index one : fragment.chunks) found.push_back(&graph_.at(one));
    return found;
}

template <class Layout>
std::size_t store<Layout>::copy_fragment(id_type from, id_type to,
                                         const std::source_location& where) {
    const writing alone(*this, "copy_fragment");
    const bool must_wait = waits("copy_fragment");
    const fragment_data& source = get_fragment(from, "copy_fragment", &where);
    if (!source.can_copy() && source.type->size != 0)
        raise(errc::not_copyable,
              text("the values of ", source.name, " cannot be copied (copy_fragment at ",
                   place_text(where), ")"));
    fragment_data* target = fragments_.find(to.value());
    if (target == nullptr || target->is_open) {
        target = &adopt_like(source, to, where);
    }
    if (!target->holds_like(source))
        raise_mismatch(*target, source.type->name, "copy_fragment", &where);
    if (target == &source) return 0;
    if (!must_wait && !has_hooks()) return copy_fragment_now(source, *target);
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
    if (source.beside != nullptr || is_beside(shape))
        return each_owner(source, [&](id_type e) {
            const value_source values[] = {{find_raw(e, source), 1, &source}};
            change_one(e, shape, values);
        });
    // Those that have both come first: the others join them.
    const array_list<chunk_data*> owners =
        first_those(chunks_of(source), [&](const chunk_data* one) { return one->has(target); });
    return each_chunk(owners, [&](chunk_data& one) {
        const value_source values[] = {{source.base(one.index), 1, &source}};
        change_chunk(one, shape, values);
    });
}

/// A living id takes the type of another fragment.
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
