#include <muster/engine/engine.hpp>
#include <muster/relation/row_regrouping.hpp>

namespace MUSTER_NAMESPACE::detail {

std::size_t row_regrouping::hash_of_key::operator()(const step_key& key) const noexcept {
    constexpr std::uint64_t factor = 0x9E37'79B9'7F4A'7C15;
    const std::uint64_t what = (std::uint64_t{to_int(key.shape.fragment->index)} << 8) +
                               static_cast<std::uint8_t>(key.shape.kind);
    return ((key.from->serial * factor ^ key.shape.word) * factor ^ what) * factor;
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

void row_regrouping::add(std::uint64_t e, const change_shape& shape, void* value) {
    if (fragment_ != shape.fragment) {  // another relation
        for (; placed_ < moves_.size(); ++placed_)
            places_[moves_[placed_].e] = steps_[moves_[placed_].step].made->to;
        fragment_ = shape.fragment;
    }
    const std::uint32_t at = ensure_step({&place_of(e), shape}, e);
    moves_.push_back({e, value, at});
    ++steps_[at].count;
}

std::uint32_t row_regrouping::ensure_step(const step_key& key, std::uint64_t e) {
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    const change_shape shape[] = {key.shape};
    steps_.push_back({key.shape.kind == change_kind::regroup
                          ? regroup(key)
                          : engine_.catalog.transition_for(*key.from, e, shape),
                      0});
    const auto made = static_cast<std::uint32_t>(steps_.size() - 1);
    known_[key] = made;
    return made;
}

transition_ref row_regrouping::regroup(const step_key& key) const {
    array_list<std::uint64_t> words = key.from->words;
    std::size_t at = 0;
    for (const fragment_data* const* owned = key.from->fragments.begin();
         *owned != key.shape.fragment; ++owned)
        at += (*owned)->has_word ? 1u : 0u;
    words[at] = key.shape.word;
    return engine_.catalog.regroup(*key.from, words);
}

void row_regrouping::reserve() {
    if (reserved_ == moves_.size()) return;
    std::unordered_map<chunk_data*, std::size_t> arrivals;  // steps may share a target
    for (const step& planned : steps_) arrivals[planned.made->to] += planned.count;
    for (const auto& [to, count] : arrivals)
        if (to->index != chunk_index{}) to->prepare_rows(count + 1, engine_.graph.row_limit(), {});
    reserved_ = moves_.size();
}

void row_regrouping::apply() noexcept {
    for (const move& planned : moves_) {
        const transition& made = *steps_[planned.step].made;
        const std::size_t row = engine_.entities.locate(planned.e).row;
        for (const transition::arrival& arrival : made.arrivals) {
            const busy_guard busy(engine_.gate);
            const column& to = made.to->columns[arrival.column];
            // SAFETY: the column has room for a row after the last.
            to.relocate(to.at(made.to->size), static_cast<std::byte*>(planned.value), 1);
        }
        if (made.to->index == chunk_index{}) {
            engine_.entities.remove_row(planned.e, *made.from, engine_.gate);
        } else {
            engine_.entities.move_row(planned.e, made, engine_.gate);
            if (made.from->index != chunk_index{}) made.from->note_removed(row);
            made.to->note_appended(made.to->size - 1, 1);
        }
        if (engine_.gate.is_tracking()) engine_.writes.mark(made);
    }
    begin();
}

}  // namespace MUSTER_NAMESPACE::detail
