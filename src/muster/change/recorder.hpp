// recorder: changes that one thread records for a world that it must not change now: in a parallel
// phase, or in a command buffer. They refer to entities and fragments by id or C++ type index,
// which stay valid when the world changes. The world's owner thread replays them into the journal
// later.
//
//     changes   [ spawn e7 ][ put e7 ][ put e7 ][ destroy e2 ]
//                               |         |
//     memory                 position  velocity        values are stored in reusable blocks
#pragma once

#include <muster/base/arena.hpp>
#include <muster/change/change.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct recorded_change {
    std::uint64_t id = 0;  // the value of an id
    fragment_name fragment{};
    value_type_ref type{};
    void* value = nullptr;   // owned; null: none, or the value was moved out
    std::uint64_t word = 0;  // of `regroup`
    change_kind kind = change_kind::spawn;
    bool is_default = false;  // the fragment's default value
    bool begins_call = true;  // false: part of the same call as the previous change, which
                              // succeeds or fails as a whole
    std::source_location where{};
    std::string_view system{};  // the system that made the change; empty: none
    void (*replay)(engine& into, recorded_change& recorded) = nullptr;  // of `change_kind::replay`
};

class MUSTER_API recorder {
public:
    struct position {
        std::uint32_t changes = 0;
        arena::position memory;
    };

    recorder() = default;
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;
    ~recorder() { rewind({}); }

    [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
    [[nodiscard]] recorded_change& at(std::uint32_t index) const noexcept {
        return changes_[index];
    }
    [[nodiscard]] position now() const noexcept { return {size_, memory_.now()}; }

    /// Appends a change. `std::bad_alloc` and `errc::limit` change nothing.
    recorded_change& add(change_kind kind, std::uint64_t e, fragment_name fragment = {}) {
        if (size_ == changes_.capacity()) [[unlikely]]
            grow();
        recorded_change& made = changes_[size_++];
        made = {.id = e, .fragment = fragment, .kind = kind};
        return made;
    }
    /// Appends a change with its value, if it has one, and its word, if it sets one. Throws `errc::not_movable` for a pinned
    /// type, which must be constructed in its final slot.
    recorded_change& add(const change& given, target of);

    /// Removes the changes recorded since `to` and destroys their values; keeps the memory.
    void rewind(const position& to) noexcept;
    /// Destroys all values and drops all changes except for spawns: the world still has to release
    /// the ids that they handed out.
    void discard() noexcept;
    [[nodiscard]] bool is_discarded() const noexcept { return is_discarded_; }

private:
    MUSTER_COLD void grow();

    raw_array<recorded_change> changes_;
    std::uint32_t size_ = 0;
    bool is_discarded_ = false;
    arena memory_;
};

/// Guard: when it is destroyed, removes the changes recorded since its construction unless `keep`
/// was called.
class recording {
public:
    explicit recording(recorder& into) noexcept : into_(into), start_(into.now()) {}
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;
    ~recording() {
        if (!is_kept_) into_.rewind(start_);
    }
    /// Keeps the changes, and sets this id in all of them.
    void keep(std::uint64_t e) noexcept {
        for (std::uint32_t i = start_.changes; i < into_.size(); ++i) into_.at(i).id = e;
        keep();
    }
    /// Keeps the changes as one call, which succeeds or fails as a whole when it is replayed.
    void keep() noexcept {
        for (std::uint32_t i = start_.changes + 1; i < into_.size(); ++i)
            into_.at(i).begins_call = false;
        is_kept_ = true;
    }

private:
    recorder& into_;
    const recorder::position start_;
    bool is_kept_ = false;
};

}  // namespace MUSTER_NAMESPACE::detail
