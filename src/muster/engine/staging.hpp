// staging: new entities whose values are constructed outside of the chunks, because some of them
// are sparse.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/change/change.hpp>
#include <muster/engine/spawner.hpp>
#include <muster/storage/chunk_data.hpp>
#include <muster/storage/id_column.hpp>
#include <muster/storage/sparse_set.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

struct engine;

/// New entities and their values:
///
///     staged   [ ids ][ position ][ burning ]     columns of a chunk outside of the graph
///     pinned   [ mutex: slots ]                   constructed in their final slots
///
/// The destructor destroys all of them unless `commit` has succeeded.
class staging {
public:
    staging(engine& owner, std::size_t count);
    staging(const staging&) = delete;
    staging& operator=(const staging&) = delete;
    ~staging();

    /// Constructs the values. With a prototype, those that are not given are copies of its values.
    /// `moved`, of one entity, are the changes that construct the given values; else it is empty.
    void construct(const chunk_data& given_chunk, const row_values& given, const target* prototype,
                   slice<change> moved = {});
    /// Creates the entities, without components. `commit` does it if it was not called.
    void create();
    /// Moves the values to their chunk and sparse sets, and notifies hooks. All or none.
    void commit();
    /// The part of `commit` before the hooks. Returns the chunk, where the entities have the last rows.
    chunk_data& place();
    /// Keeps the entities, which were placed.
    void keep() noexcept { is_committed_ = true; }

    /// All fragments of the entities.
    [[nodiscard]] slice<fragment_data* const> fragments() const noexcept { return fragments_; }

    [[nodiscard]] chunk_data& rows() noexcept { return staged_; }
    [[nodiscard]] id_span ids() noexcept { return {staged_.ids.data, count_, staged_.ids.size}; }

private:
    struct slots {
        sparse_set* set;
        array_list<slot_index> all;
        std::size_t filled = 0;  // the first `filled` slots have a value
    };

    void refuse_missing(const chunk_data& given_chunk, const row_values& given,
                        const target* prototype) const;
    [[nodiscard]] bool is_copied(const fragment_data& fragment, const chunk_data& given_chunk,
                                 const target* prototype) const;
    void move_values(chunk_data& into) noexcept;

    chunk_data staged_;  // outside of the graph
    engine& engine_;
    std::size_t count_;
    array_list<fragment_data*> fragments_;  // all fragments of the entities
    array_list<std::uint64_t> words_;       // of those in chunks
    std::vector<slots> slots_;              // per sparse fragment
    bool is_created_ = false;
    bool is_committed_ = false;
};

/// Returns all fragments of new entities: those given, those of the prototype, and those that they
/// need.
[[nodiscard]] array_list<fragment_data*> fragments_for(const engine& owner, const chunk_data& given,
                                                       const target* prototype);

}  // namespace MUSTER_NAMESPACE::detail
