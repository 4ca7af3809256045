// name_table: the names of entities. They stand beside the chunks: naming moves nothing.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::detail {

/// Ids are given by value. A name can belong to many, an id has one at most.
class MUSTER_API name_table {
public:
    name_table() = default;
    name_table(const name_table&) = delete;
    name_table& operator=(const name_table&) = delete;
    ~name_table();

    [[nodiscard]] bool empty() const noexcept;
    /// An empty name takes away the one it has. `std::bad_alloc` changes nothing. O(log n).
    void set(std::uint64_t id, std::string_view name);
    void erase(std::uint64_t id) noexcept;
    /// Empty if it has none. Ends when that name is changed. O(log n).
    [[nodiscard]] std::string_view find(std::uint64_t id) const noexcept;
    /// The ids with this name, in the order they got it.
    [[nodiscard]] const array_list<std::uint64_t>& lookup(std::string_view name) const noexcept;

private:
    struct tables;              // <map> stays out of this header
    tables* tables_ = nullptr;  // made with the first name
};

}  // namespace muster::detail
