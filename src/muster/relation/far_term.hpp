// far_term: the arguments of a query that are components of another entity: `up<T>`, of the target, and
// `above<T>`, of the first of the targets above that has the component.
//
//     child e7    link [ parent e2 ]----+        up<const T> reads this value once for all adjacent
//     child e8    link [ parent e2 ]----+-->     rows with the same target
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/sparse_array.hpp>
#include <muster/query/query_loop.hpp>
#include <muster/query/term_traits.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace MUSTER_NAMESPACE {

namespace detail {

/// A reference to a component of another entity, which a callback may take in place of `T&`.
template <class T>
class far_reference {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): loops pass the reference itself
    far_reference(T& value) noexcept : value_(__builtin_addressof(value)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): it stands for the reference
    operator T&() const noexcept { return *value_; }
    [[nodiscard]] T& operator*() const noexcept { return *value_; }
    [[nodiscard]] T* operator->() const noexcept { return value_; }

private:
    T* value_;
};
/// Like `far_reference`, for a component that may be missing.
template <class T>
class far_reference<T*> {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): loops pass the pointer itself
    far_reference(T* value) noexcept : value_(value) {}
    // NOLINTNEXTLINE(google-explicit-constructor): it stands for the pointer
    operator T*() const noexcept { return value_; }
    [[nodiscard]] T& operator*() const noexcept { return *value_; }
    [[nodiscard]] T* operator->() const noexcept { return value_; }

private:
    T* value_;
};

}  // namespace detail

/// An argument of a query: T of the entity's target by R, the first if it has several. `up<const T>`
/// skips entities without a target that has T. `up<const T*>` is null for them. A callback takes
/// `const T&`, `const T*`, or the argument itself.
template <class T, class R = child_of_t>
struct up : detail::far_reference<T> {
    using detail::far_reference<T>::far_reference;
};

/// Like `up`, but of the first entity above that has T: the target, its target, and so on.
template <class T, class R = child_of_t>
struct above : detail::far_reference<T> {
    using detail::far_reference<T>::far_reference;
};

namespace detail {

template <class T, class R, bool IsAbove>
struct far_argument {
    using argument = T;
    using relation = R;
    static constexpr bool is_above = IsAbove;
};
/// Describes a query argument that is a component of another entity.
template <class T>
struct far_traits;
template <class T, class R>
struct far_traits<up<T, R>> : far_argument<T, R, false> {};
template <class T, class R>
struct far_traits<above<T, R>> : far_argument<T, R, true> {};

template <class T, class R>
inline constexpr bool is_far<up<T, R>> = true;
template <class T, class R>
inline constexpr bool is_far<above<T, R>> = true;

template <class T, class R>
struct term_traits<up<T, R>> : term_traits<T> {};
template <class T, class R>
struct term_traits<above<T, R>> : term_traits<T> {};

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

/// Whether a query with these arguments writes the component of an entity that T is of another one.
template <class T, class... Own>
inline constexpr bool is_written_by =
    (... || (!is_far<Own> && term_traits<Own>::is_written &&
             std::is_same_v<typename term_traits<Own>::type, typename term_traits<T>::type>));

/// Finds the entity above that has a component. Remembers what takes many steps, so that a loop over a
/// deep tree is linear.
class MUSTER_API above_finder {
public:
    above_finder(const engine& owner, const relation_ref& by, const fragment_data& component,
                 bool is_read) noexcept
        : owner_(owner), by_(by), component_(component), is_read_(is_read) {}
    /// Returns `from`, or the first entity above it with the component, or the null id.
    [[nodiscard]] std::uint64_t find(std::uint64_t from);

private:
    const engine& owner_;
    relation_ref by_;
    const fragment_data& component_;
    bool is_read_;                       // see `link_condition`
    sparse_array<std::uint64_t> known_;  // by key
    array_list<std::uint64_t> path_;
};

/// In place of an `above_finder`.
struct no_finder {
    no_finder(const engine&, const relation_ref&, const fragment_data&, bool) noexcept {}
};

/// How a link loop reads an argument. `shows_row` and `shows_entity` look for the value, and return false
/// if the loop skips the row; `at_row` and `get` then return what the callback takes.
template <class Layout, class T>
class link_column {
    using argument = term_traits<T>;
    using type = typename argument::type;
    using shown = std::conditional_t<argument::is_written, type, const type>;

public:
    explicit link_column(const store<Layout>& from) noexcept
        : store_(&from), fragment_(&from.template find_fragment<type>()), rows_(nullptr) {}

    /// Before the rows of a chunk.
    void enter(const chunk_data& chunk) noexcept { rows_ = argument::fetch(*fragment_, chunk); }
    [[nodiscard]] static constexpr bool shows_row(std::size_t) noexcept { return true; }
    [[nodiscard]] typename argument::value at_row(std::size_t row) const noexcept {
        return rows_.at(row);
    }
    [[nodiscard]] bool shows_entity(basic_id<Layout> e) noexcept {
        found_ = store_->template find_any<shown>(e, *fragment_);
        return argument::is_optional || found_ != nullptr;
    }
    [[nodiscard]] typename argument::value get() const noexcept {
        if constexpr (argument::is_optional)
            return found_;
        else
            return *found_;
    }

private:
    const store<Layout>* store_;
    const fragment_data* fragment_;
    query_column<T> rows_;
    shown* found_ = nullptr;
};

/// Finds the value once for adjacent rows with the same target.
template <class Layout, class T>
    requires is_far<T>
class link_column<Layout, T> {
    using far = far_traits<T>;
    using argument = term_traits<typename far::argument>;
    using type = typename argument::type;
    using shown = std::conditional_t<argument::is_written, type, const type>;
    using id_type = basic_id<Layout>;

public:
    explicit link_column(const store<Layout>& from) noexcept
        : store_(&from),
          fragment_(&from.template find_fragment<type>()),
          by_(relation_ref::find(from, from.template find_fragment<typename far::relation>())),
          above_(from, by_, *fragment_, !argument::is_written) {}

    void enter(const chunk_data& chunk) noexcept {
        if (!by_) return;
        const fragment_data& links = by_.links();
        links_ = links.base(chunk.index);
        size_ = links.type->size;
        chunk_ = by_.is_exclusive() ? nullptr : &chunk;
    }
    [[nodiscard]] bool shows_row(std::size_t row) {
        if (links_ == nullptr) [[unlikely]]
            return shows_unlinked(row);
        // SAFETY: the column has links, which begin with their heads.
        const std::uint64_t target =
            reinterpret_cast<const link_head*>(links_ + row * size_)->target;
        if (target != target_) find(target);
        return argument::is_optional || found_ != nullptr;
    }
    [[nodiscard]] typename argument::value at_row(std::size_t) const noexcept { return get(); }
    [[nodiscard]] bool shows_entity(id_type e) {
        const std::uint64_t target = by_.target_of(e.value());
        if (target != target_) find(target);
        return argument::is_optional || found_ != nullptr;
    }
    [[nodiscard]] typename argument::value get() const noexcept {
        if constexpr (argument::is_optional)
            return found_;
        else
            return *found_;
    }

private:
    /// For a chunk without links of an exclusive relation.
    [[nodiscard, gnu::noinline]] bool shows_unlinked(std::size_t row) {
        if (chunk_ != nullptr) return shows_entity(to_id<Layout>(chunk_->id_at(row)));
        target_ = id_type().value();
        found_ = nullptr;
        return argument::is_optional;
    }
    void find(std::uint64_t target) {
        target_ = target;
        if constexpr (far::is_above) target = above_.find(target);
        found_ = store_->template find_any<shown>(to_id<Layout>(target), *fragment_);
    }

    const store<Layout>* store_;
    const fragment_data* fragment_;
    relation_ref by_;
    const std::byte* links_ = nullptr;
    std::size_t size_ = 0;                      // of a link
    const chunk_data* chunk_ = nullptr;         // not null: the links are elsewhere
    std::uint64_t target_ = id_type().value();  // whose value was found last; null: none
    shown* found_ = nullptr;
    std::conditional_t<far::is_above, above_finder, no_finder> above_;
};

/// The loop of a query with conditions on links.
template <class Layout, class... Ts>
struct link_loop {
    using id_type = basic_id<Layout>;

    /// Calls `callback` for each entity of the walk.
    template <class Walk, class Callback>
    [[gnu::always_inline]] static void run(const store<Layout>& from, Walk& walk,
                                           Callback& callback) {
        std::tuple columns{link_column<Layout, Ts>(from)...};
        std::apply(
            [&](auto&... column) {
                while (walk.next()) {
                    const auto block = walk.now();
                    if (block.chunk == nullptr)
                        show_entities(block.ids, block.size, callback, column...);
                    else if (block.rows == nullptr)
                        show_rows(*block.chunk, block.first, block.size, callback, column...);
                    else
                        show_list(*block.chunk, block.rows, block.size, callback, column...);
                }
            },
            columns);
    }

private:
    template <class Callback, class... Columns>
    [[gnu::always_inline]] static void show_rows(const chunk_data& chunk, std::size_t first,
                                                 std::size_t count, Callback& callback,
                                                 Columns&... columns) {
        (columns.enter(chunk), ...);
        const id_type* const ids = ids_of<Layout>(chunk);
        for (std::size_t row = first; row < first + count; ++row)
            if ((... && columns.shows_row(row))) call(callback, ids[row], columns.at_row(row)...);
    }
    template <class Callback, class... Columns>
    [[gnu::always_inline]] static void show_list(const chunk_data& chunk, const std::uint32_t* rows,
                                                 std::size_t count, Callback& callback,
                                                 Columns&... columns) {
        (columns.enter(chunk), ...);
        const id_type* const ids = ids_of<Layout>(chunk);
        for (const std::uint32_t* row = rows; row != rows + count; ++row)
            if ((... && columns.shows_row(*row)))
                call(callback, ids[*row], columns.at_row(*row)...);
    }
    template <class Callback, class... Columns>
    [[gnu::always_inline]] static void show_entities(const std::uint64_t* ids, std::size_t count,
                                                     Callback& callback, Columns&... columns) {
        for (std::size_t i = 0; i < count; ++i) {
            const id_type e = to_id<Layout>(ids[i]);
            if ((... && columns.shows_entity(e))) call(callback, e, columns.get()...);
        }
    }
    template <class Callback, class... Values>
    [[gnu::always_inline]] static void call(Callback& callback, id_type e, Values&&... values) {
        using loop = query_loop<Layout, Ts...>;
        if constexpr (loop::template takes_entity<Callback>)
            callback(e, static_cast<Values&&>(values)...);
        else if constexpr (loop::template takes_row<Callback>)  // otherwise `each` has refused it
            callback(static_cast<Values&&>(values)...);
    }
};

}  // namespace detail

}  // namespace MUSTER_NAMESPACE
