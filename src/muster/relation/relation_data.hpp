// relation_data: one relation of a world: what it means, who its sources are, and its part in changes
// of links.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/base/sparse_array.hpp>
#include <muster/change/change.hpp>
#include <muster/relation/link.hpp>
#include <muster/relation/link_mirror.hpp>
#include <muster/relation/relation.hpp>
#include <muster/relation/relation_levels.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/relation/source_list.hpp>
#include <muster/type/fragment_data.hpp>
#include <muster/type/value_participant.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

struct chunk_data;
struct engine;
class destroy_set;
struct fragment_loss;
struct location;

class MUSTER_API relation_data final : public value_participant {
public:
    relation_data(engine& owner, fragment_data& own, const link_types& types,
                  row_regrouping& rows) noexcept
        : engine_(owner),
          own_(own),
          id_(own.id),
          types_(types),
          rows_(rows),
          levels_(owner, *this, rows),
          mirror_(owner, *this, rows) {}
    ~relation_data();

    /// The id of the relation.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    [[nodiscard]] std::string_view name() const noexcept { return own_.name; }
    /// The fragment of the relation itself. It has the hooks: `insert` and `remove` are called with
    /// a `step`.
    [[nodiscard]] fragment_data& own() const noexcept { return own_; }
    [[nodiscard]] const link_types& types() const noexcept { return types_; }
    /// The fragment of the links.
    [[nodiscard]] fragment_data& links() const noexcept { return *links_; }

    bool is_exclusive = false;
    bool is_acyclic = false;
    bool is_leveled = false;    // the word of a source is its level; see `relation_levels`
    bool is_grouping = false;   // the word of a source is its target
    bool is_symmetric = false;  // each link has another in the other direction; see `link_mirror`
    target_policy policy = target_policy::remove_relation;

    /// Creates the fragment of the links; replaces one of the other kind, which no entity has.
    void make_links();
    /// Destroys the fragment of the links, which no entity has.
    void drop_links() noexcept;

    // ---- reading -------------------------------------------------------------------------------

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
    [[nodiscard]] std::size_t count_targets(std::uint64_t source) const noexcept;

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

    /// Returns the place of a target in the list of a source, or `places()`.
    [[nodiscard]] std::uint32_t find_place(std::uint64_t source, const link_list& list,
                                           std::uint64_t target) const noexcept;
    /// Does all of a new link that can fail.
    void reserve_source(const link_step& made);
    /// Calls the hooks of one link, and notes it for observers.
    void call_and_note(hook_kind kind, const link_step& what);
    /// Closes the holes of a source's list, or of a target's, if there are many.
    void close_holes(link_list& list) const noexcept;
    void close_holes(std::uint64_t target) noexcept;

    // ---- changes of which no one is notified ---------------------------------------------------

    enum class effect : std::uint8_t {
        unknown,  // nothing has changed: the change needs an edit
        none,     // the link was there already, or was not
        changed,  // a link was added, moved or removed
    };
    /// Relates living entities, if no one is to be notified of that. `link` describes the change.
    /// May throw, and has changed nothing then.
    effect relate_directly(std::uint64_t e, location at, std::uint64_t target, const change& link);
    effect unrelate_directly(std::uint64_t e, std::uint64_t target);
    /// See `relation_ref::prepare_source`.
    [[nodiscard]] source_place prepare_source(list_index types, slice<fragment_data* const> set,
                                              std::uint64_t target);

    // ---- destruction: see `destroy_participant` ------------------------------------------------

    void collect(destroy_set& dying, std::uint64_t e) const;
    void check(const destroy_set& dying) const;
    void release(const destroy_set& dying, array_list<fragment_loss>& losses);
    void prepare(const destroy_set& dying);
    void cancel(const destroy_set& dying) noexcept;
    void finish(const destroy_set& dying) noexcept;
    void abandon(std::uint64_t e) noexcept;
    void clear() noexcept;

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

private:
    struct destruction;
    /// A change of links for the observers of the relation, who hear of it when no hook can prevent it.
    struct link_note {
        std::uint64_t e;
        hook_kind kind;
    };

    [[nodiscard]] bool is_null(std::uint64_t e) const noexcept;
    void call(hook_kind kind, const link_step& what);
    [[nodiscard]] bool is_edited(std::uint64_t e) const noexcept {
        return edit_.is_active && edit_.e == e;
    }
    outcome combine_one(const void* present, slice<void* const> given, std::size_t& which) const;
    outcome combine_many(std::uint64_t e, const void* present, slice<void* const> given,
                         std::size_t& which);
    source_list& ensure_sources(std::uint64_t target);
    void mirror_link(const link_step& made, const void* link);
    void join_group(std::uint64_t e, const void* value);
    void refuse_cycle(const link_step& made) const;
    [[nodiscard]] bool is_above(std::uint64_t from, std::uint64_t to) const;
    [[noreturn]] MUSTER_COLD void raise_cycle(std::uint64_t e, std::uint64_t target) const;
    void commit_one(const link_step& done) noexcept;
    void commit_new(std::uint64_t e, link_list& list) noexcept;
    void commit_edit(std::uint64_t e) noexcept;
    [[nodiscard]] bool changes_directly(std::uint64_t e) const noexcept;
    effect move_link(std::uint64_t e, location at, std::uint64_t target, const change& given);
    effect add_link(std::uint64_t e, std::uint64_t target, const change& given);
    link_list& insert_list(std::uint64_t e, link_list&& list);
    source_list& reserve_sources(std::uint64_t target);
    void list_notes(const destroy_set& dying, destruction& made);
    void prepare_notes(const array_list<link_note>& all);
    void note(array_list<link_note>& all) noexcept;
    [[nodiscard]] chunk_data* find_plain_chunk(slice<fragment_data* const> set, std::uint64_t word);
    bool leave_survivors(const destroy_set& dying) noexcept;
    void refuse_end(const destroy_set& dying, std::uint64_t e) const;
    [[nodiscard]] bool is_listed(std::uint64_t e, const link_end& target) const noexcept;
    void drop_sources(std::uint64_t target) noexcept;
    [[nodiscard]] std::uint64_t survivor(std::uint64_t target, const destroy_set& dying) const;

    engine& engine_;
    fragment_data& own_;
    const std::uint64_t id_;
    link_types types_;
    fragment_data* links_ = nullptr;
    sparse_array<source_list> sources_;  // by the key of the target
    row_regrouping& rows_;
    relation_levels levels_;
    link_mirror mirror_;  // if the relation is symmetric
    /// The chunk of new sources with values of these types.
    struct source_chunk {
        list_index types{};
        std::uint64_t word = 0;
        std::uint64_t epoch = 0;  // of the graph
        chunk_data* chunk = nullptr;
    };
    source_chunk recent_[16]{};

    /// The operation that is being applied; see `value_participant`.
    struct operation {
        array_list<link_step> steps;
        array_list<link_note> notes;
        std::size_t arrived = 0;  // steps that have their new target, if they have one
        std::size_t called = 0;   // steps whose hooks were called after the move
        std::size_t committed = 0;
        std::size_t left = 0;                // the first step of the entity that has last left
        bool is_left_for_good = false;       // its steps are removals
        bool is_bulk = false;                // several entities change
        array_list<std::uint64_t> reserved;  // targets with room for new sources
    } now_;
    /// Changes of a list that the entity has already; made by `combine`.
    struct list_edit {
        std::uint64_t e = 0;
        bool is_fresh = false;   // its operation has not begun
        bool is_active = false;  // its operation is being applied
        link_list added;
        array_list<std::uint64_t> removed;  // targets
    } edit_{};
    /// The effect of a destruction on the links of entities that survive.
    struct destruction {
        const destroy_set* of;
        array_list<link_step> passed_on;  // links that it moves to other targets
        array_list<link_step> shrunk;     // links that it removes from lists that stay
        array_list<relation_levels::entry> levels;
        array_list<link_note> notes;
    };
    std::vector<destruction> destructions_;  // the innermost last
};

}  // namespace MUSTER_NAMESPACE::detail
