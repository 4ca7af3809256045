// scope_story: random operations on a world and on its model side by side: changes, scopes, loops, hooks
// that change more, cut each other and throw. After each operation what it gave is compared, and what
// hooks were told; between them all that can be read.
#pragma once

#include <muster/world/world.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "scope_model.hpp"
#include "scope_values.hpp"
#include "world_dump.hpp"

namespace muster::test::scopes {

template <class Layout>
class scope_story {
public:
    using id_type = basic_id<Layout>;
    using model_type = scope_model<Layout>;
    using op = operation<id_type>;
    using result = outcome<id_type>;

    explicit scope_story(std::uint64_t seed) : dice_(seed), model_(told_, world_.number()) {
        for (int f = 0; f < typed_count; ++f) {
            slots_.push_back({typed_id(f), f, false});
            model_.fragments().push_back({slots_.back().id, f});
            model_.meet(f);
            if (!is_sparse_next()) continue;
            world_.define(slots_.back().id).sparse();
            model_.fragments().back().is_sparse = true;
            trace_ += say("    sparse: ", f, "\n");
        }
        base_ = slots_[0].id.version();
        foreign_ = stranger_.spawn(number{1});
    }
    ~scope_story() = default;
    scope_story(const scope_story&) = delete;
    scope_story& operator=(const scope_story&) = delete;

    /// Throws `difference`. What happened, as text that depends on the seed only.
    std::string run(int steps) {
        try {
            for (int i = 0; i < steps; ++i) {
                budget_ = 8;
                step(0);
            }
            while (model_.depth() != 0) {
                budget_ = 8;
                carry_out({verb::commit, {}, {}});
            }
            look_at_all();
        } catch (const typename model_type::undecided&) {
            return trace_;
        } catch (const difference& why) {
            throw difference(std::string(why.what()) + "\n" + trace_);
        }
        trace_ += dump<Layout, number, marker, text, owner, aligned>(world_, base_);
        return trace_;
    }

private:
    struct slot {
        id_type id;
        int kind;
        bool is_made_by_ids;
    };
    struct hook_stop {
        int error;
    };
    struct loop_stop {};
    struct hook_entry {
        basic_connection<Layout> connection;
        int fragment;
    };

    int roll(int end) { return static_cast<int>(dice_() % static_cast<std::uint64_t>(end)); }

    /// Of a fragment that comes.
    bool is_sparse_next() { return roll(100) < sparse_percent_; }

    // ---- what happens next ---------------------------------------------------------------------

    void step(int nesting) {
        const int which = roll(100);
        if (which < 7 && nesting < 3)
            roll(4) == 0 ? read(nesting) : loop(nesting);
        else if (which < 12 && nesting < 3)
            scoped(nesting);
        else
            carry_out(any_operation(false));
        if (roll(model_.depth() == 0 ? 2 : 6) == 0) look_at_all();
    }

    op any_operation(bool in_hook, int own_fragment = -1);
    verb any_verb(bool in_hook);
    /// Alive, dead, null, of another world, or stale.
    id_type any_id() {
        const int which = roll(30);
        if (which == 0 || known_.empty()) return {};
        if (which == 1 && Layout::world_bits != 0) return foreign_;
        id_type found = known_[static_cast<std::size_t>(roll(static_cast<int>(known_.size())))];
        for (int tries = 0; tries < 3 && !world_.alive(found); ++tries)
            found = known_[static_cast<std::size_t>(roll(static_cast<int>(known_.size())))];
        return found;
    }
    int any_made() {
        const int made = static_cast<int>(slots_.size()) - typed_count;
        return typed_count + made - 1 - roll(std::min(made, 8));
    }
    int any_fragment() {
        return slots_.size() == typed_count || roll(10) < 7 ? roll(typed_count) : any_made();
    }
    int kind_of(int f) const { return slots_[static_cast<std::size_t>(f)].kind; }
    /// Its type is that of its first value.
    bool is_late(int f) const {
        return slots_[static_cast<std::size_t>(f)].is_made_by_ids && kind_of(f) == kind_number;
    }
    void remember(id_type e) {
        known_.push_back(e);
        if (known_.size() > 24)
            known_.erase(known_.begin() + roll(static_cast<int>(known_.size())));
    }
    id_type typed_id(int f) {
        return with_type(f, [&]<class T>() { return world_.template component<T>().id(); });
    }
    id_type id_of(int f) {
        return f < typed_count ? typed_id(f) : slots_[static_cast<std::size_t>(f)].id;
    }

    // ---- one operation -------------------------------------------------------------------------

    void carry_out(const op& one) {
        note(one);
        result seen = on_world(one);
        note(seen);
        if (seen.error != no_error) seen.made = unknown();
        model_type::check(one, seen, model_.apply(one, seen));
        finish();
    }
    void finish() {
        if (model_.heard() != told_.size())
            model_type::differ(say("hook ", told_[model_.heard()].hook, " was called"));
        if (world_.depth() != model_.depth())
            model_type::differ(say("depth ", world_.depth(), ", not ", model_.depth()));
    }
    /// Entities that a call has left alive that threw after all.
    std::vector<id_type> unknown() {
        std::vector<id_type> made;
        for (const id_type e : world_.entities())
            if (!model_.issued(e)) made.push_back(e);
        for (std::size_t i = model_.heard(); i < told_.size(); ++i)
            for (const auto& [did, seen] : told_[i].did)
                for (const id_type e : seen.made) std::erase(made, e);
        return made;
    }

    result on_world(const op& one) {
        result made;
        try {
            call(one, made);
            for (const id_type e : made.made) remember(e);
        } catch (const error& why) {
            made = {code(why.code()), 0, {}};
        } catch (const hook_stop& why) {
            made = {why.error, 0, {}};
        }
        return made;
    }

    void call(const op& one, result& made);
    static std::size_t size(int count) { return static_cast<std::size_t>(count); }
    void keep_slots(const std::vector<id_type>& made, int kind, bool by_ids) {
        for (std::size_t i = 0; i < made.size(); ++i)
            slots_.push_back({made[i], by_ids && i % 2 != 0 ? kind_number : kind, by_ids});
    }
    id_type spawn_with(int f, int value);
    // Of batches and observers: see scope_story_batch.hpp.
    op batch_operation(op one);
    op observer_operation(op one);
    basic_query<Layout> asked(int with, int without);
    void call_batch(const op& one, result& made);
    void call_observer(const op& one, result& made);
    basic_observer<Layout> observed(basic_observer<Layout>&& made, int f, int kinds);
    void read(int nesting);

    template <class T>
    void call_typed(const op& one, result& made);
    void call_made(const op& one, result& made);

    // ---- hooks ---------------------------------------------------------------------------------

    void add_hook(const op& one);

    /// What every hook does.
    void hooked(int n, hook_event event, int f, id_type e, int value);

    // ---- loops and scopes ----------------------------------------------------------------------

    void scoped(int nesting);
    /// Runs what closes a scope of the world, then closes that of the model.
    template <class Call>
    void end_scope(int scope, Call run, bool cancels = false);

    void loop(int nesting);
    /// The fragments that those must have, must not have, and one of which they must have.
    struct asked_for {
        std::vector<int> with;
        std::vector<int> without{};
        std::vector<int> any{};
    };
    template <class... Ts>
    void loop_over(int nesting, const basic_query<Layout, Ts...>& query, const asked_for& terms);
    void loop_over_mixture(int nesting);
    template <class... Ts>
    std::vector<id_type> expected_of(const basic_query<Layout, Ts...>& query,
                                     const asked_for& terms);
    /// What a loop shows of an entity.
    template <class T>
    void look_at_argument(id_type e, T* shown);
    template <class T>
    void look_at_rows(const basic_rows<Layout>& rows);

    // ---- looking -------------------------------------------------------------------------------

    void look_at_all();
    void look_at(id_type e, const typename model_type::values& has);
    /// The value of a sparse fragment stays where it is while it lives.
    void look_at_place(id_type e, int f, const void* value);

    void note(const op& one) {
        trace_ += say("    ", verb_names[static_cast<int>(one.what)], " ",
                      one.who.is_null()     ? "null"
                      : one.who == foreign_ ? "foreign"
                                            : test::text_of(one.who, base_),
                      " / ", one.other.is_null() ? "" : test::text_of(one.other, base_), " / ",
                      one.slot, " / ", one.slot2, " / ", one.value, " / ", one.count, "\n");
    }
    void note(const result& made) {
        trace_ += say("      = error ", made.error, ", count ", made.count);
        for (const id_type e : made.made) trace_ += say(" ", test::text_of(e, base_));
        for (const id_type e : made.gathered) trace_ += say(" @", test::text_of(e, base_));
        trace_ += "\n";
    }

    std::mt19937_64 dice_;
    basic_world<Layout> world_;
    basic_world<Layout> stranger_;
    std::vector<called<id_type>> told_;
    model_type model_;
    std::vector<slot> slots_;  // as the model's fragments
    std::vector<hook_entry> hooks_;
    struct observer_entry {
        std::optional<basic_observer<Layout>> it;
        int readers = 0;
    };
    std::deque<observer_entry> observers_;  // stay where they are; as the model's
    std::vector<id_type> known_;
    id_type foreign_;
    std::uint64_t base_ = 0;
    std::uint64_t next_key_ = 5000;  // of spawn_at
    int budget_ = 0;                 // of what hooks may do
    int stops_ = 0;
    // None, some or all fragments are sparse.
    const int sparse_percent_ = std::array{0, 35, 70, 100}[static_cast<std::size_t>(roll(4))];
    std::map<std::pair<id_type, int>, std::pair<int, const void*>> places_;  // by life
    const long living_before_ = text::living;
    std::string trace_;
};

}  // namespace muster::test::scopes

#include "scope_story_batch.hpp"
#include "scope_story_calls.hpp"
#include "scope_story_loops.hpp"
