// chunk and rows: looking at components where they lie, as spans.
#pragma once

#include <muster/store/store.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace muster {

namespace detail {

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

/// The fragment with this id, whose values must be of type T.
template <class T, class Layout>
const fragment_data& fragment_for(const store<Layout>& from, basic_id<Layout> f) {
    return from.template get_fragment<T>(f, "components", nullptr);
}

}  // namespace detail

/// A chunk of a world: all entities that have exactly the same fragments. A handle, checked at each
/// use: one whose chunk `collect_garbage` has freed is `errc::dead_chunk`. The null chunk, which
/// entities without fragments are in, has nothing.
///
/// Spans end with the next change of the chunk: an entity that enters or leaves it. Const calls may
/// run side by side with others; values are the caller's to guard.
template <class Layout>
class basic_chunk {
public:
    using id_type = basic_id<Layout>;

    basic_chunk() = default;

    /// False for the null chunk.
    explicit operator bool() const noexcept { return store_ != nullptr; }

    [[nodiscard]] std::size_t size() const { return store_ == nullptr ? 0 : data().size; }
    [[nodiscard]] bool empty() const { return size() == 0; }

    /// The entities, row by row.
    [[nodiscard]] std::span<const id_type> entities() const {
        if (store_ == nullptr) return {};
        const detail::chunk_data& chunk = data();
        // SAFETY: the column of ids.
        return {reinterpret_cast<const id_type*>(chunk.ids.data), chunk.size};
    }

    /// The ids of its fragments, in the order the world met them.
    [[nodiscard]] std::span<const id_type> fragments() const {
        if (store_ == nullptr) return {};
        const detail::chunk_data& chunk = data();
        // SAFETY: filled with the ids of its fragments when it was made.
        return {reinterpret_cast<const id_type*>(chunk.fragment_ids.data()),
                chunk.fragments.size()};
    }

    /// The values of T, row by row. `errc::missing_component` if the chunk does not have T.
    template <class T>
    [[nodiscard]] std::span<T> components() const {
        if (store_ == nullptr)
            detail::raise(errc::missing_component,
                          detail::text("the null chunk has no ", detail::type_name<T>()));
        const detail::chunk_data& chunk = data();
        return detail::span_of<T>(store_->template find_fragment<T>(), chunk, 0, chunk.size);
    }
    /// The values of a fragment. Its errors, if it is none or its values are not of type T, are those of
    /// `world::get`.
    template <class T>
    [[nodiscard]] std::span<T> components(id_type fragment) const {
        if (store_ == nullptr) return components<T>();
        const detail::chunk_data& chunk = data();
        return detail::span_of<T>(detail::fragment_for<T>(*store_, fragment), chunk, 0, chunk.size);
    }
    template <class T>
    [[nodiscard]] std::span<T> components(basic_fragment<T, Layout> fragment) const {
        return components<T>(fragment.id());
    }
    /// Where the first value is, of whatever type; null if the chunk does not have it, or no values.
    [[nodiscard]] void* raw(id_type fragment) const {
        if (store_ == nullptr) return nullptr;
        const detail::chunk_data& chunk = data();
        const detail::fragment_data& known = store_->find_fragment(fragment);
        return chunk.has(known) && known.type->size != 0 ? known.base(chunk.index) : nullptr;
    }

    template <class T>
    [[nodiscard]] bool has() const {
        return store_ != nullptr && data().has(store_->template find_fragment<T>());
    }
    /// Any id may be asked for, a dead or foreign one, too.
    [[nodiscard]] bool has(id_type fragment) const {
        for (const id_type one : fragments())
            if (one == fragment) return true;
        return false;
    }

    friend bool operator==(const basic_chunk& a, const basic_chunk& b) noexcept {
        return a.store_ == b.store_ && a.serial_ == b.serial_;
    }

private:
    template <class>
    friend class basic_world;
    basic_chunk(detail::store<Layout>& from, const detail::chunk_data& chunk) noexcept {
        if (chunk.index == detail::chunk_index{}) return;
        store_ = &from;
        index_ = chunk.index;
        serial_ = chunk.serial;
    }

    [[nodiscard]] const detail::chunk_data& data() const {
        const detail::chunk_data* const found = store_->graph().find(index_, serial_);
        if (found == nullptr) [[unlikely]]
            detail::raise(errc::dead_chunk,
                          "this chunk is gone: collect_garbage() or the destruction of a fragment "
                          "has freed it; ask the world for it again");
        return *found;
    }

    detail::store<Layout>* store_ = nullptr;
    detail::chunk_index index_{};
    std::uint64_t serial_ = 0;
};
using chunk = basic_chunk<>;

/// Rows of one chunk that stand next to each other, while a callback looks at them. Where a query asks for
/// sparse fragments, entities that are neighbours in these, too.
template <class Layout>
class basic_rows {
public:
    using id_type = basic_id<Layout>;

    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] std::span<const id_type> entities() const noexcept { return {ids_, count_}; }
    /// `errc::missing_component` if the rows do not have T; of a sparse fragment that the query does not
    /// name, also if the values do not stand next to each other.
    template <class T>
    [[nodiscard]] std::span<T> components() const {
        using type = std::remove_const_t<T>;
        store_.template watch<type>(!std::is_const_v<T>);
        return span_of<type>(store_.template find_fragment<type>());
    }
    /// Whether all of them have it.
    template <class T>
    [[nodiscard]] bool has() const noexcept {
        return has(store_.template find_fragment<T>());
    }
    [[nodiscard]] bool has(id_type fragment) const noexcept {
        return has(store_.find_fragment(fragment));
    }
    template <class T>
    [[nodiscard]] std::span<T> components(id_type fragment) const {
        return span_of<T>(detail::fragment_for<T>(store_, fragment));
    }
    template <class T>
    [[nodiscard]] std::span<T> components(basic_fragment<T, Layout> fragment) const {
        return components<T>(fragment.id());
    }

private:
    template <class>
    friend class basic_world;
    template <class, class...>
    friend class basic_query;
    basic_rows(detail::store<Layout>& from, const detail::chunk_data* owner, std::size_t first,
               std::size_t count, const id_type* ids) noexcept
        : store_(from),
          chunk_(owner == nullptr ? from.graph().nowhere() : *owner),
          first_(first),
          count_(count),
          ids_(ids) {}

    template <class T>
    [[nodiscard]] std::span<T> span_of(const detail::fragment_data& fragment) const {
        if (chunk_.find_base(fragment) != nullptr || fragment.type == nullptr)
            return detail::span_of<T>(fragment, chunk_, first_, count_);
        // A sparse fragment, or entities whose chunk the query has not asked for.
        T* const values = count_ == 0 ? nullptr : store_.template find_value<T>(ids_[0], fragment);
        if (values == nullptr) return detail::span_of<T>(fragment, chunk_, first_, count_);
        for (std::size_t i = 0; i < count_; ++i)
            if (store_.template find_value<T>(ids_[i], fragment) != values + i)
                detail::raise(errc::missing_component,
                              detail::text("the values of ", fragment.name,
                                           " do not stand next to each other here: name it in the "
                                           "query, or use get()"));
        return {values, count_};
    }
    [[nodiscard]] bool has(const detail::fragment_data& fragment) const noexcept {
        if (chunk_.find_base(fragment) != nullptr) return true;
        for (std::size_t i = 0; i < count_; ++i)
            if (!store_.has(ids_[i], fragment)) return false;
        return count_ != 0;
    }

    detail::store<Layout>& store_;
    const detail::chunk_data& chunk_;
    std::size_t first_;
    std::size_t count_;
    const id_type* ids_;
};
using rows = basic_rows<>;
/// The rows of a whole chunk, as a query shows them.
template <class Layout>
using basic_chunk_view = basic_rows<Layout>;
using chunk_view = rows;

/// Where an entity is: `auto [chunk, row] = w.locate(e);`
template <class Layout>
struct basic_location {
    basic_chunk<Layout> chunk;
    std::size_t row = 0;
};

}  // namespace muster
