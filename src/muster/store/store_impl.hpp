// The part of `store` that is compiled once per layout. Included by store.cpp and store_presets.cpp
// for the presets, and by <muster/world/instantiate.hpp> for a user's own layout.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/applying_impl.hpp>
#include <muster/store/batches_impl.hpp>
#include <muster/store/destroying_impl.hpp>
#include <muster/store/errors_impl.hpp>
#include <muster/store/fragments_impl.hpp>
#include <muster/store/recording_impl.hpp>
#include <muster/store/sharing_impl.hpp>
#include <muster/store/sparse_impl.hpp>
#include <muster/store/sparse_put.hpp>
#include <muster/store/spawning_impl.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace muster::detail {

template <class Layout>
inline constexpr type_info id_type_info{"id", sizeof(basic_id<Layout>), alignof(basic_id<Layout>)};

template <class Layout>
store<Layout>::store(const world_options& options)
    : keeps_provenance_(options.provenance),
      number_(world_number::take<Layout>(options.number)),
      pool_({.world = number_.value(),
             .first_key = options.first_key,
             .last_key = options.last_key,
             .reuse = options.reuse,
             .first_version = number_.first_version()}),
      graph_(id_type_info<Layout>, chunk_limit),
      // Sets index from 0 if the first key is small: their fast paths require it.
      sparse_({Layout::key_bits, Layout::version_bits + Layout::world_bits,
               pool_.dense_first_key() < 65'536 ? 0 : pool_.dense_first_key(), sizeof(id_type)}) {
    if (keeps_provenance_) marked_from_ = 0;
    bundles_.grow(8);
    bundles_[bundle_count_++] = {};
    buffers_ = new apply_buffers;  // last: no later step can throw and leak it
}

template <class Layout>
store<Layout>::~store() {
    end();
    delete buffers_;
    delete sharing_;
}

template <class Layout>
void store<Layout>::end() noexcept {
    if (is_ended_) return;
    is_ended_ = true;
    for (change_log* log : observers_) {
        log->clear();
        log->has_world = false;
    }
    number_.retire_versions(pool_.unused_version());
    while (innermost_ != nullptr && innermost_->is_users_) delete static_cast<scope*>(innermost_);
    rewind({});
    busy_ += change_unit;
    const auto is_nontrivial = [](const chunk_data* chunk) { return chunk->is_nontrivial; };
    const auto ends_values = [](const sparse_set* set) {
        return set != nullptr && set->fragment->type->destroy != nullptr;
    };
    if (std::ranges::none_of(graph_.all(), is_nontrivial) &&
        std::ranges::none_of(sparse_.all(), ends_values))
        return;
    // Destructors of components may query the world, which is intact, but has no living entities.
    for (id_type e = pool_.next_living(Layout::first_key); e; e = pool_.next_living(e.key() + 1))
        pool_.destroy(e);
    world_owned_count_ = 0;
    end_values();
}

template <class Layout>
auto store<Layout>::find_overflow(id_type e) const noexcept -> const record_type* {
    const record_type* const found = pool_.find(e.key());
    if (found != nullptr && found->seen().is(e, pool_.origin())) return found;
    return is_parallel() ? find_made_now(e) : nullptr;
}

template <class Layout>
auto store<Layout>::find_overflow_record(std::uint64_t key) const noexcept -> record_type* {
    // SAFETY: only non-const functions write to the record, so the pool is not const then.
    return const_cast<record_type*>(pool_.find(key));
}

// ---- inserting and removing values -------------------------------------------------------------

template <class Layout>
void store<Layout>::move_row(id_type e, record_type& found, chunk_data& from,
                             const edge& transition) noexcept {
    chunk_data& to = *transition.target;
    const std::size_t row = found.row();
    if (from.is_nontrivial) destroy_dropped(from, transition, row);
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
    if (from.is_nontrivial) return move_values(from, transition, row, to_row);
    const column* const targets = to.columns.data();
    const std::uint32_t* target = transition.columns.data();
    for (const column& source : from.columns) {
        const std::uint32_t which = *target++;
        source.take_bytes(row, last, which == edge::dropped ? nullptr : targets + which, to_row);
    }
}

template <class Layout>
[[gnu::noinline]] void store<Layout>::destroy_dropped(const chunk_data& from,
                                                      const edge& transition,
                                                      std::size_t row) noexcept {
    const busy_guard busy(*this);
    for (std::size_t i = 0; i < from.columns.size(); ++i)
        if (transition.columns[i] == edge::dropped)
            from.columns[i].destroy(from.columns[i].at(row), 1);
}

/// Moves the values of a row along the edge; those of the last row replace them.
template <class Layout>
[[gnu::noinline]] void store<Layout>::move_values(const chunk_data& from, const edge& transition,
                                                  std::size_t row, std::size_t to_row) noexcept {
    const busy_guard busy(*this);
    const std::size_t last = from.size;  // the caller has removed it
    const std::uint32_t* target = transition.columns.data();
    for (const column& source : from.columns) {
        const std::uint32_t which = *target++;
        std::byte* const value = source.at(row);
        if (which != edge::dropped)
            source.relocate(transition.target->columns[which].at(to_row), value, 1);
        if (row != last) source.relocate(value, source.at(last), 1);
    }
}

template <class Layout>
void store<Layout>::leave_row(record_type& found) noexcept {
    chunk_data& from = graph_.at(found.chunk());
    const std::size_t row = found.row();
    found.place(chunk_index{}, 0);
    busy_ += from.is_nontrivial * change_unit;
    const bool has_tenant = from.destroy_row(row);
    busy_ -= from.is_nontrivial * change_unit;
    if (has_tenant) pool_.find(ids(from)[row].key())->place(from.index, row);
}

template <class Layout>
bool store<Layout>::clear(at_type target) {
    const writer_guard writer(*this, "clear");
    const bool must_defer = is_recording("clear");
    if (must_defer && is_parallel()) return share_clear(target);
    record_type* const found = find_local(target, "clear");
    if (found == nullptr) return false;
    if (must_defer || graph_.at(found->chunk()).notifies_remove ||
        sparse_.has_any(target.id.value()))
        return record_clear(target);
    if (found->chunk() == chunk_index{}) return false;
    leave_row(*found);
    return true;
}

/// Moves all rows along the edge. The target has room for them.
template <class Layout>
void store<Layout>::move_all(chunk_data& from, const edge& transition) noexcept {
    chunk_data& to = *transition.target;
    const std::size_t count = from.size;
    const std::size_t first = to.size;
    const bool to_empty_chunk = &to == &graph_.empty_chunk();
    const busy_guard busy(*this);
    for (std::size_t i = 0; i < from.columns.size(); ++i) {
        const column& column = from.columns[i];
        if (transition.columns[i] == edge::dropped)
            column.destroy(column.data, count);
        else
            column.relocate(to.columns[transition.columns[i]].at(first), column.data, count);
    }
    for (std::size_t i = 0; i < count; ++i)
        pool_.find(ids(from)[i].key())->place(to.index, to_empty_chunk ? 0 : first + i);
    if (!to_empty_chunk) {
        std::copy_n(ids(from), count, ids(to) + first);
        to.size += count;
    }
    from.size = 0;
}

template <class Layout>
std::size_t store<Layout>::count(const fragment_data& fragment) const noexcept {
    if (fragment.sparse_values != nullptr) return fragment.sparse_values->size();
    std::size_t sum = 0;
    for (const chunk_index index : fragment.chunks) sum += graph_.at(index).size;
    return sum;
}

template <class Layout>
bool store<Layout>::remove(at_type target, std::span<const id_type> fragments) {
    const writer_guard writer(*this, "remove");
    const bool must_defer = is_recording("remove");
    for (const id_type f : fragments)
        if (is_foreign(f)) raise_no_fragment(f, "remove", &target.where);
    if (must_defer && is_parallel()) {
        std::vector<fragment_name> all;
        for (const id_type f : fragments) all.push_back({std::uint64_t{f.value()}});
        return share_remove(target, all);
    }
    record_type* const found = find_local(target, "remove");
    if (found == nullptr) return false;
    if (must_defer) {
        std::vector<const fragment_data*> all;
        for (const id_type f : fragments) all.push_back(&find_fragment(f));
        return record_remove(target, all);
    }
    array_list<fragment_data*> there;
    for (const id_type f : fragments) {
        fragment_data* const fragment = fragments_.find(f.value());
        if (fragment == nullptr || !has(target.id, *fragment)) continue;
        if (fragments.size() == 1 && fragment->sparse_values != nullptr)
            return remove_sparse(target, *fragment->sparse_values);
        if (fragments.size() == 1)
            return remove_set(target.id, *found, ensure_single_chunk(*fragment));
        if (std::find(there.begin(), there.end(), fragment) == there.end())
            there.push_back(fragment);
    }
    return !there.empty() && remove_set(target.id, *found, ensure_set(there));
}

template <class Layout>
bool store<Layout>::put_default(if_present what, at_type target, id_type f, const char* call) {
    const writer_guard writer(*this, call);
    const bool must_defer = is_recording(call);
    if (must_defer && is_parallel()) {
        const fragment_name name{std::uint64_t{f.value()}};
        return share_default(
            target,
            what == if_present::replace ? recorded_kind::set_default : recorded_kind::add_default,
            {&name, 1}, call);
    }
    (void)require(target, call);
    fragment_data& fragment = typed_or_tag(f, &target.where);
    const bool is_there = has(target.id, fragment);
    if (is_there && what == if_present::skip && (!must_defer || !fragment.has_default()))
        return false;
    if (!fragment.has_default())
        raise(errc::no_default,
              text(fragment.name, " has no default value: pass a value or define a default (", call,
                   " at ", place_text(target.where), ")"));
    if (fragment.sparse_values != nullptr) {
        emplace_sparse(
            target, fragment, call, [&](void* room) { fragment.default_construct(room, 1); },
            what == if_present::replace ? change_kind::put : change_kind::keep);
    } else {
        boxed_value value = make_default(fragment);
        put_boxed(target, fragment, value, what);
    }
    return what == if_present::replace || !is_there;
}

template <class Layout>
bool store<Layout>::add_defaults(at_type target, std::span<const id_type> fragments,
                                 const char* call) {
    const writer_guard writer(*this, call);
    refuse_in_change(call);
    (void)require(target, call);
    bool is_new = false;
    scope whole(*this);
    for (const id_type f : fragments) {
        fragment_data& fragment = typed_or_tag(f, &target.where);
        const bool is_there = has(target.id, fragment);
        is_new = is_new || !is_there;
        if (!is_there || depth() > 1) record_default(target, change_kind::keep, fragment);
    }
    whole.commit();
    return is_new;
}

template <class Layout>
void store<Layout>::put_raw(at_type target, id_type f, const void* value) {
    const writer_guard writer(*this, "set");
    refuse_in_change("set");
    (void)require(target, "set");
    fragment_data& fragment = get_fragment(f, "set", &target.where);
    if (!fragment.type->can_copy())
        raise(errc::not_copyable,
              text("the values of ", fragment.name, " cannot be copied (set at ",
                   place_text(target.where), ")"));
    if (fragment.sparse_values != nullptr)
        return emplace_sparse(target, fragment, "set",
                              [&](void* room) { fragment.type->copy_values(room, value, 1, 0); });
    boxed_value kept(*fragment.type);
    {
        const busy_guard busy(*this);
        fragment.type->copy_values(kept.room, value, 1, 0);
        kept.filled = true;
    }
    put_boxed(target, fragment, kept, if_present::replace);
}

/// Stores the value, which is moved out of its box.
template <class Layout>
void store<Layout>::put_boxed(at_type at, fragment_data& fragment, boxed_value& value,
                              if_present what) {
    record_type& found = require(at, "set");
    chunk_data& here = graph_.at(found.chunk());
    std::byte* const base = fragment.base(here.index);
    const edge* const transition =
        base != nullptr ? nullptr : &graph_.with(here, ensure_single_chunk(fragment));
    if (is_deferred("set") ||
        (transition == nullptr ? fragment.hooks.has(assign_hooks) : transition->has_notices)) {
        scope whole(*this);
        record_boxed(at, what == if_present::replace ? change_kind::put : change_kind::keep,
                     fragment, value);
        whole.commit();
        return;
    }
    if (base != nullptr) {
        if (fragment.type->size == 0) return;
        std::byte* const there = base + found.row() * fragment.type->size;
        const busy_guard busy(*this);
        if (fragment.type->destroy != nullptr) fragment.type->destroy(there, 1);
        take_boxed(there, value);
        return;
    }
    chunk_data& target = *transition->target;
    target.make_room(1, row_limit, {});
    new_row row(*this, transition->has_needed ? target : here, here, ensure_single_chunk(fragment));
    if (fragment.type->size != 0) {
        const busy_guard busy(*this);
        take_boxed(fragment.base(target.index) + target.size * fragment.type->size, value);
    }
    row.keep();
    fragment.is_untyped = false;
    move_row(at.id, found, here, *transition);
}

/// Returns the default value. The fragment has one.
template <class Layout>
boxed_value store<Layout>::make_default(const fragment_data& fragment) {
    boxed_value made(*fragment.type);
    const busy_guard busy(*this);
    fragment.default_construct(made.room, 1);
    made.filled = true;
    return made;
}

template <class Layout>
void store<Layout>::take_boxed(void* to, boxed_value& value) noexcept {
    if (value.type->relocate == nullptr)
        std::memcpy(to, value.room, value.type->size);
    else
        value.type->relocate(to, value.room, 1);
    value.filled = false;
}

// ---- capacity ----------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::reserve(std::size_t count) {
    refuse_in_change("reserve");
    pool_.reserve(count + world_owned_count_ < count ? count : count + world_owned_count_);
}

template <class Layout>
void store<Layout>::reserve(chunk_data& into, std::size_t count) {
    if (into.has_sparse) {
        refuse_in_change("reserve");
        for (const fragment_data* fragment : into.fragments)
            if (fragment->sparse_values != nullptr) fragment->sparse_values->reserve(count);
        chunk_data& rest = *graph_.with(graph_.empty_chunk(), into).target;
        if (&rest != &graph_.empty_chunk()) reserve(rest, count);
        return;
    }
    if (count <= into.size) return;
    // Growing moves rows that a loop may be reading, and must not resize columns that are being
    // swapped.
    if (is_deferred("reserve") && (into.size != 0 || is_moving_)) {
        scope whole(*this);
        journal_.annotate(journal_.add_barrier(into.serial, change_kind::reserve, nullptr),
                          {.count = count});
        whole.commit();
    } else {
        into.make_room(count - into.size, row_limit, {});
    }
}

template <class Layout>
void store<Layout>::prepare(std::size_t count) {
    const writer_guard writer(*this, "spawn");
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
    const writer_guard writer(*this, "collect_garbage");
    refuse_in_scope("collect_garbage");
    forget_chunks();
    graph_.collect_garbage();
    sparse_.trim();
    give_ids_back();
    pool_.trim();
    journal_.free();
    buffers_->scratch.free();
}

// ---- names -------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::name(at_type target, std::string_view name) {
    const writer_guard writer(*this, "name");
    refuse_in_phase("name");
    require(target, "name");
    mark_for_destroy(target.id.key());
    fragment_data* const fragment = fragments_.find(target.id.value());
    if (fragment != nullptr && !fragment->is_world_owned && fragment->own_name.empty()) {
        const std::string text = to_string(target.id);  // shown if the name is removed
        fragment->own_name.assign(text.data(), text.data() + text.size());
    }
    names_.set(target.id.value(), name);
    if (fragment != nullptr) show_name(*fragment);
}

template <class Layout>
std::string_view store<Layout>::name(id_type e) const noexcept {
    return alive(e) ? names_.find(e.value()) : std::string_view{};
}

}  // namespace muster::detail
