// scope_story: random operations on a world and on its model: changes, scopes, loops, and hooks
// that make further changes, pause each other and throw. After each operation the story compares
// the results and the hook calls; between operations it compares the readable state.
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

    explicit scope_story(std::uint64_t seed) : dice_(seed), model_(calls_, world_.number()) {
        for (int f = 0; f < typed_count; ++f) {
            slots_.push_back({typed_id(f), f, false});
            model_.fragments().push_back({slots_.back().id, f});
            model_.register_fragment(f);
            if (!is_sparse_next()) continue;
            world_.define(slots_.back().id).sparse();
            model_.fragments().back().is_sparse = true;
            trace_ += join("    sparse: ", f, "\n");
        }
        first_version_ = slots_[0].id.version();
        foreign_ = foreign_world_.spawn(number{1});
    }
    ~scope_story() = default;
    scope_story(const scope_story&) = delete;
    scope_story& operator=(const scope_story&) = delete;

    /// Returns a trace that depends on the seed only. Throws `difference`.
    std::string run(int steps) {
        try {
            for (int i = 0; i < steps; ++i) {
                budget_ = 8;
                step(0);
            }
            while (model_.depth() != 0) {
                budget_ = 8;
                apply({verb::commit, {}, {}});
            }
            look_at_all();
        } catch (const typename model_type::undecided&) {
            return trace_;
        } catch (const difference& why) {
            throw difference(std::string(why.what()) + "\n" + trace_);
        }
        trace_ += dump<Layout, number, marker, text, owner, aligned>(world_, first_version_);
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

    /// Whether the next fragment is sparse.
    bool is_sparse_next() { return roll(100) < sparse_percent_; }

    // ---- choosing operations -------------------------------------------------------------------

    void step(int nesting) {
        const int which = roll(100);
        if (which < 7 && nesting < 3)
            roll(4) == 0 ? read(nesting) : loop(nesting);
        else if (which < 12 && nesting < 3)
            scoped(nesting);
        else
            apply(any_operation(false));
        if (roll(model_.depth() == 0 ? 2 : 6) == 0) look_at_all();
    }

    op any_operation(bool in_hook, int own_fragment = -1);
    verb any_verb(bool in_hook);
    /// A living, dead, null, foreign or stale id.
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
    /// Whether the fragment takes the type of its first value.
    bool is_untyped(int f) const {
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

    void apply(const op& operation) {
        log(operation);
        result seen = on_world(operation);
        log(seen);
        if (seen.error != no_error) seen.made = unknown();
        model_type::check(operation, seen, model_.apply(operation, seen));
        finish();
    }
    void finish() {
        if (model_.consumed() != calls_.size())
            model_type::differ(join("hook ", calls_[model_.consumed()].hook, " was called"));
        if (world_.depth() != model_.depth())
            model_type::differ(join("depth ", world_.depth(), ", not ", model_.depth()));
    }
    /// Entities that a call left alive although it threw.
    std::vector<id_type> unknown() {
        std::vector<id_type> made;
        for (const id_type e : world_.entities())
            if (!model_.issued(e)) made.push_back(e);
        for (std::size_t i = model_.consumed(); i < calls_.size(); ++i)
            for (const auto& [did, seen] : calls_[i].did)
                for (const id_type e : seen.made) std::erase(made, e);
        return made;
    }

    result on_world(const op& operation) {
        result made;
        try {
            call(operation, made);
            for (const id_type e : made.made) remember(e);
        } catch (const error& why) {
            made = {code(why.code()), 0, {}};
        } catch (const hook_stop& why) {
            made = {why.error, 0, {}};
        }
        return made;
    }

    void call(const op& operation, result& made);
    static std::size_t size(int count) { return static_cast<std::size_t>(count); }
    void keep_slots(const std::vector<id_type>& made, int kind, bool by_ids) {
        for (std::size_t i = 0; i < made.size(); ++i)
            slots_.push_back({made[i], by_ids && i % 2 != 0 ? kind_number : kind, by_ids});
    }
    id_type spawn_with(int f, int value);
    // Batches and observers: see scope_story_batch.hpp.
    op batch_operation(op operation);
    op observer_operation(op operation);
    basic_query<Layout> query_of(int with, int without);
    void call_batch(const op& operation, result& made);
    void call_observer(const op& operation, result& made);
    basic_observer<Layout> subscribe(basic_observer<Layout>&& made, int f, int kinds);
    void read(int nesting);

    template <class T>
    void call_typed(const op& operation, result& made);
    void call_made(const op& operation, result& made);

    // ---- hooks ---------------------------------------------------------------------------------

    void add_hook(const op& operation);

    /// The function of every hook.
    void hooked(int n, hook_event event, int f, id_type e, int value);

    // ---- loops and scopes ----------------------------------------------------------------------

    void scoped(int nesting);
    /// Runs a call that closes a scope of the world, then closes the scope of the model.
    template <class Call>
    void end_scope(int scope, Call run, bool cancels = false);

    void loop(int nesting);
    /// The terms of a query: all of `with`, none of `without`, one of `any`.
    struct query_terms {
        std::vector<int> with;
        std::vector<int> without{};
        std::vector<int> any{};
    };
    template <class... Ts>
    void loop_over(int nesting, const basic_query<Layout, Ts...>& query, const query_terms& terms);
    void loop_over_mixture(int nesting);
    template <class... Ts>
    std::vector<id_type> expected_of(const basic_query<Layout, Ts...>& query,
                                     const query_terms& terms);
    /// Compares the value that a loop passes for an entity.
    template <class T>
    void look_at_argument(id_type e, T* shown);
    template <class T>
    void look_at_rows(const basic_rows<Layout>& rows);

    // ---- comparing the state -------------------------------------------------------------------

    void look_at_all();
    void look_at(id_type e, const typename model_type::values& has);
    /// A sparse value keeps its address while it exists.
    void look_at_address(id_type e, int f, const void* value);

    void log(const op& operation) {
        trace_ += join(
            "    ", verb_names[static_cast<int>(operation.what)], " ",
            operation.e.is_null()     ? "null"
            : operation.e == foreign_ ? "foreign"
                                      : test::text_of(operation.e, first_version_),
            " / ", operation.other.is_null() ? "" : test::text_of(operation.other, first_version_),
            " / ", operation.slot, " / ", operation.slot2, " / ", operation.value, " / ",
            operation.count, "\n");
    }
    void log(const result& made) {
        trace_ += join("      = error ", made.error, ", count ", made.count);
        for (const id_type e : made.made) trace_ += join(" ", test::text_of(e, first_version_));
        for (const id_type e : made.gathered)
            trace_ += join(" @", test::text_of(e, first_version_));
        trace_ += "\n";
    }

    std::mt19937_64 dice_;
    basic_world<Layout> world_;
    basic_world<Layout> foreign_world_;
    std::vector<called<id_type>> calls_;
    model_type model_;
    std::vector<slot> slots_;  // parallel to the model's fragments
    std::vector<hook_entry> hooks_;
    struct observer_entry {
        std::optional<basic_observer<Layout>> it;
        int readers = 0;
    };
    std::deque<observer_entry> observers_;  // with stable addresses; parallel to the model's
    std::vector<id_type> known_;
    id_type foreign_;
    std::uint64_t first_version_ = 0;
    std::uint64_t next_key_ = 5000;  // of spawn_at
    int budget_ = 0;                 // of operations in hooks
    int stops_ = 0;
    // The share of sparse fragments: none, some or all.
    const int sparse_percent_ = std::array{0, 35, 70, 100}[static_cast<std::size_t>(roll(4))];
    std::map<std::pair<id_type, int>, std::pair<int, const void*>>
        addresses_;  // with the lifetime number
    const long living_before_ = text::living;
    std::string trace_;
};

}  // namespace muster::test::scopes

#include "scope_story_batch.hpp"
#include "scope_story_calls.hpp"
#include "scope_story_loops.hpp"
