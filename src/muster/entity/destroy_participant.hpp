// destroy_participant: a room that takes part when entities are destroyed, because entities depend
// on each other in it.
//
//     collect    what is destroyed with them, until no participant adds more
//     check      may they all be destroyed?
//     release    what survives, but loses a fragment
//     prepare    steps that may fail
//                   ... the hooks of all of them ...
//     finish     before the first value and id ends
//
// The world asks participants about an operation only if one of its entities has a mark, see
// `catalog::mark_for_destroy`, or is in a chunk whose rows a room follows, see `row_follower`. All
// other entities take the fast paths.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/config.hpp>
#include <muster/base/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace MUSTER_NAMESPACE::detail {

/// The entities that one operation destroys, each once, in the order of their hooks.
class destroy_set {
public:
    /// Adds a living entity. Returns false if it is there already. May throw.
    bool add(std::uint64_t e) {
        if (!has_.insert(e).second) return false;
        all_.push_back(e);
        return true;
    }
    /// Sets another order of the same entities.
    void arrange(array_list<std::uint64_t>& order) noexcept { all_.swap(order); }
    [[nodiscard]] bool has(std::uint64_t e) const { return has_.contains(e); }
    [[nodiscard]] slice<const std::uint64_t> all() const noexcept { return all_; }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

    /// The creation of an entity is undone: a hook that throws cannot prevent it.
    bool is_undo = false;

private:
    array_list<std::uint64_t> all_;
    std::unordered_set<std::uint64_t> has_;
};

struct fragment_data;

/// A fragment that an entity loses although it survives the operation, or whose word changes.
struct fragment_loss {
    std::uint64_t e;
    fragment_data* fragment;
    bool is_regrouped = false;
    std::uint64_t word = 0;
};

/// A participant must not change the world in these calls.
class MUSTER_API destroy_participant {
public:
    destroy_participant() = default;
    destroy_participant(const destroy_participant&) = delete;
    destroy_participant& operator=(const destroy_participant&) = delete;

    /// Adds the entities that are destroyed together with those from `first` on. May throw.
    virtual void collect(destroy_set& dying, std::size_t first) = 0;
    /// Throws if exactly these may not be destroyed. Not called by `reset`, which destroys all,
    /// nor for an entity whose creation is undone.
    virtual void check(const destroy_set& dying) const = 0;
    /// Puts the entities into the order of their hooks.
    virtual void arrange(destroy_set&) {}
    /// Adds what living entities outside of the operation lose by it, and their new words; each
    /// fragment once. May throw.
    virtual void release(const destroy_set&, array_list<fragment_loss>&) {}
    /// Takes all steps that may throw. A hook may still prevent the operation, without a notice.
    virtual void prepare(const destroy_set& dying) = 0;
    /// The operation fails. It may be the innermost of several: a hook may undo the creation of an
    /// entity.
    virtual void cancel(const destroy_set&) noexcept {}
    /// These are about to be destroyed; their values are still there.
    virtual void finish(const destroy_set& dying) noexcept = 0;
    /// All entities were destroyed at once.
    virtual void reset() noexcept = 0;

protected:
    ~destroy_participant() = default;
};

}  // namespace MUSTER_NAMESPACE::detail
