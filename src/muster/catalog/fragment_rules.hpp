// fragment_rules: what the fragments of a world mean: the changes that they imply, their storage, names,
// followers and participants.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/catalog/fragment_catalog.hpp>

#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API fragment_rules : public fragment_catalog {
public:
    using fragment_catalog::fragment_catalog;

    /// Makes other changes follow whenever an entity gains or loses this fragment: with it or in place
    /// of it, in the same move, seen by hooks and observers. See transition_builder.hpp for their
    /// order. Entities that have or lack the fragment already stay as they are. A rule that is there
    /// already is not added twice, nor one about the fragment itself. O(rules of the fragment, or
    /// rules about the other, if these are fewer).
    void imply(std::uint64_t f, slice<const implied_change> rules);
    /// Adding the fragment adds the default values of these.
    void add_needs(std::uint64_t f, slice<fragment_data* const> needed);
    /// Makes the fragment sparse. Throws `errc::fragment_in_use` if an entity has it or a value is
    /// pending.
    void make_sparse(fragment_data& fragment);
    /// Gives the fragment words: each divides the entities that have it into groups, in chunks of
    /// their own. Throws `errc::fragment_in_use` if an entity has it, a value is pending, or it is
    /// sparse.
    void add_words(fragment_data& fragment);
    void name(target of, std::string_view name);
    /// Makes `follower`, which the caller owns, the one follower of the rows in the chunks of this
    /// fragment, and shows it the existing rows. What `prepare` throws changes nothing. Throws
    /// `errc::in_scope` inside a change. O(chunks of the fragment).
    void follow(fragment_data& fragment, row_follower& follower);
    /// Makes `room`, which the caller owns, the participant of a fragment that no entity has, and
    /// that no chunk has ever had. `std::bad_alloc` changes nothing.
    void take_part(fragment_data& fragment, value_participant& room);
    /// Removes the follower of the fragment, if it has one.
    void unfollow(fragment_data& fragment) noexcept;

private:
    [[nodiscard]] static bool has_rule(const fragment_data& fragment,
                                       const implied_change& rule) noexcept;
};

}  // namespace MUSTER_NAMESPACE::detail
