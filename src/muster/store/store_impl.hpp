// The part of store.hpp that is compiled once per layout. Included by store.cpp and
// store_presets.cpp for the presets, and by <muster/world/instantiate.hpp> for a user's own layout.
#pragma once

#include <muster/entity/entity_adapter_impl.hpp>
#include <muster/store/store.hpp>

namespace MUSTER_NAMESPACE::detail {

template <class Layout>
inline constexpr type_info id_type_info{"id", sizeof(basic_id<Layout>), alignof(basic_id<Layout>)};

/// Sets index from 0 if the first key is small: their fast paths require it.
template <class Layout>
sparse_set::id_shape sparse_shape(const world_options& options) {
    const std::uint64_t first = larger(options.first_key, Layout::first_key);
    return sparse_set::id_shape::of<Layout>(first < 65'536 ? 0 : first);
}

template <class Layout>
component_access<Layout>::component_access(const world_options& options, settings of_file)
    : engine(adapter_, world_number::take<Layout>(options.number),
             {id_type_info<Layout>, table_type::chunk_limit, table_type::row_limit,
              sparse_shape<Layout>(options)},
             options.provenance, of_file),
      table_({.world = number.value(),
              .first_key = options.first_key,
              .last_key = options.last_key,
              .reuse = options.reuse,
              .first_version = number.first_version()}) {
    adapter_.set_keeper(parallel);
}

template <class Layout>
bool component_access<Layout>::has_outside_chunks(id_type e,
                                                  const fragment_data& fragment) const noexcept {
    if (fragment.sparse_values != nullptr &&
        fragment.sparse_values->template find_of<Layout>(e.value()) != no_slot)
        return true;
    return fragment.alias != nullptr && has(e, *fragment.alias);
}

template <class Layout>
auto component_access<Layout>::next_after(id_type e) const noexcept -> id_type {
    const auto& pool = table_.pool();
    if (table_.has_guests() && e && e.world() != pool.world()) return table_.guests()->next(e);
    id_type found = e ? pool.next_after(e) : pool.next_living(Layout::first_key);
    while (found && (catalog.is_world_owned(found.value()) || exchange.is_away(found.value())))
        found = pool.next_after(found);
    return found || !table_.has_guests() ? found : table_.guests()->next({});
}

template <class Layout>
const void* component_access<Layout>::find_fallback(id_type e,
                                                    const fragment_data& fragment) const noexcept {
    if (fragment.fallback.call == nullptr || !alive(e)) return nullptr;
    return fragment.fallback.call(fragment.fallback.context, e.value());
}

template <class Layout>
bool store<Layout>::remove(at_type of, id_type f) {
    const writer_guard guard(*this, "remove");
    if (gate.is_idle() && alive_locally(of.id)) [[likely]]
        if (const fragment_data& fragment = find_fragment(f); &fragment != &no_fragment)
            if (const remove_result done = remove_one(of.id, *find_record(of.id.key()), fragment);
                done != remove_result::slow)
                return done == remove_result::removed;
    const fragment_name name[] = {{std::uint64_t{f.value()}}};
    return changes.remove(of, name);
}

template <class Layout>
[[gnu::flatten]] bool store<Layout>::destroy_placed(at_type of, record_type& found) {
    chunk_data& here = graph.at(found.chunk());
    if (here.quiet_epoch != graph.epoch()) [[unlikely]]
        if (graph.refresh(here).notifies_remove || !here.has_plain_rows())
            return destroyer.destroy(target(of));
    table_.remove_row(found, here, gate);
    table_.pool().destroy_now(of.id);
    return true;
}

template <class Layout>
std::size_t store<Layout>::destroy(std::span<const id_type> all,
                                   const std::source_location& where) {
    bool is_local = gate.is_idle() && !gate.keeps_provenance && !notifier.has_any() &&
                    !destroyer.has_participants();
    for (const id_type e : all)  // destroying a fragment may fail
        is_local = is_local && !adapter_.is_foreign(e.value()) &&
                   !(marks.test(e.key()) && fragments.find(e.value()) != nullptr);
    if (is_local) {
        std::size_t count = 0;
        for (const id_type e : all) count += destroy(at_type(e, where)) ? 1u : 0u;
        return count;
    }
    array_list<std::uint64_t> ids;
    ids.reserve(all.size());
    for (const id_type e : all) ids.push_back(e.value());
    return destroyer.destroy({ids.data(), ids.size()}, where);
}

template <class Layout>
std::size_t store<Layout>::refuse_reserve(std::size_t count) {
    gate.refuse_in_change("reserve");
    const std::size_t own = catalog.world_owned_count();
    const std::size_t all = count + own < count ? count : count + own;
    table_.pool().refuse_reserve(all);
    return all;
}

template <class Layout>
void store<Layout>::reserve(std::size_t count) {
    table_.pool().reserve(refuse_reserve(count));
}

template <class Layout>
void store<Layout>::reserve(chunk_data& into, std::size_t count) {
    if (into.has_sparse) {
        gate.refuse_in_change("reserve");
        chunk_data& rest = catalog.cloned_chunk(graph.empty_chunk(), into);
        if (rest.index != chunk_index{}) reserve(rest, count);
        for (const fragment_data* fragment : into.fragments)
            if (fragment->sparse_values != nullptr) fragment->sparse_values->reserve(count);
        return;
    }
    if (count <= into.size) return;
    into.refuse_rows(count - into.size, table_type::row_limit);
    // Growing moves rows that a loop may be reading, and must not resize columns that are being
    // swapped.
    if (gate.is_deferred("reserve") && (into.size != 0 || gate.is_moving)) {
        scope whole(*this);
        pending.annotate(pending.add_barrier(into.serial, change_kind::reserve, nullptr),
                         {.count = count});
        whole.commit();
    } else {
        into.make_room(count - into.size, table_type::row_limit, {});
    }
}

}  // namespace MUSTER_NAMESPACE::detail
