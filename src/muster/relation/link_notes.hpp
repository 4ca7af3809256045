// link_notes: the changes of links for the observers of a relation, who hear of them when no hook can prevent
// them any more.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/type/hook_list.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class link_notes {
public:
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    void add(std::uint64_t e, hook_kind kind) { all_.push_back({e, kind}); }
    void clear() noexcept { all_.clear(); }
    /// Makes room for the notes in the logs of observers.
    void prepare(hook_list& hooks) const {
        if (all_.empty()) return;
        for (const hook_kind kind : {hook_kind::insert, hook_kind::assign, hook_kind::remove})
            hooks.prepare(kind, all_.size());
    }
    /// Notes all changes, for which there is room.
    void commit(hook_list& hooks) noexcept {
        for (const note& change : all_) hooks.note(change.kind, change.e);
        all_.clear();
    }

private:
    struct note {
        std::uint64_t e;
        hook_kind kind;
    };
    array_list<note> all_;
};

}  // namespace MUSTER_NAMESPACE::detail
