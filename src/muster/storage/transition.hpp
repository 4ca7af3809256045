// transition: what a set of changes does to the entities of one chunk.
//
//     from          [ position ][ health ]             shape: put velocity, remove health
//     columns            0      dropped                position becomes column 0 of `to`
//     to            [ position ][ velocity ]
//     arrivals                   column 1, the value of change 0
//     removed       health       its hooks are called before the move, its observers after it
//     present       velocity     inserted: its hooks are called after the move
//
// A transition depends on the chunk, on the changes, and on the presence of the sparse fragments
// that the changes name. Entities for which these are equal share it. It is immutable. When traits
// or hooks change, the graph enters a new epoch, in which lookups do not find older transitions.
// Code that uses a transition while user code runs holds a `transition_ref`.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/storage/sparse_set.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

struct chunk_data;

struct MUSTER_API transition {
    static constexpr std::uint32_t dropped = ~std::uint32_t{0};
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// A value of the target that is not moved from the source.
    struct arrival {
        std::uint32_t column;  // column of the target
        std::uint32_t given;   // index of the change with the value; `none`: the default value
    };
    /// The effect on a sparse fragment. The new value is constructed in a slot of its own.
    struct sparse_change {
        fragment_data* fragment;
        bool was_there;       // the old value is removed
        bool is_inserted;     // a new value is inserted
        std::uint32_t given;  // index of the change with the value; `none`: the default value
    };
    /// A fragment whose value is inserted or assigned.
    struct notice {
        fragment_data* fragment;
        bool is_new;
    };

    // The members that every move reads come first.
    chunk_data* from = nullptr;
    chunk_data* to = nullptr;
    array_list<std::uint32_t> columns;  // per column of `from`: the column of `to`, or `dropped`
    bool is_plain = false;       // calls no hooks, and concerns no sparse fragments or defaults;
                                 // nothing follows the rows of its chunks
    bool is_hooked = false;      // would be plain without its hooks, and moves only bytes
    bool moves_bytes = false;    // needs no user code except for hooks: bytes move, nothing else
    bool drops = false;          // a column is dropped
    bool is_repeatable = false;  // equal for all entities of the chunk with changes of these kinds
    bool has_notices = false;    // notifies hooks or observers
    bool calls_before = false;   // calls hooks before the move
    bool calls_after = false;    // calls hooks after the move
    bool keeps_last = false;     // observers keep values that it removes
    array_list<arrival> arrivals;
    array_list<sparse_change> sparse_changes;

    // Only fragments that have hooks or observers, in the order of fragments.
    array_list<fragment_data*> removed;
    array_list<notice> present;

    array_list<fragment_data*> types_fixed;  // untyped fragments whose type this change fixes
    std::uint32_t references = 0;            // see `transition_ref`

    [[nodiscard]] bool calls_hooks() const noexcept { return calls_before || calls_after; }
};

/// A shared owner of a transition.
class transition_ref {
public:
    transition_ref() noexcept = default;
    explicit transition_ref(transition* owned) noexcept : owned_(owned) {
        if (owned_ != nullptr) ++owned_->references;
    }
    transition_ref(const transition_ref& other) noexcept : transition_ref(other.owned_) {}
    transition_ref(transition_ref&& other) noexcept
        : owned_(std::exchange(other.owned_, nullptr)) {}
    transition_ref& operator=(transition_ref other) noexcept {
        std::swap(owned_, other.owned_);
        return *this;
    }
    ~transition_ref() {
        if (owned_ != nullptr && --owned_->references == 0) release(owned_);
    }

    [[nodiscard]] transition* get() const noexcept { return owned_; }
    const transition& operator*() const noexcept { return *owned_; }
    const transition* operator->() const noexcept { return owned_; }
    explicit operator bool() const noexcept { return owned_ != nullptr; }

private:
    MUSTER_API static void release(const transition* owned) noexcept;
    transition* owned_ = nullptr;
};

}  // namespace MUSTER_NAMESPACE::detail
