#include <muster/base/bit_array.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/link_edit.hpp>
#include <muster/relation/link_table.hpp>

#include <unordered_map>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

namespace {

/// The links that recorded changes of one entity add or assign, and those that they remove. A few are
/// searched one by one; many have an index. A link that is removed and added again is assigned, and keeps
/// its place.
class combined_links {
public:
    /// `kept` is the list that the entity has, or null.
    combined_links(const link_table& of, std::uint64_t e, const link_list* kept, bool has_many)
        : added(*of.types().value), of_(of), e_(e), kept_(kept), has_many_(has_many) {}

    /// Adds or removes the links of a recorded change; null: removes all. Returns whether it adds any.
    bool read(link_list* change);
    /// Drops links to dead targets. Returns false if the entity is to be destroyed instead.
    bool drop_dead();
    /// Returns how many links are not in the list that the entity has.
    [[nodiscard]] std::size_t count_new() const;
    /// Returns the targets of the links that are removed in the end.
    [[nodiscard]] array_list<std::uint64_t> take_removed();

    link_list added;

private:
    static constexpr auto none = ~std::uint32_t{0};

    /// Returns the place of a target in the list that the entity has, or `none`.
    [[nodiscard]] std::uint32_t place_of(std::uint64_t target) const {
        const std::uint32_t place = kept_ != nullptr ? of_.find_place(e_, *kept_, target) : none;
        return kept_ != nullptr && place == kept_->ends().places() ? none : place;
    }
    /// Returns the place of a target in `added`, or the number of its places.
    [[nodiscard]] std::uint32_t find(std::uint64_t target) const {
        if (!has_many_) return added.ends().find(target);
        const auto found = places_.find(target);
        return found != places_.end() ? found->second : added.ends().places();
    }
    void add(link_list& from, std::uint32_t at);
    void remove(std::uint64_t target);
    void remove_all();
    void remove_place(std::uint32_t place);

    const link_table& of_;
    std::uint64_t e_;
    const link_list* kept_;
    bool has_many_;
    std::unordered_map<std::uint64_t, std::uint32_t> places_;  // in `added`, by target
    bit_array is_removed_;                                     // by place in `kept_`
    array_list<std::uint64_t> removed_;                        // some of them several times
};

void combined_links::add(link_list& from, std::uint32_t at) {
    const std::uint64_t target = from.ends()[at].other;
    if (const std::uint32_t place = place_of(target); place != none) is_removed_.reset(place);
    const std::uint32_t known = find(target);
    if (known != added.ends().places()) return added.swap_value(known, from, at);
    added.reserve(1);
    if (has_many_) places_[target] = known;
    (void)added.take(from, at);
}

void combined_links::remove(std::uint64_t target) {
    if (const std::uint32_t place = place_of(target); place != none) remove_place(place);
    const std::uint32_t known = find(target);
    if (known == added.ends().places()) return;
    if (has_many_) places_.erase(target);
    added.erase(known);
}

void combined_links::remove_place(std::uint32_t place) {
    if (is_removed_.test(place)) return;
    is_removed_.set(place);
    removed_.push_back(kept_->ends()[place].other);
}

void combined_links::remove_all() {
    link_list(*of_.types().value).swap(added);
    places_.clear();
    for (std::uint32_t at = 0; kept_ != nullptr && at != kept_->ends().places(); ++at)
        if (!kept_->ends()[at].is_hole) remove_place(at);
}

bool combined_links::read(link_list* change) {
    if (change == nullptr) {
        remove_all();
        return false;
    }
    const link_array& ends = change->ends();
    for (std::uint32_t at = ends.next(0); at != ends.places(); at = ends.next(at + 1))
        if (change->is_removal)
            remove(ends[at].other);
        else
            add(*change, at);
    return !change->is_removal;
}

bool combined_links::drop_dead() {
    const link_array& ends = added.ends();
    for (std::uint32_t at = ends.next(0); at != ends.places(); at = ends.next(at + 1)) {
        if (of_.owner().entities.alive(ends[at].other)) continue;
        if (of_.policy == target_policy::destroy_sources) return false;
        if (of_.policy == target_policy::refuse)
            of_.owner().errors.raise_not_alive({ends[at].other, {}}, "relate");
        added.erase(at);
    }
    return true;
}

std::size_t combined_links::count_new() const {
    const link_array& ends = added.ends();
    std::size_t count = 0;
    for (std::uint32_t at = ends.next(0); at != ends.places(); at = ends.next(at + 1))
        count += place_of(ends[at].other) == none ? 1u : 0u;
    return count;
}

array_list<std::uint64_t> combined_links::take_removed() {
    removed_.erase_if([&](std::uint64_t target) {
        const std::uint32_t place = place_of(target);
        const bool is_last = is_removed_.test(place);
        is_removed_.reset(place);  // the others are repetitions
        return !is_last;
    });
    return std::move(removed_);
}

}  // namespace

auto link_edit::combine(const link_table& of, std::uint64_t e, const void* present,
                        slice<void* const> given, std::size_t& which) -> outcome {
    return of.is_exclusive ? combine_one(of, present, given, which)
                           : combine_many(of, e, present, given, which);
}

/// The last change wins.
auto link_edit::combine_one(const link_table& of, const void* present, slice<void* const> given,
                            std::size_t& which) -> outcome {
    const entity_directory& entities = of.owner().entities;
    constexpr auto none = ~std::size_t{0};
    const std::uint64_t null = entities.null();
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
    if (entities.alive(target)) {
        which = last;
        return outcome::puts;
    }
    if (of.policy == target_policy::destroy_sources) return outcome::destroys;
    if (of.policy == target_policy::refuse)
        of.owner().errors.raise_not_alive({target, {}}, "relate");
    return outcome::removes;
}

auto link_edit::combine_many(const link_table& of, std::uint64_t e, const void* present,
                             slice<void* const> given, std::size_t& which) -> outcome {
    is_fresh_ = is_active_ = false;
    const auto* const kept = static_cast<const link_list*>(present);
    combined_links all(of, e, kept, given.size() > 8);
    which = given.size();
    for (std::size_t i = 0; i < given.size(); ++i)
        // SAFETY: the values are pending lists.
        if (all.read(static_cast<link_list*>(given[i]))) which = i;
    if (!all.drop_dead()) return outcome::destroys;
    const std::size_t count = all.added.size();
    if (kept == nullptr) {
        if (count == 0) return outcome::none;
        static_cast<link_list*>(given[which])->swap(all.added);
        return outcome::puts;
    }
    array_list<std::uint64_t> removed = all.take_removed();
    if (kept->size() + all.count_new() == removed.size()) return outcome::removes;
    if (count == 0 && removed.empty()) return outcome::none;
    e_ = e;
    is_fresh_ = true;
    added_.swap(all.added);
    removed_.swap(removed);
    return outcome::touches;
}

void link_edit::apply(link_table& of) noexcept {
    link_list& list = *of.find_list(e_);
    for (const std::uint64_t target : removed_) {
        const std::uint32_t at = of.find_place(e_, list, target);
        of.find_sources(target)->erase(list.ends()[at].place);
        list.erase(at);
    }
    const busy_guard busy(of.owner().gate);
    const link_array& ends = added_.ends();
    for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1)) {
        const std::uint64_t target = ends[i].other;
        const std::uint32_t known = of.find_place(e_, list, target);
        if (known != list.ends().places()) {
            list.swap_value(known, added_, i);
            continue;
        }
        const std::uint32_t at = list.take(added_, i);
        list.ends()[at].place = of.find_sources(target)->append(e_, at);
    }
    of.close_holes(list);
    of.owner().changes.mark_written(e_, of.links());
}

}  // namespace MUSTER_NAMESPACE::detail
