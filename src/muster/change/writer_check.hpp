// writer_check: detects two threads that change a world at once, in builds that check threads.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/config.hpp>
#include <muster/change/gate.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// The thread that changes a world. The members exist in all builds, so that all agree on the size
/// of a world.
class MUSTER_API writer_check {
public:
    explicit writer_check(const gate& owner) noexcept : gate_(owner) {}
    writer_check(const writer_check&) = delete;
    writer_check& operator=(const writer_check&) = delete;

    /// Throws `errc::second_writer` if another thread is in a call. Returns false in a parallel
    /// phase, where the check is not needed.
    bool begin(const char* call, std::uint64_t world);
    void end() noexcept;

private:
    const gate& gate_;
    atomic_word<std::uintptr_t> writer_;
    atomic_word<const char*> call_;  // its outermost call
    std::uint32_t calls_ = 0;        // its calls that have begun and not ended
};

}  // namespace MUSTER_NAMESPACE::detail
