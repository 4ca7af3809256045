// query: the entities that have certain components, and loops over them.
//
//     w.query<position, const velocity>().without<frozen>().each([](position& p, const velocity& v) {
//         p.x += v.x;
//     });
#pragma once

#include <muster/query/query_cache.hpp>
#include <muster/query/walk.hpp>
#include <muster/store/store.hpp>

#include <bit>
#include <cstddef>
#include <exception>
#include <source_location>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace muster {

class executor;
template <class Layout>
class basic_rows;

namespace detail {

template <class, class, class, class>
struct system_body;

/// What `T`, `const T`, `T*` and `const T*` say in a query: the component, whether it may be missing,
/// and what a callback gets.
template <class T>
struct query_argument {
    static_assert(!std::is_reference_v<T>, "muster: a query names types: query<position>().");
    using type = std::remove_const_t<T>;
    using value = T&;
    static constexpr bool is_optional = false;
};
template <class T>
struct query_argument<T*> {
    using type = std::remove_const_t<T>;
    using value = T*;
    static constexpr bool is_optional = true;
};

/// The components of one kind in one chunk, or in rows of a walk.
template <class T>
struct query_column {
    using argument = query_argument<T>;
    using type = typename argument::type;
    type* values;

    explicit query_column(std::byte* base) noexcept
        : values(base == nullptr ? nullptr : value_at<type>(base, 0)) {}
    [[nodiscard]] typename argument::value at(std::size_t row) const noexcept {
        if constexpr (argument::is_optional) {
            if (values == nullptr) return nullptr;
            return is_tag<type> ? values : values + row;
        } else {
            return *(is_tag<type> ? values : values + row);
        }
    }
};

/// The same in the lanes of a block.
template <class T>
struct lane_column {
    using argument = query_argument<T>;
    using type = typename argument::type;
    lane_source source;
    const lane_place* places;

    [[nodiscard]] typename argument::value at(std::size_t lane) const noexcept {
        if (source.found != nullptr) return query_column<T>(source.found[lane]).at(0);
        if (source.inside == nullptr) return query_column<T>(source.base).at(lane);
        // Bases are read anew for each lane: who makes chunks in a loop moves them.
        const chunk_index chunk{places[lane].chunk};
        std::byte* const base = argument::is_optional ? source.inside->base(chunk)
                                                      : source.inside->bases[to_int(chunk)];
        return query_column<T>(base).at(places[lane].row);
    }
};

}  // namespace detail

/// A question to a world, as a value: copy it, keep it, ask again. Its world keeps the chunks that match
/// and looks only at new ones; equal questions share that list, which is made at the first use. A query
/// must not outlive its world.
///
/// Entities come by chunk, in the order the chunks were made, then by row; those with a hidden fragment
/// are left out unless it is named. Entities without components no query sees. Where a sparse fragment is
/// asked for that fewer entities have than the chunks that match, they come in its order; the entities
/// that have only sparse fragments come last.
///
/// A loop opens a scope: changes of the world in it are recorded and applied at its end, so that every
/// entity that matched at its beginning is seen exactly once. If an exception leaves the loop, they are
/// dropped. Any call must run alone, as a change of the world.
template <class Layout, class... Ts>
class basic_query {
    using store_type = detail::store<Layout>;
    static constexpr auto indices = std::index_sequence_for<Ts...>{};
    template <class T>
    using argument = detail::query_argument<T>;
    static_assert((... && detail::is_component<typename argument<Ts>::type>));

public:
    using id_type = basic_id<Layout>;

    // ---- more terms: each gives a new query ----------------------------------------------------

    /// Only entities that have all of these; `errc::limit` beyond 16 terms.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] basic_query with() const {
        return refined(detail::term_kind::with, 0, typed<Us>()...);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] basic_query with(const Fs&... fragments) const {
        return refined(detail::term_kind::with, 0, named(fragments)...);
    }
    /// A list of ids.
    [[nodiscard]] basic_query with(std::span<const id_type> fragments) const {
        basic_query made(*this);
        for (const id_type one : fragments) made.add(detail::term_kind::with, 0, named(one));
        return made;
    }

    /// Only entities that have none of these.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] basic_query without() const {
        return refined(detail::term_kind::without, 0, typed<Us>()...);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] basic_query without(const Fs&... fragments) const {
        return refined(detail::term_kind::without, 0, named(fragments)...);
    }
    [[nodiscard]] basic_query without(std::span<const id_type> fragments) const {
        basic_query made(*this);
        for (const id_type one : fragments) made.add(detail::term_kind::without, 0, named(one));
        return made;
    }

    /// Only entities that have at least one of these.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    [[nodiscard]] basic_query any() const {
        basic_query made(*this);
        return made.refined(detail::term_kind::any, made.terms_.new_group(), typed<Us>()...);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    [[nodiscard]] basic_query any(const Fs&... fragments) const {
        basic_query made(*this);
        return made.refined(detail::term_kind::any, made.terms_.new_group(), named(fragments)...);
    }
    [[nodiscard]] basic_query any(std::span<const id_type> fragments) const {
        basic_query made(*this);
        const std::uint8_t group = made.terms_.new_group();
        for (const id_type one : fragments) made.add(detail::term_kind::any, group, named(one));
        return made;
    }

    // ---- loops ---------------------------------------------------------------------------------

    /// Calls `look(components...)` or `look(entity, components...)` for each. O(matching entities).
    // Inlined and without a lambda of its own, so that what `look` captures by reference can stay in
    // registers while the loop runs.
    template <class Look>
    [[gnu::always_inline]] void each(Look&& look) const {
        const detail::chunk_range all = chunks();
        here_type here = all.is_plain ? here_type() : start<here_type>();
        detail::walk<Layout>* const walk = here.get();
        typename store_type::open_scope changes(*store_);
        typename store_type::closing guard{changes};
        // None of them comes or goes while the scope is open.
        const detail::fragment_data* const fragments[] = {
            &store_->template find_fragment<typename argument<Ts>::type>()..., nullptr};
        for (detail::chunk_data* const* at = all.begin();;) {
            if (walk == nullptr) {
                if (at == all.end()) break;
            } else if (!walk->next()) {
                break;
            } else if (!walk->is_run()) {
                each_lane(*walk, look, indices);
                continue;
            }
            each_row(walk, all, fragments, at, look, indices);
        }
        guard.is_done = true;
        changes.commit();
    }

    /// Calls `look(chunk_view)` for each chunk that has entities; where sparse fragments are asked for, for
    /// each run of entities whose components stand next to each other.
    template <class Look>
    void each_chunk(Look&& look) const {
        const detail::chunk_range all = chunks();
        here_type here = all.is_plain ? here_type() : start_rows();
        detail::walk<Layout>* const walk = here.get();
        typename store_type::scope changes(*store_);
        if (walk != nullptr)
            for (typename detail::walk<Layout>::rows one; walk->next(one);)
                look(basic_rows<Layout>(*store_, one.chunk, one.first, one.count, one.ids));
        else
            for (detail::chunk_data* const* at = all.begin(); at != all.end();) {
                const std::size_t first = all.first_row(at);
                const detail::chunk_data* const chunk = *at++;
                const std::size_t end = all.end_row(at, chunk->size);
                if (first < end)
                    look(basic_rows<Layout>(*store_, chunk, first, end - first,
                                            ids(*chunk) + first));
            }
        changes.commit();
    }

    /// `each` on the threads of an executor, by default those of oneTBB; defined in
    /// <muster/system/parallel.hpp>. A thread takes `grain` rows at once; 0: as many as seem right, and if
    /// all is done in a few microseconds, the others are not woken. `look` is called by several threads at a time: what it
    /// captures must bear that. It may write through the references that it is given, read all that nobody
    /// writes, and call `spawn`, `destroy`, `set`, `add`, `emplace`, `remove` and `clear` on the world: these
    /// are recorded, and carried out in the end in the order that `each` would have had. Ids that `spawn`
    /// gives are alive at once, for all threads; their numbers may depend on timing. All other changes are
    /// `errc::in_scope`.
    ///
    /// If `look` throws, all threads stop, nothing that was recorded happens, ids that were made are dead,
    /// and the exception that came first in the order of the rows, of those that were seen, is thrown
    /// again. What was written through references stays. Must run alone, as `each`.
    template <class Look>
    void par_each(Look&& look) const;
    template <class Look>
    void par_each(executor& threads, std::size_t grain, Look&& look) const;

    class iterator;
    /// `for (auto [e, p, v] : q)`; each element is a tuple of the entity and its components.
    [[nodiscard]] iterator begin() const { return iterator(*this, chunks()); }
    struct sentinel {};
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    // ---- batches -------------------------------------------------------------------------------
    // All entities that match, chunk by chunk: what stays moves as whole columns. In a scope, a batch
    // waits as a whole, for those that match when its turn comes. Gives how many it concerns as the
    // world is. Each chunk is all or nothing: one that fails, or whose hooks throw, stays as it was; the
    // others go on, and the first exception is thrown again in the end. What `patch` and `clone` see in
    // a scope is without the batches that wait. O(matching entities).

    /// Gives each copies of these values, or assigns them; also by `with(fragment, value)`.
    template <class... Us>
        requires(sizeof...(Us) > 0 && !(... || detail::fragment_argument<Us>))
    std::size_t set(const Us&... values) const {
        static_assert((... && is_copyable<Us>::value),
                      "muster: each entity gets a copy: this component cannot be copied.");
        static_assert(detail::all_differ<Us...> || (... || detail::is_with<Us>),
                      "muster: each component type can be given once.");
        const detail::change_shape changes[] = {
            {&store_->fragment_of(__builtin_addressof(values)), detail::change_kind::put}...};
        const void* const given[] = {store_type::address_of(__builtin_addressof(values))...};
        return store_->change_all(finder(), changes, given, "set");
    }
    template <detail::fragment_argument F, class U>
    std::size_t set(const F& fragment, U&& value) const {
        return set(muster::with(fragment, std::forward<U>(value)));
    }
    /// Gives each a tag, or the default value of a fragment that has values: `errc::no_default`.
    template <detail::fragment_argument F>
    std::size_t set(const F& fragment) const {
        const id_type all[] = {id_type(fragment)};
        return store_->start_all(finder(), detail::change_kind::put, all, "set");
    }
    /// Gives those who have not got them default values of these.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    std::size_t add() const {
        const id_type all[] = {store_->id_of(store_->template ensure_fragment<Us>())...};
        return store_->start_all(finder(), detail::change_kind::keep, all, "add");
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    std::size_t add(const Fs&... fragments) const {
        const id_type all[] = {id_of(fragments)...};
        return store_->start_all(finder(), detail::change_kind::keep, all, "add");
    }
    /// Takes these from those who have them.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    std::size_t remove() const {
        const id_type all[] = {store_->id_of(store_->template ensure_fragment<Us>())...};
        return store_->remove_all(finder(), all);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    std::size_t remove(const Fs&... fragments) const {
        const id_type all[] = {id_of(fragments)...};
        return store_->remove_all(finder(), all);
    }
    std::size_t remove(std::span<const id_type> fragments) const {
        return store_->remove_all(finder(), fragments);
    }
    /// Takes all components from each; they stay alive.
    std::size_t clear() const {
        const detail::change_shape all[] = {{nullptr, detail::change_kind::clear}};
        return store_->change_all(finder(), all, {}, "clear");
    }
    /// Destroys each. The ids of the world's own, the fragments of C++ types, stay. A fragment of the
    /// user's goes by itself, after the others.
    std::size_t destroy(std::source_location where = std::source_location::current()) const {
        const detail::change_shape all[] = {{nullptr, detail::change_kind::destroy}};
        return store_->change_all(finder(), all, {}, "destroy", where);
    }

    // ---- answers -------------------------------------------------------------------------------

    /// O(matching chunks); O(the smaller side) where sparse fragments are asked for.
    [[nodiscard]] std::size_t count() const {
        std::size_t sum = 0;
        const detail::chunk_range all = chunks();
        if (!all.is_plain)
            for (here_type walk = start_for<here_type>({}); walk->next();) sum += walk->size();
        else
            for (const detail::chunk_data* chunk : all) sum += chunk->size;
        return sum;
    }
    [[nodiscard]] bool empty() const { return !first(); }
    /// The first entity, or the null id.
    [[nodiscard]] id_type first() const {
        const detail::chunk_range all = chunks();
        if (!all.is_plain) {
            here_type walk = start_for<here_type>({});
            return walk->next() ? walk->ids()[std::countr_zero(walk->left())] : id_type{};
        }
        for (const detail::chunk_data* chunk : all)
            if (chunk->size != 0) return ids(*chunk)[0];
        return {};
    }
    /// False for any id that is not alive.
    [[nodiscard]] bool matches(id_type e) const noexcept {
        const auto* const found = store_->find(e);
        return found != nullptr &&
               cache_->matches(terms_, store_->graph().at(found->chunk()), e.value());
    }
    /// A sentence: whether the entity matches, and why, term by term. For any id.
    [[nodiscard]] std::string explain(id_type e) const {
        const auto* const found = store_->find(e);
        if (found == nullptr)
            return detail::text(store_->describe(e), " does not match: it is not alive");
        const detail::chunk_data& chunk = store_->graph().at(found->chunk());
        const std::string why = cache_->explain(terms_, chunk, e.value());
        if (!store_->has_any(e))
            return detail::text(store_->describe(e),
                                " does not match: it has no components, and queries see only "
                                "entities that have some");
        return detail::text(store_->describe(e), matches(e) ? " matches" : " does not match",
                            why.empty() ? "" : ": ", why);
    }

private:
    template <class>
    friend class basic_world;
    template <class, class...>
    friend class basic_query;
    template <class, class...>
    friend class basic_observer;
    template <class>
    friend class basic_system;
    template <class, class, class, class>
    friend struct detail::system_body;

    static constexpr std::size_t arguments = sizeof...(Ts);

    basic_query(store_type& store, detail::query_cache& cache) : store_(&store), cache_(&cache) {
        (add(argument<Ts>::is_optional ? detail::term_kind::optional : detail::term_kind::with, 0,
             typed<typename argument<Ts>::type>()),
         ...);
    }

    struct name {
        std::uint64_t what;
        bool is_typed;
    };
    template <class T>
    [[nodiscard]] name typed() const {
        static_assert(detail::is_component<T>);
        // The fragment is made now: its number does not depend on which entity comes first.
        (void)store_->template ensure_fragment<T>();
        return {static_cast<std::uint64_t>(detail::ensure_type_index<T>()), true};
    }
    template <class F>
    [[nodiscard]] name named(const F& fragment) const {
        if constexpr (detail::fragment_argument<F>)
            return {id_type(fragment).value(), false};
        else
            return typed<F>();
    }
    void add(detail::term_kind kind, std::uint8_t group, name one) {
        terms_.add({one.what, kind, one.is_typed, group});
        list_ = nullptr;
    }
    void add(const detail::terms& others) {
        terms_.add(others);
        list_ = nullptr;
    }
    template <class... Names>
    [[nodiscard]] basic_query refined(detail::term_kind kind, std::uint8_t group,
                                      Names... names) const {
        basic_query made(*this);
        (made.add(kind, group, names), ...);
        return made;
    }

    [[nodiscard]] bool has_no_terms() const noexcept { return terms_.size() == 0; }
    [[nodiscard]] detail::match_list& list() const {
        if (list_ == nullptr) list_ = &cache_->ensure(terms_);
        return *list_;
    }
    /// Every loop opens a scope, after this: if none is open, no loop goes over a list.
    [[nodiscard]] detail::chunk_range chunks() const {
        if (store_->is_shared()) [[unlikely]]
            return shared_chunks();
        return cache_->read(list(), store_->depth() != 0);
    }
    /// In a parallel phase: what this thread is to see of it, if it was asked to; nothing is written.
    [[nodiscard, gnu::noinline]] detail::chunk_range shared_chunks() const {
        detail::match_list& mine = shared_list();
        if (detail::lane* const at = detail::find_lane(store_);
            at != nullptr && at->window.list == &mine) {
            const detail::row_window part = at->window;
            at->window = {};
            return {part.first, part.last, true, part.from, part.to};
        }
        (store_->template watch<typename argument<Ts>::type>(
             !std::is_const_v<std::remove_pointer_t<Ts>>),
         ...);
        return cache_->read(mine, true);
    }
    /// What is to be divided: nothing where sparse fragments are asked for.
    [[nodiscard]] detail::shared_rows shared_rows() const {
        const detail::chunk_range all = chunks();
        return {all.is_plain ? &list() : nullptr, all};
    }
    [[nodiscard]] detail::match_list& shared_list() const {
        return list_ != nullptr ? *list_ : cache_->ensure_shared(terms_);
    }
    using here_type = detail::walk_here<Layout>;

    /// For a list that is not plain, and was just read.
    template <class Walk>
    [[nodiscard]] Walk start_for(std::span<const detail::fragment_data* const> wanted) const {
        return Walk(*store_, *cache_, store_->is_shared() ? shared_list() : *list_, wanted);
    }
    template <class Walk>
    [[nodiscard]] Walk start() const {
        const detail::fragment_data* const wanted[] = {
            &store_->template find_fragment<typename argument<Ts>::type>()..., nullptr};
        return start_for<Walk>({wanted, sizeof...(Ts)});
    }
    /// All that is named is to be shown.
    [[nodiscard]] here_type start_rows() const {
        const detail::fragment_data* wanted[detail::terms::limit];
        std::size_t count = 0;
        for (const detail::term& one : terms_)
            if (one.kind != detail::term_kind::without) wanted[count++] = &cache_->fragment_of(one);
        return start_for<here_type>({wanted, count});
    }
    [[nodiscard]] detail::target_finder finder() const {
        return {&detail::walk<Layout>::find, store_, cache_,
                store_->is_shared() ? &shared_list() : &list()};
    }
    template <class F>
    [[nodiscard]] id_type id_of(const F& fragment) const {
        if constexpr (detail::fragment_argument<F>)
            return id_type(fragment);
        else
            return store_->id_of(store_->template ensure_fragment<F>());
    }
    [[nodiscard]] static const id_type* ids(const detail::chunk_data& chunk) noexcept {
        // SAFETY: the column of ids.
        return reinterpret_cast<const id_type*>(chunk.ids.data);
    }
    template <class T>
    [[nodiscard]] static detail::query_column<T> column(const store_type& store,
                                                        const detail::chunk_data& chunk) noexcept {
        return detail::query_column<T>(
            store.template find_fragment<typename argument<T>::type>().base(chunk.index));
    }

    template <class Look, class Columns, std::size_t... I>
    [[gnu::always_inline]] static void show(Look& look, [[maybe_unused]] const id_type* entities,
                                            const Columns& columns, std::size_t row,
                                            std::index_sequence<I...>) {
        if constexpr (std::is_invocable_v<Look&, id_type, typename argument<Ts>::value...>) {
            look(entities[row], std::get<I>(columns).at(row)...);
        } else {
            static_assert(std::is_invocable_v<Look&, typename argument<Ts>::value...>,
                          "muster: the callback takes the components of the query in its order, "
                          "with or without the entity before them.");
            look(std::get<I>(columns).at(row)...);
        }
    }
    /// Those of a block that match.
    template <class Look, std::size_t... I>
    [[gnu::always_inline]] static void each_lane(const detail::walk<Layout>& walk, Look& look,
                                                 std::index_sequence<I...>) {
        const std::tuple columns{detail::lane_column<Ts>{walk.source(I), walk.places()}...};
        const id_type* const entities = walk.ids();
        for (std::uint64_t left = walk.left(); left != 0; left &= left - 1)
            show(look, entities, columns, static_cast<std::size_t>(std::countr_zero(left)),
                 indices);
    }
    /// The rows of the chunk at `at`, which goes on to the next, or the run of the walk.
    template <class Look, std::size_t... I>
    [[gnu::always_inline]] void each_row(const detail::walk<Layout>* walk,
                                         const detail::chunk_range& all,
                                         const detail::fragment_data* const* fragments,
                                         detail::chunk_data* const*& at, Look& look,
                                         std::index_sequence<I...>) const {
        const bool is_chunk = walk == nullptr;
        const std::size_t first = all.first_row(at);
        const detail::chunk_data* const chunk = is_chunk ? *at++ : nullptr;
        const std::tuple columns{is_chunk
                                     ? detail::query_column<Ts>(fragments[I]->base(chunk->index))
                                     : detail::query_column<Ts>(walk->source(I).base)...};
        const std::size_t size = is_chunk ? all.end_row(at, chunk->size) : walk->size();
        const id_type* const entities = is_chunk ? ids(*chunk) : walk->ids();
        for (std::size_t row = first; row < size; ++row)
            show(look, entities, columns, row, indices);
    }

    store_type* store_;
    detail::query_cache* cache_;
    detail::terms terms_;
    mutable detail::match_list* list_ = nullptr;  // null: not asked for yet
};

template <class Layout, class... Ts>
class basic_query<Layout, Ts...>::iterator {
public:
    using value_type = std::tuple<id_type, typename detail::query_argument<Ts>::value...>;
    using difference_type = std::ptrdiff_t;

    value_type operator*() const {
        return std::apply(
            [&](const auto&... column) { return value_type(ids_[row_], column.at(row_)...); },
            columns_);
    }
    iterator& operator++() {
        if (++row_ == size_) find_rows();
        return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& one, sentinel) noexcept { return one.size_ == 0; }

    iterator(iterator&&) noexcept = default;
    /// Applies what was changed in the loop, or drops it when an exception leaves the loop. May throw as
    /// `commit` does.
    ~iterator() noexcept(false) {
        if (changes_.is_open() && std::uncaught_exceptions() == exceptions_) changes_.commit();
    }

private:
    friend class basic_query;
    iterator(const basic_query& query, detail::chunk_range chunks)
        : store_(query.store_),
          walk_(chunks.is_plain ? detail::walk_of<Layout>()
                                : query.template start<detail::walk_of<Layout>>()),
          changes_(*query.store_),
          at_(chunks.begin()),
          end_(chunks.end()),
          columns_(detail::query_column<Ts>(nullptr)...) {
        find_rows();
    }
    void find_rows() {
        row_ = size_ = 0;
        if (walk_) return find_walked(indices);
        while (at_ != end_ && (*at_)->size == 0) ++at_;
        if (at_ == end_) return;
        const detail::chunk_data& chunk = **at_++;
        size_ = chunk.size;
        ids_ = ids(chunk);
        columns_ = std::tuple{basic_query::template column<Ts>(*store_, chunk)...};
    }
    template <std::size_t... I>
    void find_walked(std::index_sequence<I...>) {
        typename detail::walk<Layout>::rows found;
        if (!walk_->next(found)) return;
        size_ = found.count;
        ids_ = found.ids;
        columns_ = std::tuple{detail::query_column<Ts>(walk_->find(I, found.lane))...};
    }

    const store_type* store_;
    detail::walk_of<Layout> walk_;
    typename store_type::scope changes_;
    int exceptions_ = std::uncaught_exceptions();
    detail::chunk_data* const* at_;  // the next one
    detail::chunk_data* const* end_;
    const id_type* ids_ = nullptr;
    std::size_t row_ = 0;
    std::size_t size_ = 0;  // 0: there are no more
    std::tuple<detail::query_column<Ts>...> columns_;
};

namespace detail {

/// The query that a callback's arguments ask for.
template <class Layout, class... Args>
struct deduced_query {
    template <class World>
    static auto make(World& w) {
        return w.template query<std::remove_reference_t<Args>...>();
    }
    static_assert((... && (std::is_lvalue_reference_v<Args> || std::is_pointer_v<Args>)),
                  "muster: a callback takes components by reference, or by pointer if they may be "
                  "missing; only the entity comes by value, before them.");
};
template <class Layout, class... Args>
struct deduced_query<Layout, basic_id<Layout>, Args...> : deduced_query<Layout, Args...> {};

template <class Layout, class Call>
struct query_of : query_of<Layout, decltype(&Call::operator())> {};
template <class Layout, class Result, class... Args>
struct query_of<Layout, Result (*)(Args...)> : deduced_query<Layout, Args...> {};
template <class Layout, class Owner, class Result, class... Args>
struct query_of<Layout, Result (Owner::*)(Args...)> : deduced_query<Layout, Args...> {};
template <class Layout, class Owner, class Result, class... Args>
struct query_of<Layout, Result (Owner::*)(Args...) const> : deduced_query<Layout, Args...> {};

}  // namespace detail
}  // namespace muster
