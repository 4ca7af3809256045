// word_segments: an array of words that grows while other threads use it. Words never move.
//
//     segment       0            1            2                     3
//               [ 1,024 ]    [ 1,024 ]    [ 2,048          ]    [ 4,096                     ]  ...
//     index      0            1,024        2,048                 4,096
//
// A segment is allocated once, zeroed, and published by one compare-exchange of its pointer. If
// several threads allocate the same segment, the first publishes it and the rest free theirs. Each
// word has a note. The notes follow the words of their segment, so that readers of words do not
// load notes.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/config.hpp>
#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace MUSTER_NAMESPACE::detail {

/// Any thread may call any function at any time, except the destructor.
template <class Word, class Note, unsigned IndexBits>
class word_segments {
    static_assert(IndexBits >= 1 && IndexBits <= 40);

public:
    struct place {
        atomic_word_ref<Word> word;
        atomic_word_ref<Note> note;
    };

    /// All words start as 0, except the word at index 0, which starts as `at_zero`.
    explicit word_segments(Word at_zero) noexcept : at_zero_(at_zero) {}
    word_segments(const word_segments&) = delete;
    word_segments& operator=(const word_segments&) = delete;
    ~word_segments() {
        for (const atomic_word<Word*>& segment : segments_)
            std::free(static_cast<void*>(segment.load_relaxed()));
    }

    /// Returns the word at `index`, or null if its segment does not exist (or is not yet visible to
    /// this thread). `index` has at most `IndexBits` bits.
    [[nodiscard]] Word* find(std::uint64_t index) const noexcept {
        const unsigned segment = segment_of(index);
        Word* const words = segments_[segment].load();
        return words == nullptr ? nullptr : words + (index - begin_of(segment));
    }

    /// Returns word and note at `index`. Its segment must be visible to this thread: the caller has
    /// acquired the index from a thread that had seen the segment.
    [[nodiscard]] place at(std::uint64_t index) const noexcept {
        const unsigned segment = segment_of(index);
        Word* const words = segments_[segment].load();
        const std::uint64_t offset = index - begin_of(segment);
        // SAFETY: the notes follow the words in the same block; segment sizes keep them aligned.
        Note* const notes = reinterpret_cast<Note*>(words + size_of(segment));
        return {atomic_word_ref<Word>(words + offset), atomic_word_ref<Note>(notes + offset)};
    }

    /// Allocates the segments of all indices in [begin, end). On `std::bad_alloc`, segments that
    /// were allocated remain.
    void ensure(std::uint64_t begin, std::uint64_t end) {
        if (begin == end) return;
        const unsigned last = segment_of(end - 1);
        for (unsigned segment = segment_of(begin); segment <= last; ++segment)
            if (segments_[segment].load_relaxed() == nullptr) [[unlikely]]
                allocate_segment(segment);
    }

    /// Returns how many indices from 0 on have a word.
    [[nodiscard]] std::uint64_t capacity() const noexcept {
        unsigned segment = 0;
        while (segment != segment_count && segments_[segment].load_relaxed() != nullptr) ++segment;
        return segment == 0 ? 0 : begin_of(segment - 1) + size_of(segment - 1);
    }

private:
    static constexpr unsigned smallest_bits = 10;
    static constexpr std::uint64_t smallest = std::uint64_t{1} << smallest_bits;
    static constexpr unsigned segment_count =
        IndexBits <= smallest_bits ? 1 : IndexBits - smallest_bits + 1;

    // The highest set bit of the index selects the segment; the lowest indices share segment 0.
    static constexpr unsigned segment_of(std::uint64_t index) noexcept {
        return 64 - smallest_bits - static_cast<unsigned>(__builtin_clzll(index | (smallest - 1)));
    }
    static constexpr std::uint64_t begin_of(unsigned segment) noexcept {
        return (smallest / 2 << segment) & ~(smallest - 1);
    }
    static constexpr std::uint64_t size_of(unsigned segment) noexcept {
        return segment == 0 ? smallest : begin_of(segment);
    }

    MUSTER_COLD void allocate_segment(unsigned segment) {
        void* const block = std::calloc(size_of(segment), sizeof(Word) + sizeof(Note));
        if (block == nullptr) raise_out_of_memory();
        // SAFETY: integers, whose lifetime begins with the block's; calloc aligns for all of them.
        auto* const words = static_cast<Word*>(block);
        if (segment == 0) *words = at_zero_;
        // Release: a thread that sees the segment also sees its zeros and the word at index 0.
        Word* there = nullptr;
        if (!segments_[segment].compare_exchange(there, words)) std::free(block);
    }

    atomic_word<Word*> segments_[segment_count];
    Word at_zero_;
};

}  // namespace MUSTER_NAMESPACE::detail
