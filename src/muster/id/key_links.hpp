// key_links: the words and links of `concurrent_id_pool`, which draws them. A link names an entry
// of a stack; a word is a living id or a link to the entry below.
//
//     link   [ mark of an empty head | tag: rounds, version | index ]
#pragma once

#include <muster/base/integer.hpp>
#include <muster/base/word_segments.hpp>
#include <muster/id/layout.hpp>

#include <cstdint>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

template <class Layout>
struct key_links {
    static constexpr bool versions_recur = Layout::on_exhaustion != exhaustion::retire;

    // No memory holds more slots than this; tags make better use of the remaining bits.
    static constexpr unsigned index_bits = Layout::key_bits < 40 ? Layout::key_bits : 40;
    static constexpr std::uint64_t last_index = low_bits(index_bits);

    // A link is an index and a tag: the version and, if versions recur, the key's rounds above it.
    // The tag with all bits set belongs to no key: it marks the end of a stack. (If versions never
    // recur, it is the last version, which is not issued.)
    static constexpr unsigned spare_bits = 64 - index_bits - Layout::version_bits;
    static constexpr unsigned tag_bits =
        Layout::version_bits + (versions_recur && spare_bits != 0 ? spare_bits - 1 : 0);
    static constexpr std::uint64_t end_tag = low_bits(tag_bits);
    using link = std::uint64_t;

    // The head of an empty stack is the link that was removed last, with a mark. The mark is a bit
    // that no other link has or, without a spare bit, the end tag.
    static constexpr link empty = spare_bits != 0 ? link{1} << 63 : end_tag << index_bits;

    // A live word is its id, with the index in place of the key. Other words are links to an index
    // other than their own. Links with rounds may not fit the layout's integer: they use 64 bits.
    using word = std::conditional_t<versions_recur, std::uint64_t, typename Layout::rep>;

    // The note of a free key counts the entries below it. If versions recur, the note of a live or
    // parked key stores its rounds.
    using note =
        std::conditional_t<versions_recur || (index_bits > 32), std::uint64_t, std::uint32_t>;

    using slots = word_segments<word, note, index_bits>;
    using place = typename slots::place;

    static constexpr link make_link(std::uint64_t index, std::uint64_t tag) noexcept {
        return index | tag << index_bits;
    }
    static constexpr std::uint64_t index_of(link to) noexcept { return to & last_index; }
    static constexpr std::uint64_t tag_of(link to) noexcept { return to >> index_bits; }
    static constexpr std::uint64_t version_of(link to) noexcept {
        return tag_of(to) & Layout::last_version;
    }
    static constexpr std::uint64_t rounds_of(link to) noexcept {
        return tag_of(to) >> Layout::version_bits;
    }
    static constexpr bool is_end(link to) noexcept { return tag_of(to) == end_tag; }
    static constexpr bool is_empty(link head) noexcept { return (head & empty) == empty; }

    /// The word of `index` if no key is below it, or while one thread owns the key.
    static constexpr word end_at(std::uint64_t index) noexcept {
        return static_cast<word>(make_link(index ^ 1, end_tag));
    }
    /// The word of `index` if `below` is below it.
    static constexpr word word_above(link below, std::uint64_t index) noexcept {
        return is_empty(below) || is_end(below) ? end_at(index) : static_cast<word>(below);
    }
    /// The head after `last`, which was directly above `below`, has left the stack.
    static constexpr link head_after(link last, link below) noexcept {
        return is_end(below) ? last | empty : below;
    }
    static constexpr bool has_index(word candidate, std::uint64_t index) noexcept {
        return (candidate & Layout::last_key) == index;
    }
};

}  // namespace MUSTER_NAMESPACE::detail
