// The part of store_impl.hpp for many threads: parallel phases, in which each thread records by itself,
// and what command buffers bring. Both are entered into the journal by the world's own thread, and go the
// way of all that was recorded.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/id/pool_sharing.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace muster::detail {

template <class Layout>
struct store<Layout>::sharing {
    using lane_list = std::vector<std::unique_ptr<lane>>;
    /// Changes that were caused by the same rows.
    struct part {
        lane* from;
        lane::mark begin;
        std::uint32_t end;
    };

    std::optional<pool_sharing<Layout, record_type>> ids;  // of a phase, from when one is needed
    lane_list lanes;                                       // used again
    record_type without_components = record_type::live(id_type{});

    [[nodiscard]] static std::vector<part> parts_of(const lane_list& lanes);
    void make_lanes(const store& owner, std::size_t count);
    static void enter(store& owner, std::span<const part> parts);
    static void drop(store& owner, const lane_list& lanes) noexcept;
};

// ---- phases ------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::begin_phase() {
    refuse_in_change("a parallel phase");
    if (sharing_ == nullptr) sharing_ = new sharing;
    sharing_->make_lanes(*this, 1);
    busy_ |= in_phase;
}

template <class Layout>
void store<Layout>::share_phase(std::size_t lanes) {
    sharing_->make_lanes(*this, lanes);
    if (!sharing_->ids) sharing_->ids.emplace(pool_);
}

template <class Layout>
void store<Layout>::sharing::make_lanes(const store& owner, std::size_t count) {
    while (lanes.size() < count) {
        lanes.push_back(std::make_unique<lane>());
        lanes.back()->store = &owner;
    }
}

template <class Layout>
lane& store<Layout>::lane_at(std::size_t index) const noexcept {
    return *sharing_->lanes[index];
}

template <class Layout>
void store<Layout>::end_phase(bool is_kept) {
    busy_ &= ~in_phase;
    if (lane& first = *sharing_->lanes.front(); !sharing_->ids && first.changes.size() == 0)
        return first.marks.clear();  // it was the only one, and has changed nothing
    first_error error;
    bool has_records = false;
    error.attempt([&] {
        if (sharing_->ids) sharing_->ids->end();
        has_records = true;
    });
    sharing_->ids.reset();
    // A hook may begin a phase while this one is carried out: that has lanes of its own.
    typename sharing::lane_list lanes = std::exchange(sharing_->lanes, {});
    std::vector<typename sharing::part> parts;
    bool has_parts = false;
    if (is_kept && has_records)
        error.attempt([&] {
            parts = sharing::parts_of(lanes);
            has_parts = true;
        });
    if (has_parts)
        error.attempt([&] { sharing::enter(*this, parts); });
    else
        sharing::drop(*this, lanes);
    for (const std::unique_ptr<lane>& one : lanes) {
        const busy_scope nobody_else(*this);
        one->changes.rewind({});
        one->marks.clear();
    }
    if (sharing_->lanes.size() < lanes.size()) sharing_->lanes = std::move(lanes);
    error.rethrow();
}

/// In the order that a single thread would have recorded it in.
template <class Layout>
auto store<Layout>::sharing::parts_of(const lane_list& lanes) -> std::vector<part> {
    std::vector<part> parts;
    for (const std::unique_ptr<lane>& one : lanes)
        for (std::size_t i = 0; i < one->marks.size(); ++i) {
            const bool is_last = i + 1 == one->marks.size();
            parts.push_back({one.get(), one->marks[i],
                             is_last ? one->changes.size() : one->marks[i + 1].first});
        }
    std::sort(parts.begin(), parts.end(), [](const part& a, const part& b) {
        return a.begin.work != b.begin.work ? a.begin.work < b.begin.work
                                            : a.begin.row < b.begin.row;
    });
    return parts;
}

template <class Layout>
void store<Layout>::sharing::enter(store& owner, std::span<const part> parts) {
    scope whole(owner);
    first_error error;
    for (const part& one : parts)
        error.attempt([&] {
            owner.enter(one.from->changes, one.begin.first, one.end,
                        [&](recorded_change& change) { owner.enter_one(change); });
        });
    error.attempt([&] { whole.commit(); });
    error.rethrow();
}

/// The ids that were made in the phase die.
template <class Layout>
void store<Layout>::sharing::drop(store& owner, const lane_list& lanes) noexcept {
    for (const std::unique_ptr<lane>& one : lanes)
        for (std::uint32_t i = 0; i < one->changes.size(); ++i)
            if (const recorded_change& change = one->changes.at(i);
                change.kind == recorded_kind::spawn)
                owner.unmake(to_id<Layout>(change.who));
}

template <class Layout>
lane& store<Layout>::my_lane(const char* call) const {
    lane* const found = find_lane(this);
    if (found == nullptr)
        raise(errc::in_scope,
              text(call,
                   " is not possible now: the world is in a parallel phase that this thread "
                   "has no part in; record it in a command_buffer"));
    return *found;
}

template <class Layout>
auto store<Layout>::shared_id() -> id_type {
    if (!sharing_->ids) share_phase(1);  // then no other thread has begun
    return sharing_->ids->create();
}

template <class Layout>
auto store<Layout>::find_made_now(id_type e) const noexcept -> const record_type* {
    return sharing_->ids && sharing_->ids->has(e) ? &sharing_->without_components : nullptr;
}

template <class Layout>
void* store<Layout>::last_shared_value(const char* call) const {
    const recorder& from = my_lane(call).changes;
    return from.at(from.size() - 1).value;
}

template <class Layout>
lane& store<Layout>::require_shared(at_type who, const char* call) const {
    lane& mine = my_lane(call);
    if (!alive(who.id)) raise_not_alive(who, call);
    return mine;
}

template <class Layout>
const fragment_data& store<Layout>::find_named(fragment_name name) const noexcept {
    return name.is_typed() ? fragments_.find(static_cast<type_index>(name.what))
                           : fragments_.look(name.what);
}

template <class Layout>
bool store<Layout>::share_start(at_type who, recorded_kind kind, std::span<const fragment_name> set,
                                const char* call) {
    recorder& into = require_shared(who, call).changes;
    recording all(into);
    bool is_new = kind == recorded_kind::start;
    for (const fragment_name one : set) {
        const fragment_data& known = find_named(one);
        if (!one.is_typed() && &known == &no_fragment && !alive(to_id<Layout>(one.what)))
            raise_no_fragment(to_id<Layout>(one.what), "used", &who.where);
        const bool is_known = &known != &no_fragment && known.type != nullptr;
        if (is_known ? !known.can_start() : one.is_typed() && !one.type->can_construct())
            raise_no_default(known, one.is_typed() ? one.type->name : known.name);
        into.add(kind, who.id.value(), one).where = who.where;
        is_new = is_new || !has(who.id, known);
    }
    all.keep();
    return is_new;
}

template <class Layout>
void store<Layout>::refuse_misfit(id_type f, type_index value, const type_info& type,
                                  const std::source_location* where) const {
    const fragment_data& known = find_fragment(f);
    if (&known == &no_fragment) {
        if (!alive(f)) raise_no_fragment(f, "used", where);
        return;
    }
    const bool fits = value == no_type ? known.type->size == 0 : known.value_type == value;
    if (!fits && !known.is_open)
        raise_mismatch(known, value == no_type ? std::string_view{} : type.name, "used", where);
}

/// Who loses something need not be alive, but of this world: null if it is dead.
template <class Layout>
lane* store<Layout>::find_shared(at_type who, const char* call) const {
    lane& mine = my_lane(call);
    if (alive(who.id)) return &mine;
    if (is_foreign(who.id)) raise_not_alive(who, call);
    return nullptr;
}

template <class Layout>
bool store<Layout>::share_remove(at_type who, std::span<const fragment_name> set) {
    lane* const mine = find_shared(who, "remove");
    if (mine == nullptr) return false;
    recording all(mine->changes);
    bool has_one = false;
    for (const fragment_name one : set) {
        mine->changes.add(recorded_kind::remove, who.id.value(), one);
        has_one = has_one || has(who.id, find_named(one));
    }
    all.keep();
    return has_one;
}

template <class Layout>
bool store<Layout>::share_clear(at_type who) {
    lane* const mine = find_shared(who, "clear");
    if (mine == nullptr) return false;
    mine->changes.add(recorded_kind::clear, who.id.value());
    return has_any(who.id);
}

template <class Layout>
bool store<Layout>::share_destroy(at_type who) {
    lane* const mine = find_shared(who, "destroy");
    if (mine == nullptr) return false;
    recorded_change& made = mine->changes.add(recorded_kind::destroy, who.id.value());
    made.where = who.where;
    made.system = mine->system;
    return true;
}

// ---- threads that do not keep to the rules -----------------------------------------------------

template <class Layout>
bool store<Layout>::begin_writing(const char* call) {
    if (is_shared()) return false;
    const std::uintptr_t me = this_thread();
    std::uintptr_t other = 0;
    if (writer_.compare_exchange(other, me)) {
        writer_call_.store(call);
    } else if (other != me) {
        const char* const theirs = writer_call_.load();
        raise(errc::second_writer,
              text(call, " on one thread, while another is in ", theirs == nullptr ? call : theirs,
                   " of the same world W:", number(),
                   ": only one may change a world at a time. Record it in a command_buffer, or use "
                   "par_each"));
    }
    ++writings_;
    return true;
}

template <class Layout>
void store<Layout>::end_writing() noexcept {
    if (--writings_ == 0) writer_.store(0);
}

template <class Layout>
void store<Layout>::watch_access(type_index type, bool may_write, std::string_view name) const {
    const lane* const mine = find_lane(this);
    if (mine == nullptr || mine->work >= mine->works.size()) return;
    const system_accesses& own = mine->works[mine->work];
    const auto is_it = [&](const access& one) { return one.type == type; };
    if (own.system.empty() || std::ranges::any_of(own.touched, is_it)) return;
    for (const system_accesses& other : mine->works)
        for (const access& one : other.touched)
            if (is_it(one) && (one.is_written || may_write))
                raise(errc::undeclared_access,
                      text("it touches ", name, ", which it has not declared, while system \"",
                           other.system, "\" ", one.is_written ? "writes" : "reads",
                           " it: say reads<", name, ">() or ", "writes<", name,
                           ">(), or read it through a const world"));
}

// ---- what was recorded becomes the journal's ---------------------------------------------------

/// A scope is open. A call that fails is left out as a whole; the first exception is thrown in the end.
template <class Layout>
template <class Enter>
void store<Layout>::enter(recorder& from, std::uint32_t first, std::uint32_t last,
                          Enter enter_change) {
    first_error error;
    while (first < last) {
        const journal::position start = journal_.now();
        bool is_done = false;
        std::uint32_t end = first + 1;
        while (end < last && !from.at(end).begins_call) ++end;
        error.attempt([&] {
            for (std::uint32_t i = first; i < end; ++i) enter_change(from.at(i));
            is_done = true;
        });
        if (!is_done) rewind(start);
        first = end;
    }
    error.rethrow();
}

template <class Layout>
void store<Layout>::enter_one(recorded_change& one) {
    const at_type who(to_id<Layout>(one.who), one.where);
    switch (one.kind) {
    case recorded_kind::spawn: {
        struct lost {
            store& owner;
            id_type made;
            bool is_done = false;
            ~lost() {
                if (!is_done) owner.unmake(made);
            }
        };
        lost guard{*this, who.id};
        journal_.reserve_one();
        journal_.bear(one.who);
        guard.is_done = true;
        break;
    }
    case recorded_kind::put:
    case recorded_kind::keep: enter_value(one); break;
    case recorded_kind::start:
    case recorded_kind::start_missing: {
        fragment_data& fragment =
            one.fragment.is_typed()
                ? ensure_fragment(static_cast<type_index>(one.fragment.what), *one.fragment.type)
                : typed_or_tag(to_id<Layout>(one.fragment.what), &one.where);
        record_started(who, one.kind == recorded_kind::start ? change_kind::put : change_kind::keep,
                       fragment);
        break;
    }
    case recorded_kind::remove: {
        fragment_data* const known = fragments_.find(find_named(one.fragment).id);
        if (known != nullptr) journal_.add(one.who, change_kind::remove, known);
        break;
    }
    case recorded_kind::clear: journal_.add(one.who, change_kind::clear, nullptr); break;
    case recorded_kind::destroy: {
        const as_system acts(*this, one.system);
        (void)record_destroy(who);
        break;
    }
    }
}

template <class Layout>
void store<Layout>::enter_value(recorded_change& one) {
    fragment_data& fragment =
        one.fragment.is_typed()
            ? ensure_fragment(static_cast<type_index>(one.fragment.what), *one.type)
            : ensure_fragment(to_id<Layout>(one.fragment.what), one.value_type, *one.type,
                              &one.where);
    const change_kind kind = one.kind == recorded_kind::put ? change_kind::put : change_kind::keep;
    journal_entry& made = journal_.add(one.who, kind, &fragment);
    const bool is_sparse = fragment.beside != nullptr;
    if (one.value == nullptr && !is_sparse) return;
    if (!is_sparse && depth() == 1) {  // carried out before the recorder's memory is used again
        made.value = std::exchange(one.value, nullptr);
        return;
    }
    void* const room = take_room(made);
    if (one.value == nullptr) return;
    const busy_scope nobody_else(*this);
    if (one.type->relocate != nullptr)
        one.type->relocate(room, one.value, 1);
    else
        std::memcpy(room, one.value, one.type->size);
    one.value = nullptr;
    made.value = room;
}

// ---- command buffers ---------------------------------------------------------------------------

template <class Layout>
void store<Layout>::reserve_ids(array_list<std::uint64_t>& out) {
    const std::size_t few = pool_.fair_count();
    out.reserve(few);
    inbox_.take_ids(out, few);
    if (!out.empty()) return;
    const auto taken = pool_.take_keys(few);
    if (taken.count == 0)
        raise(errc::id_overflow,
              "no key is left that a command buffer could reserve: if there are some, the world's "
              "thread makes them ready when it processes a system or calls apply_submitted()");
    for (std::uint64_t i = taken.count; i != 0; --i)
        out.push_back(pool_.id_of_taken(taken.first + i - 1).value());
}

template <class Layout>
void store<Layout>::refuse_impossible(at_type who, const char* call) const {
    if (is_foreign(who.id)) raise_not_alive(who, call);
    if (who.id.is_null())  // what else is wrong with an id, only the world knows
        raise(errc::dead_entity,
              text("the null id is nobody (", call, " at ", place_text(who.where), ")"));
}

template <class Layout>
void store<Layout>::refuse_impossible(fragment_name fragment,
                                      const std::source_location& where) const {
    const auto f = to_id<Layout>(fragment.what);
    if (fragment.is_typed() || (!f.is_null() && !is_foreign(f))) return;
    const std::string place = text(" (used at ", place_text(where), ")");
    if (f.is_null()) raise(errc::dead_fragment, text("the null id is no fragment", place));
    raise(errc::foreign_entity, text("fragment ", to_string(f), " belongs to world W:", f.world(),
                                     ", not to W:", number(), place));
}

template <class Layout>
void store<Layout>::receive() {
    if (busy_ >= one_change || depth() != 0 || is_receiving_) return;
    struct receiving {
        store& owner;
        explicit receiving(store& one) : owner(one) { owner.is_receiving_ = true; }
        ~receiving() { owner.is_receiving_ = false; }
    };
    const receiving guard(*this);
    first_error error;
    while (inbox_.has_mail())
        for (recorder* one : inbox_.take_all()) {
            error.attempt([&] { receive_one(*one); });
            const busy_scope nobody_else(*this);
            inbox_.put_back(one);
        }
    // Keys that wait for reuse only this thread can reserve.
    constexpr std::size_t some = 1024;
    if (!pool_.has_open_keys() && inbox_.count_ids() < some / 2) make_ready(some);
    error.rethrow();
}

template <class Layout>
void store<Layout>::receive_at_home() {
    if (home_.load() == this_thread()) receive();
}

template <class Layout>
void store<Layout>::receive_one(recorder& from) {
    std::size_t used = 0;
    first_error error;
    {
        scope whole(*this);
        error.attempt([&] {
            enter(from, 0, from.size(), [&](recorded_change& one) {
                if (one.kind == recorded_kind::spawn) {
                    ++used;
                    if (!pool_.claim_reserved(to_id<Layout>(one.who))) return;
                    if (from.is_discarded()) return void(pool_.destroy(to_id<Layout>(one.who)));
                }
                enter_one(one);
            });
        });
        error.attempt([&] { whole.commit(); });
    }
    make_ready(used);  // for the next, as many as it took
    error.rethrow();
}

/// So many ids wait for buffers to take them, unless they are needed elsewhere, or there is no memory.
template <class Layout>
void store<Layout>::make_ready(std::size_t count) noexcept {
    array_list<std::uint64_t> ready;
    first_error ignored;
    ignored.attempt([&] {
        const std::size_t wanted = smaller(count, pool_.available() / 8);
        ready.reserve(wanted);
        while (ready.size() < wanted) ready.push_back(pool_.reserve_id().value());
    });
    inbox_.put_ids(ready);
}

/// Those that no buffer has.
template <class Layout>
void store<Layout>::give_ids_back() {
    array_list<std::uint64_t> unused;
    inbox_.take_ids(unused, ~std::size_t{0});
    for (const std::uint64_t one : unused) pool_.give_up(to_id<Layout>(one));
}

}  // namespace muster::detail
