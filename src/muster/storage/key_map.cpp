#include <muster/base/integer.hpp>
#include <muster/storage/key_map.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace MUSTER_NAMESPACE::detail {

template <class Word, Word Absent>
Word* key_map<Word, Absent>::no_words() noexcept {
    static constexpr auto all = [] {
        std::array<Word, page_size> made{};
        made.fill(Absent);
        return made;
    }();
    // SAFETY: never written. `prepare` replaces this page before `at` returns a word of it, and
    // callers of `dense_words` must not write to absent words.
    return const_cast<Word*>(all.data());
}

template <class Word, Word Absent>
key_map<Word, Absent>::~key_map() {
    clear();
}

template <class Word, Word Absent>
void key_map<Word, Absent>::clear() noexcept {
    for (std::uint64_t i = 0; i < size_; ++i)
        if (pages_[i] != no_words()) std::free(pages_[i]);
    size_ = 0;
    pages_.trim(0);
    while (!overflow_.empty()) overflow_.erase(overflow_.next(0));
}

template <class Word, Word Absent>
Word key_map<Word, Absent>::find_overflow(std::uint64_t key) const noexcept {
    const Word* const found = overflow_.find(key);
    return found == nullptr ? Absent : *found;
}

template <class Word, Word Absent>
Word& key_map<Word, Absent>::at_overflow(std::uint64_t key) const noexcept {
    if (Word* const found = overflow_.find(key)) return *found;
    return pages_[key / page_size][key % page_size];
}

template <class Word, Word Absent>
void key_map<Word, Absent>::add(std::uint64_t key, bool is_dense) {
    if (overflow_.find(key) != nullptr) return;
    const std::uint64_t page = key / page_size;
    if (!is_dense && page >= size_) {
        overflow_.ensure(key, Absent);
        return;
    }
    if (page >= size_) {
        pages_.grow(larger(page + 1, pages_.capacity()));
        while (size_ <= page) pages_[size_++] = no_words();
    }
    if (pages_[page] != no_words()) return;
    auto* const made = static_cast<Word*>(std::malloc(page_size * sizeof(Word)));
    if (made == nullptr) raise_out_of_memory();
    std::fill_n(made, page_size, Absent);
    pages_[page] = made;
}

template <class Word, Word Absent>
void key_map<Word, Absent>::trim() noexcept {
    const auto is_absent = [](Word word) { return word == Absent; };
    for (std::uint64_t i = 0; i < size_; ++i)
        if (pages_[i] != no_words() && std::all_of(pages_[i], pages_[i] + page_size, is_absent)) {
            std::free(pages_[i]);
            pages_[i] = no_words();
        }
    for (std::uint64_t key = overflow_.next(0); key != overflow_.none;) {
        const std::uint64_t next = overflow_.next(key + 1);
        if (overflow_[key] == Absent) overflow_.erase(key);
        key = next;
    }
}

template class key_map<sparse_entry, sparse_entry{~std::uint64_t{0}}>;
template class key_map<std::uint64_t, 0>;
template class key_map<std::uint8_t, 0>;

}  // namespace MUSTER_NAMESPACE::detail
