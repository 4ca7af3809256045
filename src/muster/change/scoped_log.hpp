// scoped_log: state outside of the entities that changes with them: what a scope records there takes
// effect when the outermost scope commits, and is taken back when its scope is cancelled.
#pragma once

#include <muster/base/config.hpp>

namespace MUSTER_NAMESPACE::detail {

/// A room implements it, stores the records itself, and notes each one by `journal::add_record`. The
/// journal calls these in the order of its entries.
class MUSTER_API scoped_log {
public:
    /// The oldest pending record takes effect. A record may have several values.
    virtual void deliver() noexcept = 0;
    /// Drops the newest pending record.
    virtual void take_back() noexcept = 0;

protected:
    scoped_log() = default;
    scoped_log(const scoped_log&) = default;
    scoped_log& operator=(const scoped_log&) = default;
    ~scoped_log() = default;
};

}  // namespace MUSTER_NAMESPACE::detail
