// gate: whether a change may happen now: at once, only recorded, or not at all.
#pragma once

#include <muster/base/config.hpp>

#include <cstdint>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

/// One word combines all reasons against the fast paths:
///
///     bit   63       62          61     33   32              31     0
///           [phase]  [tracking]  [changes]   [entity hooks]  [scopes]
///
/// A fast path tests it once. Sixteen bytes, at the start of a store.
class MUSTER_API gate {
public:
    /// Whether no scope is open, no entity has hooks, writes are not tracked, and neither a change
    /// nor a phase is active.
    [[nodiscard]] bool is_idle() const noexcept { return busy_ == 0; }
    /// Whether changes are recorded in the journal, and nothing else is to be considered.
    [[nodiscard]] bool is_only_deferred() const noexcept {
        return busy_ - scope_unit < entity_hooks_bit - scope_unit;
    }
    /// Whether what is not stored in entities changes at once: no scope is open, and neither a change
    /// nor a phase is active.
    [[nodiscard]] bool is_immediate() const noexcept { return reasons() == 0; }
    /// Whether scopes are open, and neither a change nor a phase is active.
    [[nodiscard]] bool is_scoped() const noexcept { return reasons() - scope_unit < depth_limit; }
    /// The number of open scopes.
    [[nodiscard]] std::uint32_t depth() const noexcept { return static_cast<std::uint32_t>(busy_); }
    /// Whether user code of a component runs inside a change.
    [[nodiscard]] bool is_changing() const noexcept {
        return (busy_ & ~tracking_bit) >= change_unit;
    }
    /// Whether a parallel phase is active: each thread records its own changes, and the world stays
    /// unchanged.
    [[nodiscard]] bool is_parallel() const noexcept { return (busy_ & phase_bit) != 0; }

    /// Whether a `write_tracker` is on.
    [[nodiscard]] bool is_tracking() const noexcept { return (busy_ & tracking_bit) != 0; }
    /// Whether a loop has to do more than to visit rows: a parallel phase is active, or writes are
    /// tracked.
    [[nodiscard]] bool concerns_loops() const noexcept { return busy_ >= tracking_bit; }

    /// Whether a change must be recorded in the journal. Throws inside a change, and in a phase.
    [[nodiscard]] bool is_deferred(const char* call) const {
        if (busy_ == 0) [[likely]]
            return false;
        refuse_in_change(call);
        return depth() != 0;
    }
    /// Whether a change must be recorded: in the journal or, in a parallel phase, in a lane.
    [[nodiscard]] bool is_recording(const char* call) const {
        if (busy_ == 0) [[likely]]
            return false;
        return is_parallel() || is_deferred(call);
    }

    /// For calls that take effect at once even in a scope: throws inside a change.
    void refuse_in_change(const char* call) const {
        if (is_changing()) [[unlikely]]
            raise_busy(call);
    }
    /// For calls that take effect at once even inside a change: throws in a parallel phase.
    void refuse_in_phase(const char* call) const {
        if (is_parallel()) [[unlikely]]
            raise_busy(call);
    }
    /// For calls that can neither run nor be deferred in a scope: throws there.
    void refuse_in_scope(const char* call) const {
        if (is_changing() || depth() != 0) [[unlikely]]
            raise_busy(call);
    }

    void open_scope() noexcept { busy_ += scope_unit; }
    void close_scope() noexcept { busy_ -= scope_unit; }
    void begin_change(bool is_wanted = true) noexcept { busy_ += is_wanted * change_unit; }
    void end_change(bool is_wanted = true) noexcept { busy_ -= is_wanted * change_unit; }
    void begin_phase() noexcept { busy_ |= phase_bit; }
    void end_phase() noexcept { busy_ &= ~phase_bit; }
    void set_entity_hooks(bool has_any) noexcept {
        busy_ = has_any ? busy_ | entity_hooks_bit : busy_ & ~entity_hooks_bit;
    }
    void set_tracking(bool is_on) noexcept {
        busy_ = is_on ? busy_ | tracking_bit : busy_ & ~tracking_bit;
    }

    bool keeps_provenance = false;  // see `world_options`
    bool is_ended = false;          // the world is being destroyed
    bool is_moving = false;         // columns are being filled or swapped: `reserve` must wait
    bool is_applying_submitted = false;

private:
    [[nodiscard]] std::uint64_t reasons() const noexcept {
        return busy_ & ~(entity_hooks_bit | tracking_bit);
    }

    static constexpr std::uint64_t scope_unit = 1;
    static constexpr std::uint64_t depth_limit = (std::uint64_t{1} << 32) - 1;
    static constexpr std::uint64_t entity_hooks_bit = std::uint64_t{1} << 32;
    static constexpr std::uint64_t change_unit = std::uint64_t{1} << 33;
    static constexpr std::uint64_t tracking_bit = std::uint64_t{1} << 62;
    static constexpr std::uint64_t phase_bit = std::uint64_t{1} << 63;

    [[noreturn]] MUSTER_COLD void raise_busy(const char* call) const;

    std::uint64_t busy_ = 0;
};

/// Guard: until it is destroyed, changes are refused, because user code of a component runs.
class busy_guard {
public:
    explicit busy_guard(gate& owner) noexcept : gate_(owner) { gate_.begin_change(); }
    busy_guard(const busy_guard&) = delete;
    busy_guard& operator=(const busy_guard&) = delete;
    ~busy_guard() { gate_.end_change(); }

private:
    gate& gate_;
};

struct no_guard {
    explicit no_guard(gate&) noexcept {}
};
/// A `busy_guard` if user code runs in its scope; otherwise no guard.
template <bool RunsCode>
using guard_if = std::conditional_t<RunsCode, busy_guard, no_guard>;

}  // namespace MUSTER_NAMESPACE::detail
