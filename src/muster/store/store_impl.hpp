// The compiled half of `store`: included by store.cpp for the presets, and by
// <muster/world/instantiate.hpp> for a user's own layout.
#pragma once

#include <muster/base/first_error.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/errors_impl.hpp>
#include <muster/store/fragments_impl.hpp>
#include <muster/store/playing_impl.hpp>
#include <muster/store/recording_impl.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace muster::detail {

template <class Layout>
inline constexpr type_info id_type_info{"id", sizeof(basic_id<Layout>), alignof(basic_id<Layout>)};

template <class Layout>
store<Layout>::store(const world_options& options)
    : provenance_(options.provenance),
      number_(world_number::take<Layout>(options.number)),
      pool_({.world = number_.value(),
             .first_key = options.first_key,
             .last_key = options.last_key,
             .reuse = options.reuse,
             .first_version = number_.first_version()}),
      graph_(id_type_info<Layout>, chunk_limit),
      playback_(new playback) {
    if (provenance_) told_from_ = 0;
    by_list_.grow(8);
    by_list_[lists_++] = {};
}

template <class Layout>
store<Layout>::~store() {
    end();
    delete playback_;
}

template <class Layout>
void store<Layout>::end() noexcept {
    if (is_ended_) return;
    is_ended_ = true;
    number_.spend(pool_.unused_version());
    while (innermost_ != nullptr && innermost_->is_users_) delete innermost_;
    rewind({});
    busy_ += one_change;
    const auto runs_code = [](const chunk_data* one) { return one->runs_code; };
    if (std::none_of(graph_.all().begin(), graph_.all().end(), runs_code)) return;
    // Values end while all else is there, and nobody is alive: their destructors may look.
    for (id_type e = pool_.next_living(Layout::first_key); e; e = pool_.next_living(e.key() + 1))
        pool_.destroy(e);
    end_values();
}

template <class Layout>
auto store<Layout>::find_far(id_type e) const noexcept -> const record_type* {
    const record_type* const found = pool_.find(e.key());
    return found != nullptr && found->is(e, pool_.origin()) ? found : nullptr;
}

template <class Layout>
auto store<Layout>::find_far_record(std::uint64_t key) const noexcept -> record_type* {
    // SAFETY: the pool is not const where the record is changed.
    return const_cast<record_type*>(pool_.find(key));
}

// ---- entities come -----------------------------------------------------------------------------

template <class Layout>
void store<Layout>::write_rows(chunk_data& into, std::size_t count, row_values given,
                               const row_origin& origin) {
    struct rollback {
        const chunk_data& into;
        const row_origin& origin;
        row_values given;
        std::size_t count;
        std::size_t done = 0;  // columns
        ~rollback() {
            for (std::size_t i = 0; i < done; ++i) {
                const column& one = into.columns[i];
                if (given.find(one.fragment) != nullptr || !origin.skips(*one.fragment))
                    one.destroy(one.at(into.size), count);
            }
        }
    };
    const busy_scope nobody_else(*this);
    rollback guard{into, origin, given, count};
    for (const column& one : into.columns) {
        const fragment_data& fragment = *one.fragment;
        std::byte* const to = one.at(into.size);
        if (const void* const* const value = given.find(&fragment))
            one.type->copy_values(to, *value, count, given.step);
        else if (origin.skips(fragment))
            ;  // the caller writes it
        else if (origin.copies(fragment))
            fragment.copy_value(to, fragment.base(origin.from->index) + origin.row * one.size,
                                count);
        else
            fragment.start_values(to, count);
        ++guard.done;
    }
    guard.done = 0;
}

template <class Layout>
void store<Layout>::open_row(chunk_data& into, watched arguments) {
    if (&into != &graph_.nowhere()) into.make_room(1, row_limit, arguments);
}

template <class Layout>
void store<Layout>::start_row(chunk_data& into, const chunk_data& a, const chunk_data& b) {
    const row_origin origin{nullptr, nullptr, 0, &a, &b, nullptr};
    refuse_unstartable(into, origin, {});
    write_rows(into, 1, {}, origin);
}

template <class Layout>
void store<Layout>::drop_row(const chunk_data& into, const chunk_data& a,
                             const chunk_data& b) noexcept {
    for (const column& one : into.columns)
        if (!a.has(*one.fragment) && !b.has(*one.fragment)) one.destroy(one.at(into.size), 1);
}

template <class Layout>
chunk_data& store<Layout>::cloned_part(chunk_data& original) {
    if (!original.has_unique) return original;
    std::vector<fragment_data*> rest;
    for (fragment_data* one : original.fragments)
        if (!one->is_unique) rest.push_back(one);
    return graph_.ensure(rest);
}

/// The chunk for what `part` and `given` have, and need.
template <class Layout>
chunk_data& store<Layout>::cloned_chunk(chunk_data& part, const chunk_data& given) {
    chunk_data& both =
        &part == &graph_.nowhere() ? graph_.at(given.index) : *graph_.with(part, given).target;
    return both.is_complete ? both : *graph_.with(graph_.nowhere(), both).target;
}

template <class Layout>
void store<Layout>::refuse_unstartable(const chunk_data& into, const row_origin& origin,
                                       row_values given) const {
    for (const column& one : into.columns) {
        const fragment_data& fragment = *one.fragment;
        if (given.find(&fragment) != nullptr || origin.skips(fragment) || fragment.can_start() ||
            origin.copies(fragment))
            continue;
        raise(errc::no_default, text(fragment.name,
                                     " is needed but has no default value: give one, "
                                     "or define it"));
    }
}

template <class Layout>
void store<Layout>::refuse_uncopyable(at_type prototype, const chunk_data& part,
                                      const chunk_data& given) const {
    for (const column& one : part.columns)
        if (!one.fragment->can_copy() && !given.has(*one.fragment))
            raise(errc::not_copyable,
                  text(describe(prototype.id), " cannot be cloned: its ", one.fragment->name,
                       " cannot be copied; give the clone one, or remove it (clone at ",
                       place_text(prototype.where), ")"));
}

template <class Layout>
chunk_data& store<Layout>::copy_row(at_type prototype, const chunk_data& given, watched arguments) {
    const record_type& found = require(prototype, "clone");
    chunk_data& original = graph_.at(found.chunk());
    const std::size_t row = found.row();
    chunk_data& part = cloned_part(original);
    chunk_data& into = cloned_chunk(part, given);
    pool_.prepare(1);
    if (&into == &graph_.nowhere()) return into;
    refuse_uncopyable(prototype, part, given);
    const row_origin origin{&part, &original, row, &given, nullptr, nullptr};
    refuse_unstartable(into, origin, {});
    into.make_room(1, row_limit, arguments);
    write_rows(into, 1, {}, origin);
    return into;
}

template <class Layout>
auto store<Layout>::enter(chunk_data& into) noexcept -> id_type {
    return enter_at(into, pool_.create());
}

template <class Layout>
auto store<Layout>::enter_at(chunk_data& into, id_type made) noexcept -> id_type {
    if (&into != &graph_.nowhere()) {
        find_record(made.key())->place(into.index, into.size);
        ids(into)[into.size++] = made;
    }
    return made;
}

template <class Layout>
void store<Layout>::claim(id_type wanted) {
    pool_.create_at(wanted);
}

template <class Layout>
void store<Layout>::enter_many(chunk_data& into, std::size_t count) noexcept {
    const std::size_t first = into.size;
    if (count != 0)
        for (fragment_data* one : into.fragments) one->is_open = false;
    pool_.create_now(std::span<id_type>(ids(into) + first, count),
                     [index = into.index, first](record_type& made, std::size_t i) {
                         made.place(index, first + i);
                     });
    into.size += count;
}

template <class Layout>
void store<Layout>::spawn_many(std::span<id_type> out, chunk_data& given_chunk, row_values given) {
    const bool is_empty = &given_chunk == &graph_.nowhere();
    if (waits("spawn"))
        record_many(out, given_chunk, given, nullptr);
    else if (is_empty && tells_coming(given_chunk))
        spawn_told(out);
    else if (is_empty)
        pool_.create(out);
    else
        show_rows(out, enter_rows(out.size(), given_chunk, given));
}

/// Tells hooks of the new rows, the last of this chunk, and gives their ids to the caller.
template <class Layout>
void store<Layout>::show_rows(std::span<id_type> out, chunk_data& into) {
    const std::size_t first = into.size - out.size();
    if (!tells_coming(into)) {
        std::copy_n(ids(into) + first, out.size(), out.begin());
        return;
    }
    new_entities guard(*this, into, first);
    scope whole(*this);
    tell_coming(into, first);
    guard.keep();
    std::copy_n(ids(into) + first, out.size(), out.begin());
    whole.commit();
}

/// Entities without components, all or none, of which hooks are told.
template <class Layout>
void store<Layout>::spawn_told(std::span<id_type> out) {
    struct rollback {
        store& owner;
        std::vector<id_type> made;
        bool is_done = false;
        ~rollback() {
            if (is_done) return;
            for (std::size_t i = made.size(); i-- != 0;) owner.unmake(made[i]);
        }
    };
    rollback guard{*this, std::vector<id_type>(out.size())};
    pool_.create(std::span<id_type>(guard.made));
    scope whole(*this);
    for (const id_type one : guard.made) run_hooks(entity_hooks_, hook_kind::insert, one, nullptr);
    guard.is_done = true;
    std::copy(guard.made.begin(), guard.made.end(), out.begin());
    whole.commit();
}

template <class Layout>
chunk_data& store<Layout>::enter_rows(std::size_t count, chunk_data& given_chunk,
                                      row_values given) {
    chunk_data& into = cloned_chunk(graph_.nowhere(), given_chunk);
    const row_origin nothing{};
    refuse_unstartable(into, nothing, given);
    pool_.prepare(count);
    into.make_room(count, row_limit, given.values);
    write_rows(into, count, given, nothing);
    enter_many(into, count);
    return into;
}

template <class Layout>
void store<Layout>::clone_many(std::span<id_type> out, at_type prototype, chunk_data& given_chunk,
                               row_values given) {
    if (waits("clone")) return record_many(out, given_chunk, given, &prototype);
    const record_type& found = require(prototype, "clone");
    chunk_data& original = graph_.at(found.chunk());
    const std::size_t row = found.row();
    chunk_data& part = cloned_part(original);
    chunk_data& into = cloned_chunk(part, given_chunk);
    pool_.prepare(out.size());
    if (&into == &graph_.nowhere()) return spawn_many(out, into, {});
    refuse_uncopyable(prototype, part, given_chunk);
    const row_origin origin{&part, &original, row, nullptr, nullptr, &given_chunk};
    refuse_unstartable(into, origin, given);
    into.make_room(out.size(), row_limit, given.values);
    write_rows(into, out.size(), given, origin);
    enter_many(into, out.size());
    show_rows(out, into);
}

template <class Layout>
void store<Layout>::destroy_rows(chunk_data& chunk, std::size_t first) noexcept {
    const std::size_t count = chunk.size - first;
    chunk.size = first;
    for (std::size_t i = count; i-- != 0;) {
        const id_type e = ids(chunk)[first + i];
        names_.erase(e.value());
        told_.reset(e.key());
        pool_.destroy(e);
        if (fragment_data* const used = fragments_.find(e.value())) forget_fragment(*used);
    }
    const busy_scope nobody_else(*this);
    chunk.destroy_values(first, count);
}

// ---- values come and go ------------------------------------------------------------------------

template <class Layout>
void store<Layout>::move_row(id_type e, record_type& found, chunk_data& from,
                             const edge& way) noexcept {
    chunk_data& to = *way.target;
    const std::size_t row = found.row();
    if (from.runs_code) destroy_dropped(from, way, row);
    const std::size_t to_row = to.size++;
    ids(to)[to_row] = e;
    found.place(to.index, to_row);
    if (from.index == chunk_index{}) return;
    const std::size_t last = --from.size;
    id_type* const tenants = ids(from);
    if (row != last) {
        const id_type moved = tenants[row] = tenants[last];
        pool_.find(moved.key())->place(from.index, row);
    }
    if (from.runs_code) return move_values(from, way, row, to_row);
    const column* const targets = to.columns.data();
    const std::uint32_t* target = way.columns.data();
    for (const column& one : from.columns) {
        const std::uint32_t which = *target++;
        one.take_bytes(row, last, which == edge::dropped ? nullptr : targets + which, to_row);
    }
}

template <class Layout>
[[gnu::noinline]] void store<Layout>::destroy_dropped(const chunk_data& from, const edge& way,
                                                      std::size_t row) noexcept {
    const busy_scope nobody_else(*this);
    for (std::size_t i = 0; i < from.columns.size(); ++i)
        if (way.columns[i] == edge::dropped) from.columns[i].destroy(from.columns[i].at(row), 1);
}

/// The values of a row go where the edge says, those of the last row take their place.
template <class Layout>
[[gnu::noinline]] void store<Layout>::move_values(const chunk_data& from, const edge& way,
                                                  std::size_t row, std::size_t to_row) noexcept {
    const busy_scope nobody_else(*this);
    const std::size_t last = from.size;  // it is a row no more
    const std::uint32_t* target = way.columns.data();
    for (const column& one : from.columns) {
        const std::uint32_t which = *target++;
        std::byte* const value = one.at(row);
        if (which != edge::dropped) one.relocate(way.target->columns[which].at(to_row), value, 1);
        if (row != last) one.relocate(value, one.at(last), 1);
    }
}

template <class Layout>
void store<Layout>::leave_row(record_type& found) noexcept {
    chunk_data& from = graph_.at(found.chunk());
    const std::size_t row = found.row();
    found.place(chunk_index{}, 0);
    busy_ += from.runs_code * one_change;
    const bool has_tenant = from.destroy_row(row);
    busy_ -= from.runs_code * one_change;
    if (has_tenant) pool_.find(ids(from)[row].key())->place(from.index, row);
}

template <class Layout>
bool store<Layout>::clear(at_type who) {
    const bool must_wait = waits("clear");
    record_type* const found = find_own(who, "clear");
    if (found == nullptr) return false;
    if (must_wait || graph_.at(found->chunk()).tells_going) return record_clear(who);
    if (found->chunk() == chunk_index{}) return false;
    leave_row(*found);
    return true;
}

/// Room is there.
template <class Layout>
void store<Layout>::move_all(chunk_data& from, const edge& way) noexcept {
    chunk_data& to = *way.target;
    const std::size_t count = from.size;
    const std::size_t first = to.size;
    const bool to_nowhere = &to == &graph_.nowhere();
    const busy_scope nobody_else(*this);
    for (std::size_t i = 0; i < from.columns.size(); ++i) {
        const column& one = from.columns[i];
        if (way.columns[i] == edge::dropped)
            one.destroy(one.data, count);
        else
            one.relocate(to.columns[way.columns[i]].at(first), one.data, count);
    }
    for (std::size_t i = 0; i < count; ++i)
        pool_.find(ids(from)[i].key())->place(to.index, to_nowhere ? 0 : first + i);
    if (!to_nowhere) {
        std::copy_n(ids(from), count, ids(to) + first);
        to.size += count;
    }
    from.size = 0;
}

template <class Layout>
std::size_t store<Layout>::clear_fragment(const fragment_data& fragment) {
    const bool must_wait = waits("clear");
    fragment_data* const known = fragments_.find(fragment.id);
    if (&fragment == &no_fragment || known == nullptr) return 0;
    if (!must_wait && !fragment.hooks.has(remove_hooks)) return clear_fragment_now(*known);
    const std::size_t had_it = count(fragment);
    scope whole(*this);
    journal_.add_barrier(0, change_kind::clear_fragment, known);
    whole.commit();
    return had_it;
}

/// Chunk by chunk; one whose hooks throw stays as it is.
template <class Layout>
std::size_t store<Layout>::clear_fragment_now(fragment_data& fragment) {
    const chunk_data& less = ensure_alone(fragment);
    const std::vector<chunk_index> owners = fragment.chunks;
    std::size_t count = 0;
    first_error error;
    for (const chunk_index owner : owners) {
        chunk_data& from = graph_.at(owner);
        if (from.size == 0) continue;
        const auto clear_chunk = [&] {
            scope changes(*this);
            if (fragment.hooks.has(remove_hooks))
                for (std::size_t row = 0; row < from.size; ++row)
                    call_hooks(hook_kind::remove, ids(from)[row], fragment);
            const edge& way = graph_.without(from, less);
            if (way.target != &graph_.nowhere()) way.target->make_room(from.size, row_limit, {});
            count += from.size;
            move_all(from, way);
            changes.commit();
        };
        if (fragment.hooks.has(remove_hooks))
            error.attempt(clear_chunk);
        else
            clear_chunk();
    }
    error.rethrow();
    return count;
}

template <class Layout>
std::size_t store<Layout>::count(const fragment_data& fragment) const noexcept {
    std::size_t sum = 0;
    for (const chunk_index one : fragment.chunks) sum += graph_.at(one).size;
    return sum;
}

template <class Layout>
bool store<Layout>::remove(at_type who, std::span<const id_type> fragments) {
    const bool must_wait = waits("remove");
    record_type* const found = find_own(who, "remove");
    for (const id_type f : fragments)
        if (is_foreign(f)) raise_no_fragment(f, "remove", &who.where);
    if (found == nullptr) return false;
    if (must_wait) {
        std::vector<const fragment_data*> all;
        for (const id_type f : fragments) all.push_back(&find_fragment(f));
        return record_remove(who, all);
    }
    std::vector<fragment_data*> there;
    for (const id_type f : fragments) {
        fragment_data* const one = fragments_.find(f.value());
        if (one == nullptr || one->base(found->chunk()) == nullptr) continue;
        if (fragments.size() == 1) return remove_set(who.id, *found, ensure_alone(*one));
        if (std::find(there.begin(), there.end(), one) == there.end()) there.push_back(one);
    }
    return !there.empty() && remove_set(who.id, *found, ensure_set(there));
}

template <class Layout>
bool store<Layout>::put_default(present what, at_type who, id_type f, const char* call) {
    const bool must_wait = waits(call);
    (void)require(who, call);
    fragment_data& fragment = typed_or_tag(f, &who.where);
    const bool is_there = fragment.base(require(who, call).chunk()) != nullptr;
    if (is_there && what == present::keep && (!must_wait || !fragment.can_start())) return false;
    if (!fragment.can_start())
        raise(errc::no_default,
              text(fragment.name, " has no default value: give one, or define it (", call, " at ",
                   place_text(who.where), ")"));
    boxed_value value(*fragment.type);
    {
        const busy_scope nobody_else(*this);
        fragment.start_values(value.room, 1);
        value.filled = true;
    }
    put_boxed(who, fragment, value, what);
    return what == present::assign || !is_there;
}

template <class Layout>
void store<Layout>::put_raw(at_type who, id_type f, const void* value) {
    refuse_in_change("set");
    (void)require(who, "set");
    fragment_data& fragment = get_fragment(f, "set", &who.where);
    if (!fragment.type->can_copy())
        raise(errc::not_copyable, text("the values of ", fragment.name,
                                       " cannot be copied (set at ", place_text(who.where), ")"));
    boxed_value kept(*fragment.type);
    {
        const busy_scope nobody_else(*this);
        fragment.type->copy_values(kept.room, value, 1, 0);
        kept.filled = true;
    }
    put_boxed(who, fragment, kept, present::assign);
}

/// The value is handed over.
template <class Layout>
void store<Layout>::put_boxed(at_type who, fragment_data& fragment, boxed_value& value,
                              present what) {
    record_type& found = require(who, "set");
    chunk_data& here = graph_.at(found.chunk());
    std::byte* const base = fragment.base(here.index);
    const edge* const more_way =
        base != nullptr ? nullptr : &graph_.with(here, ensure_alone(fragment));
    if (waits("set") ||
        (more_way == nullptr ? fragment.hooks.has(assign_hooks) : more_way->is_told)) {
        scope whole(*this);
        record_boxed(who, what == present::assign ? change_kind::put : change_kind::keep, fragment,
                     value);
        whole.commit();
        return;
    }
    if (base != nullptr) {
        if (fragment.type->size == 0) return;
        std::byte* const there = base + found.row() * fragment.type->size;
        const busy_scope nobody_else(*this);
        if (fragment.type->destroy != nullptr) fragment.type->destroy(there, 1);
        take_boxed(there, value);
        return;
    }
    const edge& way = *more_way;
    chunk_data& target = *way.target;
    target.make_room(1, row_limit, {});
    new_row row(*this, way.has_needed ? target : here, here, ensure_alone(fragment));
    if (fragment.type->size != 0) {
        const busy_scope nobody_else(*this);
        take_boxed(fragment.base(target.index) + target.size * fragment.type->size, value);
    }
    row.keep();
    fragment.is_open = false;
    move_row(who.id, found, here, way);
}

template <class Layout>
void store<Layout>::take_boxed(void* to, boxed_value& value) noexcept {
    if (value.type->relocate == nullptr)
        std::memcpy(to, value.room, value.type->size);
    else
        value.type->relocate(to, value.room, 1);
    value.filled = false;
}

template <class Layout>
std::size_t store<Layout>::copy_fragment(id_type from, id_type to,
                                         const std::source_location& where) {
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
                      {where, 0});
    whole.commit();
    return had_it;
}

template <class Layout>
std::size_t store<Layout>::copy_fragment_now(const fragment_data& source, fragment_data& target) {
    const chunk_data& more = ensure_alone(target);
    // Those that have both come first: the others join them.
    std::vector<chunk_data*> both;
    std::vector<chunk_data*> others;
    for (const chunk_index owner : source.chunks) {
        chunk_data& one = graph_.at(owner);
        if (one.size != 0) (one.has(target) ? both : others).push_back(&one);
    }
    std::size_t count = 0;
    first_error error;
    const auto each = [&](auto change) {  // a hook that throws keeps its chunk as it was
        if (has_hooks())
            error.attempt(change);
        else
            change();
    };
    for (chunk_data* one : both)
        each([&] {
            assign_all(*one, source, target);
            count += one->size;
        });
    for (chunk_data* one : others)
        each([&] {
            const std::size_t size = one->size;
            copy_all(*one, source, target, graph_.with(*one, more));
            count += size;
            target.is_open = false;
        });
    error.rethrow();
    return count;
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

/// All rows of a chunk that has both; all or none.
template <class Layout>
void store<Layout>::assign_all(const chunk_data& chunk, const fragment_data& source,
                               fragment_data& target) {
    const type_info& type = *source.type;
    scope changes(*this);
    struct rollback {  // copies that have not arrived, or old values until the hooks have returned
        store& owner;
        column kept;
        column other;
        std::byte* base;
        std::size_t count = 0;  // of `kept`
        bool is_done = false;
        void change_places() noexcept {
            other.relocate(other.data, base, count);
            kept.relocate(base, kept.data, count);
            std::swap(kept.data, other.data);
            std::swap(kept.block, other.block);
        }
        ~rollback() {
            const busy_scope nobody_else(owner);
            kept.destroy(kept.data, count);
            kept.free();
            other.free();
        }
    };
    rollback guard{*this, column(type, nullptr), column(type, nullptr), target.base(chunk.index)};
    if (type.size != 0) {
        if (!guard.kept.resize(0, chunk.size, {}) || !guard.other.resize(0, chunk.size, {}))
            raise_out_of_memory();
        const busy_scope nobody_else(*this);
        for (; guard.count < chunk.size; ++guard.count)
            source.copy_value(guard.kept.at(guard.count),
                              source.base(chunk.index) + guard.count * type.size, 1);
        guard.change_places();
    }
    struct undo {
        rollback& guard;
        bool is_done = false;
        ~undo() {
            const busy_scope nobody_else(guard.owner);
            if (!is_done) guard.change_places();
        }
    };
    undo back{guard};
    if (target.hooks.has(assign_hooks))
        for (std::size_t row = 0; row < chunk.size; ++row) tell_assigned(ids(chunk)[row], target);
    back.is_done = true;
    changes.commit();
}

/// All rows move to the chunk that has the target, too; all or none.
template <class Layout>
void store<Layout>::copy_all(chunk_data& here, const fragment_data& source,
                             const fragment_data& target, const edge& way) {
    chunk_data& to = *way.target;
    const edge back_way = way;  // hooks may end the other
    const std::size_t first = to.size;
    to.make_room(here.size, row_limit, {});
    const row_origin origin{nullptr, nullptr, 0, &here, &graph_.at(target.alone), nullptr};
    refuse_unstartable(to, origin, {});
    const std::size_t which = to.find_column(target);
    struct rollback {
        store& owner;
        const column* made;  // null: a tag
        std::byte* first;
        std::size_t count = 0;
        ~rollback() {
            const busy_scope nobody_else(owner);
            if (made != nullptr) made->destroy(first, count);
        }
    };
    scope changes(*this);
    {
        rollback guard{*this, nullptr, nullptr};
        const busy_scope nobody_else(*this);
        if (which < to.columns.size()) {
            guard.made = &to.columns[which];
            guard.first = guard.made->at(first);
            for (; guard.count < here.size; ++guard.count)
                source.copy_value(guard.made->at(first + guard.count),
                                  source.base(here.index) + guard.count * source.type->size, 1);
        }
        if (way.has_needed) write_rows(to, here.size, {}, origin);
        guard.count = 0;
        move_all(here, way);
    }
    if (back_way.is_told) {
        struct undo {
            store& owner;
            chunk_data& here;
            const edge& way;
            std::size_t first;
            bool is_done = false;
            ~undo() {
                if (!is_done) owner.return_all(here, way, first);
            }
        };
        undo back{*this, here, back_way, first};
        for (std::size_t row = first; row < to.size; ++row)
            for (fragment_data* one : to.fragments) {
                if (here.has(*one)) continue;
                call_hooks(hook_kind::insert, ids(to)[row], *one);
                call_hooks(hook_kind::set, ids(to)[row], *one);
            }
        back.is_done = true;
    }
    changes.commit();
}

/// Undoes `move_all`: the rows from `first` on go back to the chunk they came from, which is empty.
template <class Layout>
void store<Layout>::return_all(chunk_data& from, const edge& way, std::size_t first) noexcept {
    chunk_data& to = *way.target;
    const std::size_t count = to.size - first;
    const busy_scope nobody_else(*this);
    for (std::size_t i = 0; i < to.columns.size(); ++i) {
        const column& one = to.columns[i];
        if (std::find(way.columns.begin(), way.columns.end(), i) == way.columns.end())
            one.destroy(one.at(first), count);
    }
    for (std::size_t i = 0; i < from.columns.size(); ++i)
        from.columns[i].relocate(from.columns[i].data, to.columns[way.columns[i]].at(first), count);
    std::copy_n(ids(to) + first, count, ids(from));
    for (std::size_t row = 0; row < count; ++row)
        find_record(ids(from)[row].key())->place(from.index, row);
    from.size = count;
    to.size = first;
}

// ---- entities go -------------------------------------------------------------------------------

/// What is left to do when all that can fail is done.
template <class Layout>
void store<Layout>::die(id_type e, record_type& found) noexcept {
    names_.erase(e.value());
    told_.reset(e.key());
    if (found.chunk() != chunk_index{}) leave_row(found);
    pool_.destroy(e);
}

template <class Layout>
void store<Layout>::destroy_fragment(at_type who) {
    // Who dies: this one, the owners of fragments that die with them, and so on.
    std::vector<id_type> dying{who.id};
    std::unordered_set<std::uint64_t> seen{who.id.value()};
    std::vector<fragment_data*> gone;
    for (std::size_t i = 0; i < dying.size(); ++i) {
        fragment_data* const fragment = fragments_.find(dying[i].value());
        if (fragment == nullptr) continue;
        gone.push_back(fragment);
        if (!fragment->destroys_owners) continue;
        for (const chunk_index owner : fragment->chunks) {
            const chunk_data& chunk = graph_.at(owner);
            for (std::size_t row = 0; row < chunk.size; ++row)
                if (const id_type e = ids(chunk)[row]; seen.insert(e.value()).second)
                    dying.push_back(e);
        }
    }
    if (has_hooks()) {  // whoever throws keeps all of them
        std::vector<std::pair<id_type, fragment_data*>> losing;
        for (const chunk_data* one : graph_.all())
            for (fragment_data* fragment : gone)
                if (one->has(*fragment) && fragment->hooks.has(remove_hooks))
                    for (std::size_t row = 0; row < one->size; ++row)
                        if (const id_type e = ids(*one)[row]; !seen.contains(e.value()))
                            losing.emplace_back(e, fragment);
        for (const id_type e : dying) tell_going(e);
        for (const auto& [e, fragment] : losing) call_hooks(hook_kind::remove, e, *fragment);
    }
    // All that can fail: the ways of those that live on, room for them, and the places.
    struct move {
        chunk_data* from;
        const edge* way;
    };
    const chunk_data& less = ensure_set(gone);
    std::vector<chunk_data*> owners;
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
    if (provenance_)
        for (const id_type e : dying)
            deaths_.note(e.key(), e.version(), who.where, names_.find(e.value()));

    for (std::size_t i = dying.size(); i-- != 0;) die(dying[i], *find_record(dying[i].key()));
    for (const move& one : moves)
        if (one.from->size != 0) move_all(*one.from, *one.way);
    for (fragment_data* one : gone) forget_fragment(*one);
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
    const auto drop = [&](journal_entry& one) {  // a change of nothing
        one.fragment = nullptr;
        if (!has_component(one.kind)) return;
        if (one.value != nullptr && info.destroy != nullptr) info.destroy(one.value, 1);
        one.value = nullptr;
    };
    {
        const busy_scope nobody_else(*this);
        each_entry([&](journal_entry& one) {
            is_awaited = is_own;
            if (!is_own) drop(one);
        });
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
    each_entry([&](journal_entry& one) {
        if (next != nullptr)
            one.fragment = next;
        else
            drop(one);
    });
}

/// `destroy` of an entity that has components and dies easily.
template <class Layout>
[[gnu::flatten]] bool store<Layout>::destroy_placed(id_type e, record_type& found) {
    if (graph_.at(found.chunk()).tells_going) [[unlikely]]
        return record_destroy({e, {}});
    leave_row(found);
    pool_.destroy_now(e);
    return true;
}

template <class Layout>
bool store<Layout>::destroy_slowly(at_type who) {
    const bool must_wait = waits("destroy");
    record_type* const found = find_own(who, "destroy");
    if (found == nullptr) return false;
    const bool is_fragment = fragments_.find(who.id.value()) != nullptr;
    if (must_wait || tells_going(graph_.at(found->chunk())) || (is_fragment && has_hooks()))
        return record_destroy(who);
    if (is_fragment) {
        destroy_fragment(who);
        return true;
    }
    if (provenance_)
        deaths_.note(who.id.key(), who.id.version(), who.where, names_.find(who.id.value()));
    die(who.id, *found);
    return true;
}

template <class Layout>
std::size_t store<Layout>::destroy(std::span<const id_type> all,
                                   const std::source_location& where) {
    const bool must_wait = waits("destroy");
    for (const id_type e : all)
        if (is_foreign(e)) raise_not_alive({e, where}, "destroy");
    if (must_wait || has_hooks()) {  // those that are kept alive by a hook do not stop the others
        std::unordered_set<std::uint64_t> living;
        scope whole(*this);
        for (const id_type e : all)
            if (record_destroy({e, where})) living.insert(e.value());
        whole.commit();
        return living.size();
    }
    if (provenance_)  // what can fail comes first
        for (const id_type e : all)
            if (alive(e)) deaths_.note(e.key(), e.version(), where, names_.find(e.value()));
    std::size_t count = 0;
    for (const id_type e : all) count += destroy(at_type(e, where)) ? 1u : 0u;
    return count;
}

template <class Layout>
void store<Layout>::reset(const std::source_location& where) {
    refuse_in_scope("reset");
    if (has_hooks()) return reset_told(where);
    if (provenance_)
        for (id_type e = next_living(0); e; e = next_living(e.key() + 1))
            deaths_.note(e.key(), e.version(), where, names_.find(e.value()));
    std::vector<fragment_data*> gone;  // the user's
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
    while (found && found.key() >= own_from_ && find_fragment(found).is_own)
        found = pool_.next_living(found.key() + 1);
    return found;
}

// ---- room --------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::reserve(std::size_t count) {
    refuse_in_change("reserve");
    pool_.reserve(count + own_ < count ? count : count + own_);
}

template <class Layout>
void store<Layout>::reserve(chunk_data& into, std::size_t count) {
    if (count <= into.size) return;
    if (waits("reserve") && into.size != 0) {  // a loop may look at what would move
        scope whole(*this);
        journal_.annotate(journal_.add_barrier(into.serial, change_kind::reserve, nullptr),
                          {{}, count});
        whole.commit();
    } else {
        into.make_room(count - into.size, row_limit, {});
    }
}

template <class Layout>
void store<Layout>::prepare(std::size_t count) {
    refuse_in_change("spawn");
    pool_.prepare(count);
}

template <class Layout>
std::size_t store<Layout>::recycle_tombstones() {
    refuse_in_scope("recycle_tombstones");
    return pool_.recycle_tombstones();
}

template <class Layout>
void store<Layout>::collect_garbage() {
    refuse_in_scope("collect_garbage");
    forget_chunks();
    graph_.collect_garbage();
    pool_.trim();
    journal_.free();
    playback_->scratch.free();
}

// ---- names -------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::name(at_type who, std::string_view name) {
    require(who, "name");
    tell(who.id.key());
    fragment_data* const fragment = fragments_.find(who.id.value());
    if (fragment != nullptr && !fragment->is_own && fragment->own_name.empty()) {
        const std::string text = to_string(who.id);  // what it falls back to
        fragment->own_name.assign(text.begin(), text.end());
    }
    names_.set(who.id.value(), name);
    if (fragment != nullptr) show_name(*fragment);
}

template <class Layout>
std::string_view store<Layout>::name(id_type e) const noexcept {
    return alive(e) ? names_.find(e.value()) : std::string_view{};
}

}  // namespace muster::detail
