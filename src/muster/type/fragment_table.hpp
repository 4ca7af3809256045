// fragment_table: the fragments of one world, found by id, by C++ type or by key.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/hash_table.hpp>
#include <muster/type/fragment_data.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API fragment_table {
public:
    fragment_table();
    fragment_table(const fragment_table&) = delete;
    fragment_table& operator=(const fragment_table&) = delete;
    ~fragment_table();

    /// Returns `no_fragment` if this world has not used the type, or the type has no number yet.
    [[nodiscard]] const fragment_data& find(type_index type) const noexcept {
        // Branchless, so that the compiler can hoist the lookup out of loops.
        const auto at = static_cast<std::size_t>(type);
        return *by_type_[at < types_ ? at : 0];
    }

    /// Returns the fragment with this id or, for any other bits, `no_fragment`.
    [[nodiscard]] const fragment_data& lookup(std::uint64_t id) const noexcept {
        // Branchless, so that the compiler can hoist the lookup out of loops. Reads both entries.
        const entry& first = by_id_.entries[by_id_.first(id)];
        const entry& second = by_id_.entries[by_id_.second(id)];
        const fragment_data* const fragment = first.fragment;
        const fragment_data* const other = second.fragment;
        return *select_branchless(first.id == id, fragment,
                                  select_branchless(second.id == id, other, &no_fragment));
    }
    /// Like `lookup`, but returns null instead of `no_fragment`.
    [[nodiscard]] fragment_data* find(std::uint64_t id) const noexcept {
        const fragment_data& found = lookup(id);
        // SAFETY: `add` created every fragment except `no_fragment`, as a non-const object.
        return &found == &no_fragment ? nullptr : const_cast<fragment_data*>(&found);
    }

    /// Creates a fragment with this id for this type, which must have none. With `no_type`, the
    /// fragment is found only by its id. `std::bad_alloc` changes nothing.
    fragment_data& add(type_index type, const type_info& info, std::uint64_t id);

    /// Returns the fragment with this key, or null. O(1).
    [[nodiscard]] fragment_data* find(const fragment_key& key) const noexcept;
    /// Creates a fragment with this key, which no other fragment has. `std::bad_alloc` changes
    /// nothing.
    fragment_data& add(const fragment_key& key, const type_info& info, std::uint64_t id);
    /// Returns the fragments with keys of this kind, sorted by key. O(fragments).
    [[nodiscard]] array_list<fragment_data*> list(std::uint32_t kind) const;

    /// Destroys the fragment; no chunk may have it any more.
    void remove(const fragment_data& fragment) noexcept;

    /// Sets `tracks_writes` of all fragments, also of later ones. The caller has made room in
    /// `written`.
    void track_writes(bool is_on) noexcept;

    /// Whether any fragment has a connected hook or observer.
    [[nodiscard]] bool has_hooks() const noexcept { return hooked_ != 0; }

    /// All fragments, in the order of registration; null where a fragment was removed.
    [[nodiscard]] const array_list<fragment_data*>& all() const noexcept { return all_.all(); }

private:
    struct entry {
        std::uint64_t id;
        const fragment_data* fragment;  // `no_fragment`: free
    };

    /// A cuckoo hash table: an id is in one of two entries. Its lowest bits, which differ for most
    /// ids, select the first entry; a multiplicative hash selects the second.
    struct id_table {
        raw_array<entry> entries;
        unsigned bits = 0;  // log2 of the number of entries
        std::uint64_t factor = 0x9E3779B97F4A7C15u;

        [[nodiscard]] std::size_t first(std::uint64_t id) const noexcept {
            return id & ((std::uint64_t{1} << bits) - 1);
        }
        [[nodiscard]] std::size_t second(std::uint64_t id) const noexcept {
            return id * factor >> (64 - bits);
        }
        void clear();
        [[nodiscard]] bool put(entry added) noexcept;
    };

    void place(const fragment_data& added);

    id_table by_id_;
    raw_array<const fragment_data*> by_type_;  // by type_index; never null
    std::size_t types_ = 0;                    // entries of by_type_, the first for `no_type`
    hole_list<fragment_data*> all_;            // owned; in the order of registration
    std::size_t hooked_ = 0;                   // fragments with hooks; see `hook_list`
    std::uint32_t last_ = 0;
    hash_table<fragment_data, &fragment_data::key_hash> by_key_;
    bool tracks_writes_ = false;
};

}  // namespace MUSTER_NAMESPACE::detail
