// name_table: the names of entities, stored outside the chunks: naming an entity moves no values.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::detail {

/// Ids are passed as `basic_id::value`. Many ids may share a name; an id has at most one name.
class MUSTER_API name_table {
public:
    name_table() = default;
    name_table(const name_table&) = delete;
    name_table& operator=(const name_table&) = delete;
    ~name_table();

    [[nodiscard]] bool empty() const noexcept;
    /// Sets the name; an empty name erases it. `std::bad_alloc` changes nothing. O(log n).
    void set(std::uint64_t id, std::string_view name);
    void erase(std::uint64_t id) noexcept;
    /// Returns the name, or an empty view. Changing the id's name invalidates it. O(log n).
    [[nodiscard]] std::string_view find(std::uint64_t id) const noexcept;
    /// Returns the ids with this name, in the order in which they were named.
    [[nodiscard]] const array_list<std::uint64_t>& lookup(std::string_view name) const noexcept;

private:
    struct tables;              // keeps <map> out of this header
    tables* tables_ = nullptr;  // allocated with the first name
};

}  // namespace muster::detail
