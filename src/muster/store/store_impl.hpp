// The compiled half of `store`: included by store.cpp for the presets, and by
// <muster/world/instantiate.hpp> for a user's own layout.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/batches_impl.hpp>
#include <muster/store/beside.hpp>
#include <muster/store/beside_impl.hpp>
#include <muster/store/destroying_impl.hpp>
#include <muster/store/errors_impl.hpp>
#include <muster/store/fragments_impl.hpp>
#include <muster/store/playing_impl.hpp>
#include <muster/store/recording_impl.hpp>
#include <muster/store/sharing_impl.hpp>
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
    : provenance_(options.provenance),
      number_(world_number::take<Layout>(options.number)),
      pool_({.world = number_.value(),
             .first_key = options.first_key,
             .last_key = options.last_key,
             .reuse = options.reuse,
             .first_version = number_.first_version()}),
      graph_(id_type_info<Layout>, chunk_limit),
      // Where keys begin with small ones, sets count from 0: then they need not be asked where to begin.
      sparse_({Layout::key_bits, Layout::version_bits + Layout::world_bits,
               pool_.near_key() < 65'536 ? 0 : pool_.near_key(), sizeof(id_type)}) {
    if (provenance_) told_from_ = 0;
    by_list_.grow(8);
    by_list_[lists_++] = {};
    playback_ = new playback;  // nothing can fail any more
}

template <class Layout>
store<Layout>::~store() {
    end();
    delete playback_;
    delete sharing_;
}

template <class Layout>
void store<Layout>::end() noexcept {
    if (is_ended_) return;
    is_ended_ = true;
    for (change_log* one : observers_) {
        one->clear();
        one->has_world = false;
    }
    number_.spend(pool_.unused_version());
    while (innermost_ != nullptr && innermost_->is_users_) delete static_cast<scope*>(innermost_);
    rewind({});
    busy_ += one_change;
    const auto runs_code = [](const chunk_data* one) { return one->runs_code; };
    const auto ends_values = [](const sparse_set* one) {
        return one != nullptr && one->fragment->type->destroy != nullptr;
    };
    if (std::ranges::none_of(graph_.all(), runs_code) &&
        std::ranges::none_of(sparse_.all(), ends_values))
        return;
    // Values end while all else is there, and nobody is alive: their destructors may look.
    for (id_type e = pool_.next_living(Layout::first_key); e; e = pool_.next_living(e.key() + 1))
        pool_.destroy(e);
    end_values();
}

template <class Layout>
auto store<Layout>::find_far(id_type e) const noexcept -> const record_type* {
    const record_type* const found = pool_.find(e.key());
    if (found != nullptr && found->seen().is(e, pool_.origin())) return found;
    return is_shared() ? find_made_now(e) : nullptr;
}

template <class Layout>
auto store<Layout>::find_far_record(std::uint64_t key) const noexcept -> record_type* {
    // SAFETY: the pool is not const where the record is changed.
    return const_cast<record_type*>(pool_.find(key));
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
    const writing alone(*this, "clear");
    const bool must_wait = is_recorded("clear");
    if (must_wait && is_shared()) return share_clear(who);
    record_type* const found = find_own(who, "clear");
    if (found == nullptr) return false;
    if (must_wait || graph_.at(found->chunk()).tells_going || sparse_.has_any(who.id.value()))
        return record_clear(who);
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
std::size_t store<Layout>::count(const fragment_data& fragment) const noexcept {
    if (fragment.beside != nullptr) return fragment.beside->size();
    std::size_t sum = 0;
    for (const chunk_index one : fragment.chunks) sum += graph_.at(one).size;
    return sum;
}

template <class Layout>
bool store<Layout>::remove(at_type who, std::span<const id_type> fragments) {
    const writing alone(*this, "remove");
    const bool must_wait = is_recorded("remove");
    for (const id_type f : fragments)
        if (is_foreign(f)) raise_no_fragment(f, "remove", &who.where);
    if (must_wait && is_shared()) {
        std::vector<fragment_name> all;
        for (const id_type f : fragments) all.push_back({std::uint64_t{f.value()}});
        return share_remove(who, all);
    }
    record_type* const found = find_own(who, "remove");
    if (found == nullptr) return false;
    if (must_wait) {
        std::vector<const fragment_data*> all;
        for (const id_type f : fragments) all.push_back(&find_fragment(f));
        return record_remove(who, all);
    }
    array_list<fragment_data*> there;
    for (const id_type f : fragments) {
        fragment_data* const one = fragments_.find(f.value());
        if (one == nullptr || !has(who.id, *one)) continue;
        if (fragments.size() == 1 && one->beside != nullptr)
            return remove_beside(who, *one->beside);
        if (fragments.size() == 1) return remove_set(who.id, *found, ensure_alone(*one));
        if (std::find(there.begin(), there.end(), one) == there.end()) there.push_back(one);
    }
    return !there.empty() && remove_set(who.id, *found, ensure_set(there));
}

template <class Layout>
bool store<Layout>::put_default(present what, at_type who, id_type f, const char* call) {
    const writing alone(*this, call);
    const bool must_wait = is_recorded(call);
    if (must_wait && is_shared()) {
        const fragment_name one{std::uint64_t{f.value()}};
        return share_start(
            who, what == present::assign ? recorded_kind::start : recorded_kind::start_missing,
            {&one, 1}, call);
    }
    (void)require(who, call);
    fragment_data& fragment = typed_or_tag(f, &who.where);
    const bool is_there = has(who.id, fragment);
    if (is_there && what == present::keep && (!must_wait || !fragment.can_start())) return false;
    if (!fragment.can_start())
        raise(errc::no_default,
              text(fragment.name, " has no default value: give one, or define it (", call, " at ",
                   place_text(who.where), ")"));
    if (fragment.beside != nullptr) {
        emplace_beside(
            who, fragment, call, [&](void* room) { fragment.start_values(room, 1); },
            what == present::assign ? change_kind::put : change_kind::keep);
    } else {
        boxed_value value = started_value(fragment);
        put_boxed(who, fragment, value, what);
    }
    return what == present::assign || !is_there;
}

template <class Layout>
bool store<Layout>::add_defaults(at_type who, std::span<const id_type> fragments,
                                 const char* call) {
    const writing alone(*this, call);
    refuse_in_change(call);
    (void)require(who, call);
    bool is_new = false;
    scope whole(*this);
    for (const id_type f : fragments) {
        fragment_data& one = typed_or_tag(f, &who.where);
        const bool is_there = has(who.id, one);
        is_new = is_new || !is_there;
        if (!is_there || depth() > 1) record_started(who, change_kind::keep, one);
    }
    whole.commit();
    return is_new;
}

template <class Layout>
void store<Layout>::put_raw(at_type who, id_type f, const void* value) {
    const writing alone(*this, "set");
    refuse_in_change("set");
    (void)require(who, "set");
    fragment_data& fragment = get_fragment(f, "set", &who.where);
    if (!fragment.type->can_copy())
        raise(errc::not_copyable, text("the values of ", fragment.name,
                                       " cannot be copied (set at ", place_text(who.where), ")"));
    if (fragment.beside != nullptr)
        return emplace_beside(who, fragment, "set",
                              [&](void* room) { fragment.type->copy_values(room, value, 1, 0); });
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

/// Its default value, which it must have.
template <class Layout>
boxed_value store<Layout>::started_value(const fragment_data& fragment) {
    boxed_value made(*fragment.type);
    const busy_scope nobody_else(*this);
    fragment.start_values(made.room, 1);
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

// ---- room --------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::reserve(std::size_t count) {
    refuse_in_change("reserve");
    pool_.reserve(count + own_ < count ? count : count + own_);
}

template <class Layout>
void store<Layout>::reserve(chunk_data& into, std::size_t count) {
    if (into.has_sparse) {
        refuse_in_change("reserve");
        for (const fragment_data* one : into.fragments)
            if (one->beside != nullptr) one->beside->reserve(count);
        chunk_data& rest = *graph_.with(graph_.nowhere(), into).target;
        if (&rest != &graph_.nowhere()) reserve(rest, count);
        return;
    }
    if (count <= into.size) return;
    // A loop may look at what would move; and columns that are traded stay as they are.
    if (waits("reserve") && (into.size != 0 || is_exchanging_)) {
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
    const writing alone(*this, "spawn");
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
    const writing alone(*this, "collect_garbage");
    refuse_in_scope("collect_garbage");
    forget_chunks();
    graph_.collect_garbage();
    sparse_.trim();
    give_ids_back();
    pool_.trim();
    journal_.free();
    playback_->scratch.free();
}

// ---- names -------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::name(at_type who, std::string_view name) {
    const writing alone(*this, "name");
    refuse_in_phase("name");
    require(who, "name");
    tell(who.id.key());
    fragment_data* const fragment = fragments_.find(who.id.value());
    if (fragment != nullptr && !fragment->is_own && fragment->own_name.empty()) {
        const std::string text = to_string(who.id);  // what it falls back to
        fragment->own_name.assign(text.data(), text.data() + text.size());
    }
    names_.set(who.id.value(), name);
    if (fragment != nullptr) show_name(*fragment);
}

template <class Layout>
std::string_view store<Layout>::name(id_type e) const noexcept {
    return alive(e) ? names_.find(e.value()) : std::string_view{};
}

}  // namespace muster::detail
