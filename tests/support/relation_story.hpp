// relation_story: see relation_stories.hpp. Every operation runs in the world and in the model; after
// each, both must agree.
#pragma once

#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <list>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "open_world.hpp"
#include "relation_model.hpp"
#include "relation_stories.hpp"
#include "thread_executor.hpp"

namespace muster::test::links {

struct health {
    int points = 0;
};
struct burning {
    int heat = 0;
};
struct likes {
    int strength = 0;
};
struct docked_at {};
struct part_of {
    int share = 0;
};
struct depends_on {};
struct follows {};
struct member_of {};
struct touches {
    int points = 0;
};
struct married_to {
    int year = 0;
};
struct armor {
    int strength = 0;
};

/// The value that a link has, if its relation has values.
template <class R>
[[nodiscard]] R value_for(int value) {
    if constexpr (std::is_aggregate_v<R> && !std::is_empty_v<R>)
        return R{value};
    else
        return R{};
}

}  // namespace muster::test::links

namespace muster {
template <>
struct component_traits<test::links::burning> {
    static constexpr bool sparse = true;
};
}  // namespace muster

namespace muster::test::links {

template <class Layout>
class relation_story {
    using id_type = basic_id<Layout>;
    using model = relation_model;
    using kind = step::kind;

public:
    explicit relation_story(std::span<const std::uint8_t> bytes) : from_(bytes) {
        w_.template define<likes>().relation();
        w_.template define<docked_at>().relation().exclusive().when_target_destroyed(refuse);
        w_.template define<part_of>().relation().leveled().when_target_destroyed(pass_on);
        w_.template define<depends_on>().relation().acyclic().when_target_destroyed(
            destroy_sources);
        w_.template define<follows>().relation().leveled();
        w_.template define<member_of>().relation().grouping().when_target_destroyed(pass_on);
        w_.template define<touches>().relation().symmetric();
        w_.template define<married_to>().relation().exclusive().symmetric();
        w_.template define<armor>().inherited();
        // A scope does not record the removal of a fragment that does not exist.
        (void)w_.template component<health>();
        (void)w_.template component<burning>();
        each_relation([&]<class R>(std::size_t r) {
            w_.template on_relate<R>([this, r](id_type e, id_type from, id_type target) {
                hook(r, false, !from, e, target);
            });
            w_.template on_unrelate<R>(
                [this, r](id_type e, id_type target) { hook(r, true, false, e, target); });
            related_.push_back(w_.template observer<>().template related<R>());
            unrelated_.push_back(w_.template observer<>().template unrelated<R>());
        });
    }

    std::size_t run() {
        std::size_t count = 0;
        while (!from_.done() && ids_.size() < 60) {
            const std::size_t noted = log_.size();
            forget_calls();
            act();
            if (log_.size() == noted) continue;  // nothing to do
            ++count;
            compare();
        }
        forget_calls();
        while (!starts_.empty()) commit();
        submit();
        compare();
        return count;
    }
    [[nodiscard]] const std::string& log() const noexcept { return log_; }

private:
    template <class Call>
    static void each_relation(Call call) {
        call.template operator()<child_of_t>(r_child_of);
        call.template operator()<likes>(r_likes);
        call.template operator()<docked_at>(r_docked_at);
        call.template operator()<part_of>(r_part_of);
        call.template operator()<depends_on>(r_depends_on);
        call.template operator()<follows>(r_follows);
        call.template operator()<member_of>(r_member_of);
        call.template operator()<is_a_t>(r_is_a);
        call.template operator()<touches>(r_touches);
        call.template operator()<married_to>(r_married_to);
    }
    template <class Call>
    static void with_relation(std::size_t wanted, Call call) {
        each_relation([&]<class R>(std::size_t r) {
            if (r == wanted) call.template operator()<R>();
        });
    }
    void hook(std::size_t r, bool ends, bool is_new, id_type e, id_type target) {
        if (model_.vetoes(r, number_of(e), number_of(target))) throw std::runtime_error("veto");
        hooks_.push_back({r, ends, is_new, number_of(e), number_of(target)});
    }
    /// Before an operation.
    void forget_calls() {
        hooks_.clear();
        model_.hooks.clear();
        has_failed_ = false;
        for (std::size_t r = 0; r < relation_count; ++r) {
            related_[r].clear();
            unrelated_[r].clear();
        }
    }
    /// After an operation: hooks and observers saw what has changed, and nothing else.
    void compare_calls() {
        if (has_failed_) return;  // some hooks were called in vain
        std::ranges::sort(hooks_);
        std::ranges::sort(model_.hooks);
        for (const bool is_called : {false, true}) {
            const auto& one = is_called ? hooks_ : model_.hooks;
            const auto& other = is_called ? model_.hooks : hooks_;
            for (const model::hook_call& call : one)
                require(std::ranges::binary_search(other, call), "a hook",
                        is_called ? "was" : "was not", "called: relation", call.relation, "ends",
                        call.ends, "is new", call.is_new, "of", call.e, "target", call.target);
        }
        require(hooks_ == model_.hooks, "a hook was called several times");
        for (std::size_t r = 0; r < relation_count; ++r)
            for (const bool ends : {false, true}) {
                std::set<int> seen;
                for (const id_type e : (ends ? unrelated_ : related_)[r].take())
                    seen.insert(number_of(e));
                for (const auto& call : hooks_)
                    if (call.relation == r && call.ends && ends)
                        require(seen.contains(call.e) || !model_.alive(call.e),
                                "no observer has noticed", call.e, "relation", r, "ends", ends);
                for (const int e : seen)
                    require(std::ranges::any_of(hooks_,
                                                [&](const auto& call) {
                                                    return call.relation == r && call.e == e &&
                                                           call.ends == ends;
                                                }),
                            "an observer has noticed", e, "relation", r, "ends", ends);
            }
    }

    // ---- messages ------------------------------------------------------------------------------

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
    }
    template <class... Parts>
    void require(bool holds, const Parts&... parts) {
        if (holds) return;
        note("DIFFERENCE:", parts...);
        throw difference(log_);
    }
    void note_steps(int e, const std::vector<step>& steps) {
        for (const step& made : steps)
            note(" ", names_[static_cast<std::size_t>(made.what)], "of", e, "relation",
                 made.relation, "target", made.target, "value", made.value);
    }
    static constexpr const char* names_[] = {
        "relate",      "unrelate",  "unrelate_all",  "clear",          "destroy",     "set health",
        "set burning", "set armor", "remove health", "remove burning", "remove armor"};

    // ---- entities as numbers -------------------------------------------------------------------

    std::size_t pick(std::size_t count) { return from_.byte() % count; }
    int any() { return static_cast<int>(pick(ids_.size())); }
    id_type id(int e) { return ids_[static_cast<std::size_t>(e)]; }
    /// New entities receive the next numbers when a hook first sees them.
    int number_of(id_type e) {
        const auto known = numbers_.find(e.value());
        if (known != numbers_.end()) return known->second;
        const int made = fresh_++;
        numbers_[e.value()] = made;
        return made;
    }
    void know(int e, id_type made) {
        ids_[static_cast<std::size_t>(e)] = made;
        numbers_[made.value()] = e;
    }
    int add() {
        ids_.push_back({});
        return model_.spawn();
    }
    template <class Call>
    bool throws_in(Call call) {
        try {
            call();
            return false;
        } catch (const std::exception&) {
            return has_failed_ = true;
        }
    }

    // ---- operations ----------------------------------------------------------------------------

    /// Makes a call in the world, and its steps in the model, now or when the scope ends.
    template <class Call>
    void make(int e, std::vector<step> steps, Call call) {
        note_steps(e, steps);
        const bool throws = throws_in([&] { call(); });
        if (starts_.empty()) {
            require(model_.apply(e, steps, false) == !throws, "a call on", e, "throws:", throws);
        } else if (!throws) {
            for (const step& made : steps) recorded_.push_back({e, made, false});
        }
    }

    void act() {
        if (ids_.size() < 3) return spawn();
        const auto living = std::ranges::count_if(model_.all, &model::node::is_alive);
        if (living < 6 && pick(3) == 0) return spawn();
        const std::size_t what = pick(52);
        const int e = any();
        const int to = any();
        const std::size_t r = pick(relation_count);
        const int value = static_cast<int>(pick(100));
        switch (what) {
        case 0:
        case 1: return spawn();
        case 2: return destroy({e});
        case 3: return destroy({e, to, any()});
        case 4:
            return make(e, {{kind::unrelate_all, r, 0, 0}}, [&] {
                with_relation(r, [&]<class R>() { (void)w_.template unrelate<R>(id(e)); });
            });
        case 5:
            return make(e, {{kind::unrelate_all, r, 0, 0}}, [&] {
                with_relation(r, [&]<class R>() { (void)w_.template remove<R>(id(e)); });
            });
        case 6: return make(e, {{kind::clear, 0, 0, 0}}, [&] { w_.clear(id(e)); });
        case 7:
        case 8:
            if (!model_.alive(e)) return;
            return make(e, {{kind::set_health, 0, 0, value}},
                        [&] { w_.set(id(e), health{value}); });
        case 9:
            if (!model_.alive(e)) return;
            return make(e, {{kind::set_burning, 0, 0, value}},
                        [&] { w_.set(id(e), burning{value}); });
        case 10:
            return make(e, {{kind::remove_health, 0, 0, 0}},
                        [&] { (void)w_.template remove<health>(id(e)); });
        case 11:
            return make(e, {{kind::remove_burning, 0, 0, 0}},
                        [&] { (void)w_.template remove<burning>(id(e)); });
        case 12:
        case 13:
        case 14: return unrelate(e, r, value % 3 == 0 ? to : last_target(e, r, to));
        case 15: return clone(e, to);
        case 16: return defer();
        case 17:
        case 18:
            if (!starts_.empty()) commit();
            return;
        case 19:
            if (!starts_.empty() && value % 2 == 0) cancel();
            return;
        case 20:
            if (starts_.empty())
                model_.veto = value % 2 == 0 ? 3 + static_cast<unsigned>(pick(20)) : 0;
            note("veto", model_.veto);
            return;
        case 21:
            if (starts_.empty() && value < 10) reset();
            return;
        case 22:
            if (starts_.empty()) batch(value % 3, r);
            return;
        case 23: return spawn_many(1 + pick(3), to, value);
        case 24: return clone_many(e, to);
        case 25: return build(to, value);
        case 26:
        case 27: return set_related(e, to, any(), value);
        case 28:
        case 29: return buffer(e, to, r, value);
        case 30:
            if (starts_.empty()) submit();
            return;
        case 31:
            if (starts_.empty()) phase(to, r, value);
            return;
        case 32: return rename(e);
        case 33:
        case 34:
            if (starts_.empty()) place_before(e, r, value);
            return;
        case 35:
            if (starts_.empty()) sort_sources(to, r, value);
            return;
        case 36:
            if (starts_.empty()) arrange(value);
            return;
        case 37:
            if (starts_.empty() && value % 2 == 0) clone_tree(e, value);
            return;
        case 38:
            if (!model_.alive(e)) return;
            return make(e, {{kind::set_armor, 0, 0, value}}, [&] { w_.set(id(e), armor{value}); });
        case 39:
            return make(e, {{kind::remove_armor, 0, 0, 0}},
                        [&] { (void)w_.template remove<armor>(id(e)); });
        default: return relate(e, r, to, value);
        }
    }
    /// Prefers a target that is there.
    int last_target(int e, std::size_t r, int other) {
        const std::vector<model::link>& own = model_.at(e).links[r];
        return own.empty() ? other : own.back().target;
    }

    void relate(int e, std::size_t r, int to, int value) {
        if (!model_.alive(e)) {
            note("relate the dead", e);
            const bool throws = throws_in([&] { (void)w_.relate(child_of, id(e), id(to)); });
            return require(throws, "relating the dead", e);
        }
        make(e, {{kind::relate, r, to, value}}, [&] {
            with_relation(r, [&]<class R>() {
                (void)w_.template relate<R>(id(e), id(to), value_for<R>(value));
            });
        });
    }
    void unrelate(int e, std::size_t r, int to) {
        make(e, {{kind::unrelate, r, to, 0}}, [&] {
            with_relation(r, [&]<class R>() { (void)w_.template unrelate<R>(id(e), id(to)); });
        });
    }
    void set_related(int e, int first, int second, int value) {
        if (!model_.alive(e) || !model_.alive(first) || !model_.alive(second)) return;
        make(e,
             {{kind::set_health, 0, 0, value},
              {kind::relate, r_likes, first, value},
              {kind::relate, r_likes, second, 7},
              {kind::relate, r_married_to, first, value},
              {kind::relate, r_follows, second, 0}},
             [&] {
                 w_.set(id(e), to<likes>(id(first), likes{value}), health{value},
                        to<married_to>(id(first), married_to{value}), to<follows>(id(second)),
                        to<likes>(id(second), likes{7}));
             });
    }
    void rename(int e) {
        if (!model_.alive(e) || !starts_.empty()) return;
        note("name", e);
        model_.at(e).name = "n" + std::to_string(e);
        w_.name(id(e), model_.at(e).name);
    }

    // ---- order ---------------------------------------------------------------------------------

    void place_before(int e, std::size_t r, int value) {
        if (!model_.alive(e)) return;
        // Prefers a sibling.
        const std::vector<model::link>& own = model_.at(e).links[r];
        int sibling = any();
        if (!own.empty() && value % 4 != 0) {
            const std::vector<int>& sources = model_.at(own.front().target).sources[r];
            sibling = sources[static_cast<std::size_t>(value) % sources.size()];
        }
        note("place", e, "before", sibling, "relation", r);
        bool is_done = false;
        with_relation(r, [&]<class R>() {
            is_done = !throws_in([&] { w_.template place_before<R>(id(e), id(sibling)); });
        });
        const bool is_possible = model_.alive(sibling) && model_.place_before(r, e, sibling);
        require(is_done == is_possible, "placing throws:", !is_done);
    }
    void sort_sources(int target, std::size_t r, int value) {
        if (!model_.alive(target)) return;
        note("sort the sources of", target, "relation", r, "modulo", value % 7 + 1);
        const auto rank = [&](int e) { return e * 5 % (value % 7 + 1); };
        with_relation(r, [&]<class R>() {
            w_.template sort_sources<R>(id(target), [&](id_type a, id_type b) {
                return rank(number_of(a)) < rank(number_of(b));
            });
        });
        auto& sources = model_.at(target).sources[r];
        std::list sorted(sources.begin(), sources.end());
        sorted.sort([&](const auto& a, const auto& b) { return rank(a) < rank(b); });  // stable
        sources.assign(sorted.begin(), sorted.end());
    }
    void arrange(int value) {
        note("arrange", value % 3);
        if (value % 3 == 0) w_.arrange(child_of);
        if (value % 3 == 1) w_.template arrange<part_of>();
        if (value % 3 == 2) w_.template arrange<follows>();
    }

    // ---- creating ------------------------------------------------------------------------------

    [[nodiscard]] static std::vector<step> steps_of(std::size_t form, int to, int value) {
        switch (form) {
        case 0: return {};
        case 1: return {{kind::relate, r_child_of, to, 0}, {kind::set_health, 0, 0, value}};
        case 2:
            return {{kind::relate, r_likes, to, value},
                    {kind::relate, r_part_of, to, value},
                    {kind::set_burning, 0, 0, value}};
        case 3:
            return {{kind::relate, r_touches, to, value},
                    {kind::relate, r_is_a, to, 0},
                    {kind::set_health, 0, 0, value}};
        default:
            return {{kind::relate, r_follows, to, 0},
                    {kind::relate, r_member_of, to, 0},
                    {kind::relate, r_depends_on, to, 0},
                    {kind::set_health, 0, 0, value},
                    {kind::set_burning, 0, 0, value}};
        }
    }
    /// Calls `call(arguments...)` with the arguments of these steps.
    template <class Call>
    auto with_arguments(std::size_t form, int target, int value, Call call) {
        switch (form) {
        case 0: return call();
        case 1: return call(to(child_of, id(target)), health{value});
        case 2:
            return call(burning{value}, to<likes>(id(target), likes{value}),
                        to<part_of>(id(target), part_of{value}));
        case 3:
            return call(to<touches>(id(target), touches{value}), to(is_a, id(target)),
                        health{value});
        default:
            return call(to<follows>(id(target)), health{value}, to<member_of>(id(target)),
                        burning{value}, to<depends_on>(id(target)));
        }
    }

    /// Creates entities with these steps each, all or none, now or when the scope ends.
    template <class Call>
    void create(const std::vector<std::vector<step>>& steps, Call call) {
        const int first = static_cast<int>(ids_.size());
        note("create", steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i) {
            note_steps(first + static_cast<int>(i), steps[i]);
            fresh_ = first;
        }
        std::vector<id_type> made;
        const bool throws = throws_in([&] { made = call(); });
        const model before = model_;
        for (std::size_t i = 0; i < steps.size(); ++i) (void)add();
        bool is_done = true;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const int e = first + static_cast<int>(i);
            if (!throws) know(e, made[i]);
            if (starts_.empty())
                is_done = is_done && model_.apply(e, steps[i], false);
            else if (!throws)
                record_new(e, steps[i]);
        }
        if (!starts_.empty()) is_done = !throws;
        if (!is_done) {
            model_ = before;
            for (std::size_t i = 0; i < steps.size(); ++i) model_.end_node(model_.spawn());
            std::erase_if(numbers_, [&](const auto& one) {
                return one.second >= first && id(one.second).value() != one.first;
            });
        }
        require(is_done == !throws, "creating throws:", throws);
    }
    void record_new(int e, const std::vector<step>& steps) {
        recorded_.push_back({e, {kind::clear, 0, 0, 0}, true});
        for (const step& made : steps) recorded_.push_back({e, made, false});
    }

    void spawn() {
        const int target = ids_.empty() ? -1 : any();
        const std::size_t form = target >= 0 && model_.alive(target) ? pick(5) : 0;
        const int value = static_cast<int>(pick(100));
        note("spawn", ids_.size(), "depth", starts_.size());
        create({steps_of(form, target, value)}, [&] {
            return std::vector{
                with_arguments(form, target, value, [&](auto... all) { return w_.spawn(all...); })};
        });
    }
    void spawn_many(std::size_t count, int target, int value) {
        const std::size_t form = model_.alive(target) ? 1 + pick(4) : 0;
        note("spawn_many", count);
        create(std::vector(count, steps_of(form, target, value)), [&] {
            return with_arguments(form, target, value,
                                  [&](auto... all) { return w_.spawn_many(count, all...); });
        });
    }
    void build(int target, int value) {
        const std::size_t form = model_.alive(target) ? 1 + pick(4) : 0;
        note("build");
        auto builder = w_.builder();
        with_arguments(form, target, value, [&](auto... all) {
            (builder.set(all), ...);
            return 0;
        });
        create(std::vector(2, steps_of(form, target, value)),
               [&] { return builder.spawn_many(2); });
    }
    [[nodiscard]] std::vector<step> clone_steps(int e, int target, int value) {
        const model::node& original = model_.at(e);
        std::vector<step> steps;
        if (original.health) steps.push_back({kind::set_health, 0, 0, *original.health});
        if (original.burning) steps.push_back({kind::set_burning, 0, 0, *original.burning});
        if (original.armor) steps.push_back({kind::set_armor, 0, 0, *original.armor});
        for (std::size_t r = 0; r < r_married_to; ++r)  // the only partner stays
            for (const model::link& made : original.links[r])
                steps.push_back({kind::relate, r, made.target, made.value});
        if (value >= 0) {
            steps.push_back({kind::relate, r_likes, target, value});
            steps.push_back({kind::relate, r_child_of, target, 0});
        }
        return steps;
    }
    void clone(int e, int target) {
        const int value = static_cast<int>(pick(100)) - 50;
        if (!model_.alive(e) || !model_.alive(target) || !starts_.empty()) return;
        note("clone", e);
        create({clone_steps(e, target, value)}, [&] {
            return std::vector{value < 0 ? w_.clone(id(e))
                                         : w_.clone(id(e), to<likes>(id(target), likes{value}),
                                                    to(child_of, id(target)))};
        });
    }
    void clone_many(int e, int target) {
        const int value = static_cast<int>(pick(100)) - 50;
        if (!model_.alive(e) || !model_.alive(target) || !starts_.empty()) return;
        note("clone_many", e);
        create(std::vector(2, clone_steps(e, target, value)), [&] {
            return value < 0 ? w_.clone_many(2, id(e))
                             : w_.clone_many(2, id(e), to<likes>(id(target), likes{value}),
                                             to(child_of, id(target)));
        });
    }

    /// Without vetoes: they concern numbers that the copies receive afterwards.
    void clone_tree(int e, int value) {
        if (!model_.alive(e)) return;
        std::vector<int> tree{e};
        model_.list_below(r_child_of, e, tree);
        if (tree.size() > 6) return;
        note("clone_tree", e, "health", value);
        const unsigned veto = std::exchange(model_.veto, 0);
        fresh_ = static_cast<int>(ids_.size()) + 1'000'000;
        const id_type copy = w_.clone_tree(id(e), health{value});
        std::map<int, int> copy_of;
        std::vector<id_type> copies;
        list_tree(copy, copies);
        require(copies.size() == tree.size(), "the copy has", copies.size(), "entities");
        for (std::size_t i = 0; i < tree.size(); ++i) {
            copy_of[tree[i]] = add();
            know(copy_of[tree[i]], copies[i]);
        }
        for (const int original : tree) {
            std::vector<step> steps = clone_steps(original, 0, -1);
            for (step& made : steps)
                if (made.what == kind::relate && copy_of.contains(made.target))
                    made.target = copy_of[made.target];
            if (original == e) steps.push_back({kind::set_health, 0, 0, value});
            require(model_.apply(copy_of[original], steps, false), "a tree cannot be copied");
        }
        model_.veto = veto;
        has_failed_ = true;  // the hooks have seen numbers that are no longer used
    }
    void list_tree(id_type e, std::vector<id_type>& all) {
        all.push_back(e);
        for (const id_type child : std::as_const(w_).children(e)) list_tree(child, all);
    }

    // ---- destroying ----------------------------------------------------------------------------

    void destroy(std::vector<int> which) {
        for (const int e : which) note("destroy", e, "of", which.size());
        if (!starts_.empty()) {
            const bool is_alive = w_.alive(id(which[0]));
            w_.destroy(id(which[0]));
            if (is_alive) recorded_.push_back({which[0], {kind::destroy, 0, 0, 0}, false});
            return;
        }
        std::vector<int> living;
        for (const int e : which)
            if (model_.alive(e)) living.push_back(e);
        const bool throws = throws_in([&] {
            if (which.size() == 1)
                w_.destroy(id(which[0]));
            else
                w_.destroy(id(which[0]), id(which[1]), id(which[2]));
        });
        require(model_.destroy(living) == !throws, "destroying throws:", throws);
    }
    /// Changes of all entities that a query finds. Without vetoes: each chunk is changed or not.
    void batch(int which, std::size_t r) {
        const unsigned veto = std::exchange(model_.veto, 0);
        std::vector<int> found;
        for (std::size_t i = 0; i < ids_.size(); ++i)
            if (model_.all[i].is_alive && model_.all[i].health)
                found.push_back(static_cast<int>(i));
        note("batch", which, "of", found.size(), "relation", r);
        if (which == 0 && found.size() <= 4) {
            const bool throws = throws_in([&] { (void)w_.template query<health>().destroy(); });
            require(model_.destroy(found) == !throws, "destroying by query throws:", throws);
        } else if (which == 1) {
            with_relation(
                r, [&]<class R>() { (void)w_.template query<health>().template remove<R>(); });
            for (const int e : found) (void)model_.apply(e, {{kind::unrelate_all, r, 0, 0}}, false);
        } else if (which == 2) {
            (void)w_.template query<health>().template remove<health>();
            for (const int e : found)
                (void)model_.apply(e, {{kind::remove_health, 0, 0, 0}}, false);
        }
        model_.veto = veto;
    }
    void reset() {
        submit();
        note("reset");
        model_.veto = 0;
        w_.reset();
        has_failed_ = true;  // hooks are not called
        for (std::size_t i = 0; i < ids_.size(); ++i) model_.end_node(static_cast<int>(i));
    }

    // ---- recorded changes ----------------------------------------------------------------------

    struct entry {
        int e;
        step made;
        bool is_new;
    };

    void defer() {
        if (starts_.size() == 3) return;
        note("defer");
        w_.defer();
        starts_.push_back(recorded_.size());
        created_.push_back(ids_.size());
    }
    void cancel() {
        note("cancel");
        w_.cancel();
        for (std::size_t i = created_.back(); i < ids_.size(); ++i)
            if (!buffered_.contains(static_cast<int>(i))) model_.end_node(static_cast<int>(i));
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
        require(apply_all(recorded_) == !throws, "the commit throws:", throws);
        recorded_.clear();
    }
    /// Applies recorded changes, grouped by entity. Returns whether all could be applied.
    bool apply_all(const std::vector<entry>& all) {
        std::vector<int> order;
        std::map<int, std::vector<step>> groups;
        std::set<int> fresh;
        for (const entry& recorded : all) {
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
            if (!fresh.contains(e)) continue;
            const unsigned veto = std::exchange(model_.veto, 0);
            (void)model_.destroy({e}, true);
            model_.veto = veto;
        }
        return is_done;
    }

    /// Records in a command buffer.
    void buffer(int e, int target, std::size_t r, int value) {
        note("buffer");
        if (!buffer_) buffer_.emplace(w_);
        std::vector<step> steps;
        if (!id(e) || !id(target)) return;  // of a creation that failed
        switch (value % 4) {
        case 0: {
            const std::size_t form = pick(5);
            steps = steps_of(form, target, value);
            const int made = add();
            model_.end_node(made);
            know(made, with_arguments(form, target, value,
                                      [&](auto... all) { return buffer_->spawn(all...); }));
            buffered_.insert(made);
            commands_.push_back({made, {kind::clear, 0, 0, 0}, true});
            for (const step& one : steps) commands_.push_back({made, one, false});
            return note_steps(made, steps);
        }
        case 1:
            steps = {{kind::unrelate, r, target, 0}};
            with_relation(r, [&]<class R>() { buffer_->template unrelate<R>(id(e), id(target)); });
            break;
        case 2:
            steps = {{kind::unrelate_all, r, 0, 0}};
            with_relation(r, [&]<class R>() { buffer_->template unrelate<R>(id(e)); });
            break;
        default:
            steps = {{kind::relate, r, target, value}};
            with_relation(r, [&]<class R>() {
                buffer_->template relate<R>(id(e), id(target), value_for<R>(value));
            });
        }
        note_steps(e, steps);
        for (const step& one : steps) commands_.push_back({e, one, false});
    }
    void submit() {
        if (!buffer_) return;
        note("submit");
        for (const entry& recorded : commands_)
            if (recorded.is_new) model_.at(recorded.e).is_alive = true;
        const bool throws = throws_in([&] {
            w_.submit(*buffer_);
            w_.apply_submitted();
        });
        require(apply_all(commands_) == !throws, "the buffer throws:", throws);
        buffered_.clear();
        commands_.clear();
        buffer_.reset();
    }

    /// Two threads relate all entities that have health.
    void phase(int target, std::size_t r, int value) {
        if (!model_.alive(target)) return;
        note("phase");
        std::vector<entry> all;
        for (const auto [e] : std::as_const(w_).template query<>().template with<health>()) {
            const int number = number_of(e);
            all.push_back({number, step_of(number, target, r, value), false});
            note_steps(number, {all.back().made});
        }
        const auto numbers = numbers_;  // threads read it
        const bool throws = throws_in([&] {
            w_.template query<>().template with<health>().par_each(executor_, 2, [&](id_type e) {
                const step made = step_of(numbers.at(e.value()), target, r, value);
                with_relation(r, [&]<class R>() {
                    if (made.what == kind::relate)
                        (void)w_.template relate<R>(e, id(target), value_for<R>(made.value));
                    else
                        (void)w_.template unrelate<R>(e);
                });
            });
        });
        require(apply_all(all) == !throws, "the phase throws:", throws);
    }
    [[nodiscard]] static step step_of(int number, int target, std::size_t r, int value) {
        if (number % 4 == value % 4) return {kind::unrelate_all, r, 0, 0};
        return {kind::relate, r, target, value + number};
    }

    // ---- comparing -----------------------------------------------------------------------------

    void compare() {
        require(w_.depth() == starts_.size(), "the depth is", w_.depth());
        std::size_t living = 0;
        for (std::size_t i = 0; i < ids_.size(); ++i) {
            const model::node& wanted = model_.all[i];
            const id_type e = ids_[i];
            living += wanted.is_alive;
            require(w_.alive(e) == wanted.is_alive, "alive", i, w_.alive(e));
            const health* const points = w_.template try_get<health>(e);
            require((points != nullptr) == wanted.health.has_value(), "has health", i);
            if (points != nullptr) require(points->points == *wanted.health, "health of", i);
            const burning* const heat = w_.template try_get<burning>(e);
            require((heat != nullptr) == wanted.burning.has_value(), "is burning", i);
            if (heat != nullptr) require(heat->heat == *wanted.burning, "heat of", i);
            const armor* const around = w_.template try_get<const armor>(e);
            const std::optional<int> strength =
                wanted.is_alive ? model_.armor(static_cast<int>(i)) : std::nullopt;
            require((around != nullptr) == strength.has_value(), "has armor", i);
            if (around != nullptr) require(around->strength == *strength, "armor of", i);
            require(w_.template has<armor>(e) == wanted.armor.has_value(), "has own armor", i);
            if (wanted.is_alive) require(w_.name(e) == wanted.name, "the name of", i);
            each_relation([&]<class R>(std::size_t r) { compare_links<R>(i, r); });
        }
        if (w_.size() != living)
            for (const id_type e : w_.entities())
                if (!numbers_.contains(e.value()) || !model_.alive(numbers_[e.value()]))
                    note(to_string(e), "should not be alive");
        require(w_.size() == living, "the size is", w_.size(), "not", living);
        if (!starts_.empty()) return;
        for (const std::string& wrong :
             {wrong_level<child_of_t>(w_), wrong_level<part_of>(w_), wrong_level<follows>(w_),
              wrong_group<member_of>(w_), wrong_group<is_a_t>(w_)})
            require(wrong.empty(), wrong);
        each_relation([&]<class R>(std::size_t r) { compare_queries<R>(r); });
        compare_order<child_of_t>(r_child_of);
        compare_order<part_of>(r_part_of);
        compare_order<follows>(r_follows);
        compare_calls();
    }
    /// Queries along a leveled relation visit all, parents first or last, and all below one entity.
    template <class R>
    void compare_order(std::size_t r) {
        const auto all = std::as_const(w_).template query<>();
        std::size_t count = 0;
        unsigned level = 0;
        for (const auto [e] : all.template top_down<R>()) {
            const unsigned now = model_.level(r, number_of(e));
            require(now >= level, "top_down visits", number_of(e), "late");
            level = now;
            ++count;
        }
        require(count == all.count(), "top_down visits", count);
        for (const auto [e] : all.template bottom_up<R>()) {
            const unsigned now = model_.level(r, number_of(e));
            require(now <= level, "bottom_up visits", number_of(e), "late");
            level = now;
            --count;
        }
        require(count == 0, "bottom_up misses", count);
        if (ids_.empty()) return;
        const int top = static_cast<int>(log_.size() % ids_.size());
        std::vector<int> below, found;
        model_.list_below(r, top, below);
        for (const auto [e] : all.template under<R>(id(top))) found.push_back(number_of(e));
        std::ranges::sort(below);
        std::ranges::sort(found);
        require(found == below, "under", top, "are", found.size(), "not", below.size());
    }
    template <class R>
    void compare_links(std::size_t i, std::size_t r) {
        const model::node& wanted = model_.all[i];
        const id_type e = ids_[i];
        const auto& view = std::as_const(w_);
        std::size_t at = 0;
        const auto targets = view.template targets<R>(e);
        require(targets.size() == wanted.links[r].size(), "number of targets of", i, "relation", r);
        for (const id_type target : targets) {
            // Which direction of a symmetric link comes first depends on the call.
            const model::link& link =
                rules_of[r].is_symmetric
                    ? *std::ranges::find(wanted.links[r], number_of(target), &model::link::target)
                    : wanted.links[r][at++];
            require(&link != std::to_address(wanted.links[r].end()) && id(link.target) == target,
                    "target of", i, "relation", r, "is", number_of(target), "not", link.target);
            require(view.template related<R>(e, target), "related", i);
            if constexpr (!std::is_empty_v<R>)
                require(
                    reinterpret_cast<const int&>(view.template link<R>(e, target)) == link.value,
                    "value of the link of", i, "relation", r);
        }
        const auto sources = view.template sources<R>(e);
        require(sources.size() == wanted.sources[r].size(), "number of sources of", i, "relation",
                r, "is", sources.size(), "not", wanted.sources[r].size());
        // Links that are passed on come in the order of death.
        if (rules_of[r].policy == pass_on || rules_of[r].is_symmetric) {
            for (const id_type source : sources)
                require(std::ranges::find(wanted.sources[r], number_of(source)) !=
                            wanted.sources[r].end(),
                        "source of", i, "relation", r);
        } else {
            at = 0;
            for (const id_type source : sources) {
                const int number = wanted.sources[r][at++];
                require(id(number) == source, "source of", i, "relation", r, "is",
                        number_of(source), "not", number);
            }
        }
        require(w_.template has<R>(e) == !wanted.links[r].empty(), "has", i, "relation", r);
        if (r == r_child_of && wanted.is_alive)
            require(w_.level(e) == model_.level(r, static_cast<int>(i)), "level of", i, "is",
                    w_.level(e));
    }
    /// Queries by target see what the links say.
    template <class R>
    void compare_queries(std::size_t r) {
        const auto sources = w_.template query<>().template to<R>().count();
        std::size_t wanted = 0;
        for (const model::node& e : model_.all) wanted += !e.links[r].empty();
        require(sources == wanted, "to finds", sources, "not", wanted);
    }

    byte_source from_;
    open_world<Layout> w_;
    std::vector<basic_observer<Layout>> related_;    // by relation
    std::vector<basic_observer<Layout>> unrelated_;  // by relation
    std::vector<model::hook_call> hooks_;
    bool has_failed_ = false;
    model model_;
    std::vector<id_type> ids_;
    std::unordered_map<std::uint64_t, int> numbers_;
    int fresh_ = 0;
    std::string log_;
    std::vector<entry> recorded_;
    std::vector<std::size_t> starts_;   // of open scopes, in `recorded_`
    std::vector<std::size_t> created_;  // of open scopes, in `ids_`
    std::optional<basic_command_buffer<Layout>> buffer_;
    std::vector<entry> commands_;
    std::set<int> buffered_;  // entities that only the buffer knows
    muster_tests::thread_executor executor_{2};
};

}  // namespace muster::test::links

namespace muster::test {

template <class Layout>
std::size_t run_relation_story(std::span<const std::uint8_t> bytes) {
    links::relation_story<Layout> story(bytes);
    try {
        return story.run();
    } catch (const difference&) {
        throw;
    } catch (const std::exception& unexpected) {
        throw difference(story.log() + "\n UNEXPECTED: " + unexpected.what());
    }
}

}  // namespace muster::test
