#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/storage/chunk_graph.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace muster::detail {

namespace {

std::size_t hash_of(std::span<fragment_data* const> set) {
    std::uint64_t hash = set.size();
    for (const fragment_data* fragment : set)
        hash = (hash ^ (to_int(fragment->index) + 1)) * 0x9E3779B97F4A7C15u;
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

template <class Rep>
void write_as(std::byte* to, std::uint64_t id) {
    const auto value = static_cast<Rep>(id);
    std::memcpy(to, &value, sizeof value);
}

/// Writes an id in the layout's format; only its size matters.
void write_id(std::byte* to, std::uint64_t id, std::size_t size) {
    switch (size) {
    case 1: return write_as<std::uint8_t>(to, id);
    case 2: return write_as<std::uint16_t>(to, id);
    case 4: return write_as<std::uint32_t>(to, id);
    default: return write_as<std::uint64_t>(to, id);
    }
}

bool lower(const fragment_data* a, const fragment_data* b) {
    return a->index < b->index;
}

bool is_sparse(const fragment_data* fragment) {
    return fragment->sparse_values != nullptr;
}

bool has_hooks(std::span<fragment_data* const> set, unsigned kinds) {
    return std::ranges::any_of(
        set, [=](const fragment_data* fragment) { return fragment->hooks.has(kinds); });
}

/// Whether a transition between two chunks notifies hooks or observers. One chunk must have all
/// fragments of the other chunk.
bool has_notices(const chunk_data& from, const chunk_data& to, bool removes) {
    const chunk_data& more = removes ? from : to;
    const chunk_data& less = removes ? to : from;
    return std::ranges::any_of(more.fragments, [&](const fragment_data* fragment) {
        return fragment->hooks.has(removes ? remove_hooks : insert_hooks) && !less.has(*fragment);
    });
}

void refresh_traits(chunk_data& chunk) {
    const auto has = [&](const fragment_data* needed) { return chunk.has(*needed); };
    chunk.is_complete = !chunk.has_sparse &&
                        std::ranges::all_of(chunk.fragments, [&](const fragment_data* fragment) {
                            return std::ranges::all_of(fragment->needs, has);
                        });
    chunk.has_unique = std::ranges::any_of(chunk.fragments, &fragment_data::is_unique);
    chunk.is_hidden = std::ranges::any_of(chunk.fragments, &fragment_data::is_hidden);
    chunk.notifies_insert = has_hooks(chunk.fragments, insert_hooks);
    chunk.notifies_remove = has_hooks(chunk.fragments, remove_hooks);
}

}  // namespace

void complete(array_list<fragment_data*>& set, array_list<fragment_data*> added) {
    for (std::size_t i = 0; i < added.size(); ++i)
        for (fragment_data* const fragment : added[i]->needs) {
            const auto at = std::ranges::lower_bound(set, fragment, lower);
            if (at != set.end() && *at == fragment) continue;
            set.insert(at, fragment);
            added.push_back(fragment);
        }
}

chunk_graph::chunk_graph(const type_info& id_type, std::size_t limit)
    : id_type_(id_type), limit_(limit) {
    ensure({});
}

chunk_graph::~chunk_graph() {
    for (const chunk_data* chunk : by_index_) delete chunk;
}

chunk_data* chunk_graph::find(chunk_index index, std::uint64_t serial) const noexcept {
    if (to_int(index) >= by_index_.size()) return nullptr;
    chunk_data* const found = by_index_[to_int(index)];
    return found != nullptr && found->serial == serial ? found : nullptr;
}

chunk_data& chunk_graph::ensure(std::span<fragment_data* const> set) {
    const std::size_t hash = hash_of(set);
    if (!places_.empty())
        if (chunk_data* const found = places_[find_place(set, hash)]) return *found;
    return add(set, hash);
}

chunk_data& chunk_graph::add(std::span<fragment_data* const> set, std::size_t hash) {
    if (order_.size() == limit_)
        raise(errc::limit, text("a world cannot have more than ", limit_,
                                " chunks: collect_garbage() frees those without entities"));
    // Allocates all memory first: nothing from `commit` on can fail.
    auto made = std::make_unique<chunk_data>();
    made->hash = hash;
    made->fragments.assign(set.data(), set.data() + set.size());
    made->ids = column(id_type_, nullptr);
    made->index =
        free_.empty() ? chunk_index{static_cast<std::uint32_t>(by_index_.size())} : free_.back();
    made->fragment_ids.resize(set.size() * id_type_.size);
    made->has_sparse = std::ranges::any_of(set, is_sparse);
    for (fragment_data* fragment : set)
        if (fragment->type->size != 0 && !is_sparse(fragment)) {
            made->columns.push_back(column(*fragment->type, fragment));
            made->is_nontrivial |=
                fragment->type->relocate != nullptr || fragment->type->destroy != nullptr;
        }
    reserve_more(by_index_, 1);
    reserve_more(free_, by_index_.size() + 1 - free_.size());
    reserve_more(order_, 1);
    rehash(order_.size() + 1);
    const std::uint32_t index = to_int(made->index);
    for (fragment_data* fragment : set) {
        reserve_more(fragment->chunks, 1);
        if (index >= fragment->bases.capacity())
            fragment->bases.grow(larger(index + 1, fragment->bases.capacity() * 2));
    }

    // commit
    for (std::size_t i = 0; i < set.size(); ++i) {
        fragment_data& fragment = *set[i];
        for (; fragment.limit <= index; ++fragment.limit) fragment.bases[fragment.limit] = nullptr;
        fragment.bases[index] = no_values;
        fragment.chunks.push_back(made->index);
        write_id(made->fragment_ids.data() + i * id_type_.size, fragment.id, id_type_.size);
    }
    refresh_traits(*made);
    made->serial = ++last_serial_;
    if (free_.empty())
        by_index_.push_back(made.get());
    else {
        by_index_[index] = made.get();
        free_.pop_back();
    }
    places_[find_place(set, hash)] = made.get();
    order_.push_back(made.get());
    return *made.release();
}

std::size_t chunk_graph::find_place(std::span<fragment_data* const> set,
                                    std::size_t hash) const noexcept {
    for (std::size_t at = hash & (places_.size() - 1);; at = (at + 1) & (places_.size() - 1)) {
        const chunk_data* const found = places_[at];
        if (found == nullptr || (found->hash == hash && std::ranges::equal(found->fragments, set)))
            return at;
    }
}

void chunk_graph::rehash(std::size_t chunks) {
    std::size_t size = larger(places_.size(), 16);
    while (size < chunks * 2) size *= 2;
    if (size == places_.size()) return;
    array_list<chunk_data*> before(size);
    before.swap(places_);
    for (chunk_data* chunk : order_) places_[find_place(chunk->fragments, chunk->hash)] = chunk;
}

const edge& chunk_graph::add_edge(chunk_data& from, const chunk_data& other, bool removes) {
    array_list<fragment_data*> set;
    set.reserve(from.fragments.size() + other.fragments.size());
    if (removes)
        std::ranges::set_difference(from.fragments, other.fragments, std::back_inserter(set),
                                    lower);
    else
        std::ranges::set_union(from.fragments, other.fragments, std::back_inserter(set), lower);
    bool has_sparse_part = other.has_sparse;
    set.erase_if(is_sparse);
    const std::size_t given = set.size();
    if (!removes) {
        array_list<fragment_data*> added;
        std::ranges::set_difference(other.fragments, from.fragments, std::back_inserter(added),
                                    lower);
        complete(set, std::move(added));
        has_sparse_part = set.erase_if(is_sparse) != 0 || has_sparse_part;
    }
    chunk_data& target = ensure(set);

    auto made = std::make_unique<edge>();
    made->has_needed = set.size() != given;
    made->has_sparse_part = has_sparse_part;
    made->has_notices = has_sparse_part || has_notices(from, target, removes);
    made->key = edge::key_of(other.index, removes);
    made->target = &target;
    made->columns.reserve(from.columns.size());
    for (const column& source : from.columns) {
        const auto found = std::ranges::find(target.columns, source.fragment, &column::fragment);
        made->columns.push_back(found == target.columns.end()
                                    ? edge::dropped
                                    : static_cast<std::uint32_t>(found - target.columns.begin()));
    }
    from.edges.reserve_one();
    from.edges.insert(made.get());
    return *made.release();
}

void chunk_graph::forget(chunk_data& chunk) noexcept {
    for (fragment_data* fragment : chunk.fragments) {
        if (fragment->single_chunk == chunk.index) fragment->single_chunk = chunk_index{};
        fragment->bases[to_int(chunk.index)] = nullptr;
        fragment->chunks.erase_value(chunk.index);
    }
    by_index_[to_int(chunk.index)] = nullptr;
    free_.push_back(chunk.index);  // `add` has reserved room
    delete &chunk;
}

void chunk_graph::invalidate_traits() noexcept {
    ++generation_;
    for (chunk_data* chunk : order_) {
        chunk->edges.clear();
        refresh_traits(*chunk);
    }
}

void chunk_graph::refresh_hook_flags() noexcept {
    ++generation_;
    for (chunk_data* chunk : order_) {
        refresh_traits(*chunk);
        chunk->edges.each([&](const edge& transition) {
            transition.has_notices =
                transition.has_sparse_part ||
                has_notices(*chunk, *transition.target, (transition.key & 1) != 0);
        });
    }
}

void chunk_graph::collect_garbage(const fragment_data* fragment) noexcept {
    ++generation_;
    for (chunk_data* chunk : order_) {
        chunk->edges.clear();
        if (fragment == nullptr) chunk->shrink();
    }
    const auto is_garbage = [&](const chunk_data* chunk) {
        return chunk->size == 0 && chunk != by_index_[0] &&
               (fragment == nullptr || chunk->has(*fragment));
    };
    order_.erase_if([&](chunk_data* chunk) {
        if (!is_garbage(chunk)) return false;
        forget(*chunk);
        return true;
    });
    std::ranges::fill(places_, nullptr);
    for (chunk_data* chunk : order_) places_[find_place(chunk->fragments, chunk->hash)] = chunk;
}

}  // namespace muster::detail
