// sparse_table: the sparse sets of one world. For each key, it stores a bit for each set that may
// have an entry of the key.
//
//     sets      [ burning ][ stunned ][ selected ] ...
//     marks       key 7: 0b101                       burning, selected; the highest bit: see words
//     words       key 7: ...                         the sets after the seventh, 64 to a word
//     summaries   key 7: ...                         the words that are not 0, 64 to a word
//
// A mark stays until its entity is destroyed, even if the value is removed earlier. So destroying
// an entity costs time for the fragments that it had, not for all sets. Adding and removing a value
// repeatedly does not change the marks.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/storage/sparse_set.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API sparse_table {
public:
    explicit sparse_table(const sparse_set::id_shape& ids) : shape_(ids) {
        by_type_.grow(1);
        by_type_[types_++] = nullptr;  // for `no_type`
    }
    sparse_table(const sparse_table&) = delete;
    sparse_table& operator=(const sparse_table&) = delete;
    ~sparse_table();

    /// All sets; null where a set was removed.
    [[nodiscard]] const array_list<sparse_set*>& all() const noexcept { return all_; }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    /// Returns the set of the world's fragment of this type, or null.
    [[nodiscard]] sparse_set* find(type_index type) const noexcept {
        const auto at = static_cast<std::size_t>(type);
        return by_type_[at < types_ ? at : 0];
    }

    /// Adds a set for this fragment, which must have none. `std::bad_alloc` changes nothing.
    sparse_set& add(fragment_data& fragment);
    /// Removes a set, which must be empty.
    void remove(sparse_set& set) noexcept;

    // The following calls find marks by key alone. Except for `forget`, ids must be alive.

    [[nodiscard]] bool has_any(std::uint64_t id) const noexcept { return first(id) != nullptr; }
    /// Calls `callback(set)` for each set that has a value of this id, by ordinal.
    template <class Callback>
    void each(std::uint64_t id, Callback callback) const {
        each_marked(id, [&](sparse_set& set) {
            if (set.has(id)) callback(set);
        });
    }
    /// Calls `callback(set)` for each set that may have an entry of this id, by ordinal.
    template <class Callback>
    void each_marked(std::uint64_t id, Callback callback) const {
        const auto visit = [&](std::size_t first, std::uint64_t left) {
            for (; left != 0; left &= left - 1) {
                const std::size_t at = first + static_cast<unsigned>(std::countr_zero(left));
                // Removing a set does not clear its marks.
                if (at < all_.size() && all_[at] != nullptr) callback(*all_[at]);
            }
        };
        const std::uint64_t at = key_offset(id);
        const unsigned marks = marks_of(at);
        visit(0, marks & (more - 1));
        if ((marks & more) != 0)
            each_word(at, [&](std::size_t i) { visit(few + i * 64, words_[i]->find(at)); });
    }
    /// Appends the sparse fragments of this id, sorted by number.
    void list(std::uint64_t id, array_list<fragment_data*>& found) const;
    /// Returns the first set, by ordinal, that has a value of this id, or null.
    [[nodiscard]] sparse_set* first(std::uint64_t id) const noexcept;

    /// Ensures an entry and a mark for this id. Destroying the id must call `forget`. May throw
    /// `std::bad_alloc`.
    void prepare(sparse_set& set, std::uint64_t id, bool is_dense);
    /// Erases the entries and marks of a dead id. Calls `drop(set, slot)` for each slot with a
    /// value, which is then reserved.
    template <class Drop>
    void forget(std::uint64_t id, Drop drop) noexcept {
        const std::uint64_t at = key_offset(id);
        if (marks_of(at) == 0) return;
        each_marked(id, [&](sparse_set& set) {
            if (const slot_index had = set.forget(id); had != no_slot) drop(set, had);
        });
        if ((marks_of(at) & more) != 0) {
            each_word(at, [&](std::size_t i) { words_[i]->at(at) = 0; });
            for (word_map* summary : summaries_)
                if (summary->find(at) != 0) summary->at(at) = 0;
        }
        mark_at(at) = 0;
    }

    /// Erases all entries and marks; see `sparse_set::forget_entries`.
    void forget_entries() noexcept;
    /// Assigns a set whose fragment was destroyed to another fragment. Its values are pending: no
    /// entity has them.
    void hand_over(sparse_set& set, fragment_data& other) noexcept;
    /// Updates the fast paths of a set, and `find`, after traits or hooks of its fragment have
    /// changed. O(1).
    void refresh(sparse_set& set) noexcept;
    /// Whether a set has values whose removal notifies anyone.
    [[nodiscard]] bool notifies_remove() const noexcept;
    /// Updates the fast paths and `find` after traits or the sets of fragments have changed.
    void invalidate_traits() noexcept;
    void trim() noexcept;

private:
    static constexpr std::uint32_t few = 7;
    static constexpr unsigned more = 1u << few;
    using word_map = key_map<std::uint64_t, 0>;

    /// Calls `callback(i)` for each word of this key that is not 0.
    template <class Callback>
    void each_word(std::uint64_t key, Callback callback) const {
        for (std::size_t i = 0; i < summaries_.size(); ++i)
            for (std::uint64_t left = summaries_[i]->find(key); left != 0; left &= left - 1)
                callback(i * 64 + static_cast<unsigned>(std::countr_zero(left)));
    }
    [[nodiscard]] std::uint64_t key_offset(std::uint64_t id) const noexcept {
        return (id & low_bits(shape_.key_bits)) - shape_.first_key;
    }
    [[nodiscard]] std::uint8_t marks_of(std::uint64_t offset) const noexcept {
        return offset < marks_size_ ? marks_[offset] : overflow_marks_.find(offset);
    }
    [[nodiscard]] std::uint8_t& mark_at(std::uint64_t offset) const noexcept {
        return offset < marks_size_ ? marks_[offset] : overflow_marks_.at(offset);
    }
    void add_mark(std::uint64_t offset, bool is_dense);
    [[nodiscard]] std::uint32_t find_free() noexcept;

    sparse_set::id_shape shape_;
    std::uint64_t marks_size_ = 0;
    raw_array<std::uint8_t> marks_;            // of dense keys
    key_map<std::uint8_t, 0> overflow_marks_;  // of overflow keys
    raw_array<sparse_set*> by_type_;           // see `find`
    std::size_t types_ = 0;                    // size of by_type_
    array_list<sparse_set*> all_;              // owned; by ordinal
    array_list<word_map*> words_;              // owned; one for each 64 sets after the first few
    array_list<word_map*> summaries_;          // owned; a bit for each word that is not 0
    array_list<std::uint32_t> free_;           // a heap of ordinals; others are beyond the end
    std::size_t notifying_ = 0;                // sets whose removals notify anyone
};

}  // namespace MUSTER_NAMESPACE::detail
