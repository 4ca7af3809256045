// The compiled half of `walk`: included by walk.cpp for the presets, and by
// <muster/world/instantiate.hpp> for a user's own layout.
#pragma once

#include <muster/query/walk.hpp>

#include <algorithm>
#include <bit>

namespace muster::detail {

template <class Layout>
walk<Layout>::walk(const store<Layout>& from, const query_cache& cache, const match_list& list,
                   std::span<const fragment_data* const> wanted)
    : store_(from),
      cache_(cache),
      question_(list.question),
      beside_(list.beside),
      next_chunk_(list.chunks.data()),
      last_chunk_(list.chunks.data() + list.chunks.size()) {
    wanted_.reserve(wanted.size());
    for (const fragment_data* one : wanted)
        wanted_.push_back({one, one == &no_fragment ? 0 : one->type->size, nullptr, false});
    values_.resize(wanted.size() * block_size);
    std::erase_if(beside_, [](const beside_term& one) {
        return one.kind == term_kind::optional ||
               (one.kind == term_kind::without && one.fragment->beside != nullptr &&
                one.fragment->beside->size() == 0);
    });
    choose_lead(list);
    for (wanted_fragment& one : wanted_)
        one.is_led = lead_ != nullptr && one.fragment->beside == lead_;
    visits_loose_ = lead_ == nullptr && !list.is_inside;
    has_sparse_wanted_ = std::ranges::any_of(
        wanted, [&](const auto* one) { return one->beside != nullptr && one->beside != lead_; });
    is_whole_ = beside_.empty() && !needs_chunk_ &&
                std::ranges::all_of(wanted, [&](const auto* one) { return one->beside == lead_; });
}

/// The smallest set that all must have, if there are fewer in it than in the chunks.
template <class Layout>
void walk<Layout>::choose_lead(const match_list& list) {
    const beside_term* smallest = nullptr;
    for (const beside_term& one : beside_)
        if (one.kind == term_kind::with &&
            (smallest == nullptr ||
             one.fragment->beside->size() < smallest->fragment->beside->size()))
            smallest = &one;
    if (smallest == nullptr) return;
    std::size_t rows = 0;
    for (const chunk_data* one : list.chunks) rows += one->size;
    if (list.is_inside && rows < smallest->fragment->beside->size()) return;
    lead_ = smallest->fragment->beside;
    std::erase_if(beside_, [&](const beside_term& one) {
        return one.kind == term_kind::with && one.fragment->beside == lead_;
    });
    const auto is_inside = [](const fragment_data* one) {
        return one->beside == nullptr && one != &no_fragment;
    };
    needs_chunk_ = std::ranges::any_of(wanted_, is_inside, &wanted_fragment::fragment) ||
                   std::ranges::any_of(beside_, is_inside, &beside_term::fragment) ||
                   !cache_.may_match(question_, store_.graph().nowhere());
    if (needs_chunk_) return;
    std::size_t all = 0;
    for (const chunk_data* one : store_.graph().all()) all += one->size;
    needs_chunk_ = all != rows;  // not all of those that have rows match
}

template <class Layout>
bool walk<Layout>::refill() {
    at_ = filled_ = 0;
    if (is_whole_ && show_whole()) return true;
    block one{};
    while (filled_ == 0 && find_block(one)) {
        keep_matching(one);
        if (one.left != 0) show(one);
    }
    return filled_ != 0;
}

/// Where nothing is asked of single entities: a page of the set that leads, or a chunk.
template <class Layout>
bool walk<Layout>::show_whole() {
    if (lead_ != nullptr) {
        const slot_index slot = lead_->next(next_slot_);
        if (slot == no_slot) return false;
        const std::uint32_t count = lead_->run(slot);
        next_slot_ = to_int(slot) + count;
        runs_[0] = {reinterpret_cast<const id_type*>(lead_->ids_at(slot)), nullptr, 0, count};
        for (std::size_t i = 0; i < wanted_.size(); ++i) values_[i] = lead_->at(slot);
        filled_ = 1;
        return true;
    }
    while (next_chunk_ != last_chunk_) {
        const chunk_data& chunk = **next_chunk_++;
        if (chunk.size == 0) continue;
        look_at(chunk.index);
        runs_[0] = {reinterpret_cast<const id_type*>(chunk.ids.data), &chunk, 0, chunk.size};
        for (std::size_t i = 0; i < wanted_.size(); ++i) values_[i] = wanted_[i].base;
        filled_ = 1;
        return true;
    }
    return false;
}

// ---- blocks ------------------------------------------------------------------------------------

template <class Layout>
bool walk<Layout>::find_block(block& found) {
    if (lead_ != nullptr) return find_in_lead(found);
    return find_in_chunks(found) || (visits_loose_ && find_loose(found));
}

template <class Layout>
bool walk<Layout>::find_in_lead(block& found) {
    const slot_index next = lead_->next(next_slot_);
    if (next == no_slot) return false;
    const auto width = static_cast<std::uint32_t>(smaller(block_size, lead_->page_size()));
    const slot_index first{to_int(next) / width * width};
    found.ids = reinterpret_cast<const id_type*>(lead_->ids_at(first));
    found.left = lead_->bits_at(first);
    for (wanted_fragment& one : wanted_)
        if (one.is_led) one.base = lead_->at(first);
    next_slot_ = to_int(first) + width;
    return true;
}

template <class Layout>
bool walk<Layout>::find_in_chunks(block& found) {
    while (next_chunk_ != last_chunk_ && next_row_ >= (*next_chunk_)->size) {
        ++next_chunk_;
        next_row_ = 0;
    }
    if (next_chunk_ == last_chunk_) return false;
    const chunk_data& chunk = **next_chunk_;
    if (next_row_ == 0) look_at(chunk.index);
    const std::size_t count = smaller(block_size, chunk.size - next_row_);
    found.ids = reinterpret_cast<const id_type*>(chunk.ids.data) + next_row_;
    found.left = low_bits(static_cast<unsigned>(count));
    rows_[0] = next_row_;
    next_row_ += count;
    return true;
}

/// Entities that have only sparse fragments: each is found in the first of its sets.
template <class Layout>
bool walk<Layout>::find_loose(block& found) {
    const sparse_table& sparse = store_.sparse();
    if (loose_set_ == 0 && next_slot_ == 0) {
        if (!cache_.may_match(question_, store_.graph().nowhere())) return false;
        look_at({});
    }
    for (; loose_set_ < sparse.all().size(); ++loose_set_, next_slot_ = 0) {
        const sparse_set* const set = sparse.all()[loose_set_];
        const slot_index next = set == nullptr ? no_slot : set->next(next_slot_);
        if (next == no_slot) continue;
        const auto width = static_cast<std::uint32_t>(smaller(block_size, set->page_size()));
        const slot_index first{to_int(next) / width * width};
        found.ids = reinterpret_cast<const id_type*>(set->ids_at(first));
        found.left = 0;
        for (std::uint64_t all = set->bits_at(first); all != 0; all &= all - 1) {
            const id_type who = found.ids[std::countr_zero(all)];
            if (store_.find_record(who.key())->chunk() == chunk_index{} &&
                sparse.first(who.value()) == set)
                found.left |= all & -all;
        }
        next_slot_ = to_int(first) + width;
        return true;
    }
    return false;
}

// ---- who matches -------------------------------------------------------------------------------

/// The chunk of those that are looked at, and what it has of what is wanted.
template <class Layout>
void walk<Layout>::look_at(chunk_index which) {
    chunk_ = &store_.graph().at(which);
    chunk_matches_ = lead_ == nullptr || cache_.may_match(question_, *chunk_);
    for (wanted_fragment& one : wanted_)
        if (one.fragment->beside == nullptr) one.base = one.fragment->base(which);
}

/// Where a set leads: which chunks its entities are in.
template <class Layout>
void walk<Layout>::locate(block& one) {
    for (std::uint64_t left = one.left; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const auto& record = *store_.find_record(one.ids[lane].key());
        if (chunk_ == nullptr || record.chunk() != chunk_->index) look_at(record.chunk());
        if (!chunk_matches_) one.left &= ~(left & -left);
        chunks_[lane] = chunk_;
        rows_[lane] = record.row();
    }
}

/// Those of the block that have what the term asks for.
template <class Layout>
std::uint64_t walk<Layout>::having(const beside_term& term, const block& one) const noexcept {
    const sparse_set* const set = term.fragment->beside;
    if (term.fragment == &no_fragment) return 0;
    if (set == nullptr && lead_ == nullptr) return chunk_->has(*term.fragment) ? one.left : 0;
    std::uint64_t found = 0;
    for (std::uint64_t left = one.left; left != 0; left &= left - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const bool has = set == nullptr
                             ? chunks_[lane]->has(*term.fragment)
                             : set->template find_of<Layout>(one.ids[lane].value()) != no_slot;
        found |= std::uint64_t{has} << lane;
    }
    return found;
}

template <class Layout>
void walk<Layout>::keep_matching(block& one) {
    if (needs_chunk_) locate(one);
    std::uint8_t group = 0;  // of `any`, and who has one of it
    std::uint64_t has_one = ~std::uint64_t{0};
    for (const beside_term& term : beside_) {
        if (one.left == 0) return;
        const std::uint64_t found = having(term, one);
        if (term.kind == term_kind::with) one.left &= found;
        if (term.kind == term_kind::without) one.left &= ~found;
        if (term.kind != term_kind::any) continue;
        if (term.group != group) {
            one.left &= has_one;
            group = term.group;
            has_one = 0;
        }
        has_one |= found;
    }
    one.left &= has_one;
}

// ---- runs --------------------------------------------------------------------------------------

template <class Layout>
[[gnu::always_inline]] inline void walk<Layout>::add_run(const block& one, unsigned lane,
                                                         unsigned count) {
    const chunk_data* chunk = chunk_;
    std::size_t row = rows_[0] + lane;
    if (lead_ != nullptr) {
        chunk = needs_chunk_ ? chunks_[lane] : nullptr;
        row = rows_[lane];
        if (needs_chunk_ && chunk != chunk_) look_at(chunk->index);
    }
    runs_[filled_] = {one.ids + lane, chunk, row, count};
    std::byte** to = values_.data() + filled_++ * wanted_.size();
    for (const wanted_fragment& each : wanted_) {
        if (each.fragment->beside == nullptr || each.is_led) [[likely]]
            *to++ =
                each.base == nullptr ? nullptr : each.base + (each.is_led ? lane : row) * each.size;
        else
            *to++ = find_value(each, one.ids[lane]);
    }
    if (has_sparse_wanted_ && filled_ > 1 && follows(filled_ - 1)) {
        ++runs_[filled_ - 2].count;
        --filled_;
    }
}

template <class Layout>
std::byte* walk<Layout>::find_value(const wanted_fragment& one, id_type who) const noexcept {
    const sparse_set& set = *one.fragment->beside;
    const slot_index slot = set.template find_of<Layout>(who.value());
    return slot == no_slot ? nullptr : set.at(slot);
}

/// Whether a run of one can be the next of the run before it.
template <class Layout>
bool walk<Layout>::follows(std::size_t which) const noexcept {
    const run& before = runs_[which - 1];
    const run& one = runs_[which];
    if (one.ids != before.ids + before.count || one.chunk != before.chunk) return false;
    if (one.chunk != nullptr && one.chunk->index != chunk_index{} &&
        one.row != before.row + before.count)
        return false;
    std::byte* const* const first = values_.data() + (which - 1) * wanted_.size();
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
        std::byte* const value = first[wanted_.size() + i];
        if (first[i] == nullptr ? value != nullptr
                                : value != first[i] + before.count * wanted_[i].size)
            return false;
    }
    return true;
}

/// Whether all of them are neighbours in one chunk.
template <class Layout>
bool walk<Layout>::are_neighbours(const block& one) const noexcept {
    if (one.left != ~std::uint64_t{0}) return false;
    for (unsigned lane = 1; lane < block_size; ++lane)
        if (chunks_[lane] != chunks_[0] || rows_[lane] != rows_[0] + lane) return false;
    return true;
}

template <class Layout>
void walk<Layout>::show(const block& one) {
    // Runs whose length cannot be foreseen cost more than they save: where they are short, each entity
    // is one of its own.
    const int starts = std::popcount(one.left & ~(one.left << 1));
    const bool has_runs =
        !has_sparse_wanted_ &&
        (needs_chunk_ ? are_neighbours(one) : starts <= std::popcount(one.left) / 4);
    for (std::uint64_t left = one.left; left != 0;) {
        const auto lane = static_cast<unsigned>(std::countr_zero(left));
        const auto count = has_runs ? static_cast<unsigned>(std::countr_one(left >> lane)) : 1u;
        add_run(one, lane, count);
        left = count == block_size ? 0 : left & ~(low_bits(count) << lane);
    }
}

template <class Layout>
walk<Layout>* walk<Layout>::start(const store<Layout>& from, const query_cache& cache,
                                  const match_list& list,
                                  std::span<const fragment_data* const> wanted) {
    return list.is_plain ? nullptr : new walk(from, cache, list, wanted);
}

template <class Layout>
void walk<Layout>::end(walk* one) noexcept {
    delete one;
}

template <class Layout>
void walk<Layout>::find(void* from, void* cache, void* list, batch_targets& found) {
    // SAFETY: what a query has put there.
    auto& known = *static_cast<match_list*>(list);
    const chunk_range chunks = static_cast<query_cache*>(cache)->read(known, true);
    found.is_by_id = !chunks.is_plain;
    if (chunks.is_plain) {
        found.chunks.assign(chunks.begin(), chunks.end());
        return;
    }
    walk all(*static_cast<store<Layout>*>(from), *static_cast<query_cache*>(cache), known, {});
    while (all.next())
        for (std::size_t i = 0; i < all.size(); ++i) found.ids.push_back(all.ids()[i].value());
}

}  // namespace muster::detail
