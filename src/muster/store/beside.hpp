// The part of store.hpp that gives values to sparse fragments: what users' types are known in. Such a
// value is made in a slot that waits; then the entity gets the slot, which cannot fail.
#pragma once

#include <muster/store/store.hpp>

#include <utility>

namespace muster::detail {

/// A slot without a value. It is free again unless it is kept.
template <class Layout>
class store<Layout>::waiting_slot {
public:
    explicit waiting_slot(sparse_set& set) : which(set.take()), set_(set) {}
    waiting_slot(const waiting_slot&) = delete;
    waiting_slot& operator=(const waiting_slot&) = delete;
    ~waiting_slot() {
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
template <typename store<Layout>::present Present, class Arg>
inline bool store<Layout>::put_simply(at_type who, sparse_set& set, incoming<Arg>& value) {
    using type = typename incoming<Arg>::type;
    constexpr std::size_t size = value_size<type>;
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const sparse_set::entry_words entries = set.simply_added();
    if (!entries.cover(who.id.key())) [[unlikely]]
        return false;
    sparse_entry& entry = entries[who.id.key()];
    std::uint64_t here = ids.read(entry, who.id.value());
    bool is_there = false;
    if (here - ids.kept() < ids.slot_limit()) [[likely]]
        here -= ids.kept();
    else if (is_there = Present == present::assign && here < ids.slot_limit(); !is_there)
        return false;
    const slot_index slot{static_cast<std::uint32_t>(here)};
    if constexpr (size != 0 && !is_pinned<type>) {
        const busy_while<incoming<Arg>::runs_code> nobody_else(*this);
        std::byte* const room = set.template at_of<size>(slot);
        if (is_there)
            value.assign(room, value.where());
        else
            value.construct(room, value.where());
    }
    if (is_there) return true;
    value.settle();
    set.begin_value(slot, entry, ids);
    return true;
}

/// `put` of one value of a sparse fragment, when no scope is open, where something is in the way or
/// somebody has to be told.
template <class Layout>
template <typename store<Layout>::present Present, class Arg>
bool store<Layout>::put_beside(at_type who, const char* call, sparse_set& set,
                               incoming<Arg> value) {
    if (Present == present::keep && has(who.id, *set.fragment)) return false;
    if (make_simple(who, set, call)) return put_simply<Present>(who, set, value);
    return record_put<Present, Arg>(who, call, std::move(value));
}

template <class Layout>
template <class Make>
void store<Layout>::emplace_beside(at_type who, fragment_data& fragment, const char* call,
                                   Make make, change_kind recorded) {
    const writing alone(*this, call);
    const bool must_wait = waits(call);
    (void)require(who, call);
    sparse_set& set = *fragment.beside;
    const slot_index here = set.find(who.id.value());
    const hook_kind kind = here == no_slot ? hook_kind::insert : hook_kind::assign;
    if (must_wait || fragment.hooks.calls(here == no_slot ? insert_hooks : assign_hooks) ||
        (here == no_slot && !fragment.needs.empty())) {
        scope whole(*this);
        journal_entry& made = journal_.add(who.id.value(), recorded, &fragment);
        void* const room = take_room(made);
        {
            const busy_scope nobody_else(*this);
            make(room);
        }
        made.value = room;
        whole.commit();
        return;
    }
    fragment.hooks.prepare(kind, 1);
    waiting_slot slot(set);
    prepare_beside(set, who.id);
    {
        const busy_scope nobody_else(*this);
        make(static_cast<void*>(set.at(slot.which)));
    }
    fragment.is_open = false;
    replace_beside(set, who.id, here, slot.keep());
    fragment.hooks.note(kind, who.id.value());
}

template <class Layout>
inline void store<Layout>::replace_beside(sparse_set& set, id_type who, slot_index here,
                                          slot_index slot) noexcept {
    if (here == no_slot) [[likely]]
        return set.attach(who, slot);
    const busy_scope nobody_else(*this);
    if (!set.fragment->type->pinned) return set.replace(here, slot);
    set.detach(who.value(), here);
    set.attach(who, slot);
    set.drop(here);
}

template <class Layout>
inline bool store<Layout>::remove_simply(id_type who, sparse_set& set) noexcept {
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const sparse_set::entry_words entries = set.simply_removed();
    if (!entries.cover(who.key())) [[unlikely]]
        return false;
    sparse_entry& entry = entries[who.key()];
    const std::uint64_t here = ids.read(entry, who.value());
    if (here >= ids.slot_limit()) [[unlikely]]
        return false;
    set.end_value(slot_index{static_cast<std::uint32_t>(here)}, entry, ids);
    return true;
}

}  // namespace muster::detail
