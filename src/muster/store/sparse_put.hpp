// The part of store.hpp that stores values of sparse fragments: templates that need the user's
// types. They construct a value in a reserved slot, then attach the slot to the entity, which
// cannot fail.
#pragma once

#include <muster/store/store.hpp>

#include <utility>

namespace muster::detail {

/// Guard: reserves a slot without a value, and releases it when destroyed unless `keep` was called.
template <class Layout>
class store<Layout>::reserved_slot {
public:
    explicit reserved_slot(sparse_set& set) : which(set.take()), set_(set) {}
    reserved_slot(const reserved_slot&) = delete;
    reserved_slot& operator=(const reserved_slot&) = delete;
    ~reserved_slot() {
        if (!is_kept_) set_.give_back(which);
    }
    slot_index keep() noexcept {
        is_kept_ = true;
        return which;
    }

    const slot_index which;

private:
    sparse_set& set_;
    bool is_kept_ = false;
};

template <class Layout>
template <typename store<Layout>::if_present IfPresent, class Arg>
inline bool store<Layout>::try_fast_put(at_type target, sparse_set& set, bound_value<Arg>& value) {
    using type = typename bound_value<Arg>::type;
    constexpr std::size_t size = value_size<type>;
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const sparse_set::entry_words entries = set.fast_insert_entries();
    if (!entries.cover(target.id.key())) [[unlikely]]
        return false;
    sparse_entry& entry = entries[target.id.key()];
    std::uint64_t here = ids.read(entry, target.id.value());
    bool is_there = false;
    if (here - ids.kept() < ids.slot_limit()) [[likely]]
        here -= ids.kept();
    else if (is_there = IfPresent == if_present::replace && here < ids.slot_limit(); !is_there)
        return false;
    const slot_index slot{static_cast<std::uint32_t>(here)};
    if constexpr (size != 0 && !is_pinned<type>) {
        const busy_guard_if<bound_value<Arg>::is_nontrivial> busy(*this);
        std::byte* const room = set.template at_of<size>(slot);
        if (is_there)
            value.assign(room, value.where());
        else
            value.construct(room, value.where());
    }
    if (is_there) return true;
    value.on_stored();
    set.begin_value(slot, entry, ids);
    return true;
}

/// Slow path of `put` for one sparse value, outside of scopes: the entity is not prepared yet, or
/// the change must be recorded.
template <class Layout>
template <typename store<Layout>::if_present IfPresent, class Arg>
bool store<Layout>::put_sparse(at_type target, const char* call, sparse_set& set,
                               bound_value<Arg> value) {
    if (IfPresent == if_present::skip && has(target.id, *set.fragment)) return false;
    if (prepare_fast_put(target, set, call)) return try_fast_put<IfPresent>(target, set, value);
    return record_put<IfPresent, Arg>(target, call, std::move(value));
}

template <class Layout>
template <class Make>
void store<Layout>::emplace_sparse(at_type target, fragment_data& fragment, const char* call,
                                   Make make, change_kind recorded) {
    const writer_guard writer(*this, call);
    const bool must_defer = is_deferred(call);
    (void)require(target, call);
    sparse_set& set = *fragment.sparse_values;
    const slot_index here = set.find(target.id.value());
    const hook_kind kind = here == no_slot ? hook_kind::insert : hook_kind::assign;
    if (must_defer || fragment.hooks.calls(here == no_slot ? insert_hooks : assign_hooks) ||
        (here == no_slot && !fragment.needs.empty())) {
        scope whole(*this);
        journal_entry& made = journal_.add(target.id.value(), recorded, &fragment);
        void* const room = take_room(made);
        {
            const busy_guard busy(*this);
            make(room);
        }
        made.value = room;
        whole.commit();
        return;
    }
    fragment.hooks.prepare(kind, 1);
    reserved_slot slot(set);
    prepare_sparse(set, target.id);
    {
        const busy_guard busy(*this);
        make(static_cast<void*>(set.at(slot.which)));
    }
    fragment.is_untyped = false;
    replace_sparse(set, target.id, here, slot.keep());
    fragment.hooks.note(kind, target.id.value());
}

template <class Layout>
inline void store<Layout>::replace_sparse(sparse_set& set, id_type e, slot_index here,
                                          slot_index slot) noexcept {
    if (here == no_slot) [[likely]]
        return set.attach(e, slot);
    const busy_guard busy(*this);
    if (!set.fragment->type->pinned) return set.replace(here, slot);
    set.detach(e.value(), here);
    set.attach(e, slot);
    set.drop(here);
}

template <class Layout>
inline bool store<Layout>::try_fast_remove(id_type e, sparse_set& set) noexcept {
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const sparse_set::entry_words entries = set.fast_remove_entries();
    if (!entries.cover(e.key())) [[unlikely]]
        return false;
    sparse_entry& entry = entries[e.key()];
    const std::uint64_t here = ids.read(entry, e.value());
    if (here >= ids.slot_limit()) [[unlikely]]
        return false;
    set.end_value(slot_index{static_cast<std::uint32_t>(here)}, entry, ids);
    return true;
}

}  // namespace muster::detail
