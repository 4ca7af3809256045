// engine: the parts of a world that do not depend on its layout, in the order in which calls need
// them. `store` derives from it and adds the entities and the fast paths.
//
//     notifier, row_mover  ◄── applier  ◄── entity_changes, batch, spawner, destroyer
//              │                  ▲              │
//     catalog, component_lookup,  └────────  transaction ──► journal
//     errors   │                                 ▲
//     fragments, graph, sparse             parallel_recorder ──► lanes, submission_queue
//
// `entity_changes`, `batch`, `spawner`, `destroyer` and `parallel_recorder` are the calls; each
// applies its changes at once, or records them.
#pragma once

#include <muster/base/arena.hpp>
#include <muster/base/lifetime.hpp>
#include <muster/catalog/catalog.hpp>
#include <muster/catalog/component_lookup.hpp>
#include <muster/catalog/error_reporter.hpp>
#include <muster/change/gate.hpp>
#include <muster/change/journal.hpp>
#include <muster/change/submission_queue.hpp>
#include <muster/change/writer_check.hpp>
#include <muster/engine/applier.hpp>
#include <muster/engine/batch.hpp>
#include <muster/engine/destroyer.hpp>
#include <muster/engine/entity_changes.hpp>
#include <muster/engine/extensions.hpp>
#include <muster/engine/notifier.hpp>
#include <muster/engine/open_scope.hpp>
#include <muster/engine/parallel_recorder.hpp>
#include <muster/engine/row_exchange.hpp>
#include <muster/engine/row_mover.hpp>
#include <muster/engine/sorter.hpp>
#include <muster/engine/spawner.hpp>
#include <muster/engine/transaction.hpp>
#include <muster/engine/write_tracker.hpp>
#include <muster/entity/destroy_marks.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/entity/name_table.hpp>
#include <muster/entity/provenance.hpp>
#include <muster/id/world_number.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/storage/sparse_table.hpp>
#include <muster/type/fragment_table.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct MUSTER_API engine {
    /// What the engine has to know of a layout.
    struct layout_facts {
        const type_info& id_type;
        std::size_t chunk_limit;
        std::size_t row_limit;
        sparse_set::id_shape ids;
    };

    engine(entity_directory& directory, world_number&& taken, const layout_facts& facts,
           bool keeps_provenance, settings of_file = {});
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    ~engine();

    /// Ends all entities, then the extensions. Afterwards the world is read-only; destructors of
    /// components may still query it. `unused_version`: see `world_number::retire_versions`.
    void end(std::uint64_t unused_version) noexcept;
    void collect_garbage();

    // The members that every call reads come first: one cache line, then the tables.
    alignas(64) detail::gate gate;
    destroy_marks marks;
    bundle_index bundles;
    chunk_graph graph;
    fragment_table fragments;
    sparse_table sparse;

    entity_directory& entities;
    world_number number;
    journal pending;
    name_table names;
    provenance deaths;
    arena scratch;  // memory for the current change
    component_lookup components;
    error_reporter errors;
    detail::catalog catalog;
    write_tracker writes;
    detail::transaction transaction;
    detail::notifier notifier;
    row_mover mover;
    detail::applier applier;
    entity_changes changes;
    detail::batch batch;
    detail::spawner spawner;
    detail::destroyer destroyer;
    detail::sorter sorter;
    row_exchange exchange;
    parallel_recorder parallel;
    submission_queue submissions;
    writer_check writer;
    detail::extensions extensions{gate};
    std::string_view current_system;  // the running system; empty: none. See `system_guard`
    // The last member, so that it ends first: functions of hooks and default values, which are
    // destroyed after it, may own handles of this world.
    lifetime life;

    /// Whether a change must be recorded in the journal.
    [[nodiscard]] std::uint32_t depth() const noexcept { return gate.depth(); }
};

static_assert(sizeof(gate) == 16 && sizeof(destroy_marks) == 24 && sizeof(bundle_index) == 24,
              "the members that every call reads share a cache line");

/// Guard: until it is destroyed, changes are attributed to this system in error messages.
class system_guard {
public:
    system_guard(engine& owner, std::string_view name) noexcept
        : engine_(owner), before_(owner.current_system) {
        owner.current_system = name;
    }
    system_guard(const system_guard&) = delete;
    system_guard& operator=(const system_guard&) = delete;
    ~system_guard() { engine_.current_system = before_; }

private:
    engine& engine_;
    std::string_view before_;
};

/// Guard: until it is destroyed, changes on other threads throw `errc::second_writer`. Costs
/// nothing unless the build checks threads.
class writer_guard {
public:
    writer_guard([[maybe_unused]] engine& owner, [[maybe_unused]] const char* call) {
        if constexpr (checks_threads)
            if (owner.writer.begin(call, owner.number.value())) check_ = &owner.writer;
    }
    writer_guard(const writer_guard&) = delete;
    writer_guard& operator=(const writer_guard&) = delete;
    ~writer_guard() {
        if constexpr (checks_threads)
            if (check_ != nullptr) check_->end();
    }

private:
    [[maybe_unused]] writer_check* check_ = nullptr;
};

// ---- open_scope --------------------------------------------------------------------------------

inline open_scope::open_scope(engine& owner, bool is_users) noexcept(!checks_threads)
    : owner_(&owner),
      outer_(owner.transaction.innermost_),
      start_(owner.pending.peek()),
      is_users_(is_users) {
    if (owner.gate.is_parallel()) [[unlikely]] {
        owner_ = nullptr;
        return;
    }
    owner.pending.capture();  // not in a phase, where other threads open scopes, too
    if constexpr (checks_threads)
        (void)owner.writer.begin("a loop or another scope", owner.number.value());
    if (outer_ != nullptr) outer_->inner_ = this;
    owner.transaction.innermost_ = this;
    owner.gate.open_scope();
}

inline open_scope::open_scope(open_scope&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      inner_(other.inner_),
      outer_(other.outer_),
      start_(other.start_),
      is_users_(other.is_users_),
      is_cancelled_(other.is_cancelled_) {
    if (owner_ != nullptr) owner_->transaction.replace(other, this);
}

inline void open_scope::end() noexcept {
    engine& owner = *std::exchange(owner_, nullptr);
    if constexpr (checks_threads) owner.writer.end();
    owner.gate.close_scope();
    if (owner.transaction.innermost_ == this) [[likely]]
        owner.transaction.innermost_ = outer_;
    else
        owner.transaction.replace(*this, outer_);
}

inline void open_scope::commit() {
    if (owner_ == nullptr) [[unlikely]]
        return;
    engine& owner = *owner_;
    if (owner.transaction.innermost_ != this || is_cancelled_) [[unlikely]]
        return commit_among_others();
    end();
    if ((!owner.pending.empty() || owner.submissions.has_submissions()) && owner.gate.depth() == 0)
        owner.transaction.apply_recorded();
}

}  // namespace MUSTER_NAMESPACE::detail
