// word_segments: an array of words that grows while other threads read and write it. Nothing in it ever moves.
//
//     segment       0            1            2                     3
//               [ 1,024 ]    [ 1,024 ]    [ 2,048          ]    [ 4,096                             ]  ...
//     index      0            1,024        2,048                 4,096
//
// A segment is allocated once, zeroed, and becomes visible by one compare-exchange of its pointer; of several
// threads that bring the same one, one wins and the others free theirs. Each word has a note beside it, in
// an array behind the words of its segment: who only asks for words does not load notes.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/config.hpp>
#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace muster::detail {

/// Any thread may call anything at any time, but the destructor.
template <class Word, class Note, unsigned IndexBits>
class word_segments {
    static_assert(IndexBits >= 1 && IndexBits <= 40);

public:
    struct place {
        atomic_word_ref<Word> word;
        atomic_word_ref<Note> note;
    };

    /// All words start as 0, but the one at index 0.
    explicit word_segments(Word at_zero) noexcept : at_zero_(at_zero) {}
    word_segments(const word_segments&) = delete;
    word_segments& operator=(const word_segments&) = delete;
    ~word_segments() {
        for (const atomic_word<Word*>& segment : segments_)
            std::free(static_cast<void*>(segment.load_relaxed()));
    }

    /// The word at `index`, or null if its segment is not there (or not yet seen by this thread).
    /// `index` has at most `IndexBits` bits.
    [[nodiscard]] Word* find(std::uint64_t index) const noexcept {
        const unsigned segment = segment_of(index);
        Word* const words = segments_[segment].load();
        return words == nullptr ? nullptr : words + (index - begin_of(segment));
    }

    /// Word and note at an index whose segment is known to be there: the index was read, by an acquire,
    /// from where somebody stored it who had seen the segment.
    [[nodiscard]] place at(std::uint64_t index) const noexcept {
        const unsigned segment = segment_of(index);
        Word* const words = segments_[segment].load();
        const std::uint64_t offset = index - begin_of(segment);
        // SAFETY: notes stand behind the words in the same block; a multiple of 1,024 words aligns them.
        Note* const notes = reinterpret_cast<Note*>(words + size_of(segment));
        return {atomic_word_ref<Word>(words + offset), atomic_word_ref<Note>(notes + offset)};
    }

    /// Makes sure that all indices from `begin` to before `end` are there. `std::bad_alloc` leaves what is
    /// there already.
    void ensure(std::uint64_t begin, std::uint64_t end) {
        if (begin == end) return;
        const unsigned last = segment_of(end - 1);
        for (unsigned segment = segment_of(begin); segment <= last; ++segment)
            if (segments_[segment].load_relaxed() == nullptr) [[unlikely]]
                bring(segment);
    }

    /// How many indices from 0 on are there.
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

    // The place of the highest bit is the number of the segment, but for the lowest indices, which share
    // the first one.
    static constexpr unsigned segment_of(std::uint64_t index) noexcept {
        return 64 - smallest_bits - static_cast<unsigned>(__builtin_clzll(index | (smallest - 1)));
    }
    static constexpr std::uint64_t begin_of(unsigned segment) noexcept {
        return (smallest / 2 << segment) & ~(smallest - 1);
    }
    static constexpr std::uint64_t size_of(unsigned segment) noexcept {
        return segment == 0 ? smallest : begin_of(segment);
    }

    MUSTER_COLD void bring(unsigned segment) {
        void* const block = std::calloc(size_of(segment), sizeof(Word) + sizeof(Note));
        if (block == nullptr) raise_out_of_memory();
        // SAFETY: integers, whose lifetime begins with that of the block; calloc aligns for all of them.
        auto* const words = static_cast<Word*>(block);
        if (segment == 0) *words = at_zero_;
        // Released, so that who sees the segment sees it zeroed, and the word at index 0.
        Word* there = nullptr;
        if (!segments_[segment].compare_exchange(there, words)) std::free(block);
    }

    atomic_word<Word*> segments_[segment_count];
    Word at_zero_;
};

}  // namespace muster::detail
