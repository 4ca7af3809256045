// batch: changes many entities at once, chunk by chunk. Each chunk changes as a whole or not at all.
// A chunk that fails does not stop the others; the first exception is thrown at the end. Changes of
// sparse fragments are applied entity by entity instead, and so are removals of values that concern
// further entities.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/change/journal.hpp>
#include <muster/storage/chunk_data.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct engine;
struct value_source;

class MUSTER_API batch {
public:
    explicit batch(engine& owner) noexcept : engine_(owner) {}
    batch(const batch&) = delete;
    batch& operator=(const batch&) = delete;

    /// Changes all entities that `finder` finds, now or when the scope ends. Copies `values[i]`, if
    /// it exists, for `changes[i]`. Returns how many entities are affected in the current state of
    /// the world.
    std::size_t change_all(const target_finder& finder, slice<const change_shape> changes,
                           slice<const void* const> values, const char* call,
                           const std::source_location& where = {});
    /// Like `change_all`, with default values, for entities that lack them (`keep`) or all (`put`).
    std::size_t put_defaults(const target_finder& finder, change_kind kind,
                             slice<const std::uint64_t> fragments, const char* call);
    std::size_t remove_all(const target_finder& finder, slice<const std::uint64_t> fragments);

    /// Removes the fragment from all entities. Returns how many had it.
    std::size_t clear_fragment(const fragment_data& fragment);
    std::size_t clear_fragment_now(fragment_data& fragment);
    /// Copies the value of `from` to `to`, for all owners of `from`. Returns how many there are.
    std::size_t copy_fragment(std::uint64_t from, std::uint64_t to,
                              const std::source_location& where);
    std::size_t copy_fragment_now(const fragment_data& source, fragment_data& target);

    /// Applies a recorded batch.
    void apply(const journal_group& group);

private:
    [[nodiscard]] bool concerns(std::uint64_t e, slice<const change_shape> shape) const;
    [[nodiscard]] std::size_t count_concerned(const chunk_data& chunk,
                                              slice<const change_shape> shape) const;
    [[nodiscard]] std::size_t count_mortal(const chunk_data& chunk) const noexcept;
    bool arrange(const batch_targets& found, slice<const change_shape> shape,
                 slice<std::uint64_t> all) const;
    void apply_by_id(const batch_targets& found, slice<const change_shape> shape,
                     slice<const value_source> values, const journal_note& note);
    void change_one(std::uint64_t e, slice<const change_shape> shape,
                    slice<const value_source> values);
    void change_chunk(chunk_data& chunk, slice<const change_shape> shape,
                      slice<const value_source> values);
    bool destroy_together(const batch_targets& found, const journal_note& note);
    void destroy_chunk(chunk_data& chunk, const journal_note& note);
    void destroy_one(target of, std::string_view system);
    bool clear_with_sparse(const chunk_data& chunk);
    template <class Change>
    std::size_t each_chunk(slice<chunk_data* const> chunks, Change change);
    template <class Change>
    std::size_t each_owner(const fragment_data& fragment, Change change);

    engine& engine_;
};

}  // namespace MUSTER_NAMESPACE::detail
