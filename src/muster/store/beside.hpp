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

/// `put` of one value of a sparse fragment, when no scope is open.
template <class Layout>
template <typename store<Layout>::present Present, class Arg>
bool store<Layout>::put_beside(at_type who, const char* call, sparse_set& set,
                               incoming<Arg>& value) {
    using type = typename incoming<Arg>::type;
    constexpr std::size_t size = value_size<type>;
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const std::uint64_t place = who.id.key() - pool_.near_key();
    const sparse_set::entry_words entries = set.entries();
    if (!entries.cover(place) || !set.is_added_simply) [[unlikely]]
        return put_beside_slowly<Present, Arg>(who, call, set, std::move(value));
    std::uint64_t& entry = entries[place];
    const std::uint64_t here = ids.read(entry, who.id.value());
    if (here != ids.unset() || !set.has_room()) [[unlikely]] {
        if (here >= ids.unset())
            return put_beside_slowly<Present, Arg>(who, call, set, std::move(value));
        if constexpr (Present == present::assign && size != 0 && !is_pinned<type>) {
            const busy_while<incoming<Arg>::runs_code> nobody_else(*this);
            const slot_index slot{static_cast<std::uint32_t>(here)};
            value.assign(set.template at_of<size>(slot), value.where());
        }
        return Present == present::assign;
    }
    const slot_index slot = set.take_now();
    if constexpr (size != 0 && !is_pinned<type>) {
        const busy_while<incoming<Arg>::runs_code> nobody_else(*this);
        value.construct(set.template at_of<size>(slot), value.where());
    }
    value.settle();
    set.attach_at(who.id, slot, entry, ids, page_shape::of(size));
    return true;
}

/// The same where something is in the way, or somebody has to be told.
template <class Layout>
template <typename store<Layout>::present Present, class Arg>
bool store<Layout>::put_beside_slowly(at_type who, const char* call, sparse_set& set,
                                      incoming<Arg> value) {
    if (make_simple(who, set, call)) return put_beside<Present>(who, call, set, value);
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
inline bool store<Layout>::remove_beside(at_type who, sparse_set& set) {
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const std::uint64_t place = who.id.key() - pool_.near_key();
    const sparse_set::entry_words entries = set.entries();
    if (!entries.cover(place) || !set.is_removed_simply) [[unlikely]]
        return remove_beside_slowly(who, set);
    std::uint64_t& entry = entries[place];
    const std::uint64_t here = ids.read(entry, who.id.value());
    if (here >= ids.unset()) [[unlikely]]
        return remove_beside_slowly(who, set);
    const slot_index slot{static_cast<std::uint32_t>(here)};
    set.detach_at(who.id.value(), slot, entry, ids);
    set.give_back(slot);
    return true;
}

}  // namespace muster::detail
