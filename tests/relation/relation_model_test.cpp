// Random programs with relations, compared with a naive model: the same entities live, with the same
// links in the same order, after any mix of scopes, hooks that throw, clones, batches and resets.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/open_world.hpp"

namespace muster::test {
namespace {

struct health {
    int points = 0;
};
struct likes {  // many targets
    int strength = 0;
};
struct docked_at {};  // exclusive, refuses
struct part_of {      // leveled, passes on
    int share = 0;
};
struct depends_on {};  // many targets, acyclic, destroys
struct follows {};     // leveled
struct member_of {};   // grouping, passes on

constexpr std::size_t relation_count = 7;  // child_of is the first

struct rules {
    bool is_exclusive, is_acyclic;
    target_policy policy;
};
constexpr rules rules_of[relation_count] = {
    {true, true, destroy_sources}, {false, false, remove_relation}, {true, false, refuse},
    {true, true, pass_on},         {false, true, destroy_sources},  {true, true, remove_relation},
    {true, false, pass_on},
};

/// What a change does to the links of one entity.
struct step {
    enum class kind { relate, unrelate, unrelate_all, clear, destroy, set } what;
    std::size_t relation = 0;
    int target = 0;
    int value = 0;
};

struct refused {};  // a change that is not made

/// Entities are numbers in the order of their creation.
class model {
public:
    struct link {
        int target, value;
    };
    struct node {
        bool is_alive = true;
        std::optional<int> health;
        std::vector<link> links[relation_count];
        std::vector<int> sources[relation_count];
    };
    std::vector<node> all;
    /// Whether a hook throws for this link; 0: none.
    unsigned veto = 0;

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
        try {
            change(e, steps, is_commit);
            return true;
        } catch (const refused&) {
            all = before;
            return false;
        }
    }
    /// Destroys these and what depends on them, all or none.
    bool destroy(const std::vector<int>& first, bool is_reset = false) {
        const std::vector<node> before = all;
        try {
            end(first, is_reset);
            return true;
        } catch (const refused&) {
            all = before;
            return false;
        }
    }

private:
    void change(int e, const std::vector<step>& steps, bool is_commit) {
        for (const step& made : steps)
            if (made.what == step::kind::destroy) return end({e}, false);
        node& self = at(e);
        std::optional<int> points = self.health;
        std::vector<link> links[relation_count];
        bool is_touched[relation_count] = {};
        bool is_cleared[relation_count] = {};
        std::set<int> assigned[relation_count];
        for (std::size_t r = 0; r < relation_count; ++r) links[r] = self.links[r];
        const auto forget = [&](std::size_t r) {
            links[r].clear();
            assigned[r].clear();
            is_touched[r] = is_cleared[r] = true;
        };
        for (const step& made : steps) {
            std::vector<link>& own = links[made.relation];
            const auto known = std::ranges::find(own, made.target, &link::target);
            switch (made.what) {
            case step::kind::set: points = made.value; break;
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
                points = std::nullopt;
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
            for (const link& gone : old)
                if (!has(links[r], gone.target) &&
                    !(rules_of[r].is_exclusive && !links[r].empty()) && vetoes(r, e, gone.target))
                    throw refused();
            // A list that is cleared and filled again is a new one; else the links that stay keep
            // their places.
            for (const link& made : links[r]) {
                const bool is_new = !has(old, made.target);
                if (rules_of[r].is_acyclic && is_new && reaches(r, made.target, e)) throw refused();
                if (assigned[r].contains(made.target) && vetoes(r, e, made.target)) throw refused();
            }
            const bool is_replaced = is_cleared[r] && !rules_of[r].is_exclusive;
            for (const link& gone : old)
                if (is_replaced || !has(links[r], gone.target))
                    std::erase(at(gone.target).sources[r], e);
            for (const link& made : links[r])
                if (is_replaced || !has(old, made.target)) at(made.target).sources[r].push_back(e);
            self.links[r] = links[r];
        }
        self.health = points;
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
                for (const link& gone : at(e).links[r])
                    if (vetoes(r, e, gone.target)) throw refused();
                for (const int source : at(e).sources[r]) {
                    if (dying.contains(source)) continue;
                    const int to = survivor(r, e, dying);
                    if (rules_of[r].policy != pass_on || to < 0 || to == source
                            ? vetoes(r, source, e)
                            : vetoes(r, source, to))
                        throw refused();
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
        for (const int e : dying)
            at(e) = node{.is_alive = false, .health = {}, .links = {}, .sources = {}};
    }
    [[nodiscard]] int survivor(std::size_t r, int e, const std::set<int>& dying) {
        if (rules_of[r].policy != pass_on) return -1;
        for (std::size_t left = dying.size(); e >= 0 && dying.contains(e); --left)
            e = left == 0 ? -1 : at(e).links[r].empty() ? -1 : at(e).links[r][0].target;
        return e;
    }
};

template <class Layout>
class story {
    using id_type = basic_id<Layout>;

public:
    explicit story(unsigned seed) : random_(seed) {
        w_.template define<likes>().relation();
        w_.template define<docked_at>().relation().exclusive().when_target_destroyed(refuse);
        w_.template define<part_of>().relation().leveled().when_target_destroyed(pass_on);
        w_.template define<follows>().relation().leveled();
        w_.template define<member_of>().relation().grouping().when_target_destroyed(pass_on);
        w_.template define<depends_on>().relation().acyclic().when_target_destroyed(
            destroy_sources);
        each_relation([&]<class R>(std::size_t r) {
            w_.template on_relate<R>([this, r](id_type e, id_type, id_type target) {
                if (model_.vetoes(r, number_of(e), number_of(target)))
                    throw std::runtime_error("veto");
            });
            w_.template on_unrelate<R>([this, r](id_type e, id_type target) {
                if (model_.vetoes(r, number_of(e), number_of(target)))
                    throw std::runtime_error("veto");
            });
        });
    }

    void run(int count) {
        for (int i = 0; i < count; ++i) {
            act();
            if (recorded_.empty()) compare();
            ASSERT_EQ(wrong_level<child_of_t>(w_), "") << log_;
            ASSERT_EQ(wrong_level<part_of>(w_), "") << log_;
            ASSERT_EQ(wrong_level<follows>(w_), "") << log_;
            ASSERT_EQ(wrong_group<member_of>(w_), "") << log_;
            if (testing::Test::HasFatalFailure()) return;
        }
        while (!starts_.empty()) commit();
        compare();
    }

private:
    template <class Call>
    static void each_relation(Call call) {
        call.template operator()<child_of_t>(0);
        call.template operator()<likes>(1);
        call.template operator()<docked_at>(2);
        call.template operator()<part_of>(3);
        call.template operator()<depends_on>(4);
        call.template operator()<follows>(5);
        call.template operator()<member_of>(6);
    }
    template <class Call>
    static void with_relation(std::size_t wanted, Call call) {
        each_relation([&]<class R>(std::size_t r) {
            if (r == wanted) call.template operator()<R>();
        });
    }

    /// Remembers the call for messages.
    template <class... Parts>
    void note(const Parts&... parts) {
        const auto text = [](const auto& part) {
            if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>)
                return std::to_string(part);
            else
                return std::string(part);
        };
        log_ += '\n';
        ((log_ += ' ' + text(parts)), ...);
        if (log_.size() > 4000) log_.erase(0, 2000);
    }
    unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
    int any() { return static_cast<int>(pick(static_cast<unsigned>(ids_.size()))); }
    id_type id(int e) { return ids_[static_cast<std::size_t>(e)]; }
    int number_of(id_type e) const {
        for (std::size_t i = ids_.size(); i-- != 0;)
            if (ids_[i] == e) return static_cast<int>(i);
        return -1;
    }

    /// Makes a call in the world, and its steps in the model, now or when the scope ends.
    template <class Call>
    void make(int e, std::vector<step> steps, Call call) {
        for (const step& made : steps)
            note("change " + std::to_string(static_cast<int>(made.what)) + " of", e,
                 "relation " + std::to_string(made.relation) + " target", made.target);
        const bool throws = throws_in([&] { call(); });
        if (starts_.empty()) {
            ASSERT_EQ(!model_.apply(e, steps, false), throws) << "a call on " << e;
        } else if (!throws) {
            for (const step& made : steps) recorded_.push_back({e, made, false});
        }
    }
    template <class Call>
    static bool throws_in(Call call) {
        try {
            call();
            return false;
        } catch (const std::exception&) {
            return true;
        }
    }

    void act() {
        if (ids_.size() < 3 || pick(8) == 0) return spawn();
        const int e = any();
        const int to = any();
        const std::size_t r = pick(relation_count);
        switch (pick(23)) {
        case 22: return change_all(r);
        case 0: return destroy({e});
        case 1: return destroy({e, to, any()});
        case 2:
            return make(e, {{step::kind::unrelate_all, r, 0, 0}}, [&] {
                with_relation(r, [&]<class R>() { (void)w_.template unrelate<R>(id(e)); });
            });
        case 3:
            return make(e, {{step::kind::unrelate_all, r, 0, 0}}, [&] {
                with_relation(r, [&]<class R>() { (void)w_.template remove<R>(id(e)); });
            });
        case 4: return make(e, {{step::kind::clear, 0, 0, 0}}, [&] { w_.clear(id(e)); });
        case 5: {
            if (!model_.alive(e)) return;
            const int value = static_cast<int>(pick(100));
            return make(e, {{step::kind::set, 0, 0, value}}, [&] { w_.set(id(e), health{value}); });
        }
        case 6:
        case 7:
        case 8:
            return make(e, {{step::kind::unrelate, r, to, 0}}, [&] {
                with_relation(r, [&]<class R>() { (void)w_.template unrelate<R>(id(e), id(to)); });
            });
        case 9: return clone(e);
        case 10:
            if (starts_.size() < 3) {
                note("defer");
                w_.defer();
                starts_.push_back(recorded_.size());
                created_.push_back(ids_.size());
            }
            return;
        case 11:
        case 12:
            if (!starts_.empty()) commit();
            return;
        case 13:
            if (!starts_.empty() && pick(2) == 0) cancel();
            return;
        case 14:
            note("veto");
            model_.veto = starts_.empty() && pick(2) == 0 ? 3 + pick(20) : model_.veto;
            return;
        case 15:
            if (starts_.empty()) model_.veto = 0;
            if (starts_.empty() && pick(10) == 0) reset();
            return;
        case 16:
            if (starts_.empty()) destroy_by_query();
            return;
        default:
            if (!model_.alive(e)) return;  // throws, as the tests of single calls show
            if (!model_.alive(to)) return;
            return relate(e, r, to);
        }
    }

    void relate(int e, std::size_t r, int to) {
        const int value = static_cast<int>(pick(1000));
        make(e, {{step::kind::relate, r, to, value}}, [&] {
            if (r == 1)
                (void)w_.template relate<likes>(id(e), id(to), likes{value});
            else if (r == 3)
                (void)w_.template relate<part_of>(id(e), id(to), part_of{value});
            else
                with_relation(r, [&]<class R>() { (void)w_.template relate<R>(id(e), id(to)); });
        });
    }

    void spawn() {
        note("spawn", ids_.size(), "depth", starts_.size());
        const int target = ids_.empty() ? -1 : any();
        const bool has_link = target >= 0 && model_.alive(target) && pick(2) == 0;
        const int points = static_cast<int>(pick(100));
        std::vector<step> steps;
        if (has_link) steps.push_back({step::kind::relate, 0, target, 0});
        if (has_link) steps.push_back({step::kind::relate, 1, target, 5});
        if (has_link) steps.push_back({step::kind::set, 0, 0, points});
        const int e = model_.spawn();
        ids_.push_back({});
        if (starts_.empty()) {
            const bool is_made = model_.apply(e, steps, false);
            if (!is_made) model_.at(e).is_alive = false;
            // The hooks do not know the new id yet; see `number_of`.
            const unsigned veto = std::exchange(model_.veto, 0);
            const bool throws = throws_in([&] { ids_.back() = create(has_link, target, points); });
            if (!is_made) w_.destroy(ids_.back());
            model_.veto = veto;
            ASSERT_FALSE(throws);
            return;
        }
        ids_.back() = create(has_link, target, points);
        recorded_.push_back({e, {step::kind::clear, 0, 0, 0}, true});
        for (const step& made : steps) recorded_.push_back({e, made, false});
    }
    id_type create(bool has_link, int target, int points) {
        if (!has_link) return w_.spawn();
        return w_.spawn(health{points}, to(child_of, id(target)), to<likes>(id(target), likes{5}));
    }

    void clone(int e) {
        if (!model_.alive(e) || !starts_.empty()) return;
        note("clone", e);
        const unsigned veto = std::exchange(model_.veto, 0);
        const model::node original = model_.at(e);
        std::vector<step> steps;
        if (original.health) steps.push_back({step::kind::set, 0, 0, *original.health});
        for (std::size_t r = 0; r < relation_count; ++r)
            for (const model::link& made : original.links[r])
                steps.push_back({step::kind::relate, r, made.target, made.value});
        const int made = model_.spawn();
        (void)model_.apply(made, steps, false);
        ids_.push_back(w_.clone(id(e)));
        model_.veto = veto;
    }

    void destroy(std::vector<int> which) {
        for (const int e : which) note("destroy", e, "of", which.size());
        if (starts_.empty()) {
            std::vector<id_type> all;
            std::vector<int> living;
            for (const int e : which) {
                if (model_.alive(e)) living.push_back(e);
                all.push_back(id(e));
            }
            bool throws = false;
            if (which.size() == 1)
                throws = throws_in([&] { w_.destroy(all[0]); });
            else
                throws = throws_in([&] { w_.destroy(all[0], all[1], all[2]); });
            ASSERT_EQ(!model_.destroy(living), throws);
            return;
        }
        w_.destroy(id(which[0]));
        if (w_.alive(id(which[0])))
            recorded_.push_back({which[0], {step::kind::destroy, 0, 0, 0}, false});
    }

    void destroy_by_query() {
        std::vector<int> which;
        for (std::size_t i = 0; i < ids_.size(); ++i)
            if (model_.all[i].is_alive && model_.all[i].health)
                which.push_back(static_cast<int>(i));
        if (which.size() > 4) return;
        note("destroy by query", which.size());
        const bool throws = throws_in([&] { (void)w_.template query<health>().destroy(); });
        const bool is_done = which.empty() || model_.destroy(which);
        if (!is_done && !throws) return;  // nothing was related: they are destroyed one by one
        ASSERT_EQ(!is_done, throws);
    }

    /// Changes all entities with health at once, or all sources of a relation.
    void change_all(std::size_t r) {
        if (!starts_.empty() || model_.veto != 0) return;
        const unsigned which = pick(4);
        note("change all", which, "relation", r);
        with_relation(r, [&]<class R>() {
            if (which == 0)
                (void)w_.template clear<R>();
            else if (which == 1)
                (void)w_.template query<health>().template remove<R>();
            else if (which == 2)
                (void)w_.template query<health>().clear();
            else
                (void)w_.template query<health>().set(health{7});
        });
        const std::vector<step> steps = {which < 2    ? step{step::kind::unrelate_all, r, 0, 0}
                                         : which == 2 ? step{step::kind::clear, 0, 0, 0}
                                                      : step{step::kind::set, 0, 0, 7}};
        for (std::size_t i = 0; i < ids_.size(); ++i)
            if (which == 0 || model_.all[i].health)
                (void)model_.apply(static_cast<int>(i), steps, false);
    }

    void reset() {
        note("reset");
        w_.reset();
        for (model::node& e : model_.all)
            e = model::node{.is_alive = false, .health = {}, .links = {}, .sources = {}};
    }

    void cancel() {
        note("cancel");
        w_.cancel();
        for (std::size_t i = created_.back(); i < ids_.size(); ++i)
            model_.at(static_cast<int>(i)).is_alive = false;
        recorded_.resize(starts_.back());
        starts_.pop_back();
        created_.pop_back();
    }

    void commit() {
        note("commit");
        starts_.pop_back();
        created_.pop_back();
        if (!starts_.empty()) return void(w_.commit());
        const bool throws = throws_in([&] { w_.commit(); });
        std::vector<int> order;
        std::map<int, std::vector<step>> groups;
        std::set<int> fresh;
        for (const entry& recorded : recorded_) {
            if (!groups.contains(recorded.e)) order.push_back(recorded.e);
            if (recorded.is_new) {
                fresh.insert(recorded.e);
                groups[recorded.e];
            } else {
                groups[recorded.e].push_back(recorded.made);
            }
        }
        bool is_done = true;
        for (const int e : order) {
            if (model_.apply(e, groups[e], true)) continue;
            is_done = false;
            if (fresh.contains(e)) {
                const unsigned veto = std::exchange(model_.veto, 0);
                (void)model_.destroy({e}, true);
                model_.veto = veto;
            }
        }
        recorded_.clear();
        ASSERT_EQ(!is_done, throws) << log_;
    }

    void compare() {
        SCOPED_TRACE(log_);
        ASSERT_EQ(w_.depth(), starts_.size());
        for (std::size_t i = 0; i < ids_.size(); ++i) {
            const model::node& wanted = model_.all[i];
            const id_type e = ids_[i];
            ASSERT_EQ(w_.alive(e), wanted.is_alive) << "entity " << i;
            const health* const points = w_.template try_get<health>(e);
            ASSERT_EQ(points != nullptr, wanted.health.has_value()) << "entity " << i;
            if (points != nullptr) ASSERT_EQ(points->points, *wanted.health);
            each_relation([&]<class R>(std::size_t r) { compare_links<R>(i, r); });
            if (testing::Test::HasFatalFailure()) return;
        }
    }
    template <class R>
    void compare_links(std::size_t i, std::size_t r) {
        const model::node& wanted = model_.all[i];
        const id_type e = ids_[i];
        std::vector<int> targets, sources, wanted_targets, wanted_sources;
        for (const id_type target : std::as_const(w_).template targets<R>(e))
            targets.push_back(number_of(target));
        for (const id_type source : std::as_const(w_).template sources<R>(e))
            sources.push_back(number_of(source));
        for (const model::link& made : wanted.links[r]) {
            wanted_targets.push_back(made.target);
            ASSERT_TRUE(w_.template related<R>(e, id(made.target)));
            if constexpr (std::is_same_v<R, likes>)
                ASSERT_EQ(w_.template link<R>(e, id(made.target)).strength, made.value);
            if constexpr (std::is_same_v<R, part_of>)
                ASSERT_EQ(w_.template link<R>(e, id(made.target)).share, made.value);
        }
        wanted_sources = wanted.sources[r];
        // The order of sources that come together is that of rows, or of a destruction.
        std::ranges::sort(sources);
        std::ranges::sort(wanted_sources);
        ASSERT_EQ(targets, wanted_targets) << "targets of " << i << " in relation " << r;
        ASSERT_EQ(sources, wanted_sources) << "sources of " << i << " in relation " << r;
        ASSERT_EQ(w_.template has<R>(e), !wanted_targets.empty());
        ASSERT_EQ(w_.template targets<R>(e).size(), wanted_targets.size());
    }

    struct entry {
        int e;
        step made;
        bool is_new;
    };
    std::mt19937 random_;
    open_world<Layout> w_;
    model model_;
    std::vector<id_type> ids_;
    std::string log_;
    std::vector<entry> recorded_;
    std::vector<std::size_t> starts_;   // of open scopes, in `recorded_`
    std::vector<std::size_t> created_;  // of open scopes, in `ids_`
};

template <class Layout>
struct relation_model : testing::Test {};
TYPED_TEST_SUITE(relation_model, behavior_layouts, layout_names);

TYPED_TEST(relation_model, agrees_with_random_programs) {
    const char* const scale = std::getenv("MUSTER_TEST_SCALE");
    const unsigned count = 300 * (scale != nullptr ? static_cast<unsigned>(std::atoi(scale)) : 1);
    for (unsigned seed = 0; seed < count; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        story<TypeParam>(seed).run(120);
        if (this->HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace muster::test
