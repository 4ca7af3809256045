#include <muster/base/scope_guard.hpp>
#include <muster/catalog/error_reporter.hpp>
#include <muster/engine/chunk_move.hpp>
#include <muster/engine/held_values.hpp>

#include <algorithm>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

void end_pending(const fragment_data& fragment, void* value, slot_index slot) noexcept {
    if (value != nullptr && fragment.type->destroy != nullptr) fragment.type->destroy(value, 1);
    if (slot != no_slot) fragment.sparse_values->give_back(slot);
}

void held_values::add(const change_shape& step, const pending_value& value) {
    shape_.push_back(step);
    scope_guard rollback([&] { shape_.pop_back(); });
    values_.push_back(value);
    rollback.dismiss();
}

void held_values::reverse() noexcept {
    std::ranges::reverse(shape_);
    std::ranges::reverse(values_);
}

/// Allocates memory for a value: a slot if the fragment is sparse. Null for a tag.
void* held_values::room_for(std::size_t index) {
    const fragment_data& fragment = *shape_[index].fragment;
    if (sparse_set* const set = fragment.sparse_values) {
        values_[index].slot = set->take();
        return fragment.type->size == 0 ? nullptr : set->at(values_[index].slot);
    }
    if (fragment.type->size == 0) return nullptr;
    return scratch_.allocate(fragment.type->size, fragment.type->alignment);
}

void held_values::construct(std::size_t index, const change& given) {
    const fragment_data& fragment = *shape_[index].fragment;
    void* const room = room_for(index);
    if (room == nullptr) return;
    const busy_guard busy(gate_);
    if (given.is_default)
        fragment.default_construct(room, 1);
    else
        given.construct_at(room, fragment.type->size);
    values_[index].at = room;
}

void held_values::construct(std::size_t index, const value_source& given) {
    const fragment_data& fragment = *shape_[index].fragment;
    void* const room = room_for(index);
    if (room == nullptr) return;
    if (given.first == nullptr && !fragment.has_default())
        error_reporter::raise_no_default(fragment, fragment.name);
    const busy_guard busy(gate_);
    given.fill(fragment, static_cast<std::byte*>(room), 1);
    values_[index].at = room;
}

void held_values::combine(fragment_data& fragment, change_kind kind, const void* wanted) noexcept {
    const busy_guard busy(gate_);
    pending_value value;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < shape_.size(); ++i) {
        if (shape_[i].fragment != &fragment) {
            shape_[kept] = shape_[i];
            values_[kept++] = values_[i];
            continue;
        }
        if (wanted != nullptr && values_[i].at == wanted)
            value = values_[i];
        else
            end_pending(fragment, values_[i].at, values_[i].slot);
    }
    while (shape_.size() > kept + 1) {
        shape_.pop_back();
        values_.pop_back();
    }
    shape_[kept] = {&fragment, kind};
    values_[kept] = value;
}

void held_values::drop_last() noexcept {
    shape_.pop_back();
    values_.pop_back();
}

void held_values::clear() noexcept {
    const busy_guard busy(gate_);
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const pending_value value = std::exchange(values_[i], {});
        if (shape_[i].fragment != nullptr) end_pending(*shape_[i].fragment, value.at, value.slot);
    }
    values_.clear();
    shape_.clear();
    scratch_.rewind({});
}

}  // namespace MUSTER_NAMESPACE::detail
