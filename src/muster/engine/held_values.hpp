// held_values: the values of one entity's changes, between their construction and their storage.
#pragma once

#include <muster/base/arena.hpp>
#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/change/gate.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

struct value_source;

/// Destroys a pending value and releases its slot, if there are any.
void end_pending(const fragment_data& fragment, void* value, slot_index slot) noexcept;

/// The values of one entity's changes, until they are stored. One change at a time uses it.
class MUSTER_API held_values {
public:
    held_values(gate& changes, arena& scratch) noexcept : gate_(changes), scratch_(scratch) {}
    held_values(const held_values&) = delete;
    held_values& operator=(const held_values&) = delete;
    ~held_values() { clear(); }

    [[nodiscard]] slice<const change_shape> shape() const noexcept {
        return {shape_.data(), shape_.size()};
    }
    [[nodiscard]] slice<pending_value> values() noexcept {
        return {values_.data(), values_.size()};
    }
    void add(const change_shape& step, const pending_value& value);
    void reverse() noexcept;
    /// Constructs the value of a change; `index` is that of the change.
    void construct(std::size_t index, const change& given);
    void construct(std::size_t index, const value_source& given);
    /// Replaces the changes of this fragment by one change of this kind, the last of all. It keeps
    /// the value at `kept`; null: none.
    void combine(fragment_data& fragment, change_kind kind, const void* kept) noexcept;
    void drop_last() noexcept;
    /// Destroys the values that were not stored, and forgets all.
    void clear() noexcept;

private:
    void* room_for(std::size_t index);

    gate& gate_;
    arena& scratch_;
    array_list<change_shape> shape_;
    array_list<pending_value> values_;
};

}  // namespace MUSTER_NAMESPACE::detail
