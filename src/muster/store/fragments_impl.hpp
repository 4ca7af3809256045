// The part of store_impl.hpp that makes fragments, names them and says what they mean.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <utility>

namespace muster::detail {

/// The highest key that an id of the world's own can have.
template <class Layout>
auto store<Layout>::find_own_id() const -> id_type {
    for (std::uint64_t key = Layout::last_key;; --key) {
        const record_type* const slot = pool_.find(key);
        const std::uint64_t version = slot == nullptr ? pool_.first_version() : slot->version();
        if ((slot == nullptr || !slot->is_live(key)) && version <= Layout::last_issued_version)
            return id_type::assemble(key, version, pool_.world());
        if (key == Layout::first_key)
            raise(errc::id_overflow, "no key is left for the fragment of another component type");
    }
}

/// The death of this key's entity is one that more has to be done for.
template <class Layout>
void store<Layout>::tell(std::uint64_t key) {
    // Bits for keys that are in use; far ones share a bound, behind which deaths take longer.
    if (key < 2 * pool_.capacity() + 4096)
        told_.set(key);
    else
        told_from_ = smaller(told_from_, key);
}

/// A fragment that is forgotten unless `made` is taken.
struct new_fragment {
    fragment_table& table;
    sparse_table& sparse;
    fragment_data* made;
    ~new_fragment() {
        if (made == nullptr) return;
        if (made->beside != nullptr) sparse.remove(*made->beside);
        table.remove(*made);
    }
};

template <class Layout>
fragment_data& store<Layout>::add_fragment(type_index type, const type_info& info) {
    refuse_in_change("the first use of a component type");
    const id_type which = find_own_id();
    tell(which.key());
    new_fragment guard{fragments_, sparse_, &fragments_.add(type, info, which.value())};
    guard.made->value_type = type;
    guard.made->is_own = true;
    if (info.sparse) sparse_.add(*guard.made);
    pool_.create_at(which);
    fragment_data& made = *std::exchange(guard.made, nullptr);
    if (info.sparse) note_meaning();
    own_from_ = smaller(own_from_, which.key());
    ++own_;
    return made;
}

/// The name that sentences show: its own, else that of its type, else its id.
template <class Layout>
void store<Layout>::show_name(fragment_data& fragment) {
    fragment.name = names_.find(fragment.id);
    if (!fragment.name.empty()) return;
    if (!fragment.is_own && fragment.own_name.empty()) {
        const std::string text = to_string(id_of(fragment));
        fragment.own_name.assign(text.data(), text.data() + text.size());
    }
    fragment.name = fragment.is_own
                        ? fragment.type->name
                        : std::string_view(fragment.own_name.data(), fragment.own_name.size());
}

/// A living id becomes a fragment.
template <class Layout>
fragment_data& store<Layout>::add_by_id(id_type f, type_index value, const type_info& type) {
    refuse_in_change("the first use of a fragment");
    tell(f.key());
    new_fragment guard{fragments_, sparse_, &fragments_.add(no_type, type, f.value())};
    guard.made->value_type = value;
    show_name(*guard.made);
    if (type.sparse) {
        sparse_.add(*guard.made);
        note_meaning();
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
        made.is_open = true;
        return made;
    }
    if (!found->is_open)
        raise_mismatch(*found, value == no_type ? std::string_view{} : type.name, "used", where);
    if (found->value_type == value && found->type->size == type.size) return *found;
    if (journal_.has_value_of(*found))  // which will settle it
        raise_mismatch(*found, value == no_type ? std::string_view{} : type.name, "used", where);
    refuse_in_change("giving a fragment another type");
    if (!found->chunks.empty()) {
        // Calls that failed have left chunks for values of another type. They are empty, but a loop may
        // go over them.
        refuse_in_scope("giving a fragment another type");
        forget_chunks();
        graph_.collect_garbage(found);
    }
    if (const bool is_sparse = type.sparse || found->says_sparse;
        is_sparse != (found->beside != nullptr)) {
        if (is_sparse)
            sparse_.add(*found);
        else
            sparse_.remove(*found->beside);
        note_meaning();
    }
    if (found->beside != nullptr) found->beside->retype(type);
    found->type = &type;
    sparse_.note_meaning();
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
    if (found != nullptr && !found->is_open) return *found;
    return ensure_fragment<no_value>(f, where);
}

template <class Layout>
void store<Layout>::add_needs(id_type f, std::span<fragment_data* const> needed) {
    fragment_data& fragment = open_fragment(f);
    reserve_more(fragment.needs, needed.size());
    for (fragment_data* const one : needed) {
        one->is_open = false;
        if (one != &fragment &&
            std::find(fragment.needs.begin(), fragment.needs.end(), one) == fragment.needs.end())
            fragment.needs.push_back(one);
    }
    note_meaning();
}

template <class Layout>
fragment_data& store<Layout>::get_fragment(id_type f, const char* call,
                                           const std::source_location* where) const {
    fragment_data* const found = fragments_.find(f.value());
    if (found == nullptr || found->is_open) raise_no_fragment(f, call, where);
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
            // One of the hooks may have destroyed it.
            if (!done && owner.alive(made)) owner.unmake(made);
        }
    };
    rollback guard{*this, spawn<>()};
    if (!alive(guard.made)) raise_not_alive({guard.made, {}}, "fragment");  // by a hook
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
void store<Layout>::note_meaning() noexcept {
    sparse_.note_meaning();
    forget_chunks();
    graph_.note_meaning();
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

/// Chunks may be freed: what was remembered of them is not true any more.
template <class Layout>
void store<Layout>::forget_chunks() noexcept {
    std::fill_n(by_list_.data(), lists_, list_entry{});
    std::fill(std::begin(recent_sets_), std::end(recent_sets_), recent_set{});
}

template <class Layout>
chunk_data& store<Layout>::add_alone(fragment_data& fragment) {
    refuse_in_phase("chunk");
    fragment_data* const set[] = {&fragment};
    chunk_data& found = graph_.ensure(set);
    fragment.alone = found.index;
    return found;
}

template <class Layout>
chunk_data& store<Layout>::add_list(std::size_t list, std::span<fragment_data* const> set) {
    chunk_data& found = ensure_set(set);
    if (list == static_cast<std::size_t>(no_list)) return found;
    if (list >= by_list_.capacity()) by_list_.grow(larger(list + 1, by_list_.capacity() * 2));
    while (lists_ <= list) by_list_[lists_++] = {};
    list_entry& entry = by_list_[list];
    entry.chunk = &found;
    entry.spawned = found.is_complete && !found.tells_coming ? &found : nullptr;
    for (std::size_t i = 0; i < smaller(set.size(), std::size(entry.columns)); ++i)
        entry.columns[i] = static_cast<std::uint8_t>(found.find_column(*set[i]));
    return found;
}

}  // namespace muster::detail
