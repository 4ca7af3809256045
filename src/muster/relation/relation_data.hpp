// relation_data: one relation of a world, and its part in changes of links:
//
//     link_table         what the relation means, the links, and the sources of each target
//     link_edit          the recorded changes of one entity, combined
//     relation_levels    the levels of all below an entity, if the relation is leveled
//     link_mirror        the other direction, if it is symmetric
//     direct_links       changes of which no one is notified
//     link_destruction   what the end of an entity does to links
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/relation/direct_links.hpp>
#include <muster/relation/link_destruction.hpp>
#include <muster/relation/link_edit.hpp>
#include <muster/relation/link_mirror.hpp>
#include <muster/relation/link_notes.hpp>
#include <muster/relation/link_table.hpp>
#include <muster/relation/relation_levels.hpp>
#include <muster/type/value_participant.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API relation_data final : public link_table, public value_participant {
public:
    relation_data(engine& owner, fragment_data& own, const link_types& types,
                  row_regrouping& rows) noexcept;

    [[nodiscard]] relation_levels& levels() noexcept { return levels_; }
    [[nodiscard]] direct_links& direct() noexcept { return direct_; }
    [[nodiscard]] link_destruction& destruction() noexcept { return destruction_; }
    [[nodiscard]] const link_destruction& destruction() const noexcept { return destruction_; }

    // ---- changes: see `value_participant` ------------------------------------------------------

    outcome combine(std::uint64_t e, const void* present, slice<void* const> given,
                    std::size_t& which) override;
    [[nodiscard]] std::uint64_t word_of(const void* value) const override;
    [[nodiscard]] bool arrange(slice<std::uint64_t> all) const override;
    void begin(std::size_t count) override;
    void leaving(std::uint64_t e, const void* value, bool is_removed) override;
    void arrived(std::uint64_t e, void* value, bool is_new) override;
    void reserve() override;
    void call_before(std::uint64_t e) override;
    void call_after(std::uint64_t e) override;
    void commit(std::uint64_t e) noexcept override;
    [[nodiscard]] bool is_quiet() const noexcept override;
    void prepare_first(const void* value) override;
    void commit_first(std::uint64_t e, void* value) noexcept override;
    void end_quietly(std::uint64_t e, const void* value) noexcept override;
    void ending(std::uint64_t e, const void* value) override;

    // ---- steps of changes ----------------------------------------------------------------------

    /// Does all of a new link that can fail.
    void reserve_source(const link_step& made);
    /// Makes room for a source of this target, besides those of other links of the operation.
    void reserve_target(std::uint64_t target);
    /// Calls the hooks of one link.
    void call(hook_kind kind, const link_step& what);
    /// Calls its hooks, and notes it for observers.
    void call_and_note(hook_kind kind, const link_step& what);
    /// Forgets all sources.
    void clear() noexcept;

private:
    void mirror_link(const link_step& made, const void* link);
    void join_group(std::uint64_t e, const void* value);
    void commit_one(const link_step& done) noexcept;
    void commit_new(std::uint64_t e, link_list& list) noexcept;

    row_regrouping& rows_;
    relation_levels levels_;
    link_mirror mirror_;
    direct_links direct_;
    link_destruction destruction_;
    link_edit edit_;

    /// The operation that is being applied; see `value_participant`.
    struct operation {
        array_list<link_step> steps;
        link_notes notes;
        std::size_t arrived = 0;  // steps that have their new target, if they have one
        std::size_t called = 0;   // steps whose hooks were called after the move
        std::size_t committed = 0;
        std::size_t left = 0;                // the first step of the entity that has last left
        bool is_left_for_good = false;       // its steps are removals
        bool is_bulk = false;                // several entities change
        array_list<std::uint64_t> reserved;  // targets with room for new sources
    } now_;
};

}  // namespace MUSTER_NAMESPACE::detail
