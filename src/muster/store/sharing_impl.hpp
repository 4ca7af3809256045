// The part of store_impl.hpp for several threads: parallel phases, in which each thread records its
// own changes, and command buffers. The world's owner thread replays both into the journal, which
// is then applied as usual.
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

    std::optional<pool_sharing<Layout, record_type>> ids;  // of a phase; created on demand
    lane_list lanes;                                       // kept for later phases
    record_type without_components = record_type::live(id_type{});

    [[nodiscard]] static std::vector<part> parts_of(const lane_list& lanes);
    void make_lanes(const store& owner, std::size_t count);
    static void merge_lanes(store& owner, std::span<const part> parts);
    static void drop(store& owner, const lane_list& lanes) noexcept;
};

// ---- phases ------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::begin_phase() {
    refuse_in_change("a parallel phase");
    if (sharing_ == nullptr) sharing_ = new sharing;
    sharing_->make_lanes(*this, 1);
    busy_ |= parallel_bit;
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
    busy_ &= ~parallel_bit;
    if (lane& first = *sharing_->lanes.front(); !sharing_->ids && first.changes.size() == 0)
        return first.marks.clear();  // a single lane without changes
    first_error error;
    bool has_records = false;
    error.attempt([&] {
        if (sharing_->ids) sharing_->ids->end();
        has_records = true;
    });
    sharing_->ids.reset();
    // Hooks may begin another phase while this one is applied; it must not use these lanes.
    typename sharing::lane_list lanes = std::exchange(sharing_->lanes, {});
    std::vector<typename sharing::part> parts;
    bool has_parts = false;
    if (is_kept && has_records)
        error.attempt([&] {
            parts = sharing::parts_of(lanes);
            has_parts = true;
        });
    if (has_parts)
        error.attempt([&] { sharing::merge_lanes(*this, parts); });
    else
        sharing::drop(*this, lanes);
    for (const std::unique_ptr<lane>& worker : lanes) {
        const busy_guard busy(*this);
        worker->changes.rewind({});
        worker->marks.clear();
    }
    if (sharing_->lanes.size() < lanes.size()) sharing_->lanes = std::move(lanes);
    error.rethrow();
}

/// Returns the parts in the order in which a single thread would have recorded them.
template <class Layout>
auto store<Layout>::sharing::parts_of(const lane_list& lanes) -> std::vector<part> {
    std::vector<part> parts;
    for (const std::unique_ptr<lane>& worker : lanes)
        for (std::size_t i = 0; i < worker->marks.size(); ++i) {
            const bool is_last = i + 1 == worker->marks.size();
            parts.push_back({worker.get(), worker->marks[i],
                             is_last ? worker->changes.size() : worker->marks[i + 1].first});
        }
    std::sort(parts.begin(), parts.end(), [](const part& a, const part& b) {
        return a.begin.work != b.begin.work ? a.begin.work < b.begin.work
                                            : a.begin.row < b.begin.row;
    });
    return parts;
}

template <class Layout>
void store<Layout>::sharing::merge_lanes(store& owner, std::span<const part> parts) {
    scope whole(owner);
    first_error error;
    for (const part& section : parts)
        error.attempt([&] {
            owner.replay(section.from->changes, section.begin.first, section.end,
                         [&](recorded_change& change) { owner.replay_change(change); });
        });
    error.attempt([&] { whole.commit(); });
    error.rethrow();
}

/// Destroys the ids that were created in the phase.
template <class Layout>
void store<Layout>::sharing::drop(store& owner, const lane_list& lanes) noexcept {
    for (const std::unique_ptr<lane>& worker : lanes)
        for (std::uint32_t i = 0; i < worker->changes.size(); ++i)
            if (const recorded_change& change = worker->changes.at(i);
                change.kind == recorded_kind::spawn)
                owner.rollback_spawn(to_id<Layout>(change.id));
}

template <class Layout>
lane& store<Layout>::my_lane(const char* call) const {
    lane* const found = find_lane(this);
    if (found == nullptr)
        raise(errc::in_scope,
              text(call,
                   " is not possible now: the world is in a parallel phase and this thread is "
                   "not part of it; record the change in a command_buffer"));
    return *found;
}

template <class Layout>
auto store<Layout>::shared_id() -> id_type {
    if (!sharing_->ids) share_phase(1);  // only lane 0 exists: no other thread runs yet
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
lane& store<Layout>::require_shared(at_type target, const char* call) const {
    lane& mine = my_lane(call);
    if (!alive(target.id)) raise_not_alive(target, call);
    return mine;
}

template <class Layout>
const fragment_data& store<Layout>::find_named(fragment_name name) const noexcept {
    return name.is_typed() ? fragments_.find(static_cast<type_index>(name.what))
                           : fragments_.lookup(name.what);
}

template <class Layout>
bool store<Layout>::share_default(at_type target, recorded_kind kind,
                                  std::span<const fragment_name> set, const char* call) {
    recorder& into = require_shared(target, call).changes;
    recording all(into);
    bool is_new = kind == recorded_kind::set_default;
    for (const fragment_name name : set) {
        const fragment_data& known = find_named(name);
        if (!name.is_typed() && &known == &no_fragment && !alive(to_id<Layout>(name.what)))
            raise_no_fragment(to_id<Layout>(name.what), "used", &target.where);
        const bool is_known = &known != &no_fragment && known.type != nullptr;
        if (is_known ? !known.has_default() : name.is_typed() && !name.type->can_construct())
            raise_no_default(known, name.is_typed() ? name.type->name : known.name);
        into.add(kind, target.id.value(), name).where = target.where;
        is_new = is_new || !has(target.id, known);
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
    if (!fits && !known.is_untyped)
        raise_mismatch(known, value == no_type ? std::string_view{} : type.name, "used", where);
}

/// Returns this thread's lane, or null if the entity is dead. Throws if it is of another world.
template <class Layout>
lane* store<Layout>::find_shared(at_type target, const char* call) const {
    lane& mine = my_lane(call);
    if (alive(target.id)) return &mine;
    if (is_foreign(target.id)) raise_not_alive(target, call);
    return nullptr;
}

template <class Layout>
bool store<Layout>::share_remove(at_type target, std::span<const fragment_name> set) {
    lane* const mine = find_shared(target, "remove");
    if (mine == nullptr) return false;
    recording all(mine->changes);
    bool has_one = false;
    for (const fragment_name name : set) {
        mine->changes.add(recorded_kind::remove, target.id.value(), name);
        has_one = has_one || has(target.id, find_named(name));
    }
    all.keep();
    return has_one;
}

template <class Layout>
bool store<Layout>::share_clear(at_type target) {
    lane* const mine = find_shared(target, "clear");
    if (mine == nullptr) return false;
    mine->changes.add(recorded_kind::clear, target.id.value());
    return has_any(target.id);
}

template <class Layout>
bool store<Layout>::share_destroy(at_type target) {
    lane* const mine = find_shared(target, "destroy");
    if (mine == nullptr) return false;
    recorded_change& made = mine->changes.add(recorded_kind::destroy, target.id.value());
    made.where = target.where;
    made.system = mine->system;
    return true;
}

// ---- thread checks -----------------------------------------------------------------------------

template <class Layout>
bool store<Layout>::begin_writing(const char* call) {
    if (is_parallel()) return false;
    const std::uintptr_t me = this_thread();
    std::uintptr_t other = 0;
    if (writer_.compare_exchange(other, me)) {
        writer_call_.store(call);
    } else if (other != me) {
        const char* const theirs = writer_call_.load();
        raise(errc::second_writer,
              text(call, " on one thread while another is in ", theirs == nullptr ? call : theirs,
                   " of the same world W:", number(),
                   ": only one thread at a time may change a world. Record the change in a "
                   "command_buffer or use par_each"));
    }
    ++writings_;
    return true;
}

template <class Layout>
void store<Layout>::end_writing() noexcept {
    if (--writings_ == 0) writer_.store(0);
}

template <class Layout>
void store<Layout>::check_access(type_index type, bool may_write, std::string_view name) const {
    const lane* const mine = find_lane(this);
    if (mine == nullptr || mine->work >= mine->works.size()) return;
    const system_accesses& own = mine->works[mine->work];
    const auto is_it = [&](const access& use) { return use.type == type; };
    if (own.system.empty() || std::ranges::any_of(own.touched, is_it)) return;
    for (const system_accesses& other : mine->works)
        for (const access& use : other.touched)
            if (is_it(use) && (use.is_written || may_write))
                raise(errc::undeclared_access,
                      text("undeclared access to ", name, " while system \"", other.system, "\" ",
                           use.is_written ? "writes" : "reads", " it: declare reads<", name,
                           ">() or writes<", name, ">(), or read it through a const world"));
}

// ---- replaying into the journal ----------------------------------------------------------------

/// Replays changes in an open scope. A call that fails is left out as a whole; the first exception
/// is thrown at the end.
template <class Layout>
template <class Replay>
void store<Layout>::replay(recorder& from, std::uint32_t first, std::uint32_t last,
                           Replay replay_change_to) {
    first_error error;
    while (first < last) {
        const journal::position start = journal_.now();
        bool is_done = false;
        std::uint32_t end = first + 1;
        while (end < last && !from.at(end).begins_call) ++end;
        error.attempt([&] {
            for (std::uint32_t i = first; i < end; ++i) replay_change_to(from.at(i));
            is_done = true;
        });
        if (!is_done) rewind(start);
        first = end;
    }
    error.rethrow();
}

template <class Layout>
void store<Layout>::replay_change(recorded_change& change) {
    const at_type target(to_id<Layout>(change.id), change.where);
    switch (change.kind) {
    case recorded_kind::spawn: {
        struct lost {
            store& owner;
            id_type made;
            bool is_done = false;
            ~lost() {
                if (!is_done) owner.rollback_spawn(made);
            }
        };
        lost guard{*this, target.id};
        journal_.reserve_one();
        journal_.record_spawn(change.id);
        guard.is_done = true;
        break;
    }
    case recorded_kind::put:
    case recorded_kind::keep: replay_value(change); break;
    case recorded_kind::set_default:
    case recorded_kind::add_default: {
        fragment_data& fragment =
            change.fragment.is_typed()
                ? ensure_fragment(static_cast<type_index>(change.fragment.what),
                                  *change.fragment.type)
                : typed_or_tag(to_id<Layout>(change.fragment.what), &change.where);
        record_default(
            target,
            change.kind == recorded_kind::set_default ? change_kind::put : change_kind::keep,
            fragment);
        break;
    }
    case recorded_kind::remove: {
        fragment_data* const known = fragments_.find(find_named(change.fragment).id);
        if (known != nullptr) journal_.add(change.id, change_kind::remove, known);
        break;
    }
    case recorded_kind::clear: journal_.add(change.id, change_kind::clear, nullptr); break;
    case recorded_kind::destroy: {
        const system_guard acts(*this, change.system);
        (void)record_destroy(target);
        break;
    }
    }
}

template <class Layout>
void store<Layout>::replay_value(recorded_change& change) {
    fragment_data& fragment =
        change.fragment.is_typed()
            ? ensure_fragment(static_cast<type_index>(change.fragment.what), *change.type)
            : ensure_fragment(to_id<Layout>(change.fragment.what), change.value_type, *change.type,
                              &change.where);
    const change_kind kind =
        change.kind == recorded_kind::put ? change_kind::put : change_kind::keep;
    journal_entry& made = journal_.add(change.id, kind, &fragment);
    const bool is_sparse = fragment.sparse_values != nullptr;
    if (change.value == nullptr && !is_sparse) return;
    if (!is_sparse && depth() == 1) {  // applied before the recorder's memory is reused
        made.value = std::exchange(change.value, nullptr);
        return;
    }
    void* const room = take_room(made);
    if (change.value == nullptr) return;
    const busy_guard busy(*this);
    if (change.type->relocate != nullptr)
        change.type->relocate(room, change.value, 1);
    else
        std::memcpy(room, change.value, change.type->size);
    change.value = nullptr;
    made.value = room;
}

// ---- command buffers ---------------------------------------------------------------------------

template <class Layout>
void store<Layout>::reserve_ids(array_list<std::uint64_t>& out) {
    const std::size_t few = pool_.fair_count();
    out.reserve(few);
    submissions_.take_ids(out, few);
    if (!out.empty()) return;
    const auto taken = pool_.take_keys(few);
    if (taken.count == 0)
        raise(errc::id_overflow,
              "no reserved key is left for command buffers: if any is free, the world's thread "
              "reserves more when it processes a system or calls apply_submitted()");
    for (std::uint64_t i = taken.count; i != 0; --i)
        out.push_back(pool_.id_of_taken(taken.first + i - 1).value());
}

template <class Layout>
void store<Layout>::refuse_impossible(at_type target, const char* call) const {
    if (is_foreign(target.id)) raise_not_alive(target, call);
    if (target.id.is_null())  // other errors need the state of the world
        raise(errc::dead_entity,
              text("the null id names no entity (", call, " at ", place_text(target.where), ")"));
}

template <class Layout>
void store<Layout>::refuse_impossible(fragment_name fragment,
                                      const std::source_location& where) const {
    const auto f = to_id<Layout>(fragment.what);
    if (fragment.is_typed() || (!f.is_null() && !is_foreign(f))) return;
    const std::string place = text(" (used at ", place_text(where), ")");
    if (f.is_null()) raise(errc::dead_fragment, text("the null id names no fragment", place));
    raise(errc::foreign_entity, text("fragment ", to_string(f), " belongs to world W:", f.world(),
                                     ", not to W:", number(), place));
}

template <class Layout>
void store<Layout>::apply_submitted() {
    if (busy_ >= change_unit || depth() != 0 || is_applying_submitted_) return;
    struct receiving {
        store& owner;
        explicit receiving(store& parent) : owner(parent) { owner.is_applying_submitted_ = true; }
        ~receiving() { owner.is_applying_submitted_ = false; }
    };
    const receiving guard(*this);
    first_error error;
    while (submissions_.has_submissions())
        for (recorder* buffer : submissions_.take_all()) {
            error.attempt([&] { apply_submission(*buffer); });
            const busy_guard busy(*this);
            submissions_.put_back(buffer);
        }
    // Only this thread can reserve keys of the free list, and no other keys are left.
    constexpr std::size_t some = 1024;
    if (!pool_.has_open_keys() && submissions_.count_ids() < some / 2) make_ready(some);
    error.rethrow();
}

template <class Layout>
void store<Layout>::apply_submitted_on_owner() {
    if (owner_thread_.load() == this_thread()) apply_submitted();
}

template <class Layout>
void store<Layout>::apply_submission(recorder& from) {
    std::size_t used = 0;
    first_error error;
    {
        scope whole(*this);
        error.attempt([&] {
            replay(from, 0, from.size(), [&](recorded_change& change) {
                if (change.kind == recorded_kind::spawn) {
                    ++used;
                    if (!pool_.claim_reserved(to_id<Layout>(change.id))) return;
                    if (from.is_discarded()) return void(pool_.destroy(to_id<Layout>(change.id)));
                }
                replay_change(change);
            });
        });
        error.attempt([&] { whole.commit(); });
    }
    make_ready(used);  // replaces the reserved ids that were used
    error.rethrow();
}

/// Reserves up to `count` ids for command buffers; fewer if keys or memory are short.
template <class Layout>
void store<Layout>::make_ready(std::size_t count) noexcept {
    array_list<std::uint64_t> ready;
    first_error ignored;
    ignored.attempt([&] {
        const std::size_t wanted = smaller(count, pool_.available() / 8);
        ready.reserve(wanted);
        while (ready.size() < wanted) ready.push_back(pool_.reserve_id().value());
    });
    submissions_.put_ids(ready);
}

/// Releases the reserved ids that no command buffer holds.
template <class Layout>
void store<Layout>::give_ids_back() {
    array_list<std::uint64_t> unused;
    submissions_.take_ids(unused, ~std::size_t{0});
    for (const std::uint64_t id : unused) pool_.give_up(to_id<Layout>(id));
}

}  // namespace muster::detail
