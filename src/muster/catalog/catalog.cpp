#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/catalog/catalog.hpp>
#include <muster/type/value_participant.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

// ---- chunks ------------------------------------------------------------------------------------

chunk_data& catalog::find_set(slice<fragment_data* const> set) {
    array_list<fragment_data*> sorted(set.data(), set.data() + set.size());
    std::ranges::sort(sorted, {}, [](const fragment_data* fragment) { return fragment->index; });
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) error_reporter::raise_given_twice(**twice);
    if (chunk_data* const known = parts_.graph.find(sorted)) return *known;
    parts_.changes.refuse_in_phase("the first use of a chunk");
    return parts_.graph.ensure(sorted);
}

/// Returns the chunk if spawning into it notifies no one and needs nothing else, else null.
chunk_data* catalog::spawn_chunk(chunk_data& chunk) const noexcept {
    const chunk_data& known = parts_.graph.refresh(chunk);
    const bool is_fast = known.is_complete && !known.notifies_insert && known.has_plain_rows() &&
                         std::ranges::none_of(known.fragments, &fragment_data::is_untyped);
    return is_fast ? &chunk : nullptr;
}

chunk_data& catalog::ensure_set(slice<fragment_data* const> set) {
    if (chunk_data* const known = recent_.find(set).chunk) return *known;
    chunk_data& found = find_set(set);
    if (parts_.changes.is_parallel()) return found;  // other threads read the recent sets
    recent_.put(set, found, spawn_chunk(found));
    return found;
}

chunk_data& catalog::add_single_chunk(fragment_data& fragment) {
    parts_.changes.refuse_in_phase("chunk");
    fragment_data* const set[] = {&fragment};
    chunk_data& found = parts_.graph.ensure(set);
    fragment.single_chunk = found.index;
    return found;
}

chunk_data& catalog::ensure_bundle(list_index list, slice<fragment_data* const> set) {
    chunk_data& found = ensure_set(set);
    if (list == no_list || parts_.changes.is_parallel()) return found;
    bundle_index::entry& known = parts_.bundles.ensure(list);
    known.chunk = &found;
    known.spawned = spawn_chunk(found);
    for (std::size_t i = 0; i < smaller(set.size(), std::size(known.columns)); ++i)
        known.columns[i] = static_cast<std::uint8_t>(found.find_column(*set[i]));
    return found;
}

chunk_data& catalog::cloned_part(chunk_data& original) {
    if (!parts_.graph.refresh(original).has_unique) return original;
    array_list<fragment_data*> rest;
    array_list<std::uint64_t> words;
    for (fragment_data* fragment : original.fragments) {
        if (fragment->is_unique) continue;
        rest.push_back(fragment);
        if (fragment->has_word) words.push_back(original.word_of(*fragment));
    }
    return parts_.graph.ensure(rest, words);
}

chunk_data& catalog::grouped(chunk_data& set, slice<fragment_data* const> fragments,
                             slice<const void* const> values) {
    array_list<std::uint64_t> words;
    for (const fragment_data* fragment : set.fragments) {
        if (!fragment->has_word) continue;
        words.push_back(0);
        for (std::size_t i = 0; i < fragments.size() && fragment->participant != nullptr; ++i)
            if (fragments[i] == fragment) words.back() = fragment->participant->word_of(values[i]);
    }
    return words.empty() ? set : parts_.graph.regroup(set, words);
}

std::uint64_t catalog::joined_word(const chunk_data& part, const chunk_data& given,
                                   const fragment_data& fragment) noexcept {
    const std::uint64_t word = given.word_of(fragment);
    const bool is_known = fragment.participant != nullptr && given.has(fragment);
    return word != 0 || is_known ? word : part.word_of(fragment);
}

/// Returns the chunk of the fragments of both, after implied changes.
chunk_data& catalog::joined_chunk(const chunk_data& part, const chunk_data& more) {
    array_list<fragment_data*> set = fragments_after(part.fragments, more.fragments);
    set.erase_if([](const fragment_data* fragment) { return fragment->sparse_values != nullptr; });
    array_list<std::uint64_t> words;
    for (const fragment_data* fragment : set)
        if (fragment->has_word) words.push_back(joined_word(part, more, *fragment));
    return parts_.graph.ensure(set, words);
}

chunk_data& catalog::cloned_chunk(chunk_data& part, const chunk_data& given) {
    chunk_data& both = part.fragments.empty()    ? parts_.graph.at(given.index)
                       : given.fragments.empty() ? part
                                                 : joined_chunk(part, given);
    return parts_.graph.refresh(both).is_complete ? both
                                                  : joined_chunk(parts_.graph.empty_chunk(), both);
}

bool catalog::implies_sparse(fragment_data& fragment) const {
    if (fragment.implied.empty()) return false;
    if (fragment.implied_epoch == parts_.graph.epoch()) return fragment.implies_sparse;
    array_list<fragment_data*> set{&fragment};
    add_implied(set);
    fragment.implies_sparse = std::ranges::any_of(set, [&](const fragment_data* implied) {
        return implied != &fragment && implied->sparse_values != nullptr;
    });
    fragment.implied_epoch = parts_.graph.epoch();
    return fragment.implies_sparse;
}

bool catalog::is_ordered(chunk_data& set) {
    return std::ranges::any_of(set.fragments, [&](const fragment_data* fragment) {
        return std::ranges::any_of(fragment->implied, [&](const implied_change& rule) {
            return (rule.is_removal || rule.is_on_removal) && set.has(*rule.fragment);
        });
    });
}

bool catalog::has_sparse_part(chunk_data& given) {
    if (parts_.graph.refresh(given).is_complete || given.has_sparse) return given.has_sparse;
    (void)joined_chunk(parts_.graph.empty_chunk(), given);
    return std::ranges::any_of(given.fragments,
                               [&](fragment_data* fragment) { return implies_sparse(*fragment); });
}

bool catalog::has_sparse_part(slice<const change_shape> shape) {
    return std::ranges::any_of(shape, [&](const change_shape& step) {
        return step.fragment != nullptr && has_sparse_part(ensure_single_chunk(*step.fragment));
    });
}

bool catalog::concerns_sparse(slice<const change_shape> shape) const {
    return std::ranges::any_of(shape, [&](const change_shape& step) {
        return step.fragment != nullptr &&
               (step.fragment->sparse_values != nullptr || implies_sparse(*step.fragment));
    });
}

// ---- transitions -------------------------------------------------------------------------------

/// Lists the sparse fragments of the entity that these changes concern.
void catalog::list_sparse(std::uint64_t e, slice<const change_shape> shape,
                          array_list<fragment_data*>& found) {
    found.clear();
    if (std::ranges::find(shape, change_kind::clear, &change_shape::kind) != shape.end())
        return parts_.sparse.list(e, found);
    if (!concerns_sparse(shape)) return;
    array_list<fragment_data*> concerned;
    for (const change_shape& step : shape)
        if (step.fragment != nullptr) concerned.push_back(step.fragment);
    add_implied(concerned);
    concerned.erase(std::ranges::unique(concerned).begin(), concerned.end());
    for (fragment_data* fragment : concerned)
        if (fragment->sparse_values != nullptr && fragment->sparse_values->has(e))
            found.push_back(fragment);
}

transition_ref catalog::transition_for(chunk_data& from, std::uint64_t e,
                                       slice<const change_shape> shape) {
    const auto has = [&](const fragment_data& fragment) {
        return fragment.sparse_values != nullptr ? fragment.sparse_values->has(e)
                                                 : from.has(fragment);
    };
    if (shape.size() == 1 && shape[0].fragment != nullptr && shape[0].word == 0 &&
        !implies_sparse(*shape[0].fragment)) {
        fragment_data& fragment = *shape[0].fragment;
        const bool is_there = has(fragment);
        const bool removes = shape[0].kind == change_kind::remove;
        if (removes || shape[0].kind == change_kind::put ||
            (shape[0].kind == change_kind::keep && !is_there)) {
            const bool is_sparse = fragment.sparse_values != nullptr && is_there;
            const std::uint64_t epoch = parts_.graph.edge_epoch();
            const std::uint64_t key = is_sparse
                                          ? edge_key::of_present(epoch, fragment.index, removes)
                                          : edge_key::of(epoch, fragment.index, removes);
            if (transition* const known = from.edges.find(key)) return transition_ref(known);
            from.edges.reserve_one(key);
            fragment_data* const present[] = {&fragment};
            const change_shape step[] = {
                {&fragment, removes ? change_kind::remove : change_kind::put}};
            transition_ref made = build_transition(
                parts_.graph, from,
                is_sparse ? slice<fragment_data* const>(present) : slice<fragment_data* const>(),
                step);
            from.edges.insert(key, made);
            return made;
        }
    }
    list_sparse(e, shape, sparse_of_shape_);
    return transitions_.find(parts_.graph, from, sparse_of_shape_, shape);
}

const transition* catalog::ensure_set_edge(chunk_data& from, chunk_data& set, bool removes) {
    if (set.has_sparse || has_sparse_part(set) || is_ordered(set)) return nullptr;
    const std::uint64_t key = edge_key::of_set(parts_.graph.edge_epoch(), set.index, removes);
    if (const transition* const known = from.edges.find(key)) return known;
    from.edges.reserve_one(key);
    array_list<change_shape> shape;
    for (fragment_data* fragment : set.fragments)
        shape.push_back(
            {fragment, removes ? change_kind::remove : change_kind::keep, set.word_of(*fragment)});
    const transition_ref made =
        build_transition(parts_.graph, from, {}, {shape.data(), shape.size()});
    from.edges.insert(key, made);
    return made.get();
}

transition_ref catalog::regroup(chunk_data& from, slice<const std::uint64_t> words) {
    chunk_data& to = parts_.graph.regroup(from, words);
    const std::uint64_t key = edge_key::of_group(parts_.graph.edge_epoch(), to.index);
    if (transition* const known = from.edges.find(key)) return transition_ref(known);
    from.edges.reserve_one(key);
    transition_ref made(new transition);
    transition& step = *made.get();
    step.from = &from;
    step.to = &to;
    step.columns.reserve(from.columns.size());
    for (std::uint32_t i = 0; i < from.columns.size(); ++i) step.columns.push_back(i);
    step.is_plain = true;
    step.moves_bytes = !from.is_nontrivial;
    step.is_repeatable = true;
    from.edges.insert(key, made);
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
