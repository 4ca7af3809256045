// The part of relation_data.hpp that combines the recorded changes of an entity.
#include <muster/base/bit_array.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/relation_data.hpp>

#include <unordered_map>

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

/// The links that recorded changes add or assign, by target. A few are searched one by one; many have
/// an index.
class combined_links {
public:
    combined_links(const type_info& values, bool has_many) : all(values), has_many_(has_many) {}

    [[nodiscard]] std::uint32_t find(std::uint64_t target) const {
        if (!has_many_) return all.ends().find(target);
        const auto found = places_.find(target);
        return found != places_.end() ? found->second : all.ends().places();
    }
    /// Moves a link of another list to this one, or its value to the link that is there.
    void take(link_list& from, std::uint32_t at) {
        const std::uint64_t target = from.ends()[at].other;
        const std::uint32_t known = find(target);
        if (known != all.ends().places()) return all.swap_value(known, from, at);
        all.reserve(1);
        if (has_many_) places_[target] = all.ends().places();
        (void)all.take(from, at);
    }
    void erase(std::uint64_t target) {
        const std::uint32_t place = find(target);
        if (place == all.ends().places()) return;
        if (has_many_) places_.erase(target);
        all.erase(place);
    }
    void clear(const type_info& values) {
        link_list(values).swap(all);
        places_.clear();
    }

    link_list all;

private:
    bool has_many_;
    std::unordered_map<std::uint64_t, std::uint32_t> places_;
};

}  // namespace

/// A link that is removed and added again is assigned, and keeps its place.
auto relation_data::combine_many(std::uint64_t e, const void* present, slice<void* const> given,
                                 std::size_t& which) -> outcome {
    link_list(*types_.value).swap(edit_.added);
    edit_.removed.clear();
    edit_.is_fresh = edit_.is_active = false;
    // SAFETY: the lists are pending values, or the value of a living entity: none is const.
    auto* const kept = static_cast<link_list*>(const_cast<void*>(present));
    combined_links added(*types_.value, given.size() > 8);
    bit_array removed;  // places in the list
    const auto place_of = [&](std::uint64_t target) {
        return kept != nullptr ? find_place(e, *kept, target) : 0;
    };
    const auto is_place = [&](std::uint32_t place) {
        return kept != nullptr && place != kept->ends().places();
    };
    const auto remove = [&](std::uint32_t place) {
        if (removed.test(place)) return;
        removed.set(place);
        edit_.removed.push_back(kept->ends()[place].other);
    };
    which = given.size();
    for (std::size_t i = 0; i < given.size(); ++i) {
        auto* const list = static_cast<link_list*>(given[i]);
        if (list == nullptr) {  // removes all
            added.clear(*types_.value);
            for (std::uint32_t at = 0; kept != nullptr && at != kept->ends().places(); ++at)
                if (!kept->ends()[at].is_hole) remove(at);
            continue;
        }
        const link_array& ends = list->ends();
        for (std::uint32_t at = ends.next(0); at != ends.places(); at = ends.next(at + 1)) {
            const std::uint32_t place = place_of(ends[at].other);
            if (list->is_removal) {
                added.erase(ends[at].other);
                if (is_place(place)) remove(place);
            } else {
                which = i;
                removed.reset(place);
                added.take(*list, at);
            }
        }
    }
    const link_array& ends = added.all.ends();
    std::size_t fresh = 0;
    for (std::uint32_t at = ends.next(0); at != ends.places(); at = ends.next(at + 1)) {
        if (engine_.entities.alive(ends[at].other)) {
            fresh += is_place(place_of(ends[at].other)) ? 0u : 1u;
            continue;
        }
        if (policy == target_policy::destroy_sources) return outcome::destroys;
        if (policy == target_policy::refuse)
            engine_.errors.raise_not_alive({ends[at].other, {}}, "relate");
        added.all.erase(at);
    }
    if (kept == nullptr) {
        if (ends.size() == 0) return outcome::none;
        static_cast<link_list*>(given[which])->swap(added.all);
        return outcome::puts;
    }
    // The list has a target once for each time that it was removed.
    edit_.removed.erase_if([&](std::uint64_t target) {
        const std::uint32_t place = find_place(e, *kept, target);
        const bool is_last = removed.test(place);
        removed.reset(place);
        return !is_last;
    });
    if (kept->size() + fresh == edit_.removed.size()) return outcome::removes;
    if (ends.size() == 0 && edit_.removed.empty()) return outcome::none;
    edit_.e = e;
    edit_.is_fresh = true;
    edit_.added.swap(added.all);
    return outcome::touches;
}

}  // namespace MUSTER_NAMESPACE::detail
