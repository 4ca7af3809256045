#include <muster/command/plan.hpp>

#include <algorithm>

namespace muster::detail {

namespace {

/// What becomes of one fragment.
struct fate {
    enum class source : std::uint8_t { kept, given, started, gone };

    fragment_data* fragment;
    source from;
    bool was_there;
    bool is_touched;
    std::uint32_t given;  // which change has the value
};

class fates {
public:
    fates(const chunk_data& from, std::span<fragment_data* const> beside) {
        for (const std::span<fragment_data* const> part :
             {std::span<fragment_data* const>(from.fragments), beside})
            for (fragment_data* one : part)
                all_.push_back({one, fate::source::kept, true, false, plan::none});
    }

    void change(const change_shape& one, std::uint32_t index) {
        switch (one.kind) {
        case change_kind::put: put(*one.fragment, fate::source::given, index); break;
        case change_kind::keep:
            if (!has(*one.fragment)) put(*one.fragment, fate::source::given, index);
            break;
        case change_kind::replace:
            if (has(*one.fragment)) put(*one.fragment, fate::source::given, index);
            break;
        case change_kind::touch:
            if (has(*one.fragment)) find(*one.fragment)->is_touched = true;
            break;
        case change_kind::remove:
            if (has(*one.fragment)) find(*one.fragment)->from = fate::source::gone;
            break;
        default:
            for (fate& each : all_) each.from = fate::source::gone;
        }
    }

    [[nodiscard]] std::vector<fate>& all() noexcept { return all_; }

private:
    [[nodiscard]] fate* find(const fragment_data& fragment) noexcept {
        for (fate& one : all_)
            if (one.fragment == &fragment) return &one;
        return nullptr;
    }
    [[nodiscard]] bool has(const fragment_data& fragment) noexcept {
        const fate* const found = find(fragment);
        return found != nullptr && found->from != fate::source::gone;
    }
    /// Also what it needs, if it is new.
    void put(fragment_data& fragment, fate::source from, std::uint32_t given) {
        const bool is_new = !has(fragment);
        if (fate* const found = find(fragment)) {
            found->from = from;
            found->given = given;
        } else {
            all_.push_back({&fragment, from, false, false, given});
        }
        if (!is_new) return;
        for (fragment_data* const needed : fragment.needs)
            if (!has(*needed)) put(*needed, fate::source::started, plan::none);
    }

    std::vector<fate> all_;
};

void make_plan(plan& made, chunk_graph& graph, chunk_data& from,
               std::span<fragment_data* const> beside, std::span<const change_shape> shape) {
    fates come_to(from, beside);
    for (std::size_t i = 0; i < shape.size(); ++i)
        come_to.change(shape[i], static_cast<std::uint32_t>(i));
    std::vector<fate>& all = come_to.all();
    std::ranges::sort(all, {}, [](const fate& one) { return one.fragment->index; });

    array_list<fragment_data*> set;
    for (const fate& one : all)
        if (one.from != fate::source::gone && one.fragment->beside == nullptr)
            set.push_back(one.fragment);
    made.generation = 0;  // until all is there
    made.from = &from;
    made.to = &graph.ensure(set);
    made.beside.assign(beside.data(), beside.data() + beside.size());
    made.beside_changes.clear();
    made.columns.clear();
    made.arrivals.clear();
    made.removed.clear();
    made.present.clear();
    made.settled.clear();
    made.calls = false;
    made.moves_bytes = !from.runs_code && !made.to->runs_code &&
                       std::ranges::none_of(shape, [](const change_shape& one) {
                           return one.fragment != nullptr && one.fragment->type->destroy != nullptr;
                       });
    for (const fate& one : all) {
        fragment_data* const fragment = one.fragment;
        const bool is_replaced =
            one.from == fate::source::given || one.from == fate::source::started;
        const unsigned kinds = one.from == fate::source::gone  ? one.was_there ? remove_hooks : 0u
                               : !one.was_there                ? insert_hooks
                               : is_replaced || one.is_touched ? assign_hooks
                                                               : 0u;
        made.calls = made.calls || fragment->hooks.calls(kinds);
        if (fragment->hooks.has(kinds)) {
            if (kinds == remove_hooks)
                made.removed.push_back(fragment);
            else
                made.present.push_back({fragment, !one.was_there});
        }
        if (is_replaced && fragment->is_open) made.settled.push_back(fragment);
        if (fragment->beside != nullptr) {
            const bool goes = one.was_there && (is_replaced || one.from == fate::source::gone);
            if (goes || is_replaced)
                made.beside_changes.push_back(
                    {fragment, one.was_there, is_replaced, is_replaced ? one.given : plan::none});
            continue;
        }
        if (is_replaced) {
            const std::size_t column = made.to->find_column(*fragment);
            if (column < made.to->columns.size())
                made.arrivals.push_back({static_cast<std::uint32_t>(column), one.given});
            if (one.given == plan::none) made.moves_bytes = false;
        }
        if (one.was_there && fragment->type->size != 0)
            made.columns.push_back(one.from == fate::source::kept
                                       ? static_cast<std::uint32_t>(made.to->find_column(*fragment))
                                       : edge::dropped);
    }
    made.moves_bytes =
        made.moves_bytes && !made.calls && beside.empty() &&
        std::ranges::none_of(all, [](const fate& one) { return one.fragment->beside != nullptr; });
    made.shape.assign(shape.begin(), shape.end());
    made.generation = graph.generation();
}

}  // namespace

const plan& plan_cache::find(chunk_graph& graph, chunk_data& from,
                             std::span<fragment_data* const> beside,
                             std::span<const change_shape> shape) {
    std::size_t hash = to_int(from.index);
    for (const fragment_data* one : beside) hash = hash * 31 + to_int(one->index);
    for (const change_shape& one : shape)
        hash = hash * 31 + (one.fragment == nullptr ? 0 : to_int(one.fragment->index)) +
               static_cast<std::size_t>(one.kind);
    plan& found = plans_[hash % size];
    if (found.generation != graph.generation() || found.from != &from ||
        !std::ranges::equal(found.beside, beside) || !std::ranges::equal(found.shape, shape))
        make_plan(found, graph, from, beside, shape);
    return found;
}

}  // namespace muster::detail
