#include <muster/base/error.hpp>
#include <muster/base/merge_sort.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/entity/destroy_participant.hpp>
#include <muster/relation/relation_data.hpp>
#include <muster/relation/relation_levels.hpp>
#include <muster/relation/row_regrouping.hpp>

#include <unordered_map>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

std::uint32_t relation_levels::below(std::uint32_t level) const {
    if (level == most)
        raise(errc::limit, text(relation_.name(), " cannot have more than ", most, " levels"));
    return level + 1;
}

/// Lists all below an entity, those of a higher level first, with their new levels.
void relation_levels::list_below(const entry& top, const destroy_set* dying,
                                 array_list<entry>& found) const {
    const auto list_sources = [&](const entry& of) {
        relation_.each_source(of.e, [&](const link_end& source) {
            if (dying == nullptr || !dying->has(source.other))
                found.push_back({source.other, below(of.level)});
        });
    };
    std::size_t next = found.size();
    list_sources(top);
    while (next < found.size()) list_sources(entry(found[next++]));
}

void relation_levels::begin() noexcept {
    planned_.clear();
}

void relation_levels::plan(std::uint64_t e, std::uint32_t level) {
    const std::size_t first = planned_.size();
    list_below({e, level}, nullptr, planned_);
    for (std::size_t i = first; i < planned_.size(); ++i) {
        const auto [moved, wanted] = planned_[i];
        if (word_of(wanted) != word_of(relation_.level_of(moved)))
            rows_.add(moved, {&relation_.links(), change_kind::regroup, word_of(wanted)});
    }
}

void relation_levels::apply() noexcept {
    set(planned_);
    planned_.clear();
}

auto relation_levels::after(const destroy_set& dying, array_list<link_step> moved,
                            array_list<fragment_loss>& losses) const -> array_list<entry> {
    array_list<entry> found;
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    // A link may lead to an entity whose level changes, too, which was above it before.
    merge_sort(moved, [](const link_step& a, const link_step& b) { return a.level < b.level; });
    std::size_t listed = 0;
    for (const link_step& link : moved) {
        std::uint32_t level = 0;
        if (link.to != engine_.entities.null()) {
            for (; listed < found.size(); ++listed) known[found[listed].e] = found[listed].level;
            const auto changed = known.find(link.to);
            level = below(changed != known.end() ? changed->second : relation_.level_of(link.to));
            found.push_back({link.e, level});
        }
        known[link.e] = level;  // also of one that loses its link, and so becomes a root
        list_below({link.e, level}, &dying, found);
    }
    for (const auto [e, level] : found)
        if (word_of(level) != word_of(relation_.level_of(e)))
            losses.push_back({e, &relation_.links(), true, word_of(level)});
    return found;
}

void relation_levels::set(slice<const entry> levels) noexcept {
    for (const auto [e, level] : levels) {
        relation_.find_link(e)->level = level & most;
        engine_.changes.mark_written(e, relation_.links());
    }
}

void relation_levels::arrange(slice<std::uint64_t> all) const {
    array_list<std::uint64_t> sorted(all.data(), all.data() + all.size());
    merge_sort(sorted, [&](std::uint64_t a, std::uint64_t b) {
        return relation_.level_of(a) > relation_.level_of(b);
    });
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = sorted[i];
}

}  // namespace MUSTER_NAMESPACE::detail
