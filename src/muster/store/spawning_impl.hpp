// The part of store_impl.hpp that creates entities.
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
        std::size_t done = 0;  // columns with values
        ~rollback() {
            for (std::size_t i = 0; i < done; ++i) {
                const column& column = into.columns[i];
                if (given.find(column.fragment) != nullptr || !origin.skips(*column.fragment))
                    column.destroy(column.at(into.size), count);
            }
        }
    };
    const busy_guard busy(*this);
    rollback guard{into, origin, given, count};
    for (const column& source : into.columns) {
        const fragment_data& fragment = *source.fragment;
        std::byte* const to = source.at(into.size);
        if (const void* const* const value = given.find(&fragment))
            source.type->copy_values(to, *value, count, given.step);
        else if (origin.skips(fragment))
            ;  // the caller writes it
        else if (origin.copies(fragment))
            fragment.copy_value(to, fragment.base(origin.from->index) + origin.row * source.size,
                                count);
        else
            fragment.default_construct(to, count);
        ++guard.done;
    }
    guard.done = 0;
}

template <class Layout>
void store<Layout>::open_row(chunk_data& into, argument_addresses arguments) {
    if (&into != &graph_.empty_chunk()) into.make_room(1, row_limit, arguments);
}

template <class Layout>
void store<Layout>::default_construct_row(chunk_data& into, const chunk_data& a,
                                          const chunk_data& b) {
    const row_origin origin{nullptr, nullptr, 0, &a, &b, nullptr};
    refuse_without_default(into, origin, {});
    write_rows(into, 1, {}, origin);
}

template <class Layout>
void store<Layout>::drop_row(const chunk_data& into, const chunk_data& a,
                             const chunk_data& b) noexcept {
    for (const column& source : into.columns)
        if (!a.has(*source.fragment) && !b.has(*source.fragment))
            source.destroy(source.at(into.size), 1);
}

template <class Layout>
chunk_data& store<Layout>::cloned_part(chunk_data& original) {
    if (!original.has_unique) return original;
    array_list<fragment_data*> rest;
    for (fragment_data* fragment : original.fragments)
        if (!fragment->is_unique) rest.push_back(fragment);
    return graph_.ensure(rest);
}

/// Returns the chunk of the fragments of `part` and `given`, and of those that they need.
template <class Layout>
chunk_data& store<Layout>::cloned_chunk(chunk_data& part, const chunk_data& given) {
    chunk_data& both =
        &part == &graph_.empty_chunk() ? graph_.at(given.index) : *graph_.with(part, given).target;
    return both.is_complete ? both : *graph_.with(graph_.empty_chunk(), both).target;
}

template <class Layout>
void store<Layout>::refuse_without_default(const chunk_data& into, const row_origin& origin,
                                           row_values given) const {
    for (const column& source : into.columns) {
        const fragment_data& fragment = *source.fragment;
        if (given.find(&fragment) != nullptr || origin.skips(fragment) || fragment.has_default() ||
            origin.copies(fragment))
            continue;
        raise(errc::no_default, text(fragment.name,
                                     " is needed but has no default value: pass a value "
                                     "or define a default"));
    }
}

template <class Layout>
void store<Layout>::refuse_uncopyable(at_type prototype, const chunk_data& part,
                                      const chunk_data& given) const {
    for (const column& source : part.columns)
        if (!source.fragment->can_copy() && !given.has(*source.fragment))
            raise_no_clone(prototype, *source.fragment);
}

template <class Layout>
chunk_data& store<Layout>::copy_row(at_type prototype, const chunk_data& given,
                                    argument_addresses arguments) {
    const record_type& found = require(prototype, "clone");
    chunk_data& original = graph_.at(found.chunk());
    const std::size_t row = found.row();
    chunk_data& part = cloned_part(original);
    chunk_data& into = cloned_chunk(part, given);
    pool_.prepare(1);
    if (&into == &graph_.empty_chunk()) return into;
    refuse_uncopyable(prototype, part, given);
    const row_origin origin{&part, &original, row, &given, nullptr, nullptr};
    refuse_without_default(into, origin, {});
    into.make_room(1, row_limit, arguments);
    write_rows(into, 1, {}, origin);
    return into;
}

template <class Layout>
auto store<Layout>::append_row(chunk_data& into) noexcept -> id_type {
    return append_row_at(into, pool_.create());
}

template <class Layout>
auto store<Layout>::append_row_at(chunk_data& into, id_type made) noexcept -> id_type {
    if (&into != &graph_.empty_chunk()) {
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
void store<Layout>::append_ids(chunk_data& into, std::size_t count) noexcept {
    const std::size_t first = into.size;
    if (count != 0)
        for (fragment_data* fragment : into.fragments) fragment->is_untyped = false;
    pool_.create_now(std::span<id_type>(ids(into) + first, count),
                     [index = into.index, first](record_type& made, std::size_t i) {
                         made.place(index, first + i);
                     });
    into.size += count;
}

template <class Layout>
void store<Layout>::spawn_many(std::span<id_type> out, chunk_data& given_chunk, row_values given) {
    const bool is_empty = &given_chunk == &graph_.empty_chunk();
    const writer_guard writer(*this, "spawn");
    if (is_deferred("spawn"))
        record_many(out, given_chunk, given, nullptr);
    else if (has_sparse_part(given_chunk))
        spawn_with_sparse(out, given_chunk, given, nullptr);
    else if (is_empty && notifies_insert(given_chunk))
        spawn_told(out);
    else if (is_empty)
        pool_.create(out);
    else
        show_rows(out, append_rows(out.size(), given_chunk, given));
}

/// Notifies hooks of the new rows, the last of this chunk, and copies their ids to `out`.
template <class Layout>
void store<Layout>::show_rows(std::span<id_type> out, chunk_data& into) {
    const std::size_t first = into.size - out.size();
    if (!notifies_insert(into)) {
        std::copy_n(ids(into) + first, out.size(), out.begin());
        return;
    }
    new_entities guard(*this, into, first);
    scope whole(*this);
    notify_insert(into, first);
    guard.keep();
    std::copy_n(ids(into) + first, out.size(), out.begin());
    whole.commit();
}

/// Creates entities without components, all or none, and notifies hooks.
template <class Layout>
void store<Layout>::spawn_told(std::span<id_type> out) {
    struct rollback {
        store& owner;
        std::vector<id_type> made;
        bool is_done = false;
        ~rollback() {
            if (is_done) return;
            for (std::size_t i = made.size(); i-- != 0;) owner.rollback_spawn(made[i]);
        }
    };
    rollback guard{*this, std::vector<id_type>(out.size())};
    pool_.create(std::span<id_type>(guard.made));
    scope whole(*this);
    for (const id_type e : guard.made) run_hooks(entity_hooks_, hook_kind::insert, e, nullptr);
    guard.is_done = true;
    std::copy(guard.made.begin(), guard.made.end(), out.begin());
    whole.commit();
}

template <class Layout>
chunk_data& store<Layout>::append_rows(std::size_t count, chunk_data& given_chunk,
                                       row_values given) {
    chunk_data& into = cloned_chunk(graph_.empty_chunk(), given_chunk);
    const row_origin nothing{};
    refuse_without_default(into, nothing, given);
    pool_.prepare(count);
    into.make_room(count, row_limit, given.values);
    write_rows(into, count, given, nothing);
    append_ids(into, count);
    return into;
}

template <class Layout>
void store<Layout>::clone_many(std::span<id_type> out, at_type prototype, chunk_data& given_chunk,
                               row_values given) {
    const writer_guard writer(*this, "clone");
    if (is_deferred("clone")) return record_many(out, given_chunk, given, &prototype);
    const record_type& found = require(prototype, "clone");
    if (sparse_.has_any(prototype.id.value()) || has_sparse_part(given_chunk) ||
        has_sparse_part(cloned_part(graph_.at(found.chunk()))))
        return spawn_with_sparse(out, given_chunk, given, &prototype);
    chunk_data& original = graph_.at(found.chunk());
    const std::size_t row = found.row();
    chunk_data& part = cloned_part(original);
    chunk_data& into = cloned_chunk(part, given_chunk);
    pool_.prepare(out.size());
    if (&into == &graph_.empty_chunk()) return spawn_many(out, into, {});
    refuse_uncopyable(prototype, part, given_chunk);
    const row_origin origin{&part, &original, row, nullptr, nullptr, &given_chunk};
    refuse_without_default(into, origin, given);
    into.make_room(out.size(), row_limit, given.values);
    write_rows(into, out.size(), given, origin);
    append_ids(into, out.size());
    show_rows(out, into);
}

}  // namespace muster::detail
