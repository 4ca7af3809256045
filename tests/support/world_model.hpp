// world_model: the required behaviour of a world, written as plainly as possible with maps and
// vectors. It shares only the packing of ids with the world.
//
// Sparse kinds are in no chunk. If there are any, the model does not predict the order of chunks
// and rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "id_model.hpp"
#include "kinds.hpp"

namespace muster::test {

template <class Layout>
class world_model {
public:
    using id_type = basic_id<Layout>;
    using outcome = std::variant<id_type, errc>;
    using kind_set = std::set<int>;
    using values = std::map<int, int>;  // kind -> number

    struct entity_state {
        values has;
        std::string name;
    };

    world_model(std::uint64_t number, const id_pool_options& options)
        : ids_(options), number_(number), first_version_(options.first_version) {}

    // ---- reading -------------------------------------------------------------------------------

    bool alive(id_type e) const { return ids_.alive(e); }
    bool foreign(id_type e) const {
        return Layout::world_bits != 0 && !e.is_null() && e.world() != 0 && e.world() != number_;
    }
    /// The error of a call that requires `e` alive; empty if it is alive.
    std::optional<errc> trouble(id_type e) const {
        if (alive(e)) return {};
        return foreign(e) ? errc::foreign_entity : errc::dead_entity;
    }
    const entity_state& at(id_type e) const { return all_.at(e); }
    const std::map<id_type, entity_state>& all() const { return all_; }
    bool has(id_type e, int kind) const { return alive(e) && at(e).has.contains(kind); }
    /// The rows of a chunk.
    const std::vector<id_type>& rows(const kind_set& set) const {
        static const std::vector<id_type> none;
        const auto found = rows_.find(set);
        return found == rows_.end() ? none : found->second;
    }
    /// The kinds that are stored in the chunk of the entity.
    kind_set set_of(const values& has) const {
        kind_set made;
        for (const auto& [kind, value] : has)
            if (!sparse_.contains(kind)) made.insert(kind);
        return made;
    }
    bool is_sparse(int kind) const { return sparse_.contains(kind); }
    /// Whether no kind is or ever was sparse.
    bool is_plain() const { return is_plain_; }
    /// A number for the lifetime of a value. A value that is removed and added again has a new
    /// number.
    int life(id_type e, int kind) const { return lives_.at({e, kind}); }
    /// The entities of the user, by key.
    std::vector<id_type> living() const {
        std::vector<id_type> made;
        for (const id_type e : ids_.living())
            if (!is_world_owned(e)) made.push_back(e);
        return made;
    }
    std::size_t count(int kind) const {
        std::size_t sum = 0;
        for (const auto& [e, state] : all_) sum += state.has.contains(kind) ? 1u : 0u;
        return sum;
    }
    /// The first entity with this value, by chunk and row.
    id_type find(int kind, int value) const {
        for (const kind_set& chunk : order_)
            if (chunk.contains(kind))
                for (const id_type e : rows(chunk))
                    if (at(e).has.at(kind) == value) return e;
        return {};
    }
    /// Whether `e` has this value or, if `e` is null, no entity has it.
    bool is_found(id_type e, int kind, int value) const {
        if (e.is_null())
            return std::ranges::none_of(all_, [&](const auto& item) {
                const auto found = item.second.has.find(kind);
                return found != item.second.has.end() && found->second == value;
            });
        return has(e, kind) && at(e).has.at(kind) == value;
    }
    std::optional<id_type> fragment(int kind) const {
        const auto found = fragments_.find(kind);
        return found == fragments_.end() ? std::nullopt : std::optional(found->second);
    }
    std::uint64_t available() const { return ids_.available(); }

    // ---- changing ------------------------------------------------------------------------------

    /// Creates the fragment of a kind on its first use, with the highest free key.
    std::optional<errc> register_kind(int kind) {
        if (fragments_.contains(kind)) return {};
        const std::optional<id_type> made = highest_free();
        if (!made) return errc::id_overflow;
        fragments_[kind] = *made;
        all_[*made];
        return {};
    }
    /// Creates the missing fragments of these kinds, and their chunk.
    std::optional<errc> register_kinds(const std::vector<int>& kinds) {
        for (const int kind : kinds)
            if (const auto trouble = register_kind(kind)) return trouble;
        kind_set set(kinds.begin(), kinds.end());
        std::erase_if(set, [&](int kind) { return is_sparse(kind); });
        make_chunk(set);
        return {};
    }
    /// Creates the chunk of these kinds if it is missing.
    void make_chunk(const kind_set& set) {
        if (!set.empty() && std::ranges::find(order_, set) == order_.end()) order_.push_back(set);
    }

    /// Makes a kind sparse that no entity has.
    void make_sparse(int kind) {
        sparse_.insert(kind);
        is_plain_ = false;
    }

    outcome spawn(const values& has) {
        const outcome made = ids_.create();
        if (const id_type* e = std::get_if<id_type>(&made)) add(*e, has);
        return made;
    }
    outcome spawn_at(id_type wanted, const values& has) {
        const outcome made = ids_.create_at(wanted);
        if (const id_type* e = std::get_if<id_type>(&made)) add(*e, has);
        return made;
    }

    /// Replaces the components of the entity.
    void replace_all(id_type e, const values& has) {
        start_lives(e, has);
        make_chunk(set_of(has));
        const std::string name = at(e).name;
        if (set_of(has) == set_of(at(e).has)) {
            all_[e].has = has;
            return;
        }
        remove_row(e);
        add(e, has);
        all_[e].name = name;
    }

    bool destroy(id_type e) {
        if (!alive(e)) return false;
        std::optional<int> destroyed;
        for (const auto& [kind, fragment] : fragments_)
            if (fragment == e) destroyed = kind;
        if (destroyed) make_target_chunks(*destroyed);
        remove_row(e);
        all_.erase(e);
        if (destroyed) erase_kind(*destroyed);
        return ids_.destroy(e);
    }

    /// Removes a kind from all entities, chunk by chunk.
    std::size_t clear_kind(int kind) {
        if (!fragments_.contains(kind)) return 0;
        if (is_sparse(kind)) {
            std::size_t owners = 0;
            for (auto& [e, state] : all_) owners += state.has.erase(kind);
            return owners;
        }
        make_chunk({kind});
        std::size_t count = 0;
        const std::vector<kind_set> chunks = order_;
        for (const kind_set& chunk : chunks) {
            if (!chunk.contains(kind)) continue;
            const std::vector<id_type> owners = rows(chunk);
            if (owners.empty()) continue;
            count += owners.size();
            rows_.erase(chunk);
            for (const id_type e : owners) {
                all_[e].has.erase(kind);
                make_chunk(set_of(at(e).has));
                append_row(e);
            }
        }
        return count;
    }

    void reset() {
        rows_.clear();
        for (const id_type e : living()) ids_.destroy(e);
        for (auto at = all_.begin(); at != all_.end();)
            at = is_world_owned(at->first) ? std::next(at) : all_.erase(at);
        for (auto& [e, state] : all_) state.has.clear();
        std::erase_if(names_, [&](id_type e) { return !alive(e); });
    }

    void collect_garbage() {
        std::erase_if(order_, [&](const kind_set& chunk) { return rows(chunk).empty(); });
    }

    void name(id_type e, const std::string& name) {
        if (all_[e].name == name) return;
        std::erase(names_, e);
        all_[e].name = name;
        if (!name.empty()) names_.push_back(e);
    }
    std::vector<id_type> named(const std::string& name) const {
        std::vector<id_type> made;
        for (const id_type e : names_)
            if (alive(e) && at(e).name == name) made.push_back(e);
        return made;
    }

    std::size_t recycle_tombstones() { return ids_.recycle_tombstones(); }

private:
    bool is_world_owned(id_type e) const {
        for (const auto& [kind, fragment] : fragments_)
            if (fragment == e) return true;
        return false;
    }

    std::optional<id_type> highest_free() {
        for (std::uint64_t key = Layout::last_key;; --key) {
            std::uint64_t version = std::max(first_version_, Layout::first_version);
            for (; version <= Layout::last_issued_version; ++version) {
                const outcome made = ids_.create_at(
                    id_type::pack(key, version, Layout::world_bits == 0 ? 0 : number_));
                if (const id_type* e = std::get_if<id_type>(&made)) return *e;
                if (std::get<errc>(made) == errc::id_taken) break;
            }
            if (key == Layout::first_key) return {};
        }
    }

    void add(id_type e, const values& has) {
        start_lives(e, has);
        all_[e].has = has;
        append_row(e);
    }
    void append_row(id_type e) {
        if (const kind_set set = set_of(at(e).has); !set.empty()) rows_[set].push_back(e);
    }
    void start_lives(id_type e, const values& has) {
        for (const auto& [kind, value] : has)
            if (!all_[e].has.contains(kind)) lives_[{e, kind}] = ++last_life_;
    }

    void remove_row(id_type e) {
        const auto found = rows_.find(set_of(at(e).has));
        if (found == rows_.end()) return;
        const auto row = std::ranges::find(found->second, e);
        *row = found->second.back();
        found->second.pop_back();
    }

    /// Creates the target chunks of the entities that a removal of the kind moves.
    void make_target_chunks(int kind) {
        for (kind_set chunk : std::vector<kind_set>(order_))
            if (chunk.contains(kind) && !rows(chunk).empty()) {
                chunk.erase(kind);
                make_chunk(chunk);
            }
    }

    void erase_kind(int kind) {
        clear_kind(kind);
        fragments_.erase(kind);
        sparse_.erase(kind);
        std::erase_if(order_, [&](const kind_set& chunk) { return chunk.contains(kind); });
    }

    id_model<Layout> ids_;
    std::uint64_t number_;
    std::uint64_t first_version_;
    std::map<id_type, entity_state> all_;            // including the fragments of kinds
    std::map<kind_set, std::vector<id_type>> rows_;  // of each chunk
    std::vector<kind_set> order_;                    // chunks in creation order
    std::map<int, id_type> fragments_;               // of registered kinds
    std::vector<id_type> names_;                     // in the order of naming
    kind_set sparse_;
    bool is_plain_ = true;
    std::map<std::pair<id_type, int>, int> lives_;
    int last_life_ = 0;
};

}  // namespace muster::test
