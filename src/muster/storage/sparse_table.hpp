// sparse_table: the sparse sets of one world, and for each key which of them have an entry of it: a bit
// each.
//
//     sets      [ burning ][ stunned ][ selected ] ...
//     marks       key 7: 0b101                          burning and selected; the last bit of the byte
//     words       key 7: ...                            stands for sets behind the seventh, which are
//                                                       here
//
// A mark stays until its entity ends: it has the fragment, or had it. So its end costs what it had, not how
// many sets there are, and a value that comes and goes again and again leaves the marks alone.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/storage/sparse_set.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace muster::detail {

class MUSTER_API sparse_table {
public:
    explicit sparse_table(const sparse_set::id_shape& ids) : shape_(ids) {
        by_type_.grow(1);
        by_type_[types_++] = nullptr;  // of `no_type`
    }
    sparse_table(const sparse_table&) = delete;
    sparse_table& operator=(const sparse_table&) = delete;
    ~sparse_table();

    /// All sets; null where one was removed.
    [[nodiscard]] const array_list<sparse_set*>& all() const noexcept { return all_; }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    /// That of the fragment that the world made for this type, or null.
    [[nodiscard]] sparse_set* find(type_index type) const noexcept {
        const auto at = static_cast<std::size_t>(type);
        return by_type_[at < types_ ? at : 0];
    }

    /// A set for this fragment, which has none. `std::bad_alloc` changes nothing.
    sparse_set& add(fragment_data& fragment);
    /// The set must be empty.
    void remove(sparse_set& set) noexcept;

    // What follows is asked of living ids: it looks at their keys.

    [[nodiscard]] bool has_any(std::uint64_t id) const noexcept { return first(id) != nullptr; }
    /// Calls `look(set)` for each that has this id, by ordinal.
    template <class Look>
    void each(std::uint64_t id, Look look) const {
        each_marked(id, [&](sparse_set& one) {
            if (one.has(id)) look(one);
        });
    }
    /// The same for each that may have an entry of it.
    template <class Look>
    void each_marked(std::uint64_t id, Look look) const {
        const auto visit = [&](std::size_t first, std::uint64_t left) {
            for (; left != 0; left &= left - 1) {
                const std::size_t at = first + static_cast<unsigned>(std::countr_zero(left));
                // One that was removed leaves its marks.
                if (at < all_.size() && all_[at] != nullptr) look(*all_[at]);
            }
        };
        const unsigned marks = marks_of(place(id));
        visit(0, marks & (more - 1));
        if ((marks & more) == 0) return;
        for (std::size_t i = 0; i < words_.size(); ++i)
            visit(few + i * 64, words_[i]->find(place(id)));
    }
    /// The fragments that have this id, by number, behind the others.
    void list(std::uint64_t id, array_list<fragment_data*>& found) const;
    /// The first set that has this id, by ordinal, or null.
    [[nodiscard]] sparse_set* first(std::uint64_t id) const noexcept;

    /// An entry and a mark for an id whose end will be seen to: see `forget`.
    void prepare(sparse_set& set, std::uint64_t id, bool is_near);
    /// The id is dead. Calls `drop(set, slot)` for each slot that it had, which waits then.
    template <class Drop>
    void forget(std::uint64_t id, Drop drop) noexcept {
        const std::uint64_t at = place(id);
        if (marks_of(at) == 0) return;
        each_marked(id, [&](sparse_set& one) {
            if (const slot_index had = one.forget(id); had != no_slot) drop(one, had);
        });
        if ((marks_of(at) & more) != 0)
            for (word_map* one : words_)
                if (one->find(at) != 0) one->at(at) = 0;
        mark_at(at) = 0;
    }

    /// Nobody has anything any more; see `sparse_set::forget_entries`.
    void forget_entries() noexcept;
    /// The values of a set whose fragment is gone, and which nobody has, wait for another fragment.
    void hand_over(sparse_set& set, fragment_data& other) noexcept;
    /// What getting or losing a value means may have changed, or which fragment has which set.
    void note_meaning() noexcept;
    void trim() noexcept;

private:
    static constexpr std::uint32_t few = 7;
    static constexpr unsigned more = 1u << few;
    using word_map = key_map<std::uint64_t, 0>;

    [[nodiscard]] std::uint64_t place(std::uint64_t id) const noexcept {
        return (id & low_bits(shape_.key_bits)) - shape_.first_key;
    }
    [[nodiscard]] std::uint8_t marks_of(std::uint64_t place) const noexcept {
        return place < marks_size_ ? marks_[place] : far_marks_.find(place);
    }
    [[nodiscard]] std::uint8_t& mark_at(std::uint64_t place) const noexcept {
        return place < marks_size_ ? marks_[place] : far_marks_.at(place);
    }
    void add_mark(std::uint64_t place, bool is_near);

    sparse_set::id_shape shape_;
    std::uint64_t marks_size_ = 0;
    raw_array<std::uint8_t> marks_;       // of near keys
    key_map<std::uint8_t, 0> far_marks_;  // of all others
    raw_array<sparse_set*> by_type_;      // see `find`
    std::size_t types_ = 0;               // of by_type_
    array_list<sparse_set*> all_;         // owned; by ordinal
    array_list<word_map*> words_;         // owned; one for 64 sets behind the first few
};

}  // namespace muster::detail
