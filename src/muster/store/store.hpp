// store: the entities of one world. Adds to `component_access` the fast paths of changes, and turns
// all other calls into descriptions for the `engine`. Start reading at `put`.
//
// Invariants
//   - A record refers to the row that holds its id, and that row holds the id of the record.
//   - A change has two steps. The first does everything that can fail: it copies values, creates
//     chunks and transitions, grows columns and records. The second cannot fail. So an exception
//     leaves the world unchanged.
//   - While user code of a component runs inside a change (copies, moves, destructors), `gate`
//     refuses every other change. A destructor that reads the world finds it consistent.
//   - A fast path runs if the gate is idle and the transition is plain: no scope is open, and no
//     one is notified. Every other change becomes an `edit`, which `engine` applies or records.
#pragma once

#include <muster/store/component_access.hpp>
#include <muster/store/sparse_toggle.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace MUSTER_NAMESPACE {

namespace detail {

template <class Layout>
class MUSTER_API store : public component_access<Layout> {
    using access = component_access<Layout>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using table_type = entity_table<Layout>;
    using record_type = record<Layout>;
    using open_scope = detail::open_scope;
    using scope = detail::scope;
    using closing = detail::closing;
    using row_values = detail::row_values;

    using access::bundles;
    using access::catalog;
    using access::changes;
    using access::destroyer;
    using access::ensure_chunk;
    using access::find;
    using access::find_fragment;
    using access::find_record;
    using access::find_set;
    using access::find_value;
    using access::fragments;
    using access::gate;
    using access::graph;
    using access::marks;
    using access::notifier;
    using access::pending;
    using access::placed;
    using access::prepare_placed;
    using access::spawner;
    using access::transaction;

    explicit store(const world_options& options, settings of_file = {})
        : access(options, of_file) {}
    ~store() { end(); }
    /// Destroys all values. Afterwards the world is read-only; destructors of components may still
    /// query it.
    void end() noexcept { engine::end(table_.pool().unused_version()); }
    /// The entities, for rooms that save or replace their pool.
    [[nodiscard]] entity_table<Layout>& table() noexcept { return table_; }

    // ---- creating entities ---------------------------------------------------------------------

    /// Whether the types alone determine the fragments.
    template <class... Args>
    static constexpr bool all_typed = !(... || is_with<std::remove_cvref_t<Args>>);

    template <class... Args>
    id_type spawn(bound_value<Args>... values) {
        // All calls are inlined or in tail position, so the fast path needs no stack frame.
        const writer_guard guard(*this, "spawn");
        if constexpr (sizeof...(Args) == 0) {
            if (!gate.is_idle() || !table_.pool().is_ready()) [[unlikely]]
                return spawn_slowly<>();
            return table_.pool().create_now([](record_type&) {});
        } else {
            const bundle_index::entry& list =
                bundles.find(find_list_index<typename bound_value<Args>::type...>());
            chunk_data* const into = list.spawned;
            if (into == nullptr || into->size == into->capacity || !gate.is_idle() ||
                sizeof...(Args) > std::size(list.columns) || !table_.pool().is_ready()) [[unlikely]]
                return spawn_slowly<Args...>(std::move(values)...);
            const std::size_t row = into->size;
            {
                const guard_if<(... || bound_value<Args>::is_nontrivial)> busy(gate);
                const column* const columns = into->columns.data();
                const std::uint8_t* which = list.columns;
                const auto construct_next = [&](auto& value) {
                    if constexpr (!is_tag<typename std::remove_reference_t<decltype(value)>::type>)
                        construct_value(value, columns[*which].data, row, value.where());
                    ++which;
                };
                (construct_next(values), ...);
            }
            return append(*into);
        }
    }
    /// Like `spawn`, for values that name their fragments. Does not copy the values.
    template <class... Args>
    id_type spawn_given(bound_value<Args>&&... values) {
        const writer_guard guard(*this, "spawn");
        if (gate.is_idle() && table_.pool().is_ready()) [[likely]] {
            // SAFETY: `recent` only compares the pointers.
            fragment_data* const set[] = {const_cast<fragment_data*>(&values.find(*this))...};
            chunk_data* const into = catalog.recent().find(set).spawned;
            if (into != nullptr && into->size != into->capacity) [[likely]] {
                const std::size_t row = into->size;
                {
                    const guard_if<(... || bound_value<Args>::is_nontrivial)> busy(gate);
                    std::size_t i = 0;
                    (construct_value(values, set[i++]->base(into->index), row, values.where()),
                     ...);
                }
                return append(*into);
            }
        }
        return spawn_slowly<Args...>(std::move(values)...);
    }
    /// Whether `append` may create an entity now, in a chunk that has room and notifies no one.
    [[nodiscard]] bool is_ready_to_append() const noexcept {
        return gate.is_idle() && table_.pool().is_ready();
    }
    /// Creates the id of the row after the last, whose values are constructed.
    id_type append(chunk_data& into) noexcept {
        const std::size_t row = into.size++;
        return table_type::ids(into)[row] = table_.pool().create_now(
                   [&](record_type& made) { made.place(into.index, row); });
    }
    template <class... Args>
    id_type spawn_at(at_type wanted, bound_value<Args>... values) {
        const target exact = wanted;
        change list[] = {values.describe(change_kind::put)..., {}};
        return to_id<Layout>(spawner.spawn({list, sizeof...(Args)}, &exact));
    }
    /// Creates an entity like `prototype`, with the given values in place of its own.
    template <class... Args>
    id_type clone(at_type prototype, bound_value<Args>... values) {
        change list[] = {values.describe(change_kind::put)..., {}};
        return to_id<Layout>(spawner.clone(prototype, {list, sizeof...(Args)}));
    }
    [[nodiscard]] static id_span ids_of(std::span<id_type> all) noexcept {
        return {reinterpret_cast<std::byte*>(all.data()), all.size(), sizeof(id_type)};
    }
    /// Creates `count` entities; `fill(chunk, first)` writes the values of the rows from `first`
    /// on.
    template <class Fill>
    void spawn_rows(std::size_t count, chunk_data& given_chunk, const row_values& given,
                    Fill&& fill) {
        const auto call = [](const void* what, const chunk_data& rows, std::size_t first) {
            (*static_cast<const std::remove_reference_t<Fill>*>(what))(rows, first);
        };
        spawner.spawn_rows(count, given_chunk, given, {call, __builtin_addressof(fill)});
    }

    // ---- inserting and removing values ---------------------------------------------------------

    enum class if_present { replace, skip };

    /// Stores these values in the entity. Replaces or skips existing values; returns false if it
    /// skipped all. Invalidates references to the entity's components if it adds a fragment.
    template <if_present IfPresent, class... Args>
    bool put(at_type of, const char* call, bound_value<Args>... values) {
        // The fast path is for sparse values that toggle every frame. The rest is a tail call, so
        // it needs no stack frame.
        if constexpr (sizeof...(Args) == 1 && all_typed<Args...> && !checks_threads)
            if (sparse_set* const set =
                    (this->template find_set<typename bound_value<Args>::type>(), ...);
                set != nullptr && gate.is_idle() &&
                try_fast_put < IfPresent == if_present::replace > (of.id, *set, gate, values...))
                return true;
        return put_any<IfPresent, Args...>(of, call, std::move(values)...);
    }
    /// Stores a value that `make(room)` constructs in its final slot, or in scratch memory.
    template <class T, class Make>
    void emplace(at_type of, fragment_name fragment, const char* call, Make& make) {
        change made{.fragment = fragment, .type = value_type_ref::of<T>()};
        made.self = __builtin_addressof(make);
        made.construct = [](void* to, const void* self) {
            (*static_cast<Make*>(const_cast<void*>(self)))(to);
        };
        (void)changes.submit({of, {&made, 1}, call});
    }

    template <class... Ts>
    bool remove(at_type of) {
        if constexpr (sizeof...(Ts) == 1 && !checks_threads)
            if (sparse_set* const set = (this->template find_set<Ts>(), ...);
                set != nullptr && gate.is_idle() && try_fast_remove(of.id, *set))
                return true;
        return remove_any<Ts...>(of);
    }
    /// Removes a fragment that is named by its id.
    bool remove(at_type of, id_type f);

    /// Calls `change(T&)` on the value and notifies hooks. In a scope, prefers the pending value.
    template <class T, class Change>
    T& patch(at_type of, const fragment_data& fragment, Change&& change) {
        if (gate.is_parallel()) [[unlikely]]
            return this->template patch_in_phase<T>(of, fragment, std::forward<Change>(change));
        if (gate.is_deferred("patch")) [[unlikely]]
            return patch_in_scope<T>(of, fragment, change);
        scope whole(*this);
        changes.mark_written(of.id.value(), fragment);
        std::forward<Change>(change)(*this->template find_value<T>(of.id, fragment));
        notifier.assigned(of.id.value(), *fragments.find(fragment.id));
        whole.commit();
        return this->template placed<T>(of, fragment, "patch");
    }

    // ---- destroying entities -------------------------------------------------------------------

    bool destroy(at_type of) {
        const writer_guard guard(*this, "destroy");
        if (!gate.is_idle() || marks.test(of.id.key()) || !table_.pool().is_destroyed_easily(of.id))
            [[unlikely]]
            return destroyer.destroy(target(of));
        record_type& found = table_.pool().dense()[of.id.key() - table_.pool().dense_first_key()];
        if (found.chunk() != chunk_index{}) return destroy_placed(of, found);
        table_.pool().destroy_now(of.id);
        return true;
    }
    /// Destroys these entities and returns how many were alive. If an id is of another world,
    /// throws and destroys none.
    std::size_t destroy(std::span<const id_type> all, const std::source_location& where);

    // ---- capacity ------------------------------------------------------------------------------

    void reserve(std::size_t count);
    /// Throws what `reserve` throws before it allocates. Returns the number of ids to reserve.
    std::size_t refuse_reserve(std::size_t count);
    /// Reserves room for `count` rows in total.
    void reserve(chunk_data& into, std::size_t count);

private:
    template <class Arg>
    static void construct_value(bound_value<Arg>& value, std::byte* base, std::size_t row,
                                const void* from) noexcept {
        using type = typename bound_value<Arg>::type;
        if constexpr (!is_tag<type>) value.construct(value_at<type>(base, row), from);
    }
    template <class Arg>
    static void assign_value(bound_value<Arg>& value, std::byte* base, std::size_t row,
                             const void* from) noexcept {
        using type = typename bound_value<Arg>::type;
        if constexpr (!is_tag<type>) value.assign(value_at<type>(base, row), from);
    }

    template <class T, class Change>
    [[gnu::noinline]] T& patch_in_scope(at_type of, const fragment_data& fragment, Change& change) {
        const auto [value, is_pending] = changes.begin_patch(of, fragment, type_name<T>());
        const std::uint32_t recorded = pending.now().entries;
        scope whole(*this);
        // SAFETY: the caller has checked that the values are of type T.
        std::forward<Change>(change)(is_tag<T> ? tag_value<T>() : *static_cast<T*>(value));
        whole.commit();
        // `change` may have moved the value, or cancelled the scope that has recorded it.
        const bool is_there = is_pending && pending.now().entries >= recorded;
        T* const left =
            is_there ? static_cast<T*>(value) : this->template find_value<T>(of.id, fragment);
        return left != nullptr ? *left : this->template placed<T>(of, fragment, "patch");
    }
    /// Slow path of `spawn`: allocates, notifies, records or throws.
    template <class... Args>
    [[gnu::noinline]] id_type spawn_slowly(bound_value<Args>... values) {
        if constexpr (sizeof...(Args) == 0)
            if (gate.is_only_deferred() && table_.pool().is_ready()) {
                pending.reserve_one();
                const id_type made = table_.pool().create_now([](record_type&) {});
                pending.record_spawn(made.value());
                return made;
            }
        if constexpr (sizeof...(Args) != 0 && all_typed<Args...>)
            if (gate.is_idle())
                (void)this->template ensure_chunk<typename bound_value<Args>::type...>();
        change list[] = {values.describe(change_kind::put)..., {}};
        return to_id<Layout>(spawner.spawn({list, sizeof...(Args)}, nullptr));
    }

    template <if_present IfPresent, class... Args>
    [[gnu::noinline]] bool put_any(at_type of, const char* call, bound_value<Args>... values) {
        const writer_guard guard(*this, call);
        if (gate.is_idle() && alive_locally(of.id)) [[likely]] {
            if constexpr (sizeof...(Args) == 1) {
                if (const put_result done =
                        (put_one<IfPresent>(of.id, *find_record(of.id.key()), values), ...);
                    done != put_result::slow)
                    return done == put_result::stored;
            } else if constexpr (all_typed<Args...> && IfPresent == if_present::replace) {
                chunk_data& set =
                    this->template ensure_chunk<typename bound_value<Args>::type...>();
                // Registering a type may have moved the records.
                if (put_set(of.id, *find_record(of.id.key()), set, values...)) return true;
            }
        }
        return submit<IfPresent, Args...>(of, call, values...);
    }
    template <if_present IfPresent, class... Args>
    [[gnu::noinline]] bool submit(at_type of, const char* call, bound_value<Args>&... values) {
        if constexpr (sizeof...(Args) == 1 && all_typed<Args...> &&
                      IfPresent == if_present::replace &&
                      !(... || bound_value<Args>::is_nontrivial))
            if (gate.is_only_deferred() && (record_bytes(of.id, values), ...)) return true;
        constexpr auto kind =
            IfPresent == if_present::replace ? change_kind::put : change_kind::keep;
        change list[] = {values.describe(kind)...};
        if constexpr (sizeof...(Args) == 1)
            if (sparse_set* const set = (values.find(*this), ...).sparse_values)
                if (changes.prepare_fast_put(of, *set, call) &&
                    (try_fast_put < IfPresent == if_present::replace > (of.id, *set, gate, values),
                     ...))
                    return true;
        return changes.submit({of, list, call});
    }

    /// Fast path in a scope: records a value that is copied as bytes. False, and nothing has
    /// changed, otherwise.
    template <class Arg>
    bool record_bytes(id_type e, const bound_value<Arg>& value) {
        const fragment_data& fragment = value.find(*this);
        const record_type* const found = find_record(e.key());
        if (found == nullptr || !found->is(e, table_.pool().origin()) ||
            found->chunk() == chunk_graph::away_index || fragment.sparse_values != nullptr ||
            &fragment == &no_fragment)
            return false;
        // SAFETY: the fragment is not `no_fragment`, the only const one.
        transaction.record_bytes(e.value(), change_kind::put, const_cast<fragment_data&>(fragment),
                                 value.address());
        return true;
    }

    enum class put_result { stored, skipped, slow };

    /// Stores a value of a chunk fragment if that notifies no one.
    template <if_present IfPresent, class Arg>
    put_result put_one(id_type e, record_type& found, bound_value<Arg>& value) {
        const fragment_data& fragment = value.find(*this);
        // From the record, not from the chunk: that would be two loads later.
        if (std::byte* const base = fragment.base(found.chunk())) {
            if constexpr (IfPresent == if_present::skip) {
                return put_result::skipped;
            } else {
                if (fragment.hooks.has(assign_hooks)) [[unlikely]]
                    if (!prepare_assign(fragment)) return put_result::slow;
                {
                    const guard_if<bound_value<Arg>::is_nontrivial> busy(gate);
                    assign_value(value, base, found.row(), value.where());
                }
                if (fragment.hooks.has(assign_hooks)) [[unlikely]]
                    note_assign(fragment, e);
                return put_result::stored;
            }
        }
        chunk_data& here = graph.at(found.chunk());
        transition* const step =
            here.edges.find(edge_key::of(graph.edge_epoch(), fragment.index, false));
        if (step == nullptr || !step->is_plain) [[unlikely]]
            if (step == nullptr || !step->is_hooked || step->calls_before) return put_result::slow;
        chunk_data& to = *step->to;
        const void* from[] = {value.where()};
        to.make_room(1, table_type::row_limit, from);
        if (step->has_notices) [[unlikely]]
            notifier.prepare(*step, 1);
        {
            const guard_if<bound_value<Arg>::is_nontrivial> busy(gate);
            construct_value(value, fragment.base(to.index), to.size, from[0]);
        }
        if (step->calls_after) [[unlikely]] {
            changes.apply_hooked(e.value(), *step);
            return put_result::stored;
        }
        table_.move_row(e, found, here, *step, gate);
        if (step->has_notices) [[unlikely]]
            notifier.note(*step, e.value());
        return put_result::stored;
    }
    /// Makes room in the logs of observers. False if a hook is to be called.
    MUSTER_COLD static bool prepare_assign(const fragment_data& fragment) {
        if (fragment.hooks.calls(assign_hooks)) return false;
        // SAFETY: the fragment has a value, so it is not `no_fragment`, the only const one.
        const_cast<fragment_data&>(fragment).hooks.prepare(hook_kind::assign, 1);
        return true;
    }
    MUSTER_COLD static void note_assign(const fragment_data& fragment, id_type e) noexcept {
        const_cast<fragment_data&>(fragment).hooks.note(hook_kind::assign, e.value());
    }
    /// Stores the values of several types, with this chunk, if that notifies no one; otherwise
    /// returns false.
    template <class... Args>
    bool put_set(id_type e, record_type& found, chunk_data& set, bound_value<Args>&... values) {
        if ((... || values.find(*this).hooks.has(assign_hooks))) [[unlikely]]
            return false;
        chunk_data& here = graph.at(found.chunk());
        const transition* step =
            here.edges.find(edge_key::of_set(graph.edge_epoch(), set.index, false));
        if (step == nullptr) [[unlikely]]
            step = catalog.ensure_set_edge(here, set, false);
        if (step == nullptr || !step->is_plain) [[unlikely]]
            return false;
        chunk_data& to = *step->to;
        const void* from[] = {values.where()...};
        if (&to != &here) to.make_room(1, table_type::row_limit, from);
        if (step->has_notices) [[unlikely]]
            notifier.prepare(*step, 1);
        {
            const guard_if<(... || bound_value<Args>::is_nontrivial)> busy(gate);
            const void* const* at = from;
            const auto store_next = [&](auto& value, const fragment_data& fragment) {
                if (!here.has(fragment))
                    construct_value(value, fragment.base(to.index), to.size, *at);
                ++at;
            };
            (store_next(values, values.find(*this)), ...);
            at = from;
            const auto assign_next = [&](auto& value, const fragment_data& fragment) {
                if (std::byte* const base = fragment.base(here.index))
                    assign_value(value, base, found.row(), *at);
                ++at;
            };
            (assign_next(values, values.find(*this)), ...);
        }
        // A plain move keeps the values that were assigned.
        if (&to != &here) table_.move_row(e, found, here, *step, gate);
        if (step->has_notices) [[unlikely]]
            notifier.note(*step, e.value());
        return true;
    }

    template <class... Ts>
    [[gnu::noinline]] bool remove_any(at_type of) {
        const writer_guard guard(*this, "remove");
        if constexpr (sizeof...(Ts) == 1)
            if (gate.is_idle() && alive_locally(of.id)) [[likely]]
                if (const remove_result done =
                        remove_one(of.id, *find_record(of.id.key()),
                                   (this->template find_fragment<Ts>(), ...));
                    done != remove_result::slow)
                    return done == remove_result::removed;
        const fragment_name names_of[] = {fragment_name::of<Ts>()...};
        return changes.remove(of, names_of);
    }

    enum class remove_result { removed, absent, slow };

    /// Removes a chunk fragment if that notifies no one.
    remove_result remove_one(id_type e, record_type& found, const fragment_data& fragment) {
        chunk_data& here = graph.at(found.chunk());
        if (fragment.base(here.index) == nullptr)
            return fragment.sparse_values == nullptr && fragment.alias == nullptr && !here.is_away
                       ? remove_result::absent
                       : remove_result::slow;
        transition* const step =
            here.edges.find(edge_key::of(graph.edge_epoch(), fragment.index, true));
        if (step == nullptr || !(step->is_plain || step->is_hooked)) [[unlikely]]
            return remove_result::slow;
        if (step->has_notices) [[unlikely]]
            notifier.prepare(*step, 1);
        const bool has_target = step->to->index != chunk_index{};
        if (has_target) step->to->make_room(1, table_type::row_limit, {});
        if (!step->is_plain) [[unlikely]] {
            changes.apply_hooked(e.value(), *step);
            return remove_result::removed;
        }
        if (has_target)
            table_.move_row(e, found, here, *step, gate);
        else
            table_.remove_row(found, here, gate);
        if (step->has_notices) [[unlikely]]
            notifier.note(*step, e.value());
        return remove_result::removed;
    }
    /// Fast path of `destroy` for an entity with components.
    bool destroy_placed(at_type of, record_type& found);
    /// Whether the entity has a record. Not for ids of the current parallel phase.
    [[nodiscard]] bool alive_locally(id_type e) const noexcept {
        const record_type* const found = find_record(e.key());
        return found != nullptr && found->is(e, table_.pool().origin());
    }

    using access::adapter_;
    using access::table_;
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
