// relations: the relations of a world, an extension of it. Finds them, applies their calls, and takes
// part when their ends are destroyed. Start reading at `relate`.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/entity/destroy_participant.hpp>
#include <muster/relation/link_sorter.hpp>
#include <muster/relation/relation_data.hpp>
#include <muster/relation/row_regrouping.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API relations final : public destroy_participant {
public:
    /// The kind of the keys of links; see `fragment_key`.
    static constexpr std::uint32_t key_kind = 0x7265'6c31;

    explicit relations(engine& owner);
    ~relations();

    /// Returns the relations of a world. The first call creates them.
    [[nodiscard]] static relations& ensure(engine& of);
    /// Returns the relations of a world, or null.
    [[nodiscard]] static relations* find(const engine& of) noexcept;

    /// Makes a fragment a relation with links of these types, or returns the relation that it is.
    /// Throws `errc::fragment_in_use` if an entity has it as a component.
    relation_data& define(fragment_data& own, const link_types& types, relation_kind kind);
    /// Returns the relation of a fragment, or null.
    [[nodiscard]] relation_data* find(const fragment_data& own) const noexcept {
        const std::size_t at = to_int(own.index);
        return at < by_fragment_.size() ? by_fragment_[at] : nullptr;
    }
    /// Throws `errc::not_a_relation`.
    [[noreturn]] MUSTER_COLD static void raise_no_relation(const fragment_data& own,
                                                           std::string_view name, const char* call);
    /// Change what a relation means. Throw `errc::fragment_in_use` if an entity has a link.
    void set_exclusive(relation_data& relation);
    void set_acyclic(relation_data& relation);
    void set_leveled(relation_data& relation);
    void set_grouping(relation_data& relation);
    void set_symmetric(relation_data& relation);

    /// Adds a link, or assigns its value; `link` describes a change of the relation's links. Returns
    /// whether it is new.
    bool relate(relation_data& relation, target source, target to, const change& link);
    /// Removes a link. `link` describes the removal. Returns whether it was there.
    bool unrelate(relation_data& relation, target source, std::uint64_t to, const change& link);
    /// Removes all links of a source. Returns how many there were.
    std::size_t unrelate_all(relation_data& relation, target source);

    [[nodiscard]] link_sorter sorter_of(relation_data& relation) const noexcept {
        return {engine_, relation};
    }

    void collect(destroy_set& dying, std::size_t first) override;
    void check(const destroy_set& dying) const override;
    void arrange(destroy_set& dying) override;
    void release(const destroy_set& dying, array_list<fragment_loss>& losses) override;
    void prepare(const destroy_set& dying) override;
    void cancel(const destroy_set& dying) noexcept override;
    void finish(const destroy_set& dying) noexcept override;
    void abandon(std::uint64_t e) noexcept override;
    void refuse_to_leave(std::uint64_t e) const override;
    void reset() noexcept override;

private:
    [[nodiscard]] location require_ends(target source, target to, const char* call) const;
    static void refuse_symmetric(const relation_data& relation, errc code, const char* other);
    void keep_partners(relation_data& relation) const noexcept;
    void add_words(relation_data& relation, bool has_others);
    relation_data& add(fragment_data& own, const link_types& types, bool is_exclusive);
    bool apply(relation_data& relation, target source, const change& link, const char* call);
    void drop(std::uint64_t own) noexcept;

    engine& engine_;
    row_regrouping rows_;
    array_list<relation_data*> all_;          // owned, in the order of definition
    array_list<relation_data*> by_fragment_;  // by number; null: no relation
    array_list<std::uint64_t> orphans_;       // links of relations that a reset has ended
};

}  // namespace MUSTER_NAMESPACE::detail
