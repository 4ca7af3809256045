// The part of store_impl.hpp that sees to sparse fragments, whose values are beside the chunks.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/beside.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace muster::detail {

template <class Layout>
array_list<fragment_data*> store<Layout>::fragments_of(id_type e) const {
    array_list<fragment_data*> all = graph_.at(find(e)->chunk()).fragments;
    sparse_.list(e.value(), all);
    std::sort(all.begin(), all.end(),
              [](const fragment_data* a, const fragment_data* b) { return a->index < b->index; });
    return all;
}

template <class Layout>
void store<Layout>::make_sparse(fragment_data& fragment) {
    if (fragment.beside != nullptr) {
        fragment.says_sparse = true;
        return;
    }
    refuse_in_change("define");
    if (count(fragment) != 0 || journal_.has_value_of(fragment))
        raise(errc::fragment_in_use,
              text(fragment.name,
                   " cannot become sparse any more: entities have it in their chunks"));
    if (!fragment.chunks.empty()) {  // without rows; but a loop may go over them
        refuse_in_scope("making a fragment sparse that has chunks");
        forget_chunks();
        graph_.collect_garbage(&fragment);
    }
    sparse_.add(fragment);
    fragment.says_sparse = true;
    note_meaning();
}

template <class Layout>
std::span<fragment_data* const> store<Layout>::beside_of(id_type who) {
    playback_->beside.clear();
    sparse_.list(who.value(), playback_->beside);
    return playback_->beside;
}

template <class Layout>
bool store<Layout>::is_mixed(const chunk_data& given) {
    return given.has_sparse ||
           (!given.is_complete && graph_.with(graph_.nowhere(), given).is_mixed);
}

template <class Layout>
void* store<Layout>::take_room(journal_entry& one) {
    sparse_set* const set = one.fragment->beside;
    if (set == nullptr) return journal_.allocate(*one.fragment->type);
    one.slot = set->take();
    return set->at(one.slot);
}

template <class Layout>
array_list<slot_index> store<Layout>::slots_of(const sparse_set& set) const {
    array_list<slot_index> all;
    all.reserve(set.size());
    for (slot_index at = set.next(0); at != no_slot; at = set.next(to_int(at) + 1))
        all.push_back(at);
    return all;
}

template <class Layout>
bool store<Layout>::remove_beside(at_type who, sparse_set& set) {
    const slot_index here = set.find(who.id.value());
    if (here == no_slot) return (void)find_own(who, "remove"), false;
    hook_list& hooks = set.fragment->hooks;
    if (hooks.calls(remove_hooks)) [[unlikely]] {
        const fragment_data* const less[] = {set.fragment};
        return record_remove(who, less);
    }
    hooks.prepare(hook_kind::remove, 1);
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const std::uint64_t place = set.key_of(who.id.value());
    const busy_scope nobody_else(*this);
    if (ids.keeps_slots() && set.entries().cover(place) &&
        ids.read(set.entries()[place], who.id.value()) == to_int(here)) {
        set.end_value(here, set.entries()[place], ids);
        const type_info& type = *set.fragment->type;
        if (type.destroy != nullptr) type.destroy(set.at(here), 1);
    } else {
        set.detach(who.id.value(), here);
        set.drop(here);
    }
    hooks.note(hook_kind::remove, who.id.value());
    return true;
}

template <class Layout>
bool store<Layout>::make_simple(at_type who, sparse_set& set, const char* call) {
    (void)require(who, call);
    if (!set.is_added_simply() || !pool_.is_near(who.id.key())) return false;
    prepare_beside(set, who.id);
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const sparse_set::entry_words entries = set.simply_added();
    if (!entries.cover(who.id.key())) return false;
    const std::uint64_t here = ids.read(entries[who.id.key()], who.id.value());
    if (here == ids.unset()) set.keep_slot(who.id);
    return here <= ids.unset();
}

/// All sparse fragments of an entity end.
template <class Layout>
void store<Layout>::drop_beside(id_type who) noexcept {
    sparse_.forget(who.value(), [&](sparse_set& one, slot_index had) {
        const busy_scope nobody_else(*this);
        one.drop(had);
    });
}

/// All values of a sparse fragment end.
template <class Layout>
void store<Layout>::drop_all_beside(sparse_set& set) noexcept {
    for (slot_index at = set.next(0); at != no_slot; at = set.next(to_int(at) + 1)) {
        set.detach(reinterpret_cast<const id_type*>(set.ids_at(at))->value(), at);
        const busy_scope nobody_else(*this);
        set.drop(at);
    }
}

template <class Layout>
bool store<Layout>::tells_going_beside(id_type who) const {
    bool tells = false;
    sparse_.each_marked(who.value(), [&](const sparse_set& one) {
        tells = tells || (one.fragment != nullptr && one.fragment->hooks.has(remove_hooks) &&
                          one.has(who.value()));
    });
    return tells;
}

// ---- order -------------------------------------------------------------------------------------

/// Why a fragment cannot be sorted.
template <class Layout>
void store<Layout>::refuse_unsortable(const fragment_data& fragment) const {
    refuse_in_scope("sort");
    if (fragment.beside == nullptr)
        raise(errc::not_sparse,
              text(fragment.name,
                   " is kept in chunks, whose order is that of their making: only sparse "
                   "fragments can be sorted"));
    if (fragment.type->pinned)
        raise(errc::not_movable, text(fragment.name,
                                      " cannot be sorted: its values cannot be "
                                      "moved"));
}

/// Equal ones stay as they are. Whatever `is_before` says, the result is a permutation: the order is the
/// user's, and may be none.
template <class Before>
void merge_sort(array_list<slot_index>& all, Before is_before) {
    array_list<slot_index> merged(all.size());
    for (std::size_t width = 1; width < all.size(); width *= 2) {
        for (std::size_t first = 0; first < all.size(); first += 2 * width) {
            const std::size_t middle = smaller(first + width, all.size());
            const std::size_t last = smaller(first + 2 * width, all.size());
            std::size_t left = first;
            std::size_t right = middle;
            for (std::size_t at = first; at < last; ++at) {
                const bool takes_right =
                    left == middle || (right != last && is_before(all[right], all[left]));
                merged[at] = all[takes_right ? right++ : left++];
            }
        }
        all.swap(merged);
    }
}

template <class Layout>
void store<Layout>::sort(fragment_data& fragment, value_order order, void* context) {
    refuse_unsortable(fragment);
    sparse_set& set = *fragment.beside;
    array_list<slot_index> all = slots_of(set);
    const busy_scope nobody_else(*this);
    merge_sort(all,
               [&](slot_index a, slot_index b) { return order(context, set.at(a), set.at(b)); });
    set.reorder(all);
}

template <class Layout>
void store<Layout>::sort_like(fragment_data& fragment, const fragment_data& other) {
    refuse_unsortable(fragment);
    sparse_set& set = *fragment.beside;
    array_list<slot_index> all;
    all.reserve(set.size());
    std::vector<bool> is_taken(set.end());
    const auto take = [&](slot_index slot) {
        if (slot == no_slot || is_taken[to_int(slot)]) return;
        is_taken[to_int(slot)] = true;
        all.push_back(slot);
    };
    if (other.beside != nullptr) {
        for (const slot_index at : slots_of(*other.beside))
            take(set.find(reinterpret_cast<const id_type*>(other.beside->ids_at(at))->value()));
    } else {
        for (const chunk_index which : other.chunks) {
            const chunk_data& chunk = graph_.at(which);
            for (std::size_t row = 0; row < chunk.size; ++row)
                take(set.find(ids(chunk)[row].value()));
        }
    }
    for (const slot_index at : slots_of(set)) take(at);
    const busy_scope nobody_else(*this);
    set.reorder(all);
}

// ---- many new entities -------------------------------------------------------------------------

/// New entities, and their values, which are made outside of the chunks:
///
///     staged   [ ids ][ position ][ burning ]     columns of a chunk that is in no graph
///     pinned   [ mutex: slots ]                   what cannot be moved is made where it stays
///
/// Unless they are entered, all of it ends with this.
template <class Layout>
class store<Layout>::staging {
public:
    staging(store& owner, chunk_data& where, std::size_t count)
        : staged(where), made(count), store_(owner) {}
    /// They come alive, and are empty.
    void bear() {
        store_.pool_.create(std::span<id_type>(made));
        is_born = true;
        if (!made.empty()) std::copy(made.begin(), made.end(), ids(staged));
    }
    staging(const staging&) = delete;
    staging& operator=(const staging&) = delete;
    ~staging() {
        {
            const busy_scope nobody_else(store_);
            for (slots& one : beside)
                for (std::size_t i = 0; i < one.all.size(); ++i)
                    if (i < one.filled)
                        one.set->drop(one.all[i]);
                    else
                        one.set->give_back(one.all[i]);
        }
        if (is_entered || !is_born) return;
        for (std::size_t i = made.size(); i-- != 0;) store_.unmake(made[i]);
    }

    struct slots {
        sparse_set* set;
        array_list<slot_index> all;
        std::size_t filled = 0;  // the first have a value
    };

    chunk_data& staged;
    std::vector<id_type> made;
    array_list<fragment_data*> fragments;  // all that they get
    std::vector<slots> beside;             // for each sparse fragment
    bool is_born = false;
    bool is_entered = false;

private:
    store& store_;
};

/// All that new entities get: what is given, what the prototype has, and what these need.
template <class Layout>
array_list<fragment_data*> store<Layout>::fragments_for(const chunk_data& given,
                                                        const at_type* prototype) const {
    array_list<fragment_data*> all = given.fragments;
    if (prototype != nullptr)
        for (fragment_data* one : fragments_of(prototype->id))
            if (!one->is_unique && std::find(all.begin(), all.end(), one) == all.end())
                all.push_back(one);
    std::sort(all.begin(), all.end(),
              [](const fragment_data* a, const fragment_data* b) { return a->index < b->index; });
    complete(all, all);
    return all;
}

/// Makes the values.
template <class Layout>
void store<Layout>::stage_mixed(staging& made, const chunk_data& given_chunk, row_values given,
                                const at_type* prototype) {
    const std::size_t count = made.made.size();
    chunk_data& staged = made.staged;
    made.fragments = fragments_for(given_chunk, prototype);
    const auto is_copied = [&](const fragment_data& one) {
        return prototype != nullptr && !given_chunk.has(one) && has(prototype->id, one) &&
               !one.is_unique;
    };
    for (const fragment_data* one : made.fragments) {
        if (one->type->size == 0 || given.find(one) != nullptr) continue;
        if (is_copied(*one) ? !one->can_copy() : !one->can_start()) {
            if (is_copied(*one)) raise_no_clone(*prototype, *one);
            raise_no_default(*one, one->name);
        }
    }
    // SAFETY: a copy of a value of this fragment, or its default value, at `to`.
    const auto make = [&](fragment_data& one, std::byte* to, std::size_t first,
                          std::size_t number) {
        const busy_scope nobody_else(*this);
        if (const void* const* const value = given.find(&one))
            one.type->copy_values(
                to, static_cast<const std::byte*>(*value) + first * given.step * one.type->size,
                number, given.step);
        else if (is_copied(one))
            one.copy_value(to, find_raw(prototype->id, one), number);
        else
            one.start_values(to, number);
    };
    staged.ids = column(*graph_.nowhere().ids.type, nullptr);
    if (!staged.ids.resize(0, count, {})) raise_out_of_memory();
    staged.columns.reserve(made.fragments.size());
    staged.fragments.reserve(made.fragments.size());
    made.beside.reserve(made.fragments.size());
    staged.size = staged.capacity = count;
    for (fragment_data* one : made.fragments) {
        if (one->type->size != 0 && !one->type->pinned) {
            column values(*one->type, one);
            struct freeing {
                column* values;
                ~freeing() {
                    if (values != nullptr) values->free();
                }
            };
            freeing guard{&values};
            if (!values.resize(0, count, {})) raise_out_of_memory();
            make(*one, values.data, 0, count);
            guard.values = nullptr;
            staged.columns.push_back(values);  // from now on its values end with it
        }
        if (!one->type->pinned) staged.fragments.push_back(one);
        if (one->beside == nullptr) continue;
        auto& slots = made.beside.emplace_back(one->beside);
        slots.all.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            slots.all.push_back(one->beside->take());
            if (!one->type->pinned) continue;
            make(*one, one->beside->at(slots.all.back()), i, 1);
            ++slots.filled;
        }
    }
    if (count != 0)
        for (fragment_data* one : made.fragments) one->is_open = false;
}

/// Their values go where they belong, and hooks are told. All or none.
template <class Layout>
void store<Layout>::enter_staged(staging& made) {
    chunk_data& staged = made.staged;
    const std::size_t count = made.made.size();
    array_list<fragment_data*> inside;
    for (fragment_data* one : made.fragments)
        if (one->beside == nullptr) inside.push_back(one);
    chunk_data& into = graph_.ensure(inside);
    if (&into != &graph_.nowhere()) into.make_room(count, row_limit, {});
    if (!made.is_born) made.bear();
    for (const auto& slots : made.beside)
        for (const id_type e : made.made) prepare_beside(*slots.set, e);
    {
        const busy_scope nobody_else(*this);
        for (const column& one : staged.columns) {
            if (sparse_set* const set = one.fragment->beside) {
                auto& slots = *std::find_if(made.beside.begin(), made.beside.end(),
                                            [&](const auto& each) { return each.set == set; });
                for (std::size_t i = 0; i < count; ++i)
                    one.relocate(set->at(slots.all[i]), one.at(i), 1);
            } else {
                const column& target = into.columns[into.find_column(*one.fragment)];
                one.relocate(target.at(into.size), one.data, count);
            }
        }
        staged.size = 0;
    }
    for (auto& slots : made.beside) {
        for (std::size_t i = 0; i < count; ++i) slots.set->attach(made.made[i], slots.all[i]);
        slots.all.clear();
    }
    for (std::size_t i = 0; i < count; ++i) enter_at(into, made.made[i]);
    tell_coming(made.made, made.fragments);
    made.is_entered = true;
}

/// What `spawn_many` and, if there is a prototype, `clone_many` do where sparse fragments are concerned.
template <class Layout>
void store<Layout>::spawn_mixed(std::span<id_type> out, const chunk_data& given_chunk,
                                row_values given, const at_type* prototype) {
    pool_.prepare(out.size());
    chunk_data staged;  // in no graph
    staging made(*this, staged, out.size());
    stage_mixed(made, given_chunk, given, prototype);
    scope whole(*this);
    enter_staged(made);
    std::copy(made.made.begin(), made.made.end(), out.begin());
    whole.commit();
}

template <class Layout>
void store<Layout>::spawn_rows_mixed(std::size_t count, const chunk_data& given_chunk,
                                     row_values given,
                                     void (*fill)(const void* what, const chunk_data& rows),
                                     const void* what) {
    chunk_data staged;
    staging made(*this, staged, count);
    stage_mixed(made, given_chunk, given);
    made.bear();
    scope whole(*this);
    fill(what, staged);
    enter_staged(made);
    whole.commit();
}

}  // namespace muster::detail
