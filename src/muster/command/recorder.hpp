// recorder: changes that one thread notes for a world that it may not touch now: in a parallel phase, or
// in a command buffer. They say what they concern by names that mean the same at any time, ids and the
// numbers of C++ types, and are entered into the world's journal later, by its own thread.
//
//     changes   [ spawn e7 ][ put e7 ][ put e7 ][ destroy e2 ]
//                               |         |
//     memory                 position  velocity        values lie in blocks that are used again
#pragma once

#include <muster/base/arena.hpp>
#include <muster/type/type_index.hpp>
#include <muster/type/type_info.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace muster::detail {

enum class recorded_kind : std::uint8_t {
    spawn,
    put,            // a value to insert or assign
    keep,           // a value to insert, if there is none
    start,          // the default value to insert or assign
    start_missing,  // the same, if there is none
    remove,
    clear,
    destroy,
};

/// A fragment, by its C++ type or by its id.
struct fragment_name {
    std::uint64_t what = 0;           // a type_index, or the value of an id
    const type_info* type = nullptr;  // of a C++ type; null: an id

    template <class T>
    [[nodiscard]] static fragment_name of() {
        return {static_cast<std::uint64_t>(ensure_type_index<T>()), &type_info_of<T>};
    }
    [[nodiscard]] bool is_typed() const noexcept { return type != nullptr; }
};

struct recorded_change {
    std::uint64_t who = 0;  // the value of an id
    fragment_name fragment{};
    void* value = nullptr;            // owned; null: none, or it has gone where it belongs
    const type_info* type = nullptr;  // of the value; null: not known here
    type_index value_type = no_type;  // the same; `no_type`: a tag
    recorded_kind kind = recorded_kind::spawn;
    bool begins_call = true;  // false: it goes with the one before, or not at all
    std::source_location where{};
    std::string_view system{};  // that made it, if one did
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

    /// `std::bad_alloc` and `errc::limit` change nothing.
    recorded_change& add(recorded_kind kind, std::uint64_t who, fragment_name fragment = {}) {
        if (size_ == changes_.capacity()) [[unlikely]]
            grow();
        recorded_change& made = changes_[size_++];
        made = {.who = who, .fragment = fragment, .kind = kind};
        return made;
    }
    /// A value on its way: see `incoming`. `errc::not_movable` for one that has to be made where it stays.
    template <class Incoming>
    void add_value(recorded_kind kind, std::uint64_t who, Incoming& given,
                   const std::source_location& where = {}) {
        using type = typename Incoming::type;
        if constexpr (is_pinned<type>) {
            raise_pinned(type_name<type>());
        } else {
            void* room = nullptr;
            if constexpr (!is_tag<type>) room = memory_.allocate(sizeof(type), alignof(type));
            recorded_change& made = add(kind, who, given.name());
            made.type = &type_info_of<type>;
            made.value_type = given.value_type();
            made.where = where;
            if constexpr (!is_tag<type>) {
                given.construct(room, given.where());
                made.value = room;
            }
        }
    }

    [[noreturn]] MUSTER_COLD static void raise_pinned(std::string_view type);

    /// Ends the values that were recorded since, and forgets the changes; keeps the memory.
    void rewind(const position& to) noexcept;
    /// Nothing of it is to happen: ends all values. Only the ids that were shown are of interest still.
    void discard() noexcept;
    [[nodiscard]] bool is_discarded() const noexcept { return is_discarded_; }

private:
    MUSTER_COLD void grow();

    raw_array<recorded_change> changes_;
    std::uint32_t size_ = 0;
    bool is_discarded_ = false;
    arena memory_;
};

/// Takes back what was recorded while it lives, unless it is kept.
class recording {
public:
    explicit recording(recorder& into) noexcept : into_(into), start_(into.now()) {}
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;
    ~recording() {
        if (!is_kept_) into_.rewind(start_);
    }
    /// All of it concerns this id.
    void keep(std::uint64_t who) noexcept {
        for (std::uint32_t i = start_.changes; i < into_.size(); ++i) into_.at(i).who = who;
        keep();
    }
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

}  // namespace muster::detail
