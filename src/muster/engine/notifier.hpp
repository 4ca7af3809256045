// notifier: hooks and observers. Hooks are called before a value is removed and after it is
// inserted or assigned; they may throw, which prevents the change. Observers are notified last,
// when no hook can prevent it any more.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/atomic_word.hpp>
#include <muster/base/slice.hpp>
#include <muster/catalog/catalog.hpp>
#include <muster/catalog/component_lookup.hpp>
#include <muster/change/gate.hpp>
#include <muster/change/journal.hpp>
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

class MUSTER_API notifier {
public:
    notifier(catalog& fragments, const component_lookup& components,
             const entity_directory& entities, fragment_table& table, chunk_graph& graph,
             sparse_table& sparse, gate& changes, scope_fence& scopes) noexcept
        : catalog_(fragments),
          components_(components),
          entities_(entities),
          fragments_(table),
          graph_(graph),
          sparse_(sparse),
          gate_(changes),
          scopes_(scopes) {}
    notifier(const notifier&) = delete;
    notifier& operator=(const notifier&) = delete;

    // ---- one entity ----------------------------------------------------------------------------

    /// Whether hooks are called when an entity is created, or destroyed.
    [[nodiscard]] bool calls_at_birth() const noexcept { return entity_hooks_.has(insert_hooks); }
    [[nodiscard]] bool calls_at_death() const noexcept { return entity_hooks_.has(remove_hooks); }
    /// Whether anyone is notified of entities inserted into this chunk, or of their removal.
    [[nodiscard]] bool notifies_insert(chunk_data& into) const noexcept {
        return graph_.refresh(into).notifies_insert || calls_at_birth();
    }
    [[nodiscard]] bool notifies_remove(chunk_data& from) const noexcept {
        return graph_.refresh(from).notifies_remove || calls_at_death();
    }
    [[nodiscard]] bool notifies_remove_sparse(std::uint64_t e) const;
    /// Whether a fragment of the chunk has hooks of its removal.
    [[nodiscard]] static bool calls_remove(const chunk_data& from) noexcept;
    /// Whether any hook or observer is connected.
    [[nodiscard]] bool has_any() const noexcept {
        return entity_hooks_.kinds() != 0 || fragments_.has_hooks();
    }

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

    // ---- hooks and observers -------------------------------------------------------------------

    /// Adds a hook of a fragment. Returns its number.
    std::uint64_t add(fragment_data& fragment, hook_kind kind, hook_function&& made);
    /// Adds a hook of the creation or destruction of entities.
    std::uint64_t add(hook_kind kind, hook_function&& made);
    /// The null id stands for the hooks of entities. False in a parallel phase, which may not change
    /// hooks.
    bool connect(std::uint64_t f, std::uint64_t number, bool is_wanted) noexcept;
    bool remove(std::uint64_t f, std::uint64_t number) noexcept;
    [[nodiscard]] bool is_connected(std::uint64_t f, std::uint64_t number) const noexcept;

    /// Logs changes of the fragments that the log subscribes to, until the log is removed.
    void add_observer(change_log& log);
    /// O(fragments that the log subscribes to), like `connect_observer`.
    void remove_observer(change_log& log) noexcept;
    void subscribe(change_log& log, fragment_data& fragment, unsigned kinds);
    /// Returns false in a parallel phase, as `connect` and `remove` do.
    bool connect_observer(change_log& log, bool is_wanted) noexcept;
    /// Collects the last values of a fragment until the log is removed, as for `add_observer`.
    void add_value_log(value_log& log, fragment_data& fragment, void (*move)(void* to, void* from));
    void remove_value_log(const value_log& log) noexcept;
    void connect_value_log(value_log& log, bool is_wanted) noexcept;
    /// Like `remove`; in a parallel phase, the hook is removed when the phase ends.
    void abandon(std::uint64_t f, std::uint64_t number) noexcept;
    /// Removes what was abandoned in a parallel phase: hooks, and the logs of observers.
    void remove_abandoned() noexcept;
    /// Clears the logs of all observers, and ends their subscriptions.
    void end_observers() noexcept;

private:
    void call_inserted(const new_entities& made);
    [[nodiscard]] bool calls_remove_sparse(std::uint64_t e) const noexcept;
    void prepare(fragment_data& fragment, hook_kind kind, std::size_t count);
    static void note(fragment_data& fragment, hook_kind kind, std::uint64_t e) noexcept;
    static void arrive(std::uint64_t e, location at, const fragment_data& fragment, bool is_new);
    [[nodiscard]] hook_list* find_list(std::uint64_t f) const noexcept;
    void refresh(std::uint64_t f) noexcept;

    catalog& catalog_;
    const component_lookup& components_;
    const entity_directory& entities_;
    fragment_table& fragments_;
    chunk_graph& graph_;
    sparse_table& sparse_;
    gate& gate_;
    scope_fence& scopes_;
    hook_list entity_hooks_;
    atomic_word<std::uint8_t> has_abandoned_;  // a hook was abandoned in the current phase
    array_list<change_log*> observers_;        // each at its `order`
    array_list<value_log*> value_logs_;
};

}  // namespace MUSTER_NAMESPACE::detail
