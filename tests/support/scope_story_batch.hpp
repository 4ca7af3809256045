// The part of scope_story.hpp that runs batches and reads observers.
#pragma once

#include "scope_story.hpp"

namespace muster::test::scopes {

// ---- batches -----------------------------------------------------------------------------------

template <class Layout>
auto scope_story<Layout>::batch_operation(op operation) -> op {
    operation.slot2 = any_fragment();
    operation.count = roll(3) == 0 ? any_fragment() : -1;
    if (operation.what == verb::batch_set && kind_of(operation.slot2) == kind_owner)
        operation.slot2 = kind_text;
    if (operation.what == verb::batch_add && is_untyped(operation.slot2))
        operation.slot2 = kind_marker;
    return operation;
}

template <class Layout>
auto scope_story<Layout>::query_of(int with, int without) -> basic_query<Layout> {
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
void scope_story<Layout>::call_batch(const op& operation, result& made) {
    const basic_query<Layout> all = query_of(operation.slot, operation.count);
    const int f = operation.slot2;
    const bool is_typed = f < typed_count;
    switch (operation.what) {
    case verb::batch_set:
        if (is_typed)
            made.count = with_type(f, [&]<class T>() -> std::size_t {
                if constexpr (std::is_copy_constructible_v<T>)
                    return all.set(made_as<T>(operation.value));
                else
                    return 0;
            });
        else if (kind_of(f) == kind_tag)
            made.count = all.set(id_of(f));
        else if (kind_of(f) == kind_text)
            made.count = all.set(id_of(f), text(operation.value));
        else
            made.count = all.set(id_of(f), number{operation.value});
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
auto scope_story<Layout>::observer_operation(op operation) -> op {
    if (operation.what == verb::observe) {
        operation.slot2 = any_fragment();
        if (is_untyped(operation.slot)) operation.slot = kind_number;
        if (is_untyped(operation.slot2)) operation.slot2 = kind_text;
        operation.count = 1 + roll(7);
        operation.value = roll(8);
        return operation;
    }
    operation.count = roll(static_cast<int>(observers_.size()));
    const observer_entry& chosen = observers_[size(operation.count)];
    if (operation.what == verb::end_observer && (chosen.readers != 0 || roll(3) != 0))
        operation.what = verb::read_observer;
    if (!chosen.it) operation.what = verb::end_observer;
    if (operation.what == verb::read_observer) operation.value = roll(3) == 0 ? 1 + roll(3) : 0;
    return operation;
}

template <class Layout>
auto scope_story<Layout>::subscribe(basic_observer<Layout>&& made, int f, int kinds)
    -> basic_observer<Layout> {
    const auto add_terms = [&]<class... Us>(const auto&... by) {
        if ((kinds & model_type::added) != 0) made = std::move(made).template added<Us...>(by...);
        if ((kinds & model_type::changed) != 0)
            made = std::move(made).template changed<Us...>(by...);
        if ((kinds & model_type::removed) != 0)
            made = std::move(made).template removed<Us...>(by...);
    };
    if (f < typed_count)
        with_type(f, [&]<class T>() { add_terms.template operator()<T>(); });
    else
        add_terms(id_of(f));
    return std::move(made);
}

template <class Layout>
void scope_story<Layout>::call_observer(const op& operation, result& made) {
    if (operation.what == verb::observe) {
        auto it = subscribe(world_.observer(), operation.slot, operation.count);
        if (operation.value != 0) it = subscribe(std::move(it), operation.slot2, operation.value);
        observers_.push_back({std::move(it)});
        return;
    }
    std::optional<basic_observer<Layout>>& it = observers_[size(operation.count)].it;
    if (operation.what == verb::end_observer) {
        it.reset();
    } else if (operation.what != verb::read_observer) {
        made.count =
            (operation.what == verb::pause_observer ? it->pause() : it->resume()) ? 1u : 0u;
    } else {
        if (operation.value == 0) {
            made.gathered = it->take();
        } else {
            int left = operation.value;
            for (auto [e] : *it) {
                made.gathered.push_back(e);
                if (--left == 0) break;
            }
        }
        made.count = it->size();
        std::ranges::sort(made.gathered);
    }
}

/// Loops over an observer, with any operations in between.
template <class Layout>
void scope_story<Layout>::read(int nesting) {
    const int which = observers_.empty() ? 0 : roll(static_cast<int>(observers_.size()));
    if (observers_.empty() || !observers_[size(which)].it) return;
    observer_entry& chosen = observers_[size(which)];
    std::set<id_type> expected = std::exchange(model_.observers()[size(which)].log, {});
    trace_ += join("    read observer ", which, "\n");
    if (chosen.it->size() != expected.size()) model_type::differ("an observer has other entities");
    const int stop_after = roll(4) == 0 ? roll(4) : -1;  // visited entities; -1: no limit
    const bool breaks = roll(2) == 0;
    int acts = 6;
    int seen = 0;
    const auto visit = [&](id_type e) {
        trace_ += join("    at ", test::text_of(e, first_version_), "\n");
        if (!expected.contains(e)) model_type::differ("an observer shows another entity");
        while (acts > 0 && roll(2) == 0) {
            --acts;
            step(nesting + 1);
        }
        if (++seen == stop_after && !breaks) throw loop_stop();  // the observer keeps this entity
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
            if (seen == stop_after) break;
        }
    });
    if (seen != stop_after && !expected.empty())
        model_type::differ("an observer skipped an entity");
}

}  // namespace muster::test::scopes
