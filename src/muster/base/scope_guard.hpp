// scope_guard: undoes the steps of a function that does not reach its end.
#pragma once

#include <muster/base/config.hpp>

#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Guard: calls `undo` when destroyed, unless `dismiss` was called.
template <class Undo>
class scope_guard {
public:
    explicit scope_guard(Undo undo) noexcept : undo_(std::move(undo)) {}
    scope_guard(const scope_guard&) = delete;
    scope_guard& operator=(const scope_guard&) = delete;
    ~scope_guard() {
        if (is_active_) undo_();
    }
    void dismiss() noexcept { is_active_ = false; }

private:
    Undo undo_;
    bool is_active_ = true;
};

}  // namespace MUSTER_NAMESPACE::detail
