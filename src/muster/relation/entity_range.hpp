// entity_range: the entities at the other ends of links, for range-based loops:
// `for (entity child : w.children(parent))`.
#pragma once

#include <muster/query/query_state.hpp>
#include <muster/relation/relation_ref.hpp>

#include <cstddef>
#include <exception>

namespace MUSTER_NAMESPACE {

namespace detail {

/// Visits the ends of links.
class end_cursor {
public:
    explicit end_cursor(const link_ends& ends) noexcept
        : first_(ends.first),
          at_(ends.first),
          last_(ends.last),
          width_(ends.width),
          are_targets_(ends.are_targets),
          is_single_(ends.is_single()),
          hole_(is_single_ ? ends.only : ends.hole) {
        skip();
    }
    [[nodiscard]] bool is_done() const noexcept { return at_ == last_ && !is_single_; }
    [[nodiscard]] std::uint64_t get() const noexcept { return is_single_ ? hole_ : *at_; }
    /// Returns the place of the end in its list.
    [[nodiscard]] std::size_t place() const noexcept {
        return static_cast<std::size_t>(at_ - first_) / width_;
    }
    void next() noexcept {
        if (is_single_)
            is_single_ = false;
        else
            at_ += width_;
        skip();
    }

private:
    void skip() noexcept {
        while (at_ != last_ && is_hole()) at_ += width_;
    }
    [[nodiscard]] bool is_hole() const noexcept {
        // SAFETY: targets are in an array of ends, the first member of which this is.
        return are_targets_ ? reinterpret_cast<const link_end*>(at_)->is_hole : *at_ == hole_;
    }
    const std::uint64_t* first_;
    const std::uint64_t* at_;
    const std::uint64_t* last_;
    std::uint32_t width_;
    bool are_targets_;
    bool is_single_;
    std::uint64_t hole_;  // the null id, or the only entity
};

/// Visits the targets of the targets, or all below an entity, of an exclusive relation.
class tree_cursor {
public:
    tree_cursor(const relation_ref& relation, std::uint64_t from, std::uint64_t null,
                bool goes_up) noexcept
        : relation_(relation), root_(from), at_(from), null_(null), goes_up_(goes_up) {
        next();
    }
    [[nodiscard]] bool is_done() const noexcept { return at_ == null_; }
    [[nodiscard]] std::uint64_t get() const noexcept { return at_; }
    void next() noexcept {
        at_ = goes_up_ ? relation_.target_of(at_) : relation_.next_below(root_, at_);
    }

private:
    relation_ref relation_;
    std::uint64_t root_;
    std::uint64_t at_;
    std::uint64_t null_;
    bool goes_up_;
};

}  // namespace detail

/// A range of entities; see `world::targets`. It reads the links as they are when a loop over it
/// begins. Such a loop opens a scope, as that of a query does, but not in a const world: changes are
/// applied when the loop ends, or dropped if an exception leaves it. An object of this class must not
/// be used after a change of the links, or after the end of the world.
template <class Layout, class Cursor>
class basic_entity_range {
    using world_type = detail::query_world<Layout>;
    using store_type = typename world_type::store_type;

public:
    using id_type = basic_id<typename world_type::layout>;

    class sentinel {};
    class iterator {
    public:
        using value_type = id_type;
        using difference_type = std::ptrdiff_t;

        iterator(store_type& store, const Cursor& start) : changes_(store), at_(start) {}
        iterator(iterator&&) noexcept = default;
        /// Applies the changes of the loop, or drops them if an exception leaves it.
        ~iterator() noexcept(false) {
            if (changes_.is_open() && std::uncaught_exceptions() == exceptions_) changes_.commit();
        }
        [[nodiscard]] id_type operator*() const noexcept {
            return detail::to_id<typename world_type::layout>(at_.get());
        }
        iterator& operator++() noexcept {
            at_.next();
            return *this;
        }
        void operator++(int) noexcept { at_.next(); }
        friend bool operator==(const iterator& it, sentinel) noexcept { return it.at_.is_done(); }

    private:
        typename world_type::scope changes_;
        int exceptions_ = std::uncaught_exceptions();
        Cursor at_;
    };

    basic_entity_range(store_type& store, const Cursor& start) noexcept
        : store_(&store), start_(start) {}

    [[nodiscard]] iterator begin() const { return iterator(*store_, start_); }
    [[nodiscard]] static sentinel end() noexcept { return {}; }
    [[nodiscard]] bool empty() const noexcept { return start_.is_done(); }

private:
    store_type* store_;
    Cursor start_;
};

/// The targets or the sources of an entity, in the order in which they were related.
template <class Layout>
class basic_related_range : public basic_entity_range<Layout, detail::end_cursor> {
    using base = basic_entity_range<Layout, detail::end_cursor>;

public:
    template <class Store>
    basic_related_range(Store& store, const detail::link_ends& ends) noexcept
        : base(store, detail::end_cursor(ends)), size_(ends.count) {}
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    std::size_t size_;
};

/// All entities above or below an entity.
template <class Layout>
using basic_tree_range = basic_entity_range<Layout, detail::tree_cursor>;

}  // namespace MUSTER_NAMESPACE
