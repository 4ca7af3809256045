// key_map: a word for each of some keys. Keys that are near each other share a page; keys that are far from
// all others are in a tree.
//
//     pages     [ * ][ null ][ * ]...               one for 512 keys
//                 |            |
//               words        words                  `Absent` where there is none
#pragma once

#include <muster/base/raw_array.hpp>
#include <muster/base/sparse_array.hpp>

#include <cstddef>
#include <cstdint>

namespace muster::detail {

/// `Absent` is no word of any key.
template <class Word, Word Absent>
class MUSTER_API key_map {
public:
    static constexpr std::size_t page_size = 512;

    key_map() = default;
    key_map(const key_map&) = delete;
    key_map& operator=(const key_map&) = delete;
    ~key_map();

    /// The word, or `Absent`. O(1) for near keys.
    [[nodiscard]] Word find(std::uint64_t key) const noexcept {
        const std::uint64_t page = key / page_size;
        if (page < size_ && pages_[page] != nullptr) [[likely]] {
            const Word word = pages_[page][key % page_size];
            if (word != Absent || far_.empty()) [[likely]]
                return word;
        }
        return far_.empty() ? Absent : find_far(key);
    }
    /// The same, or null if there is no room for it.
    [[nodiscard]] const Word* look(std::uint64_t key) const noexcept {
        const std::uint64_t page = key / page_size;
        if (page >= size_) [[unlikely]]
            return nullptr;
        const Word* const words = pages_[page];
        return words == nullptr ? nullptr : words + key % page_size;
    }
    [[nodiscard]] bool has_far() const noexcept { return !far_.empty(); }
    /// Where the word of a near key is; null if there is no room for it, or it takes more than a look.
    [[nodiscard]] Word* find_near(std::uint64_t key) const noexcept {
        return far_.empty() ? const_cast<Word*>(look(key)) : nullptr;
    }

    /// Room for the word of a key, so that `at` has a place. `std::bad_alloc` changes nothing.
    void prepare(std::uint64_t key, bool is_near) {
        if (find_near(key) == nullptr) [[unlikely]]
            add(key, is_near);
    }
    /// Where the word of a key is that was prepared.
    [[nodiscard]] Word& at(std::uint64_t key) const noexcept {
        if (far_.empty()) [[likely]]
            return pages_[key / page_size][key % page_size];
        return at_far(key);
    }

    /// Takes the words of far keys below this one away: `give(key, word)`.
    template <class Give>
    void take_far(std::uint64_t limit, Give give) {
        for (std::uint64_t key = far_.next(0); key < limit; key = far_.next(key + 1)) {
            give(key, far_[key]);
            far_.erase(key);
            if (far_.empty()) break;
        }
    }
    /// Frees pages without words.
    void trim() noexcept;
    void clear() noexcept;

private:
    [[nodiscard, gnu::pure]] Word find_far(std::uint64_t key) const noexcept;
    [[nodiscard, gnu::pure]] Word& at_far(std::uint64_t key) const noexcept;
    void add(std::uint64_t key, bool is_near);

    std::uint64_t size_ = 0;  // of pages_
    raw_array<Word*> pages_;  // null: no word
    sparse_array<Word> far_;
};

}  // namespace muster::detail
