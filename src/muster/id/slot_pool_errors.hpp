// slot_pool_errors: the messages of the pools. They are templates over the layout, so that only
// programs that use a pool compile them.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/id/id.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

namespace MUSTER_NAMESPACE::detail {

/// The keys of a pool, for its messages.
struct key_counts {
    std::uint64_t first = 0;  // key of the range
    std::uint64_t last = 0;
    std::uint64_t available = 0;
    std::size_t retired = 0;
    std::size_t tombstones = 0;
    std::size_t reserved = 0;  // for command buffers
};

template <class Layout>
[[noreturn]] MUSTER_COLD void raise_no_key_left(std::uint64_t wanted, const key_counts& keys) {
    const std::uint64_t all = keys.last - keys.first + 1;
    std::string sentence = text("no key is left for ", wanted, wanted == 1 ? " more id" : " ids",
                                ": the range ", keys.first, " to ", keys.last, " has ", all,
                                all == 1 ? " key, " : " keys, ", keys.available, " of them free");
    if (keys.reserved != 0)
        sentence += text(", ", keys.reserved,
                         " reserved for command buffers, which return them when they are applied "
                         "or destroyed");
    if (keys.retired != 0) sentence += text(", ", keys.retired, " retired");
    if (keys.tombstones != 0)
        sentence += text(", ", keys.tombstones, " tombstones that recycle_tombstones() would free");
    raise(errc::id_overflow, sentence);
}

/// The phase cannot use `others` of the keys: command buffers have reserved them, or may do so.
template <class Layout>
[[noreturn]] MUSTER_COLD void raise_no_key_in_phase(const key_counts& keys, std::uint64_t others) {
    raise(errc::id_overflow,
          text("no key is left for 1 more id: a parallel phase has used its share of the ",
               keys.last - keys.first + 1, " keys of the range ", keys.first, " to ", keys.last,
               others == 0 ? std::string()
                           : text("; ", others, " are reserved for command buffers")));
}

/// Throws if no pool of this layout, or no pool of this world, can issue `wanted`. Here and below,
/// `where` is the call of `spawn_at`; null: there is none.
template <class Layout>
void refuse_impossible(basic_id<Layout> wanted, std::uint64_t world,
                       const std::source_location* where) {
    const char* why = nullptr;
    if (wanted.is_null())
        why = "it is the null id";
    else if (basic_id<Layout>::assemble(wanted.key(), wanted.version(), wanted.world()) != wanted)
        why = "it has bits outside of its layout";
    else if (wanted.key() < Layout::first_key)
        why = "its key is below the first key";
    else if (wanted.version() < Layout::first_version)
        why = "its version is below the first version";
    else if (wanted.version() > Layout::last_issued_version)
        why = "its version is reserved for tombstones";
    else if (Layout::world_bits != 0 && wanted.world() == 0)
        why = "0 is not a world number";
    if (why != nullptr)
        raise(errc::id_out_of_range,
              text(to_string(wanted), " can never be alive: ", why, place_of("spawn_at", where)));
    if (wanted.world() != world)
        raise(errc::foreign_entity, text(to_string(wanted), " belongs to world W:", wanted.world(),
                                         ", not to W:", world, place_of("spawn_at", where)));
}

template <class Layout>
[[noreturn]] MUSTER_COLD void raise_reserved(basic_id<Layout> wanted,
                                             const std::source_location* where) {
    raise(errc::id_taken,
          text(to_string(wanted), " cannot be created: a command buffer has reserved its key",
               place_of("spawn_at", where)));
}

/// `living` has the key of `wanted`.
template <class Layout>
[[noreturn]] MUSTER_COLD void raise_taken(basic_id<Layout> wanted, basic_id<Layout> living,
                                          const std::source_location* where) {
    const std::string place = place_of("spawn_at", where);
    raise(wanted < living ? errc::id_stale : errc::id_taken,
          wanted == living ? text(to_string(wanted), " is already alive", place)
                           : text(to_string(wanted), " cannot be created: its key is in use by ",
                                  to_string(living), place));
}

/// `next` is the next version of the key.
template <class Layout>
[[noreturn]] MUSTER_COLD void raise_stale(basic_id<Layout> wanted, std::uint64_t next,
                                          const std::source_location* where) {
    const std::string place = place_of("spawn_at", where);
    const std::string key = text(to_string(wanted), " cannot be created: key ", wanted.key());
    if (next <= Layout::last_issued_version)
        raise(errc::id_stale, text(key, " is already at version ", next, place));
    if (Layout::on_exhaustion == exhaustion::retire)
        raise(errc::id_stale, text(key, " is retired: it has no versions left", place));
    raise(errc::id_stale,
          text(key, " is a tombstone: recycle_tombstones() makes it usable again", place));
}

}  // namespace MUSTER_NAMESPACE::detail
