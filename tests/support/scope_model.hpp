// scope_model: what scopes and hooks must do, written as plainly as possible: a map of entities, each a
// map of fragments and values, and one flat list of commands that wait.
//
// The model does not know in which order rows lie. Where the order of hooks follows it (clearing, copying
// or destroying a fragment) it reads the order from what the world has told, and checks that it is one
// of those that can be. What a hook did comes from there, too; when and with what it is called does not.
//
// Entities with the same fragments share a chunk, and what is done to all of a chunk is done to all of them or
// to none. Sparse fragments are in no chunk: where they are concerned, entities change one by one.
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
    using told_list = std::vector<called<id_type>>;
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
        int order = -1;  // in which the world met it; -1: not yet
        bool is_unique = false;
        bool destroys_owners = false;
        std::set<int> needs{};
        int deaths = 0;  // of a C++ type: it comes back
        bool is_sparse = false;
    };
    struct observer {
        std::map<int, int> watched{};  // kinds of changes, by fragment
        std::set<id_type> log{};
        bool is_cut = false;
        bool has_ended = false;
    };
    static constexpr int added = 1, changed = 2, removed = 4;
    /// What happens next is not known to the model: it depends on how rows lie.
    struct undecided {};

    /// `told` is what the world's hooks have told, which is always ahead.
    scope_model(const told_list& told, std::uint64_t number) : told_(told), number_(number) {}

    bool alive(id_type e) const { return all_.contains(e); }
    const std::map<id_type, values>& all() const { return all_; }
    std::vector<fragment>& fragments() { return fragments_; }
    std::vector<observer>& observers() { return observers_; }
    std::size_t depth() const { return scopes_.size(); }
    std::size_t heard() const { return heard_; }
    bool has(id_type e, int f) const { return alive(e) && all_.at(e).contains(f); }
    std::size_t count(int f) const {
        std::size_t sum = 0;
        for (const auto& [e, has] : all_) sum += has.contains(f) ? 1u : 0u;
        return sum + (unnamed_.contains(f) ? unnamed_count_ : 0u);
    }
    bool is_sparse(int f) const {
        return f >= 0 && fragments_[static_cast<std::size_t>(f)].is_sparse;
    }
    /// Another number for each value of an entity that has come anew: until it goes it is the same.
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
    /// A fragment of a C++ type that was destroyed comes back with its next use.
    void meet(int f) {
        fragment& one = at(f);
        if (one.order < 0) one.order = next_order_++;
        if (f < typed_count) one.is_alive = true;
    }

    // ---- scopes --------------------------------------------------------------------------------

    int open(bool is_users) {
        scopes_.push_back({queue_.size(), is_users, ++last_scope_});
        return last_scope_;
    }
    /// Scopes need not end in the order they began: the one inside has what was recorded. What it throws
    /// is a `stopped`.
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
        if (scopes_.empty()) play();
    }
    struct stopped {
        int error;
    };

    // ---- one operation -------------------------------------------------------------------------

    /// What it comes to; `seen` tells the ids that the world has made.
    result apply(const op& one, const result& seen) {
        result made;
        try {
            if (!scopes_.empty() || is_immediate(one.what)) {
                record(one, seen, made);
            } else if (is_many(one.what)) {
                make_many(one, seen, made);
            } else if (one.what == verb::patch) {
                patch_now(one, made);
            } else {
                const int whole = open(false);
                is_outside_ = true;
                try {
                    record(one, seen, made);
                } catch (const stopped&) {
                    is_outside_ = false;
                    close(whole, false);
                    throw;
                }
                is_outside_ = false;
                close(whole, true);
                if (one.what == verb::make_tag || one.what == verb::make_fragment) {
                    require(made.made[0]);  // a hook can have destroyed it
                    note_fragment(one, made.made[0]);
                }
            }
            show_value(one, made);
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
        replace,
        touch,
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
        id_type who;
        int slot = -1;
        int value = 0;
        int target = -1;  // of copy_fragment
        bool is_done = false;
        int with = -1;  // of batches
        int without = -1;
        bool is_barrier() const { return what >= change::clear_fragment; }
        bool has_value() const { return what >= change::put && what <= change::replace; }
    };
    struct scope {
        std::size_t start;
        bool is_users;
        int number;
        bool is_cancelled = false;  // so is all that is recorded in it, when it ends
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
    /// For what says false to the dead.
    bool own(id_type e) const {
        if (is_foreign(e)) fail(errc::foreign_entity);
        return alive(e);
    }
    /// A fragment that is used.
    void require_fragment(int f) {
        if (f >= typed_count && !at(f).is_alive) fail(errc::dead_fragment);
        meet(f);
    }
    bool is_met(int f) const {
        return f >= 0 && fragments_[static_cast<std::size_t>(f)].is_alive &&
               fragments_[static_cast<std::size_t>(f)].order >= 0;
    }
    int kept(int f, int value) { return has_values(at(f).kind) ? value : 0; }

    void add(change what, id_type who, int f = -1, int value = 0) {
        queue_.push_back({what, who, f, f < 0 ? 0 : kept(f, value)});
    }
    void be_born(id_type e) {
        if (issued_.contains(e)) differ("an id was issued twice: " + to_string(e));
        issued_.insert(e);
        all_[e];
    }
    id_type newborn(const result& seen, std::size_t which) const {
        if (which < seen.made.size()) return seen.made[which];
        // The call threw: a hook was told of it.
        if (heard_ < told_.size()) return told_[heard_].who;
        differ("a call failed that should not");
    }
    void die(id_type e) {
        const int f = find_fragment(e);
        all_.erase(e);
        if (f >= 0) forget(f);
    }
    void forget(int f) {
        const bool was_sparse = is_sparse(f);
        at(f).is_alive = false;
        for (auto& [e, has] : all_) has.erase(f);
        for (fragment& one : fragments_) one.needs.erase(f);
        hooks_.erase(f);
        for (observer& one : observers_) one.watched.erase(f);
        at(f).needs.clear();
        at(f).is_unique = at(f).destroys_owners = at(f).is_sparse = false;
        at(f).order = -1;
        if (f >= typed_count) return;
        at(f).id = {};
        ++at(f).deaths;
        // What waits for a C++ type means its next fragment, and is where the values of this one were.
        for (const command& one : queue_)
            if (one.target == f || (one.slot == f && one.target < 0)) {
                meet(f);
                at(f).is_sparse = was_sparse;
            }
    }
    void drop_from(std::size_t start) {
        while (queue_.size() > start) {
            const command last = queue_.back();
            queue_.pop_back();
            if (last.what == change::spawn && alive(last.who)) die(last.who);
        }
        for (scope& one : scopes_) one.start = std::min(one.start, start);
    }

    // ---- what is recorded ----------------------------------------------------------------------

    void record(const op& one, const result& seen, result& made);

    /// What is done at once, in a scope or not.
    void apply_now(const op& one, result& made);

    id_type record_birth(const op& one, const result& seen, std::size_t which);

    /// What a new entity gets, for no one yet.
    std::vector<command> first_values(const op& one);

    /// What a prototype has, and what waits for it, as changes of its clone.
    std::vector<command> history(const op& one);
    /// Whether an entity will have a fragment when all that waits was done, and which change it is from.
    struct prospect {
        bool is_there;
        std::optional<std::size_t> from;
    };
    prospect foresee(id_type e, int f);

    /// If fragment and entity are dead, either can be said.
    void refuse_dead(const op& one, const result& seen);
    void record_patch(const op& one, const result& seen, result& made);
    void record_copy(const op& one, result& made);
    std::size_t record_destroy(id_type e);
    bool is_typed(id_type e) const {
        const int f = find_fragment(e);
        return f >= 0 && f < typed_count;
    }
    void make_fragment(const op& one, const result& seen, result& made);
    void note_fragment(const op& one, id_type e);
    void note_ids(const op& one, const std::vector<id_type>& made);
    void make_sparse(int f, const result& seen);
    std::vector<id_type> by_key() const;

public:
    static bool chosen(id_type e, int mask) {
        return e.key() < 1000 && e.key() % 16 == static_cast<unsigned>(mask) % 16;
    }

private:
    // ---- what is done outside of scopes, but not by recording it -------------------------------

    /// All or none; all are there when the first hook is called.
    void make_many(const op& one, const result& seen, result& made);
    bool tells_coming(const values& has);

    /// What has changed stays changed.
    void patch_now(const op& one, result&);

    /// What the reference that is returned shows.
    void show_value(const op& one, result& made);

    // ---- what is played ------------------------------------------------------------------------

    void play();

    /// What an entity would have after these.
    struct effect {
        values next;
        std::set<int> changed;
        bool ends = false;
    };
    effect come_to(const values& now, const std::vector<command>& changes);
    void put(effect& made, int f, int value);

    /// All or nothing.
    void carry_out(id_type e, const std::vector<command>& changes);
    /// One whose birth has failed. Those that have it as a fragment lose it, unless a hook stops that.
    void unmake(id_type e);
    void move(id_type e, const effect& made, bool is_born);
    void tell_coming(id_type e, const values& old, const std::set<int>& touched, bool is_born);

    void destroy(id_type e);
    void tell_going(id_type e);

    /// One that concerns many.
    void cross(const command& one);
    /// What it records is dropped if it fails.
    template <class Call>
    void in_scope(Call call);

    /// Those who change together: by the fragments of their chunk or, where sparse fragments are
    /// concerned, each alone.
    using place = std::pair<std::set<int>, id_type>;
    using chunk_list = std::map<place, std::vector<id_type>>;
    place place_of(id_type e, bool alone) const {
        place made{{}, alone ? e : id_type{}};
        if (alone) return made;
        for (const auto& [f, value] : all_.at(e))
            if (!is_sparse(f)) made.first.insert(f);
        return made;
    }
    bool has_sparse(id_type e) const {
        return std::ranges::any_of(all_.at(e),
                                   [&](const auto& one) { return is_sparse(one.first); });
    }
    /// Whether a sparse fragment comes with it.
    bool is_mixed(int f) const;
    /// Entities that have this one.
    chunk_list chunks_of(int f, bool alone) const;
    /// In the order in which the world's hooks were called for them.
    template <class IsTold, class Change>
    void each_place(chunk_list chunks, std::optional<stopped>& first, IsTold is_told, Change use);
    /// All or nothing for each.
    template <class IsTold, class Change>
    void each_chunk(chunk_list chunks, std::optional<stopped>& first, IsTold is_told, Change use);

    void clear_fragment(int f);

    void copy_fragment(int from, int to);
    bool is_told_of(int f, bool was_there) const;

    /// Who dies with this one: the owners of fragments that take them along, and so on.
    std::set<id_type> closure(id_type first) const;
    void destroy_fragment(id_type who);

    // ---- batches and observers: see scope_model_batch.hpp --------------------------------------

    void record_batch(const op& one, result& made);
    static bool matches(const values& has, int with, int without) {
        return has.contains(with) && !has.contains(without);
    }
    void batch(const command& one);
    void batch_destroy(chunk_list chunks, bool alone);
    void batch_clear(const chunk_list& chunks, const command& each);
    bool is_told_going(id_type e) const;
    template <class IsTold>
    void refuse_mixed(const chunk_list& chunks, IsTold is_told) const;
    /// The same changes of all, or of none.
    void change_rows(const std::vector<id_type>& rows, const command& one);
    bool is_told_change(id_type e, const command& one);
    /// Values that it did not have begin to live.
    void renew(id_type e, const values& old) {
        for (const auto& [f, value] : all_.at(e))
            if (!old.contains(f)) lives_[{e, f}] = ++last_life_;
    }

    void observe(const op& one);
    void use_observer(const op& one, const result& seen, result& made);
    void note(int kind, int f, id_type e) {
        for (observer& one : observers_)
            if (const auto found = one.watched.find(f);
                found != one.watched.end() && !one.is_cut && (found->second & kind) != 0)
                one.log.insert(e);
    }
    void note_all(int kind, id_type e) {
        if (alive(e))
            for (const auto& [f, value] : all_.at(e)) note(kind, f, e);
    }
    void note_move(id_type e, const values& old, const std::set<int>& touched);

    // ---- hooks ---------------------------------------------------------------------------------

    id_type next_told() const {
        if (heard_ >= told_.size()) differ("a hook was not called");
        return told_[heard_].who;
    }
    /// Calls it for all of these, in the order in which the world's hooks were called for them.
    template <class IsTold, class Call>
    void each_told(std::vector<id_type> these, IsTold is_told, Call call);
    bool is_heard(int f, hook_event event) const {
        const auto list = hooks_.find(f);
        return list != hooks_.end() && std::ranges::any_of(list->second, [&](const hook& one) {
                   return one.is_connected && one.event == event;
               });
    }
    bool is_anything_heard() const {
        const auto looks = [](const observer& one) { return !one.is_cut && !one.watched.empty(); };
        if (std::ranges::any_of(observers_, looks)) return true;
        return std::ranges::any_of(hooks_, [](const auto& list) {
            return std::ranges::any_of(list.second, &hook::is_connected);
        });
    }
    /// Oldest first; who came in meanwhile is not called. They must close the scopes that they open.
    void run(hook_event event, int f, id_type e);
    void call(const hook& one, int f, id_type e);
    /// In the order that the world met them.
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
    static void check(const op& one, const result& got, const result& wanted) {
        if (got.error == wanted.error && got.count == wanted.count &&
            (got.error != no_error || got.made == wanted.made) && got.gathered == wanted.gathered)
            return;
        differ(say(verb_names[static_cast<int>(one.what)], ": error ", got.error, ", count ",
                   got.count, ", ", got.made.size(), " made; not error ", wanted.error, ", count ",
                   wanted.count, ", ", wanted.made.size(), "; gathered ", got.gathered.size(),
                   ", not ", wanted.gathered.size()));
    }

private:
    const told_list& told_;
    std::uint64_t number_;
    std::size_t heard_ = 0;  // how much of it
    std::map<id_type, values> all_;
    std::set<id_type> issued_;
    std::vector<fragment> fragments_;
    std::vector<observer> observers_;
    std::map<int, std::vector<hook>> hooks_;  // by fragment; -1: of entities
    std::vector<command> queue_;
    std::vector<scope> scopes_;
    values unnamed_;  // of entities that are being made, and whose ids are not known yet
    std::size_t unnamed_count_ = 0;
    bool is_outside_ = false;  // the call has opened the only scope, for itself
    int last_scope_ = 0;
    std::map<std::pair<id_type, int>, int> lives_;
    int last_life_ = 0;
    int next_order_ = 0;
};

}  // namespace muster::test::scopes

#include "scope_model_batch.hpp"
#include "scope_model_play.hpp"
#include "scope_model_record.hpp"
