// The part of scope_story.hpp that makes batches, and reads observers.
#pragma once

#include "scope_story.hpp"

namespace muster::test::scopes {

// ---- batches -----------------------------------------------------------------------------------

template <class Layout>
auto scope_story<Layout>::batch_operation(op one) -> op {
    one.slot2 = any_fragment();
    one.count = roll(3) == 0 ? any_fragment() : -1;
    if (one.what == verb::batch_set && kind_of(one.slot2) == kind_owner) one.slot2 = kind_text;
    if (one.what == verb::batch_add && is_late(one.slot2)) one.slot2 = kind_marker;
    return one;
}

template <class Layout>
auto scope_story<Layout>::asked(int with, int without) -> basic_query<Layout> {
    basic_query<Layout> made = world_.query();
    made = with < typed_count ? with_type(
                                    with, [&]<class T>() { return made.template with<T>(); })
                              : made.with(id_of(with));
    if (without < 0) return made;
    return without < typed_count
               ? with_type(
                     without, [&]<class T>() { return made.template without<T>(); })
               : made.without(id_of(without));
}

template <class Layout>
void scope_story<Layout>::call_batch(const op& one, result& made) {
    const basic_query<Layout> all = asked(one.slot, one.count);
    const int f = one.slot2;
    const bool is_typed = f < typed_count;
    switch (one.what) {
    case verb::batch_set:
        if (is_typed)
            made.count = with_type(f, [&]<class T>() -> std::size_t {
                if constexpr (std::is_copy_constructible_v<T>)
                    return all.set(made_as<T>(one.value));
                else
                    return 0;
            });
        else if (kind_of(f) == kind_tag)
            made.count = all.set(id_of(f));
        else if (kind_of(f) == kind_text)
            made.count = all.set(id_of(f), text(one.value));
        else
            made.count = all.set(id_of(f), number{one.value});
        break;
    case verb::batch_add:
        made.count = is_typed ? with_type(f, [&]<class T>() { return all.template add<T>(); })
                              : all.add(id_of(f));
        break;
    case verb::batch_remove:
        made.count = is_typed ? with_type(f, [&]<class T>() { return all.template remove<T>(); })
                              : all.remove(id_of(f));
        break;
    case verb::batch_clear: made.count = all.clear(); break;
    default: made.count = all.destroy();
    }
}

// ---- observers ---------------------------------------------------------------------------------

template <class Layout>
auto scope_story<Layout>::observer_operation(op one) -> op {
    if (one.what == verb::observe) {
        one.slot2 = any_fragment();
        if (is_late(one.slot)) one.slot = kind_number;
        if (is_late(one.slot2)) one.slot2 = kind_text;
        one.count = 1 + roll(7);
        one.value = roll(8);
        return one;
    }
    one.count = roll(static_cast<int>(observers_.size()));
    const observer_entry& chosen = observers_[size(one.count)];
    if (one.what == verb::end_observer && (chosen.readers != 0 || roll(3) != 0))
        one.what = verb::read_observer;
    if (!chosen.it) one.what = verb::end_observer;
    if (one.what == verb::read_observer) one.value = roll(3) == 0 ? 1 + roll(3) : 0;
    return one;
}

template <class Layout>
auto scope_story<Layout>::observed(basic_observer<Layout>&& made, int f, int kinds)
    -> basic_observer<Layout> {
    const auto watch = [&]<class... Us>(const auto&... by) {
        if ((kinds & model_type::added) != 0) made = std::move(made).template added<Us...>(by...);
        if ((kinds & model_type::changed) != 0)
            made = std::move(made).template changed<Us...>(by...);
        if ((kinds & model_type::removed) != 0)
            made = std::move(made).template removed<Us...>(by...);
    };
    if (f < typed_count)
        with_type(f, [&]<class T>() { watch.template operator()<T>(); });
    else
        watch(id_of(f));
    return std::move(made);
}

template <class Layout>
void scope_story<Layout>::call_observer(const op& one, result& made) {
    if (one.what == verb::observe) {
        auto it = observed(world_.observer(), one.slot, one.count);
        if (one.value != 0) it = observed(std::move(it), one.slot2, one.value);
        observers_.push_back({std::move(it)});
        return;
    }
    std::optional<basic_observer<Layout>>& it = observers_[size(one.count)].it;
    if (one.what == verb::end_observer) {
        it.reset();
    } else if (one.what != verb::read_observer) {
        made.count = (one.what == verb::cut_observer ? it->cut() : it->restore()) ? 1u : 0u;
    } else {
        if (one.value == 0) {
            made.gathered = it->take();
        } else {
            int left = one.value;
            for (auto [e] : *it) {
                made.gathered.push_back(e);
                if (--left == 0) break;
            }
        }
        made.count = it->size();
        std::ranges::sort(made.gathered);
    }
}

/// A loop over what was gathered, in which anything may happen.
template <class Layout>
void scope_story<Layout>::read(int nesting) {
    const int which = observers_.empty() ? 0 : roll(static_cast<int>(observers_.size()));
    if (observers_.empty() || !observers_[size(which)].it) return;
    observer_entry& chosen = observers_[size(which)];
    std::set<id_type> expected = std::exchange(model_.observers()[size(which)].log, {});
    trace_ += say("    read observer ", which, "\n");
    if (chosen.it->size() != expected.size()) model_type::differ("an observer has others");
    const int leaves = roll(4) == 0 ? roll(4) : -1;  // after so many
    const bool breaks = roll(2) == 0;
    int acts = 6;
    int seen = 0;
    const auto visit = [&](id_type e) {
        trace_ += say("    at ", test::text_of(e, base_), "\n");
        if (!expected.contains(e)) model_type::differ("an observer shows another entity");
        while (acts > 0 && roll(2) == 0) {
            --acts;
            step(nesting + 1);
        }
        if (++seen == leaves && !breaks) throw loop_stop();  // this one is kept
        expected.erase(e);
    };
    struct reading {
        scope_story& story;
        std::size_t which;
        const std::set<id_type>& left;
        ~reading() {
            --story.observers_[which].readers;
            story.model_.observers()[which].log.insert(left.begin(), left.end());
        }
    };
    const int scope = model_.open(false);
    end_scope(scope, [&] {
        ++chosen.readers;
        const reading guard{*this, size(which), expected};
        for (auto [e] : *chosen.it) {
            visit(e);
            if (seen == leaves) break;
        }
    });
    if (seen != leaves && !expected.empty()) model_type::differ("an observer left somebody out");
}

}  // namespace muster::test::scopes
