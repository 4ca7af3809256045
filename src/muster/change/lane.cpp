#include <muster/base/thread_number.hpp>
#include <muster/change/lane.hpp>

namespace MUSTER_NAMESPACE::detail {

namespace {
thread_local lane* innermost = nullptr;
}

lane* find_lane(const void* store) noexcept {
    lane* at = innermost;
    while (at != nullptr && at->store != store) at = at->outer;
    return at;
}

std::uintptr_t this_thread() noexcept {
    return std::uintptr_t{thread_number()} + 1;
}

lane_guard::lane_guard(lane& worker) noexcept : lane_(worker) {
    lane_.outer = innermost;
    innermost = &lane_;
}

lane_guard::~lane_guard() {
    innermost = lane_.outer;
}

}  // namespace MUSTER_NAMESPACE::detail
