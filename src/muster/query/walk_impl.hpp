// The out-of-line part of `walk`: included by walk.cpp and walk_presets.cpp for the presets, and by
// <muster/world/instantiate.hpp> for a user's own layout.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/query/walk.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

/// Calls `callback(lane)` for each lane.
template <class Callback>
[[gnu::always_inline]] inline void each_lane(std::uint64_t lanes, Callback callback) {
    for (; lanes != 0; lanes &= lanes - 1) callback(static_cast<unsigned>(std::countr_zero(lanes)));
}

template <class Layout>
walk<Layout>::walk(const store<Layout>& from, const query_cache& cache, const match_list& list,
                   slice<const fragment_data* const> wanted)
    : store_(from),
      cache_(cache),
      question_(list.question),
      next_chunk_(list.chunks.data()),
      last_chunk_(list.chunks.data() + list.chunks.size()),
      has_outside_(list.has_outside) {
    wanted_ = {room_, wanted.size()};
    for (std::size_t i = 0; i < wanted.size(); ++i)
        room_[i] = {wanted[i], wanted[i] == &no_fragment ? 0 : wanted[i]->type->size, {}, nullptr};
    choose_lead(list);
    for (const sparse_term& term : list.sparse_terms) {
        const sparse_set* const set = term.fragment->sparse_values;
        const bool is_led = term.kind == term_kind::with && set == lead_;
        const bool is_met = term.kind == term_kind::without && set != nullptr && set->size() == 0;
        if (term.kind != term_kind::optional && !is_led && !is_met) sparse_terms_.push_back(term);
    }
    visits_loose_ = lead_ == nullptr && !list.is_inside;
    if (lead_ != nullptr) note_matching(list);
    find_sources();
    if (has_outside_) outside_.resize(block_size * wanted_.size());
    is_whole_ = sparse_terms_.empty() && places_.empty() && is_by_lane_;
}

/// Chooses the smallest required set, unless the chunks have fewer entities.
template <class Layout>
void walk<Layout>::choose_lead(const match_list& list) {
    // The order of a set is not that of the chunks, and its lanes have no values from outside.
    if (has_outside_ || question_.order() != resolver_index::none) return;
    for (const sparse_term& term : list.sparse_terms)
        if (term.kind == term_kind::with &&
            (lead_ == nullptr || term.fragment->sparse_values->size() < lead_->size()))
            lead_ = term.fragment->sparse_values;
    if (lead_ == nullptr || !list.is_inside) return;
    std::size_t count = 0;
    for (const chunk_data* chunk : list.chunks) count += chunk->size;
    if (count < lead_->size()) lead_ = nullptr;
}

/// Records which of the chunks that a set leads to match. Skipped if all match and none is read.
template <class Layout>
void walk<Layout>::note_matching(const match_list& list) {
    const auto is_inside = [](const fragment_data* fragment) {
        return fragment->sparse_values == nullptr && fragment != &no_fragment;
    };
    const array_list<chunk_data*>& all = store_.graph.all();
    const bool is_loose = cache_.may_match(question_, store_.graph.empty_chunk());
    if (is_loose && std::ranges::none_of(wanted_, is_inside, &wanted_fragment::fragment) &&
        std::ranges::none_of(sparse_terms_, is_inside, &sparse_term::fragment)) {
        std::size_t count = 0;
        for (const chunk_data* chunk : all) count += chunk->size;
        for (const chunk_data* chunk : list.chunks) count -= chunk->size;
        if (count == 0) return;
    }
    places_.resize(block_size);
    matching_.resize(store_.graph.end());
    matching_[0] = is_loose;
    for (const chunk_data* chunk : list.chunks) matching_[to_int(chunk->index)] = true;
}

template <class Layout>
void walk<Layout>::find_sources() {
    found_.resize(block_size * static_cast<std::size_t>(std::ranges::count_if(
                                   wanted_, [&](const wanted_fragment& wanted) {
                                       return wanted.fragment->sparse_values != nullptr &&
                                              wanted.fragment->sparse_values != lead_;
                                   })));
    std::byte** next = found_.data();
    for (wanted_fragment& wanted : wanted_) {
        if (wanted.fragment->sparse_values == nullptr) {
            if (!places_.empty()) wanted.source.inside = wanted.fragment;
        } else if (wanted.fragment->sparse_values != lead_) {
            wanted.source.found = std::exchange(next, next + block_size);
        }
        is_by_lane_ =
            is_by_lane_ && wanted.source.inside == nullptr && wanted.source.found == nullptr;
    }
}

// ---- blocks ------------------------------------------------------------------------------------

template <class Layout>
bool walk<Layout>::next() {
    if (is_whole_ && find_run()) return true;
    do {
        if (!find_block()) return false;
        keep_matching();
    } while (left_ == 0);
    run_ = is_by_lane_ && !shows_outside_ && places_.empty() && (left_ & (left_ + 1)) == 0 ? size()
                                                                                           : 0;
    if (!found_.empty()) find_values();
    return true;
}

/// Finds a run if entities need no checks: a chunk, or many slots of a page of the leading set.
template <class Layout>
bool walk<Layout>::find_run() {
    if (lead_ != nullptr) {
        const slot_index slot = lead_->next(next_slot_);
        run_ = slot == no_slot ? 0 : lead_->run(slot);
        if (run_ < lead_->block_size()) return false;  // lanes cost less than many short runs
        show_slots(*lead_, slot);
        next_slot_ = to_int(slot) + static_cast<std::uint32_t>(run_);
    } else {
        while (next_chunk_ != last_chunk_ && next_row_ >= (*next_chunk_)->size) {
            ++next_chunk_;
            next_row_ = 0;
        }
        if (next_chunk_ == last_chunk_) return false;
        const chunk_data& chunk = **next_chunk_;
        show_chunk(chunk, 0, chunk.size);
        if (shows_outside_) return false;  // in blocks
        ++next_chunk_;
        run_ = chunk.size;
    }
    left_ = low_bits(static_cast<unsigned>(smaller(run_, block_size)));
    return true;
}

template <class Layout>
bool walk<Layout>::find_block() {
    run_ = 0;
    if (lead_ != nullptr) return find_in_lead();
    return find_in_chunks() || (visits_loose_ && find_loose());
}

template <class Layout>
void walk<Layout>::show_slots(const sparse_set& set, slot_index first) {
    // SAFETY: the ids of a page are of type `id_type`.
    ids_ = reinterpret_cast<const id_type*>(set.ids_at(first));
    for (wanted_fragment& wanted : wanted_)
        if (wanted.fragment->sparse_values == lead_) wanted.source.base = set.at(first);
}

template <class Layout>
bool walk<Layout>::find_in_lead() {
    const slot_index next = lead_->next(next_slot_);
    if (next == no_slot) return false;
    const std::uint32_t width = lead_->block_size();
    const slot_index first{to_int(next) / width * width};
    show_slots(*lead_, first);
    left_ = lead_->block_at(first) & ~low_bits(to_int(next) - to_int(first));
    next_slot_ = to_int(first) + width;
    return true;
}

template <class Layout>
void walk<Layout>::show_chunk(const chunk_data& chunk, std::size_t row, std::size_t count) {
    chunk_ = &chunk;
    row_ = row;
    // SAFETY: the column of ids stores values of type `id_type`.
    ids_ = reinterpret_cast<const id_type*>(chunk.ids.data) + row;
    left_ = low_bits(static_cast<unsigned>(smaller(count, block_size)));
    for (wanted_fragment& wanted : wanted_)
        if (wanted.fragment->sparse_values == nullptr) {
            std::byte* const base = wanted.fragment->base(chunk.index);
            wanted.source.base = base == nullptr ? nullptr : base + row * wanted.size;
        }
    if (has_outside_) [[unlikely]]
        show_outside(chunk);
}

/// Shows values from outside of the chunk, in place of components that it lacks.
template <class Layout>
void walk<Layout>::show_outside(const chunk_data& chunk) {
    shows_outside_ = false;
    std::byte** next = outside_.data();
    for (wanted_fragment& wanted : wanted_) {
        std::byte** const lanes = std::exchange(next, next + block_size);
        const bool is_sparse = wanted.fragment->sparse_values != nullptr;
        if (!is_sparse) wanted.source.found = nullptr;
        if (!is_sparse && wanted.source.base != nullptr) continue;
        // SAFETY: only `const` arguments show such a value; see `term_resolver::outside`.
        auto* const value = const_cast<std::byte*>(
            static_cast<const std::byte*>(cache_.outside(question_, *wanted.fragment, chunk)));
        if (is_sparse) wanted.outside = value;
        if (value == nullptr || is_sparse) continue;
        shows_outside_ = true;
        wanted.source.found = lanes;
        std::fill_n(lanes, block_size, value);
    }
    for (sparse_term& term : sparse_terms_)
        if (term.is_resolved) term.outside = cache_.outside(question_, *term.fragment, chunk);
}

template <class Layout>
bool walk<Layout>::find_in_chunks() {
    while (next_chunk_ != last_chunk_ && next_row_ >= (*next_chunk_)->size) {
        ++next_chunk_;
        next_row_ = 0;
    }
    if (next_chunk_ == last_chunk_) return false;
    const chunk_data& chunk = **next_chunk_;
    show_chunk(chunk, next_row_, chunk.size - next_row_);
    next_row_ += block_size;
    return true;
}

/// Finds entities that have only sparse fragments. Each is visited in the first of its sets.
template <class Layout>
bool walk<Layout>::find_loose() {
    const sparse_table& sparse = store_.sparse;
    if (loose_set_ == 0 && next_slot_ == 0 &&
        !cache_.may_match(question_, store_.graph.empty_chunk()))
        return false;
    for (; loose_set_ < sparse.all().size(); ++loose_set_, next_slot_ = 0) {
        const sparse_set* const set = sparse.all()[loose_set_];
        const slot_index next = set == nullptr ? no_slot : set->next(next_slot_);
        if (next == no_slot) continue;
        const std::uint32_t width = set->block_size();
        const slot_index first{to_int(next) / width * width};
        show_chunk(store_.graph.empty_chunk(), 0, 0);
        ids_ = reinterpret_cast<const id_type*>(set->ids_at(first));
        each_lane(set->block_at(first), [&](unsigned lane) {
            const bool is_loose = store_.find_record(ids_[lane].key())->chunk() == chunk_index{} &&
                                  sparse.first(ids_[lane].value()) == set;
            left_ |= std::uint64_t{is_loose} << lane;
        });
        next_slot_ = to_int(first) + width;
        return true;
    }
    return false;
}

// ---- matching ----------------------------------------------------------------------------------

/// Finds the chunks and rows of the leading set's entities, and drops those whose chunk does not
/// match.
template <class Layout>
void walk<Layout>::locate() {
    lane_place* const places = places_.data();
    const char* const matching = matching_.data();
    std::uint64_t left = 0;
    each_lane(left_, [&](unsigned lane) {
        const auto& record = *store_.find_record(ids_[lane].key());
        const std::uint32_t chunk = to_int(record.chunk());
        places[lane] = {chunk, static_cast<std::uint32_t>(record.row())};
        left |= static_cast<std::uint64_t>(matching[chunk]) << lane;
    });
    left_ = left;
}

/// Returns the lanes that have the fragment of the term.
template <class Layout>
std::uint64_t walk<Layout>::having(const sparse_term& term) const noexcept {
    const fragment_data& fragment = *term.fragment;
    if (&fragment == &no_fragment) return 0;
    if (term.outside != nullptr) return left_;
    if (fragment.sparse_values != nullptr)
        return fragment.sparse_values->template having<Layout>(ids_, left_);
    if (lead_ == nullptr) return chunk_->has(fragment) ? left_ : 0;
    std::uint64_t having = 0;
    each_lane(left_, [&](unsigned lane) {
        const bool has = store_.graph.at(chunk_index{places_[lane].chunk}).has(fragment);
        having |= std::uint64_t{has} << lane;
    });
    return having;
}

template <class Layout>
void walk<Layout>::keep_matching() {
    if (!places_.empty()) locate();
    std::uint8_t group = 0;  // the current `any` group, and lanes that have one of it
    std::uint64_t has_one = ~std::uint64_t{0};
    for (const sparse_term& term : sparse_terms_) {
        if (left_ == 0) return;
        const std::uint64_t found = having(term);
        if (term.kind == term_kind::with) left_ &= found;
        if (term.kind == term_kind::without) left_ &= ~found;
        if (term.kind != term_kind::any) continue;
        if (term.group != group) {
            left_ &= has_one;
            group = term.group;
            has_one = 0;
        }
        has_one |= found;
    }
    left_ &= has_one;
}

/// Finds the values of sparse fragments that do not lead.
template <class Layout>
void walk<Layout>::find_values() {
    std::byte** next = found_.data();
    for (const wanted_fragment& wanted : wanted_) {
        if (wanted.source.found == nullptr || wanted.fragment->sparse_values == nullptr) continue;
        const sparse_set& set = *wanted.fragment->sparse_values;
        each_lane(left_, [&](unsigned lane) {
            const slot_index slot = set.template find_of<Layout>(ids_[lane].value());
            next[lane] = slot == no_slot ? wanted.outside : set.at(slot);
        });
        next += block_size;
    }
}

// ---- rows --------------------------------------------------------------------------------------

template <class Layout>
std::byte* walk<Layout>::find(std::size_t wanted, std::size_t lane) const noexcept {
    const wanted_fragment& request = wanted_[wanted];
    if (request.source.found != nullptr) return request.source.found[lane];
    const bool is_inside = request.source.inside != nullptr;
    std::byte* const base =
        is_inside ? request.fragment->base(chunk_index{places_[lane].chunk}) : request.source.base;
    return base == nullptr ? nullptr : base + (is_inside ? places_[lane].row : lane) * request.size;
}

/// Whether a lane is adjacent to the previous lane in everything that is shown.
template <class Layout>
bool walk<Layout>::follows(std::size_t lane) const noexcept {
    if (!places_.empty()) {
        const lane_place& before = places_[lane - 1];
        const lane_place& place = places_[lane];
        if (place.chunk != before.chunk || (place.chunk != 0 && place.row != before.row + 1))
            return false;
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
        std::byte* const before = find(i, lane - 1);
        if (find(i, lane) != (before == nullptr ? nullptr : before + wanted_[i].size)) return false;
    }
    return true;
}

template <class Layout>
bool walk<Layout>::next(rows& found) {
    if (unshown_ == 0) {
        if (!next()) return false;
        unshown_ = left_;
    }
    found.lane = static_cast<std::size_t>(std::countr_zero(unshown_));
    found.count = 1;
    if (is_run()) {
        found.count = run_;
        unshown_ = 0;
    } else {
        std::uint64_t last = unshown_ & -unshown_;
        while ((last << 1 & unshown_) != 0 && follows(found.lane + found.count)) {
            last <<= 1;
            ++found.count;
        }
        unshown_ &= ~(last | (last - 1));
    }
    found.ids = ids_ + found.lane;
    found.chunk = chunk_;
    found.first = row_ + found.lane;
    if (places_.empty()) return true;
    found.chunk = &store_.graph.at(chunk_index{places_[found.lane].chunk});
    found.first = places_[found.lane].row;
    return true;
}

template <class Layout>
void walk<Layout>::find(void* from, void* cache, void* list, batch_targets& found) {
    // SAFETY: `basic_query::finder` stores pointers of these types.
    auto& known = *static_cast<match_list*>(list);
    const chunk_range chunks = static_cast<query_cache*>(cache)->read(known, true);
    found.is_by_id = !chunks.is_plain;
    if (chunks.is_plain) {
        found.chunks.assign(chunks.begin(), chunks.end());
        return;
    }
    walk all(*static_cast<store<Layout>*>(from), *static_cast<query_cache*>(cache), known, {});
    for (rows run; all.next(run);)
        for (std::size_t i = 0; i < run.count; ++i) found.ids.push_back(run.ids[i].value());
}

}  // namespace MUSTER_NAMESPACE::detail
