// change: the description of a change, without the types of the caller. Every call that does not
// take a fast path turns its arguments into an `edit`, which is applied at once, recorded in the
// journal of a scope, or recorded in the lane of a thread.
//
//     w.set(e, position{}, with(health, 100))
//
//     edit     target   e, at game.cpp:12
//              changes  [ put, type position, value at 0x.. ][ put, fragment health, value at 0x.. ]
#pragma once

#include <muster/base/copy_bytes.hpp>
#include <muster/base/slice.hpp>
#include <muster/storage/sparse_set.hpp>
#include <muster/type/fragment_data.hpp>
#include <muster/type/type_info.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <source_location>
#include <utility>

namespace MUSTER_NAMESPACE {
template <class Layout>
struct basic_at;
}

namespace MUSTER_NAMESPACE::detail {

enum class change_kind : std::uint8_t {
    spawn,           // only in lanes and command buffers
    put,             // a value to insert or assign
    keep,            // a value to insert, if there is none
    touch,           // notifies as if the value were assigned
    remove,          // the fragment
    clear,           // all fragments
    destroy,         // the entity
    regroup,         // the word of the fragment, if the entity has it
    save,            // only in journals: the value before a patch, which a cancel restores
    clear_fragment,  // this and the following kinds occur only in barriers
    copy_fragment,
    reserve,
    batch,   // applies the preceding changes of its group to all entities that it finds
    record,  // only in journals: a record of a `scoped_log`
    replay,  // only in recorders: the room that describes the change replays it
};

/// Whether changes of this kind have a component as their value.
constexpr bool has_component(change_kind kind) noexcept {
    return kind == change_kind::put || kind == change_kind::keep;
}

/// An id, and the call site that used it.
struct target {
    std::uint64_t id;
    std::source_location where;

    constexpr target(std::uint64_t e, const std::source_location& place) noexcept
        : id(e), where(place) {}
    template <class Layout>
    constexpr target(const basic_at<Layout>& at) noexcept  // NOLINT(google-explicit-constructor)
        : id(at.id.value()), where(at.where) {}
};

/// A fragment, by its C++ type or by its id.
struct fragment_name {
    std::uint64_t what = 0;           // a type_index, or the value of an id
    const type_info* type = nullptr;  // for a C++ type; null: `what` is an id

    template <class T>
    [[nodiscard]] static fragment_name of() {
        return {static_cast<std::uint64_t>(ensure_type_index<T>()), &type_info_of<T>};
    }
    [[nodiscard]] bool is_typed() const noexcept { return type != nullptr; }
};

/// Placeholder for the value of a fragment without values.
struct no_value {};

/// The type of a value.
struct value_type_ref {
    const type_info* info = nullptr;  // null: unknown
    type_index index = no_type;       // `no_type`: it is no C++ type, or a tag

    template <class T>
    [[nodiscard]] static value_type_ref of() {
        return {&type_info_of<T>, ensure_type_index<T>()};
    }
};

struct engine;
struct recorded_change;

/// One change of an entity. A change with a component has either a value or the default value.
struct change {
    fragment_name fragment{};
    value_type_ref type{};
    change_kind kind = change_kind::put;
    bool is_default = false;     // the fragment's default value
    bool is_copied = false;      // copied as the type does, instead of by `construct`
    bool sets_word = false;      // `word` applies even if the entity has the fragment
    std::uint64_t word = 0;      // the word of the fragment, if it has words
    const void* self = nullptr;  // the value. It may lie in a column; growing the column updates it
    /// Constructs the value of `*self` at `to`. May throw. Null: copies the bytes.
    void (*construct)(void* to, const void* self) = nullptr;
    std::source_location where{};  // the call of `with`; line 0: none
    /// Replays the change when it was recorded by a thread that must not look at the world; null: the
    /// engine does.
    void (*replay)(engine& into, recorded_change& recorded) = nullptr;

    /// Returns the call site for messages: that of the call or, if it has none, that of `with`.
    [[nodiscard]] const std::source_location* place(const std::source_location* of_call) const {
        return of_call == nullptr && where.line() != 0 ? &where : of_call;
    }
    /// Whether the bytes of the value are copied.
    [[nodiscard]] bool is_bytes() const noexcept { return construct == nullptr && !is_copied; }
    /// Constructs the value, whose type has this size.
    void construct_at(void* to, std::size_t size) const {
        if (construct != nullptr)
            construct(to, self);
        else if (is_copied)
            type.info->copy_values(to, self, 1, 0);
        else
            copy_bytes(to, self, size);
    }
};

template <class T>
void move_construct(void* to, const void* self) {
    // SAFETY: the caller passed the value as an rvalue, or owns it, so it may be modified.
    ::new (to) T(std::move(*const_cast<T*>(static_cast<const T*>(self))));
}
template <class T>
void copy_construct(void* to, const void* self) {
    ::new (to) T(*static_cast<const T*>(self));
}

/// All changes of one call.
struct edit {
    target of;
    slice<change> changes;
    const char* call;  // for messages
};

/// A change without its value.
struct change_shape {
    fragment_data* fragment;  // null: the change has no fragment, as `clear`
    change_kind kind;
    std::uint64_t word = 0;  // of `regroup`, and of a fragment that this change inserts

    friend bool operator==(const change_shape&, const change_shape&) noexcept = default;
};

/// The value of a change, already constructed.
struct pending_value {
    void* at = nullptr;         // null: no value
    slot_index slot = no_slot;  // for a sparse fragment
};

}  // namespace MUSTER_NAMESPACE::detail
