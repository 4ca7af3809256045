#include <muster/catalog/transition_builder.hpp>

#include <algorithm>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

namespace {

/// The effect of all changes on one fragment.
struct fragment_outcome {
    enum class source : std::uint8_t { kept, given, defaulted, gone };

    fragment_data* fragment;
    source from;
    bool was_there;
    bool is_touched;
    std::uint32_t given;  // index of the change with the value
    std::uint64_t word;   // if the fragment has words
    std::uint32_t step;   // the last change that added or removed it; `none`: no change
};

class outcome_list {
public:
    outcome_list() = default;
    outcome_list(const chunk_data& from, slice<fragment_data* const> sparse) {
        const std::uint64_t* word = from.words.data();
        for (fragment_data* fragment : from.fragments)
            keep(*fragment, fragment->has_word ? *word++ : 0);
        for (fragment_data* fragment : sparse) keep(*fragment, 0);
    }

    void keep(fragment_data& fragment, std::uint64_t word) {
        fragment.outcome = static_cast<std::uint32_t>(all_.size());
        all_.push_back({&fragment, fragment_outcome::source::kept, true, false, transition::none,
                        word, transition::none});
    }

    void change(const change_shape& step, std::uint32_t index) {
        step_ = index;
        switch (step.kind) {
        case change_kind::put: give(step, index); break;
        case change_kind::keep:
            if (!has(*step.fragment)) give(step, index);
            break;
        case change_kind::regroup:
            if (has(*step.fragment)) find(*step.fragment)->word = step.word;
            break;
        case change_kind::touch: touch(*step.fragment); break;
        case change_kind::remove:
            if (has(*step.fragment)) remove(*step.fragment);
            break;
        case change_kind::clear_fragment:
            if (has(*step.fragment)) drop(*find(*step.fragment));
            break;
        default:
            for (fragment_outcome& each : all_) drop(each);
        }
    }

    [[nodiscard]] std::vector<fragment_outcome>& all() noexcept { return all_; }

private:
    [[nodiscard]] fragment_outcome* find(const fragment_data& fragment) noexcept {
        const bool is_known =
            fragment.outcome < all_.size() && all_[fragment.outcome].fragment == &fragment;
        return is_known ? &all_[fragment.outcome] : nullptr;
    }
    [[nodiscard]] bool has(const fragment_data& fragment) noexcept {
        const fragment_outcome* const found = find(fragment);
        return found != nullptr && found->from != fragment_outcome::source::gone;
    }
    /// Removes a fragment, which stays in the list.
    void drop(fragment_outcome& outcome) const noexcept {
        if (outcome.fragment->holds_guests) return;
        outcome.from = fragment_outcome::source::gone;
        outcome.step = step_;
    }
    /// Removes a fragment that is there, and makes the changes that follow.
    void remove(const fragment_data& fragment) {
        drop(*find(fragment));
        if (!has(fragment)) imply(fragment, true);
    }
    /// Notifies of a value that stays. A participant has combined all changes of its value into this
    /// one: the value stays even if the entity is cleared first.
    void touch(const fragment_data& fragment) {
        fragment_outcome* const found = find(fragment);
        if (found == nullptr) return;
        const bool is_kept = found->was_there && fragment.participant != nullptr;
        if (found->from == fragment_outcome::source::gone && !is_kept) return;
        found->is_touched = true;
        if (found->from != fragment_outcome::source::gone) return;
        found->from = fragment_outcome::source::kept;
        found->step = step_;
        imply(fragment, false);
    }
    void give(const change_shape& step, std::uint32_t index) {
        put(*step.fragment, fragment_outcome::source::given, index, step.word);
    }
    /// Puts the fragment and, if it is new, makes the changes that follow. A fragment that is there
    /// keeps its word.
    void put(fragment_data& fragment, fragment_outcome::source from, std::uint32_t given,
             std::uint64_t word) {
        const bool is_new = !has(fragment);
        fragment_outcome& outcome = ensure(fragment);
        outcome.from = from;
        outcome.given = given;
        outcome.step = step_;
        if (!is_new) return;
        outcome.word = word;
        imply(fragment, false);
    }
    fragment_outcome& ensure(fragment_data& fragment) {
        if (fragment_outcome* const found = find(fragment)) return *found;
        fragment.outcome = static_cast<std::uint32_t>(all_.size());
        all_.push_back({&fragment, fragment_outcome::source::gone, false, false, transition::none,
                        0, transition::none});
        return all_.back();
    }
    /// Makes the changes that follow when this fragment is added or removed. Rules of the fragment
    /// itself come before the rules of those that they change.
    void imply(const fragment_data& of, bool is_on_removal) {
        struct cause {
            const fragment_data* fragment;
            bool is_on_removal;
        };
        std::vector<cause> causes{{&of, is_on_removal}};
        for (std::size_t i = 0; i < causes.size(); ++i)
            for (const implied_change& rule : causes[i].fragment->implied) {
                if (rule.is_on_removal != causes[i].is_on_removal) continue;
                fragment_outcome& outcome = ensure(*rule.fragment);
                if (outcome.step == step_) continue;  // an earlier rule has decided
                const bool was_there = outcome.from != fragment_outcome::source::gone;
                outcome.step = step_;
                if (was_there != rule.is_removal) continue;
                if (was_there) {
                    drop(outcome);
                } else {
                    outcome.from = fragment_outcome::source::defaulted;
                    outcome.given = transition::none;
                    outcome.word = 0;
                }
                causes.push_back({rule.fragment, rule.is_removal});
            }
    }

    std::vector<fragment_outcome> all_;
    std::uint32_t step_ = 0;  // the index of the change that is being evaluated
};

/// The kinds of hooks to notify of an outcome.
unsigned notified_of(const fragment_outcome& result, bool is_replaced) {
    if (result.from == fragment_outcome::source::gone) return result.was_there ? remove_hooks : 0;
    if (!result.was_there) return insert_hooks;
    return is_replaced || result.is_touched ? assign_hooks : 0;
}

void add_notices(transition& made, const fragment_outcome& result, unsigned kinds) {
    const hook_list& hooks = result.fragment->hooks;
    if (!hooks.has(kinds)) return;
    made.has_notices = true;
    if (kinds == remove_hooks) {
        made.removed.push_back(result.fragment);
        made.calls_before = made.calls_before || hooks.calls(kinds);
        made.keeps_last = made.keeps_last || hooks.keeps_values();
    } else {
        made.present.push_back({result.fragment, !result.was_there});
        made.calls_after = made.calls_after || hooks.calls(kinds);
        if (result.was_there && result.fragment->participant != nullptr) made.calls_before = true;
    }
}

bool lower(const fragment_data* a, const fragment_data* b) noexcept {
    return a->index < b->index;
}

}  // namespace

array_list<fragment_data*> fragments_after(slice<fragment_data* const> kept,
                                           slice<fragment_data* const> added) {
    outcome_list outcome;
    for (fragment_data* fragment : kept) outcome.keep(*fragment, 0);
    for (std::size_t i = 0; i < added.size(); ++i)
        outcome.change({added[i], change_kind::put}, static_cast<std::uint32_t>(i));
    array_list<fragment_data*> set;
    for (const fragment_outcome& result : outcome.all())
        if (result.from != fragment_outcome::source::gone) set.push_back(result.fragment);
    std::ranges::sort(set, lower);
    return set;
}

void add_implied(array_list<fragment_data*>& set) {
    const auto has = [&](const fragment_data& fragment) {
        return fragment.outcome < set.size() && set[fragment.outcome] == &fragment;
    };
    for (std::size_t i = 0; i < set.size(); ++i) set[i]->outcome = static_cast<std::uint32_t>(i);
    for (std::size_t i = 0; i < set.size(); ++i)
        for (const implied_change& follows : set[i]->implied) {
            if (has(*follows.fragment)) continue;
            follows.fragment->outcome = static_cast<std::uint32_t>(set.size());
            set.push_back(follows.fragment);
        }
    std::ranges::sort(set, lower);
}

transition_ref build_transition(chunk_graph& graph, chunk_data& from,
                                slice<fragment_data* const> sparse,
                                slice<const change_shape> shape) {
    outcome_list outcome(from, sparse);
    for (std::size_t i = 0; i < shape.size(); ++i)
        outcome.change(shape[i], static_cast<std::uint32_t>(i));
    std::vector<fragment_outcome>& all = outcome.all();
    std::ranges::sort(all, {},
                      [](const fragment_outcome& result) { return result.fragment->index; });

    array_list<fragment_data*> set;
    array_list<std::uint64_t> words;
    for (const fragment_outcome& result : all) {
        if (result.from == fragment_outcome::source::gone ||
            result.fragment->sparse_values != nullptr)
            continue;
        set.push_back(result.fragment);
        if (result.fragment->has_word) words.push_back(result.word);
    }
    const transition_ref owner(new transition);
    transition& made = *owner.get();
    made.from = &from;
    made.to = &graph.ensure(set, words);
    bool has_defaults = false;
    for (const fragment_outcome& result : all) {
        fragment_data* const fragment = result.fragment;
        const bool is_replaced = result.from == fragment_outcome::source::given ||
                                 result.from == fragment_outcome::source::defaulted;
        add_notices(made, result, notified_of(result, is_replaced));
        if (is_replaced && fragment->is_untyped) made.types_fixed.push_back(fragment);
        if (fragment->sparse_values != nullptr) {
            const bool goes =
                result.was_there && (is_replaced || result.from == fragment_outcome::source::gone);
            if (goes || is_replaced)
                made.sparse_changes.push_back({fragment, result.was_there, is_replaced,
                                               is_replaced ? result.given : transition::none});
            continue;
        }
        if (is_replaced) {
            const std::size_t column = made.to->find_column(*fragment);
            if (column < made.to->columns.size())
                made.arrivals.push_back({static_cast<std::uint32_t>(column), result.given});
            has_defaults = has_defaults || result.given == transition::none;
        }
        if (result.was_there && fragment->type->size != 0) {
            const bool is_kept = result.from == fragment_outcome::source::kept;
            made.columns.push_back(is_kept
                                       ? static_cast<std::uint32_t>(made.to->find_column(*fragment))
                                       : transition::dropped);
            made.drops = made.drops || !is_kept;
        }
    }
    made.is_repeatable =
        std::ranges::none_of(shape,
                             [](const change_shape& step) {
                                 return step.kind == change_kind::clear ||
                                        step.kind == change_kind::regroup;
                             }) &&
        std::ranges::none_of(all,
                             [](const fragment_outcome& result) {
                                 return result.fragment->sparse_values != nullptr;
                             }) &&
        std::ranges::none_of(shape, [](const change_shape& step) {
            return step.fragment != nullptr && step.fragment->sparse_values != nullptr;
        });
    const bool is_simple = made.sparse_changes.empty() && !has_defaults && !made.keeps_last &&
                           from.has_plain_rows() && made.to->has_plain_rows();
    made.is_plain = is_simple && !made.calls_hooks() && made.types_fixed.empty();
    made.moves_bytes =
        is_simple && !from.is_nontrivial && !made.to->is_nontrivial &&
        std::ranges::none_of(shape, [](const change_shape& step) {
            return step.fragment != nullptr && step.fragment->type->destroy != nullptr;
        });
    made.is_hooked = made.moves_bytes && made.calls_hooks() && made.types_fixed.empty() &&
                     !(made.drops && made.calls_after);
    return owner;
}

transition_ref transition_cache::find(chunk_graph& graph, chunk_data& from,
                                      slice<fragment_data* const> sparse,
                                      slice<const change_shape> shape) {
    std::size_t hash = to_int(from.index);
    for (const fragment_data* fragment : sparse) hash = hash * 31 + to_int(fragment->index);
    for (const change_shape& step : shape)
        hash = hash * 31 + (step.fragment == nullptr ? 0 : to_int(step.fragment->index)) +
               static_cast<std::size_t>(step.kind) + static_cast<std::size_t>(step.word * 7);
    entry& known = entries_[hash % count];
    if (known.made && known.epoch == graph.epoch() && known.chunk == from.serial &&
        std::ranges::equal(known.sparse, sparse) && std::ranges::equal(known.shape, shape))
        return known.made;
    known.made = {};  // until all of the entry is replaced: the steps below may throw
    transition_ref made = build_transition(graph, from, sparse, shape);
    known.sparse.assign(sparse.data(), sparse.data() + sparse.size());
    known.shape.assign(shape.data(), shape.data() + shape.size());
    known.epoch = graph.epoch();
    known.chunk = from.serial;
    known.made = made;
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
