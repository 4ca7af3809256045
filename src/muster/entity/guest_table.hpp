// guest_table: the rows of entities that another world has issued, and that live in this one for
// now. Their keys are those of the other world, so they have no record here; a hash table by id
// has their locations.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/entity/record.hpp>
#include <muster/id/id.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

template <class Layout>
class guest_table {
public:
    using id_type = basic_id<Layout>;
    using record_type = record<Layout>;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Returns the record of a guest, or null. `insert` invalidates it.
    [[nodiscard]] const record_type* find(id_type e) const noexcept {
        if (size_ == 0 || !e) return nullptr;  // a free entry has the null id
        const entry& found = entries_[place_of(e)];
        return found.id == e ? &found.record : nullptr;
    }
    [[nodiscard]] record_type* find(id_type e) noexcept {
        // SAFETY: the entries of a table that is not const are not const.
        return const_cast<record_type*>(static_cast<const guest_table&>(*this).find(e));
    }

    /// Makes room for `more` guests. `std::bad_alloc` changes nothing.
    void reserve(std::size_t more) {
        order_.reserve(order_.size() + more);
        merged_.reserve(order_.size() + more);
        std::size_t wanted = entries_.empty() ? 16 : entries_.size();
        while (wanted < (size_ + more) * 2) wanted *= 2;
        if (wanted == entries_.size()) return;
        array_list<entry> wider(wanted);
        wider.swap(entries_);
        for (const entry& kept : wider)
            if (kept.id) entries_[place_of(kept.id)] = kept;
    }
    /// Inserts a guest that is not in the table, after `reserve`. Call `order` after the last.
    void insert(id_type e, chunk_index chunk, std::size_t row) noexcept {
        entry& made = entries_[place_of(e)];
        made = {e, record_type::live(e)};
        made.record.place(chunk, row);
        ++size_;
        order_.push_back(e);
    }
    /// Sorts the guests that were inserted among the others. O(guests).
    void order() noexcept;  // in entity_table_impl.hpp
    bool erase(id_type e) noexcept {
        if (find(e) == nullptr) return false;
        const std::size_t mask = entries_.size() - 1;
        std::size_t hole = place_of(e);
        for (std::size_t at = (hole + 1) & mask; entries_[at].id; at = (at + 1) & mask) {
            const std::size_t home = home_of(entries_[at].id);
            if (((at - home) & mask) < ((at - hole) & mask)) continue;  // not before its home
            entries_[hole] = entries_[at];
            hole = at;
        }
        entries_[hole] = {};
        --size_;
        return true;
    }
    void clear() noexcept {
        entries_.clear();
        order_.clear();
        ordered_ = 0;
        size_ = 0;
    }

    /// Returns the first guest after `e` in the order of ids, or null. Null comes before the first.
    [[nodiscard]] id_type next(id_type e) const noexcept {
        std::size_t first = 0;
        for (std::size_t count = order_.size(); count != 0;) {  // the first beyond `e`
            const std::size_t half = count / 2;
            if (!e || order_[first + half].value() > e.value()) {
                count = half;
            } else {
                first += half + 1;
                count -= half + 1;
            }
        }
        while (first < order_.size() && find(order_[first]) == nullptr) ++first;  // erased since
        return first < order_.size() ? order_[first] : id_type{};
    }

private:
    struct entry {
        id_type id{};  // null: free
        record_type record{};
    };

    [[nodiscard]] std::size_t home_of(id_type e) const noexcept {
        const std::uint64_t hash = std::uint64_t{e.value()} * 0x9E3779B97F4A7C15u;
        return static_cast<std::size_t>(hash ^ hash >> 32) & (entries_.size() - 1);
    }
    /// Returns the entry of the id, or the free entry where it would be inserted.
    [[nodiscard]] std::size_t place_of(id_type e) const noexcept {
        std::size_t at = home_of(e);
        while (entries_[at].id && entries_[at].id != e) at = (at + 1) & (entries_.size() - 1);
        return at;
    }
    array_list<entry> entries_;  // a power of two, at most half full
    std::size_t size_ = 0;
    array_list<id_type> order_;   // all guests by id, and some that were erased
    std::size_t ordered_ = 0;     // elements of `order_` that are sorted
    array_list<id_type> merged_;  // memory for `order`; empty
};

}  // namespace MUSTER_NAMESPACE::detail
