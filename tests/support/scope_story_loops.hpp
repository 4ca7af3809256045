// The part of scope_story.hpp that is around operations: what hooks do, loops and scopes, and the comparison
// of all that can be read.
#pragma once

#include "scope_story.hpp"

namespace muster::test::scopes {

template <class Layout>
void scope_story<Layout>::hooked(int n, hook_event event, int f, id_type e, int value) {
    told_.push_back({n, event, e, f, value, {}});
    const std::size_t mine = told_.size() - 1;
    if (!world_.alive(e) || world_.depth() == 0) told_[mine].value = -100;
    if (f >= 0 && !world_.has(e, id_of(f))) told_[mine].value = -101;
    trace_ +=
        say("      hook ", n, " of ", f, " for ", test::text_of(e, base_), " with ", value, "\n");
    const auto act = [&](const op& one) {
        note(one);
        const result seen = on_world(one);
        note(seen);
        told_[mine].did.push_back({one, seen});
    };
    while (budget_ > 0 && roll(3) == 0) {
        --budget_;
        const int scope = roll(8);
        if (scope < 2) act({verb::defer, {}, {}});
        op one = any_operation(true, f);
        // The ids of the world's own fragments are at the top.
        if (roll(3) == 0 && one.what != verb::spawn_at && e.key() < Layout::last_key - 16)
            one.who = e;
        if (one.count != 0 && one.what == verb::destroy) one.who = typed_id(kind_aligned);
        act(one);
        if (scope < 2 && roll(20) != 0) act({scope == 0 ? verb::commit : verb::cancel, {}, {}});
    }
    if (roll(14) == 0) {
        const int error = first_stop + ++stops_;
        told_[mine].did.push_back({{verb::stop, {}, {}, 0, 0, error, 0}, {}});
        trace_ += say("      throws ", error, "\n");
        throw hook_stop{error};
    }
}

template <class Layout>
void scope_story<Layout>::scoped(int nesting) {
    const int how = roll(6);
    trace_ += say("    deferred ", how, "\n");
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
    trace_ += say("    end, ", got, "\n");
    if (got != wanted) model_type::differ(say("the end of a scope: ", got, ", not ", wanted));
    finish();
}

template <class Layout>
void scope_story<Layout>::loop(int nesting) {
    const int made = static_cast<int>(slots_.size()) > typed_count ? any_made() : kind_number;
    switch (roll(5)) {
    case 0: loop_over(nesting, world_.template query<number>(), {kind_number}, {}); break;
    case 1:
        loop_over(nesting, world_.template query<const text, number*>(), {kind_text}, {});
        break;
    case 2:
        loop_over(nesting, world_.template query<marker>().template without<number>(),
                  {kind_marker}, {kind_number});
        break;
    case 3:
        model_.meet(kind_aligned);
        loop_over(nesting, world_.template query<aligned, owner*>(), {kind_aligned}, {});
        break;
    default: loop_over(nesting, world_.query().with(id_of(made)), {made}, {});
    }
}

template <class Layout>
template <class Query>
void scope_story<Layout>::loop_over(int nesting, const Query& query, std::vector<int> with,
                                    std::vector<int> without) {
    std::vector<id_type> expected;
    for (const auto& [e, has] : model_.all()) {
        const auto is_there = [&, &mine = has](int f) { return mine.contains(f); };
        if (std::ranges::all_of(with, is_there) && std::ranges::none_of(without, is_there))
            expected.push_back(e);
    }
    const int style = roll(3);
    const int leaves = roll(8) == 0 ? roll(4) : -1;  // after so many
    const bool breaks = style == 1 && roll(2) == 0;
    trace_ += say("    loop over ", with[0], ", style ", style, "\n");
    if (query.count() != expected.size()) model_type::differ("a query counts others");
    std::vector<id_type> seen;
    int acts = 6;
    bool is_left = false;
    const auto visit = [&](id_type e) {
        trace_ += say("    at ", test::text_of(e, base_), "\n");
        if (std::erase(expected, e) == 0) model_type::differ("a loop shows another entity");
        while (acts > 0 && roll(2) == 0) {
            --acts;
            step(nesting + 1);
        }
        seen.push_back(e);
        is_left = leaves == static_cast<int>(seen.size());
        if (is_left && !breaks) throw loop_stop();
    };
    const int scope = model_.open(false);
    end_scope(scope, [&] {
        if (style == 0) {
            query.each([&](id_type e, auto&&...) { visit(e); });
        } else if (style == 1) {
            for (const auto& row : query) {
                visit(std::get<0>(row));
                if (is_left) break;
            }
        } else {
            query.each_chunk([&](const basic_rows<Layout>& rows) {
                for (const id_type e : rows.entities()) visit(e);
            });
        }
    });
    if (!is_left && !expected.empty()) model_type::differ("a loop has left somebody out");
}

template <class Layout>
void scope_story<Layout>::look_at_all() {
    const auto differ = [](const std::string& how) { model_type::differ(how); };
    for (int f = 0; f < typed_count; ++f) {
        (void)typed_id(f);  // looking for it makes it
        model_.meet(f);
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
        if (found != model_.count(f)) differ(say("count of ", f));
        if (fragment.kind == kind_text) texts += static_cast<long>(found);
    }
    if (model_.depth() == 0 && text::living - living_before_ != texts)
        differ(say("values live that should not: ", text::living - living_before_, " instead of ",
                   texts));
    if (text::misused != 0) differ("a value was misused");
}

template <class Layout>
void scope_story<Layout>::look_at(id_type e, const typename model_type::values& has) {
    const auto differ = [&](const std::string& how) {
        model_type::differ(how + " of " + test::text_of(e, base_));
    };
    if (!world_.alive(e)) differ("the life");
    int last = -1;
    std::size_t count = 0;
    std::as_const(world_).each_fragment(e, [&](id_type id, const void* value) {
        int f = 0;
        while (f < typed_count && typed_id(f) != id) ++f;
        while (f >= typed_count && f < static_cast<int>(slots_.size()) && slots_[size(f)].id != id)
            ++f;
        if (f == static_cast<int>(slots_.size()) || !has.contains(f))
            return differ(say("fragment ", f));
        ++count;
        const int order = model_.fragments()[size(f)].order;
        if (order <= last) differ("the order of fragments");
        last = order;
        if (f >= typed_count && read_raw(kind_of(f), value) != has.at(f)) differ(say("value ", f));
    });
    if (count != has.size()) differ("fragments");
    for (int f = 0; f < typed_count; ++f)
        with_type(f, [&]<class T>() {
            const T* const found = world_.template try_get<T>(e);
            const bool is_there = has.contains(f);
            if (world_.template has<T>(e) != is_there || (found != nullptr) != is_there)
                differ(say("presence ", f));
            if (is_there && (read_as(*found) != has.at(f) || &world_.template get<T>(e) != found))
                differ(say("value ", f, ": ", read_as(*found), ", not ", has.at(f)));
        });
}

}  // namespace muster::test::scopes
