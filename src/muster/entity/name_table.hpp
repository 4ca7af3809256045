// name_table: the names of entities, stored outside the chunks: naming an entity moves no values.
//
//     by name   "goblin" ── first, last            a list of those with this name, in the order in
//                             │      │             which they were named
//     by id     [ 5 ] ◄──► [ 1 ] ◄──► [ 9 ]
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

/// Ids are passed as `basic_id::value`. Many ids may share a name; an id has at most one name.
class MUSTER_API name_table {
public:
    /// An id with a name, and its neighbours among those with the same name.
    struct named {
        std::uint64_t id;
        const named* previous;
        const named* next;
    };

    name_table() = default;
    name_table(const name_table&) = delete;
    name_table& operator=(const name_table&) = delete;
    ~name_table();

    [[nodiscard]] bool empty() const noexcept;
    /// Sets the name; an empty name erases it. `std::bad_alloc` changes nothing. O(log n), however
    /// many ids share the name.
    void set(std::uint64_t id, std::string_view name);
    /// Erases the name. O(log n).
    void erase(std::uint64_t id) noexcept;
    /// Returns the name, or an empty view. Changing the id's name invalidates it. O(log n).
    [[nodiscard]] std::string_view find(std::uint64_t id) const noexcept;
    /// Returns the first of the ids with this name, or null; `next` leads to the others, in the
    /// order in which they were named. Changing a name invalidates it. O(log n).
    [[nodiscard]] const named* lookup(std::string_view name) const noexcept;
    /// Calls `callback(id, name)` for each id that has a name, in the order of ids. The callback
    /// must not change names.
    template <class Callback>
    void each(Callback&& callback) const {
        visit(
            [](const void* what, std::uint64_t id, std::string_view name) {
                // SAFETY: `what` is the callback, which lives until `visit` returns.
                using function = std::remove_reference_t<Callback>;
                (*static_cast<function*>(const_cast<void*>(what)))(id, name);
            },
            __builtin_addressof(callback));
    }

private:
    struct tables;  // keeps <map> out of this header
    void visit(void (*call)(const void* what, std::uint64_t id, std::string_view name),
               const void* what) const;

    tables* tables_ = nullptr;  // allocated with the first name
};

}  // namespace MUSTER_NAMESPACE::detail
