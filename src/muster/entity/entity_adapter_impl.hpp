// The part of `entity_adapter` that is compiled once per layout; see entity_table.hpp.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/base/text.hpp>
#include <muster/entity/entity_table_impl.hpp>
#include <muster/id/exact_ids.hpp>
#include <muster/id/pool_sharing.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

template <class Layout>
bool entity_adapter<Layout>::find(std::uint64_t e, location& at) const noexcept {
    const record_type* const found = table_.find(typed(e));
    if (found == nullptr || typed(e).value() != e) return false;
    at = {found->chunk(), found->row()};
    return true;
}

template <class Layout>
bool entity_adapter<Layout>::is_foreign(std::uint64_t e) const noexcept {
    const id_type id = typed(e);
    return Layout::world_bits != 0 && id.world() != 0 && id.world() != pool().world() &&
           !entity_directory::is_guest(e);
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::version_of(std::uint64_t e) const noexcept {
    return typed(e).version();
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::next_living(std::uint64_t key) const noexcept {
    return pool().next_living(larger(key, Layout::first_key)).value();
}

template <class Layout>
bool entity_adapter<Layout>::is_dense(std::uint64_t e) const noexcept {
    return pool().is_dense(key_of(e)) &&
           (Layout::world_bits == 0 || typed(e).world() == pool().world());
}

template <class Layout>
std::size_t entity_adapter<Layout>::capacity() const noexcept {
    return pool().capacity();
}

template <class Layout>
void entity_adapter<Layout>::place(std::uint64_t e, location at) noexcept {
    table_.record_of(typed(e)).place(at.chunk, at.row);
}

template <class Layout>
void entity_adapter<Layout>::place_rows(const chunk_data& chunk, std::size_t first,
                                        std::size_t count, chunk_index where) noexcept {
    const id_type* const all = table_.ids(chunk) + first;
    const std::size_t step = where == chunk_index{} ? 0 : 1;
    if (chunk.has_guests) {
        for (std::size_t i = 0; i < count; ++i)
            table_.record_of(all[i]).place(where, (first + i) * step);
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        pool().find(all[i].key())->place(where, (first + i) * step);
}

template <class Layout>
bool entity_adapter<Layout>::move_bytes(std::uint64_t e, const transition& step,
                                        slice<const pending_value> values) noexcept {
    chunk_data& from = *step.from;
    chunk_data& to = *step.to;
    const id_type id = typed(e);
    record_type* const found = table_.find_record(id.key());
    if (found == nullptr || !found->is(id, pool().origin()) || found->chunk() != from.index)
        return false;
    std::size_t to_row = found->row();
    if (&from != &to) {
        const std::size_t row = to_row;
        to_row = to.size;
        const bool has_target = to.index != chunk_index{};
        found->place(to.index, has_target ? to_row : 0);
        if (from.index != chunk_index{}) {
            const std::size_t last = --from.size;
            if (row != last) {
                const id_type moved = table_.ids(from)[row] = table_.ids(from)[last];
                pool().find(moved.key())->place(from.index, row);
            }
            const std::uint32_t* target = step.columns.data();
            const column* const targets = to.columns.data();
            for (const column& source : from.columns) {
                const std::uint32_t which = *target++;
                source.take_bytes(row, last,
                                  which == transition::dropped ? nullptr : targets + which, to_row);
            }
        }
        if (has_target) table_.ids(to)[to.size++] = id;
    }
    for (const transition::arrival& arrival : step.arrivals)
        to.columns[arrival.column].put_bytes(to_row, values[arrival.given].at);
    return true;
}

template <class Layout>
void entity_adapter<Layout>::move_row(std::uint64_t e, const transition& step,
                                      gate& changes) noexcept {
    table_.move_row(typed(e), *table_.find_record(key_of(e)), *step.from, step, changes);
}

template <class Layout>
void entity_adapter<Layout>::remove_row(std::uint64_t e, chunk_data& from, gate& changes) noexcept {
    record_type& found = table_.record_of(typed(e));
    const std::size_t row = found.row();
    if (from.has_guests) {
        found.place(chunk_index{}, 0);
        const busy_guard busy(changes);
        if (from.destroy_row(row)) table_.record_of(table_.ids(from)[row]).place(from.index, row);
    } else {
        table_.remove_row(found, from, changes);
    }
    from.note_removed(row);
}

template <class Layout>
void entity_adapter<Layout>::prepare(std::size_t count) {
    ensure_keys(count);
    pool().prepare(count);
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::create() {
    entity_directory::count_change();
    ensure_keys(1);
    return pool().create().value();
}

template <class Layout>
void entity_adapter<Layout>::create_all(id_span out) {
    entity_directory::count_change();
    ensure_keys(out.count);
    pool().create(typed(out));
}

template <class Layout>
void entity_adapter<Layout>::create_rows(chunk_data& into, std::size_t count) noexcept {
    entity_directory::count_change();
    const std::size_t first = into.size;
    pool().create_now(std::span<id_type>(table_.ids(into) + first, count),
                      [index = into.index, first](record_type& made, std::size_t i) {
                          made.place(index, first + i);
                      });
    into.size += count;
}

template <class Layout>
void entity_adapter<Layout>::undo_create(std::uint64_t e) noexcept {
    entity_directory::count_change();
    pool().undo_create(typed(e));
}

template <class Layout>
void entity_adapter<Layout>::refuse_at(target wanted) const {
    release_if_reserved(wanted.id);
    pool().refuse_at(typed(wanted.id), &wanted.where);
}

template <class Layout>
void entity_adapter<Layout>::create_at(std::uint64_t wanted) {
    entity_directory::count_change();
    release_if_reserved(wanted);
    pool().create_at(typed(wanted));
}

template <class Layout>
void entity_adapter<Layout>::refuse_at(id_span wanted) {
    if (pool().has_reserved())
        for (std::size_t i = 0; i < wanted.count; ++i) release_if_reserved(wanted.at(i));
    exact_ids<Layout, record_type>(pool(), typed(wanted)).check();
}

template <class Layout>
void entity_adapter<Layout>::create_rows_at(chunk_data& into, id_span wanted) {
    entity_directory::count_change();
    exact_ids<Layout, record_type> made(pool(), typed(wanted));
    const std::size_t first = into.size;
    if (into.index == chunk_index{}) return made.create([](record_type&, std::size_t) {});
    made.create([index = into.index, first](record_type& slot, std::size_t i) {
        slot.place(index, first + i);
    });
    wanted.copy_to({into.ids.at(first), wanted.count, wanted.width});
    into.size += wanted.count;
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::highest_free_from(std::uint64_t from) {
    const std::uint64_t highest = larger(smaller(from, Layout::last_key), Layout::first_key);
    pool().sync_reserved();
    if (const std::uint64_t found = find_free(highest); found != null()) return found;
    if (highest < Layout::last_key) return highest_free();
    entity_directory::release_unused_keys();
    if (const std::uint64_t found = find_free(highest); found != null()) return found;
    raise(errc::id_overflow, "no key is left for the fragment of a new component type");
}

/// Returns the free id with the highest key up to `highest`, or the null id.
template <class Layout>
std::uint64_t entity_adapter<Layout>::find_free(std::uint64_t highest) const noexcept {
    for (std::uint64_t key = highest;; --key) {
        const record_type* const slot = pool().find(key);
        const std::uint64_t version = slot == nullptr ? pool().first_version() : slot->version();
        if ((slot == nullptr || !slot->is_live(key)) && !pool().is_reserved(key) &&
            version <= Layout::last_issued_version)
            return id_type::assemble(key, version, pool().world()).value();
        if (key == Layout::first_key) return null();
    }
}

template <class Layout>
bool entity_adapter<Layout>::destroy(std::uint64_t e) noexcept {
    entity_directory::count_change();
    if (table_.has_guests() && table_.guests()->erase(typed(e))) return true;
    return pool().destroy(typed(e));
}

template <class Layout>
void entity_adapter<Layout>::adopt_rows(chunk_data& into, std::size_t count) {
    entity_directory::count_change();
    guest_table<Layout>& guests = table_.ensure_guests();
    entity_directory::note_guests();
    guests.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
        guests.insert(table_.ids(into)[into.size + i], into.index, into.size + i);
    guests.order();
    into.size += count;
}

template <class Layout>
bool entity_adapter<Layout>::find_guest(std::uint64_t e) const noexcept {
    return table_.guests()->find(typed(e)) != nullptr;
}

template <class Layout>
void entity_adapter<Layout>::forget_guests() noexcept {
    if (table_.has_guests()) table_.guests()->clear();
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::next_guest(std::uint64_t e) const noexcept {
    return table_.has_guests() ? table_.guests()->next(typed(e)).value() : null();
}

template <class Layout>
std::size_t entity_adapter<Layout>::next_marked(const chunk_data& chunk, std::size_t row,
                                                const destroy_marks& marks) const noexcept {
    const id_type* const ids = table_.ids(chunk);
    if (row == 0 && !marks.has_bits()) {  // a loop without branches, for the usual result
        std::uint64_t highest = 0;
        for (std::size_t i = 0; i < chunk.size; ++i) highest = larger(highest, ids[i].key());
        if (!marks.test(highest)) return chunk.size;
    }
    while (row < chunk.size && !marks.test(ids[row].key())) ++row;
    return row;
}

template <class Layout>
void entity_adapter<Layout>::destroy_rows(
    const chunk_data& chunk, std::size_t first, std::size_t count, const destroy_marks& marks,
    void (*destroy_marked)(void* context, std::uint64_t e) noexcept, void* context) noexcept {
    entity_directory::count_change();
    auto& slots = pool();
    const id_type* const ids = table_.ids(chunk) + first;
    const bool has_guests = chunk.has_guests;
    for (std::size_t i = count; i-- != 0;) {
        const id_type e = ids[i];
        if (!marks.test(e.key()) && !has_guests && slots.is_destroyed_easily(e)) [[likely]]
            slots.destroy_now(e);
        else
            destroy_marked(context, e.value());
    }
}

template <class Layout>
void entity_adapter<Layout>::reserve(std::size_t count) {
    pool().reserve(count);
}

template <class Layout>
std::size_t entity_adapter<Layout>::recycle_tombstones() {
    entity_directory::count_change();
    return pool().recycle_tombstones();
}

template <class Layout>
void entity_adapter<Layout>::trim() noexcept {
    pool().trim();
}

template <class Layout>
void entity_adapter<Layout>::take_reserved(array_list<std::uint64_t>& out) {
    entity_directory::count_reservation();
    const auto taken = pool().take_keys(pool().fair_count());
    for (std::uint64_t i = taken.count; i != 0; --i)
        out.push_back(pool().id_of_taken(taken.first + i - 1).value());
}

template <class Layout>
bool entity_adapter<Layout>::has_open_keys() const noexcept {
    return pool().has_open_keys();
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::available() const noexcept {
    return pool().available();
}

template <class Layout>
std::size_t entity_adapter<Layout>::fair_count() const noexcept {
    return pool().fair_count();
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::reserve_id() {
    entity_directory::count_reservation();
    return pool().reserve_id().value();
}

template <class Layout>
bool entity_adapter<Layout>::claim_reserved(std::uint64_t e) {
    entity_directory::count_change();
    return pool().claim_reserved(typed(e));
}

template <class Layout>
void entity_adapter<Layout>::give_up(std::uint64_t e) {
    entity_directory::count_change();
    pool().give_up(typed(e));
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::create_shared() {
    entity_directory::count_reservation();
    return table_.shared()->ids.create().value();
}

template <class Layout>
std::string entity_adapter<Layout>::text_of(std::uint64_t e) const {
    return to_string(typed(e));
}

template <class Layout>
std::uint64_t entity_adapter<Layout>::world_of(std::uint64_t e) const noexcept {
    return typed(e).world();
}

template <class Layout>
bool entity_adapter<Layout>::is_well_formed(std::uint64_t e) const noexcept {
    const id_type id = typed(e);
    return id_type::assemble(id.key(), id.version(), pool().world()) == id && !id.is_null();
}

template <class Layout>
bool entity_adapter<Layout>::has_lived(std::uint64_t e) const noexcept {
    const id_type id = typed(e);
    const record_type* const found = pool().find(id.key());
    if (found == nullptr || id.version() < pool().first_version() ||
        id_type::assemble(id.key(), id.version(), id.world()) != id)
        return false;
    const record_type slot = found->seen();
    const std::uint64_t reached = slot.version() + (slot.is_live(id.key()) ? 1u : 0u);
    // Where versions start over, a higher version may have lived before.
    return Layout::on_exhaustion != exhaustion::retire || id.version() < reached;
}

template <class Layout>
std::string entity_adapter<Layout>::slot_text(std::uint64_t e) const {
    const std::uint64_t key = key_of(e);
    const std::uint64_t version = pool().find(key)->seen().version();
    return version <= Layout::last_issued_version
               ? text("slot ", key, " is now at version ", version)
               : text("slot ", key, " has used its last version");
}

}  // namespace MUSTER_NAMESPACE::detail
