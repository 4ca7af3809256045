// state_table: the states of a program, such as `enum class mode { menu, playing }`, one current
// value for each enumeration.
//
// `set_state` only sets a singleton, the wanted value. So scopes, phases and `reset` treat it as any
// component. The start of a frame compares it with the current value:
//
//     wanted    menu    playing    playing
//     current   -       menu       playing
//                  frame      frame
//               enter menu   exit menu, enter playing
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/type/type_index.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

struct engine;

/// The wanted value of the enumeration E: a singleton of the world.
template <class E>
struct wanted_state {
    std::uint64_t value;
};

/// The value of one enumeration.
struct state_entry {
    type_index wanted_type;  // of the singleton
    std::uint64_t current = 0;
    std::uint64_t next = 0;
    bool has_current = false;  // since the first frame after the first `set_state`
    bool is_changing = false;  // this frame has begun with another value than the last one
};

class MUSTER_API state_table {
public:
    state_table() = default;
    state_table(const state_table&) = delete;
    state_table& operator=(const state_table&) = delete;
    ~state_table();

    /// Returns null if there is no such enumeration.
    [[nodiscard]] state_entry* find(type_index wanted_type) const noexcept;
    /// Its address stays valid. `std::bad_alloc` changes nothing.
    state_entry& ensure(type_index wanted_type);

    /// Reads the wanted values at the start of a frame. Returns whether some differ from the current
    /// ones. An enumeration without a wanted value has no current one any more.
    [[nodiscard]] bool begin_frame(const engine& owner) noexcept;
    /// Makes the wanted values that `begin_frame` has read current.
    void change() noexcept;
    /// Ends the changes: no state is entered or left any more.
    void settle() noexcept;

private:
    array_list<state_entry*> all_;  // owned
};

}  // namespace MUSTER_NAMESPACE::detail
