// fragment_table: the fragments of one world, by number and by C++ type.
#pragma once

#include <muster/type/fragment_data.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <vector>

namespace muster::detail {

class MUSTER_API fragment_table {
public:
    fragment_table();
    fragment_table(const fragment_table&) = delete;
    fragment_table& operator=(const fragment_table&) = delete;
    ~fragment_table();

    /// `no_fragment` if the type was not met in this world, or has no number yet.
    [[nodiscard]] const fragment_data& find(type_index type) const noexcept {
        // No branch: in a loop, all of this is done once.
        const auto at = static_cast<std::size_t>(type);
        return *by_type_[at < types_ ? at : 0];
    }

    /// Makes a fragment for this type, which has none. `std::bad_alloc` changes nothing.
    fragment_data& add(type_index type, const type_info& info);

    /// Forgets the fragment; no chunk may have it any more.
    void remove(const fragment_data& fragment) noexcept;

    /// The fragment whose id has these bytes, or null. O(fragments).
    [[nodiscard]] fragment_data* find_id(const void* id, std::size_t size) const noexcept;

    [[nodiscard]] const std::vector<fragment_data*>& all() const noexcept { return all_; }

private:
    raw_array<const fragment_data*> by_type_;  // by type_index; never null
    std::size_t types_ = 0;                    // entries of by_type_, the first for `no_type`
    std::vector<fragment_data*> all_;          // owned; by registration
    std::uint32_t last_ = 0;
};

}  // namespace muster::detail
