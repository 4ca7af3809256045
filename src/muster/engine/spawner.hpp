// spawner: creates entities: one, many, clones.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/storage/chunk_data.hpp>
#include <muster/storage/id_column.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class held_values;

/// The values of many new rows: `values[i]` for `fragments[i]`; one for all rows if `step` is 0,
/// one per row if it is 1. A function that reallocates a column updates the addresses in it.
struct row_values {
    slice<fragment_data* const> fragments;
    argument_addresses values;
    std::size_t step = 0;
    bool relocates = false;  // only for `spawn_rows_at`: moves the values instead of copying them

    /// Returns the position of this fragment's value in `values`, or null.
    [[nodiscard]] const void* const* find(const fragment_data* fragment) const noexcept {
        for (std::size_t i = 0; i < fragments.size(); ++i)
            if (fragments[i] == fragment) return &values[i];
        return nullptr;
    }
};

/// A caller's function that writes the values of new rows: of `rows`, from row `first` on.
struct row_filler {
    void (*call)(const void* what, const chunk_data& rows, std::size_t first);
    const void* what;

    void operator()(const chunk_data& rows, std::size_t first) const { call(what, rows, first); }
};

/// New entities that are copies of one prototype.
struct cloned_rows {
    target prototype;
    chunk_data* given_chunk;
    row_values given;
    slice<change> moved;         // of one entity: the changes that construct `given`, else empty
    id_span out;                 // receives the ids
    chunk_data* into = nullptr;  // set by `clone_rows`: they are its last rows at that time
    std::size_t first = 0;
};
/// A function that changes values of new entities before anyone sees them.
struct row_translator {
    void (*call)(const void* what, const cloned_rows& rows, slice<fragment_data* const> fragments);
    const void* what;

    void operator()(const cloned_rows& rows, slice<fragment_data* const> fragments) const {
        call(what, rows, fragments);
    }
};

class MUSTER_API spawner {
public:
    explicit spawner(engine& owner) noexcept : engine_(owner) {}
    spawner(const spawner&) = delete;
    spawner& operator=(const spawner&) = delete;

    /// Creates an entity with these values: `wanted` or, if that is null, a new id.
    std::uint64_t spawn(slice<change> values, const target* wanted);
    /// Creates an entity like `prototype`, with the given values in place of its own.
    std::uint64_t clone(target prototype, slice<change> values);

    /// Creates an entity for each element of `out`, in one chunk; all or none.
    void spawn_many(id_span out, chunk_data& given_chunk, const row_values& given);
    /// The prototype is alive.
    void clone_many(id_span out, target prototype, chunk_data& given_chunk,
                    const row_values& given);
    /// Creates `count` entities; `fill` writes the values of the new rows.
    void spawn_rows(std::size_t count, chunk_data& given_chunk, const row_values& given,
                    const row_filler& fill);
    /// Creates exactly these ids, in new rows of this chunk, which has no sparse fragments; all or
    /// none. Adds no needed fragments. Columns without given values receive default values. Hooks and
    /// observers are notified as by `spawn_many`. Values that relocate must lie outside of the
    /// chunks; if the call throws, even from a hook, they are where they were. Throws as
    /// `id_pool::create_at` does, `errc::id_taken` if two ids have the same key, and `errc::in_scope`
    /// in a scope. O(values), and O(n log n) if the ids are not in the order of keys.
    void spawn_rows_at(id_span wanted, chunk_data& into, const row_values& given);
    /// Creates these clones, all or none, outside of scopes. `out` are parts of `made`. Calls
    /// `translate` when all of them have their values, before the first hook.
    void clone_rows(slice<cloned_rows> all, id_span made, const row_translator& translate);
    /// Throws `errc::limit` if a chunk cannot have so many rows; see `refuse_rows`.
    void refuse_clones(slice<const cloned_rows> all);
    /// Records a new entity with copies of the prototype's values, except for fragments of `given`.
    /// The caller has opened a scope, and holds a `record_guard`.
    std::uint64_t record_clone(target prototype, const chunk_data& given) {
        const std::uint64_t made = record_new_id();
        record_copies(made, prototype, given);
        return made;
    }
    /// Makes the last step of a call that creates entities. If it throws, because a change that a hook
    /// has recorded fails, destroys them: the caller does not receive their ids.
    template <class Call>
    void finish(id_span made, Call call);  // in run.hpp
    /// Throws `errc::id_overflow` if `count` ids cannot be created, or `errc::in_scope`.
    /// Allocates nothing for them.
    void refuse_many(std::size_t count);
    /// Throws `errc::limit` if the chunk of `count` such entities, or clones of `prototype`, cannot
    /// have so many rows. Allocates nothing for them.
    void refuse_rows(std::size_t count, chunk_data& given_chunk, const target* prototype = nullptr);

    /// Creates a fragment, with this name if it is not empty.
    std::uint64_t make_fragment(value_type_ref type, std::string_view name);
    /// The same, for a type that is described at run time. The fragment stores a copy.
    std::uint64_t make_fragment(const type_info& own, std::string_view name);

private:
    /// The origin of those values of new rows that are not given.
    struct row_origin {
        const chunk_data* copied = nullptr;  // the fragments to copy; null: none
        const chunk_data* from = nullptr;    // the chunk to copy from
        std::size_t row = 0;
        const chunk_data* written = nullptr;    // fragments that the caller writes; null: none
        const chunk_data* defaulted = nullptr;  // fragments with default values unless given
        [[nodiscard]] bool writes(const fragment_data& fragment) const noexcept {
            return written != nullptr && written->has(fragment);
        }
        [[nodiscard]] bool copies(const fragment_data& fragment) const noexcept {
            return copied != nullptr && copied->has(fragment) &&
                   (defaulted == nullptr || !defaulted->has(fragment));
        }
    };

    std::uint64_t spawn_now(chunk_data& into, chunk_data& given, slice<change> values,
                            slice<fragment_data* const> fragments, const target* wanted);
    chunk_data& group_of(chunk_data& into, slice<const change> values,
                         slice<fragment_data* const> fragments);
    template <class Fill>
    std::uint64_t spawn_notifying(Fill fill, slice<change> values,
                                  slice<fragment_data* const> fragments, const chunk_data& like,
                                  const target* wanted, bool opens_scope);
    template <class Record>
    std::uint64_t record_entity(Record record, const target* wanted);
    std::uint64_t record_spawn(slice<change> values, const target* wanted);
    /// Ids that stay where they are while rows move.
    struct kept_ids {
        array_list<std::uint64_t> memory;  // aligned for ids of any layout
        id_span all;
        explicit kept_ids(id_span from)
            : memory(from.count),
              all{reinterpret_cast<std::byte*>(memory.data()), from.count, from.width} {
            from.copy_to(all);
        }
    };
    void take_back(id_span made) noexcept;
    std::uint64_t record_new_id();
    void hold_copies(held_values& held, target prototype, const chunk_data& given);
    void record_copies(std::uint64_t made, target prototype, const chunk_data& given);
    void record_many(id_span out, chunk_data& given_chunk, const row_values& given,
                     const target* prototype);
    void stage_many(id_span out, const chunk_data& given_chunk, const row_values& given,
                    const target* prototype);
    void stage_rows(chunk_data& staged, std::size_t count, chunk_data& given_chunk,
                    const row_values& given);
    void record_rows(chunk_data& staged);
    void spawn_empty(id_span out);

    void write_rows(chunk_data& into, std::size_t count, const row_values& given,
                    const row_origin& origin);
    void append_clones(cloned_rows& rows, row_origin origin);
    void commit_clones(slice<const cloned_rows> all, id_span made);
    void undo_clones(const cloned_rows& rows) noexcept;
    void create_rows(chunk_data& into, std::size_t count, const row_values& given,
                     const row_origin& origin);
    void refuse_equal_keys(id_span wanted) const;
    static void relocate_given(const chunk_data& into, std::size_t first, std::size_t count,
                               const row_values& given, bool is_back) noexcept;
    void construct_given(chunk_data& into, slice<const change> values,
                         slice<fragment_data* const> fragments) noexcept;
    void refuse_without_default(const chunk_data& into, const row_origin& origin,
                                const row_values& given) const;
    void refuse_uncopyable(target prototype, const chunk_data& part, const chunk_data& given) const;
    void append_rows(chunk_data& into, std::size_t count) noexcept;
    std::uint64_t append_row(chunk_data& into, std::uint64_t made) noexcept;
    void show_rows(id_span out, chunk_data& into);

    engine& engine_;
};

}  // namespace MUSTER_NAMESPACE::detail
