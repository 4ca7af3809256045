// The part of store_impl.hpp that creates fragments, names them and sets their traits.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <utility>

namespace muster::detail {

/// Returns the id with the highest free key, for a world-owned fragment.
template <class Layout>
auto store<Layout>::find_world_owned_id() const -> id_type {
    for (std::uint64_t key = Layout::last_key;; --key) {
        const record_type* const slot = pool_.find(key);
        const std::uint64_t version = slot == nullptr ? pool_.first_version() : slot->version();
        if ((slot == nullptr || !slot->is_live(key)) && version <= Layout::last_issued_version)
            return id_type::assemble(key, version, pool_.world());
        if (key == Layout::first_key)
            raise(errc::id_overflow, "no key is left for the fragment of a new component type");
    }
}

/// Makes the destruction of this key's entity take the slow path.
template <class Layout>
void store<Layout>::mark_for_destroy(std::uint64_t key) {
    // One bit per key near those in use. Higher keys share a bound, which keeps the bit array
    // small; destroying any key from there on takes the slow path.
    if (key < 2 * pool_.capacity() + 4096)
        destroy_marks_.set(key);
    else
        marked_from_ = smaller(marked_from_, key);
}

/// Guard: removes the fragment when destroyed unless `made` is null.
struct new_fragment {
    fragment_table& table;
    sparse_table& sparse;
    fragment_data* made;
    ~new_fragment() {
        if (made == nullptr) return;
        if (made->sparse_values != nullptr) sparse.remove(*made->sparse_values);
        table.remove(*made);
    }
};

template <class Layout>
fragment_data& store<Layout>::add_fragment(type_index type, const type_info& info) {
    refuse_in_change("the first use of a component type");
    const id_type which = find_world_owned_id();
    mark_for_destroy(which.key());
    new_fragment guard{fragments_, sparse_, &fragments_.add(type, info, which.value())};
    guard.made->value_type = type;
    guard.made->is_world_owned = true;
    const bool is_sparse = info.is_sparse();
    if (is_sparse) sparse_.add(*guard.made);
    pool_.create_at(which);
    fragment_data& made = *std::exchange(guard.made, nullptr);
    if (is_sparse) invalidate_traits();
    first_world_owned_key_ = smaller(first_world_owned_key_, which.key());
    ++world_owned_count_;
    return made;
}

/// Sets the name for messages: the user's name, else that of the type, else the id.
template <class Layout>
void store<Layout>::show_name(fragment_data& fragment) {
    fragment.name = names_.find(fragment.id);
    if (!fragment.name.empty()) return;
    if (!fragment.is_world_owned && fragment.own_name.empty()) {
        const std::string text = to_string(id_of(fragment));
        fragment.own_name.assign(text.data(), text.data() + text.size());
    }
    fragment.name = fragment.is_world_owned
                        ? fragment.type->name
                        : std::string_view(fragment.own_name.data(), fragment.own_name.size());
}

/// Makes a living id a fragment.
template <class Layout>
fragment_data& store<Layout>::add_by_id(id_type f, type_index value, const type_info& type) {
    refuse_in_change("the first use of a fragment");
    mark_for_destroy(f.key());
    new_fragment guard{fragments_, sparse_, &fragments_.add(no_type, type, f.value())};
    guard.made->value_type = value;
    show_name(*guard.made);
    if (value == no_type ? type.sparse : type.is_sparse()) {
        sparse_.add(*guard.made);
        invalidate_traits();
    }
    return *std::exchange(guard.made, nullptr);
}

template <class Layout>
fragment_data& store<Layout>::adopt(id_type f, type_index value, const type_info& type,
                                    const std::source_location* where) {
    fragment_data* const found = fragments_.find(f.value());
    if (found == nullptr) {
        if (!alive(f)) raise_no_fragment(f, "used", where);
        fragment_data& made = add_by_id(f, value, type);
        made.is_untyped = true;
        return made;
    }
    if (!found->is_untyped)
        raise_mismatch(*found, value == no_type ? std::string_view{} : type.name, "used", where);
    if (found->value_type == value && found->type->size == type.size) return *found;
    if (journal_.has_value_of(*found))  // its pending value fixes the type
        raise_mismatch(*found, value == no_type ? std::string_view{} : type.name, "used", where);
    refuse_in_change("changing the type of a fragment");
    if (!found->chunks.empty()) {
        // Failed calls left chunks for values of the old type. They are empty, but a loop in an
        // open scope may iterate over them.
        refuse_in_scope("changing the type of a fragment");
        forget_chunks();
        graph_.collect_garbage(found);
    }
    if (const bool is_sparse =
            found->is_defined_sparse || (value == no_type ? type.sparse : type.is_sparse());
        is_sparse != (found->sparse_values != nullptr)) {
        if (is_sparse)
            sparse_.add(*found);
        else
            sparse_.remove(*found->sparse_values);
        invalidate_traits();
    }
    if (found->sparse_values != nullptr) found->sparse_values->retype(type);
    found->type = &type;
    sparse_.invalidate_traits();
    found->value_type = value;
    found->is_unique |= type.unique;
    found->is_hidden |= type.hidden;
    found->is_internal |= type.internal;
    return *found;
}

template <class Layout>
fragment_data& store<Layout>::open_fragment(id_type f) {
    refuse_in_change("define");
    fragment_data* const found = fragments_.find(f.value());
    return found != nullptr ? *found : adopt(f, no_type, type_info_of<no_value>, nullptr);
}

template <class Layout>
fragment_data& store<Layout>::typed_or_tag(id_type f, const std::source_location* where) {
    fragment_data* const found = fragments_.find(f.value());
    if (found != nullptr && !found->is_untyped) return *found;
    return ensure_fragment<no_value>(f, where);
}

template <class Layout>
void store<Layout>::add_needs(id_type f, std::span<fragment_data* const> needed) {
    fragment_data& fragment = open_fragment(f);
    reserve_more(fragment.needs, needed.size());
    for (fragment_data* const owned : needed) {
        owned->is_untyped = false;
        if (owned != &fragment &&
            std::find(fragment.needs.begin(), fragment.needs.end(), owned) == fragment.needs.end())
            fragment.needs.push_back(owned);
    }
    invalidate_traits();
}

template <class Layout>
fragment_data& store<Layout>::get_fragment(id_type f, const char* call,
                                           const std::source_location* where) const {
    fragment_data* const found = fragments_.find(f.value());
    if (found == nullptr || found->is_untyped) raise_no_fragment(f, call, where);
    return *found;
}

template <class Layout>
auto store<Layout>::make_fragment(type_index value, const type_info& type, std::string_view name)
    -> id_type {
    struct rollback {
        store& owner;
        id_type made;
        bool done = false;
        ~rollback() {
            // A hook may have destroyed it.
            if (!done && owner.alive(made)) owner.rollback_spawn(made);
        }
    };
    rollback guard{*this, spawn<>()};
    if (!alive(guard.made)) raise_not_alive({guard.made, {}}, "fragment");  // a hook destroyed it
    add_by_id(guard.made, value, type);
    if (!name.empty()) this->name(guard.made, name);
    guard.done = true;
    return guard.made;
}

template <class Layout>
auto store<Layout>::make_fragment(const type_info& own, std::string_view name) -> id_type {
    refuse_in_change("fragment");
    auto* const kept = new type_info(own);
    struct rollback {
        const type_info* kept;
        ~rollback() { delete kept; }
    };
    rollback guard{kept};
    const id_type made = make_fragment(no_type, *kept, name);
    fragments_.find(made.value())->own_type = std::exchange(guard.kept, nullptr);
    return made;
}

template <class Layout>
void store<Layout>::invalidate_traits() noexcept {
    sparse_.invalidate_traits();
    forget_chunks();
    graph_.invalidate_traits();
}

template <class Layout>
chunk_data& store<Layout>::ensure_set(std::span<fragment_data* const> set) {
    if (chunk_data* const known = find_recent(set)) return *known;
    refuse_in_phase("chunk");
    chunk_data& found = find_set(set);
    recent_set& recent = recent_sets_[recent_place(set)];
    if (set.size() <= std::size(recent.fragments)) {
        std::copy(set.begin(), set.end(), recent.fragments);
        recent.size = set.size();
        recent.chunk = &found;
    }
    return found;
}

template <class Layout>
chunk_data& store<Layout>::find_set(std::span<fragment_data* const> set) {
    array_list<fragment_data*> sorted(set.data(), set.data() + set.size());
    std::sort(sorted.begin(), sorted.end(),
              [](const fragment_data* a, const fragment_data* b) { return a->index < b->index; });
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) raise_given_twice(**twice);
    return graph_.ensure(sorted);
}

/// Clears the caches of chunks, which may be freed.
template <class Layout>
void store<Layout>::forget_chunks() noexcept {
    std::fill_n(bundles_.data(), bundle_count_, bundle_entry{});
    std::fill(std::begin(recent_sets_), std::end(recent_sets_), recent_set{});
}

template <class Layout>
chunk_data& store<Layout>::add_single_chunk(fragment_data& fragment) {
    refuse_in_phase("chunk");
    fragment_data* const set[] = {&fragment};
    chunk_data& found = graph_.ensure(set);
    fragment.single_chunk = found.index;
    return found;
}

template <class Layout>
chunk_data& store<Layout>::add_list(std::size_t list, std::span<fragment_data* const> set) {
    chunk_data& found = ensure_set(set);
    if (list == static_cast<std::size_t>(no_list)) return found;
    if (list >= bundles_.capacity()) bundles_.grow(larger(list + 1, bundles_.capacity() * 2));
    while (bundle_count_ <= list) bundles_[bundle_count_++] = {};
    bundle_entry& entry = bundles_[list];
    entry.chunk = &found;
    entry.spawned = found.is_complete && !found.notifies_insert ? &found : nullptr;
    for (std::size_t i = 0; i < smaller(set.size(), std::size(entry.columns)); ++i)
        entry.columns[i] = static_cast<std::uint8_t>(found.find_column(*set[i]));
    return found;
}

}  // namespace muster::detail
