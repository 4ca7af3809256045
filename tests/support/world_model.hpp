// world_model: what a world must do, written as plainly as possible with maps and vectors. It shares no
// code with the world but the packing of an id.
//
// Kinds that are sparse are in no chunk. Where there are some, the model does not know in which order chunks
// were made, and in which order their rows came.
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

    // ---- asking --------------------------------------------------------------------------------

    bool alive(id_type e) const { return ids_.alive(e); }
    bool foreign(id_type e) const {
        return Layout::world_bits != 0 && !e.is_null() && e.world() != 0 && e.world() != number_;
    }
    /// What a call that needs it alive says; nothing if it is.
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
    /// What of it the chunk of an entity has.
    kind_set set_of(const values& has) const {
        kind_set made;
        for (const auto& [kind, value] : has)
            if (!sparse_.contains(kind)) made.insert(kind);
        return made;
    }
    bool is_sparse(int kind) const { return sparse_.contains(kind); }
    /// No kind is, or was since the world began.
    bool is_plain() const { return is_plain_; }
    /// Which life of a kind an entity has: a value that goes and comes again is another.
    int life(id_type e, int kind) const { return lives_.at({e, kind}); }
    /// The user's entities, by key.
    std::vector<id_type> living() const {
        std::vector<id_type> made;
        for (const id_type e : ids_.living())
            if (!is_own(e)) made.push_back(e);
        return made;
    }
    std::size_t count(int kind) const {
        std::size_t sum = 0;
        for (const auto& [e, state] : all_) sum += state.has.contains(kind) ? 1u : 0u;
        return sum;
    }
    /// The first by chunk and row that has this value.
    id_type find(int kind, int value) const {
        for (const kind_set& chunk : order_)
            if (chunk.contains(kind))
                for (const id_type e : rows(chunk))
                    if (at(e).has.at(kind) == value) return e;
        return {};
    }
    /// Any that has this value.
    bool is_found(id_type e, int kind, int value) const {
        if (e.is_null())
            return std::ranges::none_of(all_, [&](const auto& one) {
                const auto found = one.second.has.find(kind);
                return found != one.second.has.end() && found->second == value;
            });
        return has(e, kind) && at(e).has.at(kind) == value;
    }
    std::optional<id_type> fragment(int kind) const {
        const auto found = fragments_.find(kind);
        return found == fragments_.end() ? std::nullopt : std::optional(found->second);
    }
    std::uint64_t available() const { return ids_.available(); }

    // ---- changing ------------------------------------------------------------------------------

    /// The first use of a kind makes a fragment: with the highest key that is free.
    std::optional<errc> meet_fragment(int kind) {
        if (fragments_.contains(kind)) return {};
        const std::optional<id_type> made = highest_free();
        if (!made) return errc::id_overflow;
        fragments_[kind] = *made;
        all_[*made];
        return {};
    }
    /// The fragments of these kinds, and their chunk.
    std::optional<errc> meet(const std::vector<int>& kinds) {
        for (const int kind : kinds)
            if (const auto trouble = meet_fragment(kind)) return trouble;
        kind_set set(kinds.begin(), kinds.end());
        std::erase_if(set, [&](int kind) { return is_sparse(kind); });
        make_chunk(set);
        return {};
    }
    /// A chunk of these is made, if there is none.
    void make_chunk(const kind_set& set) {
        if (!set.empty() && std::ranges::find(order_, set) == order_.end()) order_.push_back(set);
    }

    /// Of a kind that nobody has.
    void make_sparse(int kind) {
        sparse_.insert(kind);
        is_plain_ = false;
    }

    outcome spawn(const values& has) {
        const outcome made = ids_.create();
        if (const id_type* e = std::get_if<id_type>(&made)) enter(*e, has);
        return made;
    }
    outcome spawn_at(id_type wanted, const values& has) {
        const outcome made = ids_.create_at(wanted);
        if (const id_type* e = std::get_if<id_type>(&made)) enter(*e, has);
        return made;
    }

    /// The entity now has exactly these.
    void become(id_type e, const values& has) {
        renew(e, has);
        make_chunk(set_of(has));
        const std::string name = at(e).name;
        if (set_of(has) == set_of(at(e).has)) {
            all_[e].has = has;
            return;
        }
        leave(e);
        enter(e, has);
        all_[e].name = name;
    }

    bool destroy(id_type e) {
        if (!alive(e)) return false;
        std::optional<int> gone;
        for (const auto& [kind, fragment] : fragments_)
            if (fragment == e) gone = kind;
        if (gone) make_ways_out(*gone);
        leave(e);
        all_.erase(e);
        if (gone) forget_kind(*gone);
        return ids_.destroy(e);
    }

    /// Takes a kind from all, chunk by chunk.
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
                settle(e);
            }
        }
        return count;
    }

    void reset() {
        rows_.clear();
        for (const id_type e : living()) ids_.destroy(e);
        for (auto at = all_.begin(); at != all_.end();)
            at = is_own(at->first) ? std::next(at) : all_.erase(at);
        for (auto& [e, state] : all_) state.has.clear();
        std::erase_if(names_, [&](id_type e) { return !alive(e); });
    }

    void collect_garbage() {
        std::erase_if(order_, [&](const kind_set& one) { return rows(one).empty(); });
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
    bool is_own(id_type e) const {
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

    void enter(id_type e, const values& has) {
        renew(e, has);
        all_[e].has = has;
        settle(e);
    }
    void settle(id_type e) {
        if (const kind_set set = set_of(at(e).has); !set.empty()) rows_[set].push_back(e);
    }
    void renew(id_type e, const values& has) {
        for (const auto& [kind, value] : has)
            if (!all_[e].has.contains(kind)) lives_[{e, kind}] = ++last_life_;
    }

    void leave(id_type e) {
        const auto found = rows_.find(set_of(at(e).has));
        if (found == rows_.end()) return;
        const auto row = std::ranges::find(found->second, e);
        *row = found->second.back();
        found->second.pop_back();
    }

    /// The chunks that those who lose the kind go to.
    void make_ways_out(int kind) {
        for (kind_set one : std::vector<kind_set>(order_))
            if (one.contains(kind) && !rows(one).empty()) {
                one.erase(kind);
                make_chunk(one);
            }
    }

    void forget_kind(int kind) {
        clear_kind(kind);
        fragments_.erase(kind);
        sparse_.erase(kind);
        std::erase_if(order_, [&](const kind_set& one) { return one.contains(kind); });
    }

    id_model<Layout> ids_;
    std::uint64_t number_;
    std::uint64_t first_version_;
    std::map<id_type, entity_state> all_;            // the fragments of kinds, too
    std::map<kind_set, std::vector<id_type>> rows_;  // of each chunk
    std::vector<kind_set> order_;                    // chunks as they were made
    std::map<int, id_type> fragments_;               // of kinds that were used
    std::vector<id_type> names_;                     // as they were given
    kind_set sparse_;
    bool is_plain_ = true;
    std::map<std::pair<id_type, int>, int> lives_;
    int last_life_ = 0;
};

}  // namespace muster::test
