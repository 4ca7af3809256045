// relation_model: entities with links, as naive as possible: every list is searched, every change that is
// refused restores a copy of everything.
#pragma once

#include <muster/muster.hpp>

#include <algorithm>
#include <cstddef>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::test::links {

/// The relations of a story, by number.
enum : std::size_t {
    r_child_of,    // leveled, destroys
    r_likes,       // many targets, with values
    r_docked_at,   // exclusive, refuses
    r_part_of,     // leveled, passes on, with values
    r_depends_on,  // many targets, acyclic, destroys
    r_follows,     // leveled
    r_member_of,   // grouping, passes on
    r_is_a,        // grouping, acyclic, refuses
    r_touches,     // symmetric, many targets, with values
    r_married_to,  // symmetric, exclusive, with values
    relation_count
};

struct rules {
    bool is_exclusive, is_acyclic;
    target_policy policy;
    bool is_symmetric = false;
};
inline constexpr rules rules_of[relation_count] = {
    {true, true, destroy_sources},
    {false, false, remove_relation},
    {true, false, refuse},
    {true, true, pass_on},
    {false, true, destroy_sources},
    {true, true, remove_relation},
    {true, false, pass_on},
    {true, true, refuse},
    {false, false, remove_relation, true},
    {true, false, remove_relation, true},
};

/// What a change does to the links of one entity.
struct step {
    enum class kind {
        relate,
        unrelate,
        unrelate_all,
        clear,
        destroy,
        set_health,
        set_burning,
        set_armor,
        remove_health,
        remove_burning,
        remove_armor
    } what;
    std::size_t relation = 0;
    int target = 0;
    int value = 0;
};

struct refused {};  // a change that is not made

/// Entities are numbers in the order of their creation.
class relation_model {
public:
    struct link {
        int target, value;
    };
    struct node {
        bool is_alive = true;
        std::optional<int> health;
        std::optional<int> burning;  // sparse
        std::optional<int> armor;    // inherited
        std::string name;
        std::vector<link> links[relation_count];
        std::vector<int> sources[relation_count];
    };
    std::vector<node> all;
    /// Whether a hook throws for this link; 0: none.
    unsigned veto = 0;
    /// A call of a hook: the link ends, is new, or was moved or assigned.
    struct hook_call {
        std::size_t relation;
        bool ends, is_new;
        int e, target;
        auto operator<=>(const hook_call&) const = default;
    };
    std::vector<hook_call> hooks;  // that successful changes call

    [[nodiscard]] bool vetoes(std::size_t relation, int e, int target) const {
        return veto != 0 &&
               (static_cast<unsigned>(e) * 7 + static_cast<unsigned>(target) * 13 + relation * 3) %
                       veto ==
                   0;
    }
    int spawn() {
        all.emplace_back();
        return static_cast<int>(all.size()) - 1;
    }
    [[nodiscard]] bool alive(int e) const { return all[static_cast<std::size_t>(e)].is_alive; }
    node& at(int e) { return all[static_cast<std::size_t>(e)]; }

    /// Makes the changes of one entity, all or none. `is_commit`: a target may have died meanwhile.
    bool apply(int e, const std::vector<step>& steps, bool is_commit) {
        if (!alive(e)) return true;
        const std::vector<node> before = all;
        const std::size_t hooks_before = hooks.size();
        try {
            change(e, steps, is_commit);
            return true;
        } catch (const refused&) {
            all = before;
            hooks.resize(hooks_before);
            return false;
        }
    }
    /// Destroys these and what depends on them, all or none.
    bool destroy(const std::vector<int>& first, bool is_reset = false) {
        const std::vector<node> before = all;
        const std::size_t hooks_before = hooks.size();
        try {
            end(first, is_reset);
            return true;
        } catch (const refused&) {
            all = before;
            hooks.resize(hooks_before);
            return false;
        }
    }

    void end_node(int e) {
        at(e) = node();
        at(e).is_alive = false;
    }
    /// How many links are above an entity.
    [[nodiscard]] unsigned level(std::size_t r, int e) const {
        unsigned count = 0;
        for (const node* up = &all[static_cast<std::size_t>(e)]; !up->links[r].empty(); ++count)
            up = &all[static_cast<std::size_t>(up->links[r][0].target)];
        return count;
    }

    /// The armor of an entity, or of the first above it that has one.
    [[nodiscard]] std::optional<int> armor(int e) const {
        const node* up = &all[static_cast<std::size_t>(e)];
        while (!up->armor && !up->links[r_is_a].empty())
            up = &all[static_cast<std::size_t>(up->links[r_is_a][0].target)];
        return up->armor;
    }

    /// Moves a source before another, at each target that they share. Returns whether there is one.
    bool place_before(std::size_t r, int e, int sibling) {
        bool is_shared = false;
        for (const link& made : at(sibling).links[r]) {
            if (std::ranges::find(at(e).links[r], made.target, &link::target) ==
                at(e).links[r].end())
                continue;
            is_shared = true;
            std::vector<int>& sources = at(made.target).sources[r];
            if (e == sibling) continue;
            std::erase(sources, e);
            sources.insert(std::ranges::find(sources, sibling), e);
        }
        return is_shared;
    }
    /// Lists all below an entity by a leveled relation, each before those below it.
    void list_below(std::size_t r, int e, std::vector<int>& below) {
        for (const int source : at(e).sources[r]) {
            below.push_back(source);
            list_below(r, source, below);
        }
    }

private:
    /// Calls the hook of a link.
    void call(std::size_t r, bool ends, int e, int target, bool is_new = false) {
        if (vetoes(r, e, target)) throw refused();
        hooks.push_back({r, ends, is_new, e, target});
    }
    void change(int e, const std::vector<step>& steps, bool is_commit) {
        for (const step& made : steps)
            if (made.what == step::kind::destroy) return end({e}, false);
        node& self = at(e);
        std::optional<int> points = self.health, heat = self.burning, armor = self.armor;
        std::vector<link> links[relation_count];
        bool is_touched[relation_count] = {};
        std::set<int> assigned[relation_count];
        for (std::size_t r = 0; r < relation_count; ++r) links[r] = self.links[r];
        const auto forget = [&](std::size_t r) {
            links[r].clear();
            assigned[r].clear();
            is_touched[r] = true;
        };
        for (const step& made : steps) {
            std::vector<link>& own = links[made.relation];
            const auto known = std::ranges::find(own, made.target, &link::target);
            switch (made.what) {
            case step::kind::set_health: points = made.value; break;
            case step::kind::set_burning: heat = made.value; break;
            case step::kind::set_armor: armor = made.value; break;
            case step::kind::remove_armor: armor = std::nullopt; break;
            case step::kind::remove_health: points = std::nullopt; break;
            case step::kind::remove_burning: heat = std::nullopt; break;
            case step::kind::relate:
                is_touched[made.relation] = true;
                if (rules_of[made.relation].is_exclusive) {
                    own.assign(1, {made.target, made.value});
                    assigned[made.relation] = {made.target};
                    break;
                }
                assigned[made.relation].insert(made.target);
                if (known != own.end())
                    known->value = made.value;
                else
                    own.push_back({made.target, made.value});
                break;
            case step::kind::unrelate:
                if (known == own.end()) break;
                is_touched[made.relation] = true;
                own.erase(known);
                assigned[made.relation].erase(made.target);
                break;
            case step::kind::unrelate_all: forget(made.relation); break;
            case step::kind::clear:
                points = heat = armor = std::nullopt;
                for (std::size_t r = 0; r < relation_count; ++r) forget(r);
                break;
            default: break;
            }
        }
        // Dead targets, in the order in which the relations were named.
        std::vector<std::size_t> named;
        for (const step& made : steps)
            if ((made.what == step::kind::relate || made.what == step::kind::unrelate) &&
                std::ranges::find(named, made.relation) == named.end())
                named.push_back(made.relation);
        for (const std::size_t r : named)
            for (std::size_t i = links[r].size(); i-- != 0;)
                if (const link made = links[r][i]; !alive(made.target)) {
                    if (!is_commit) throw refused();
                    if (rules_of[r].policy == destroy_sources) return end({e}, false);
                    if (rules_of[r].policy == refuse) throw refused();
                    links[r].erase(links[r].begin() + static_cast<std::ptrdiff_t>(i));
                    assigned[r].erase(made.target);
                }
        for (std::size_t r = 0; r < relation_count; ++r) {
            if (!is_touched[r]) continue;
            const std::vector<link> old = self.links[r];
            const auto has = [](const std::vector<link>& in, int target) {
                return std::ranges::find(in, target, &link::target) != in.end();
            };
            // Links that were there keep their places, even if they were removed in between.
            std::list kept(links[r].begin(), links[r].end());
            const auto place = [&](const link& made) {
                return std::ranges::find(old, made.target, &link::target) - old.begin();
            };
            kept.sort([&](const link& a, const link& b) { return place(a) < place(b); });
            links[r].assign(kept.begin(), kept.end());
            for (const link& gone : old)
                if (!has(links[r], gone.target) && !(rules_of[r].is_exclusive && !links[r].empty()))
                    call(r, true, e, gone.target);
            for (const link& made : links[r]) {
                const bool is_new = !has(old, made.target);
                if (rules_of[r].is_acyclic && is_new && reaches(r, made.target, e)) throw refused();
                const bool begins = rules_of[r].is_exclusive ? old.empty() : is_new;
                if (assigned[r].contains(made.target)) call(r, false, e, made.target, begins);
            }
            for (const link& gone : old)
                if (!has(links[r], gone.target)) std::erase(at(gone.target).sources[r], e);
            for (const link& made : links[r])
                if (!has(old, made.target)) at(made.target).sources[r].push_back(e);
            self.links[r] = links[r];
            if (!rules_of[r].is_symmetric) continue;
            for (const link& gone : old)
                if (gone.target != e && !has(links[r], gone.target)) cut(r, gone.target, e);
            for (const link& made : links[r])
                if (made.target != e && assigned[r].contains(made.target))
                    mirror(r, made.target, {e, made.value});
        }
        self.health = points;
        self.burning = heat;
        self.armor = armor;
    }
    /// Removes the other direction of a link.
    void cut(std::size_t r, int e, int target) {
        call(r, true, e, target);
        std::erase_if(at(e).links[r], [&](const link& made) { return made.target == target; });
        std::erase(at(target).sources[r], e);
    }
    /// Adds or assigns the other direction of a link.
    void mirror(std::size_t r, int e, const link& made) {
        std::vector<link>& own = at(e).links[r];
        const bool had_links = !own.empty();
        const auto known = std::ranges::find(own, made.target, &link::target);
        if (known != own.end()) {
            call(r, false, e, made.target);
            known->value = made.value;
            return;
        }
        if (rules_of[r].is_exclusive && had_links) {
            const int former = own[0].target;
            if (former != e) cut(r, former, e);
            own.clear();
            std::erase(at(former).sources[r], e);
        }
        call(r, false, e, made.target, !rules_of[r].is_exclusive || !had_links);
        own.push_back(made);
        at(made.target).sources[r].push_back(e);
    }

    /// Whether links lead from `from` to `wanted`.
    bool reaches(std::size_t r, int from, int wanted) {
        std::set<int> seen;
        std::vector<int> open{from};
        while (!open.empty()) {
            const int e = open.back();
            open.pop_back();
            if (e == wanted) return true;
            if (seen.insert(e).second)
                for (const link& up : at(e).links[r]) open.push_back(up.target);
        }
        return false;
    }

    void end(const std::vector<int>& first, bool is_reset) {
        std::set<int> dying;
        std::vector<int> open = first;
        while (!open.empty()) {
            const int e = open.back();
            open.pop_back();
            if (!alive(e) || !dying.insert(e).second) continue;
            for (std::size_t r = 0; r < relation_count; ++r)
                if (rules_of[r].policy == destroy_sources)
                    open.insert(open.end(), at(e).sources[r].begin(), at(e).sources[r].end());
        }
        for (const int e : dying)
            for (std::size_t r = 0; r < relation_count; ++r) {
                for (const int source : at(e).sources[r])
                    if (!dying.contains(source) && rules_of[r].policy == refuse && !is_reset)
                        throw refused();
                for (const link& gone : at(e).links[r]) call(r, true, e, gone.target);
                for (const int source : at(e).sources[r]) {
                    if (dying.contains(source)) continue;
                    const int to = survivor(r, e, dying);
                    if (rules_of[r].policy != pass_on || to < 0 || to == source)
                        call(r, true, source, e);
                    else
                        call(r, false, source, to);
                }
            }
        struct moved_link {
            std::size_t relation;
            int source, to;
        };
        std::vector<moved_link> moved;
        for (const int e : dying) {
            for (std::size_t r = 0; r < relation_count; ++r) {
                for (const int source : at(e).sources[r]) {
                    if (dying.contains(source)) continue;
                    const int to = survivor(r, e, dying);
                    if (rules_of[r].policy == pass_on && to >= 0 && to != source) {
                        at(source).links[r][0].target = to;
                        moved.push_back({r, source, to});
                    } else {
                        std::erase_if(at(source).links[r],
                                      [&](const link& made) { return made.target == e; });
                    }
                }
                for (const link& made : at(e).links[r])
                    if (!dying.contains(made.target)) std::erase(at(made.target).sources[r], e);
            }
        }
        for (const auto& [r, source, to] : moved) at(to).sources[r].push_back(source);
        for (const int e : dying) end_node(e);
    }
    [[nodiscard]] int survivor(std::size_t r, int e, const std::set<int>& dying) {
        if (rules_of[r].policy != pass_on) return -1;
        for (std::size_t left = dying.size(); e >= 0 && dying.contains(e); --left)
            e = left == 0 ? -1 : at(e).links[r].empty() ? -1 : at(e).links[r][0].target;
        return e;
    }
};

}  // namespace muster::test::links
