// notifier: notifies hooks and observers. Hooks are called before a value is removed and after it is
// inserted or assigned; they may throw, which prevents the change. Observers are notified last,
// when no hook can prevent it any more.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/catalog/component_lookup.hpp>
#include <muster/change/gate.hpp>
#include <muster/change/journal.hpp>
#include <muster/engine/hook_registry.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/storage/transition.hpp>
#include <muster/type/hook_list.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

class open_scope;

/// The stack of open scopes, as far as the notifier needs it: a hook must not leave one open.
class MUSTER_API scope_fence {
public:
    [[nodiscard]] open_scope* innermost() const noexcept { return innermost_; }
    /// Drops the user's scopes that were opened after `kept` became the innermost.
    virtual void drop_scopes(const open_scope* kept) noexcept = 0;
    /// Returns the end of the recorded changes. `rewind` to it drops the later changes, those of
    /// hooks that fail, and restores what they have patched, before their cause is undone.
    [[nodiscard]] virtual journal::position recorded() const noexcept = 0;
    virtual void rewind(const journal::position& to) noexcept = 0;

protected:
    ~scope_fence() = default;
    open_scope* innermost_ = nullptr;
};

/// New entities that have received the same fragments.
struct new_entities {
    id_span all;
    slice<fragment_data* const> fragments;
};

class MUSTER_API notifier : public hook_registry {
public:
    notifier(catalog& fragments, const component_lookup& components,
             const entity_directory& entities, fragment_table& table, chunk_graph& graph,
             sparse_table& sparse, gate& changes, scope_fence& scopes) noexcept
        : hook_registry(fragments, entities, table, changes),
          components_(components),
          graph_(graph),
          sparse_(sparse),
          scopes_(scopes) {}
    notifier(const notifier&) = delete;
    notifier& operator=(const notifier&) = delete;

    // ---- one entity ----------------------------------------------------------------------------

    /// Whether anyone is notified of entities inserted into this chunk, or of their removal.
    [[nodiscard]] bool notifies_insert(chunk_data& into) const noexcept {
        return graph_.refresh(into).notifies_insert || calls_at_birth();
    }
    /// Whether anyone but participants of these fragments is to be notified of an entity that is
    /// created in this chunk. Participants then take part by `prepare_first` and `commit_first`.
    [[nodiscard]] bool notifies_first(chunk_data& into, const chunk_data& given) const noexcept;
    [[nodiscard]] bool notifies_remove(chunk_data& from) const noexcept {
        return graph_.refresh(from).notifies_remove || calls_at_death();
    }
    /// Whether anyone but quiet participants is to be notified of entities removed from this chunk.
    [[nodiscard]] bool notifies_last(chunk_data& from) const noexcept;
    [[nodiscard]] bool notifies_remove_sparse(std::uint64_t e) const;
    /// Whether a fragment of the chunk has hooks of its removal.
    [[nodiscard]] static bool calls_remove(const chunk_data& from) noexcept;
    /// Makes room in the logs of observers for `count` such changes. May throw.
    void prepare(const transition& step, std::size_t count);
    /// Calls the hooks of removed values, before the move. `at` is where the entity is.
    void before(const transition& step, std::uint64_t e, location at);
    /// Calls the hooks of inserted and assigned values, after the move.
    void after(const transition& step, std::uint64_t e, location at);
    /// Logs the change for observers.
    void note(const transition& step, std::uint64_t e) noexcept;

    /// Calls the hooks of an entity that is created, or about to be destroyed.
    void born(std::uint64_t e);
    void dying(std::uint64_t e);
    void call(hook_kind kind, std::uint64_t e, location at, fragment_data& fragment);
    /// Calls the hooks of a value that ends although no change of its entity removes it.
    void ending(std::uint64_t e, location at, fragment_data& fragment);
    /// Calls hooks of this kind, with a value of the caller's choice.
    void run(hook_list& list, hook_kind kind, std::uint64_t e, void* value);
    /// Notifies hooks and observers that a value was changed in place.
    void assigned(std::uint64_t e, fragment_data& fragment);

    // ---- many entities -------------------------------------------------------------------------

    /// Notifies hooks and observers that these entities have received these fragments.
    void inserted(id_span all, slice<fragment_data* const> fragments) {
        const new_entities made{all, fragments};
        inserted({&made, 1});
    }
    void inserted(slice<const new_entities> all);
    /// Makes room in the logs for `count` removals of the entity's fragments. May throw.
    void prepare_removal(std::uint64_t e, std::size_t count);
    /// Logs the removal of all fragments of an entity, or of one. Their values die next.
    void note_removal(std::uint64_t e) noexcept;
    void note_removal(std::uint64_t e, fragment_data& fragment) noexcept;

private:
    void arrive_all(slice<const new_entities> all);
    void call_inserted(const new_entities& made);
    [[nodiscard]] bool calls_remove_sparse(std::uint64_t e) const noexcept;
    void prepare(fragment_data& fragment, hook_kind kind, std::size_t count);
    static void note(fragment_data& fragment, hook_kind kind, std::uint64_t e) noexcept;
    static void arrive(std::uint64_t e, location at, const fragment_data& fragment, bool is_new);

    const component_lookup& components_;
    chunk_graph& graph_;
    sparse_table& sparse_;
    scope_fence& scopes_;
};

}  // namespace MUSTER_NAMESPACE::detail
