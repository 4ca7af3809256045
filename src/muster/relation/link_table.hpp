// link_table: the links of one relation of a world, and what the relation means. Both ends of a link are
// stored: a target knows its sources.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/base/sparse_array.hpp>
#include <muster/relation/link.hpp>
#include <muster/relation/relation.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/relation/source_list.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class value_participant;

class MUSTER_API link_table {
public:
    link_table(engine& owner, fragment_data& own, const link_types& types) noexcept
        : engine_(owner), own_(own), id_(own.id), types_(types) {}
    link_table(const link_table&) = delete;
    link_table& operator=(const link_table&) = delete;
    ~link_table();

    /// The id of the relation.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] std::string_view name() const noexcept { return own_.name; }
    /// The fragment of the relation itself. It has the hooks: `insert` and `remove` are called with
    /// a `link_step`.
    [[nodiscard]] fragment_data& own() const noexcept { return own_; }
    [[nodiscard]] const link_types& types() const noexcept { return types_; }
    /// The fragment of the links.
    [[nodiscard]] fragment_data& links() const noexcept { return *links_; }
    [[nodiscard]] engine& owner() const noexcept { return engine_; }

    bool is_exclusive = false;
    bool is_acyclic = false;
    bool is_leveled = false;    // the word of a source is its level; see `relation_levels`
    bool is_grouping = false;   // the word of a source is its target
    bool is_symmetric = false;  // each link has another in the other direction; see `link_mirror`
    target_policy policy = target_policy::remove_relation;

    /// Creates the fragment of the links, in whose changes `room` takes part; replaces one of the other
    /// kind, which no entity has.
    void make_links(value_participant& room);
    /// Destroys the fragment of the links, which no entity has.
    void drop_links() noexcept;

    // ---- reading -------------------------------------------------------------------------------

    [[nodiscard]] bool is_null(std::uint64_t e) const noexcept;
    /// Returns the list of the entity's targets, or null, if the relation is not exclusive.
    [[nodiscard]] link_list* find_list(std::uint64_t source) const noexcept;
    /// Returns the entity's link, or null, if the relation is exclusive.
    [[nodiscard]] link_head* find_link(std::uint64_t source) const noexcept;
    /// Returns the only target of an entity, or the null id.
    [[nodiscard]] std::uint64_t target_of(std::uint64_t source) const noexcept;
    /// Returns how many links are above a living entity, if the relation is leveled.
    [[nodiscard]] std::uint32_t level_of(std::uint64_t source) const noexcept {
        const link_head* const link = find_link(source);
        return link != nullptr ? link->level : 0;
    }
    /// Returns the sources of a living target, or null.
    [[nodiscard]] source_list* find_sources(std::uint64_t target) const noexcept;
    [[nodiscard]] bool is_related(std::uint64_t source, std::uint64_t target) const noexcept;
    /// Returns the address of the value of a link, or null. Of a tag: any other address.
    [[nodiscard]] void* find_value(std::uint64_t source, std::uint64_t target) const noexcept;
    /// Returns the place of a target in the list of a source, or `places()`.
    [[nodiscard]] std::uint32_t find_place(std::uint64_t source, const link_list& list,
                                           std::uint64_t target) const noexcept;
    [[nodiscard]] std::size_t count_targets(std::uint64_t source) const noexcept;
    /// Whether the target knows this link of a source: not before it was committed.
    [[nodiscard]] bool is_listed(std::uint64_t e, const link_end& target) const noexcept;
    /// Calls `look(end)` for each source of a target.
    template <class Look>
    void each_source(std::uint64_t target, Look look) const {
        if (const source_list* const sources = find_sources(target))
            for (std::uint32_t i = sources->next(0); i != sources->places();
                 i = sources->next(i + 1))
                look((*sources)[i]);
    }
    /// Calls `look(end)` for each target of a source.
    template <class Look>
    void each_target(std::uint64_t source, Look look) const {
        if (const link_head* const link = find_link(source))
            return look(link_end{link->target, link->place});
        const link_list* const list = find_list(source);
        if (list == nullptr) return;
        const link_array& ends = list->ends();
        for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1))
            look(ends[i]);
    }

    // ---- sources -------------------------------------------------------------------------------

    /// Whether no entity was ever a target.
    [[nodiscard]] bool has_no_sources() const noexcept { return sources_.empty(); }
    source_list& ensure_sources(std::uint64_t target);
    /// Makes room for a source of this target, and marks it.
    source_list& reserve_sources(std::uint64_t target);
    void drop_sources(std::uint64_t target) noexcept;
    void clear_sources() noexcept;
    /// Close the holes of a source's list, or of a target's, if there are many.
    void close_holes(link_list& list) const noexcept;
    void close_holes(std::uint64_t target) noexcept;

    /// Throws `errc::cycle` if this link would close one.
    void refuse_cycle(const link_step& made) const;

protected:
    engine& engine_;
    fragment_data& own_;

private:
    [[nodiscard]] bool is_above(std::uint64_t from, std::uint64_t to) const;
    [[noreturn]] MUSTER_COLD void raise_cycle(std::uint64_t e, std::uint64_t target) const;

    const std::uint64_t id_;
    link_types types_;

protected:
    fragment_data* links_ = nullptr;

private:
    sparse_array<source_list> sources_;  // by the key of the target
};

}  // namespace MUSTER_NAMESPACE::detail
