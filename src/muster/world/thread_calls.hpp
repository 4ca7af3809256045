// thread_calls: the calls of a world for deferred changes: scopes, and the command buffers of
// other threads.
#pragma once

#include <muster/world/system_calls.hpp>

#include <muster/world/command_buffer.hpp>

#include <cstddef>
#include <source_location>

namespace MUSTER_NAMESPACE {

/// The calls of a world for scopes and for command buffers.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class thread_calls : public system_calls<Layout> {
public:
    // ---- scopes --------------------------------------------------------------------------------

    /// Opens a scope: changes to entities are recorded until `commit` applies them or `cancel`
    /// drops them. Scopes nest: an inner scope commits into the outer scope. Loops, hooks and
    /// callbacks open scopes by themselves; see also `deferred`. Returns true if no scope was open.
    ///
    /// In a scope, calls read the world as it was before; this includes the bool or the count that
    /// a change returns. Writing through a reference is immediate. A new id is alive and empty at
    /// once; it dies if the scope is cancelled. `component`, `define`, `name`, `query`, `chunk` and
    /// `reserve` are immediate; only `reserve` of a chunk that has rows is deferred. `reset`,
    /// `collect_garbage`, `recycle_tombstones`, `sort` and `sort_like` throw `errc::in_scope`.
    /// Refused in a phase.
    bool defer() {
        store_.transaction.defer();
        return store_.depth() == 1;
    }
    /// Closes the innermost scope. If it was the last, applies all changes and returns true. Throws
    /// `errc::unbalanced_scope` if no scope is open, or if the library opened the innermost scope.
    ///
    /// The changes of an entity become one move, all or nothing. Entities are changed in the order
    /// of their first recorded change. Clearing, copying or destroying a fragment keeps its place
    /// in the recorded order. If a change or a hook throws, that entity stays unchanged; the others
    /// continue, and the first exception is rethrown at the end. O(changes). Refused in a phase.
    bool commit(std::source_location where = std::source_location::current()) {
        store_.transaction.commit(&where);
        return store_.depth() == 0;
    }
    /// Closes the innermost scope like `commit`, but drops the changes recorded in it. Returns true
    /// if it was the last. Refused in a phase.
    bool cancel(std::source_location where = std::source_location::current()) {
        store_.transaction.cancel(&where);
        return store_.depth() == 0;
    }
    /// Returns the number of open scopes, those of loops and hooks included.
    [[nodiscard]] std::size_t depth() const noexcept { return store_.depth(); }

    // ---- threads -------------------------------------------------------------------------------

    /// Takes over the commands of the buffer, which is empty afterwards. The world applies them at
    /// the next point outside of any scope. On the world's thread with no scope open, that is at
    /// once. Otherwise it is when that thread closes the outermost scope (also that of a loop),
    /// processes a system, or calls `submit` or `apply_submitted`. Buffers are applied in the order
    /// of submission, each in one scope.
    ///
    /// Throws what a change has thrown, after all other changes. `std::bad_alloc` before that
    /// leaves the buffer unchanged. O(1), and the cost of the changes that it applies; holds a lock
    /// for a few instructions. Any thread may call it at any time.
    void submit(basic_command_buffer<Layout>& changes) {
        changes.hand_over();
        store_.parallel.apply_submitted_on_owner();
    }
    /// Applies the submitted buffers if no scope is open. Makes the calling thread the world's
    /// thread; initially it is the thread that created the world. Throws as `submit` does. Needs
    /// exclusive access to the world; does nothing in a parallel phase.
    void apply_submitted() {
        if (store_.gate.is_parallel()) return;
        store_.parallel.set_owner_thread();
        store_.parallel.apply_submitted();
    }

protected:
    using system_calls<Layout>::system_calls;
    using detail::world_base<Layout>::store_;
};

}  // namespace MUSTER_NAMESPACE
