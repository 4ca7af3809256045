#include <muster/base/integer.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/link_search.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

link_search::link_search(const link_world& in, const terms& question, const link_conditions& links,
                         bool tests_components)
    : in_(in), question_(&question) {
    const link_condition* all[link_conditions::limit];
    const std::size_t count = links.list(all);
    tests_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!tests_components && all[i]->shows_component()) continue;
        tests_.emplace_back(in_, *all[i]);
        is_possible_ = is_possible_ && tests_.back().is_possible();
    }
}

std::uint64_t link_search::null() const noexcept {
    return in_.owner->entities.null();
}

bool link_search::passes(std::uint64_t e) {
    for (link_test& test : tests_)
        if (&test != lead_ && !test.holds(e)) return false;
    return true;
}

bool link_search::matches(std::uint64_t e) {
    location at;
    if (!is_possible_ || !in_.owner->entities.find(e, at)) return false;
    if (!in_.cache->matches(*question_, in_.owner->graph.at(at.chunk), e)) return false;
    for (link_test& test : tests_)
        if (!test.holds(e)) return false;
    return true;
}

/// Chooses the chunks of the list. A condition on the target of a grouping relation selects whole chunks,
/// and is no test any more.
void link_search::choose_chunks() {
    const auto group = std::ranges::find_if(tests_, &link_test::is_group);
    if (group == tests_.end() || !list_->is_plain) {
        chunks_.assign(list_->chunks.begin(), list_->chunks.end());
        return;
    }
    chunks_ = chunks_of(*group);
    tests_.erase(group);
}

/// Returns the chunks of the list that have a target. Visits its sources if they are fewer than the chunks.
array_list<chunk_data*> link_search::chunks_of(const link_test& group) const {
    array_list<chunk_data*> made;
    const source_list* const sources = group.sources();
    if (sources == nullptr || sources->size() >= list_->chunks.size()) {
        for (chunk_data* chunk : list_->chunks)
            if (chunk->word_of(group.links()) == group.target()) made.push_back(chunk);
        return made;
    }
    for (std::uint32_t i = sources->next(0); i != sources->places(); i = sources->next(i + 1)) {
        chunk_data& chunk = in_.owner->components.chunk_of((*sources)[i].other);
        if (made.empty() || made.back() != &chunk) made.push_back(&chunk);
    }
    std::ranges::sort(made, {}, &chunk_data::serial);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < made.size(); ++i)
        if ((i == 0 || made[i] != made[i - 1]) && in_.cache->may_match(*question_, *made[i]))
            made[kept++] = made[i];
    made.resize(kept);
    return made;
}

/// Returns how many entities the list has at most.
std::size_t link_search::count_rows() const noexcept {
    std::size_t bound = 0;
    for (const chunk_data* chunk : chunks_) bound += chunk->size;
    if (!list_->is_plain && !list_->is_inside) bound = in_.owner->entities.size();
    for (const sparse_term& term : list_->sparse_terms)
        if (term.kind == term_kind::with)
            bound = smaller(bound, std::size_t{term.fragment->sparse_values->size()});
    return bound;
}

std::size_t link_search::count_candidates() {
    if (is_planned_ || !is_possible_) return bound_;
    is_planned_ = true;
    list_ = &in_.read(*question_);
    choose_chunks();
    bound_ = count_rows();
    for (link_test& test : tests_)
        if (const std::size_t count = test.count_links(bound_ + 1); count <= bound_) {
            bound_ = count;
            lead_ = &test;
        }
    is_whole_ = lead_ == nullptr && tests_.empty() && list_->is_plain;
    if (lead_ == nullptr && !list_->is_plain) in_.find(in_.store, in_.cache, list_, found_);
    return bound_;
}

/// Whether a candidate of links matches the terms.
bool link_search::matches_terms(std::uint64_t e) {
    location at;
    if (!in_.owner->entities.find(e, at)) return false;
    const chunk_data& chunk = in_.owner->graph.at(at.chunk);
    if (!list_->is_plain) return in_.cache->matches(*question_, chunk, e);
    if (last_chunk_ != &chunk) {
        last_chunk_ = &chunk;
        last_answer_ = to_int(chunk.index) != 0 && in_.cache->may_match(*question_, chunk);
    }
    return last_answer_;
}

std::uint64_t link_search::next_candidate() {
    const std::uint64_t null = in_.owner->entities.null();
    if (lead_ != nullptr) {
        std::uint64_t e = lead_->next();
        while (e != null && !matches_terms(e)) e = lead_->next();
        return e;
    }
    if (!list_->is_plain) return row_ == found_.ids.size() ? null : found_.ids[row_++];
    while (chunk_ != chunks_.size() && row_ >= chunks_[chunk_]->size) {
        ++chunk_;
        row_ = 0;
    }
    return chunk_ == chunks_.size() ? null : chunks_[chunk_]->id_at(row_++);
}

std::uint64_t link_search::next() {
    const std::uint64_t null = in_.owner->entities.null();
    if (!is_possible_) return null;
    std::uint64_t e = next_candidate();
    while (e != null && !passes(e)) e = next_candidate();
    return e;
}

}  // namespace MUSTER_NAMESPACE::detail
