// open_scope: a scope, in which changes are recorded. Loops, callbacks, hooks and `defer` open one.
#pragma once

#include <muster/change/journal.hpp>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class transaction;

/// While it is open, changes are recorded. `commit` or `cancel` ends it. Scopes may end in any
/// order.
class MUSTER_API open_scope {
public:
    /// A closed scope.
    open_scope() noexcept = default;
    /// Opens a scope. In a parallel phase it stays closed, because all changes are recorded anyway.
    explicit open_scope(engine& owner, bool is_users = false) noexcept(!checks_threads);
    open_scope(open_scope&& other) noexcept;
    open_scope& operator=(const open_scope&) = delete;

    [[nodiscard]] bool is_open() const noexcept { return owner_ != nullptr; }

    /// Applies the recorded changes or, if another scope is open, leaves them to that scope. Throws
    /// the first exception of a change, after all others are applied.
    void commit();
    /// Drops the recorded changes. If inner scopes are open, this happens when the last one ends.
    void cancel() noexcept;

private:
    friend class transaction;
    void commit_among_others();
    void end() noexcept;

    // The order of the members keeps compilers from storing `outer_` together with another member,
    // through a vector register. Each loop waits for the one before it to load `outer_`.
    engine* owner_ = nullptr;
    open_scope* inner_ = nullptr;  // valid unless it is the innermost
    open_scope* outer_ = nullptr;
    journal::position start_;
    bool is_users_ = false;
    bool is_cancelled_ = false;  // its changes are dropped when it ends
};

/// Like `open_scope`, but its destructor cancels it.
class scope : public open_scope {
public:
    using open_scope::open_scope;
    scope() noexcept = default;
    scope(scope&&) noexcept = default;
    ~scope() {
        if (open_scope::is_open()) open_scope::cancel();
    }
};

/// Guard: cancels a scope when destroyed unless `is_done`. No other code can reach the flag. So the
/// compiler removes the cancel after a completed loop, and keeps the captures of the loop's function
/// in registers.
struct closing {
    open_scope& changes;
    bool is_done = false;
    [[gnu::always_inline]] ~closing() {
        if (!is_done && changes.is_open()) changes.cancel();
    }
};

}  // namespace MUSTER_NAMESPACE::detail
