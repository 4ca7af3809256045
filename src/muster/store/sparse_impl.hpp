// The part of store_impl.hpp for sparse fragments, whose values are stored outside of the chunks.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/text.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/sparse_put.hpp>
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
    if (fragment.sparse_values != nullptr) {
        fragment.is_defined_sparse = true;
        return;
    }
    refuse_in_change("define");
    if (count(fragment) != 0 || journal_.has_value_of(fragment))
        raise(errc::fragment_in_use,
              text(fragment.name, " cannot become sparse: entities already have it"));
    if (!fragment.chunks.empty()) {  // without rows, but a loop may iterate over them
        refuse_in_scope("making a fragment with chunks sparse");
        forget_chunks();
        graph_.collect_garbage(&fragment);
    }
    sparse_.add(fragment);
    fragment.is_defined_sparse = true;
    invalidate_traits();
}

template <class Layout>
std::span<fragment_data* const> store<Layout>::sparse_of(id_type e) {
    buffers_->sparse.clear();
    sparse_.list(e.value(), buffers_->sparse);
    return buffers_->sparse;
}

template <class Layout>
bool store<Layout>::has_sparse_part(const chunk_data& given) {
    return given.has_sparse ||
           (!given.is_complete && graph_.with(graph_.empty_chunk(), given).has_sparse_part);
}

template <class Layout>
void* store<Layout>::take_room(journal_entry& entry) {
    sparse_set* const set = entry.fragment->sparse_values;
    if (set == nullptr) return journal_.allocate(*entry.fragment->type);
    entry.slot = set->take();
    return set->at(entry.slot);
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
bool store<Layout>::remove_sparse(at_type target, sparse_set& set) {
    const slot_index here = set.find(target.id.value());
    if (here == no_slot) return (void)find_local(target, "remove"), false;
    hook_list& hooks = set.fragment->hooks;
    if (hooks.calls(remove_hooks)) [[unlikely]] {
        const fragment_data* const less[] = {set.fragment};
        return record_remove(target, less);
    }
    hooks.prepare(hook_kind::remove, 1);
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const std::uint64_t place = set.key_of(target.id.value());
    const busy_guard busy(*this);
    if (ids.keeps_slots() && set.entries().cover(place) &&
        ids.read(set.entries()[place], target.id.value()) == to_int(here)) {
        set.end_value(here, set.entries()[place], ids);
        const type_info& type = *set.fragment->type;
        if (type.destroy != nullptr) type.destroy(set.at(here), 1);
    } else {
        set.detach(target.id.value(), here);
        set.drop(here);
    }
    hooks.note(hook_kind::remove, target.id.value());
    return true;
}

template <class Layout>
bool store<Layout>::prepare_fast_put(at_type target, sparse_set& set, const char* call) {
    (void)require(target, call);
    if (!set.has_fast_insert() || !pool_.is_dense(target.id.key())) return false;
    prepare_sparse(set, target.id);
    constexpr auto ids = sparse_set::id_shape::of<Layout>();
    const sparse_set::entry_words entries = set.fast_insert_entries();
    if (!entries.cover(target.id.key())) return false;
    const std::uint64_t here = ids.read(entries[target.id.key()], target.id.value());
    if (here == ids.unset()) set.keep_slot(target.id);
    return here <= ids.unset();
}

/// Destroys all sparse values of an entity.
template <class Layout>
void store<Layout>::drop_sparse(id_type e) noexcept {
    sparse_.forget(e.value(), [&](sparse_set& set, slot_index had) {
        const busy_guard busy(*this);
        set.drop(had);
    });
}

/// Destroys all values of a sparse fragment.
template <class Layout>
void store<Layout>::drop_all_sparse(sparse_set& set) noexcept {
    for (slot_index at = set.next(0); at != no_slot; at = set.next(to_int(at) + 1)) {
        set.detach(reinterpret_cast<const id_type*>(set.ids_at(at))->value(), at);
        const busy_guard busy(*this);
        set.drop(at);
    }
}

template <class Layout>
bool store<Layout>::notifies_remove_sparse(id_type e) const {
    bool notifies = false;
    sparse_.each_marked(e.value(), [&](const sparse_set& set) {
        notifies = notifies || (set.fragment != nullptr && set.fragment->hooks.has(remove_hooks) &&
                                set.has(e.value()));
    });
    return notifies;
}

// ---- order -------------------------------------------------------------------------------------

/// Throws if the fragment cannot be sorted.
template <class Layout>
void store<Layout>::refuse_unsortable(const fragment_data& fragment) const {
    refuse_in_scope("sort");
    if (fragment.sparse_values == nullptr)
        raise(errc::not_sparse,
              text(fragment.name,
                   " is stored in chunks, which cannot be sorted: make the fragment sparse"));
    if (fragment.type->pinned)
        raise(errc::not_movable, text(fragment.name,
                                      " cannot be sorted: its values cannot be "
                                      "moved"));
}

/// Stable. The result is a permutation for any `is_before`, which is the user's and may not define
/// an order.
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
    sparse_set& set = *fragment.sparse_values;
    array_list<slot_index> all = slots_of(set);
    const busy_guard busy(*this);
    merge_sort(all,
               [&](slot_index a, slot_index b) { return order(context, set.at(a), set.at(b)); });
    set.reorder(all);
}

template <class Layout>
void store<Layout>::sort_like(fragment_data& fragment, const fragment_data& other) {
    refuse_unsortable(fragment);
    sparse_set& set = *fragment.sparse_values;
    array_list<slot_index> all;
    all.reserve(set.size());
    std::vector<bool> is_taken(set.end());
    const auto take = [&](slot_index slot) {
        if (slot == no_slot || is_taken[to_int(slot)]) return;
        is_taken[to_int(slot)] = true;
        all.push_back(slot);
    };
    if (other.sparse_values != nullptr) {
        for (const slot_index at : slots_of(*other.sparse_values))
            take(set.find(
                reinterpret_cast<const id_type*>(other.sparse_values->ids_at(at))->value()));
    } else {
        for (const chunk_index which : other.chunks) {
            const chunk_data& chunk = graph_.at(which);
            for (std::size_t row = 0; row < chunk.size; ++row)
                take(set.find(ids(chunk)[row].value()));
        }
    }
    for (const slot_index at : slots_of(set)) take(at);
    const busy_guard busy(*this);
    set.reorder(all);
}

// ---- many new entities -------------------------------------------------------------------------

/// New entities and their values, which are constructed outside of the chunks:
///
///     staged   [ ids ][ position ][ burning ]     columns of a chunk outside of the graph
///     pinned   [ mutex: slots ]                   constructed in their final slots
///
/// The destructor destroys all of them unless `commit_rows` has succeeded.
template <class Layout>
class store<Layout>::staging {
public:
    staging(store& owner, chunk_data& where, std::size_t count)
        : staged(where), made(count), store_(owner) {}
    /// Creates the entities, without components.
    void record_spawn() {
        store_.pool_.create(std::span<id_type>(made));
        is_new_entity = true;
        if (!made.empty()) std::copy(made.begin(), made.end(), ids(staged));
    }
    staging(const staging&) = delete;
    staging& operator=(const staging&) = delete;
    ~staging() {
        {
            const busy_guard busy(store_);
            for (slots& group : sparse_slots)
                for (std::size_t i = 0; i < group.all.size(); ++i)
                    if (i < group.filled)
                        group.set->drop(group.all[i]);
                    else
                        group.set->give_back(group.all[i]);
        }
        if (is_committed || !is_new_entity) return;
        for (std::size_t i = made.size(); i-- != 0;) store_.rollback_spawn(made[i]);
    }

    struct slots {
        sparse_set* set;
        array_list<slot_index> all;
        std::size_t filled = 0;  // the first `filled` slots have a value
    };

    chunk_data& staged;
    std::vector<id_type> made;
    array_list<fragment_data*> fragments;  // all fragments of the entities
    std::vector<slots> sparse_slots;       // per sparse fragment
    bool is_new_entity = false;
    bool is_committed = false;

private:
    store& store_;
};

/// Returns all fragments of new entities: those given, those of the prototype, and those that they
/// need.
template <class Layout>
array_list<fragment_data*> store<Layout>::fragments_for(const chunk_data& given,
                                                        const at_type* prototype) const {
    array_list<fragment_data*> all = given.fragments;
    if (prototype != nullptr)
        for (fragment_data* fragment : fragments_of(prototype->id))
            if (!fragment->is_unique && std::find(all.begin(), all.end(), fragment) == all.end())
                all.push_back(fragment);
    std::sort(all.begin(), all.end(),
              [](const fragment_data* a, const fragment_data* b) { return a->index < b->index; });
    complete(all, all);
    return all;
}

/// Constructs the values of new entities.
template <class Layout>
void store<Layout>::stage_with_sparse(staging& made, const chunk_data& given_chunk,
                                      row_values given, const at_type* prototype) {
    const std::size_t count = made.made.size();
    chunk_data& staged = made.staged;
    made.fragments = fragments_for(given_chunk, prototype);
    const auto is_copied = [&](const fragment_data& fragment) {
        return prototype != nullptr && !given_chunk.has(fragment) && has(prototype->id, fragment) &&
               !fragment.is_unique;
    };
    for (const fragment_data* fragment : made.fragments) {
        if (fragment->type->size == 0 || given.find(fragment) != nullptr) continue;
        if (is_copied(*fragment) ? !fragment->can_copy() : !fragment->has_default()) {
            if (is_copied(*fragment)) raise_no_clone(*prototype, *fragment);
            raise_no_default(*fragment, fragment->name);
        }
    }
    // SAFETY: `to` has room for `number` values of the fragment's type.
    const auto make = [&](fragment_data& fragment, std::byte* to, std::size_t first,
                          std::size_t number) {
        const busy_guard busy(*this);
        if (const void* const* const value = given.find(&fragment))
            fragment.type->copy_values(
                to,
                static_cast<const std::byte*>(*value) + first * given.step * fragment.type->size,
                number, given.step);
        else if (is_copied(fragment))
            fragment.copy_value(to, find_raw(prototype->id, fragment), number);
        else
            fragment.default_construct(to, number);
    };
    staged.ids = column(*graph_.empty_chunk().ids.type, nullptr);
    if (!staged.ids.resize(0, count, {})) raise_out_of_memory();
    staged.columns.reserve(made.fragments.size());
    staged.fragments.reserve(made.fragments.size());
    made.sparse_slots.reserve(made.fragments.size());
    staged.size = staged.capacity = count;
    for (fragment_data* fragment : made.fragments) {
        if (fragment->type->size != 0 && !fragment->type->pinned) {
            column values(*fragment->type, fragment);
            struct freeing {
                column* values;
                ~freeing() {
                    if (values != nullptr) values->free();
                }
            };
            freeing guard{&values};
            if (!values.resize(0, count, {})) raise_out_of_memory();
            make(*fragment, values.data, 0, count);
            guard.values = nullptr;
            staged.columns.push_back(values);  // `staged` owns the values from here on
        }
        if (!fragment->type->pinned) staged.fragments.push_back(fragment);
        if (fragment->sparse_values == nullptr) continue;
        auto& slots = made.sparse_slots.emplace_back(fragment->sparse_values);
        slots.all.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            slots.all.push_back(fragment->sparse_values->take());
            if (!fragment->type->pinned) continue;
            make(*fragment, fragment->sparse_values->at(slots.all.back()), i, 1);
            ++slots.filled;
        }
    }
    if (count != 0)
        for (fragment_data* fragment : made.fragments) fragment->is_untyped = false;
}

/// Moves the values to their chunk and sparse sets, and notifies hooks. All or none.
template <class Layout>
void store<Layout>::commit_rows(staging& made) {
    chunk_data& staged = made.staged;
    const std::size_t count = made.made.size();
    array_list<fragment_data*> inside;
    for (fragment_data* fragment : made.fragments)
        if (fragment->sparse_values == nullptr) inside.push_back(fragment);
    chunk_data& into = graph_.ensure(inside);
    if (&into != &graph_.empty_chunk()) into.make_room(count, row_limit, {});
    if (!made.is_new_entity) made.record_spawn();
    for (const auto& slots : made.sparse_slots)
        for (const id_type e : made.made) prepare_sparse(*slots.set, e);
    {
        const busy_guard busy(*this);
        for (const column& source : staged.columns) {
            if (sparse_set* const set = source.fragment->sparse_values) {
                auto& slots = *std::find_if(made.sparse_slots.begin(), made.sparse_slots.end(),
                                            [&](const auto& each) { return each.set == set; });
                for (std::size_t i = 0; i < count; ++i)
                    source.relocate(set->at(slots.all[i]), source.at(i), 1);
            } else {
                const column& target = into.columns[into.find_column(*source.fragment)];
                source.relocate(target.at(into.size), source.data, count);
            }
        }
        staged.size = 0;
    }
    for (auto& slots : made.sparse_slots) {
        for (std::size_t i = 0; i < count; ++i) slots.set->attach(made.made[i], slots.all[i]);
        slots.all.clear();
    }
    for (std::size_t i = 0; i < count; ++i) append_row_at(into, made.made[i]);
    notify_insert(made.made, made.fragments);
    made.is_committed = true;
}

/// `spawn_many` or, with a prototype, `clone_many`, with sparse fragments.
template <class Layout>
void store<Layout>::spawn_with_sparse(std::span<id_type> out, const chunk_data& given_chunk,
                                      row_values given, const at_type* prototype) {
    pool_.prepare(out.size());
    chunk_data staged;  // outside of the graph
    staging made(*this, staged, out.size());
    stage_with_sparse(made, given_chunk, given, prototype);
    scope whole(*this);
    commit_rows(made);
    std::copy(made.made.begin(), made.made.end(), out.begin());
    whole.commit();
}

template <class Layout>
void store<Layout>::spawn_rows_with_sparse(std::size_t count, const chunk_data& given_chunk,
                                           row_values given,
                                           void (*fill)(const void* what, const chunk_data& rows),
                                           const void* what) {
    chunk_data staged;
    staging made(*this, staged, count);
    stage_with_sparse(made, given_chunk, given);
    made.record_spawn();
    scope whole(*this);
    fill(what, staged);
    commit_rows(made);
    whole.commit();
}

}  // namespace muster::detail
