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

    /// The fragment with this id, or null: for any bits at all.
    [[nodiscard]] fragment_data* find(std::uint64_t id) const noexcept {
        const entry* const ids = by_id_.data();
        for (std::uint64_t at = id & mask_;; at = (at + 1) & mask_) {
            // An entry that is free has no fragment, whatever its id.
            if (ids[at].id == id || ids[at].fragment == nullptr) [[likely]]
                return ids[at].fragment;
        }
    }

    /// Makes a fragment with this id for this type, which has none; for `no_type`, one that is found by
    /// its id alone. `std::bad_alloc` changes nothing.
    fragment_data& add(type_index type, const type_info& info, std::uint64_t id);

    /// Forgets the fragment; no chunk may have it any more.
    void remove(const fragment_data& fragment) noexcept;

    [[nodiscard]] const std::vector<fragment_data*>& all() const noexcept { return all_; }

private:
    struct entry {
        std::uint64_t id;
        fragment_data* fragment;  // null: free
    };

    void insert(fragment_data& one) noexcept;
    void rehash() noexcept;

    raw_array<entry> by_id_;  // mask_ + 1, at most half of them taken; keys are hash enough
    std::uint64_t mask_ = 0;
    raw_array<const fragment_data*> by_type_;  // by type_index; never null
    std::size_t types_ = 0;                    // entries of by_type_, the first for `no_type`
    std::vector<fragment_data*> all_;          // owned; by registration
    std::uint32_t last_ = 0;
};

}  // namespace muster::detail
