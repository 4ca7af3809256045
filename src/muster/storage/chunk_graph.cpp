#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/storage/chunk_graph.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace MUSTER_NAMESPACE::detail {

namespace {

/// Equal for words that only differ in zeros at the end.
std::size_t hash_of(slice<fragment_data* const> set, slice<const std::uint64_t> words) {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
    std::uint64_t hash = set.size();
    for (const fragment_data* fragment : set)
        hash = (hash ^ (to_int(fragment->index) + 1)) * factor;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words[i] != 0) hash = (hash ^ (words[i] + i) * factor ^ hash >> 29) * factor;
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

bool is_sparse(const fragment_data* fragment) {
    return fragment->sparse_values != nullptr;
}

bool has_hooks(slice<fragment_data* const> set, unsigned kinds) {
    return std::ranges::any_of(
        set, [=](const fragment_data* fragment) { return fragment->hooks.has(kinds); });
}

}  // namespace

chunk_graph::chunk_graph(const type_info& id_type, std::size_t limit, std::size_t row_limit)
    : id_type_(id_type), limit_(limit), row_limit_(row_limit) {
    reserve_more(by_index_,
                 2);  // a constructor that throws runs no destructor: nothing to free yet
    ensure({});
    gone_.order = ~std::uint32_t{0};
    away_.is_away = true;
    away_.serial = ~std::uint64_t{0};  // no handle finds it
    away_.index = away_index;
    by_index_.push_back(&away_);
}

chunk_graph::~chunk_graph() {
    for (const chunk_data* chunk : order_)
        if (chunk != &gone_) delete chunk;
}

chunk_data* chunk_graph::find(chunk_index index, std::uint64_t serial) const noexcept {
    if (to_int(index) >= by_index_.size()) return nullptr;
    chunk_data* const found = by_index_[to_int(index)];
    return found != nullptr && found->serial == serial ? found : nullptr;
}

chunk_data* chunk_graph::find(slice<fragment_data* const> set, word_list words) const noexcept {
    return by_set_.find(hash_of(set, words), [&](const chunk_data& chunk) {
        if (!std::ranges::equal(chunk.fragments, set)) return false;
        for (std::size_t i = 0; i < chunk.words.size(); ++i)
            if (chunk.words[i] != (i < words.size() ? words[i] : 0)) return false;
        return true;
    });
}

chunk_data& chunk_graph::ensure(slice<fragment_data* const> set, word_list words) {
    chunk_data* const found = find(set, words);
    return found != nullptr ? *found : add(set, words, hash_of(set, words));
}

void chunk_graph::invalidate() noexcept {
    ++epoch_;
    edge_epoch_ = epoch_ << edge_key::epoch_shift;
    if (edge_epoch_ != 0) return;
    // The low bits start over: no edge of an earlier round may seem to be current.
    for (chunk_data* chunk : order_) chunk->edges.clear();
    ++epoch_;
    edge_epoch_ = epoch_ << edge_key::epoch_shift;
}

void chunk_graph::follow_all(row_follower* follower) noexcept {
    for (chunk_data* chunk : order_) {
        if (chunk == &gone_) continue;
        if (follower_ != nullptr) chunk->followers.erase_value(follower_);
        if (follower != nullptr) chunk->followers.push_back(follower);
        chunk->is_followed = !chunk->followers.empty();
    }
    follower_ = follower;
}

void chunk_graph::update_traits(chunk_data& chunk) const noexcept {
    const auto is_done = [&](const implied_change& follows) {
        return follows.is_on_removal || chunk.has(*follows.fragment) != follows.is_removal;
    };
    chunk.is_complete = !chunk.has_sparse &&
                        std::ranges::all_of(chunk.fragments, [&](const fragment_data* fragment) {
                            return std::ranges::all_of(fragment->implied, is_done);
                        });
    chunk.has_unique = std::ranges::any_of(chunk.fragments, &fragment_data::is_unique);
    chunk.notifies_insert = has_hooks(chunk.fragments, insert_hooks);
    chunk.notifies_remove = has_hooks(chunk.fragments, remove_hooks);
    chunk.quiet_epoch = chunk.notifies_remove || !chunk.has_plain_rows() ? 0 : epoch_;
    chunk.traits_epoch = epoch_;
}

chunk_data& chunk_graph::add(slice<fragment_data* const> set, word_list words, std::size_t hash) {
    if (order_.count() == limit_)
        raise(errc::limit, text("a world cannot have more than ", limit_,
                                " chunks: collect_garbage() frees those without entities"));
    // Allocates all memory first: nothing from `commit` on can fail.
    auto made = std::make_unique<chunk_data>();
    made->hash = hash;
    made->fragments.assign(set.data(), set.data() + set.size());
    for (const fragment_data* fragment : set)
        if (fragment->has_word)
            made->words.push_back(made->words.size() < words.size() ? words[made->words.size()]
                                                                    : 0);
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
    if (!made->has_sparse)
        for (const fragment_data* fragment : set)
            if (fragment->follower != nullptr) made->followers.push_back(fragment->follower);
    if (follower_ != nullptr) made->followers.push_back(follower_);
    made->is_followed = !made->followers.empty();
    made->has_guests = std::ranges::any_of(set, &fragment_data::holds_guests);
    made->has_participants = std::ranges::any_of(
        set, [](const fragment_data* fragment) { return fragment->participant != nullptr; });
    reserve_more(by_index_, 1);
    reserve_more(free_, by_index_.size() + 1 - free_.size());
    reserve_more(order_, 1);
    made->places.resize(set.size());
    by_set_.reserve_one();
    const std::uint32_t index = to_int(made->index);
    for (fragment_data* fragment : set) {
        reserve_more(fragment->chunks, 1);
        fragment->reserve_base(made->index);
    }

    // commit
    for (std::size_t i = 0; i < set.size(); ++i) {
        fragment_data& fragment = *set[i];
        fragment.set_base(made->index, no_values);
        made->places[i] = static_cast<std::uint32_t>(fragment.chunks.size());
        fragment.chunks.push_back(made->index);
        write_id(made->fragment_ids.data() + i * id_type_.size, fragment.id, id_type_.size);
    }
    update_traits(*made);
    made->serial = ++last_serial_;
    if (free_.empty())
        by_index_.push_back(made.get());
    else {
        by_index_[index] = made.get();
        free_.pop_back();
    }
    by_set_.insert(*made);
    made->order = static_cast<std::uint32_t>(order_.size());
    order_.push_back(made.get());
    return *made.release();
}

void chunk_graph::erase_from_order(chunk_data& chunk) noexcept {
    order_.erase(chunk.order, [](chunk_data* moved, std::size_t place) {
        moved->order = static_cast<std::uint32_t>(place);
    });
}

void chunk_graph::erase_from_chunks_of(fragment_data& fragment, std::uint32_t place) noexcept {
    fragment.chunks.erase(place, [&](chunk_index moved, std::size_t to) {
        chunk_data& owner = at(moved);
        const auto found =
            std::ranges::lower_bound(owner.fragments, fragment.index, {}, &fragment_data::index);
        owner.places[static_cast<std::size_t>(found - owner.fragments.begin())] =
            static_cast<std::uint32_t>(to);
    });
}

/// Frees a chunk, which is not in `order_` any more.
void chunk_graph::forget(chunk_data& chunk) noexcept {
    by_set_.erase(chunk);
    for (row_follower* follower : chunk.followers) follower->freed(chunk);
    for (std::size_t i = 0; i < chunk.fragments.size(); ++i) {
        fragment_data& fragment = *chunk.fragments[i];
        if (fragment.single_chunk == chunk.index) fragment.single_chunk = chunk_index{};
        fragment.set_base(chunk.index, nullptr);
        erase_from_chunks_of(fragment, chunk.places[i]);
    }
    by_index_[to_int(chunk.index)] = nullptr;
    free_.push_back(chunk.index);  // `add` has reserved room
    delete &chunk;
}

void chunk_graph::collect_garbage() noexcept {
    invalidate_traits();
    for (chunk_data* chunk : order_) {
        chunk->edges.clear();
        chunk->shrink();
    }
    order_.erase_if(
        [&](chunk_data* chunk) {
            if (chunk->size != 0 || chunk == by_index_[0]) return false;
            forget(*chunk);
            return true;
        },
        [](chunk_data* moved, std::size_t place) {
            moved->order = static_cast<std::uint32_t>(place);
        });
}

void chunk_graph::forget_chunks_of(fragment_data& fragment) noexcept {
    if (fragment.chunks.empty()) return;
    invalidate_traits();
    while (!fragment.chunks.empty()) {
        chunk_data& chunk = at(fragment.chunks.back());
        erase_from_order(chunk);
        forget(chunk);
    }
}

}  // namespace MUSTER_NAMESPACE::detail
