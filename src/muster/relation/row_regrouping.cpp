#include <muster/engine/engine.hpp>
#include <muster/relation/row_regrouping.hpp>

namespace MUSTER_NAMESPACE::detail {

std::size_t row_regrouping::hash_of_key::operator()(const step_key& key) const noexcept {
    constexpr std::uint64_t factor = 0x9E37'79B9'7F4A'7C15;
    return ((key.from->serial * factor ^ key.word) * factor ^ to_int(key.fragment->index)) * factor;
}

void row_regrouping::begin() noexcept {
    if (moves_.empty() && steps_.empty()) return;
    steps_.clear();
    moves_.clear();
    known_.clear();
    places_.clear();
    placed_ = reserved_ = 0;
    fragment_ = nullptr;
}

/// Returns the chunk in which an entity will be after the planned moves.
chunk_data& row_regrouping::place_of(std::uint64_t e) const noexcept {
    const auto found = places_.find(e);
    return found != places_.end() ? *found->second : engine_.components.chunk_of(e);
}

void row_regrouping::add(std::uint64_t e, const fragment_data& fragment, std::uint64_t word) {
    if (fragment_ != &fragment) {  // another relation
        for (; placed_ < moves_.size(); ++placed_)
            places_[moves_[placed_].e] = steps_[moves_[placed_].step].made->to;
        fragment_ = &fragment;
    }
    const std::uint32_t at = ensure_step({&place_of(e), &fragment, word});
    moves_.push_back({e, at});
    ++steps_[at].count;
}

std::uint32_t row_regrouping::ensure_step(const step_key& key) {
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const chunk_data& from = *key.from;
    array_list<std::uint64_t> words = from.words;
    std::size_t at = 0;
    for (const fragment_data* const* owned = from.fragments.begin(); *owned != key.fragment;
         ++owned)
        at += (*owned)->has_word ? 1u : 0u;
    words[at] = key.word;
    // The graph owns the chunk, which is not const there.
    steps_.push_back({engine_.catalog.regroup(engine_.graph.at(from.index), words), 0});
    const auto made = static_cast<std::uint32_t>(steps_.size() - 1);
    known_[key] = made;
    return made;
}

void row_regrouping::reserve() {
    if (reserved_ == moves_.size()) return;
    std::unordered_map<chunk_data*, std::size_t> arrivals;  // steps may share a target
    for (const step& planned : steps_) arrivals[planned.made->to] += planned.count;
    for (const auto& [to, count] : arrivals)
        to->prepare_rows(count + 1, engine_.graph.row_limit(), {});
    reserved_ = moves_.size();
}

void row_regrouping::apply() noexcept {
    for (const move& planned : moves_) {
        const transition& made = *steps_[planned.step].made;
        const std::size_t row = engine_.entities.locate(planned.e).row;
        engine_.entities.move_row(planned.e, made, engine_.gate);
        made.from->note_removed(row);
        made.to->note_appended(made.to->size - 1, 1);
        if (engine_.gate.is_tracking()) engine_.writes.mark(made);
    }
    begin();
}

}  // namespace MUSTER_NAMESPACE::detail
