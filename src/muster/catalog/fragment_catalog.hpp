// fragment_catalog: the fragments of a world: finds and creates them, and forgets what depends on them
// when they change.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/catalog/bundle_index.hpp>
#include <muster/catalog/component_lookup.hpp>
#include <muster/catalog/error_reporter.hpp>
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

class MUSTER_API fragment_catalog {
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
    explicit fragment_catalog(const parts& all) noexcept : parts_(all) {}
    fragment_catalog(const fragment_catalog&) = delete;
    fragment_catalog& operator=(const fragment_catalog&) = delete;

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

    // ---- caches --------------------------------------------------------------------------------

    /// Values of these fragments are stored: untyped ones have their types from now on.
    void fix_types(slice<fragment_data* const> fragments) noexcept;
    /// Call these after traits or hooks have changed: of one fragment, or of many. O(1), but
    /// O(sparse fragments) for many.
    void invalidate_traits(const fragment_data& fragment) noexcept;
    void invalidate_traits() noexcept;
    void invalidate_hooks(const fragment_data* fragment) noexcept;
    /// Forgets the chunks of lists; they may be freed.
    void forget_chunks() noexcept;
    [[nodiscard]] const recent_sets& recent() const noexcept { return recent_; }

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

protected:
    void refresh_sparse(const fragment_data& fragment) noexcept;
    /// Sets the name for messages: the user's name, else that of the type or the room, else the id.
    void show_name(fragment_data& fragment);
    /// Frees the chunks of a fragment that no entity has. They are empty, but a loop in an open
    /// scope may iterate over them.
    void free_chunks_of(fragment_data& fragment, const char* what);

    parts parts_;
    recent_sets recent_;

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
    static void drop_owner(const implied_change& rule) noexcept;

    std::uint64_t first_world_owned_key_ = ~std::uint64_t{0};  // the lowest world-owned key
    std::size_t world_owned_count_ = 0;
    std::uint64_t internal_from_ = ~std::uint64_t{0};  // higher keys are rarely free
};

}  // namespace MUSTER_NAMESPACE::detail
