#include <muster/base/error.hpp>
#include <muster/base/first_error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/run.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

struct parallel_recorder::lanes {
    std::vector<std::unique_ptr<lane>> all;  // kept for later phases
};

parallel_recorder::~parallel_recorder() {
    delete lanes_;
}

// ---- phases ------------------------------------------------------------------------------------

void parallel_recorder::begin_phase() {
    engine_.gate.refuse_in_change("a parallel phase");
    if (lanes_ == nullptr) lanes_ = new lanes;
    make_lanes(1);
    engine_.gate.begin_phase();
}

void parallel_recorder::share_phase(std::size_t count) {
    make_lanes(count);
    engine_.entities.begin_sharing();
}

void parallel_recorder::make_lanes(std::size_t count) {
    while (lanes_->all.size() < count) {
        lanes_->all.push_back(std::make_unique<lane>());
        lanes_->all.back()->store = &engine_;
    }
}

lane& parallel_recorder::lane_at(std::size_t index) const noexcept {
    return *lanes_->all[index];
}

std::uint32_t parallel_recorder::depth() const noexcept {
    return engine_.gate.depth();
}

void parallel_recorder::end_phase(bool is_kept) {
    engine_.gate.end_phase();
    engine_.notifier.remove_abandoned();
    const bool is_sharing = engine_.entities.is_sharing();
    if (lane& first = *lanes_->all.front(); !is_sharing && first.changes.size() == 0)
        return first.marks.clear();  // a single lane without changes
    first_error error;
    bool has_records = !is_sharing;
    if (is_sharing)
        error.attempt([&] {
            engine_.entities.end_sharing();
            has_records = true;
        });
    // Hooks may begin another phase while this one is applied; it must not use these lanes.
    lanes ended;
    ended.all.swap(lanes_->all);
    array_list<part> parts;
    bool has_parts = false;
    if (is_kept && has_records)
        error.attempt([&] {
            for (const std::unique_ptr<lane>& worker : ended.all)
                for (std::size_t i = 0; i < worker->marks.size(); ++i) {
                    const bool is_last = i + 1 == worker->marks.size();
                    parts.push_back(
                        {worker.get(), worker->marks[i],
                         is_last ? worker->changes.size() : worker->marks[i + 1].first});
                }
            has_parts = true;
        });
    if (has_parts)
        error.attempt([&] { merge(parts); });
    else
        drop(ended);
    for (const std::unique_ptr<lane>& worker : ended.all) {
        const busy_guard busy(engine_.gate);
        worker->changes.rewind({});
        worker->marks.clear();
    }
    if (lanes_->all.size() < ended.all.size()) lanes_->all.swap(ended.all);
    error.rethrow();
}

/// Replays the parts in the order in which a single thread would have recorded them.
void parallel_recorder::merge(array_list<part>& parts) {
    std::ranges::sort(parts, [](const part& a, const part& b) {
        return a.begin.work != b.begin.work ? a.begin.work < b.begin.work
                                            : a.begin.row < b.begin.row;
    });
    scope whole(engine_);
    first_error error;
    for (const part& section : parts)
        error.attempt([&] {
            replay(section.from->changes, section.begin.first, section.end,
                   [&](recorded_change& recorded) { replay_change(recorded); });
        });
    error.attempt([&] { whole.commit(); });
    error.rethrow();
}

/// Destroys the ids that were created in the phase.
void parallel_recorder::drop(const lanes& ended) noexcept {
    for (const std::unique_ptr<lane>& worker : ended.all)
        for (std::uint32_t i = 0; i < worker->changes.size(); ++i)
            if (const recorded_change& recorded = worker->changes.at(i);
                recorded.kind == change_kind::spawn)
                engine_.destroyer.rollback_spawn(recorded.id);
}

// ---- calls in a phase --------------------------------------------------------------------------

/// Returns this thread's lane. Throws `errc::in_scope` if it has no part in the phase.
lane& parallel_recorder::my_lane(const char* call) const {
    lane* const found = find_lane(&engine_);
    if (found == nullptr)
        raise(errc::in_scope,
              text(call,
                   " is not possible now: the world is in a parallel phase and this thread is "
                   "not part of it; record the change in a command_buffer"));
    return *found;
}

/// Returns this thread's lane, or null if the entity is dead. Throws if it is of another world.
lane* parallel_recorder::find_living(target of, const char* call) const {
    lane& mine = my_lane(call);
    if (engine_.entities.alive(of.id)) return &mine;
    if (engine_.entities.is_foreign(of.id)) engine_.errors.raise_not_alive(of, call);
    return nullptr;
}

std::uint64_t parallel_recorder::create_id() {
    // Without sharing only lane 0 exists: no other thread runs yet.
    if (!engine_.entities.is_sharing()) share_phase(1);
    return engine_.entities.create_shared();
}

void* parallel_recorder::last_value(const char* call) const {
    const recorder& from = my_lane(call).changes;
    return from.at(from.size() - 1).value;
}

/// Throws if the change does not fit its fragment, judged by the world before the phase.
void parallel_recorder::refuse_misfit(const change& given,
                                      const std::source_location* where) const {
    engine_.catalog.refuse_misfit(given, where);
    if (!given.is_default) return;
    const fragment_data& known = engine_.catalog.find(given.fragment);
    const bool is_known = &known != &no_fragment && known.type != nullptr;
    if (is_known ? !known.has_default()
                 : given.fragment.is_typed() && !given.fragment.type->can_construct())
        error_reporter::raise_no_default(
            known, given.fragment.is_typed() ? given.fragment.type->name : known.name);
}

bool parallel_recorder::record(const edit& call) {
    recorder& into = my_lane(call.call).changes;
    if (!engine_.entities.alive(call.of.id)) engine_.errors.raise_not_alive(call.of, call.call);
    for (const change& given : call.changes) refuse_misfit(given, &call.of.where);
    recording all(into);
    bool has_all = true;
    for (const change& given : call.changes) {
        into.add(given, call.of);
        has_all =
            has_all && engine_.components.has(call.of.id, engine_.catalog.find(given.fragment));
    }
    all.keep();
    return call.changes[0].kind == change_kind::put || !has_all;
}

std::uint64_t parallel_recorder::record_spawn(slice<change> values) {
    recorder& into = my_lane("spawn").changes;
    for (const change& given : values) refuse_misfit(given, given.place(nullptr));
    recording all(into);
    into.add(change_kind::spawn, 0);
    for (const change& given : values) into.add(given, {0, {}});
    const std::uint64_t made = create_id();
    all.keep(made);
    return made;
}

bool parallel_recorder::record_remove(target of, slice<const fragment_name> set) {
    lane* const mine = find_living(of, "remove");
    if (mine == nullptr) return false;
    recording all(mine->changes);
    bool has_one = false;
    for (const fragment_name name : set) {
        mine->changes.add(change_kind::remove, of.id, name);
        has_one = has_one || engine_.components.has(of.id, engine_.catalog.find(name));
    }
    all.keep();
    return has_one;
}

bool parallel_recorder::record_clear(target of) {
    lane* const mine = find_living(of, "clear");
    if (mine == nullptr) return false;
    mine->changes.add(change_kind::clear, of.id);
    return engine_.components.has_any(of.id);
}

std::size_t parallel_recorder::record_destroy(slice<const std::uint64_t> all,
                                              const std::source_location& where) {
    recording records(my_lane("destroy").changes);
    std::size_t count = 0;
    for (const std::uint64_t e : all)
        if (lane* const mine = find_living({e, where}, "destroy")) {
            recorded_change& made = mine->changes.add(change_kind::destroy, e);
            made.where = where;
            made.system = mine->system;
            ++count;
        }
    records.keep();
    return count;
}

std::uint32_t parallel_recorder::record_touch(target of, const fragment_data& fragment,
                                              std::string_view name, const char* call) {
    recorder& into = my_lane(call).changes;
    // Ignore what other rows record: which of it this thread has seen depends on timing.
    if (!engine_.components.has(of.id, fragment))
        engine_.errors.raise_missing(of, call, name, fragment);
    into.add(change_kind::touch, of.id, {fragment.id}).where = of.where;
    engine_.changes.mark_written(of.id, fragment);
    return into.size() - 1;
}

void parallel_recorder::record_replay(const change& given, const char* call) {
    recording all(my_lane(call).changes);
    my_lane(call).changes.add(given, {0, {}});
    all.keep();
}

void parallel_recorder::forget_touch(std::uint32_t record) const noexcept {
    find_lane(&engine_)->changes.at(record).fragment = {engine_.entities.null()};
}

void parallel_recorder::check_access(type_index type, bool may_write, std::string_view name) const {
    const lane* const mine = find_lane(&engine_);
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
template <class Replay>
void parallel_recorder::replay(recorder& from, std::uint32_t first, std::uint32_t last,
                               Replay replay_one) {
    first_error error;
    while (first < last) {
        std::uint32_t end = first + 1;
        while (end < last && !from.at(end).begins_call) ++end;
        error.attempt([&] {
            record_guard guard(engine_.transaction, engine_.pending);
            for (std::uint32_t i = first; i < end; ++i) replay_one(from.at(i));
            guard.keep();
        });
        first = end;
    }
    error.rethrow();
}

void parallel_recorder::replay_change(recorded_change& recorded) {
    switch (recorded.kind) {
    case change_kind::spawn: {
        scope_guard lost([&] { engine_.destroyer.rollback_spawn(recorded.id); });
        engine_.pending.reserve_one();
        engine_.pending.record_spawn(recorded.id);
        lost.dismiss();
        break;
    }
    case change_kind::remove:
    case change_kind::touch: {
        const fragment_data& found = engine_.catalog.find(recorded.fragment);
        if (&found != &no_fragment)
            engine_.pending.add(recorded.id, recorded.kind, engine_.fragments.find(found.id));
        break;
    }
    case change_kind::regroup: {
        const fragment_data& found = engine_.catalog.find(recorded.fragment);
        if (&found != &no_fragment)
            engine_.transaction.record_word(recorded.id, *engine_.fragments.find(found.id),
                                            recorded.word);
        break;
    }
    case change_kind::clear: engine_.pending.add(recorded.id, change_kind::clear, nullptr); break;
    case change_kind::destroy: {
        const system_guard acts(engine_, recorded.system);
        (void)engine_.destroyer.record({recorded.id, recorded.where});
        break;
    }
    case change_kind::replay: recorded.replay(engine_, recorded); break;
    default: replay_value(recorded);
    }
}

void parallel_recorder::replay_value(recorded_change& recorded) {
    const change given{.fragment = recorded.fragment, .type = recorded.type};
    if (recorded.is_default) {
        fragment_data& fragment =
            recorded.fragment.is_typed()
                ? engine_.catalog.ensure(given, &recorded.where)
                : engine_.catalog.typed_or_tag(recorded.fragment.what, &recorded.where);
        return engine_.transaction.record_default(recorded.id, recorded.kind, fragment);
    }
    fragment_data& fragment = engine_.catalog.ensure(given, &recorded.where);
    journal_entry& made = engine_.pending.add(recorded.id, recorded.kind, &fragment);
    const bool is_sparse = fragment.sparse_values != nullptr;
    if (recorded.value == nullptr && !is_sparse) return;
    if (!is_sparse && engine_.depth() == 1) {  // applied before the recorder's memory is reused
        made.value = std::exchange(recorded.value, nullptr);
        return;
    }
    void* const room = engine_.transaction.take_room(made);
    if (recorded.value == nullptr) return;
    const busy_guard busy(engine_.gate);
    const type_info& type = *recorded.type.info;
    if (type.relocate != nullptr)
        type.relocate(room, recorded.value, 1);
    else
        std::memcpy(room, recorded.value, type.size);
    recorded.value = nullptr;
    made.value = room;
}

// ---- command buffers ---------------------------------------------------------------------------

void parallel_recorder::reserve_ids(array_list<std::uint64_t>& out) {
    const std::size_t few = engine_.entities.fair_count();
    out.reserve(few);
    engine_.submissions.take_ids(out, few);
    if (!out.empty()) return;
    engine_.entities.take_reserved(out);
    if (out.empty())
        raise(errc::id_overflow,
              "no reserved key is left for command buffers: if any is free, the world's thread "
              "reserves more when it processes a system or calls apply_submitted()");
}

void parallel_recorder::refuse_impossible(target of, const char* call) const {
    if (engine_.entities.is_foreign(of.id)) engine_.errors.raise_not_alive(of, call);
    if (of.id == engine_.entities.null())  // other errors need the state of the world
        raise(errc::dead_entity,
              text("the null id names no entity (", call, " at ", place_text(of.where), ")"));
}

void parallel_recorder::refuse_impossible(fragment_name fragment,
                                          const std::source_location& where) const {
    const std::uint64_t f = fragment.what;
    const bool is_null = f == engine_.entities.null();
    if (fragment.is_typed() || (!is_null && !engine_.entities.is_foreign(f))) return;
    if (!is_null) engine_.errors.raise_no_fragment(f, "used", &where);
    raise(errc::dead_fragment,
          text("the null id names no fragment (used at ", place_text(where), ")"));
}

void parallel_recorder::apply_submitted() {
    if (engine_.gate.is_changing() || engine_.depth() != 0 || engine_.gate.is_applying_submitted)
        return;
    engine_.gate.is_applying_submitted = true;
    const scope_guard end([&] { engine_.gate.is_applying_submitted = false; });
    first_error error;
    while (engine_.submissions.has_submissions())
        for (recorder* buffer : engine_.submissions.take_all()) {
            error.attempt([&] { apply_submission(*buffer); });
            const busy_guard busy(engine_.gate);
            engine_.submissions.put_back(buffer);
        }
    // Only this thread can reserve keys of the free list, and no other keys are left.
    constexpr std::size_t some = 1024;
    if (!engine_.entities.has_open_keys() && engine_.submissions.count_ids() < some / 2)
        make_ready(some);
    error.rethrow();
}

void parallel_recorder::apply_submitted_on_owner() {
    if (owner_thread_.load() == this_thread()) apply_submitted();
}

void parallel_recorder::apply_submission(recorder& from) {
    std::size_t used = from.is_discarded() ? from.size() : 0;
    first_error error;
    if (from.is_discarded()) {
        error.attempt([&] { release_spawned(from); });
    } else {
        scope whole(engine_);
        error.attempt([&] {
            replay(from, 0, from.size(), [&](recorded_change& recorded) {
                if (recorded.kind == change_kind::spawn) {
                    ++used;
                    if (!engine_.entities.claim_reserved(recorded.id)) return;
                }
                replay_change(recorded);
            });
        });
        error.attempt([&] { whole.commit(); });
    }
    make_ready(used);  // replaces the reserved ids that were used
    error.rethrow();
}

/// Reserves up to `count` ids for command buffers; fewer if keys or memory are short.
void parallel_recorder::make_ready(std::size_t count) noexcept {
    array_list<std::uint64_t> ready;
    first_error ignored;
    ignored.attempt([&] {
        const std::size_t wanted = smaller(count, (engine_.entities.available() + 7) / 8);
        ready.reserve(wanted);
        while (ready.size() < wanted) ready.push_back(engine_.entities.reserve_id());
    });
    engine_.submissions.put_ids(ready);
}

/// Spends the versions of the ids that discarded commands have handed out, and frees the keys.
void parallel_recorder::release_spawned(recorder& from) {
    for (std::uint32_t i = 0; i < from.size(); ++i)
        if (engine_.entities.claim_reserved(from.at(i).id))
            (void)engine_.entities.destroy(from.at(i).id);
}

void parallel_recorder::release_discarded() {
    first_error error;
    for (recorder* buffer : engine_.submissions.take_discarded()) {
        error.attempt([&] { release_spawned(*buffer); });
        engine_.submissions.put_back(buffer);
    }
    error.rethrow();
}

void parallel_recorder::release_unused() {
    first_error error;
    error.attempt([&] { release_discarded(); });
    error.attempt([&] { release_kept(); });
    error.rethrow();
}

void parallel_recorder::release_key_of(std::uint64_t wanted) {
    release_discarded();
    const std::uint64_t key_mask = engine_.entities.key_of(~std::uint64_t{0});
    std::uint64_t kept = 0;
    if (engine_.submissions.take_id(wanted, key_mask, kept)) engine_.entities.give_up(kept);
}

void parallel_recorder::release_kept() {
    array_list<std::uint64_t> kept;
    std::size_t done = 0;
    const scope_guard keep_rest([&] {
        kept.erase(kept.begin(), kept.begin() + done);
        engine_.submissions.put_ids(kept);
    });
    engine_.submissions.take_ids(kept, ~std::size_t{0});
    for (; done < kept.size(); ++done) engine_.entities.give_up(kept[done]);
}

void parallel_recorder::collect_garbage() {
    release_kept();
    engine_.submissions.trim();
    if (lanes_ != nullptr) lanes_->all.clear();
}

}  // namespace MUSTER_NAMESPACE::detail
