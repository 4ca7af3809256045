// record: the entry of a world for each key: the id that lives there, and the location of its
// values. One load reads both.
//
// Eight bytes if the version, a dead flag and the location fit:
//
//     bit   63     62       47 46     27 26       0
//           [dead] [ version ] [ chunk ] [  row   ]      layouts::bound
//           [dead] [ version ] [     next key     ]      while it is in the free list
//
// else sixteen: the id (or the next key and version), followed by the location.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/integer.hpp>
#include <muster/id/id.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {

/// A slot as `slot_pool` defines it, extended by a location.
template <class Layout>
struct narrow_record {
    using id_type = basic_id<Layout>;

    static constexpr unsigned version_bits = Layout::version_bits;
    static constexpr unsigned chunk_bits = 20;
    static constexpr unsigned row_bits = static_cast<unsigned>(smaller(27, Layout::key_bits));
    static constexpr unsigned place_bits = 63 - version_bits;
    static constexpr bool fits =
        version_bits < 63 && chunk_bits + row_bits <= place_bits && Layout::key_bits <= place_bits;

    std::uint64_t word;

    [[nodiscard]] static narrow_record live(id_type e) noexcept {
        return {e.version() << place_bits};
    }
    [[nodiscard]] static narrow_record dead(std::uint64_t, std::uint64_t next,
                                            std::uint64_t version) noexcept {
        return {std::uint64_t{1} << 63 | version << place_bits | next};
    }
    /// Read and write the record while several threads create entities.
    [[nodiscard]] narrow_record seen() const noexcept { return {read_once(word)}; }
    void show(id_type e) noexcept { __atomic_store_n(&word, live(e).word, __ATOMIC_RELAXED); }

    [[nodiscard]] bool is(id_type e, id_type origin) const noexcept {
        // The shift copies the dead flag into all bits above the version. No id has all of them
        // set, so a dead record matches no id. The comparison includes id bits beyond the layout.
        const auto lives =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(word) >> place_bits);
        return lives == (std::uint64_t{e.value()} ^ origin.value()) >> Layout::key_bits;
    }
    [[nodiscard]] bool is_live(std::uint64_t) const noexcept { return word >> 63 == 0; }
    [[nodiscard]] std::uint64_t version() const noexcept {
        return word >> place_bits & low_bits(version_bits);
    }
    [[nodiscard]] std::uint64_t next() const noexcept { return word & low_bits(place_bits); }

    [[nodiscard]] chunk_index chunk() const noexcept {
        return chunk_index{static_cast<std::uint32_t>(word >> row_bits & low_bits(chunk_bits))};
    }
    [[nodiscard]] std::size_t row() const noexcept { return word & low_bits(row_bits); }
    void place(chunk_index chunk, std::size_t row) noexcept {
        word = (word & ~low_bits(place_bits)) | std::uint64_t{to_int(chunk)} << row_bits | row;
    }
};

template <class Layout>
struct wide_record {
    using id_type = basic_id<Layout>;

    static constexpr unsigned chunk_bits = 31;
    static constexpr unsigned row_bits = 32;

    id_type word;  // the living id; dead: another key with the next version
    std::uint32_t chunk_number;
    std::uint32_t row_number;

    [[nodiscard]] static wide_record live(id_type e) noexcept { return {e, 0, 0}; }
    [[nodiscard]] static wide_record dead(std::uint64_t, std::uint64_t next,
                                          std::uint64_t version) noexcept {
        return {id_type::assemble(next, version, 0), 0, 0};
    }
    [[nodiscard]] wide_record seen() const noexcept {
        using rep = typename Layout::rep;
        // SAFETY: an id is one word of type `rep`. Parallel phases write only this word of a free
        // record.
        const rep value = read_once(*reinterpret_cast<const rep*>(&word));
        return {id_type::from_value(value), chunk_number, row_number};
    }
    void show(id_type e) noexcept {
        using rep = typename Layout::rep;
        __atomic_store_n(reinterpret_cast<rep*>(&word), e.value(), __ATOMIC_RELAXED);
    }
    [[nodiscard]] bool is(id_type e, id_type) const noexcept { return word == e; }
    [[nodiscard]] bool is_live(std::uint64_t key) const noexcept { return word.key() == key; }
    [[nodiscard]] std::uint64_t version() const noexcept { return word.version(); }
    [[nodiscard]] std::uint64_t next() const noexcept { return word.key(); }

    [[nodiscard]] chunk_index chunk() const noexcept { return chunk_index{chunk_number}; }
    [[nodiscard]] std::size_t row() const noexcept { return row_number; }
    void place(chunk_index chunk, std::size_t row) noexcept {
        chunk_number = to_int(chunk);
        row_number = static_cast<std::uint32_t>(row);
    }
};

template <class Layout>
using record =
    std::conditional_t<narrow_record<Layout>::fits, narrow_record<Layout>, wide_record<Layout>>;

}  // namespace MUSTER_NAMESPACE::detail
