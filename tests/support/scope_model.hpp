// scope_model: the required behaviour of scopes and hooks, written as plainly as possible: a map of
// entities, each a map of fragments and values, and a flat list of pending commands.
//
// The model does not predict the order of rows. Where hooks follow that order (clearing, copying or
// destroying a fragment), it reads the order from the calls that the world made, and checks that
// the order is possible. It also takes the operations of a hook from there, but not the time and
// the arguments of its call.
//
// Entities with equal fragments share a chunk, and a change of a chunk affects all of them or none.
// Sparse fragments are in no chunk: changes that involve them affect one entity at a time.
#pragma once

#include <muster/id/id.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "byte_source.hpp"
#include "scope_words.hpp"

namespace muster::test::scopes {

template <class Layout>
class scope_model {
public:
    using id_type = basic_id<Layout>;
    using op = operation<id_type>;
    using result = outcome<id_type>;
    using call_list = std::vector<called<id_type>>;
    using values = std::map<int, int>;

    struct hook {
        int number;
        hook_event event;
        bool is_connected;
    };
    struct fragment {
        id_type id;
        int kind;
        bool is_made_by_ids = false;
        bool is_alive = true;
        int order = -1;  // of registration; -1: not registered
        bool is_unique = false;
        bool destroys_owners = false;
        std::set<int> needs{};
        int times_destroyed = 0;  // of a C++ type, which can be registered again
        bool is_sparse = false;
    };
    struct observer {
        std::map<int, int> subscribed{};  // kinds of changes, by fragment
        std::set<id_type> log{};
        bool is_paused = false;
        bool has_ended = false;
    };
    static constexpr int added = 1, changed = 2, removed = 4;
    /// The model cannot predict the next step, because it depends on the order of rows.
    struct undecided {};

    /// `calls` are the hook calls of the world, which is always ahead of the model.
    scope_model(const call_list& calls, std::uint64_t number) : calls_(calls), number_(number) {}

    bool alive(id_type e) const { return all_.contains(e); }
    const std::map<id_type, values>& all() const { return all_; }
    std::vector<fragment>& fragments() { return fragments_; }
    std::vector<observer>& observers() { return observers_; }
    std::size_t depth() const { return scopes_.size(); }
    std::size_t consumed() const { return consumed_; }
    bool has(id_type e, int f) const { return alive(e) && all_.at(e).contains(f); }
    std::size_t count(int f) const {
        std::size_t sum = 0;
        for (const auto& [e, has] : all_) sum += has.contains(f) ? 1u : 0u;
        return sum + (unnamed_.contains(f) ? unnamed_count_ : 0u);
    }
    bool is_sparse(int f) const {
        return f >= 0 && fragments_[static_cast<std::size_t>(f)].is_sparse;
    }
    /// A number for the lifetime of a value. A value that is removed and added again has a new
    /// number.
    int life(id_type e, int f) const { return lives_.at({e, f}); }
    bool issued(id_type e) const { return issued_.contains(e); }
    int find_fragment(id_type e) const {
        if (e.is_null()) return -1;
        for (std::size_t i = 0; i < fragments_.size(); ++i)
            if (fragments_[i].id == e && fragments_[i].is_alive) return static_cast<int>(i);
        return -1;
    }
    bool is_foreign(id_type e) const {
        return Layout::world_bits != 0 && !e.is_null() && e.world() != number_;
    }
    /// Registers a fragment on its first use, and that of a C++ type again after it was destroyed.
    void register_fragment(int f) {
        fragment& entry = at(f);
        if (entry.order < 0) entry.order = next_order_++;
        if (f < typed_count) entry.is_alive = true;
    }

    // ---- scopes --------------------------------------------------------------------------------

    int open(bool is_users) {
        scopes_.push_back({queue_.size(), is_users, ++last_scope_});
        return last_scope_;
    }
    /// Scopes may end in any order: an inner scope takes over the changes of an outer scope. Throws
    /// `stopped`.
    void close(int which, bool keeps) {
        const auto found = std::ranges::find(scopes_, which, &scope::number);
        const bool is_kept = keeps && !found->is_cancelled;
        const std::size_t start = found->start;
        if (const auto inner = found + 1; inner != scopes_.end()) {
            inner->start = start;
            inner->is_cancelled |= !is_kept;
        } else if (!is_kept) {
            drop_from(start);
        }
        scopes_.erase(found);
        if (scopes_.empty()) apply_recorded();
    }
    struct stopped {
        int error;
    };

    // ---- one operation -------------------------------------------------------------------------

    /// Applies an operation and returns its outcome. `seen` has the ids that the world created.
    result apply(const op& operation, const result& seen) {
        result made;
        try {
            if (!scopes_.empty() || is_immediate(operation.what)) {
                record(operation, seen, made);
            } else if (is_many(operation.what)) {
                make_many(operation, seen, made);
            } else if (operation.what == verb::patch) {
                patch_now(operation, made);
            } else {
                const int whole = open(false);
                is_outside_ = true;
                try {
                    record(operation, seen, made);
                } catch (const stopped&) {
                    is_outside_ = false;
                    close(whole, false);
                    throw;
                }
                is_outside_ = false;
                finish(whole, made.made);
                if (operation.what == verb::make_tag || operation.what == verb::make_fragment) {
                    require(made.made[0]);  // a hook may have destroyed it
                    add_fragment(operation, made.made[0]);
                }
            }
            show_value(operation, made);
        } catch (const stopped& why) {
            made = {why.error, 0, {}};
        }
        return made;
    }

    [[noreturn]] static void differ(const std::string& how) { throw difference(how); }

private:
    enum class change {
        spawn,
        put,
        keep,
        touch,
        save,  // the value before a patch
        remove,
        clear,
        destroy,
        clear_fragment,
        copy_fragment,
        destroy_fragment,
        batch_set,
        batch_add,
        batch_remove,
        batch_clear,
        batch_destroy
    };
    struct command {
        change what;
        id_type e;
        int slot = -1;
        int value = 0;
        int target = -1;  // of copy_fragment
        bool is_done = false;
        int with = -1;  // of batches
        int without = -1;
        std::optional<std::size_t> saved_from{};  // of `save`: the pending change it is about
        bool is_barrier() const { return what >= change::clear_fragment; }
        bool has_value() const { return what == change::put || what == change::keep; }
    };
    struct scope {
        std::size_t start;
        bool is_users;
        int number;
        bool is_cancelled = false;  // drops all its changes when it ends
    };

    [[noreturn]] static void fail(errc e) { throw stopped{code(e)}; }
    fragment& at(int f) { return fragments_[static_cast<std::size_t>(f)]; }
    static bool is_immediate(verb what) {
        return what == verb::needs || what == verb::unique || what == verb::policy ||
               what == verb::write || what >= verb::sparse;
    }
    static bool is_many(verb what) {
        return what == verb::spawn_many || what == verb::clone_many || what == verb::make_ids;
    }

    void require(id_type e) const {
        if (!alive(e)) fail(is_foreign(e) ? errc::foreign_entity : errc::dead_entity);
    }
    /// For calls that return false for dead entities.
    bool require_local(id_type e) const {
        if (is_foreign(e)) fail(errc::foreign_entity);
        return alive(e);
    }
    /// For calls that use a fragment.
    void require_fragment(int f) {
        if (f >= typed_count && !at(f).is_alive) fail(errc::dead_fragment);
        register_fragment(f);
    }
    bool is_registered(int f) const {
        return f >= 0 && fragments_[static_cast<std::size_t>(f)].is_alive &&
               fragments_[static_cast<std::size_t>(f)].order >= 0;
    }
    int kept(int f, int value) { return has_values(at(f).kind) ? value : 0; }

    void add(change what, id_type e, int f = -1, int value = 0) {
        queue_.push_back({what, e, f, f < 0 ? 0 : kept(f, value)});
    }
    void add_entity(id_type e) {
        if (issued_.contains(e)) differ("an id was issued twice: " + to_string(e));
        issued_.insert(e);
        all_[e];
    }
    id_type new_id(const result& seen, std::size_t which) const {
        if (which < seen.made.size()) return seen.made[which];
        // The call threw, so a hook received the id.
        if (consumed_ < calls_.size()) return calls_[consumed_].e;
        differ("a call failed unexpectedly");
    }
    void finish_destroy(id_type e) {
        const int f = find_fragment(e);
        all_.erase(e);
        if (f >= 0) erase_fragment(f);
    }
    void erase_fragment(int f) {
        const bool was_sparse = is_sparse(f);
        at(f).is_alive = false;
        for (auto& [e, has] : all_) has.erase(f);
        for (fragment& owned : fragments_) owned.needs.erase(f);
        hooks_.erase(f);
        for (observer& watched : observers_) watched.subscribed.erase(f);
        at(f).needs.clear();
        at(f).is_unique = at(f).destroys_owners = at(f).is_sparse = false;
        at(f).order = -1;
        if (f >= typed_count) return;
        at(f).id = {};
        ++at(f).times_destroyed;
        // Pending values of a C++ type belong to its next fragment and keep the storage of the old
        // one.
        for (const command& recorded : queue_)
            if (recorded.target == f || (recorded.slot == f && recorded.target < 0)) {
                register_fragment(f);
                at(f).is_sparse = was_sparse;
            }
    }
    void drop_from(std::size_t start) {
        while (queue_.size() > start) {
            const command last = queue_.back();
            queue_.pop_back();
            if (last.what == change::spawn && alive(last.e)) finish_destroy(last.e);
            if (last.what == change::save) restore(last);
        }
        for (scope& each : scopes_) each.start = std::min(each.start, start);
    }

    /// Ends the scope of a call that has created these entities. Destroys them if that throws.
    void finish(int whole, const std::vector<id_type>& made) {
        try {
            close(whole, true);
        } catch (const stopped&) {
            for (const id_type e : made) take_back(e);
            for (const id_type e : made)
                if (alive(e)) rollback_spawn(e);
            throw;
        }
    }
    void take_back(id_type e) {
        const int whole = open(false);
        (void)record_destroy(e);
        try {
            close(whole, true);
        } catch (const stopped&) {
        }
    }
    void restore(const command& saved) {
        if (saved.saved_from)
            queue_[*saved.saved_from].value = saved.value;
        else if (has(saved.e, saved.slot))
            all_[saved.e][saved.slot] = saved.value;
    }

    // ---- recording -----------------------------------------------------------------------------

    void record(const op& operation, const result& seen, result& made);

    /// Operations that take effect at once, even in a scope.
    void apply_now(const op& operation, result& made);

    id_type record_new_id(const op& operation, const result& seen, std::size_t which);

    /// The initial values of a new entity, without its id.
    std::vector<command> first_values(const op& operation);

    /// The values and pending changes of a prototype, as changes of its clone.
    std::vector<command> history(const op& operation);
    /// Whether an entity will have a fragment after all pending changes, and the change that adds
    /// it.
    struct pending_state {
        bool is_there;
        std::optional<std::size_t> from;
        bool is_saved = false;  // in the innermost scope
    };
    pending_state pending_state_of(id_type e, int f);

    /// If both fragment and entity are dead, either error is valid.
    void refuse_dead(const op& operation, const result& seen);
    void record_patch(const op& operation, const result& seen, result& made);
    void record_copy(const op& operation, result& made);
    std::size_t record_destroy(id_type e);
    bool is_typed(id_type e) const {
        const int f = find_fragment(e);
        return f >= 0 && f < typed_count;
    }
    void make_fragment(const op& operation, const result& seen, result& made);
    void add_fragment(const op& operation, id_type e);
    void add_id_fragments(const op& operation, const std::vector<id_type>& made);
    void make_sparse(int f, const result& seen);
    std::vector<id_type> by_key() const;

public:
    static bool chosen(id_type e, int mask) {
        return e.key() < 1000 && e.key() % 16 == static_cast<unsigned>(mask) % 16;
    }

private:
    // ---- direct changes outside scopes ---------------------------------------------------------

    /// Creates all or none. All exist before the first hook is called.
    void make_many(const op& operation, const result& seen, result& made);
    bool notifies_insert(const values& has);

    /// An exception of a hook does not undo the change.
    void patch_now(const op& operation, result&);

    /// Sets the value that the returned reference shows.
    void show_value(const op& operation, result& made);

    // ---- applying ------------------------------------------------------------------------------

    void apply_recorded();

    /// The components of an entity after some changes.
    struct effect {
        values next;
        std::set<int> changed;
        bool ends = false;
        std::set<int> given{};  // fragments with new values

        /// Hooks may have patched the values that stay.
        void refresh(const values& now) {
            for (auto& [f, value] : next)
                if (!given.contains(f)) value = now.at(f);
        }
    };
    effect effect_of(const values& now, const std::vector<command>& changes);
    void put(effect& made, int f, int value);

    /// Applies all changes or none.
    void apply_group(id_type e, const std::vector<command>& changes);
    /// Destroys an entity whose spawn failed, and removes it as a fragment unless a hook throws.
    void rollback_spawn(id_type e);
    void move(id_type e, effect made, bool is_new_entity);
    void notify_insert(id_type e, const values& old, const std::set<int>& touched,
                       bool is_new_entity);

    void destroy(id_type e);
    void notify_remove(id_type e);

    /// Applies a command that affects many entities.
    void apply_barrier(const command& recorded);
    /// Drops the changes that `call` records if it fails.
    template <class Call>
    void in_scope(Call call);

    /// Entities that change together: all of a chunk or, if sparse fragments are involved, a single
    /// entity.
    using group = std::pair<std::set<int>, id_type>;
    using chunk_list = std::map<group, std::vector<id_type>>;
    group group_of(id_type e, bool by_entity) const {
        group made{{}, by_entity ? e : id_type{}};
        if (by_entity) return made;
        for (const auto& [f, value] : all_.at(e))
            if (!is_sparse(f)) made.first.insert(f);
        return made;
    }
    bool has_sparse(id_type e) const {
        return std::ranges::any_of(all_.at(e),
                                   [&](const auto& value) { return is_sparse(value.first); });
    }
    /// Whether adding the fragment also adds a sparse fragment.
    bool has_sparse_part(int f) const;
    /// The entities that have this fragment.
    chunk_list chunks_of(int f, bool by_entity) const;
    /// Visits the groups in the order of the world's hook calls.
    template <class IsNotified, class Change>
    void each_group(chunk_list chunks, std::optional<stopped>& first, IsNotified is_notified,
                    Change use);
    /// Like `each_group`, but each group changes completely or not at all.
    template <class IsNotified, class Change>
    void each_chunk(chunk_list chunks, std::optional<stopped>& first, IsNotified is_notified,
                    Change use);

    void clear_fragment(int f);

    void copy_fragment(int from, int to);
    bool notifies_value(int f, bool was_there) const;

    /// The entities destroyed together with `first`: owners of fragments that destroy them,
    /// transitively.
    std::set<id_type> closure(id_type first) const;
    void destroy_fragment(id_type e);

    // ---- batches and observers: see scope_model_batch.hpp --------------------------------------

    void record_batch(const op& operation, result& made);
    static bool matches(const values& has, int with, int without) {
        return has.contains(with) && !has.contains(without);
    }
    void batch(const command& recorded);
    void batch_destroy(chunk_list chunks, bool by_entity);
    void batch_clear(const chunk_list& chunks, const command& each);
    bool notifies_remove(id_type e) const;
    template <class IsNotified>
    void refuse_mixed(const chunk_list& chunks, IsNotified is_notified) const;
    /// Changes all rows or none.
    void change_rows(const std::vector<id_type>& rows, const command& recorded);
    bool notifies_change(id_type e, const command& recorded);
    /// Starts the lifetime of values that the entity did not have.
    void start_lives(id_type e, const values& old) {
        for (const auto& [f, value] : all_.at(e))
            if (!old.contains(f)) lives_[{e, f}] = ++last_life_;
    }

    void observe(const op& operation);
    void use_observer(const op& operation, const result& seen, result& made);
    void log_change(int kind, int f, id_type e) {
        for (observer& watched : observers_)
            if (const auto found = watched.subscribed.find(f); found != watched.subscribed.end() &&
                                                               !watched.is_paused &&
                                                               (found->second & kind) != 0)
                watched.log.insert(e);
    }
    void log_all(int kind, id_type e) {
        if (alive(e))
            for (const auto& [f, value] : all_.at(e)) log_change(kind, f, e);
    }
    void log_move(id_type e, const values& old, const std::set<int>& touched);

    // ---- hooks ---------------------------------------------------------------------------------

    id_type next_called() const {
        if (consumed_ >= calls_.size()) differ("a hook was not called");
        return calls_[consumed_].e;
    }
    /// Calls `call` for all of these, in the order of the world's hook calls.
    template <class IsNotified, class Call>
    void each_called(std::vector<id_type> these, IsNotified is_notified, Call call);
    bool has_hook(int f, hook_event event) const {
        const auto list = hooks_.find(f);
        return list != hooks_.end() &&
               std::ranges::any_of(list->second, [&](const hook& connected) {
                   return connected.is_connected && connected.event == event;
               });
    }
    bool has_any_listener() const {
        const auto looks = [](const observer& watched) {
            return !watched.is_paused && !watched.subscribed.empty();
        };
        if (std::ranges::any_of(observers_, looks)) return true;
        return std::ranges::any_of(hooks_, [](const auto& list) {
            return std::ranges::any_of(list.second, &hook::is_connected);
        });
    }
    /// Runs the hooks oldest first, without hooks connected in the meantime. Hooks must close their
    /// own scopes.
    void run(hook_event event, int f, id_type e);
    void call(const hook& connected, int f, id_type e);
    /// The fragments in the order of registration.
    std::vector<int> in_order(const values& has) {
        std::vector<int> made;
        for (const auto& [f, value] : has) made.push_back(f);
        std::ranges::sort(made, {}, [&](int f) { return at(f).order; });
        return made;
    }
    static std::set<int> keys(const values& has) {
        std::set<int> made;
        for (const auto& [f, value] : has) made.insert(f);
        return made;
    }

public:
    static void check(const op& operation, const result& got, const result& wanted) {
        if (got.error == wanted.error && got.count == wanted.count &&
            (got.error != no_error || got.made == wanted.made) && got.gathered == wanted.gathered)
            return;
        differ(join(verb_names[static_cast<int>(operation.what)], ": error ", got.error, ", count ",
                    got.count, ", ", got.made.size(), " made; not error ", wanted.error, ", count ",
                    wanted.count, ", ", wanted.made.size(), "; gathered ", got.gathered.size(),
                    ", not ", wanted.gathered.size()));
    }

private:
    const call_list& calls_;
    std::uint64_t number_;
    std::size_t consumed_ = 0;  // how many of them the model has compared
    std::map<id_type, values> all_;
    std::set<id_type> issued_;
    std::vector<fragment> fragments_;
    std::vector<observer> observers_;
    std::map<int, std::vector<hook>> hooks_;  // by fragment; -1: hooks of entities
    std::vector<command> queue_;
    std::vector<scope> scopes_;
    values unnamed_;  // of new entities whose ids are not known yet
    std::size_t unnamed_count_ = 0;
    bool is_outside_ = false;  // the only open scope is that of the call itself
    int last_scope_ = 0;
    std::map<std::pair<id_type, int>, int> lives_;
    int last_life_ = 0;
    int next_order_ = 0;
};

}  // namespace muster::test::scopes

#include "scope_model_apply.hpp"
#include "scope_model_batch.hpp"
#include "scope_model_record.hpp"
