// relation_levels: the levels of a leveled relation: how many links are above a source. The link stores
// the level; its lower part is the word of the source's chunk.
//
//     level 0    [ a ]                 no link
//     level 1    [ b ][ c ]            words 1, 2, ... 62: a chunk for each level
//     level 63+  [ x ][ y ][ z ]       word 63: all deeper levels
//
// A change of an entity's level changes the levels of all below it, and moves their rows, in the same
// step, all or nothing: `plan` does what may fail, `apply` the rest.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/config.hpp>
#include <muster/base/slice.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class destroy_set;
struct engine;
struct fragment_loss;
struct link_step;
class relation_data;
class row_regrouping;

class MUSTER_API relation_levels {
public:
    /// The highest level.
    static constexpr std::uint32_t most = (std::uint32_t{1} << 30) - 1;
    /// The word of all levels from this one on.
    static constexpr std::uint32_t last_word = 63;

    struct entry {
        std::uint64_t e;
        std::uint32_t level;
    };

    relation_levels(engine& owner, relation_data& of, row_regrouping& rows) noexcept
        : engine_(owner), relation_(of), rows_(rows) {}
    relation_levels(const relation_levels&) = delete;
    relation_levels& operator=(const relation_levels&) = delete;

    [[nodiscard]] static std::uint64_t word_of(std::uint64_t level) noexcept {
        return level < last_word ? level : last_word;
    }
    /// Returns the level of the sources of an entity. Throws `errc::limit`.
    [[nodiscard]] std::uint32_t below(std::uint32_t level) const;

    /// Drops what was not applied.
    void begin() noexcept;
    /// Plans the levels of all below an entity that will be at this level, and the moves of their
    /// rows. O(entities below).
    void plan(std::uint64_t e, std::uint32_t level);
    void apply() noexcept;

    /// Lists the new levels of survivors of a destruction. `moved` are links that lead to an entity
    /// that dies: to their new target, or the null id. Adds the new words to `losses`.
    [[nodiscard]] array_list<entry> after(const destroy_set& dying, array_list<link_step> moved,
                                          array_list<fragment_loss>& losses) const;
    /// Stores new levels.
    void set(slice<const entry> levels) noexcept;

    /// Orders entities so that those below others come first.
    void arrange(slice<std::uint64_t> all) const;

private:
    void list_below(const entry& top, const destroy_set* dying, array_list<entry>& found) const;

    engine& engine_;
    relation_data& relation_;
    row_regrouping& rows_;
    array_list<entry> planned_;
};

}  // namespace MUSTER_NAMESPACE::detail
