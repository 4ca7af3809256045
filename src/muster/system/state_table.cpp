#include <muster/base/reserve.hpp>
#include <muster/engine/engine.hpp>
#include <muster/system/state_table.hpp>

namespace MUSTER_NAMESPACE::detail {

state_table::~state_table() {
    for (const state_entry* entry : all_) delete entry;
}

state_entry* state_table::find(type_index wanted_type) const noexcept {
    for (state_entry* entry : all_)
        if (entry->wanted_type == wanted_type) return entry;
    return nullptr;
}

state_entry& state_table::ensure(type_index wanted_type) {
    if (state_entry* const known = find(wanted_type)) return *known;
    reserve_more(all_, 1);
    auto* const made = new state_entry{.wanted_type = wanted_type};
    all_.push_back(made);
    return *made;
}

bool state_table::begin_frame(const engine& owner) noexcept {
    bool is_any_changing = false;
    for (state_entry* entry : all_) {
        const fragment_data& fragment = owner.fragments.find(entry->wanted_type);
        const bool is_set = owner.components.has(fragment.id, fragment);
        entry->has_current = entry->has_current && is_set;
        entry->is_changing = false;
        if (!is_set) continue;
        // SAFETY: the fragment of a `wanted_state` has values of that type, which begin with the
        // value.
        entry->next =
            *static_cast<const std::uint64_t*>(owner.components.find(fragment.id, fragment));
        entry->is_changing = !entry->has_current || entry->next != entry->current;
        is_any_changing = is_any_changing || entry->is_changing;
    }
    return is_any_changing;
}

void state_table::change() noexcept {
    for (state_entry* entry : all_) {
        if (!entry->is_changing) continue;
        entry->current = entry->next;
        entry->has_current = true;
    }
}

void state_table::settle() noexcept {
    for (state_entry* entry : all_) entry->is_changing = false;
}

}  // namespace MUSTER_NAMESPACE::detail
