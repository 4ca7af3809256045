// query_loop: the loops of a query over the rows of chunks, or over the blocks of a walk.
#pragma once

#include <muster/query/query_cache.hpp>
#include <muster/query/query_state.hpp>
#include <muster/query/term_traits.hpp>
#include <muster/query/walk.hpp>
#include <muster/store/store.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Returns the ids of a chunk, row by row.
template <class Layout>
[[nodiscard]] const basic_id<Layout>* ids_of(const chunk_data& chunk) noexcept {
    // SAFETY: the column of ids stores values of type `basic_id<Layout>`.
    return reinterpret_cast<const basic_id<Layout>*>(chunk.ids.data);
}

/// The loop of `basic_query::each`. Its parts are inlined into one function, so that captures of
/// the callback can stay in registers.
template <class Layout, class... Ts>
struct query_loop {
    using id_type = basic_id<Layout>;
    using walk_type = walk<Layout>;
    static constexpr auto indices = std::index_sequence_for<Ts...>{};

    template <class Callback>
    static constexpr bool takes_entity =
        std::is_invocable_v<Callback&, id_type, typename term_traits<Ts>::value...>;
    /// Short-circuits, so that a generic callback that takes the entity is not tried without it.
    template <class Callback>
    static constexpr bool takes_row =
        std::disjunction_v<std::bool_constant<takes_entity<Callback>>,
                           std::is_invocable<Callback&, typename term_traits<Ts>::value...>>;

    /// Explains why a callback does not take a row.
    template <class Callback>
    static constexpr void refuse() {
        constexpr bool lacks_const =
            query_loop<Layout, writable<Ts>...>::template takes_row<Callback>;
        static_assert(!lacks_const,
                      "muster: the callback takes T&, but the query only reads this component "
                      "(const T): write const T&.");
        static_assert(lacks_const,
                      "muster: the callback takes the components of the query in order, "
                      "optionally preceded by the entity.");
    }

    /// Calls `callback` for each row. `fragments` are those of `Ts`; without a walk, `all` has the
    /// matching chunks.
    template <class Callback>
    [[gnu::always_inline]] static void run(walk_type* walk, const chunk_range& all,
                                           const fragment_data* const* fragments,
                                           Callback& callback) {
        for (chunk_data* const* at = all.begin();;) {
            if (walk == nullptr) {
                if (at == all.end()) break;
            } else if (!walk->next()) {
                break;
            } else if (!walk->is_run()) {
                show_lanes(*walk, callback, indices);
                continue;
            }
            show_rows(walk, all, fragments, at, callback, indices);
        }
    }

private:
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
    [[gnu::always_inline]] static void show_lanes(const walk_type& walk, Callback& callback,
                                                  std::index_sequence<I...>) {
        const std::tuple columns{lane_column<Ts>{walk.source(I), walk.places()}...};
        const id_type* const entities = walk.ids();
        for (std::uint64_t left = walk.left(); left != 0; left &= left - 1)
            show(callback, entities, columns, static_cast<std::size_t>(std::countr_zero(left)),
                 indices);
    }
    /// Shows the rows of the chunk at `at`, which advances to the next chunk; with a walk, its run.
    template <class Callback, std::size_t... I>
    [[gnu::always_inline]] static void show_rows(const walk_type* walk, const chunk_range& all,
                                                 const fragment_data* const* fragments,
                                                 chunk_data* const*& at, Callback& callback,
                                                 std::index_sequence<I...>) {
        const bool is_chunk = walk == nullptr;
        const std::size_t first = all.first_row(at);
        const chunk_data* const chunk = is_chunk ? *at++ : nullptr;
        const std::tuple columns{is_chunk ? term_traits<Ts>::fetch(*fragments[I], *chunk)
                                          : query_column<Ts>(walk->source(I).base)...};
        const std::size_t size = is_chunk ? all.end_row(at, chunk->size) : walk->size();
        const id_type* const entities = is_chunk ? ids_of<Layout>(*chunk) : walk->ids();
        for (std::size_t row = first; row < size; ++row)
            show(callback, entities, columns, row, indices);
    }
};

/// Calls `callback(chunk, first, count, ids)` for each sequence of matching rows. The chunk is null
/// if a walk did not look it up.
template <class Layout, class Callback>
void each_sequence(walk<Layout>* walk, const chunk_range& all, Callback callback) {
    if (walk != nullptr) {
        for (typename detail::walk<Layout>::rows rows; walk->next(rows);)
            callback(rows.chunk, rows.first, rows.count, rows.ids);
        return;
    }
    for (chunk_data* const* at = all.begin(); at != all.end();) {
        const std::size_t first = all.first_row(at);
        const chunk_data* const chunk = *at++;
        const std::size_t end = all.end_row(at, chunk->size);
        if (first < end) callback(chunk, first, end - first, ids_of<Layout>(*chunk) + first);
    }
}

/// The end of a range-based loop over a query.
struct query_sentinel {};

/// The iterator of a range-based loop over a query. A scope is open until it is destroyed, unless
/// the world is const.
template <class Layout, class... Ts>
class query_iterator {
    using world_type = query_world<Layout>;
    using layout = typename world_type::layout;
    using id_type = basic_id<layout>;
    using store_type = typename world_type::store_type;

public:
    using value_type = std::tuple<id_type, typename term_traits<Ts>::value...>;
    using difference_type = std::ptrdiff_t;

    /// `walk` is empty if `chunks` has all matching rows.
    query_iterator(store_type& from, const chunk_range& chunks, walk_of<layout>&& walk)
        : store_(from, from.life.ref()),
          walk_(std::move(walk)),
          changes_(from),
          at_(chunks.begin()),
          end_(chunks.end()),
          columns_(query_column<Ts>(nullptr)...) {
        find_rows();
    }
    query_iterator(query_iterator&&) noexcept = default;
    /// Applies the changes of the loop, or drops them if an exception leaves the loop. Throws like
    /// `commit`.
    ~query_iterator() noexcept(false) {
        if (changes_.is_open() && std::uncaught_exceptions() == exceptions_) changes_.commit();
    }

    value_type operator*() const {
        return std::apply(
            [&](const auto&... column) { return value_type(ids_[row_], column.at(row_)...); },
            columns_);
    }
    query_iterator& operator++() {
        if (++row_ == size_) find_rows();
        return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const query_iterator& it, query_sentinel) noexcept {
        return it.size_ == 0;
    }

private:
    void find_rows() {
        row_ = size_ = 0;
        const store_type* const store = store_.find();
        if (store == nullptr) return;  // the world has ended: so does the loop
        if (walk_) return find_walked(std::index_sequence_for<Ts...>{});
        while (at_ != end_ && (*at_)->size == 0) ++at_;
        if (at_ == end_) return;
        const chunk_data& chunk = **at_++;
        size_ = chunk.size;
        ids_ = ids_of<layout>(chunk);
        columns_ = std::tuple{term_traits<Ts>::fetch(
            store->template find_fragment<typename term_traits<Ts>::type>(), chunk)...};
    }
    template <std::size_t... I>
    void find_walked(std::index_sequence<I...>) {
        typename walk<layout>::rows found;
        if (!walk_->next(found)) return;
        size_ = found.count;
        ids_ = found.ids;
        columns_ = std::tuple{query_column<Ts>(walk_->find(I, found.lane))...};
    }

    lifetime_ptr<const store_type> store_;
    walk_of<layout> walk_;
    typename world_type::scope changes_;
    int exceptions_ = std::uncaught_exceptions();
    chunk_data* const* at_;  // the next chunk
    chunk_data* const* end_;
    const id_type* ids_ = nullptr;
    std::size_t row_ = 0;
    std::size_t size_ = 0;  // 0: the end
    std::tuple<query_column<Ts>...> columns_;
};

}  // namespace MUSTER_NAMESPACE::detail
