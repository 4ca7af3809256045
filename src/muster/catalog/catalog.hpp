// catalog: the chunks of the sets of fragments, and the transitions between them. Changes no entity's
// components.
//
//     fragment_catalog    finds and creates fragments
//     fragment_rules      their meaning
//     catalog             the chunks of their sets, and transitions
#pragma once

#include <muster/base/slice.hpp>
#include <muster/catalog/fragment_rules.hpp>
#include <muster/catalog/transition_builder.hpp>
#include <muster/storage/chunk_graph.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API catalog : public fragment_rules {
public:
    using fragment_rules::fragment_rules;

    // ---- chunks --------------------------------------------------------------------------------

    /// Returns the chunk of exactly these fragments, in any order. Throws `errc::given_twice`.
    chunk_data& ensure_set(slice<fragment_data* const> set);
    /// Returns the chunk of this fragment alone.
    chunk_data& ensure_single_chunk(fragment_data& fragment) {
        return fragment.single_chunk != chunk_index{} ? parts_.graph.at(fragment.single_chunk)
                                                      : add_single_chunk(fragment);
    }
    /// Returns the chunk of a list of types; see `bundle_index`.
    chunk_data& ensure_bundle(list_index list, slice<fragment_data* const> set);

    /// Returns the chunk of a clone before values are given: without the unique fragments.
    chunk_data& cloned_part(chunk_data& original);
    /// Returns the chunk of an entity of `part` to which those of `given` are added, in their order
    /// and with all implied changes.
    chunk_data& cloned_chunk(chunk_data& part, const chunk_data& given);
    /// Returns the chunk of the same fragments, in the groups of these values, of which the participants
    /// know the words.
    chunk_data& grouped(chunk_data& set, slice<fragment_data* const> fragments,
                        slice<const void* const> values);
    /// Returns the word of a clone's fragment: that of the given chunk or, if it is 0, that of the
    /// prototype's part.
    [[nodiscard]] static std::uint64_t joined_word(const chunk_data& part, const chunk_data& given,
                                                   const fragment_data& fragment) noexcept;
    /// Whether any of these fragments, or of those that they imply, is sparse.
    [[nodiscard]] bool has_sparse_part(chunk_data& given);
    [[nodiscard]] bool has_sparse_part(slice<const change_shape> shape);
    /// Whether a change of this fragment may change a sparse one, as an implied change.
    [[nodiscard]] bool implies_sparse(fragment_data& fragment) const;
    /// Whether changes of these fragments imply changes of each other, so that their order matters.
    [[nodiscard]] bool is_ordered(chunk_data& set);

    // ---- transitions ---------------------------------------------------------------------------

    /// Returns the transition of an entity of `from` with these changes. Throws as
    /// `chunk_graph::ensure` does.
    transition_ref transition_for(chunk_data& from, std::uint64_t e,
                                  slice<const change_shape> shape);
    /// Returns the transition that adds or removes all fragments of `set`; values that are there
    /// stay. Null if it concerns sparse fragments, or if the order
    /// of the changes matters. A later call finds it as an edge.
    const transition* ensure_set_edge(chunk_data& from, chunk_data& set, bool removes);
    /// Returns the transition to the chunk of the same fragments with these words; see
    /// `chunk_graph::regroup`. A later call finds it as an edge.
    transition_ref regroup(chunk_data& from, slice<const std::uint64_t> words);

private:
    MUSTER_COLD chunk_data& add_single_chunk(fragment_data& fragment);
    chunk_data& find_set(slice<fragment_data* const> set);
    [[nodiscard]] chunk_data* spawn_chunk(chunk_data& chunk) const noexcept;
    chunk_data& joined_chunk(const chunk_data& part, const chunk_data& more);
    [[nodiscard]] bool concerns_sparse(slice<const change_shape> shape) const;
    void list_sparse(std::uint64_t e, slice<const change_shape> shape,
                     array_list<fragment_data*>& found);

    transition_cache transitions_;
    array_list<fragment_data*> sparse_of_shape_;  // reused by `transition_for`
};

}  // namespace MUSTER_NAMESPACE::detail
