// chunk and rows: access to the columns of a chunk, as spans.
#pragma once

#include <muster/store/store.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace MUSTER_NAMESPACE {

namespace detail {

/// Returns the values of `count` rows. Throws `errc::missing_component` if the chunk does not have
/// the fragment.
template <class T>
std::span<T> span_of(const fragment_data& fragment, const chunk_data& chunk, std::size_t first,
                     std::size_t count) {
    static_assert(!is_tag<T>, "muster: a tag has no values: there is nothing to span.");
    std::byte* const base = chunk.find_base(fragment);
    if (base == nullptr)
        raise(errc::missing_component,
              text("the chunk ", to_text(chunk), " has no ",
                   &fragment == &no_fragment ? type_name<T>() : fragment.name));
    return {value_at<T>(base, first), count};
}

/// Returns the fragment with this id. Throws `errc::type_mismatch` if its values are not of type T.
template <class T, class Layout>
const fragment_data& fragment_for(const store<Layout>& from, basic_id<Layout> f) {
    return from.template get_fragment<T>(f, "components", nullptr);
}

}  // namespace detail

/// A handle to a chunk of a world, which stores all entities that have exactly the same fragments.
/// Each use is checked: throws `errc::dead_chunk` if the chunk was freed, by `collect_garbage` or
/// because a fragment was destroyed, and `errc::world_ended` after the end of the world. The null
/// chunk stands for entities without fragments and is always empty.
///
/// Inserting an entity into the chunk, or removing one, invalidates its spans. Threads may make
/// const calls concurrently; the caller synchronises access to the values.
template <class Layout>
class basic_chunk {
public:
    using id_type = basic_id<Layout>;

    /// Creates the null chunk.
    basic_chunk() = default;

    /// Returns false for the null chunk.
    explicit operator bool() const noexcept { return !store_.is_null(); }

    /// Returns the number of rows.
    [[nodiscard]] std::size_t size() const { return store_.is_null() ? 0 : data().size; }
    /// Returns whether the chunk has no rows.
    [[nodiscard]] bool empty() const { return size() == 0; }

    /// Returns the entities, row by row.
    [[nodiscard]] std::span<const id_type> entities() const {
        if (store_.is_null()) return {};
        const detail::chunk_data& chunk = data();
        // SAFETY: the column `ids` stores values of `id_type`.
        return {reinterpret_cast<const id_type*>(chunk.ids.data), chunk.size};
    }

    /// Returns the ids of its fragments, in the order in which the world first used them.
    [[nodiscard]] std::span<const id_type> fragments() const {
        if (store_.is_null()) return {};
        const detail::chunk_data& chunk = data();
        // SAFETY: `fragment_ids` stores values of `id_type`, written when the chunk was created.
        return {reinterpret_cast<const id_type*>(chunk.fragment_ids.data()),
                chunk.fragments.size()};
    }

    /// Returns the values of T, row by row. Throws `errc::missing_component` if the chunk does not
    /// have T.
    template <class T>
    [[nodiscard]] std::span<T> components() const {
        if (store_.is_null())
            detail::raise(errc::missing_component,
                          detail::text("the null chunk has no ", detail::type_name<T>()));
        return span_of<T>(store_.get().template find_fragment<T>());
    }
    /// Like `components` by type, for a fragment. Throws as `world::get` does if the id is no
    /// fragment or its values are not of type T.
    template <class T>
    [[nodiscard]] std::span<T> components(id_type fragment) const {
        if (store_.is_null()) return components<T>();
        return span_of<T>(detail::fragment_for<T>(store_.get(), fragment));
    }
    template <class T>
    [[nodiscard]] std::span<T> components(basic_fragment<T, Layout> fragment) const {
        return components<T>(fragment.id());
    }
    /// Returns the address of the first value, whatever its type; null if the chunk does not have
    /// the fragment or it is a tag.
    [[nodiscard]] void* raw(id_type fragment) const {
        if (store_.is_null()) return nullptr;
        detail::store<Layout>& store = store_.get();
        const detail::chunk_data& chunk = data();
        const detail::fragment_data& known = store.find_fragment(fragment);
        store.mark_written(known, chunk);
        return chunk.has(known) && known.type->size != 0 ? known.base(chunk.index) : nullptr;
    }

    /// Returns whether the chunk has T.
    template <class T>
    [[nodiscard]] bool has() const {
        return !store_.is_null() && data().has(store_.get().template find_fragment<T>());
    }
    /// Returns whether the chunk has this fragment. Accepts any id, dead and foreign ids included.
    [[nodiscard]] bool has(id_type fragment) const {
        for (const id_type owned : fragments())
            if (owned == fragment) return true;
        return false;
    }

    /// Returns whether both handles refer to the same chunk, freed or not.
    friend bool operator==(const basic_chunk& a, const basic_chunk& b) noexcept {
        return a.store_ == b.store_ && a.serial_ == b.serial_;
    }

private:
    template <class>
    friend class fragment_calls;
    basic_chunk(detail::store<Layout>& from, const detail::chunk_data& chunk) noexcept {
        if (chunk.index == detail::chunk_index{}) return;
        store_ = {from, from.life.ref()};
        index_ = chunk.index;
        serial_ = chunk.serial;
    }

    template <class T>
    [[nodiscard]] std::span<T> span_of(const detail::fragment_data& fragment) const {
        const detail::chunk_data& chunk = data();
        store_.get().mark_written(fragment, chunk);
        return detail::span_of<T>(fragment, chunk, 0, chunk.size);
    }
    [[nodiscard]] const detail::chunk_data& data() const {
        const detail::chunk_data* const found = store_.get().graph.find(index_, serial_);
        if (found == nullptr) [[unlikely]]
            detail::raise(errc::dead_chunk,
                          "this chunk was freed by collect_garbage() or by destroying a fragment; "
                          "get it from the world again");
        return *found;
    }

    detail::lifetime_ptr<detail::store<Layout>> store_;
    detail::chunk_index index_{};
    std::uint64_t serial_ = 0;
};
using chunk = basic_chunk<>;

/// Adjacent rows of a chunk, valid during the callback that receives them. If a query names sparse
/// fragments, their values are adjacent, too. `const Layout`: rows of a const world, with spans of
/// const values.
template <class Layout>
class basic_rows {
    using layout = std::remove_const_t<Layout>;
    static constexpr bool is_const = std::is_const_v<Layout>;
    template <class T>
    using shown = std::conditional_t<is_const, const T, T>;

public:
    using id_type = basic_id<layout>;

    /// Mutable rows convert to const rows.
    // NOLINTNEXTLINE(google-explicit-constructor): it only loses access
    template <class Rows>
        requires(is_const && std::is_same_v<Rows, basic_rows<layout>>)
    basic_rows(const Rows& other) noexcept
        : basic_rows(other.store_, &other.chunk_, other.first_, other.count_, other.ids_) {}

    /// Returns the number of rows.
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    /// Returns the entities, row by row.
    [[nodiscard]] std::span<const id_type> entities() const noexcept { return {ids_, count_}; }
    /// Returns the values of T, row by row; `const T` declares that they are only read. Throws
    /// `errc::missing_component` if the rows do not have T. Also throws it if the query does not
    /// name a sparse T and its values are not adjacent.
    template <class T>
    [[nodiscard]] std::span<shown<T>> components() const {
        using type = std::remove_const_t<T>;
        constexpr bool is_written = !std::is_const_v<shown<T>>;
        store_.template check_access<type>(is_written);
        const detail::fragment_data& fragment = store_.template find_fragment<type>();
        if constexpr (is_written) store_.mark_written(fragment, chunk_);
        return span_of<type>(fragment);
    }
    /// Returns whether all rows have T.
    template <class T>
    [[nodiscard]] bool has() const noexcept {
        return has(store_.template find_fragment<T>());
    }
    /// Returns whether all rows have this fragment.
    [[nodiscard]] bool has(id_type fragment) const noexcept {
        return has(store_.find_fragment(fragment));
    }
    /// Like `components` by type, for a fragment.
    template <class T>
    [[nodiscard]] std::span<shown<T>> components(id_type fragment) const {
        const detail::fragment_data& known = detail::fragment_for<T>(store_, fragment);
        if constexpr (!is_const) store_.mark_written(known, chunk_);
        return span_of<T>(known);
    }
    template <class T>
    [[nodiscard]] std::span<shown<T>> components(basic_fragment<T, layout> fragment) const {
        return components<T>(fragment.id());
    }

private:
    template <class>
    friend class spawn_calls;
    template <class, class...>
    friend class basic_query;
    template <class, class...>
    friend class basic_link_query;
    friend class basic_rows<const layout>;
    basic_rows(const detail::store<layout>& from, const detail::chunk_data* owner,
               std::size_t first, std::size_t count, const id_type* ids) noexcept
        : store_(from),
          chunk_(owner == nullptr ? from.graph.empty_chunk() : *owner),
          first_(first),
          count_(count),
          ids_(ids) {}

    template <class T>
    [[nodiscard]] std::span<T> span_of(const detail::fragment_data& fragment) const {
        if (chunk_.find_base(fragment) != nullptr || fragment.type == nullptr)
            return detail::span_of<T>(fragment, chunk_, first_, count_);
        // A sparse fragment, or rows whose chunk the query did not look up.
        T* const values = count_ == 0 ? nullptr : store_.template find_value<T>(ids_[0], fragment);
        if (values == nullptr) return detail::span_of<T>(fragment, chunk_, first_, count_);
        for (std::size_t i = 0; i < count_; ++i)
            if (store_.template find_value<T>(ids_[i], fragment) != values + i)
                detail::raise(
                    errc::missing_component,
                    detail::text("the values of ", fragment.name,
                                 " are not adjacent here: name the fragment in the query or "
                                 "use get()"));
        return {values, count_};
    }
    [[nodiscard]] bool has(const detail::fragment_data& fragment) const noexcept {
        if (chunk_.find_base(fragment) != nullptr) return true;
        for (std::size_t i = 0; i < count_; ++i)
            if (!store_.has(ids_[i], fragment)) return false;
        return count_ != 0;
    }

    const detail::store<layout>& store_;
    const detail::chunk_data& chunk_;
    std::size_t first_;
    std::size_t count_;
    const id_type* ids_;
};
using rows = basic_rows<>;
/// The rows of a whole chunk, as a query passes them to its callback.
template <class Layout>
using basic_chunk_view = basic_rows<Layout>;
using chunk_view = rows;
using const_chunk_view = basic_rows<const layouts::bound>;

/// The position of an entity: `auto [chunk, row] = w.locate(e);`
template <class Layout>
struct basic_location {
    basic_chunk<Layout> chunk;
    std::size_t row = 0;
};

}  // namespace MUSTER_NAMESPACE
