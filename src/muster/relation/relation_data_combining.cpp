// The part of relation_data.hpp that combines the recorded changes of an entity.
#include <muster/engine/engine.hpp>
#include <muster/relation/relation_data.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace MUSTER_NAMESPACE::detail {

auto relation_data::combine(std::uint64_t e, const void* present, slice<void* const> given,
                            std::size_t& which) -> outcome {
    return is_exclusive ? combine_one(present, given, which)
                        : combine_many(e, present, given, which);
}

/// The last change wins.
auto relation_data::combine_one(const void* present, slice<void* const> given,
                                std::size_t& which) const -> outcome {
    constexpr auto none = ~std::size_t{0};
    const std::uint64_t null = engine_.entities.null();
    std::uint64_t target =
        present != nullptr ? static_cast<const link_head*>(present)->target : null;
    std::size_t last = none;  // the link that stays
    bool is_changed = false;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const auto* const link = static_cast<const link_head*>(given[i]);
        if (link != nullptr && link->is_removal && link->target != target) continue;
        is_changed = true;
        const bool is_removed = link == nullptr || link->is_removal;
        last = is_removed ? none : i;
        target = is_removed ? null : link->target;
    }
    if (!is_changed) return outcome::none;
    if (last == none) return outcome::removes;
    if (engine_.entities.alive(target)) {
        which = last;
        return outcome::puts;
    }
    if (policy == target_policy::destroy_sources) return outcome::destroys;
    if (policy == target_policy::refuse) engine_.errors.raise_not_alive({target, {}}, "relate");
    return outcome::removes;
}

namespace {

/// The links that recorded changes add, and the targets that they remove. A few are searched one by
/// one; many have an index.
class combined_links {
public:
    combined_links(const type_info& values, bool has_many) : added(values), has_many_(has_many) {}

    [[nodiscard]] std::uint32_t find(std::uint64_t target) const {
        if (!has_many_) return added.ends().find(target);
        const auto found = places_.find(target);
        return found != places_.end() ? found->second : added.ends().places();
    }
    void take(link_list& from, std::uint32_t at) {
        const std::uint64_t target = from.ends()[at].other;
        added.reserve(1);
        if (has_many_) places_[target] = added.ends().places();
        (void)added.take(from, at);
    }
    void erase(std::uint32_t place) {
        if (has_many_) places_.erase(added.ends()[place].other);
        added.erase(place);
    }
    [[nodiscard]] bool removes(std::uint64_t target) const {
        return has_many_ ? removed_.contains(target)
                         : std::ranges::find(removed, target) != removed.end();
    }
    void remove(std::uint64_t target) {
        removed.push_back(target);
        if (has_many_) removed_.insert(target);
    }
    void clear(const type_info& values) {
        link_list(values).swap(added);
        places_.clear();
    }

    link_list added;
    array_list<std::uint64_t> removed;

private:
    bool has_many_;
    std::unordered_map<std::uint64_t, std::uint32_t> places_;
    std::unordered_set<std::uint64_t> removed_;
};

}  // namespace

auto relation_data::combine_many(std::uint64_t e, const void* present, slice<void* const> given,
                                 std::size_t& which) -> outcome {
    link_list(*types_.value).swap(edit_.added);
    edit_.removed.clear();
    edit_.is_fresh = edit_.is_active = false;
    // SAFETY: the lists are pending values, or the value of a living entity: none is const.
    auto* kept = static_cast<link_list*>(const_cast<void*>(present));
    if (std::ranges::find(given, nullptr) != given.end()) kept = nullptr;
    combined_links all(*types_.value, given.size() > 8);
    const auto is_kept = [&](std::uint64_t target) {
        return kept != nullptr && find_place(e, *kept, target) != kept->ends().places() &&
               !all.removes(target);
    };
    which = given.size();
    for (std::size_t i = 0; i < given.size(); ++i) {
        auto* const list = static_cast<link_list*>(given[i]);
        if (list == nullptr) {
            all.clear(*types_.value);
            continue;
        }
        const link_array& ends = list->ends();
        for (std::uint32_t at = ends.next(0); at != ends.places(); at = ends.next(at + 1)) {
            const std::uint64_t target = ends[at].other;
            const std::uint32_t known = all.find(target);
            const bool is_added = known != all.added.ends().places();
            if (list->is_removal) {
                if (is_added) all.erase(known);
                if (is_kept(target)) all.remove(target);
                continue;
            }
            which = i;
            if (is_added)
                all.added.swap_value(known, *list, at);
            else
                all.take(*list, at);
        }
    }
    const link_array& ends = all.added.ends();
    for (std::uint32_t at = ends.next(0); at != ends.places(); at = ends.next(at + 1)) {
        if (engine_.entities.alive(ends[at].other)) continue;
        if (policy == target_policy::destroy_sources) return outcome::destroys;
        if (policy == target_policy::refuse)
            engine_.errors.raise_not_alive({ends[at].other, {}}, "relate");
        all.erase(at);
    }
    if (kept == nullptr) {
        if (ends.size() == 0) return present != nullptr ? outcome::removes : outcome::none;
        static_cast<link_list*>(given[which])->swap(all.added);
        return outcome::puts;
    }
    std::size_t fresh = 0;
    for (std::uint32_t at = ends.next(0); at != ends.places(); at = ends.next(at + 1))
        fresh += is_kept(ends[at].other) ? 0u : 1u;
    if (kept->size() + fresh == all.removed.size()) return outcome::removes;
    if (ends.size() == 0 && all.removed.empty()) return outcome::none;
    edit_.e = e;
    edit_.is_fresh = true;
    edit_.added.swap(all.added);
    edit_.removed.swap(all.removed);
    return outcome::touches;
}

}  // namespace MUSTER_NAMESPACE::detail
