// fragment_model: the behaviour of fragments, written with maps and sets.
#pragma once

#include <muster/world/world.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fragment_values.hpp"

namespace muster::test::fragment_stories {

/// Living ids, their components and the traits of fragments. It does not predict the ids that a
/// world issues.
template <class Layout>
struct fragment_model {
    using id_type = basic_id<Layout>;
    using values = std::map<id_type, int>;  // by fragment

    struct part {
        id_type fragment;
        int kind;
        int value;
    };
    using parts = std::vector<part>;

    struct entity {
        values has;
        std::string name;
    };
    struct traits {
        int kind = kind_none;
        bool world_owned = false;
        bool unique = false;
        bool hidden = false;
        bool destroys_owners = false;
        bool sparse = false;
        std::set<id_type> needs;
        std::optional<int> default_value;
        std::optional<int> duplicate;  // adds this number
    };
    /// The expected effect of a call. It throws one of `troubles`, if any. Otherwise it assigns a
    /// type to untyped ids and leaves an entity with `result`.
    struct plan {
        std::set<errc> troubles;
        std::set<errc> allowed;  // errors that it may throw instead
        bool in_parts = false;   // if it fails, it may have applied a part
        std::map<id_type, int> adopted;
        values result;
    };

    std::map<id_type, entity> living;
    std::map<id_type, traits> fragments;
    std::map<std::uint64_t, std::uint64_t> versions;  // the last version of each key
    std::set<id_type> issued;

    // ---- state ---------------------------------------------------------------------------------

    bool alive(id_type e) const { return living.contains(e); }
    bool has(id_type e, id_type f) const { return alive(e) && living.at(e).has.contains(f); }
    bool is_world_owned(id_type e) const {
        return fragments.contains(e) && fragments.at(e).world_owned;
    }
    int kind_of(id_type f) const {
        return fragments.contains(f) ? fragments.at(f).kind : kind_none;
    }
    bool is_foreign(id_type e) const {
        const std::uint64_t here = living.begin()->first.world();
        return Layout::world_bits != 0 && e.world() != 0 && e.world() != here;
    }
    bool is_sparse(id_type f) const { return fragments.contains(f) && fragments.at(f).sparse; }
    /// The fragments that are stored in the chunk of the entity.
    std::set<id_type> inside(const values& has) const {
        std::set<id_type> made;
        for (const auto& [f, value] : has)
            if (!is_sparse(f)) made.insert(f);
        return made;
    }
    std::size_t size() const {
        std::size_t world_owned = 0;
        for (const auto& [f, what] : fragments) world_owned += what.world_owned;
        return living.size() - world_owned;
    }
    std::size_t count(id_type f) const {
        std::size_t sum = 0;
        for (const auto& [e, state] : living) sum += state.has.contains(f);
        return sum;
    }
    std::size_t free_keys(std::uint64_t keys) const {
        std::size_t sum = keys - Layout::first_key;
        for (const auto& [key, version] : versions) sum -= version >= Layout::last_issued_version;
        for (const auto& [e, state] : living) sum -= e.version() < Layout::last_issued_version;
        return sum;
    }
    id_type any_living(std::size_t which) const {
        auto at = living.begin();
        std::advance(at, which % living.size());
        return at->first;
    }
    /// A fragment of this kind, if any exists.
    id_type any_fragment(std::size_t which, int kind = -1) const {
        std::vector<id_type> found;
        for (const auto& [f, what] : fragments)
            if (kind < 0 || what.kind == kind || what.kind == kind_none) found.push_back(f);
        return found.empty() ? fragments.begin()->first : found[which % found.size()];
    }

    // ---- plans ---------------------------------------------------------------------------------

    void need_alive(plan& made, id_type e) const {
        if (alive(e)) return;
        made.troubles.insert(is_foreign(e) ? errc::foreign_entity : errc::dead_entity);
    }
    bool need_fragment(plan& made, id_type f) const {
        if (alive(f)) return true;
        made.troubles.insert(is_foreign(f) ? errc::foreign_entity : errc::dead_fragment);
        return false;
    }
    /// Uses the part's fragment for values of its kind.
    void use(plan& made, const part& item) const {
        if (!need_fragment(made, item.fragment)) return;
        const int known = kind_of(item.fragment);
        if (known == kind_none) {
            const auto [at, is_new] = made.adopted.emplace(item.fragment, item.kind);
            if (!is_new && at->second != item.kind) made.troubles.insert(errc::type_mismatch);
        } else if (known != item.kind && !(item.kind == kind_tag && known == kind_marker)) {
            made.troubles.insert(errc::type_mismatch);
        }
    }
    void use_as_tag(plan& made, id_type f) const {
        if (need_fragment(made, f) && kind_of(f) == kind_none) made.adopted.emplace(f, kind_tag);
    }
    plan keep(id_type e) const {
        plan made;
        need_alive(made, e);
        if (alive(e)) made.result = living.at(e).has;
        return made;
    }
    plan define(id_type f) const {
        plan made;
        (void)need_fragment(made, f);
        return made;
    }
    plan make_sparse(id_type f) const {
        plan made = define(f);
        if (alive(f) && !is_sparse(f) && count(f) != 0) made.troubles.insert(errc::fragment_in_use);
        return made;
    }
    plan removal(id_type e, const std::vector<id_type>& fs) const {
        plan made;
        if (is_foreign(e)) made.troubles.insert(errc::foreign_entity);
        for (const id_type f : fs)
            if (is_foreign(f)) made.troubles.insert(errc::foreign_entity);
        return made;
    }
    plan get(id_type e, id_type f, int kind) const {
        plan made = keep(e);
        if (!need_fragment(made, f)) return made;
        if (kind_of(f) == kind_none)
            made.troubles.insert({errc::type_mismatch, errc::missing_component});
        else if (kind_of(f) != kind)
            made.troubles.insert(errc::type_mismatch);
        else if (!has(e, f))
            made.troubles.insert(errc::missing_component);
        return made;
    }
    plan use_typed(const std::vector<id_type>& fs) const {
        plan made;
        for (const id_type f : fs)
            if (need_fragment(made, f) && kind_of(f) == kind_none)
                made.troubles.insert(errc::type_mismatch);
        return made;
    }
    plan chunk(const std::vector<id_type>& fs) const {
        plan made = use_typed(fs);
        for (const id_type f : fs)
            if (is_sparse(f)) made.troubles.insert(errc::missing_component);
        if (std::set<id_type>(fs.begin(), fs.end()).size() != fs.size())
            made.troubles.insert(errc::given_twice);
        return made;
    }

    bool all_differ(const parts& arguments) const {
        std::set<id_type> all;
        for (const part& item : arguments) all.insert(item.fragment);
        return all.size() == arguments.size();
    }
    int copied(id_type f, int value) const {
        const traits& what = fragments.at(f);
        return kept(what.kind, value + what.duplicate.value_or(0));
    }
    bool can_copy(id_type f) const {
        return fragments.at(f).duplicate || kind_of(f) != kind_move_only;
    }
    /// The default value, if any.
    std::optional<int> default_of(id_type f) const {
        const auto known = fragments.find(f);
        if (known == fragments.end()) return 0;
        if (known->second.default_value) return copied(f, *known->second.default_value);
        if (known->second.kind == kind_no_default || known->second.kind == kind_bare) return {};
        return 0;
    }

    /// `base` plus `arguments` plus the fragments needed by the new ones or, if `whole`, by all.
    plan insert(const values& base, const parts& arguments, bool whole) const {
        plan made;
        made.result = base;
        std::vector<id_type> added;
        if (whole)
            for (const auto& [f, value] : base) added.push_back(f);
        for (const part& item : arguments) {
            use(made, item);
            if (!base.contains(item.fragment)) added.push_back(item.fragment);
            made.result[item.fragment] = item.value;
        }
        if (!all_differ(arguments)) made.troubles.insert(errc::given_twice);
        for (std::size_t i = 0; i < added.size(); ++i) {
            const auto known = fragments.find(added[i]);
            if (known == fragments.end()) continue;
            for (const id_type needed : known->second.needs) {
                if (made.result.contains(needed)) continue;
                if (!default_of(needed)) made.troubles.insert(errc::no_default);
                made.result[needed] = default_of(needed).value_or(0);
                added.push_back(needed);
            }
        }
        return made;
    }
    plan set(id_type e, const parts& arguments) const {
        plan made = insert(keep(e).result, arguments, false);
        need_alive(made, e);
        return made;
    }
    plan set_default(id_type e, id_type f) const {
        const int kind = kind_of(f) == kind_none ? kind_tag : kind_of(f);
        plan made = set(e, {{f, kind, default_of(f).value_or(0)}});
        if (kind < kind_tag && kind != kind_marker && !default_of(f))
            made.troubles.insert(errc::no_default);
        return made;
    }
    plan set_raw(id_type e, id_type f, int value) const {
        plan made = set(e, {{f, kind_of(f), kept(kind_of(f), value)}});
        if (alive(f) && kind_of(f) == kind_none) made.troubles.insert(errc::type_mismatch);
        if (kind_of(f) == kind_move_only) made.troubles.insert(errc::not_copyable);
        made.adopted.clear();
        return made;
    }
    plan clone(id_type e, const parts& arguments) const {
        values base;
        plan broken;
        need_alive(broken, e);
        for (const auto& [f, value] : keep(e).result) {
            if (fragments.at(f).unique) continue;
            base[f] = copied(f, value);
            const auto is_this = [&, which = f](const part& item) {
                return item.fragment == which;
            };
            if (!can_copy(f) && std::none_of(arguments.begin(), arguments.end(), is_this))
                broken.troubles.insert(errc::not_copyable);
        }
        plan made = insert(base, arguments, true);
        made.troubles.insert(broken.troubles.begin(), broken.troubles.end());
        return made;
    }
    plan copy_fragment(id_type from, id_type to) const {
        plan made = use_typed({from});
        if (fragments.contains(from) && !can_copy(from)) made.troubles.insert(errc::not_copyable);
        (void)need_fragment(made, to);
        if (!alive(to) || !fragments.contains(from)) return made;
        const int kind = kind_of(from);
        if (kind_of(to) == kind_none) made.adopted[to] = kind;
        if (kind_of(to) != kind_none && kind_of(to) != kind)
            made.troubles.insert(errc::type_mismatch);
        if (from == to) return made;
        for (const auto& [e, state] : living)
            if (state.has.contains(from) &&
                insert(state.has, {{to, kind, 0}}, false).troubles.contains(errc::no_default))
                made.troubles.insert(errc::no_default);
        return made;
    }

    // ---- changes -------------------------------------------------------------------------------

    void adopt(const plan& done) {
        for (const auto& [f, kind] : done.adopted) fragments[f].kind = kind;
    }
    /// Adds an entity. Returns whether its id is new.
    bool add(id_type e, const values& has) {
        versions[e.key()] = e.version();
        living[e].has = has;
        return issued.insert(e).second;
    }
    std::size_t copy_all(id_type from, id_type to) {
        std::size_t sum = 0;
        for (auto& [e, state] : living) {
            const auto found = state.has.find(from);
            if (found == state.has.end()) continue;
            const int value = copied(from, found->second);
            state.has = insert(state.has, {{to, kind_of(from), value}}, false).result;
            ++sum;
        }
        return sum;
    }
    bool remove(id_type e, const std::vector<id_type>& fs) {
        if (!alive(e)) return false;
        std::size_t removed = 0;
        for (const id_type f : fs) removed += living.at(e).has.erase(f);
        return removed != 0;
    }
    bool destroy(id_type e) {
        const auto found = living.find(e);
        if (found == living.end()) return false;
        living.erase(found);
        const auto known = fragments.find(e);
        if (known == fragments.end()) return true;
        const bool destroys_owners = known->second.destroys_owners;
        fragments.erase(known);
        std::vector<id_type> owners;
        for (auto& [owner, state] : living)
            if (state.has.erase(e) != 0) owners.push_back(owner);
        for (auto& [f, what] : fragments) what.needs.erase(e);
        if (destroys_owners)
            for (const id_type owner : owners) destroy(owner);
        return true;
    }
    void reset() {
        std::erase_if(living, [&](const auto& entry) { return !is_world_owned(entry.first); });
        std::erase_if(fragments, [&](const auto& entry) { return !entry.second.world_owned; });
        for (auto& [e, state] : living) state.has.clear();
        for (auto& [f, what] : fragments)
            std::erase_if(what.needs, [&](id_type e) { return !alive(e); });
    }
};

}  // namespace muster::test::fragment_stories
