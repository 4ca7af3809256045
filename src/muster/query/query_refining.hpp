// query_refining: the calls of a query that add terms.
#pragma once

#include <muster/query/query_state.hpp>
#include <muster/query/terms.hpp>

#include <span>

namespace MUSTER_NAMESPACE::detail {

/// A base of the class `Query`. `State` is a `query_state` with the other calls that do not depend on
/// component types.
template <class Query, class State>
class query_refining : public State {
public:
    using typename State::id_type;

    // ---- more terms: each call returns a new query ---------------------------------------------

    // A list names each fragment once: two types that are equal do not compile, and two ids, or an
    // id and a type, of the same fragment throw `errc::given_twice`. A later list may name a
    // fragment again. Beyond 16 terms, throws `errc::limit`.

    /// Only entities that have all of these. An empty list requires nothing.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] Query with() const {
        return refined(term_kind::with, State::template typed_list<Us...>());
    }
    template <fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] Query with(const Fs&... fragments) const {
        return refined(term_kind::with, State::list_of(fragments...));
    }
    /// Like `with(fragments...)`, for a list of ids.
    [[nodiscard]] Query with(std::span<const id_type> fragments) const {
        State::world_.require();
        return refined(term_kind::with, State::list_of(fragments));
    }

    /// Only entities that have none of these. An empty list excludes nothing.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] Query without() const {
        return refined(term_kind::without, State::template typed_list<Us...>());
    }
    template <fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] Query without(const Fs&... fragments) const {
        return refined(term_kind::without, State::list_of(fragments...));
    }
    [[nodiscard]] Query without(std::span<const id_type> fragments) const {
        State::world_.require();
        return refined(term_kind::without, State::list_of(fragments));
    }

    /// Only entities that have at least one of these. With an empty list, the query matches
    /// nothing.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] Query any() const {
        return refined(term_kind::any, State::template typed_list<Us...>());
    }
    template <fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] Query any(const Fs&... fragments) const {
        return refined(term_kind::any, State::list_of(fragments...));
    }
    [[nodiscard]] Query any(std::span<const id_type> fragments) const {
        State::world_.require();
        return refined(term_kind::any, State::list_of(fragments));
    }

protected:
    using State::State;
    query_refining() noexcept = default;
    explicit query_refining(const State& other) : State(other) {}

private:
    template <class List>
    [[nodiscard]] Query refined(term_kind kind, const List& names) const {
        Query made(static_cast<const Query&>(*this));
        made.add_list(kind, {names.data(), names.size()});
        return made;
    }
};

}  // namespace MUSTER_NAMESPACE::detail
