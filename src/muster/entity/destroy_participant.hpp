// destroy_participant: a room that takes part when entities are destroyed, because entities depend
// on each other in it.
//
//     collect    what is destroyed with them, until no participant adds more
//     check      may they all be destroyed?
//     release    what survives, but loses a fragment
//     prepare    steps that may fail
//                   ... the hooks of all of them ...
//     finish     before the first value and id ends
//
// The world asks participants about an operation only if one of its entities has a mark, see
// `catalog::mark_for_destroy`, or is in a chunk whose rows a room follows, see `row_follower`. All
// other entities take the fast paths.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/config.hpp>
#include <muster/base/slice.hpp>
#include <muster/base/sparse_array.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/storage/chunk_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace MUSTER_NAMESPACE::detail {

/// The entities that one operation destroys, each once, in the order in which they were added.
class destroy_set {
public:
    explicit destroy_set(const entity_directory& entities) noexcept : entities_(entities) {}

    /// Adds a living entity. Returns false if it is there already. May throw.
    bool add(std::uint64_t e) {
        if (entities_.is_guest(e)) {  // the key is that of a native entity
            if (!guests_.insert(e).second) return false;
        } else {
            std::uint64_t& word = bits_.ensure(entities_.key_of(e) / 64, 0);
            if ((word & bit_of(e)) != 0) return false;
            word |= bit_of(e);
        }
        all_.push_back(e);
        return true;
    }
    /// Sets the order of their hooks.
    void arrange(array_list<std::uint64_t>& order) noexcept { ordered_.swap(order); }
    [[nodiscard]] slice<const std::uint64_t> ordered() const noexcept {
        return ordered_.empty() ? all_ : ordered_;
    }
    /// Whether a living entity is among them.
    [[nodiscard]] bool has(std::uint64_t e) const {
        if (entities_.is_guest(e)) return guests_.contains(e);
        const std::uint64_t* const word = bits_.find(entities_.key_of(e) / 64);
        return word != nullptr && (*word & bit_of(e)) != 0;
    }
    [[nodiscard]] slice<const std::uint64_t> all() const noexcept { return all_; }
    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

    /// Divides them: `whole` are chunks of which all entities are destroyed, `rest` the entities in
    /// other chunks. Without this call, no chunk is whole. May throw.
    void divide(const chunk_graph& graph) {
        array_list<chunk_index> places;
        array_list<std::size_t> counts(graph.end(), 0);
        places.reserve(all_.size());
        for (const std::uint64_t e : all_) {
            places.push_back(entities_.locate(e).chunk);
            ++counts[to_int(places.back())];
        }
        const auto is_whole = [&](const chunk_data& chunk) {
            return chunk.index != chunk_index{} && !chunk.has_guests && !chunk.is_away &&
                   counts[to_int(chunk.index)] == chunk.size;
        };
        for (chunk_data* chunk : graph.all())
            if (chunk->size != 0 && is_whole(*chunk)) whole_.push_back(chunk);
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (!is_whole(graph.at(places[i]))) rest_.push_back(all_[i]);
        is_divided_ = true;
    }
    [[nodiscard]] slice<chunk_data* const> whole() const noexcept { return whole_; }
    [[nodiscard]] slice<const std::uint64_t> rest() const noexcept {
        return is_divided_ ? rest_ : all_;
    }
    /// The creation of an entity is undone: a hook that throws cannot prevent it.
    bool is_undo = false;

private:
    [[nodiscard]] std::uint64_t bit_of(std::uint64_t e) const noexcept {
        return std::uint64_t{1} << entities_.key_of(e) % 64;
    }

    const entity_directory& entities_;
    array_list<std::uint64_t> all_;
    array_list<std::uint64_t> ordered_;         // by `arrange`
    sparse_array<std::uint64_t> bits_;          // by key / 64
    std::unordered_set<std::uint64_t> guests_;  // those that are guests
    array_list<chunk_data*> whole_;
    array_list<std::uint64_t> rest_;
    bool is_divided_ = false;
};

struct fragment_data;

/// A fragment that an entity loses although it survives the operation, or whose word changes.
struct fragment_loss {
    std::uint64_t e;
    fragment_data* fragment;
    bool is_regrouped = false;
    std::uint64_t word = 0;
};

/// A participant must not change the world in these calls.
class MUSTER_API destroy_participant {
public:
    destroy_participant() = default;
    destroy_participant(const destroy_participant&) = delete;
    destroy_participant& operator=(const destroy_participant&) = delete;

    /// Adds the entities that are destroyed together with those from `first` on. May throw.
    virtual void collect(destroy_set& dying, std::size_t first) = 0;
    /// Throws if exactly these may not be destroyed. Not called by `reset`, which destroys all,
    /// nor for an entity whose creation is undone.
    virtual void check(const destroy_set& dying) const = 0;
    /// Sets the order of the entities' hooks. Not called if no one is notified.
    virtual void arrange(destroy_set&) {}
    /// Adds what living entities outside of the operation lose by it, and their new words; each
    /// fragment once. May throw.
    virtual void release(const destroy_set&, array_list<fragment_loss>&) {}
    /// Takes all steps that may throw. A hook may still prevent the operation, without a notice.
    virtual void prepare(const destroy_set& dying) = 0;
    /// The operation fails. It may be the innermost of several: a hook may undo the creation of an
    /// entity.
    virtual void cancel(const destroy_set&) noexcept {}
    /// These are about to be destroyed; their values are still there.
    virtual void finish(const destroy_set& dying) noexcept = 0;
    /// There is no memory to undo the creation of an entity as above. Forgets it, without notice.
    virtual void abandon(std::uint64_t) noexcept {}
    /// Throws if a living entity cannot leave for another world, since others depend on it here.
    virtual void refuse_to_leave(std::uint64_t) const {}
    /// All entities were destroyed at once.
    virtual void reset() noexcept = 0;

protected:
    ~destroy_participant() = default;
};

}  // namespace MUSTER_NAMESPACE::detail
