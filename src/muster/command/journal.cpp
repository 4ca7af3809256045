#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/command/journal.hpp>

#include <algorithm>

namespace muster::detail {

void journal::reserve_one() {
    if (now_.entries == entries_.capacity() || now_.groups == groups_.capacity() ||
        taken_ * 2 >= places_.capacity()) [[unlikely]]
        grow();
}

void journal::grow() {
    if (now_.entries == entries_.capacity()) {
        if (now_.entries >= none / 2) raise(errc::limit, "too many changes in one scope");
        entries_.grow(larger(64, entries_.capacity() * 2));
    }
    if (now_.groups == groups_.capacity()) groups_.grow(larger(64, groups_.capacity() * 2));
    if (taken_ * 2 >= places_.capacity()) {
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
}

/// Where it is, or the free place where it would be.
std::size_t journal::place_of(std::uint64_t who) const noexcept {
    const std::size_t mask = places_.capacity() - 1;
    std::size_t at = who & mask;
    while (places_[at].epoch == epoch_ && places_[at].id != who) at = (at + 1) & mask;
    return at;
}

std::uint32_t journal::find(std::uint64_t who) const noexcept {
    if (now_.groups == 0) return none;
    const place& found = places_[place_of(who)];
    if (found.epoch != epoch_ || found.group == none) return none;
    return found.group >= larger(now_.segment, done_) ? found.group : none;
}

/// The group of this entity. Room is there.
std::uint32_t journal::ensure(std::uint64_t who) noexcept {
    const std::uint64_t open = larger(now_.segment, done_);
    if (now_.groups > open && groups_[now_.groups - 1].id == who) return now_.groups - 1;
    place& found = places_[place_of(who)];
    const bool is_known = found.epoch == epoch_;
    if (is_known && found.group != none && found.group >= open) return found.group;
    groups_[now_.groups] = {who, none, is_known ? found.group : none, false};
    if (!is_known) ++taken_;
    found = {who, now_.groups, epoch_};
    return now_.groups++;
}

journal_entry& journal::append(std::uint32_t group, change_kind kind, fragment_data* fragment,
                               const std::source_location& where) noexcept {
    journal_entry& made = entries_[now_.entries];
    made = {fragment, nullptr, where, 0, group, groups_[group].last, kind, false};
    groups_[group].last = now_.entries++;
    return made;
}

journal_entry& journal::add(std::uint64_t who, change_kind kind, fragment_data* fragment,
                            const std::source_location& where) {
    reserve_one();
    return append(ensure(who), kind, fragment, where);
}

journal_entry& journal::add_barrier(std::uint64_t who, change_kind kind, fragment_data* fragment,
                                    const std::source_location& where) {
    reserve_one();
    groups_[now_.groups] = {who, none, none, true};
    now_.segment = ++now_.groups;
    return append(now_.groups - 1, kind, fragment, where);
}

bool journal::pop(const position& to, journal_entry& popped, std::uint64_t& who) noexcept {
    if (now_.entries == to.entries) {
        now_ = to;
        memory_.rewind(to.memory);
        return false;
    }
    popped = entries_[--now_.entries];
    journal_group& group = groups_[popped.group];
    who = group.id;
    group.last = popped.previous;
    if (group.last == none) {  // the last group: its first entry came behind all others
        if (!group.is_barrier) places_[place_of(who)].group = group.shadowed;
        --now_.groups;
    }
    return true;
}

void journal::clear() noexcept {
    now_ = {};
    done_ = 0;
    taken_ = 0;
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

}  // namespace muster::detail
