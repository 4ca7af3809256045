// link_edit: combines the recorded changes of the links of one entity into one. A list of links that is there
// already is changed in place: the link table applies the edit when nothing can prevent it any more.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/relation/link.hpp>
#include <muster/type/value_participant.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class link_table;

class MUSTER_API link_edit {
public:
    using outcome = value_participant::outcome;

    /// See `value_participant::combine`. For `touches`, this is the edit of the operation that begins next.
    outcome combine(const link_table& of, std::uint64_t e, const void* present,
                    slice<void* const> given, std::size_t& which);
    /// An operation begins: that of this edit, or another.
    void begin() noexcept {
        is_active_ = is_fresh_;
        is_fresh_ = false;
    }
    void end() noexcept { is_active_ = false; }
    /// Whether the operation edits the list of this entity.
    [[nodiscard]] bool is_of(std::uint64_t e) const noexcept { return is_active_ && e_ == e; }

    /// The links that are added or assigned, and the targets of those that are removed.
    [[nodiscard]] const link_list& added() const noexcept { return added_; }
    [[nodiscard]] const array_list<std::uint64_t>& removed() const noexcept { return removed_; }
    /// Changes both ends of the links. There must be room for those that are added.
    void apply(link_table& of) noexcept;

private:
    static outcome combine_one(const link_table& of, const void* present, slice<void* const> given,
                               std::size_t& which);
    outcome combine_many(const link_table& of, std::uint64_t e, const void* present,
                         slice<void* const> given, std::size_t& which);

    std::uint64_t e_ = 0;
    bool is_fresh_ = false;   // its operation has not begun
    bool is_active_ = false;  // its operation is being applied
    link_list added_;
    array_list<std::uint64_t> removed_;
};

}  // namespace MUSTER_NAMESPACE::detail
