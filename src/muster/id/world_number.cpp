#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/id/world_number.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE {

namespace {

/// The state of every number that was ever taken. Releasing a number does not allocate.
class registry {
public:
    struct entry {
        bool held = false;
        std::uint64_t released_at = 0;  // release time, in ticks of `clock_`
        std::uint64_t first_version = 0;
    };
    using grant = std::pair<const std::uint64_t, entry>;  // number and state

    /// Takes the next number up to `last` that can start at a version up to `last_start`.
    /// Returns null if there is none.
    const grant* take_next(std::uint64_t last, std::uint64_t last_start) {
        while (next_ <= last && known_.contains(next_)) ++next_;
        if (next_ <= last) return &take(next_);
        grant* oldest = nullptr;
        for (grant& candidate : known_) {
            if (candidate.first > last) break;
            if (candidate.second.held || candidate.second.first_version > last_start) continue;
            if (oldest == nullptr || candidate.second.released_at < oldest->second.released_at)
                oldest = &candidate;
        }
        if (oldest != nullptr) oldest->second.held = true;
        return oldest;
    }

    const entry* find(std::uint64_t number) const {
        const auto found = known_.find(number);
        return found == known_.end() ? nullptr : &found->second;
    }

    const grant& take(std::uint64_t number) {
        grant& taken = *known_.try_emplace(number).first;
        taken.second.held = true;
        return taken;
    }

    void release(std::uint64_t number, std::uint64_t first_version) noexcept {
        entry& known = known_.find(number)->second;
        known = {false, ++clock_, std::max(known.first_version, first_version)};
    }

private:
    std::uint64_t next_ = 1;  // every number below it is in `known_`
    std::uint64_t clock_ = 0;
    std::map<std::uint64_t, entry> known_;
};

// Never destroyed: worlds in static storage release their numbers at program exit.
registry& numbers() {
    static auto* const all = new registry;
    return *all;
}

std::mutex& guard() {
    static auto* const lock = new std::mutex;
    return *lock;
}

}  // namespace

world_number::world_number(std::uint64_t wanted, std::uint64_t last, std::uint64_t last_start)
    : value_(0), first_version_(0) {
    enum class refusal { none, all_taken, taken, spent } why = refusal::none;
    if (wanted > last)
        detail::raise(errc::id_out_of_range,
                      detail::text("world number ", wanted,
                                   " does not fit the layout: the largest is ", last));
    {
        // Errors are raised after this block: a handler that calls `longjmp` would keep the lock.
        const std::lock_guard lock(guard());
        const registry::grant* granted = nullptr;
        if (wanted == 0) {
            granted = numbers().take_next(last, last_start);
            if (granted == nullptr) why = refusal::all_taken;
        } else {
            const registry::entry* known = numbers().find(wanted);
            if (known != nullptr && known->held)
                why = refusal::taken;
            else if (known != nullptr && known->first_version > last_start)
                why = refusal::spent;
            else
                granted = &numbers().take(wanted);
        }
        if (granted != nullptr) {
            value_ = granted->first;
            first_version_ = granted->second.first_version;
        }
    }
    switch (why) {
    case refusal::none: return;
    case refusal::all_taken:
        detail::raise(errc::limit,
                      detail::text("no world number is left: each from 1 to ", last,
                                   " belongs to a living world or has no versions left"));
    case refusal::taken:
        detail::raise(
            errc::number_taken,
            detail::text("world number ", wanted, " belongs to a living world; choose another"));
    case refusal::spent:
        detail::raise(errc::limit,
                      detail::text("world number ", wanted,
                                   " has no versions left after earlier worlds; choose another"));
    }
}

world_number::world_number(world_number&& other) noexcept
    : value_(std::exchange(other.value_, 0)),
      first_version_(other.first_version_),
      shows_in_ids_(other.shows_in_ids_) {}

world_number& world_number::operator=(world_number&& other) noexcept {
    world_number taken(std::move(other));
    std::swap(value_, taken.value_);
    std::swap(first_version_, taken.first_version_);
    std::swap(shows_in_ids_, taken.shows_in_ids_);
    return *this;
}

world_number::~world_number() {
    if (value_ == 0) return;
    const std::lock_guard lock(guard());
    numbers().release(value_, first_version_);
}

}  // namespace MUSTER_NAMESPACE
