#include <muster/base/integer.hpp>
#include <muster/base/merge_sort.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/change/lane.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/link_search.hpp>
#include <muster/relation/link_walk.hpp>
#include <muster/relation/relations.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

namespace {
constexpr std::size_t block_size = 256;
/// The word of all levels from this one on.
constexpr std::uint32_t deep = 63;
}  // namespace

link_world link_question::world() const noexcept {
    return {owner, cache, store, find, is_shared};
}

namespace {

bool is_by_level(const link_order& order) noexcept {
    return order.what == link_order::kind::top_down || order.what == link_order::kind::bottom_up;
}

}  // namespace

link_walk::link_walk(const link_question& asked)
    : search_(
          new link_search(asked.world(), *asked.question, asked.links, asked.tests_components)) {
    scope_guard undo([&] { delete search_; });
    // The relation may have been destroyed, and defined in another way, since the query was made.
    if (is_by_level(asked.order)) require_leveled(*asked.owner, asked.order.relation);
    plan_.order = asked.order;
    plan_.by = relation_ref::find(*asked.owner, asked.world().find_fragment(asked.order.relation));
    const relation_data* const by = asked.world().find_relation(asked.order.relation);
    plan_.is_grouped = by != nullptr && by->is_grouping;
    if (search_->is_possible()) {
        (void)search_->count_candidates();
        if (plan_.order.what != link_order::kind::none)
            sort();
        else if (search_->is_whole())
            plan_.chunks.assign(search_->chunks().begin(), search_->chunks().end());
        else
            plan_.is_streamed = true;
    }
    undo.dismiss();
}

link_walk::~link_walk() {
    delete search_;
}

bool link_walk::next() {
    if (plan_.is_parted) return next_ids() || next_deep();
    if (plan_.order.what == link_order::kind::bottom_up)
        return next_deep() || next_ids() || next_rows();
    return next_rows() || next_ids() || next_deep();
}

bool link_walk::next_part() {
    plan_.is_parted = true;
    if (plan_.order.what == link_order::kind::bottom_up) return next_list() || next_level();
    return next_level() || next_list();
}

/// The rows of the next level; without an order, of all chunks.
bool link_walk::next_level() {
    const std::size_t first = plan_.next;
    if (first == plan_.chunks.size()) return false;
    const std::uint64_t level = level_of(*plan_.chunks[first]);
    while (plan_.next != plan_.chunks.size() && (plan_.order.what == link_order::kind::none ||
                                                 level_of(*plan_.chunks[plan_.next]) == level))
        ++plan_.next;
    part_ = {&search_->list(),
             {plan_.chunks.data() + first, plan_.chunks.data() + plan_.next, true}};
    return true;
}

bool link_walk::next_list() {
    if (!plan_.is_streamed && (!plan_.has_ids || plan_.ids.empty()) &&
        plan_.next_row == plan_.rows.size() && plan_.deep == nullptr)
        return false;
    part_ = {};
    return true;
}

part_walk::part_walk(const shared_rows& part, const void* store) noexcept : rows_(part.chunks) {
    if (lane* const at = find_lane(store); at != nullptr && at->window.list == part.list) {
        const row_window& mine = at->window;
        rows_ = {mine.first, mine.last, true, mine.from, mine.to};
        at->window = {};
    }
    at_ = rows_.begin();
}

bool part_walk::next() noexcept {
    while (at_ != rows_.end()) {
        const std::size_t first = rows_.first_row(at_);
        const chunk_data* const chunk = *at_++;
        const std::size_t end = rows_.end_row(at_, chunk->size);
        block_ = {chunk, nullptr, end - first, first};
        if (first < end) return true;
    }
    return false;
}

bool link_walk::next_rows() {
    while (plan_.next != plan_.chunks.size() && plan_.chunks[plan_.next]->size == 0) ++plan_.next;
    if (plan_.next == plan_.chunks.size()) return false;
    const chunk_data* const chunk = plan_.chunks[plan_.next++];
    block_ = {chunk, nullptr, chunk->size};
    return true;
}

/// The next sorted rows that are in one chunk.
bool link_walk::next_deep() {
    if (plan_.deep != nullptr) {
        const chunk_data* const chunk = std::exchange(plan_.deep, nullptr);
        block_ = {chunk, nullptr, chunk->size};
        return true;
    }
    const std::size_t first = plan_.next_row;
    if (first == plan_.rows.size()) return false;
    const chunk_data* const chunk = plan_.owners[first];
    while (plan_.next_row != plan_.rows.size() && plan_.owners[plan_.next_row] == chunk)
        ++plan_.next_row;
    block_ = {chunk, nullptr, plan_.next_row - first, 0, plan_.rows.data() + first};
    return true;
}

bool link_walk::next_ids() {
    if (plan_.is_streamed) {
        plan_.ids.clear();
        while (plan_.ids.size() != block_size) {
            const std::uint64_t e = search_->next();
            if (e == search_->null()) {
                plan_.is_streamed = false;
                break;
            }
            plan_.ids.push_back(e);
        }
        plan_.has_ids = true;
    }
    if (!plan_.has_ids || plan_.ids.empty()) return false;
    block_ = {nullptr, plan_.ids.data(), plan_.ids.size()};
    plan_.has_ids = false;
    return true;
}

// ---- order -------------------------------------------------------------------------------------

namespace {

/// Sorts values by a small number each, the lowest first, in linear time. Keeps the order otherwise.
template <class T>
void sort_by(array_list<T>& all, const array_list<std::uint32_t>& numbers) {
    if (all.empty()) return;
    array_list<std::size_t> places(std::size_t{*std::ranges::max_element(numbers)} +
                                   2);  // of the next value
    for (const std::uint32_t number : numbers) ++places[number + 1];
    for (std::size_t i = 1; i < places.size(); ++i) places[i] += places[i - 1];
    array_list<T> sorted(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) sorted[places[numbers[i]]++] = all[i];
    all.swap(sorted);
}

/// Replaces levels by numbers that sort the deepest first.
void turn_over(array_list<std::uint32_t>& levels) {
    const std::uint32_t deepest = levels.empty() ? 0 : *std::ranges::max_element(levels);
    for (std::uint32_t& level : levels) level = deepest - level;
}

}  // namespace

void link_walk::sort() {
    using kind = link_order::kind;
    plan_.has_ids = true;
    if (search_->is_whole() && plan_.order.what != kind::by_target) return sort_chunks();
    if (search_->is_whole() && plan_.is_grouped) {
        plan_.chunks.assign(search_->chunks().begin(), search_->chunks().end());
        merge_sort(plan_.chunks, [&](const chunk_data* a, const chunk_data* b) {
            return a->word_of(plan_.by.links()) < b->word_of(plan_.by.links());
        });
        return;
    }
    const std::uint64_t null = search_->null();
    for (std::uint64_t e = search_->next(); e != null; e = search_->next()) plan_.ids.push_back(e);
    sort_ids();
}

std::uint64_t link_walk::level_of(const chunk_data& chunk) const noexcept {
    return plan_.by ? chunk.word_of(plan_.by.links()) : 0;
}

/// Sorts chunks by their level, without the rows that are deeper than words tell.
void link_walk::sort_chunks() {
    std::size_t places[deep + 1] = {};  // of the next chunk of each level
    for (const chunk_data* chunk : search_->chunks())
        if (const std::uint64_t level = level_of(*chunk); level < deep) ++places[level];
    const bool goes_down = plan_.order.what == link_order::kind::top_down;
    std::size_t end = 0;
    for (std::size_t i = 0; i < deep; ++i) {
        std::size_t& place = places[goes_down ? i : deep - 1 - i];
        end += std::exchange(place, end);
    }
    plan_.chunks.resize(end);
    array_list<chunk_data*> rest;
    for (chunk_data* chunk : search_->chunks()) {
        if (const std::uint64_t level = level_of(*chunk); level < deep)
            plan_.chunks[places[level]++] = chunk;
        else if (chunk->size != 0)
            rest.push_back(chunk);
    }
    sort_rows(rest, goes_down);
}

/// Sorts the rows of chunks that have several levels.
void link_walk::sort_rows(const array_list<chunk_data*>& all, bool goes_down) {
    std::size_t count = 0;
    for (const chunk_data* chunk : all) count += chunk->size;
    array_list<std::uint32_t> levels;
    levels.reserve(count);
    for (const chunk_data* chunk : all) {
        const fragment_data& links = plan_.by.links();
        const std::byte* at = links.base(chunk->index);
        for (std::size_t row = 0; row < chunk->size; ++row, at += links.type->size)
            // SAFETY: a leveled relation is exclusive: the column has links, which begin with heads.
            levels.push_back(reinterpret_cast<const link_head*>(at)->level);
    }
    if (!goes_down) turn_over(levels);
    if (all.size() == 1 && std::ranges::is_sorted(levels)) {
        plan_.deep = all[0];
        return;
    }
    plan_.rows.reserve(count);
    plan_.owners.reserve(count);
    for (chunk_data* chunk : all)
        for (std::size_t row = 0; row < chunk->size; ++row) {
            plan_.rows.push_back(static_cast<std::uint32_t>(row));
            plan_.owners.push_back(chunk);
        }
    sort_by(plan_.rows, levels);
    sort_by(plan_.owners, levels);
}

void link_walk::sort_ids() {
    using kind = link_order::kind;
    if (plan_.ids.size() < 2 || !plan_.by) return;
    if (plan_.order.what == kind::by_target) {
        struct place {
            std::uint64_t target;
            std::uint64_t e;
        };
        array_list<place> all;
        all.reserve(plan_.ids.size());
        for (const std::uint64_t e : plan_.ids) all.push_back({plan_.by.target_of(e), e});
        merge_sort(all, [](const place& a, const place& b) { return a.target < b.target; });
        for (std::size_t i = 0; i < all.size(); ++i) plan_.ids[i] = all[i].e;
        return;
    }
    array_list<std::uint32_t> levels;
    levels.reserve(plan_.ids.size());
    for (const std::uint64_t e : plan_.ids) levels.push_back(plan_.by.level_of(e));
    if (plan_.order.what != kind::top_down) turn_over(levels);
    sort_by(plan_.ids, levels);
}

void link_walk::require_leveled(const engine& owner, const term_name& relation) {
    const link_world in{&owner, nullptr, nullptr, nullptr, false};
    const relation_data* const found = in.find_relation(relation);
    if (found != nullptr && !found->is_leveled)
        raise(errc::not_a_relation,
              text(found->name(), " is not a leveled relation: define it with leveled()"));
}

// ---- one entity --------------------------------------------------------------------------------

bool link_walk::matches(const link_question& asked, std::uint64_t e) {
    return link_search(asked.world(), *asked.question, asked.links, true).matches(e);
}

std::string link_walk::explain(const link_question& asked, std::uint64_t e) {
    const link_condition* all[link_conditions::limit];
    const std::size_t count = asked.links.list(all);
    std::string made;
    for (std::size_t i = 0; i < count; ++i)
        made += text(i == 0 ? "" : "; ", link_test(asked.world(), *all[i]).explain(e));
    return made;
}

link_reader::link_reader(const engine& owner, const term_name& relation) noexcept {
    const link_world in{&owner, nullptr, nullptr, nullptr, false};
    relation_ = relation_ref::find(owner, in.find_fragment(relation));
    links_ = in.find_relation(relation);
}

link_values link_reader::read(std::uint64_t source) const noexcept {
    link_values made{relation_.targets(source)};
    if (links_ == nullptr || made.ends.count == 0) return made;
    const link_types& types = links_->types();
    if (types.value->size == 0) return made;
    if (made.ends.is_single())
        // SAFETY: the value follows the head of a link.
        made.values = reinterpret_cast<std::byte*>(links_->find_link(source)) + types.value_offset;
    else
        made.values = static_cast<std::byte*>(links_->find_list(source)->value_at(0));
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
