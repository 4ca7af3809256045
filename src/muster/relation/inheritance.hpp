// inheritance: values that instances inherit from their prefabs, by `is_a`.
//
//     goblin         is_a monster    [ health 20 ][ speed 3 ]      its own values
//     entity e7      is_a goblin     [ place ]                     inherits health and speed
//
// An instance inherits a value from the nearest prefab above it that has one of its own. Instances of a
// prefab share chunks, whose word is the prefab. So one value stands for all rows of a chunk.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/query/term_resolver.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

struct engine;

/// An extension of a world: it exists once a fragment is inherited.
class MUSTER_API inheritance final : public term_resolver {
public:
    inheritance(engine& owner, query_cache& queries);
    inheritance(const inheritance&) = delete;
    inheritance& operator=(const inheritance&) = delete;
    ~inheritance();

    /// Makes the values of a fragment inherited, in queries that are made afterwards.
    static void inherit(engine& owner, query_cache& queries, fragment_data& fragment);

    /// O(chunks of instances).
    [[nodiscard]] std::uint64_t version() const noexcept override;
    [[nodiscard]] slice<const fragment_data* const> expand(
        const term& wanted) const noexcept override;
    [[nodiscard]] const void* outside(const term& wanted,
                                      const chunk_data& chunk) const noexcept override;

private:
    /// The context of the functions of a fragment.
    struct entry {
        const inheritance* room;
        const fragment_data* fragment;
        std::uint64_t id;  // of the fragment, which may be destroyed
    };
    struct source {
        std::uint64_t prefab;
        const void* value;  // null: none
    };
    void add(fragment_data& fragment);
    [[nodiscard]] static source find(const void* context, std::uint64_t e) noexcept;
    [[nodiscard]] bool is_inherited(const fragment_data& fragment) const noexcept;
    [[nodiscard]] const fragment_data* links_of_instances() const noexcept;
    [[nodiscard]] std::uint64_t state_of(std::uint64_t prefab, chunk_index chunk) const noexcept;
    [[nodiscard]] source find(std::uint64_t prefab, const fragment_data& fragment) const noexcept;
    [[nodiscard]] std::uint64_t prefab_of(const chunk_data& chunk) const noexcept;

    engine& engine_;
    query_cache& queries_;
    resolver_index number_{};
    array_list<entry*> inherited_;              // owned; by the number of the fragment, or null
    mutable array_list<std::uint64_t> states_;  // by chunk: the state of its prefab; 0: unknown
    mutable std::uint64_t version_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
