// system: a named function that a world calls for its entities, in a defined order.
//
//     auto move = w.system("move").each([](position& p, const velocity& v, float dt) {
//         p.x += v.x * dt;
//     });
//     w.process_with(move, 0.016f);
#pragma once

#include <muster/base/text.hpp>
#include <muster/query/query.hpp>
#include <muster/system/schedule.hpp>
#include <muster/system/system_conditions.hpp>
#include <muster/system/system_function.hpp>
#include <muster/system/system_ref.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// A handle to a system of a world: a function, a group of other systems, or both. Copies refer to
/// the same system, which stays in its world until it is removed. Using a removed system or the null
/// system throws `errc::unknown_system`. A handle may outlive its world; using it then throws
/// `errc::world_ended`. Calls chain: `w.system("move").after("input").each(...)`.
///
/// All calls require exclusive access to the world, like changes. In a parallel phase, all but
/// `name`, `is_enabled`, `elapsed`, `timings` and comparisons throw `errc::in_scope`. A running system may
/// call them, even on itself. `process` fixes the order of systems at its start; a system that is
/// disabled or removed before its turn does not run.
template <class Layout>
class basic_system : public detail::system_conditions<Layout, basic_system<Layout>> {
    using base = detail::system_conditions<Layout, basic_system<Layout>>;
    using systems_type = detail::systems<Layout>;

public:
    using id_type = basic_id<Layout>;

    /// Creates the null system.
    basic_system() = default;

    // ---- functions -----------------------------------------------------------------------------

    /// Calls `function(components..., payload...)`, optionally with the entity first, for each
    /// entity that has these components. References and pointers are components, and a pointer may
    /// be null; values are the payload. Changes are recorded and applied after the last entity.
    template <class Function>
    basic_system each(Function&& function) const {
        using kinds = detail::call_kinds<id_type, std::decay_t<Function>>;
        static_assert(kinds::is_ordered,
                      "muster: a system's function takes the entity (optional), then components by "
                      "reference or pointer, then its payload by value.");
        constexpr bool takes_components = !kinds::takes_objects_only || kinds::has_first;
        static_assert(takes_components,
                      "muster: a system's function takes components by reference or pointer, and "
                      "its payload by value: write T& or const T&.");
        detail::check_values<kinds>();
        if constexpr (kinds::is_ordered && detail::has_good_values<kinds> && takes_components)
            return each_of(typename kinds::components{}, std::forward<Function>(function));
        else
            return *this;  // refused
    }
    /// Calls `function(chunk_view, payload...)` for each chunk that has entities. `with`, `without`
    /// and `any`, or a query, select the entities. A function without a `chunk_view` is called
    /// once. Runs in a scope, like `each`.
    template <class Function>
    basic_system execute(Function&& function) const {
        basic_query<Layout> query(owner().entities, owner().queries);
        query.add_terms(data().asked);
        return execute_of(query, std::forward<Function>(function));
    }

    /// Calls `function(payload...)` once, outside of a scope: each change takes effect at once. So it
    /// runs alone in `par_process`. In a scope that the caller of `process` has opened, changes are
    /// recorded nevertheless.
    template <class Function>
    basic_system immediate(Function&& function) const {
        detail::system_data& system = changed();
        set(system.body, detail::once(owner().entities, std::forward<Function>(function)));
        system.use.taken.clear();
        system.use.is_exclusive = true;
        return *this;
    }

    /// Calls `function(const E&, payload...)` for each event that it has not seen, in the order in
    /// which they were sent. The system sees events from the moment of this call. Runs in a scope,
    /// like `each`. An event is seen even if the function throws. See `event_reader`.
    template <class Function>
    basic_system each_event(Function&& function) const {
        using kinds = detail::event_kinds<std::decay_t<Function>>;
        detail::check_values<kinds>();
        static_assert(kinds::fits || !detail::has_good_values<kinds>,
                      "muster: the function of each_event takes an event by const reference, then "
                      "its payload by value.");
        if constexpr (kinds::fits && detail::has_good_values<kinds>) {
            (void)changed();  // may throw: before the reader is created
            auto& entities = owner().entities;
            auto body = detail::body_of<Layout, kinds>(entities, &entities,
                                                       std::forward<Function>(function));
            auto made = detail::box_body(std::move(body), &decltype(body)::each_element);
            note_taken(basic_query<Layout>(entities, owner().queries), typename kinds::values{},
                       false);
            set(data().body, std::move(made));
        }
        return *this;
    }

    template <class Query>
    class with_query;
    /// Uses an existing query: `w.system("x").query(q).each(...)`. Throws `errc::foreign_entity` if
    /// the query belongs to another world.
    template <class... Ts>
    [[nodiscard]] auto query(const basic_query<Layout, Ts...>& shared) const {
        return use(shared);
    }
    template <class... Ts>
    [[nodiscard]] auto query(const basic_link_query<Layout, Ts...>& shared) const {
        return use(shared);
    }

    /// Only entities that have all of these. Throws `errc::too_late` after `each` or `execute`,
    /// like `without` and `any`.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_system with() const {
        return refine([](const auto& query) { return query.template with<Us...>(); });
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_system with(const Fs&... fragments) const {
        return refine([&](const auto& query) { return query.with(fragments...); });
    }
    /// Only entities that have none of these.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_system without() const {
        return refine([](const auto& query) { return query.template without<Us...>(); });
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_system without(const Fs&... fragments) const {
        return refine([&](const auto& query) { return query.without(fragments...); });
    }
    /// Only entities that have at least one of these.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_system any() const {
        return refine([](const auto& query) { return query.template any<Us...>(); });
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_system any(const Fs&... fragments) const {
        return refine([&](const auto& query) { return query.any(fragments...); });
    }

    /// Sets a function that runs before everything else, with the payload or its first values. It
    /// runs outside of a scope: changes are immediate.
    template <class Function>
    basic_system prologue(Function&& function) const {
        return set(changed().prologue,
                   detail::once(owner().entities, std::forward<Function>(function)));
    }
    /// Sets a function that runs after everything else, unless something has thrown.
    template <class Function>
    basic_system epilogue(Function&& function) const {
        return set(changed().epilogue,
                   detail::once(owner().entities, std::forward<Function>(function)));
    }

    /// Declares components that the function accesses through the world or a `chunk_view`, in
    /// addition to its arguments. `par_process` uses this to find systems that can run in parallel.
    /// Without it, a function whose arguments are not its components runs alone.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_system reads() const {
        static_assert((... && detail::is_component<Us>));
        const detail::access uses[] = {detail::access_to<const Us>()...};
        return declare(uses);
    }
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_system writes() const {
        static_assert((... && detail::is_component<Us>));
        const detail::access uses[] = {detail::access_to<Us>()...};
        return declare(uses);
    }

    // ---- order ---------------------------------------------------------------------------------

    /// Adds the system to a group: another system, or a group that an id of the user stands for.
    /// Members run after the group's function and before its epilogue. Throws `errc::system_circle`
    /// if the group is in this system.
    basic_system group(const basic_system& other) const {
        owner().all.set_group(changed(), &owner().get(other));
        return *this;
    }
    basic_system group(std::string_view name) const {
        owner().all.set_group(changed(), &owner().all.get(name));
        return *this;
    }
    basic_system group(id_type other) const {
        detail::system_data& member = changed();  // may throw: before the group is created
        owner().all.set_group(member, &owner().ensure(other));
        return *this;
    }

    /// Removes the system from its group.
    basic_system ungroup() const {
        owner().all.set_group(changed(), nullptr);
        return *this;
    }

    /// Orders this system before, or after, these, which need not exist yet. The order matters if
    /// both run in one call. For systems in different groups, it orders the groups.
    template <class... Names>
        requires(sizeof...(Names) > 0)
    basic_system before(const Names&... others) const {
        const std::string_view names[] = {name_of(others)...};
        owner().all.add_constraints(changed(), names, true);
        return *this;
    }
    template <class... Names>
        requires(sizeof...(Names) > 0)
    basic_system after(const Names&... others) const {
        const std::string_view names[] = {name_of(others)...};
        owner().all.add_constraints(changed(), names, false);
        return *this;
    }

    /// A disabled system does nothing, and neither do its members.
    basic_system enable(bool wanted = true) const {
        changed().is_enabled = wanted;
        return *this;
    }
    basic_system disable() const { return enable(false); }

private:
    template <class>
    friend class basic_world;
    basic_system(systems_type& from, std::uint64_t number) : base(from, number) {}

    using base::changed;
    using base::data;
    using base::name_of;
    using base::owner;

    template <class Query>
    [[nodiscard]] with_query<Query> use(const Query& shared) const {
        const systems_type& mine = owner();
        shared.world_.require();
        if (shared.store_ != &mine.entities)
            detail::raise(errc::foreign_entity,
                          detail::text("the query for the system \"", base::name(),
                                       "\" belongs to another world"));
        with_query<Query> made(*this, shared);
        made.query_.add_terms(data().asked);
        return made;
    }
    basic_system declare(std::span<const detail::access> uses) const {
        detail::array_list<detail::access>& declared = changed().use.declared;
        declared.insert(declared.end(), uses.data(), uses.data() + uses.size());
        return *this;
    }
    template <class Change>
    basic_system refine(Change change) const {
        if (changed().body.call != nullptr)
            detail::raise(errc::too_late, detail::text("system \"", base::name(),
                                                       "\" already has its function: call with, "
                                                       "without and any before each or execute"));
        basic_query<Layout> query(owner().entities, owner().queries);
        query.add_terms(data().asked);
        data().asked = change(query).terms_;
        return *this;
    }
    basic_system set(detail::system_function& which, detail::system_function&& made) const {
        owner().all.set(which, std::move(made));
        return *this;
    }

    template <template <class, class...> class Query, class... Ts, class... Vs>
    void note_taken(const Query<Layout, Ts...>&, detail::type_list<Vs...>, bool is_known) const {
        detail::array_list<detail::access> all;
        (all.push_back(detail::access_to<Ts>()), ...);
        (detail::add_access<Vs>(all), ...);
        changed().use.taken.swap(all);
        data().use.is_taken_known = is_known;
        data().use.is_exclusive = false;
    }
    template <class... Args, class Function>
    basic_system each_of(detail::type_list<Args...>, Function&& function) const {
        basic_query<Layout, detail::argument_of<Args>...> query(owner().entities, owner().queries);
        query.add_terms(data().asked);
        return each_of(query, std::forward<Function>(function));
    }
    template <template <class, class...> class Query, class... Ts, class Function>
    basic_system each_of(const Query<Layout, Ts...>& query, Function&& function) const {
        using kinds = detail::row_kinds<Layout, std::decay_t<Function>, Ts...>;
        detail::check_values<kinds>();
        detail::check_row<kinds>();
        if constexpr (kinds::fits && detail::has_good_values<kinds>) {
            auto body = detail::body_of<Layout, kinds>(owner().entities, query,
                                                       std::forward<Function>(function));
            auto made = detail::box_body(std::move(body), &decltype(body)::each);
            note_taken(query, typename kinds::values{}, true);
            set(data().body, std::move(made));
        }
        return *this;
    }
    template <class Query, class Function>
    basic_system execute_of(const Query& query, Function&& function) const {
        using kinds = detail::call_kinds<basic_rows<Layout>, std::decay_t<Function>>;
        detail::check_values<kinds>();
        static_assert(kinds::components::size == 0 || kinds::refers_to_world_argument,
                      "muster: the function of execute takes a chunk_view (optional), then its "
                      "payload by value.");
        if constexpr (kinds::components::size != 0 || !detail::has_good_values<kinds>) {
            return *this;  // refused
        } else if constexpr (kinds::has_first) {
            auto body = detail::body_of<Layout, kinds>(owner().entities, query,
                                                       std::forward<Function>(function));
            auto made = detail::box_body(std::move(body), &decltype(body)::each_chunk);
            note_taken(query, typename kinds::values{}, query.arguments != 0);
            return set(data().body, std::move(made));
        } else {
            auto& entities = owner().entities;
            auto body = detail::body_of<Layout, kinds>(entities, &entities,
                                                       std::forward<Function>(function));
            auto made = detail::box_body(std::move(body), &decltype(body)::once_in_scope);
            note_taken(basic_query<Layout>(entities, owner().queries), typename kinds::values{},
                       false);
            return set(data().body, std::move(made));
        }
    }
};
using system = basic_system<layouts::bound>;
/// A second name, which `using namespace muster` does not make ambiguous with `::system`.
using system_handle = system;

/// A system, and the query that it will use.
template <class Layout>
template <class Query>
class basic_system<Layout>::with_query {
public:
    template <class Function>
    basic_system each(Function&& function) const {
        return system_.each_of(query_, std::forward<Function>(function));
    }
    template <class Function>
    basic_system execute(Function&& function) const {
        return system_.execute_of(query_, std::forward<Function>(function));
    }

private:
    friend basic_system;
    with_query(const basic_system& owner, const Query& query) : system_(owner), query_(query) {}
    basic_system system_;
    Query query_;
};

}  // namespace MUSTER_NAMESPACE
