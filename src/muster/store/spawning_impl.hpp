// The part of store_impl.hpp that makes entities.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <vector>

namespace muster::detail {

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
    array_list<fragment_data*> rest;
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
            raise_no_clone(prototype, *one.fragment);
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
    const writing alone(*this, "spawn");
    if (waits("spawn"))
        record_many(out, given_chunk, given, nullptr);
    else if (is_mixed(given_chunk))
        spawn_mixed(out, given_chunk, given, nullptr);
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
    const writing alone(*this, "clone");
    if (waits("clone")) return record_many(out, given_chunk, given, &prototype);
    const record_type& found = require(prototype, "clone");
    if (sparse_.has_any(prototype.id.value()) || is_mixed(given_chunk) ||
        is_mixed(cloned_part(graph_.at(found.chunk()))))
        return spawn_mixed(out, given_chunk, given, &prototype);
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

}  // namespace muster::detail
