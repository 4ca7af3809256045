#include <muster/command/plan.hpp>

#include <algorithm>

namespace muster::detail {

namespace {

/// The effect of all changes on one fragment.
struct fragment_outcome {
    enum class source : std::uint8_t { kept, given, defaulted, gone };

    fragment_data* fragment;
    source from;
    bool was_there;
    bool is_touched;
    std::uint32_t given;  // index of the change with the value
};

class outcome_list {
public:
    outcome_list(const chunk_data& from, std::span<fragment_data* const> sparse) {
        for (const std::span<fragment_data* const> part :
             {std::span<fragment_data* const>(from.fragments), sparse})
            for (fragment_data* fragment : part)
                all_.push_back({fragment, fragment_outcome::source::kept, true, false, plan::none});
    }

    void change(const change_shape& step, std::uint32_t index) {
        switch (step.kind) {
        case change_kind::put: put(*step.fragment, fragment_outcome::source::given, index); break;
        case change_kind::keep:
            if (!has(*step.fragment)) put(*step.fragment, fragment_outcome::source::given, index);
            break;
        case change_kind::replace:
            if (has(*step.fragment)) put(*step.fragment, fragment_outcome::source::given, index);
            break;
        case change_kind::touch:
            if (has(*step.fragment)) find(*step.fragment)->is_touched = true;
            break;
        case change_kind::remove:
            if (has(*step.fragment)) find(*step.fragment)->from = fragment_outcome::source::gone;
            break;
        default:
            for (fragment_outcome& each : all_) each.from = fragment_outcome::source::gone;
        }
    }

    [[nodiscard]] std::vector<fragment_outcome>& all() noexcept { return all_; }

private:
    [[nodiscard]] fragment_outcome* find(const fragment_data& fragment) noexcept {
        for (fragment_outcome& outcome : all_)
            if (outcome.fragment == &fragment) return &outcome;
        return nullptr;
    }
    [[nodiscard]] bool has(const fragment_data& fragment) noexcept {
        const fragment_outcome* const found = find(fragment);
        return found != nullptr && found->from != fragment_outcome::source::gone;
    }
    /// Puts the fragment and, if it is new, the fragments that it needs.
    void put(fragment_data& fragment, fragment_outcome::source from, std::uint32_t given) {
        const bool is_new = !has(fragment);
        if (fragment_outcome* const found = find(fragment)) {
            found->from = from;
            found->given = given;
        } else {
            all_.push_back({&fragment, from, false, false, given});
        }
        if (!is_new) return;
        for (fragment_data* const needed : fragment.needs)
            if (!has(*needed)) put(*needed, fragment_outcome::source::defaulted, plan::none);
    }

    std::vector<fragment_outcome> all_;
};

void make_plan(plan& made, chunk_graph& graph, chunk_data& from,
               std::span<fragment_data* const> sparse, std::span<const change_shape> shape) {
    outcome_list outcome(from, sparse);
    for (std::size_t i = 0; i < shape.size(); ++i)
        outcome.change(shape[i], static_cast<std::uint32_t>(i));
    std::vector<fragment_outcome>& all = outcome.all();
    std::ranges::sort(all, {},
                      [](const fragment_outcome& result) { return result.fragment->index; });

    array_list<fragment_data*> set;
    for (const fragment_outcome& result : all)
        if (result.from != fragment_outcome::source::gone &&
            result.fragment->sparse_values == nullptr)
            set.push_back(result.fragment);
    made.generation = 0;  // not valid until it is complete: the steps below may throw
    made.from = &from;
    made.to = &graph.ensure(set);
    made.sparse.assign(sparse.data(), sparse.data() + sparse.size());
    made.sparse_changes.clear();
    made.columns.clear();
    made.arrivals.clear();
    made.removed.clear();
    made.present.clear();
    made.types_fixed.clear();
    made.calls = false;
    made.moves_bytes =
        !from.is_nontrivial && !made.to->is_nontrivial &&
        std::ranges::none_of(shape, [](const change_shape& change) {
            return change.fragment != nullptr && change.fragment->type->destroy != nullptr;
        });
    for (const fragment_outcome& result : all) {
        fragment_data* const fragment = result.fragment;
        const bool is_replaced = result.from == fragment_outcome::source::given ||
                                 result.from == fragment_outcome::source::defaulted;
        const unsigned kinds = result.from == fragment_outcome::source::gone
                                   ? result.was_there ? remove_hooks : 0u
                               : !result.was_there                ? insert_hooks
                               : is_replaced || result.is_touched ? assign_hooks
                                                                  : 0u;
        made.calls = made.calls || fragment->hooks.calls(kinds);
        if (fragment->hooks.has(kinds)) {
            if (kinds == remove_hooks)
                made.removed.push_back(fragment);
            else
                made.present.push_back({fragment, !result.was_there});
        }
        if (is_replaced && fragment->is_untyped) made.types_fixed.push_back(fragment);
        if (fragment->sparse_values != nullptr) {
            const bool goes =
                result.was_there && (is_replaced || result.from == fragment_outcome::source::gone);
            if (goes || is_replaced)
                made.sparse_changes.push_back({fragment, result.was_there, is_replaced,
                                               is_replaced ? result.given : plan::none});
            continue;
        }
        if (is_replaced) {
            const std::size_t column = made.to->find_column(*fragment);
            if (column < made.to->columns.size())
                made.arrivals.push_back({static_cast<std::uint32_t>(column), result.given});
            if (result.given == plan::none) made.moves_bytes = false;
        }
        if (result.was_there && fragment->type->size != 0)
            made.columns.push_back(result.from == fragment_outcome::source::kept
                                       ? static_cast<std::uint32_t>(made.to->find_column(*fragment))
                                       : edge::dropped);
    }
    made.moves_bytes = made.moves_bytes && !made.calls && sparse.empty() &&
                       std::ranges::none_of(all, [](const fragment_outcome& result) {
                           return result.fragment->sparse_values != nullptr;
                       });
    made.shape.assign(shape.begin(), shape.end());
    made.generation = graph.generation();
}

}  // namespace

const plan& plan_cache::find(chunk_graph& graph, chunk_data& from,
                             std::span<fragment_data* const> sparse,
                             std::span<const change_shape> shape) {
    std::size_t hash = to_int(from.index);
    for (const fragment_data* fragment : sparse) hash = hash * 31 + to_int(fragment->index);
    for (const change_shape& change : shape)
        hash = hash * 31 + (change.fragment == nullptr ? 0 : to_int(change.fragment->index)) +
               static_cast<std::size_t>(change.kind);
    plan& found = plans_[hash % size];
    if (found.generation != graph.generation() || found.from != &from ||
        !std::ranges::equal(found.sparse, sparse) || !std::ranges::equal(found.shape, shape))
        make_plan(found, graph, from, sparse, shape);
    return found;
}

}  // namespace muster::detail
