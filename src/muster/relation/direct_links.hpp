// direct_links: changes of links outside of scopes of which no one is notified. They reserve memory, and then
// change both ends in place. All other changes are edits, in which the relation takes part.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/relation/link.hpp>
#include <muster/relation/relation_ref.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

struct chunk_data;
struct engine;
struct location;
class relation_data;

class MUSTER_API direct_links {
public:
    direct_links(engine& owner, relation_data& of) noexcept : engine_(owner), of_(of) {}
    direct_links(const direct_links&) = delete;
    direct_links& operator=(const direct_links&) = delete;

    enum class effect : std::uint8_t {
        unknown,  // nothing has changed: the change needs an edit
        none,     // the link was there already, or was not
        changed,  // a link was added, moved or removed
    };
    /// Relates living entities, if no one is to be notified of that. `link` describes the change.
    /// May throw, and has changed nothing then.
    effect relate(std::uint64_t e, location at, std::uint64_t target, const change& link);
    effect unrelate(std::uint64_t e, std::uint64_t target);
    /// See `relation_ref::prepare_source`.
    [[nodiscard]] source_place prepare_source(list_index types, slice<fragment_data* const> set,
                                              std::uint64_t target);

private:
    [[nodiscard]] bool is_possible(std::uint64_t e) const noexcept;
    effect move_link(std::uint64_t e, location at, std::uint64_t target, const change& given);
    effect add_link(std::uint64_t e, std::uint64_t target, const change& given);
    link_list& insert_list(std::uint64_t e, link_list&& list);
    [[nodiscard]] chunk_data* find_plain_chunk(slice<fragment_data* const> set, std::uint64_t word);

    engine& engine_;
    relation_data& of_;
    /// The chunk of new sources with values of these types.
    struct source_chunk {
        list_index types{};
        std::uint64_t word = 0;
        std::uint64_t epoch = 0;  // of the graph
        chunk_data* chunk = nullptr;
    };
    source_chunk recent_[16]{};
};

}  // namespace MUSTER_NAMESPACE::detail
