// link_state: the part of a query with conditions on links that does not depend on its component types.
#pragma once

#include <muster/query/query_state.hpp>
#include <muster/relation/link_batch.hpp>
#include <muster/relation/link_walk.hpp>

#include <string>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// A query without component types, with its conditions on links.
template <class Layout>
class link_state : public query_state<Layout> {
    using base = query_state<Layout>;
    using layout = typename query_world<Layout>::layout;

public:
    using typename base::id_type;

    /// Whether the entity matches; false for any id that is not alive.
    [[nodiscard]] bool matches(id_type e) const {
        world_.require();
        return link_walk::matches(asked(), e.value());
    }
    /// See `query_state::explain`.
    [[nodiscard]] std::string explain(id_type e) const {
        world_.require();
        const link_question question = asked();
        return base::explain_as(e, link_walk::matches(question, e.value()),
                                link_walk::explain(question, e.value()));
    }

protected:
    link_state() noexcept = default;
    explicit link_state(const base& query) noexcept : base(query) {}
    link_state(typename base::store_type& store, query_cache& cache) noexcept
        : base(store, cache) {}

    [[nodiscard]] link_question asked(bool tests_components = true) const {
        // SAFETY: a walk of a const world changes nothing; its functions take the type of others.
        return {.owner = store_,
                .cache = cache_,
                .store = const_cast<store<layout>*>(store_),
                .find = &walk<layout>::find,
                .is_shared = base::is_const || store_->gate.is_parallel(),
                .question = &terms_,
                .links = links_,
                .order = order_,
                .tests_components = tests_components};
    }
    [[nodiscard]] target_finder finder() const { return keep_for_batch(*store_, asked()); }

    /// Whether the order is by the levels of this relation.
    [[nodiscard]] bool is_level_order(type_index relation) const noexcept {
        return (order_.what == link_order::kind::top_down ||
                order_.what == link_order::kind::bottom_up) &&
               order_.relation == term_name{static_cast<std::uint64_t>(relation), true};
    }
    /// Adds a condition, which requires a link.
    void add_link(link_condition&& wanted) {
        const term_name required[] = {wanted.relation};
        base::add_list(term_kind::with, required);
        links_.add(std::move(wanted));
    }
    void set_order(link_order::kind what, const term_name& relation) {
        if (what != link_order::kind::by_target) link_walk::require_leveled(*store_, relation);
        order_ = {what, relation};
    }

    template <class>
    friend class link_terms;
    using base::cache_;
    using base::store_;
    using base::terms_;
    using base::world_;

    link_conditions links_;
    link_order order_;
};

}  // namespace MUSTER_NAMESPACE::detail
