// row_exchange: rows that move between worlds. An entity keeps its id wherever it is:
//
//     home of e       record of e: away, in W:9      `alive` is true; its components are in W:9
//     W:9             a row of the guest e           loops and calls treat it like any entity
//
// The home is the world that has issued the id. Guests have no record in other worlds, and chunks
// of their own. No hook is called and no observer is notified: the entity has gained and lost
// nothing. A guest has chunk fragments only, and no links: its world keeps both ends of each.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/storage/chunk_data.hpp>
#include <muster/type/fragment_data.hpp>
#include <muster/type/type_info.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct engine;

/// The fragment of guests, so that they have chunks of their own. A guest cannot lose it.
struct guest_mark {};

}  // namespace MUSTER_NAMESPACE::detail

template <>
struct muster::component_traits<muster::detail::guest_mark> {
    static constexpr std::string_view name = "guest";
    static constexpr bool unique = true, internal = true;
};

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API row_exchange {
public:
    explicit row_exchange(engine& owner) noexcept : engine_(owner) {}
    row_exchange(const row_exchange&) = delete;
    row_exchange& operator=(const row_exchange&) = delete;

    /// Returns the chunk of guests with exactly these fragments, sorted by number. Throws as
    /// `chunk_graph::ensure` does.
    chunk_data& guest_chunk(slice<fragment_data* const> set);

    /// Appends a row for each id, and moves the values from `columns`, which has for each column of
    /// the chunk the address of its first value. In a chunk of guests, all ids must be of other
    /// worlds and have no row here; in another chunk, all must be away. Throws `errc::id_taken`,
    /// `errc::dead_entity` or `errc::in_scope`; all or none.
    void adopt(chunk_data& into, slice<const std::uint64_t> ids, slice<std::byte* const> columns);
    /// Removes these rows, in ascending order, and moves their values to `columns`, which has room
    /// for them. Entities of this world are then away, in `world`; guests are unknown. Throws
    /// `errc::not_movable` if an entity is a fragment, has sparse fragments, or is an end of a link,
    /// `errc::limit` if no record can hold the number of the world, or `errc::in_scope`; all or none.
    void take(chunk_data& from, slice<const std::uint32_t> rows, std::uint64_t world,
              slice<std::byte* const> columns);

    [[nodiscard]] bool is_away(std::uint64_t e) const noexcept;
    [[nodiscard]] std::size_t away_count() const noexcept { return away_count_; }
    /// Returns the world that has the components of an entity that is away.
    [[nodiscard]] std::uint64_t world_of(std::uint64_t e) const noexcept;
    /// Records that an entity, which is away, is in another world now.
    void move_away(std::uint64_t e, std::uint64_t world);
    /// Ends an entity that has died in another world.
    void destroy_away(std::uint64_t e) noexcept;
    void forget_away() noexcept { away_count_ = 0; }

private:
    void refuse_adopted(const chunk_data& into, slice<const std::uint64_t> ids) const;
    void refuse_taken(const chunk_data& from, slice<const std::uint32_t> rows,
                      std::uint64_t world) const;

    engine& engine_;
    std::size_t away_count_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
