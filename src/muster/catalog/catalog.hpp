// catalog: what a world knows of fragments: it finds them, creates and defines them, and finds the
// chunks and the transitions of their sets. Changes no entity's components.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/catalog/bundle_index.hpp>
#include <muster/catalog/component_lookup.hpp>
#include <muster/catalog/error_reporter.hpp>
#include <muster/catalog/transition_builder.hpp>
#include <muster/change/gate.hpp>
#include <muster/change/journal.hpp>
#include <muster/entity/destroy_marks.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/entity/name_table.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/type/fragment_table.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API catalog {
public:
    /// The parts of a world that a catalog uses.
    struct parts {
        gate& changes;
        destroy_marks& marks;
        bundle_index& bundles;
        fragment_table& fragments;
        chunk_graph& graph;
        sparse_table& sparse;
        name_table& names;
        journal& pending;
        entity_directory& entities;
        const component_lookup& components;
        const error_reporter& errors;
    };
    explicit catalog(const parts& all) noexcept : parts_(all) {}
    catalog(const catalog&) = delete;
    catalog& operator=(const catalog&) = delete;

    // ---- fragments -----------------------------------------------------------------------------

    /// Returns the fragment of a C++ type. The first call creates it.
    fragment_data& ensure(type_index type, const type_info& info) {
        const fragment_data& found = parts_.fragments.find(type);
        if (&found == &no_fragment) [[unlikely]]
            return add(type, info);
        // SAFETY: `add` made all fragments except for `no_fragment`; they are not const.
        return const_cast<fragment_data&>(found);
    }
    /// Returns the fragment with this id for values of this type. An unused id becomes such a
    /// fragment. `where` is null if the call has no source location.
    fragment_data& ensure(std::uint64_t f, value_type_ref type,
                          const std::source_location* where = nullptr) {
        fragment_data* const found = parts_.fragments.find(f);
        if (found != nullptr && !found->is_untyped && fits(*found, type)) [[likely]]
            return *found;
        return adopt(f, type, where);
    }
    /// Returns the fragment of a change; creates it if necessary.
    fragment_data& ensure(const change& given, const std::source_location* where) {
        return given.fragment.is_typed()
                   ? ensure(static_cast<type_index>(given.fragment.what), *given.fragment.type)
                   : ensure(given.fragment.what, given.type, given.place(where));
    }
    /// Returns the fragment with this key, for a room that owns fragments without a C++ type. The
    /// first call creates it for values of this type, which must outlive it; `name`, if it is not
    /// empty, replaces the name of the type in messages. The id is world-owned: `size`, loops over
    /// entities, `destroy_if` and `reset` skip it. If the user destroys it, its owners lose it, or
    /// are destroyed, as for any fragment; the next call creates it anew. Throws `errc::in_scope`
    /// in a phase or a change, `errc::id_overflow` and `std::bad_alloc`, which change nothing.
    /// Invalidates records. O(1).
    fragment_data& ensure_internal(const fragment_key& key, const type_info& info,
                                   std::string_view name = {});
    /// Returns the fragment with this name or, if there is none, `no_fragment`.
    [[nodiscard]] const fragment_data& find(fragment_name name) const noexcept {
        const fragment_data& found = name.is_typed()
                                         ? parts_.fragments.find(static_cast<type_index>(name.what))
                                         : parts_.fragments.lookup(name.what);
        return found.alias == nullptr ? found : *found.alias;
    }
    /// Returns the fragment with this id. Throws if it does not exist or has no type.
    fragment_data& get(std::uint64_t f, const char* call, const std::source_location* where) const;
    /// Returns the fragment with this id. An unused id becomes an untyped fragment.
    fragment_data& open(std::uint64_t f);
    /// Returns the fragment with this id. If it has no type yet, it becomes a tag.
    fragment_data& typed_or_tag(std::uint64_t f, const std::source_location* where);
    /// Makes a living id a fragment of the same type as `source`.
    fragment_data& adopt_like(const fragment_data& source, std::uint64_t f,
                              const std::source_location& where);
    /// Makes a living id a fragment.
    fragment_data& add(std::uint64_t f, value_type_ref type);
    /// Throws if values of this type do not fit the fragment. Changes nothing.
    void refuse_misfit(const change& given, const std::source_location* where) const;
    /// Frees the chunks of a fragment that is about to be destroyed, and all that depends on it.
    void forget(fragment_data& fragment) noexcept;

    /// Makes other changes follow whenever an entity gains or loses this fragment: with it or in place
    /// of it, in the same move, seen by hooks and observers. See transition_builder.hpp for their
    /// order. Entities that have or lack the fragment already stay as they are. A rule that is there
    /// already is not added twice, nor one about the fragment itself. O(rules of the fragment, or
    /// rules about the other, if these are fewer).
    void imply(std::uint64_t f, slice<const implied_change> rules);
    /// Adding the fragment adds the default values of these.
    void add_needs(std::uint64_t f, slice<fragment_data* const> needed);
    /// Makes the fragment sparse. Throws `errc::fragment_in_use` if an entity has it or a value is
    /// pending.
    void make_sparse(fragment_data& fragment);
    /// Gives the fragment words: each divides the entities that have it into groups, in chunks of
    /// their own. Throws `errc::fragment_in_use` if an entity has it, a value is pending, or it is
    /// sparse.
    void add_words(fragment_data& fragment);
    void name(target of, std::string_view name);
    /// Makes `follower`, which the caller owns, the one follower of the rows in the chunks of this
    /// fragment, and shows it the existing rows. What `prepare` throws changes nothing. Throws
    /// `errc::in_scope` inside a change. O(chunks of the fragment).
    void follow(fragment_data& fragment, row_follower& follower);
    /// Makes `room`, which the caller owns, the participant of a fragment that no entity has, and
    /// that no chunk has ever had. `std::bad_alloc` changes nothing.
    void take_part(fragment_data& fragment, value_participant& room);
    /// Removes the follower of the fragment, if it has one.
    void unfollow(fragment_data& fragment) noexcept;

    // ---- chunks --------------------------------------------------------------------------------

    /// Returns the chunk of exactly these fragments, in any order. Throws `errc::given_twice`.
    chunk_data& ensure_set(slice<fragment_data* const> set);
    /// Returns the chunk of this fragment alone.
    chunk_data& ensure_single_chunk(fragment_data& fragment) {
        return fragment.single_chunk != chunk_index{} ? parts_.graph.at(fragment.single_chunk)
                                                      : add_single_chunk(fragment);
    }
    /// Returns the chunk of a list of types; see `bundle_index`.
    chunk_data& ensure_bundle(list_index list, slice<fragment_data* const> set);
    [[nodiscard]] const recent_sets& recent() const noexcept { return recent_; }

    /// Returns the chunk of a clone before values are given: without the unique fragments.
    chunk_data& cloned_part(chunk_data& original);
    /// Returns the chunk of an entity of `part` to which those of `given` are added, in their order
    /// and with all implied changes.
    chunk_data& cloned_chunk(chunk_data& part, const chunk_data& given);
    /// Returns the word of a clone's fragment: that of the given chunk or, if it is 0, that of the
    /// prototype's part.
    [[nodiscard]] static std::uint64_t joined_word(const chunk_data& part, const chunk_data& given,
                                                   const fragment_data& fragment) noexcept;
    /// Whether any of these fragments, or of those that they imply, is sparse.
    [[nodiscard]] bool has_sparse_part(chunk_data& given);
    [[nodiscard]] bool has_sparse_part(slice<const change_shape> shape);
    /// Whether a change of this fragment may change a sparse one, as an implied change.
    [[nodiscard]] bool implies_sparse(fragment_data& fragment) const;
    /// Whether changes of these fragments imply changes of each other, so that their order matters.
    [[nodiscard]] bool is_ordered(chunk_data& set);

    // ---- transitions ---------------------------------------------------------------------------

    /// Returns the transition of an entity of `from` with these changes. Throws as
    /// `chunk_graph::ensure` does.
    transition_ref transition_for(chunk_data& from, std::uint64_t e,
                                  slice<const change_shape> shape);
    /// Returns the transition that adds or removes all fragments of `set`; values that are there
    /// stay. Null if it concerns sparse fragments, or if the order
    /// of the changes matters. A later call finds it as an edge.
    const transition* ensure_set_edge(chunk_data& from, chunk_data& set, bool removes);
    /// Returns the transition to the chunk of the same fragments with these words; see
    /// `chunk_graph::regroup`. A later call finds it as an edge.
    transition_ref regroup(chunk_data& from, slice<const std::uint64_t> words);

    /// Values of these fragments are stored: untyped ones have their types from now on.
    void fix_types(slice<fragment_data* const> fragments) noexcept;
    /// Call these after traits or hooks have changed: of one fragment, or of many. O(1), but
    /// O(sparse fragments) for many.
    void invalidate_traits(const fragment_data& fragment) noexcept;
    void invalidate_traits() noexcept;
    void invalidate_hooks(const fragment_data* fragment) noexcept;
    /// Forgets the chunks of lists; they may be freed.
    void forget_chunks() noexcept;

    // ---- ids -----------------------------------------------------------------------------------

    /// Whether the id is world-owned: the fragment of a C++ type, or of a room.
    [[nodiscard]] bool is_world_owned(std::uint64_t e) const noexcept {
        return parts_.entities.key_of(e) >= first_world_owned_key_ &&
               parts_.fragments.lookup(e).is_world_owned;
    }
    /// How many ids are world-owned.
    [[nodiscard]] std::size_t world_owned_count() const noexcept { return world_owned_count_; }
    void forget_world_owned() noexcept { world_owned_count_ = 0; }
    /// Makes the destruction of this entity take the slow path. `std::bad_alloc` changes nothing.
    void mark_for_destroy(std::uint64_t e) {
        parts_.marks.set(parts_.entities.key_of(e), 2 * parts_.entities.capacity() + 4096);
    }

private:
    [[nodiscard]] static bool fits(const fragment_data& fragment, value_type_ref type) noexcept {
        if (type.index != no_type) return fragment.value_type == type.index;
        return fragment.type->size == 0 || fragment.type == type.info;
    }
    MUSTER_COLD fragment_data& add(type_index type, const type_info& info);
    MUSTER_COLD fragment_data& adopt(std::uint64_t f, value_type_ref type,
                                     const std::source_location* where);
    fragment_data& own(fragment_data& made, bool is_sparse);
    void remove(fragment_data& fragment) noexcept;
    void refresh_sparse(const fragment_data& fragment) noexcept;
    [[nodiscard]] static bool has_rule(const fragment_data& fragment,
                                       const implied_change& rule) noexcept;
    static void drop_owner(const implied_change& rule) noexcept;
    MUSTER_COLD chunk_data& add_single_chunk(fragment_data& fragment);
    chunk_data& find_set(slice<fragment_data* const> set);
    [[nodiscard]] chunk_data* spawn_chunk(chunk_data& chunk) const noexcept;
    void show_name(fragment_data& fragment);
    void free_chunks_of(fragment_data& fragment, const char* what);
    chunk_data& joined_chunk(const chunk_data& part, const chunk_data& more);
    [[nodiscard]] bool concerns_sparse(slice<const change_shape> shape) const;
    void list_sparse(std::uint64_t e, slice<const change_shape> shape,
                     array_list<fragment_data*>& found);

    parts parts_;
    recent_sets recent_;
    transition_cache transitions_;
    array_list<fragment_data*> sparse_of_shape_;               // reused by `transition_for`
    std::uint64_t first_world_owned_key_ = ~std::uint64_t{0};  // the lowest world-owned key
    std::size_t world_owned_count_ = 0;
    std::uint64_t internal_from_ = ~std::uint64_t{0};  // higher keys are rarely free
};

}  // namespace MUSTER_NAMESPACE::detail
