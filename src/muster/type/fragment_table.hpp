// fragment_table: the fragments of one world, by number and by C++ type.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/type/fragment_data.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>

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

    /// The fragment with this id or, for any other bits, `no_fragment`.
    [[nodiscard]] const fragment_data& look(std::uint64_t id) const noexcept {
        // Two places and no branch: in a loop, all of this is done once.
        const entry& first = by_id_.entries[by_id_.first(id)];
        const entry& second = by_id_.entries[by_id_.second(id)];
        const fragment_data* const one = first.fragment;
        const fragment_data* const other = second.fragment;
        return *choose(first.id == id, one, choose(second.id == id, other, &no_fragment));
    }
    /// The same, or null.
    [[nodiscard]] fragment_data* find(std::uint64_t id) const noexcept {
        const fragment_data& found = look(id);
        // SAFETY: all but `no_fragment` were made by `add`, not const.
        return &found == &no_fragment ? nullptr : const_cast<fragment_data*>(&found);
    }

    /// Makes a fragment with this id for this type, which has none; for `no_type`, one that is found by
    /// its id alone. `std::bad_alloc` changes nothing.
    fragment_data& add(type_index type, const type_info& info, std::uint64_t id);

    /// Forgets the fragment; no chunk may have it any more.
    void remove(const fragment_data& fragment) noexcept;

    [[nodiscard]] const array_list<fragment_data*>& all() const noexcept { return all_; }

private:
    struct entry {
        std::uint64_t id;
        const fragment_data* fragment;  // `no_fragment`: free
    };

    /// Each id is in one of two places: by its lowest bits, which differ for most, or by a product.
    struct id_table {
        raw_array<entry> entries;
        unsigned bits = 0;  // there are 2 to the power of these
        std::uint64_t factor = 0x9E3779B97F4A7C15u;

        [[nodiscard]] std::size_t first(std::uint64_t id) const noexcept {
            return id & ((std::uint64_t{1} << bits) - 1);
        }
        [[nodiscard]] std::size_t second(std::uint64_t id) const noexcept {
            return id * factor >> (64 - bits);
        }
        void clear();
        [[nodiscard]] bool put(entry one) noexcept;
    };

    void place(const fragment_data& added);

    id_table by_id_;
    raw_array<const fragment_data*> by_type_;  // by type_index; never null
    std::size_t types_ = 0;                    // entries of by_type_, the first for `no_type`
    array_list<fragment_data*> all_;           // owned; by registration
    std::uint32_t last_ = 0;
};

}  // namespace muster::detail
