// link_mirror: the other direction of the links of a symmetric relation. A change of the links of one
// entity also changes those of its partners, in the same step, all or nothing:
//
//     relate(a, b)     a -> b   the change itself
//                      b -> a   planned here: a new link, another target, or only another value
//                      x, y     exclusive: the former partners of a and of b lose their links
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/relation/link.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/storage/sparse_set.hpp>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class relation_data;
class row_regrouping;

class MUSTER_API link_mirror {
public:
    link_mirror(engine& owner, relation_data& of, row_regrouping& rows) noexcept
        : engine_(owner), relation_(of), rows_(rows) {}
    link_mirror(const link_mirror&) = delete;
    link_mirror& operator=(const link_mirror&) = delete;
    ~link_mirror() { begin(); }

    /// Drops what was not applied.
    void begin() noexcept;
    /// Plans the removal of the link of a partner. May throw, as do `relate` and `call_hooks`.
    void remove(std::uint64_t e, std::uint64_t target);
    /// Plans the link of a partner to this target, with a copy of the value: that of the link, or for
    /// an exclusive relation the link itself. `is_bulk`: the partner may have the link already, since
    /// it is new, too.
    void relate(std::uint64_t e, std::uint64_t target, const void* value, bool is_bulk);
    /// Calls the hooks of what was planned since the last call.
    void call_hooks();
    /// Changes the links. Rows move later, with those of other plans.
    void apply() noexcept;
    /// Closes holes, after the rows have moved.
    void finish() noexcept;

private:
    struct change {
        link_step step;
        std::uint32_t copy = 0;  // in `copies_`, if it is no removal
    };
    /// A list that gains links.
    struct pending_list {
        std::size_t added = 0;
        slot_index slot = no_slot;  // of a new list
    };

    void plan(const link_step& step);
    void make_room(std::uint64_t e);
    void copy_link(const void* value);
    void apply_one(const change& made) noexcept;
    void apply_list(const change& made) noexcept;
    void end_lists() noexcept;

    engine& engine_;
    relation_data& relation_;
    row_regrouping& rows_;
    array_list<change> changes_;
    std::size_t called_ = 0;        // changes whose hooks were called
    std::vector<link_list> lists_;  // the copies of values, one in each
    array_list<void*> links_;       // the copies of links of an exclusive relation
    bool is_stored_ = false;        // the copies have been moved to rows
    std::unordered_map<std::uint64_t, pending_list> pending_;
};

}  // namespace MUSTER_NAMESPACE::detail
