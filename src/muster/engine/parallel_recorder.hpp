// parallel_recorder: changes of several threads. In a parallel phase each thread records into a lane
// of its own; a command buffer records at any time. The owner thread replays both into the journal,
// in the order of a single thread.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/atomic_word.hpp>
#include <muster/base/slice.hpp>
#include <muster/change/change.hpp>
#include <muster/change/lane.hpp>
#include <muster/change/recorder.hpp>
#include <muster/entity/entity_directory.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct engine;

class MUSTER_API parallel_recorder final : public key_keeper {
public:
    explicit parallel_recorder(engine& owner) noexcept : engine_(owner) {}
    parallel_recorder(const parallel_recorder&) = delete;
    parallel_recorder& operator=(const parallel_recorder&) = delete;
    ~parallel_recorder();

    // ---- phases --------------------------------------------------------------------------------

    /// Begins a phase, until `end_phase`. Throws `errc::in_scope` in another phase or inside a
    /// change. Creates lane 0, for the calling thread; `share_phase` creates more.
    void begin_phase();
    void share_phase(std::size_t lanes);
    [[nodiscard]] lane& lane_at(std::size_t index) const noexcept;
    /// Replays the changes of the lanes into the journal, in their order, or drops them. Applies
    /// them unless a scope is open. Throws the first exception of a change, after all others are
    /// applied.
    void end_phase(bool is_kept);
    /// The number of open scopes of the world.
    [[nodiscard]] std::uint32_t depth() const noexcept;

    // ---- calls in a phase: recorded in the lane of the calling thread --------------------------

    /// Returns whether anything is put, or new, as `entity_changes::submit` does.
    bool record(const edit& call);
    std::uint64_t record_spawn(slice<change> values);
    bool record_remove(target of, slice<const fragment_name> set);
    bool record_clear(target of);
    /// Returns how many of these are alive.
    std::size_t record_destroy(slice<const std::uint64_t> all, const std::source_location& where);
    /// Records that the value was assigned. When the phase ends, hooks and observers are notified, if
    /// the entity still has the value. Throws if it had none before the phase. Returns the number of
    /// the record in this thread's lane.
    std::uint32_t record_touch(target of, const fragment_data& fragment, std::string_view name,
                               const char* call);
    /// Records a change that concerns no entity, which its room replays.
    void record_replay(const change& given, const char* call);
    /// Drops the result of `record_touch`; changes recorded since stay.
    void forget_touch(std::uint32_t record) const noexcept;
    /// Returns the value that this thread has recorded last.
    [[nodiscard]] void* last_value(const char* call) const;
    /// Throws `errc::undeclared_access` if the system of this thread has not declared the access,
    /// and it conflicts with a concurrent system.
    void check_access(type_index type, bool may_write, std::string_view name) const;

    // ---- command buffers -----------------------------------------------------------------------

    /// Reserves ids for a command buffer, at least one. Throws `errc::id_overflow`. Any thread may
    /// call it.
    void reserve_ids(array_list<std::uint64_t>& out);
    /// Throws if an id is null or of another world. Any thread may call it, at any time.
    void refuse_impossible(target of, const char* call) const;
    void refuse_impossible(fragment_name fragment, const std::source_location& where) const;
    /// Applies submitted changes, unless a scope is open.
    void apply_submitted();
    /// Like `apply_submitted`, but does nothing unless called on the world's owner thread.
    void apply_submitted_on_owner();
    void set_owner_thread() noexcept { owner_thread_.store(this_thread()); }
    /// Releases the reserved ids that no command buffer holds, also those of discarded commands.
    void release_unused() override;
    void release_key_of(std::uint64_t wanted) override;
    /// Releases the ids that are kept for later command buffers, and frees the memory of ended ones
    /// and of phases. No phase runs.
    void collect_garbage();

private:
    struct lanes;
    /// Changes that were caused by the same rows.
    struct part {
        lane* from;
        lane::mark begin;
        std::uint32_t end;
    };

    [[nodiscard]] lane& my_lane(const char* call) const;
    [[nodiscard]] lane* find_living(target of, const char* call) const;
    [[nodiscard]] std::uint64_t create_id();
    void make_lanes(std::size_t count);
    void refuse_misfit(const change& given, const std::source_location* where) const;
    void merge(array_list<part>& parts);
    void drop(const lanes& all) noexcept;
    template <class Replay>
    void replay(recorder& from, std::uint32_t first, std::uint32_t last, Replay replay_one);
    void replay_change(recorded_change& recorded);
    void replay_value(recorded_change& recorded);
    void apply_submission(recorder& from);
    void release_spawned(recorder& from);
    void release_kept();
    void release_discarded();
    void make_ready(std::size_t count) noexcept;

    engine& engine_;
    lanes* lanes_ = nullptr;  // owned; a pointer keeps <memory> out of this header
    atomic_word<std::uintptr_t> owner_thread_{this_thread()};  // see `apply_submitted_on_owner`
};

}  // namespace MUSTER_NAMESPACE::detail
