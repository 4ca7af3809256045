// query: finds the entities that have certain components, and loops over them.
//
//     w.query<position, const velocity>().without<frozen>().each(
//         [](position& p, const velocity& v) { p.x += v.x; });
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

/// Traits of a query argument, which is `T`, `const T`, `T*` or `const T*`. They state the
/// component type, whether it may be missing, and what a callback takes.
template <class T>
struct query_argument {
    using type = std::remove_const_t<std::remove_reference_t<T>>;
    using value = T&;
    static constexpr bool is_optional = false;
    static_assert(!std::is_reference_v<T>,
                  "muster: query arguments are not references: write query<position>().");
};
template <class T>
struct query_argument<T*> {
    using type = std::remove_const_t<T>;
    using value = T*;
    static constexpr bool is_optional = true;
};

/// The components of one type in a chunk, or in a run of a walk.
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

/// Like `query_column`, for the lanes of a block.
template <class T>
struct lane_column {
    using argument = query_argument<T>;
    using type = typename argument::type;
    lane_source source;
    const lane_place* places;

    [[nodiscard]] typename argument::value at(std::size_t lane) const noexcept {
        if (source.found != nullptr) return query_column<T>(source.found[lane]).at(0);
        if (source.inside == nullptr) return query_column<T>(source.base).at(lane);
        // Loads the base again for each lane: a callback that creates chunks reallocates `bases`.
        const chunk_index chunk{places[lane].chunk};
        std::byte* const base = argument::is_optional ? source.inside->base(chunk)
                                                      : source.inside->bases[to_int(chunk)];
        return query_column<T>(base).at(places[lane].row);
    }
};

}  // namespace detail

/// A query of a world, as a value: copy it, store it, run it again. The world caches the chunks
/// that match and checks only new chunks. Equal queries share this list, which is created on first
/// use. A query must not outlive its world.
///
/// Loops visit entities by chunk, in order of chunk creation, then by row. They skip entities with
/// a hidden fragment, unless the query names the fragment, and entities without components. If the
/// query requires sparse fragments, entities come in the slot order of the smallest one, unless the
/// other required components have fewer entities. Entities that have only sparse fragments come
/// last.
///
/// A loop opens a scope: changes to the world are recorded and applied at the end. So the loop
/// visits every entity that matched at its beginning exactly once. If an exception leaves the loop,
/// the changes are dropped. All calls require exclusive access to the world, like changes.
template <class Layout, class... Ts>
class basic_query {
    using store_type = detail::store<Layout>;
    static constexpr auto indices = std::index_sequence_for<Ts...>{};
    template <class T>
    using argument = detail::query_argument<T>;
    static_assert((... && detail::is_component<typename argument<Ts>::type>));

public:
    using id_type = basic_id<Layout>;

    // ---- more terms: each call returns a new query ---------------------------------------------

    /// Only entities that have all of these. Throws `errc::limit` beyond 16 terms.
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
    /// Like `with(fragments...)`, for a list of ids.
    [[nodiscard]] basic_query with(std::span<const id_type> fragments) const {
        basic_query made(*this);
        for (const id_type fragment : fragments)
            made.add(detail::term_kind::with, 0, named(fragment));
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
        for (const id_type fragment : fragments)
            made.add(detail::term_kind::without, 0, named(fragment));
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
        for (const id_type fragment : fragments)
            made.add(detail::term_kind::any, group, named(fragment));
        return made;
    }

    // ---- loops ---------------------------------------------------------------------------------

    /// Calls `callback(components...)` or `callback(entity, components...)` for each entity.
    /// O(matching entities).
    // Inlined, and without a lambda of its own, so that captures by reference can stay in registers
    // during the loop.
    template <class Callback>
    [[gnu::always_inline]] void each(Callback&& callback) const {
        static_assert(takes_row<Callback>,
                      "muster: the callback takes the components of the query in order, "
                      "optionally preceded by the entity.");
        const detail::chunk_range all = chunks();
        here_type here = all.is_plain ? here_type() : start<here_type>();
        detail::walk<Layout>* const walk = here.get();
        typename store_type::open_scope changes(*store_);
        typename store_type::closing guard{changes};
        // These pointers stay valid: the scope defers the destruction of fragments.
        const detail::fragment_data* const fragments[] = {
            &store_->template find_fragment<typename argument<Ts>::type>()..., nullptr};
        for (detail::chunk_data* const* at = all.begin();;) {
            if (walk == nullptr) {
                if (at == all.end()) break;
            } else if (!walk->next()) {
                break;
            } else if (!walk->is_run()) {
                each_lane(*walk, callback, indices);
                continue;
            }
            each_row(walk, all, fragments, at, callback, indices);
        }
        guard.is_done = true;
        changes.commit();
    }

    /// Calls `callback(chunk_view)` for each chunk that has entities. With sparse fragments, calls
    /// it for each run of entities whose components are adjacent.
    template <class Callback>
    void each_chunk(Callback&& callback) const {
        constexpr bool fits = std::is_invocable_v<Callback&, basic_rows<Layout>>;
        static_assert(fits, "muster: the callback of each_chunk takes a chunk_view.");
        const auto show = [&](const basic_rows<Layout>& rows) {
            if constexpr (fits) callback(rows);
        };
        const detail::chunk_range all = chunks();
        here_type here = all.is_plain ? here_type() : start_rows();
        detail::walk<Layout>* const walk = here.get();
        typename store_type::scope changes(*store_);
        if (walk != nullptr)
            for (typename detail::walk<Layout>::rows rows; walk->next(rows);)
                show(basic_rows<Layout>(*store_, rows.chunk, rows.first, rows.count, rows.ids));
        else
            for (detail::chunk_data* const* at = all.begin(); at != all.end();) {
                const std::size_t first = all.first_row(at);
                const detail::chunk_data* const chunk = *at++;
                const std::size_t end = all.end_row(at, chunk->size);
                if (first < end)
                    show(basic_rows<Layout>(*store_, chunk, first, end - first,
                                            ids(*chunk) + first));
            }
        changes.commit();
    }

    /// Like `each`, on the threads of an executor, by default those of oneTBB. Defined in
    /// <muster/system/parallel.hpp>. A thread takes `grain` rows at a time. A `grain` of 0 adapts
    /// the number at run time, and keeps a loop of a few microseconds on the calling thread.
    ///
    /// Several threads call `callback` at the same time, so its captures must be safe to share. It
    /// may write through its arguments, read whatever no thread writes, and change the world by
    /// `spawn`, `destroy`, `set`, `add`, `emplace`, `remove` and `clear`. These changes are
    /// recorded and applied at the end, in the order of `each`. Ids from `spawn` are alive
    /// immediately, for all threads; their numbers may depend on timing. All other changes throw
    /// `errc::in_scope`.
    ///
    /// If `callback` throws, all threads stop, recorded changes are dropped, and spawned ids are
    /// dead. The first of the caught exceptions, in row order, is rethrown. Writes through
    /// references stay. Requires exclusive access, like `each`.
    template <class Callback>
    void par_each(Callback&& callback) const;
    template <class Callback>
    void par_each(executor& threads, std::size_t grain, Callback&& callback) const;

    class iterator;
    /// `for (auto [e, p, v] : q)`; each element is a tuple of the entity and its components.
    [[nodiscard]] iterator begin() const { return iterator(*this, chunks()); }
    struct sentinel {};
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    // ---- batches -------------------------------------------------------------------------------
    // A batch changes all matching entities, chunk by chunk; unaffected components move as whole
    // columns. It returns the number of entities that it affects in the current world. In a scope,
    // the whole batch is deferred; it then applies to the entities that match at that time.
    //
    // Each chunk, or each entity where sparse fragments are involved, changes completely or not at
    // all. If a change fails or a hook throws, the others continue, and the first exception is
    // rethrown at the end. In a scope, `patch` and `clone` do not see pending batches. O(matching
    // entities).

    /// Inserts or assigns copies of these values for each entity. Also takes `with(fragment,
    /// value)`.
    template <class... Us>
        requires(sizeof...(Us) > 0 && !(... || detail::fragment_argument<Us>))
    std::size_t set(const Us&... values) const {
        static_assert(
            (... && is_copyable<Us>::value),
            "muster: set copies the value to each entity, but this component cannot be copied.");
        static_assert(detail::all_differ<Us...> || (... || detail::is_with<Us>),
                      "muster: pass each component type only once.");
        const detail::change_shape changes[] = {
            {&store_->fragment_of(__builtin_addressof(values)), detail::change_kind::put}...};
        const void* const given[] = {store_type::address_of(__builtin_addressof(values))...};
        return store_->change_all(finder(), changes, given, "set");
    }
    template <detail::fragment_argument F, class U>
    std::size_t set(const F& fragment, U&& value) const {
        return set(muster::with(fragment, std::forward<U>(value)));
    }
    /// Sets a tag, or the default value of a fragment with values. Throws `errc::no_default` if it
    /// has none.
    template <detail::fragment_argument F>
    std::size_t set(const F& fragment) const {
        const id_type all[] = {id_type(fragment)};
        return store_->put_defaults(finder(), detail::change_kind::put, all, "set");
    }
    /// Adds default values of these to entities that do not have them.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    std::size_t add() const {
        const id_type all[] = {store_->id_of(store_->template ensure_fragment<Us>())...};
        return store_->put_defaults(finder(), detail::change_kind::keep, all, "add");
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    std::size_t add(const Fs&... fragments) const {
        const id_type all[] = {id_of(fragments)...};
        return store_->put_defaults(finder(), detail::change_kind::keep, all, "add");
    }
    /// Removes these from entities that have them.
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
    /// Removes all components of each entity. The entities stay alive.
    std::size_t clear() const {
        const detail::change_shape all[] = {{nullptr, detail::change_kind::clear}};
        return store_->change_all(finder(), all, {}, "clear");
    }
    /// Destroys each entity. Keeps world-owned ids, which are the fragments of C++ types. Destroys
    /// user-defined fragments separately, after the other entities.
    std::size_t destroy(std::source_location where = std::source_location::current()) const {
        const detail::change_shape all[] = {{nullptr, detail::change_kind::destroy}};
        return store_->change_all(finder(), all, {}, "destroy", where);
    }

    // ---- results -------------------------------------------------------------------------------

    /// O(matching chunks). With sparse fragments, O(entities of the smaller side); see `walk`.
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
    /// Returns the first entity, or the null id.
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
    /// Whether the entity matches; false for any id that is not alive.
    [[nodiscard]] bool matches(id_type e) const noexcept {
        const auto* const found = store_->find(e);
        return found != nullptr &&
               cache_->matches(terms_, store_->graph().at(found->chunk()), e.value());
    }
    /// Returns a sentence that states whether the entity matches, and why, term by term. Accepts
    /// any id.
    [[nodiscard]] std::string explain(id_type e) const {
        const auto* const found = store_->find(e);
        if (found == nullptr)
            return detail::text(store_->describe(e), " does not match: it is not alive");
        const detail::chunk_data& chunk = store_->graph().at(found->chunk());
        const std::string why = cache_->explain(terms_, chunk, e.value());
        if (!store_->has_any(e))
            return detail::text(store_->describe(e),
                                " does not match: it has no components, and queries "
                                "return only entities with components");
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

    template <class Callback>
    static constexpr bool takes_entity =
        std::is_invocable_v<Callback&, id_type, typename argument<Ts>::value...>;
    /// Short-circuits, so that a generic callback that takes the entity is not tried without it.
    template <class Callback>
    static constexpr bool takes_row =
        std::disjunction_v<std::bool_constant<takes_entity<Callback>>,
                           std::is_invocable<Callback&, typename argument<Ts>::value...>>;

    basic_query(store_type& store, detail::query_cache& cache) : store_(&store), cache_(&cache) {
        (add(argument<Ts>::is_optional ? detail::term_kind::optional : detail::term_kind::with, 0,
             typed<typename argument<Ts>::type>()),
         ...);
    }

    struct name {
        std::uint64_t type_or_id;
        bool is_typed;
    };
    template <class T>
    [[nodiscard]] name typed() const {
        static_assert(detail::is_component<T>);
        // Creates the fragment now, so that its number does not depend on which entity is first.
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
    void add(detail::term_kind kind, std::uint8_t group, name candidate) {
        terms_.add({candidate.type_or_id, kind, candidate.is_typed, group});
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
    /// Loops open their scope only after this call. So if no scope is open, no loop uses a list.
    [[nodiscard]] detail::chunk_range chunks() const {
        if (store_->is_parallel()) [[unlikely]]
            return shared_chunks();
        return cache_->read(list(), store_->depth() != 0);
    }
    /// Like `chunks`, in a parallel phase: returns the window of this thread if the window belongs
    /// to this list, otherwise all matching chunks. Threads of the phase may call it at the same
    /// time.
    [[nodiscard, gnu::noinline]] detail::chunk_range shared_chunks() const {
        detail::match_list& mine = shared_list();
        if (detail::lane* const at = detail::find_lane(store_);
            at != nullptr && at->window.list == &mine) {
            const detail::row_window part = at->window;
            at->window = {};
            return {part.first, part.last, true, part.from, part.to};
        }
        (store_->template check_access<typename argument<Ts>::type>(
             !std::is_const_v<std::remove_pointer_t<Ts>>),
         ...);
        return cache_->read(mine, true);
    }
    /// The rows to divide among threads. A query with sparse fragments is not divided.
    [[nodiscard]] detail::shared_rows shared_rows() const {
        const detail::chunk_range all = chunks();
        return {all.is_plain ? &list() : nullptr, all};
    }
    [[nodiscard]] detail::match_list& shared_list() const {
        return list_ != nullptr ? *list_ : cache_->ensure_shared(terms_);
    }
    using here_type = detail::walk_here<Layout>;

    /// Starts a walk over a list that is not plain and was just read.
    template <class Walk>
    [[nodiscard]] Walk start_for(std::span<const detail::fragment_data* const> wanted) const {
        return Walk(*store_, *cache_, store_->is_parallel() ? shared_list() : *list_, wanted);
    }
    template <class Walk>
    [[nodiscard]] Walk start() const {
        const detail::fragment_data* const wanted[] = {
            &store_->template find_fragment<typename argument<Ts>::type>()..., nullptr};
        return start_for<Walk>({wanted, sizeof...(Ts)});
    }
    /// Starts a walk that shows the components of all terms, except `without`.
    [[nodiscard]] here_type start_rows() const {
        const detail::fragment_data* wanted[detail::terms::limit];
        std::size_t count = 0;
        for (const detail::term& term : terms_)
            if (term.kind != detail::term_kind::without)
                wanted[count++] = &cache_->fragment_of(term);
        return start_for<here_type>({wanted, count});
    }
    [[nodiscard]] detail::target_finder finder() const {
        return {&detail::walk<Layout>::find, store_, cache_,
                store_->is_parallel() ? &shared_list() : &list()};
    }
    template <class F>
    [[nodiscard]] id_type id_of(const F& fragment) const {
        if constexpr (detail::fragment_argument<F>)
            return id_type(fragment);
        else
            return store_->id_of(store_->template ensure_fragment<F>());
    }
    [[nodiscard]] static const id_type* ids(const detail::chunk_data& chunk) noexcept {
        // SAFETY: the column of ids stores values of type `id_type`.
        return reinterpret_cast<const id_type*>(chunk.ids.data);
    }
    template <class T>
    [[nodiscard]] static detail::query_column<T> column(const store_type& store,
                                                        const detail::chunk_data& chunk) noexcept {
        return detail::query_column<T>(
            store.template find_fragment<typename argument<T>::type>().base(chunk.index));
    }

    template <class Callback, class Columns, std::size_t... I>
    [[gnu::always_inline]] static void show(Callback& callback,
                                            [[maybe_unused]] const id_type* entities,
                                            const Columns& columns, std::size_t row,
                                            std::index_sequence<I...>) {
        if constexpr (takes_entity<Callback>)
            callback(entities[row], std::get<I>(columns).at(row)...);
        else if constexpr (takes_row<Callback>)  // otherwise `each` has refused it
            callback(std::get<I>(columns).at(row)...);
    }
    /// Shows the matching lanes of a block.
    template <class Callback, std::size_t... I>
    [[gnu::always_inline]] static void each_lane(const detail::walk<Layout>& walk,
                                                 Callback& callback, std::index_sequence<I...>) {
        const std::tuple columns{detail::lane_column<Ts>{walk.source(I), walk.places()}...};
        const id_type* const entities = walk.ids();
        for (std::uint64_t left = walk.left(); left != 0; left &= left - 1)
            show(callback, entities, columns, static_cast<std::size_t>(std::countr_zero(left)),
                 indices);
    }
    /// Shows the rows of the chunk at `at`, which advances to the next chunk; with a walk, its run.
    template <class Callback, std::size_t... I>
    [[gnu::always_inline]] void each_row(const detail::walk<Layout>* walk,
                                         const detail::chunk_range& all,
                                         const detail::fragment_data* const* fragments,
                                         detail::chunk_data* const*& at, Callback& callback,
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
            show(callback, entities, columns, row, indices);
    }

    store_type* store_;
    detail::query_cache* cache_;
    detail::terms terms_;
    mutable detail::match_list* list_ = nullptr;  // null: not looked up yet
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
    friend bool operator==(const iterator& it, sentinel) noexcept { return it.size_ == 0; }

    iterator(iterator&&) noexcept = default;
    /// Applies the changes of the loop, or drops them if an exception leaves the loop. Throws like
    /// `commit`.
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
    detail::chunk_data* const* at_;  // the next chunk
    detail::chunk_data* const* end_;
    const id_type* ids_ = nullptr;
    std::size_t row_ = 0;
    std::size_t size_ = 0;  // 0: the end
    std::tuple<detail::query_column<Ts>...> columns_;
};

namespace detail {

/// The query that the parameters of a callback describe.
template <class Layout, class... Args>
struct deduced_query {
    template <class World>
    static auto make(World& w) {
        return w.template query<std::remove_reference_t<Args>...>();
    }
    static_assert((... && (std::is_lvalue_reference_v<Args> || std::is_pointer_v<Args>)),
                  "muster: a callback takes components by reference, or by pointer if they may be "
                  "missing. Only the entity, as the first parameter, is passed by value.");
};
template <class Layout, class First, class... Args>
    requires std::is_same_v<basic_id<Layout>, std::remove_cvref_t<First>>
struct deduced_query<Layout, First, Args...> : deduced_query<Layout, Args...> {};

/// A function pointer, or an object with one call operator.
template <class Function>
inline constexpr bool has_known_parameters =
    std::is_function_v<std::remove_pointer_t<Function>> || requires { &Function::operator(); };

template <class Layout, class Call>
struct query_of : query_of<Layout, decltype(&Call::operator())> {};
template <class Layout, class Result, bool Noexcept, class... Args>
struct query_of<Layout, Result (*)(Args...) noexcept(Noexcept)> : deduced_query<Layout, Args...> {};
template <class Layout, class Owner, class Result, bool Noexcept, class... Args>
struct query_of<Layout, Result (Owner::*)(Args...) noexcept(Noexcept)>
    : deduced_query<Layout, Args...> {};
template <class Layout, class Owner, class Result, bool Noexcept, class... Args>
struct query_of<Layout, Result (Owner::*)(Args...) const noexcept(Noexcept)>
    : deduced_query<Layout, Args...> {};

}  // namespace detail
}  // namespace muster
