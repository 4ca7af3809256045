#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/change/journal.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

void journal::grow() {
    if (now_.entries >= none / 2)
        raise(errc::limit, "too many changes in one scope: commit more often");
    if (now_.entries == entries_.capacity()) entries_.grow(larger(64, entries_.capacity() * 2));
    if (now_.groups == groups_.capacity()) groups_.grow(larger(64, groups_.capacity() * 2));
}

void journal::widen() {
    raw_array<place> wider;
    wider.grow(larger(128, places_.capacity() * 2));
    std::fill_n(wider.data(), wider.capacity(), place{0, none, 0});
    std::swap(places_, wider);
    taken_ = 0;
    for (std::size_t i = 0; i < wider.capacity(); ++i)
        if (wider[i].epoch == epoch_ && wider[i].group != none) {
            places_[place_of(wider[i].id)] = wider[i];
            ++taken_;
        }
}

/// Returns the place of this id, or the free place where it belongs.
std::size_t journal::place_of(std::uint64_t e) const noexcept {
    const std::size_t mask = places_.capacity() - 1;
    // Different for neighbouring keys, and for keys at a distance of a power of two.
    std::size_t at = (e ^ e >> 8 ^ e >> 16) & mask;
    while (places_[at].epoch == epoch_ && places_[at].id != e) at = (at + 1) & mask;
    return at;
}

/// Adds the missing groups to the table, and leaves room for so many more.
void journal::find_places(std::size_t more) {
    while ((taken_ + now_.groups - placed_ + more) * 2 > places_.capacity()) widen();
    for (; placed_ < now_.groups; ++placed_) {
        journal_group& group = groups_[placed_];
        if (group.is_barrier) continue;
        place& found = places_[place_of(group.id)];
        const bool is_known = found.epoch == epoch_;
        taken_ += is_known ? 0u : 1u;
        group.shadowed = is_known ? found.group : none;
        found = {group.id, placed_, epoch_};
    }
}

std::uint32_t journal::ensure(std::uint64_t e, std::uint32_t open) {
    find_places();
    const place& found = places_[place_of(e)];
    if (found.epoch == epoch_ && found.group != none && found.group >= open) return found.group;
    return add_group(e, false);
}

journal::dependencies::dependencies(journal& of, std::uint64_t e) : of_(of) {
    if (of.now_.groups == of.done_) return;
    of.find_places();
    const place& known = of.places_[of.place_of(e)];
    if (known.epoch == of.epoch_) own_ = {known.group, none};
    barriers_ = {of.now_.segment - 1, none};  // wraps to `none` if there is no barrier
    find_entry(own_);
    find_entry(barriers_);
}

/// Finds the last entry of the group, or of an earlier one. There is none if `entry` stays `none`.
void journal::dependencies::find_entry(chain& from) const noexcept {
    while (from.group != none && from.group >= of_.done_) {
        const journal_group& group = of_.groups_[from.group];
        from.group = group.shadowed;
        from.entry = group.last;
        if (from.entry == none) continue;
        if (of_.entries_[from.entry].kind != change_kind::batch) return;
        from.entry = none;
    }
}

std::uint32_t journal::dependencies::next() noexcept {
    const bool is_own =
        barriers_.entry == none || (own_.entry != none && own_.entry > barriers_.entry);
    chain& last = is_own ? own_ : barriers_;
    const std::uint32_t found = last.entry;
    if (found == none) return none;
    last.entry = of_.entries_[found].previous;
    if (last.entry == none) find_entry(last);
    return found;
}

array_list<std::uint32_t> journal::dependency_of(std::uint64_t e) {
    array_list<std::uint32_t> found;
    dependencies all(*this, e);
    for (std::uint32_t at = all.next(); at != none; at = all.next()) found.push_back(at);
    std::ranges::reverse(found);
    return found;
}

bool journal::has_value_of(const fragment_data& fragment) const noexcept {
    const entry_range range = range_of(fragment);
    for (std::uint32_t i = range.first; i < range.end; ++i)
        if (entries_[i].fragment == &fragment && has_component(entries_[i].kind)) return true;
    return false;
}

bool journal::has_value_of(const fragment_data& fragment, std::uint64_t e) const noexcept {
    const entry_range range = range_of(fragment);
    for (std::uint32_t i = range.first; i < range.end; ++i)
        if (entries_[i].fragment == &fragment && has_component(entries_[i].kind) &&
            groups_[entries_[i].group].id == e)
            return true;
    return false;
}

bool journal::pop_entry(const position& to, journal_entry& popped) noexcept {
    if (now_.entries <= to.entries) return false;
    popped = entries_[--now_.entries];
    groups_[popped.group].last = popped.previous;
    return true;
}

bool journal::pop_group(const position& to, journal_group& popped) noexcept {
    if (now_.groups <= to.groups) {
        if (now_.groups < to.groups) return false;  // already rewound past `to`
        now_ = to;
        memory_.rewind(to.memory);
        return false;
    }
    popped = groups_[--now_.groups];
    if (placed_ > now_.groups) {
        placed_ = now_.groups;
        if (!popped.is_barrier) places_[place_of(popped.id)].group = popped.shadowed;
    }
    return true;
}

void journal::clear() noexcept {
    now_ = {};
    done_ = 0;
    taken_ = 0;
    placed_ = 0;
    highest_ = 0;
    memory_.rewind({});
    if (++epoch_ == 0) {
        std::fill_n(places_.data(), places_.capacity(), place{0, none, 0});
        epoch_ = 1;
    }
}

void journal::free() noexcept {
    clear();
    entries_.trim(0);
    groups_.trim(0);
    places_.trim(0);
    memory_.free();
}

}  // namespace MUSTER_NAMESPACE::detail
