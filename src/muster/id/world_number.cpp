#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/id/world_number.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE {

namespace {

/// The state of every number that was ever taken. Releasing a number does not allocate.
///
/// Released numbers are in lists, the oldest first: one for each bit width of the number and of the
/// version after its first. A layout accepts all of them up to its own bit widths. So the oldest
/// number that fits is the first of one of these lists.
class registry {
public:
    struct entry {
        bool held = false;
        std::uint64_t released_at = 0;  // release time, in ticks of `clock_`
        std::uint64_t first_version = 0;
        std::pair<const std::uint64_t, entry>* previous = nullptr;  // in its list
        std::pair<const std::uint64_t, entry>* next = nullptr;
    };
    using grant = std::pair<const std::uint64_t, entry>;  // number and state

    /// Takes the next number up to `last` that can start at a version up to `last_start`.
    /// Returns null if there is none. O(log n).
    const grant* take_next(std::uint64_t last, std::uint64_t last_start) {
        while (next_ <= last && known_.contains(next_)) ++next_;
        if (next_ <= last) return &take(next_);
        const grant* oldest = nullptr;
        // All numbers up to `last` are known, so there is a row for each width.
        for (unsigned width = 1; width <= width_of(last); ++width) {
            for (const list& candidates : *rows_[width]) {
                const grant* const first = candidates.first;
                if (first == nullptr || first->second.first_version > last_start) continue;
                if (oldest == nullptr || first->second.released_at < oldest->second.released_at)
                    oldest = first;
            }
        }
        return oldest == nullptr ? nullptr : &take(oldest->first);
    }

    const entry* find(std::uint64_t number) const {
        const auto found = known_.find(number);
        return found == known_.end() ? nullptr : &found->second;
    }

    const grant& take(std::uint64_t number) {
        std::unique_ptr<row>& lists = rows_[width_of(number)];
        if (lists == nullptr) lists = std::make_unique<row>();  // for `release`
        const auto [taken, is_new] = known_.try_emplace(number);
        if (!is_new) list_of(*taken).erase(*taken);
        taken->second.held = true;
        return *taken;
    }

    void release(std::uint64_t number, std::uint64_t first_version) noexcept {
        grant& released = *known_.find(number);
        entry& state = released.second;
        state.held = false;
        state.released_at = ++clock_;
        state.first_version = std::max(state.first_version, first_version);
        list_of(released).append(released);
    }

private:
    struct list {
        grant* first = nullptr;
        grant* last = nullptr;

        void append(grant& added) noexcept {
            added.second.previous = last;
            added.second.next = nullptr;
            (last != nullptr ? last->second.next : first) = &added;
            last = &added;
        }
        void erase(const grant& gone) noexcept {
            const auto [previous, next] = std::pair(gone.second.previous, gone.second.next);
            (previous != nullptr ? previous->second.next : first) = next;
            (next != nullptr ? next->second.previous : last) = previous;
        }
    };
    static constexpr std::size_t widths = 65;
    using row = std::array<list, widths>;  // by the width of the version after the first

    static unsigned width_of(std::uint64_t value) noexcept {
        return static_cast<unsigned>(std::bit_width(value));
    }
    list& list_of(const grant& released) noexcept {
        return (*rows_[width_of(released.first)])[width_of(released.second.first_version + 1)];
    }

    std::uint64_t next_ = 1;  // every number below it is in `known_`
    std::uint64_t clock_ = 0;
    std::map<std::uint64_t, entry> known_;
    std::array<std::unique_ptr<row>, widths> rows_;  // by the width of the number
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
