// link_query: queries with conditions on links, with an order that depends on links, or with components of
// other entities.
//
//     w.query<const health>().to<member_of>(guild).each(...)
//     w.query<world_pos, up<const world_pos>>().top_down().each(...)
//
// `link_terms` has the calls that make such a query, `link_state` what does not depend on component types.
#pragma once

#include <muster/query/query.hpp>
#include <muster/relation/entity_range.hpp>
#include <muster/relation/far_term.hpp>
#include <muster/relation/link_argument.hpp>
#include <muster/relation/link_batch.hpp>
#include <muster/relation/link_walk.hpp>
#include <muster/relation/relation.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

namespace detail {

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

template <class Query>
struct link_query_of;
template <class Layout, class... Ts>
struct link_query_of<basic_query<Layout, Ts...>> {
    using type = basic_link_query<Layout, Ts...>;
    using state = query_state<Layout>;
    using layout = Layout;
};
template <class Layout, class... Ts>
struct link_query_of<basic_link_query<Layout, Ts...>> {
    using type = basic_link_query<Layout, Ts...>;
    using state = query_state<Layout>;
    using layout = Layout;
};

/// The calls of a query that concern links. Each returns a new query. A relation is named in three ways:
/// `to<likes>(bob)`, `to<child_of>(ship)`, `to(child_of, ship)`; a `relation<T>` in the last one. They throw
/// `errc::not_a_relation`, and `errc::limit` beyond 16 terms. In a phase, the first use of a type or
/// of `child_of` throws `errc::in_scope`.
template <class Query>
class link_terms {
public:
    // ---- conditions ----------------------------------------------------------------------------

    /// Only entities with a link, whatever its target.
    template <class R>
    [[nodiscard]] auto to() const {
        (void)relation_name<R>("to");
        return self().template with<R>();
    }
    template <auto R>
    [[nodiscard]] auto to() const {
        return to<std::remove_cvref_t<decltype(R)>>();
    }
    template <class R>
        requires relation_argument<R>
    [[nodiscard]] auto to(const R& relation) const {
        (void)relation_name("to", relation);
        return self().with(relation);
    }
    /// Only entities with a link to this target; none if the target is not alive. Takes a query, too: only
    /// entities with a link to an entity that matches it. Throws `errc::foreign_entity` if that query
    /// belongs to another world. A loop costs O(links of the target), or O(entities with the
    /// components) if they are fewer.
    template <class R, class Target>
    [[nodiscard]] auto to(const Target& target) const {
        return linked(relation_name<R>("to"), target);
    }
    template <auto R, class Target>
    [[nodiscard]] auto to(const Target& target) const {
        return linked(relation_name<std::remove_cvref_t<decltype(R)>>("to"), target);
    }
    template <class R, class Target>
        requires relation_argument<R>
    [[nodiscard]] auto to(const R& relation, const Target& target) const {
        return linked(relation_name("to", relation), target);
    }

    /// Only entities below `root`: its sources, their sources, and so on, but not `root` itself.
    /// A loop costs O(entities below), or O(entities with the components) if they are fewer.
    template <class R, class Id>
    [[nodiscard]] auto under(const Id& root) const {
        return below(relation_name<R>("under"), root);
    }
    template <auto R, class Id>
    [[nodiscard]] auto under(const Id& root) const {
        return below(relation_name<std::remove_cvref_t<decltype(R)>>("under"), root);
    }
    template <class R, class Id>
        requires relation_argument<R>
    [[nodiscard]] auto under(const R& relation, const Id& root) const {
        return below(relation_name("under", relation), root);
    }

    // ---- order ---------------------------------------------------------------------------------

    /// Visits each entity after the entities above it: level by level, the roots first. The relation is
    /// `child_of` unless another one is given; throws `errc::not_a_relation` if it is not leveled. The
    /// levels below 62 cost O(entities) to order, the others O(1) for each chunk.
    [[nodiscard]] auto top_down() const { return top_down<child_of_t>(); }
    template <class R>
    [[nodiscard]] auto top_down() const {
        return ordered(link_order::kind::top_down, relation_name<R>("top_down"));
    }
    template <auto R>
    [[nodiscard]] auto top_down() const {
        return top_down<std::remove_cvref_t<decltype(R)>>();
    }
    template <class R>
        requires relation_argument<R>
    [[nodiscard]] auto top_down(const R& relation) const {
        return ordered(link_order::kind::top_down, relation_name("top_down", relation));
    }
    /// Like `top_down`, but the deepest level first.
    [[nodiscard]] auto bottom_up() const { return bottom_up<child_of_t>(); }
    template <class R>
    [[nodiscard]] auto bottom_up() const {
        return ordered(link_order::kind::bottom_up, relation_name<R>("bottom_up"));
    }
    template <auto R>
    [[nodiscard]] auto bottom_up() const {
        return bottom_up<std::remove_cvref_t<decltype(R)>>();
    }
    template <class R>
        requires relation_argument<R>
    [[nodiscard]] auto bottom_up(const R& relation) const {
        return ordered(link_order::kind::bottom_up, relation_name("bottom_up", relation));
    }
    /// Only entities with a link. Visits those of one target, the first of each entity, after those of
    /// another: in the order of the targets' ids. O(n log n) for n entities.
    template <class R>
    [[nodiscard]] auto by_target() const {
        return grouped(relation_name<R>("by_target"));
    }
    template <auto R>
    [[nodiscard]] auto by_target() const {
        return by_target<std::remove_cvref_t<decltype(R)>>();
    }
    template <class R>
        requires relation_argument<R>
    [[nodiscard]] auto by_target(const R& relation) const {
        return grouped(relation_name("by_target", relation));
    }

    // ---- links ---------------------------------------------------------------------------------

    /// Calls `callback(from, to, value)`, or `callback(from, to)`, for each link of the entities that match:
    /// in the order of a loop over them, then in the order of their targets. Opens a scope, as a loop
    /// does. O(links).
    template <class R, class Callback>
    void each_link(Callback&& callback) const {
        each_link_of<R>(relation_name<R>("each_link"), callback);
    }
    template <auto R, class Callback>
    void each_link(Callback&& callback) const {
        each_link<std::remove_cvref_t<decltype(R)>>(callback);
    }
    template <class R, class Callback>
        requires relation_argument<R>
    void each_link(const R& relation, Callback&& callback) const {
        each_link_of<link_value_of<R>>(relation_name("each_link", relation), callback);
    }

protected:
    /// Returns the name of a relation.
    template <class R>
    [[nodiscard]] term_name relation_name(const char* call) const {
        const typename link_query_of<Query>::state& state = self();
        state.world_.require();
        if constexpr (!std::remove_cvref_t<decltype(state)>::is_const)
            (void)relation_of<R>(*state.store_, call);
        return {static_cast<std::uint64_t>(ensure_type_index<R>()), true};
    }
    template <class R>
    [[nodiscard]] term_name relation_name(const char* call, const R& relation) const {
        if constexpr (is_run_time_relation<R>) {
            const typename link_query_of<Query>::state& state = self();
            state.world_.require();
            if constexpr (!std::remove_cvref_t<decltype(state)>::is_const)
                (void)relation_of(*state.store_, relation, call);
            return {relation.id().value(), false};
        } else {
            return relation_name<R>(call);
        }
    }

private:
    [[nodiscard]] const Query& self() const noexcept { return static_cast<const Query&>(*this); }
    template <class Target>
    [[nodiscard]] auto linked(const term_name& relation, const Target& target) const {
        using made_type = typename link_query_of<Query>::type;
        made_type made(self());
        if constexpr (std::is_convertible_v<const Target&, typename made_type::id_type>) {
            made.add_link({.what = link_condition::kind::to_one,
                           .relation = relation,
                           .entity = static_cast<typename made_type::id_type>(target).value()});
        } else {
            const typename link_query_of<Target>::type joined(target);
            joined.world_.require();
            if (joined.store_ != made.store_)
                raise(errc::foreign_entity, "the joined query belongs to another world");
            made.add_link({.what = link_condition::kind::to_matching,
                           .relation = relation,
                           .joined = joined.terms_,
                           .joined_links = joined.links_});
        }
        return made;
    }
    template <class Id>
    [[nodiscard]] auto below(const term_name& relation, const Id& root) const {
        using made_type = typename link_query_of<Query>::type;
        made_type made(self());
        made.add_link({.what = link_condition::kind::below,
                       .relation = relation,
                       .entity = static_cast<typename made_type::id_type>(root).value()});
        return made;
    }
    [[nodiscard]] auto ordered(link_order::kind what, const term_name& relation) const {
        typename link_query_of<Query>::type made(self());
        made.set_order(what, relation);
        return made;
    }
    [[nodiscard]] auto grouped(const term_name& relation) const {
        auto made = ordered(link_order::kind::by_target, relation);
        const term_name required[] = {relation};
        made.add_list(term_kind::with, required);
        return made;
    }
    template <class Value, class Callback>
    void each_link_of(const term_name& relation, Callback& callback) const {
        using made_type = typename link_query_of<Query>::type;
        using layout = typename made_type::layout;
        using id_type = typename made_type::id_type;
        using value = std::conditional_t<made_type::is_const, const Value, Value>;
        constexpr bool takes_value = std::is_invocable_v<Callback&, id_type, id_type, value&>;
        constexpr bool fits = takes_value || std::is_invocable_v<Callback&, id_type, id_type>;
        static_assert(
            fits,
            "muster: the callback of each_link takes (entity from, entity to, T& value) or "
            "(entity from, entity to); in a const world const T&.");
        made_type made(self());
        const term_name required[] = {relation};
        made.add_list(term_kind::with, required);
        link_walk all(made.asked());
        typename query_world<typename link_query_of<Query>::layout>::scope changes(*made.store_);
        const link_reader links_of(*made.store_, relation);
        while (all.next())
            for (std::size_t i = 0; i < all.now().size; ++i) {
                const std::uint64_t from = all.id_at(i);
                const link_values links = links_of.read(from);
                for (end_cursor end(links.ends); !end.is_done(); end.next())
                    if constexpr (takes_value)
                        callback(to_id<layout>(from), to_id<layout>(end.get()),
                                 *value_at<Value>(links.values, end.place()));
                    else if constexpr (fits)
                        callback(to_id<layout>(from), to_id<layout>(end.get()));
            }
        changes.commit();
    }
};

}  // namespace detail

namespace detail {

/// The component type of an argument, which a query names once; of a far argument, itself.
template <class T>
struct term_key_of {
    using type = typename term_traits<T>::type;
};
template <class T>
    requires is_far<T>
struct term_key_of<T> {
    using type = T;
};
template <class T>
using term_key = typename term_key_of<T>::type;

/// Calls `callback(chunk, first, count, ids)` for each run of adjacent rows in a block of a walk.
template <class Layout, class Callback>
void each_run(const store<Layout>& from, const link_walk& walk, Callback callback) {
    const link_walk::block& block = walk.now();
    if (block.chunk != nullptr)
        return callback(block.chunk, block.first, block.size,
                        ids_of<Layout>(*block.chunk) + block.first);
    for (std::size_t i = 0; i < block.size;) {
        const auto e = to_id<Layout>(block.ids[i]);
        const auto& record = *from.find(e);
        const chunk_data& chunk = from.graph.at(record.chunk());
        const std::size_t first = record.row();
        std::size_t count = 1;
        if (to_int(chunk.index) == 0) {
            callback(nullptr, 0, 1, &e);
        } else {
            while (i + count < block.size && first + count < chunk.size &&
                   chunk.id_at(first + count) == block.ids[i + count])
                ++count;
            callback(&chunk, first, count, ids_of<Layout>(chunk) + first);
        }
        i += count;
    }
}

/// The iterator of a range-based loop over a query with conditions on links. A scope is open until it is
/// destroyed, unless the world is const.
template <class Layout, class... Ts>
class link_iterator {
    using world_type = query_world<Layout>;
    using layout = typename world_type::layout;
    using id_type = basic_id<layout>;
    using store_type = typename world_type::store_type;

public:
    using value_type = std::tuple<id_type, typename term_traits<Ts>::value...>;
    using difference_type = std::ptrdiff_t;

    link_iterator(store_type& from, link_walk&& walk)
        : store_(from, from.life.ref()),
          walk_(std::move(walk)),
          changes_(from),
          columns_(link_column<layout, Ts>(from)...) {
        find();
    }
    link_iterator(link_iterator&&) noexcept = default;
    /// Applies the changes of the loop, or drops them if an exception leaves the loop.
    ~link_iterator() noexcept(false) {
        if (changes_.is_open() && std::uncaught_exceptions() == exceptions_) changes_.commit();
    }

    value_type operator*() const {
        return std::apply(
            [&](const auto&... column) { return value_type(entity(), column.get()...); }, columns_);
    }
    link_iterator& operator++() {
        ++at_;
        find();
        return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const link_iterator& it, query_sentinel) noexcept { return it.is_done_; }

private:
    [[nodiscard]] id_type entity() const noexcept { return to_id<layout>(walk_.id_at(at_)); }
    /// Finds the next entity, from `at_` on.
    void find() {
        is_done_ = store_.find() == nullptr;  // the world has ended: so does the loop
        while (!is_done_) {
            for (; at_ < walk_.now().size; ++at_)
                if (std::apply(
                        [&](auto&... column) { return (... && column.shows_entity(entity())); },
                        columns_))
                    return;
            at_ = 0;
            is_done_ = !walk_.next();
        }
    }

    lifetime_ptr<const store_type> store_;
    link_walk walk_;
    typename world_type::scope changes_;
    int exceptions_ = std::uncaught_exceptions();
    std::size_t at_ = 0;
    bool is_done_ = false;
    std::tuple<link_column<layout, Ts>...> columns_;
};

}  // namespace detail

/// A query with conditions on links, as a value; see `basic_query` for everything that is not mentioned
/// here. `to`, `under`, the orders and arguments such as `up<const T>` make one.
///
/// Loops visit entities by chunk, then by row, as those of other queries. If the components have at least as
/// many entities as a condition has sources, they visit its sources instead: those of the target in the order in
/// which they were related to it; those of a join target by target, in the order of the joined query;
/// those below a root each before those below it. Targets and joined queries are evaluated when a loop
/// begins. So `each` costs O(entities of the smaller side), as do `count`, `first` and `empty`.
template <class Layout, class... Ts>
class basic_link_query : public detail::query_batch<Layout, detail::link_state<Layout>>,
                         public detail::link_terms<basic_link_query<Layout, Ts...>> {
    using base = detail::query_batch<Layout, detail::link_state<Layout>>;
    using state = detail::link_state<Layout>;
    using world_type = detail::query_world<Layout>;
    using layout = typename world_type::layout;
    using store_type = typename world_type::store_type;
    using loop = detail::query_loop<layout, Ts...>;

public:
    using id_type = basic_id<layout>;

    /// Creates the null query. Assign a query of a world to it.
    basic_link_query() noexcept = default;

    // ---- more terms ----------------------------------------------------------------------------

    /// Like the calls of `basic_query`.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] basic_link_query with() const {
        return refined(detail::term_kind::with, state::template typed_list<Us...>());
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] basic_link_query with(const Fs&... fragments) const {
        return refined(detail::term_kind::with, state::list_of(fragments...));
    }
    [[nodiscard]] basic_link_query with(std::span<const id_type> fragments) const {
        world_.require();
        return refined(detail::term_kind::with, state::list_of(fragments));
    }
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] basic_link_query without() const {
        return refined(detail::term_kind::without, state::template typed_list<Us...>());
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] basic_link_query without(const Fs&... fragments) const {
        return refined(detail::term_kind::without, state::list_of(fragments...));
    }
    [[nodiscard]] basic_link_query without(std::span<const id_type> fragments) const {
        world_.require();
        return refined(detail::term_kind::without, state::list_of(fragments));
    }
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] basic_link_query any() const {
        return refined(detail::term_kind::any, state::template typed_list<Us...>());
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] basic_link_query any(const Fs&... fragments) const {
        return refined(detail::term_kind::any, state::list_of(fragments...));
    }
    [[nodiscard]] basic_link_query any(std::span<const id_type> fragments) const {
        world_.require();
        return refined(detail::term_kind::any, state::list_of(fragments));
    }

    // ---- loops ---------------------------------------------------------------------------------

    /// Calls `callback(components...)` or `callback(entity, components...)` for each entity.
    template <class Callback>
    void each(Callback&& callback) const {
        if constexpr (!loop::template takes_row<Callback>) loop::template refuse<Callback>();
        detail::link_walk all = start();
        typename world_type::open_scope changes(*store_);
        [[maybe_unused]] typename world_type::closing guard{changes};
        detail::link_loop<layout, Ts...>::run(*store_, all, callback);
        guard.is_done = true;
        changes.commit();
    }

    /// Calls `callback(chunk_view)` for each run of matching entities in adjacent rows of a chunk. An entity
    /// that has only sparse fragments is a run of its own.
    template <class Callback>
    void each_chunk(Callback&& callback) const {
        constexpr bool fits = std::is_invocable_v<Callback&, basic_rows<Layout>>;
        static_assert(fits,
                      "muster: the callback of each_chunk takes a chunk_view or, if the world is "
                      "const, a const_chunk_view.");
        world_.require();
        detail::link_walk all(state::asked());
        typename world_type::scope changes(*store_);
        while (all.next())
            detail::each_run(
                *store_, all,
                [&](const detail::chunk_data* owner, std::size_t first, std::size_t count,
                    const id_type* ids) {
                    if constexpr (fits)
                        callback(basic_rows<Layout>(*store_, owner, first, count, ids));
                });
        changes.commit();
    }

    /// Like `each`, on several threads; see `basic_query::par_each`. With `top_down` or `bottom_up`, a level
    /// begins when the one before it is done, so the result does not depend on the number of threads.
    /// Threads divide the rows of each level, up to level 62. One thread visits everything else.
    template <class Callback>
    void par_each(Callback&& callback) const {
        if constexpr (may_divide<Callback>())
            divide(detail::parallel_header<Callback>::default_executor(), 0, callback);
    }
    template <class Callback>
    void par_each(executor& threads, std::size_t grain, Callback&& callback) const {
        if constexpr (may_divide<Callback>()) divide(threads, grain, callback);
    }

    using iterator = detail::link_iterator<Layout, Ts...>;
    using sentinel = detail::query_sentinel;
    /// `for (auto [e, p, v] : q)`; each element is a tuple of the entity and its components.
    [[nodiscard]] iterator begin() const { return iterator(*store_, start()); }
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    // ---- results -------------------------------------------------------------------------------

    /// O(entities of the smaller side).
    [[nodiscard]] std::size_t count() const {
        world_.require();
        std::size_t sum = 0;
        for (detail::link_walk all(state::asked()); all.next();) sum += all.now().size;
        return sum;
    }
    [[nodiscard]] bool empty() const { return !first(); }
    /// Returns the first entity of a loop, or the null id.
    [[nodiscard]] id_type first() const {
        world_.require();
        detail::link_walk all(state::asked());
        return all.next() ? detail::to_id<layout>(all.id_at(0)) : id_type();
    }

private:
    template <class>
    friend class basic_world;
    template <class>
    friend class basic_system;
    template <class>
    friend class detail::link_terms;
    template <class, class...>
    friend class basic_query;

    template <class, class, class, class>
    friend struct detail::system_body;

    static constexpr std::size_t arguments = sizeof...(Ts);

    using state::store_;
    using state::world_;

    explicit basic_link_query(const detail::query_state<Layout>& query) : base(query) {}
    basic_link_query(store_type& store, detail::query_cache& cache) : base(store, cache) {
        static_assert(
            detail::all_differ<detail::term_key<Ts>...>,
            "muster: a query names each component type only once, whether const, optional "
            "or not.");
        static_assert(
            !world_type::is_const || (... && !detail::term_traits<Ts>::is_written),
            "muster: this world is const, so its queries only read: take const components, "
            "such as query<const position>() or up<const position>.");
        (add_argument<Ts>(), ...);
    }

    template <class T>
    void add_argument() {
        using argument = detail::term_traits<T>;
        using kind = detail::link_condition::kind;
        if constexpr (detail::is_far<T>) {
            using far = detail::far_traits<T>;
            const detail::term_name by =
                this->template relation_name<typename far::relation>("query");
            const detail::term_name component =
                state::template ensure_typed<typename argument::type>();
            if constexpr (!argument::is_optional)
                state::add_link({.what = far::is_above ? kind::above : kind::of_target,
                                 .relation = by,
                                 .component = component,
                                 .is_read = !argument::is_written});
        } else {
            state::template add_shown<typename argument::type>(
                argument::is_optional ? detail::term_kind::optional : detail::term_kind::with,
                argument::is_written);
        }
    }

    template <class List>
    [[nodiscard]] basic_link_query refined(detail::term_kind kind, const List& names) const {
        basic_link_query made(*this);
        made.add_list(kind, {names.data(), names.size()});
        return made;
    }
    template <class Callback>
    static consteval bool may_divide() {
        constexpr bool is_mutable = !world_type::is_const || sizeof(Callback) == 0;
        static_assert(is_mutable,
                      "muster: par_each records changes, so it needs a world that is not const.");
        if constexpr (is_mutable)
            return detail::has_parallel_header<Callback>();
        else
            return false;
    }
    /// Runs a phase for each level, and one for all entities that are not in rows of a level.
    template <class Callback>
    void divide(executor& threads, std::size_t grain, Callback& callback) const {
        if constexpr (!loop::template takes_row<Callback>) loop::template refuse<Callback>();
        detail::link_walk all = start();
        if (store_->gate.is_parallel()) return show(all, callback);  // divides rows only once
        typename world_type::scope changes(*store_);
        while (all.next_part()) {
            auto show_part = [&] {
                if (all.part().list == nullptr) return show(all, callback);
                detail::part_walk mine(all.part(), store_);
                show(mine, callback);
            };
            detail::parallel_header<Callback>::run(*store_, *state::cache_, threads, grain,
                                                   all.part(), show_part);
        }
        changes.commit();
    }
    template <class Walk, class Callback>
    void show(Walk& walk, Callback& callback) const {
        detail::link_loop<layout, Ts...>::run(*store_, walk, callback);
    }
    /// The rows that the phase of a system divides: none.
    [[nodiscard]] static detail::shared_rows shared_rows() noexcept { return {}; }
    /// Starts a loop that may write the components.
    [[nodiscard]] detail::link_walk start() const {
        world_.require();
        (store_->template check_access<typename detail::term_traits<Ts>::type>(
             detail::term_traits<Ts>::is_written),
         ...);
        if constexpr (!world_type::is_const)
            if (store_->gate.is_tracking()) (mark_written<Ts>(), ...);
        return detail::link_walk(state::asked(false));
    }
    /// Marks all values of a component that a loop may write; see `write_tracker`.
    template <class T>
    void mark_written() const noexcept {
        if constexpr (detail::term_traits<T>::is_written) {
            const detail::fragment_data& fragment =
                store_->template find_fragment<typename detail::term_traits<T>::type>();
            if (fragment.sparse_values != nullptr) store_->writes.mark(fragment, {});
            for (const detail::chunk_index owner : fragment.chunks)
                store_->writes.mark(fragment, owner);
        }
    }
};

/// A query with arguments that are components of other entities.
template <class Layout, class... Ts>
    requires(... || detail::is_far<Ts>)
class basic_query<Layout, Ts...> : public basic_link_query<Layout, Ts...> {
    using base = basic_link_query<Layout, Ts...>;

public:
    basic_query() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): the calls of a query return its base
    basic_query(const base& query) : base(query) {}

private:
    template <class>
    friend class basic_world;
    template <class>
    friend class basic_system;
    template <class, class, class, class>
    friend struct detail::system_body;
    using base::base;
};

template <class... Ts>
using link_query = basic_link_query<layouts::bound, Ts...>;

}  // namespace MUSTER_NAMESPACE
