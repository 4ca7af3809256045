// The part of scope_story.hpp around operations: hooks, loops and scopes, and the comparison of the
// readable state.
#pragma once

#include "scope_story.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <type_traits>

namespace muster::test::scopes {

template <class Layout>
void scope_story<Layout>::hooked(int n, hook_event event, int f, id_type e, int value) {
    calls_.push_back({n, event, e, f, value, {}});
    const std::size_t mine = calls_.size() - 1;
    if (!world_.alive(e) || world_.depth() == 0) calls_[mine].value = -100;
    if (f >= 0 && !world_.has(e, id_of(f))) calls_[mine].value = -101;
    trace_ += join("      hook ", n, " of ", f, " for ", test::text_of(e, first_version_), " with ",
                   value, "\n");
    const auto act = [&](const op& operation) {
        log(operation);
        const result seen = on_world(operation);
        log(seen);
        calls_[mine].did.push_back({operation, seen});
    };
    while (budget_ > 0 && roll(3) == 0) {
        --budget_;
        const int scope = roll(8);
        if (scope < 2) act({verb::defer, {}, {}});
        op next = any_operation(true, f);
        // World-owned fragments have the highest keys.
        if (roll(3) == 0 && next.what != verb::spawn_at && e.key() < Layout::last_key - 16)
            next.e = e;
        if (next.count != 0 && next.what == verb::destroy) next.e = typed_id(kind_aligned);
        act(next);
        if (scope < 2 && roll(20) != 0) act({scope == 0 ? verb::commit : verb::cancel, {}, {}});
    }
    if (roll(14) == 0) {
        const int error = first_stop + ++stops_;
        calls_[mine].did.push_back({{verb::stop, {}, {}, 0, 0, error, 0}, {}});
        trace_ += join("      throws ", error, "\n");
        throw hook_stop{error};
    }
}

template <class Layout>
void scope_story<Layout>::scoped(int nesting) {
    const int how = roll(6);
    trace_ += join("    deferred ", how, "\n");
    const int scope = model_.open(false);
    end_scope(
        scope,
        [&] {
            basic_deferred<Layout> changes(world_);
            for (int i = roll(6); i > 0; --i) step(nesting + 1);
            if (how == 0) changes.commit();
            if (how == 1) changes.cancel();
            if (how == 2) throw loop_stop();
        },
        how == 1);
}

template <class Layout>
template <class Call>
void scope_story<Layout>::end_scope(int scope, Call run, bool cancels) {
    int got = no_error;
    int wanted = no_error;
    budget_ = std::max(budget_, 4);
    try {
        run();
    } catch (const loop_stop&) {
        cancels = true;
    } catch (const hook_stop& why) {
        got = why.error;
    } catch (const error& why) {
        got = code(why.code());
    }
    try {
        model_.close(scope, !cancels);
    } catch (const typename model_type::stopped& why) {
        wanted = why.error;
    }
    trace_ += join("    end, ", got, "\n");
    if (got != wanted) model_type::differ(join("the end of a scope: ", got, ", not ", wanted));
    finish();
}

template <class Layout>
void scope_story<Layout>::loop(int nesting) {
    const int made = static_cast<int>(slots_.size()) > typed_count ? any_made() : kind_number;
    switch (roll(8)) {
    case 0: loop_over(nesting, world_.template query<number>(), {{kind_number}}); break;
    case 1: loop_over(nesting, world_.template query<const text, number*>(), {{kind_text}}); break;
    case 2:
        loop_over(nesting, world_.template query<marker>().template without<number>(),
                  {{kind_marker}, {kind_number}});
        break;
    case 3:
        model_.register_fragment(kind_aligned);
        loop_over(nesting, world_.template query<aligned, owner*>(), {{kind_aligned}});
        break;
    case 4: loop_over(nesting, world_.query().with(id_of(made)), {{made}}); break;
    default: loop_over_mixture(nesting);
    }
}

template <class Layout>
void scope_story<Layout>::loop_over_mixture(int nesting) {
    query_terms terms;
    const int which = roll(3);
    if (which == 0) terms.with = {kind_number};
    if (which == 1) terms.with = {kind_text, kind_owner};
    const auto add_once = [](std::vector<int>& list, int f) {  // a list names it once
        if (std::ranges::find(list, f) == list.end()) list.push_back(f);
    };
    for (int i = roll(3); i > 1; --i) add_once(terms.with, any_fragment());
    for (int i = roll(3); i > 1; --i) add_once(terms.without, any_fragment());
    for (int i = roll(4); i > 0; --i) add_once(terms.any, any_fragment());
    model_.register_fragment(kind_aligned);
    const auto refine = [&](auto query) {
        std::vector<id_type> all;
        const auto ids = [&](const std::vector<int>& from) {
            all.clear();
            for (const int f : from) all.push_back(id_of(f));
            return std::span<const id_type>(all);
        };
        query = query.with(ids(terms.with)).without(ids(terms.without));
        return terms.any.empty() ? query : query.any(ids(terms.any));
    };
    if (which == 0)
        loop_over(nesting, refine(world_.template query<number, const text*, aligned*>()), terms);
    else if (which == 1)
        loop_over(nesting, refine(world_.template query<text, const owner, marker*>()), terms);
    else
        loop_over(nesting, refine(world_.template query<const number*, text*>()), terms);
}

template <class Layout>
template <class... Ts>
auto scope_story<Layout>::expected_of(const basic_query<Layout, Ts...>& query,
                                      const query_terms& terms) -> std::vector<id_type> {
    std::vector<id_type> expected;
    for (const auto& [e, has] : model_.all()) {
        const auto is_there = [&, &mine = has](int f) { return mine.contains(f); };
        const bool matches = !has.empty() && std::ranges::all_of(terms.with, is_there) &&
                             std::ranges::none_of(terms.without, is_there) &&
                             (terms.any.empty() || std::ranges::any_of(terms.any, is_there));
        if (query.matches(e) != matches) model_type::differ("matches wrongly: " + query.explain(e));
        if ((query.explain(e).find("does not match") == std::string::npos) != matches)
            model_type::differ("explained wrongly: " + query.explain(e));
        if (matches) expected.push_back(e);
    }
    if (query.count() != expected.size()) model_type::differ("a query counts wrongly");
    const id_type first = query.first();
    if (expected.empty() ? !first.is_null() : std::ranges::find(expected, first) == expected.end())
        model_type::differ("a query has a wrong first entity");
    return expected;
}

template <class Layout>
template <class T>
void scope_story<Layout>::look_at_argument(id_type e, T* shown) {
    using type = std::remove_const_t<T>;
    int f = 0;
    while (!with_type(f, [&]<class U>() { return std::is_same_v<U, type>; })) ++f;
    const auto& has = model_.all().at(e);
    if ((shown != nullptr) != has.contains(f)) model_type::differ(join("a loop shows no ", f));
    if (shown == nullptr) return;
    if (read_as(*shown) != has.at(f)) model_type::differ(join("a loop shows another ", f));
    if (!std::is_empty_v<type> && shown != world_.template try_get<type>(e))
        model_type::differ(join("a loop shows another address of ", f));
}

template <class Layout>
template <class T>
void scope_story<Layout>::look_at_rows(const basic_rows<Layout>& rows) {
    using type = std::remove_const_t<std::remove_pointer_t<T>>;
    if constexpr (!std::is_empty_v<type>) {
        std::size_t count = 0;
        for (const id_type e : rows.entities()) count += world_.template has<type>(e) ? 1u : 0u;
        if (count != 0 && count != rows.size()) model_type::differ("rows that differ");
        if (rows.template has<type>() != (count != 0)) model_type::differ("what rows have");
        if (count == 0) return;
        const std::span<type> values = rows.template components<type>();
        if (values.size() != rows.size()) model_type::differ("a span of another size");
        for (std::size_t i = 0; i < values.size(); ++i)
            look_at_argument(rows.entities()[i], &values[i]);
    }
}

template <class Layout>
template <class... Ts>
void scope_story<Layout>::loop_over(int nesting, const basic_query<Layout, Ts...>& query,
                                    const query_terms& terms) {
    const int style = roll(3);
    const int stop_after = roll(8) == 0 ? roll(4) : -1;  // visited entities; -1: no limit
    const bool breaks = style == 1 && roll(2) == 0;
    trace_ += join("    loop over");
    for (const int f : terms.with) trace_ += join(" ", f);
    trace_ += join(" / ");
    for (const int f : terms.without) trace_ += join(" ", f);
    trace_ += join(" / ");
    for (const int f : terms.any) trace_ += join(" ", f);
    trace_ += join(", style ", style, "\n");
    std::vector<id_type> expected = expected_of(query, terms);
    std::vector<id_type> seen;
    int acts = 6;
    bool has_stopped = false;
    const auto pointer = []<class Shown>(Shown&& value) {
        if constexpr (std::is_pointer_v<std::remove_reference_t<Shown>>)
            return value;
        else
            return &value;
    };
    const auto visit = [&](id_type e, auto... shown) {
        trace_ += join("    at ", test::text_of(e, first_version_), "\n");
        if (std::erase(expected, e) == 0) model_type::differ("a loop shows another entity");
        (look_at_argument(e, shown), ...);
        while (acts > 0 && roll(2) == 0) {
            --acts;
            step(nesting + 1);
        }
        (look_at_argument(e, shown), ...);
        seen.push_back(e);
        has_stopped = stop_after == static_cast<int>(seen.size());
        if (has_stopped && !breaks) throw loop_stop();
    };
    const int scope = model_.open(false);
    end_scope(scope, [&] {
        if (style == 0) {
            query.each([&](id_type e, auto&&... shown) { visit(e, pointer(shown)...); });
        } else if (style == 1) {
            for (const auto& row : query) {
                std::apply([&](id_type e, auto&&... shown) { visit(e, pointer(shown)...); }, row);
                if (has_stopped) break;
            }
        } else {
            query.each_chunk([&](const basic_rows<Layout>& rows) {
                (look_at_rows<Ts>(rows), ...);
                for (const id_type e : rows.entities()) visit(e);
            });
        }
    });
    if (!has_stopped && !expected.empty()) model_type::differ("a loop skipped an entity");
}

template <class Layout>
void scope_story<Layout>::look_at_all() {
    const auto differ = [](const std::string& how) { model_type::differ(how); };
    for (int f = 0; f < typed_count; ++f) {
        (void)typed_id(f);  // registers the type
        model_.register_fragment(f);
    }
    if (world_.size() != model_.all().size()) differ("size");
    std::size_t count = 0;
    for (const id_type e : world_.entities()) {
        ++count;
        if (!model_.alive(e)) differ("alive, but should not be: " + to_string(e));
    }
    if (count != model_.all().size()) differ("entities");
    for (const auto& [e, has] : model_.all()) look_at(e, has);
    for (const id_type e : known_)
        if (world_.alive(e) != model_.alive(e)) differ("alive: " + to_string(e));
    long texts = 0;
    for (int f = 0; f < static_cast<int>(slots_.size()); ++f) {
        const auto& fragment = model_.fragments()[size(f)];
        if (f >= typed_count && fragment.id != slots_[size(f)].id) differ("other fragments");
        const std::size_t found =
            f >= typed_count ? world_.count(slots_[size(f)].id)
                             : with_type(f, [&]<class T>() { return world_.template count<T>(); });
        if (found != model_.count(f)) differ(join("count of ", f));
        if (fragment.kind == kind_text) texts += static_cast<long>(found);
    }
    if (model_.depth() == 0 && text::living - living_before_ != texts)
        differ(join("values live that should not: ", text::living - living_before_, " instead of ",
                    texts));
    if (text::misused != 0) differ("a value was misused");
}

template <class Layout>
void scope_story<Layout>::look_at(id_type e, const typename model_type::values& has) {
    const auto differ = [&](const std::string& how) {
        model_type::differ(how + " of " + test::text_of(e, first_version_));
    };
    if (!world_.alive(e)) differ("liveness");
    int last = -1;
    std::size_t count = 0;
    std::as_const(world_).each_fragment(e, [&](id_type id, const void* value) {
        int f = 0;
        while (f < typed_count && typed_id(f) != id) ++f;
        while (f >= typed_count && f < static_cast<int>(slots_.size()) && slots_[size(f)].id != id)
            ++f;
        if (f == static_cast<int>(slots_.size()) || !has.contains(f))
            return differ(join("fragment ", f));
        ++count;
        const int order = model_.fragments()[size(f)].order;
        if (order <= last) differ("the order of fragments");
        last = order;
        if (f >= typed_count && read_raw(kind_of(f), value) != has.at(f)) differ(join("value ", f));
        look_at_address(e, f, value);
    });
    if (count != has.size()) differ("fragments");
    for (int f = 0; f < typed_count; ++f)
        with_type(f, [&]<class T>() {
            const T* const found = world_.template try_get<T>(e);
            const bool is_there = has.contains(f);
            if (world_.template has<T>(e) != is_there || (found != nullptr) != is_there)
                differ(join("presence ", f));
            if (is_there && (read_as(*found) != has.at(f) || &world_.template get<T>(e) != found))
                differ(join("value ", f, ": ", read_as(*found), ", not ", has.at(f)));
        });
}

template <class Layout>
void scope_story<Layout>::look_at_address(id_type e, int f, const void* value) {
    if (!model_.is_sparse(f) || !has_values(kind_of(f))) return;
    const std::pair now{model_.life(e, f), value};
    auto& known = addresses_[{e, f}];
    if (known.first == now.first && known.second != now.second)
        model_type::differ(
            join("value ", f, " of ", test::text_of(e, first_version_), " has moved"));
    known = now;
}

}  // namespace muster::test::scopes
