// key_map: maps keys to words. Dense keys share pages; isolated overflow keys are in a tree.
//
//     pages     [ * ][ * ][ * ]...                  one for 512 keys
//                 |    |    |
//               words  |  words                     `Absent` for keys without a word
//                    no_words                       shared page: all words are absent
#pragma once

#include <muster/base/raw_array.hpp>
#include <muster/base/sparse_array.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// A word of a sparse set; see `sparse_set::id_shape`. A distinct type, so that it is not mistaken
/// for an id.
enum class sparse_entry : std::uint64_t {};

/// `Absent` stands for a missing word. No key may have it as its word.
template <class Word, Word Absent>
class MUSTER_API key_map {
public:
    static constexpr std::size_t page_size = 512;

    key_map() = default;
    key_map(const key_map&) = delete;
    key_map& operator=(const key_map&) = delete;
    ~key_map();

    /// Returns the word, or `Absent`. O(1) for dense keys.
    [[nodiscard]] Word find(std::uint64_t key) const noexcept {
        const words dense = dense_words();
        if (dense.cover(key) && dense[key] != Absent) return dense[key];
        return overflow_.empty() ? Absent : find_overflow(key);
    }
    /// The words of dense keys.
    struct words {
        Word* const* pages;
        std::uint64_t size;
        /// Whether a page covers the key. Only words that are not `Absent` may be changed.
        [[nodiscard]] bool cover(std::uint64_t key) const noexcept {
            return key / page_size < size;
        }
        [[nodiscard]] Word& operator[](std::uint64_t key) const noexcept {
            return pages[key / page_size][key % page_size];
        }
    };
    [[nodiscard]] words dense_words() const noexcept { return {pages_.data(), size_}; }
    [[nodiscard]] bool has_overflow() const noexcept { return !overflow_.empty(); }

    /// Makes room for the word of a key, for a later `at`. `std::bad_alloc` changes nothing.
    void prepare(std::uint64_t key, bool is_dense) {
        const std::uint64_t page = key / page_size;
        if (page >= size_ || pages_[page] == no_words() || !overflow_.empty()) [[unlikely]]
            add(key, is_dense);
    }
    /// Returns the word of a prepared key.
    [[nodiscard]] Word& at(std::uint64_t key) const noexcept {
        if (overflow_.empty()) [[likely]]
            return pages_[key / page_size][key % page_size];
        return at_overflow(key);
    }

    /// Erases the words of overflow keys below `limit`, after calling `give(key, word)` for each.
    template <class Give>
    void take_overflow(std::uint64_t limit, Give give) {
        for (std::uint64_t key = overflow_.next(0); key < limit; key = overflow_.next(key + 1)) {
            give(key, overflow_[key]);
            overflow_.erase(key);
            if (overflow_.empty()) break;
        }
    }
    /// Sets words for which `wanted(word)` is false to absent.
    template <class Wanted>
    void keep(Wanted wanted) {
        for (std::uint64_t i = 0; i < size_; ++i)
            for (std::uint64_t at = 0; pages_[i] != no_words() && at < page_size; ++at)
                if (!wanted(pages_[i][at])) pages_[i][at] = Absent;
        for (std::uint64_t key = overflow_.next(0); key != overflow_.none;
             key = overflow_.next(key + 1))
            if (!wanted(overflow_[key])) overflow_[key] = Absent;
    }
    /// Frees pages and overflow entries without words.
    void trim() noexcept;
    void clear() noexcept;

private:
    [[nodiscard, gnu::pure]] Word find_overflow(std::uint64_t key) const noexcept;
    [[nodiscard, gnu::pure]] Word& at_overflow(std::uint64_t key) const noexcept;
    void add(std::uint64_t key, bool is_dense);
    /// The page of keys without words. Never written.
    [[nodiscard, gnu::const]] static Word* no_words() noexcept;

    std::uint64_t size_ = 0;  // number of pages
    raw_array<Word*> pages_;  // never null
    sparse_array<Word> overflow_;
};

}  // namespace MUSTER_NAMESPACE::detail
