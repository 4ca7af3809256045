// row_follower: watches the rows of chunks, for state that depends on which rows there are.
//
// A follower watches all chunks of a fragment; see `catalog::follow`. A chunk without followers
// pays nothing: a transition between followed chunks is not plain, so that fast paths do not take
// it, and all other moves tell the followers.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

struct chunk_data;

/// Each function but `prepare` is called after the fact: the chunk has its new rows, with their
/// ids and values. A follower must not change the world in these calls.
class MUSTER_API row_follower {
public:
    row_follower() = default;
    row_follower(const row_follower&) = delete;
    row_follower& operator=(const row_follower&) = delete;

    /// Up to `more` rows may be appended next; not every such call is followed by `appended`. May
    /// throw, which prevents the change. The room that it makes must last: a change that is undone
    /// appends the rows again that it has removed, without another preparation.
    virtual void prepare(const chunk_data& chunk, std::size_t more) = 0;
    /// The rows from `first` on are new.
    virtual void appended(const chunk_data& chunk, std::size_t first,
                          std::size_t count) noexcept = 0;
    /// This row was removed. The last row, if it was another, has taken its place.
    virtual void removed(const chunk_data& chunk, std::size_t row) noexcept = 0;
    /// Undoes `removed`: the row is back, and the row that had its place is the last again.
    virtual void restored(const chunk_data& chunk, std::size_t row) noexcept = 0;
    /// All rows from `size` on were removed.
    virtual void truncated(const chunk_data& chunk, std::size_t size) noexcept = 0;
    /// The rows have another order.
    virtual void permuted(const chunk_data& chunk) noexcept = 0;
    /// The chunk, which has no rows, is about to be freed.
    virtual void freed(const chunk_data& chunk) noexcept = 0;

protected:
    ~row_follower() = default;
};

}  // namespace MUSTER_NAMESPACE::detail
