// link_iterator: loops over a query with conditions on links, without a callback for each row.
#pragma once

#include <muster/query/query_loop.hpp>
#include <muster/relation/far_term.hpp>
#include <muster/relation/link_walk.hpp>

#include <cstddef>
#include <exception>
#include <tuple>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Calls `callback(chunk, first, count, ids)` for each run of adjacent rows in a block of a walk.
template <class Layout, class Callback>
void each_run(const store<Layout>& from, const link_walk& walk, Callback callback) {
    const link_walk::block& block = walk.now();
    if (block.chunk != nullptr && block.rows == nullptr)
        return callback(block.chunk, block.first, block.size,
                        ids_of<Layout>(*block.chunk) + block.first);
    for (std::size_t i = 0; i < block.size;) {
        const auto e = to_id<Layout>(block.id_at(i));
        const auto& record = *from.find(e);
        const chunk_data& chunk = from.graph.at(record.chunk());
        const std::size_t first = record.row();
        std::size_t count = 1;
        if (to_int(chunk.index) == 0) {
            callback(nullptr, 0, 1, &e);
        } else {
            while (i + count < block.size && first + count < chunk.size &&
                   chunk.id_at(first + count) == block.id_at(i + count))
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

}  // namespace MUSTER_NAMESPACE::detail
