// sparse_table: the sparse sets of one world, and for each key which of them have it: a bit each.
//
//     sets      [ burning ][ stunned ][ selected ] ...
//     marks       key 7: 0b101                          burning and selected; the last two bits of the
//     words       key 7: ...                            byte stand for sets behind the sixth, which are
//                                                       here, and for a death that is watched
//
// So the end of an entity costs what it has, not how many sets there are.
#pragma once

#include <muster/storage/sparse_set.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace muster::detail {

class MUSTER_API sparse_table {
public:
    explicit sparse_table(const sparse_set::id_shape& ids) noexcept : shape_(ids) {}
    sparse_table(const sparse_table&) = delete;
    sparse_table& operator=(const sparse_table&) = delete;
    ~sparse_table();

    /// All sets; null where one was removed.
    [[nodiscard]] const std::vector<sparse_set*>& all() const noexcept { return all_; }
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

    /// A set for this fragment, which has none. `std::bad_alloc` changes nothing.
    sparse_set& add(fragment_data& fragment);
    /// The set must be empty.
    void remove(sparse_set& set) noexcept;

    // What follows is asked of living ids: it looks at their keys.

    [[nodiscard]] bool has_any(std::uint64_t id) const noexcept {
        return (marks_of(place(id)) & ~watched) != 0;
    }
    /// Calls `look(set)` for each that has this key, by ordinal.
    template <class Look>
    void each(std::uint64_t id, Look look) const {
        const unsigned marks = marks_of(place(id));
        for (unsigned left = marks & (more - 1); left != 0; left &= left - 1)
            look(*all_[static_cast<unsigned>(std::countr_zero(left))]);
        if ((marks & more) == 0) return;
        for (std::size_t i = 0; i < words_.size(); ++i)
            for (std::uint64_t left = words_[i]->find(place(id)); left != 0; left &= left - 1)
                look(*all_[few + i * 64 + static_cast<unsigned>(std::countr_zero(left))]);
    }
    /// The fragments that have this id, by number, behind the others.
    void list(std::uint64_t id, std::vector<fragment_data*>& found) const;
    /// The first set that has this key, by ordinal, or null.
    [[nodiscard]] sparse_set* first(std::uint64_t id) const noexcept;

    /// Room for the entry and the mark of an id.
    void prepare(sparse_set& set, std::uint64_t id, bool is_near) {
        set.prepare(id, is_near);
        if (place(id) >= marks_size_) add_mark(place(id), is_near);
        if (set.ordinal >= few) word_of(set).prepare(place(id), is_near);
    }
    /// The set has it from now on, or no more. Prepared.
    void mark(const sparse_set& set, std::uint64_t id) noexcept {
        if (set.ordinal < few)
            set_bit(mark_at(place(id)), set);
        else
            mark_more(set, id);
    }
    void unmark(const sparse_set& set, std::uint64_t id) noexcept {
        if (set.ordinal < few)
            reset_bit(mark_at(place(id)), set);
        else
            unmark_more(set, id);
    }

    /// Whoever ends this key's entity sees to what is here. Prepared.
    void watch(std::uint64_t id) noexcept {
        std::uint8_t& marks = mark_at(place(id));
        marks = static_cast<std::uint8_t>(marks | watched);
    }
    void unwatch(std::uint64_t id) noexcept {
        if (marks_of(place(id)) != 0) mark_at(place(id)) = 0;
    }

    /// The marks of a near key; null if there is no room for them. For who knows that they are those of
    /// the first sets.
    [[nodiscard]] std::uint8_t* find_marks(std::uint64_t place) const noexcept {
        return place < marks_size_ ? marks_.data() + place : nullptr;
    }
    static void set_bit(std::uint8_t& marks, const sparse_set& set) noexcept {
        marks = static_cast<std::uint8_t>(marks | 1u << set.ordinal);
    }
    static void reset_bit(std::uint8_t& marks, const sparse_set& set) noexcept {
        marks = static_cast<std::uint8_t>(marks & ~(1u << set.ordinal));
    }

    /// Nobody has anything any more; see `sparse_set::forget_entries`.
    void forget_entries() noexcept;
    /// The values of a set whose fragment is gone, and which nobody has, wait for another fragment.
    void hand_over(sparse_set& set, fragment_data& other) noexcept;
    /// What getting or losing a value means may have changed.
    void note_meaning() noexcept;
    void trim() noexcept;

private:
    static constexpr std::uint32_t few = 6;
    static constexpr unsigned more = 1u << few;
    static constexpr unsigned watched = more << 1;
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
    [[nodiscard]] word_map& word_of(const sparse_set& set) const noexcept {
        return *words_[(set.ordinal - few) / 64];
    }
    [[nodiscard]] static std::uint64_t bit_of(const sparse_set& set) noexcept {
        return std::uint64_t{1} << (set.ordinal - few) % 64;
    }
    void mark_more(const sparse_set& set, std::uint64_t id) noexcept;
    void unmark_more(const sparse_set& set, std::uint64_t id) noexcept;

    sparse_set::id_shape shape_;
    std::uint64_t marks_size_ = 0;
    raw_array<std::uint8_t> marks_;       // of near keys
    key_map<std::uint8_t, 0> far_marks_;  // of all others
    std::vector<sparse_set*> all_;        // owned; by ordinal
    std::vector<word_map*> words_;        // owned; one for 64 sets behind the first few
};

}  // namespace muster::detail
