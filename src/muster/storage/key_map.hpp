// key_map: a word for each of some keys. Keys that are near each other share a page; keys that are far from
// all others are in a tree.
//
//     pages     [ * ][ * ][ * ]...                  one for 512 keys
//                 |    |    |
//               words  |  words                     `Absent` where there is none
//                    no_words                       shared: all are absent
#pragma once

#include <muster/base/raw_array.hpp>
#include <muster/base/sparse_array.hpp>

#include <cstddef>
#include <cstdint>

namespace muster::detail {

/// A word of a sparse set: see `sparse_set::id_shape`. A type of its own, not to be taken for an id.
enum class sparse_entry : std::uint64_t {};

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
        const words near = look();
        if (near.cover(key) && near[key] != Absent) return near[key];
        return far_.empty() ? Absent : find_far(key);
    }
    /// The words of near keys.
    struct words {
        Word* const* pages;
        std::uint64_t size;
        /// Whether there is a word, which may be absent: only who finds another one may change it.
        [[nodiscard]] bool cover(std::uint64_t key) const noexcept {
            return key / page_size < size;
        }
        [[nodiscard]] Word& operator[](std::uint64_t key) const noexcept {
            return pages[key / page_size][key % page_size];
        }
    };
    [[nodiscard]] words look() const noexcept { return {pages_.data(), size_}; }
    [[nodiscard]] bool has_far() const noexcept { return !far_.empty(); }

    /// Room for the word of a key, so that `at` has a place. `std::bad_alloc` changes nothing.
    void prepare(std::uint64_t key, bool is_near) {
        const std::uint64_t page = key / page_size;
        if (page >= size_ || pages_[page] == no_words() || !far_.empty()) [[unlikely]]
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
    /// Words that are not `wanted(word)` become absent.
    template <class Wanted>
    void keep(Wanted wanted) {
        for (std::uint64_t i = 0; i < size_; ++i)
            for (std::uint64_t at = 0; pages_[i] != no_words() && at < page_size; ++at)
                if (!wanted(pages_[i][at])) pages_[i][at] = Absent;
        for (std::uint64_t key = far_.next(0); key != far_.none; key = far_.next(key + 1))
            if (!wanted(far_[key])) far_[key] = Absent;
    }
    /// Frees pages without words.
    void trim() noexcept;
    void clear() noexcept;

private:
    [[nodiscard, gnu::pure]] Word find_far(std::uint64_t key) const noexcept;
    [[nodiscard, gnu::pure]] Word& at_far(std::uint64_t key) const noexcept;
    void add(std::uint64_t key, bool is_near);
    /// A page for keys that have no words. Nobody writes to it.
    [[nodiscard, gnu::const]] static Word* no_words() noexcept;

    std::uint64_t size_ = 0;  // of pages_
    raw_array<Word*> pages_;  // never null
    sparse_array<Word> far_;
};

}  // namespace muster::detail
