// system: a named function that a world calls for its entities, in a defined order.
//
//     auto move = w.system("move").each([](position& p, const velocity& v, float dt) {
//         p.x += v.x * dt;
//     });
//     w.process_with(move, 0.016f);
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/text.hpp>
#include <muster/query/query.hpp>
#include <muster/system/schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace muster {

template <class Layout>
class basic_system;

namespace detail {

template <class Layout>
struct systems;

// ---- parameters of a user's function -----------------------------------------------------------

template <class... Ts>
struct type_list {
    static constexpr std::size_t size = sizeof...(Ts);
};

template <class T>
inline constexpr bool is_component_argument = std::is_lvalue_reference_v<T> || std::is_pointer_v<T>;

/// Splits parameters: references and pointers are components, values after them are the payload.
template <class Components, class Payload, class... Rest>
struct split_arguments;
template <class... Cs, class... Ps>
struct split_arguments<type_list<Cs...>, type_list<Ps...>> {
    using components = type_list<Cs...>;
    using payload = type_list<Ps...>;
    static constexpr bool is_payload_copyable =
        (... && (!std::is_reference_v<Ps> && std::is_copy_constructible_v<Ps>));
    static constexpr bool is_ordered = true;
};
template <class... Cs, class... Ps, class Arg, class... Rest>
struct split_arguments<type_list<Cs...>, type_list<Ps...>, Arg, Rest...>
    : split_arguments<type_list<Cs...>, type_list<Ps..., Arg>, Rest...> {};
template <class... Cs, class... Ps, class Arg, class... Rest>
    requires is_component_argument<Arg>
struct split_arguments<type_list<Cs...>, type_list<Ps...>, Arg, Rest...>
    : split_arguments<type_list<Cs..., Arg>, type_list<Ps...>, Rest...> {
    static constexpr bool is_ordered =
        sizeof...(Ps) == 0 &&
        split_arguments<type_list<Cs..., Arg>, type_list<Ps...>, Rest...>::is_ordered;
};

/// Like `split_arguments`, for all parameters; `First` may precede the components.
template <class First, class... Args>
struct argument_kinds : split_arguments<type_list<>, type_list<>, Args...> {
    static constexpr bool has_first = false;
};
template <class First, class Arg, class... Args>
    requires std::is_same_v<First, std::remove_cvref_t<Arg>>
struct argument_kinds<First, Arg, Args...> : split_arguments<type_list<>, type_list<>, Args...> {
    static constexpr bool has_first = true;
};

template <class First, class Call>
struct call_kinds : call_kinds<First, decltype(&Call::operator())> {};
template <class First, class Result, class... Args>
struct call_kinds<First, Result (*)(Args...)> : argument_kinds<First, Args...> {};
template <class First, class Result, class... Args>
struct call_kinds<First, Result (*)(Args...) noexcept> : argument_kinds<First, Args...> {};
template <class First, class Owner, class Result, class... Args>
struct call_kinds<First, Result (Owner::*)(Args...)> : argument_kinds<First, Args...> {};
template <class First, class Owner, class Result, class... Args>
struct call_kinds<First, Result (Owner::*)(Args...) const> : argument_kinds<First, Args...> {};
template <class First, class Owner, class Result, class... Args>
struct call_kinds<First, Result (Owner::*)(Args...) noexcept> : argument_kinds<First, Args...> {};
template <class First, class Owner, class Result, class... Args>
struct call_kinds<First, Result (Owner::*)(Args...) const noexcept>
    : argument_kinds<First, Args...> {};

/// Returns whether parameters of these types take these values of a query.
template <class Components, class... Values>
constexpr bool takes_values() {
    if constexpr (Components::size == sizeof...(Values))
        return []<class... Cs>(type_list<Cs...>) {
            return (... && std::is_convertible_v<Values, Cs>);
        }(Components{});
    else
        return false;
}

/// Like `call_kinds`; for a function with `auto` parameters, uses the components of the query.
template <class Layout, class Function, class... Ts>
struct row_kinds {
    using id_type = basic_id<Layout>;
    static constexpr bool has_first =
        std::is_invocable_v<Function&, id_type, typename term_traits<Ts>::value...>;
    using components = type_list<typename term_traits<Ts>::value...>;
    using payload = type_list<>;
    static constexpr bool is_payload_copyable = true;
    static constexpr bool fits =
        std::disjunction_v<std::bool_constant<has_first>,
                           std::is_invocable<Function&, typename term_traits<Ts>::value...>>;
};
template <class Layout, class Function, class... Ts>
    requires std::is_pointer_v<Function> || requires { &Function::operator(); }
struct row_kinds<Layout, Function, Ts...> : call_kinds<basic_id<Layout>, Function> {
    static constexpr bool fits =
        row_kinds::is_ordered &&
        takes_values<typename row_kinds::components, typename term_traits<Ts>::value...>();
};

/// A callback for a query that also passes the payload.
template <class Function, class Payload, class... Args>
struct call_with_payload {
    Function function;
    Payload payload;

    [[gnu::always_inline]] void operator()(Args... args) {
        std::apply(
            [&](const auto&... values) { function(static_cast<Args&&>(args)..., values...); },
            payload);
    }
};

/// The body of a system: calls a function with its payload, or for each row or chunk of a query.
template <class Layout, class Function, class Kinds, class Query>
struct system_body {
    Function function;
    Query query;

    static void each(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);  // SAFETY: `what` is the boxed body
        if constexpr (Kinds::has_first)
            self.loop(given, type_list<basic_id<Layout>>{}, typename Kinds::components{});
        else
            self.loop(given, type_list<>{}, typename Kinds::components{});
    }
    static void each_chunk(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);
        const auto values = take(given, typename Kinds::payload{});
        self.query.each_chunk(call_with_payload<Function&, decltype(values), basic_rows<Layout>>{
            self.function, values});
    }
    static void once(void* what, payload given) {
        auto& self = *static_cast<system_body*>(what);
        std::apply(self.function, take(given, typename Kinds::payload{}));
    }
    static shared_rows rows(void* what) {
        return static_cast<system_body*>(what)->query.shared_rows();
    }
    /// Runs in a scope of the store, to which `query` points here.
    static void once_in_scope(void* what, payload given) {
        typename store<Layout>::scope changes(*static_cast<system_body*>(what)->query);
        once(what, given);
        changes.commit();
    }

private:
    template <class... First, class... Cs>
    void loop(payload given, type_list<First...>, type_list<Cs...>) {
        const auto values = take(given, typename Kinds::payload{});
        // Copies the function to the stack if that is unobservable: the loop then keeps captures in
        // registers.
        constexpr bool is_copied =
            std::is_trivially_copyable_v<Function> && std::is_copy_constructible_v<Function> &&
            sizeof(Function) <= 64 &&
            can_call_const(typename Kinds::payload{}, type_list<First..., Cs...>{});
        call_with_payload<std::conditional_t<is_copied, const Function, Function&>,
                          decltype(values), First..., Cs...>
            callback{function, values};
        query.each(callback);
    }
    template <class... Ps, class... Args>
    static constexpr bool can_call_const(type_list<Ps...>, type_list<Args...>) {
        return std::is_invocable_v<const Function&, Args..., const std::remove_cvref_t<Ps>&...>;
    }
    template <class... Ps>
    static std::tuple<std::remove_cvref_t<Ps>...> take(payload given, type_list<Ps...>) {
        return take(given, type_list<Ps...>{}, std::index_sequence_for<Ps...>{});
    }
    template <class... Ps, std::size_t... I>
    static std::tuple<std::remove_cvref_t<Ps>...> take([[maybe_unused]] payload given,
                                                       type_list<Ps...>,
                                                       std::index_sequence<I...>) {
        return {take_payload<std::remove_cvref_t<Ps>>(given, I)...};
    }
};

}  // namespace detail

/// A handle to a system of a world: a function, a group of other systems, or both. Copies refer to
/// the same system, which stays in its world until it is removed. Using a removed system throws
/// `errc::unknown_system`. Calls chain: `w.system("move").after("input").each(...)`.
///
/// All calls require exclusive access to the world, like changes; in a parallel phase, changes
/// throw `errc::in_scope`. A running system may call them, even on itself. `process` fixes the
/// order of systems at its start; a system that is disabled or removed before its turn does not
/// run.
template <class Layout>
class basic_system {
    using systems_type = detail::systems<Layout>;

public:
    using id_type = basic_id<Layout>;

    basic_system() = default;
    /// False for the null system, and for a removed system.
    explicit operator bool() const noexcept {
        return owner_ != nullptr && owner_->all.find(number_) != nullptr;
    }
    friend bool operator==(const basic_system&, const basic_system&) = default;

    /// Unique in its world. A system that was added without a name is called "#" and its number.
    [[nodiscard]] std::string_view name() const { return data().name; }

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
        check_payload<kinds>();
        if constexpr (kinds::is_ordered && kinds::is_payload_copyable)
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

    template <class... Ts>
    class with_query;
    /// Uses an existing query: `w.system("x").query(q).each(...)`. Throws `errc::foreign_entity` if
    /// the query belongs to another world.
    template <class... Ts>
    [[nodiscard]] with_query<Ts...> query(const basic_query<Layout, Ts...>& shared) const {
        if (shared.store_ != &owner().entities)
            detail::raise(errc::foreign_entity, detail::text("the query for the system \"", name(),
                                                             "\" belongs to another world"));
        with_query<Ts...> made(*this, shared);
        made.query_.add_terms(data().asked);
        return made;
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
        return set(changed().prologue, once(std::forward<Function>(function)));
    }
    /// Sets a function that runs after everything else, unless something has thrown.
    template <class Function>
    basic_system epilogue(Function&& function) const {
        return set(changed().epilogue, once(std::forward<Function>(function)));
    }

    /// Declares components that the function accesses through the world or a `chunk_view`, in
    /// addition to its arguments. `par_process` uses this to find systems that can run in parallel.
    /// Without it, a function whose arguments are not its components runs alone.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_system reads() const {
        static_assert((... && detail::is_component<Us>));
        (changed().declared.push_back(access_to<const Us>()), ...);
        return *this;
    }
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_system writes() const {
        static_assert((... && detail::is_component<Us>));
        (changed().declared.push_back(access_to<Us>()), ...);
        return *this;
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
        owner().all.set_group(changed(), &owner().ensure(other));
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
        (owner().all.add_constraint(changed(), name_of(others), true), ...);
        return *this;
    }
    template <class... Names>
        requires(sizeof...(Names) > 0)
    basic_system after(const Names&... others) const {
        (owner().all.add_constraint(changed(), name_of(others), false), ...);
        return *this;
    }

    /// A disabled system does nothing, and neither do its members.
    basic_system enable(bool wanted = true) const {
        changed().is_enabled = wanted;
        return *this;
    }
    basic_system disable() const { return enable(false); }
    [[nodiscard]] bool is_enabled() const { return data().is_enabled; }

    /// Removes the system. Its members then have no group. Its functions are destroyed when no
    /// system runs.
    void remove() const { owner().all.remove(changed()); }

    // ---- timings -------------------------------------------------------------------------------

    /// Covers the runs that ended without an exception while `world::time_systems` was on. The time
    /// of a group includes its members.
    [[nodiscard]] system_timings timings() const {
        const detail::system_data& system = data();
        return {system.last, system.count == 0 ? 0 : system.total / system.count, system.max,
                system.count};
    }
    void reset_timings() const {
        detail::system_data& system = changed();
        system.last = system.total = system.max = system.count = 0;
    }

private:
    template <class>
    friend class basic_world;
    friend systems_type;
    basic_system(systems_type& owner, std::uint64_t number) : owner_(&owner), number_(number) {}

    [[nodiscard]] systems_type& owner() const {
        if (owner_ == nullptr) detail::raise(errc::unknown_system, "this system handle is null");
        return *owner_;
    }
    [[nodiscard]] detail::system_data& data() const { return owner().all.get(number_); }
    /// Like `data`, for changes. Throws `errc::in_scope` in a parallel phase.
    [[nodiscard]] detail::system_data& changed() const {
        owner().entities.refuse_in_phase("changing a system");
        return data();
    }
    [[nodiscard]] std::string_view name_of(const basic_system& other) const {
        return owner().get(other).name;
    }
    [[nodiscard]] std::string_view name_of(std::string_view name) const { return name; }

    template <class Change>
    basic_system refine(Change change) const {
        if (changed().body.call != nullptr)
            detail::raise(errc::too_late, detail::text("system \"", name(),
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

    template <class Kinds>
    static void check_payload() {
        static_assert(Kinds::is_payload_copyable,
                      "muster: a payload is passed by value, but this type cannot be copied.");
    }
    template <class Kinds, class Query, class Function>
    [[nodiscard]] static auto body_of(const Query& query, Function&& function) {
        return detail::system_body<Layout, std::decay_t<Function>, Kinds, Query>{
            std::forward<Function>(function), query};
    }
    template <class Body>
    [[nodiscard]] static detail::system_function box(Body&& body,
                                                     void (*call)(void*, detail::payload),
                                                     detail::shared_rows (*rows)(void*) = nullptr) {
        return {detail::boxed_value::holding(std::forward<Body>(body)), call, rows};
    }
    /// The access that a query argument allows.
    template <class T>
    [[nodiscard]] static detail::access access_to() {
        using pointed = std::remove_pointer_t<T>;
        using type = std::remove_const_t<pointed>;
        return {detail::ensure_type_index<type>(), !std::is_const_v<pointed>,
                detail::type_name<type>()};
    }
    template <class... Ts>
    void note_taken(const basic_query<Layout, Ts...>&, bool is_known) const {
        const detail::access all[] = {access_to<Ts>()..., {}};  // an array cannot be empty
        changed().taken.assign(all, all + sizeof...(Ts));
        data().is_taken_known = is_known;
    }
    template <class... Args, class Function>
    basic_system each_of(detail::type_list<Args...>, Function&& function) const {
        basic_query<Layout, std::remove_reference_t<Args>...> query(owner().entities,
                                                                    owner().queries);
        query.add_terms(data().asked);
        return each_of(query, std::forward<Function>(function));
    }
    template <class... Ts, class Function>
    basic_system each_of(const basic_query<Layout, Ts...>& query, Function&& function) const {
        using kinds = detail::row_kinds<Layout, std::decay_t<Function>, Ts...>;
        check_payload<kinds>();
        static_assert(
            kinds::fits,
            "muster: a system's function takes the entity (optional), then the components of "
            "its query in order, then its payload by value.");
        if constexpr (kinds::fits && kinds::is_payload_copyable) {
            auto body = body_of<kinds>(query, std::forward<Function>(function));
            auto made = box(std::move(body), &decltype(body)::each, &decltype(body)::rows);
            note_taken(query, true);
            set(data().body, std::move(made));
        }
        return *this;
    }
    template <class Query, class Function>
    basic_system execute_of(const Query& query, Function&& function) const {
        using kinds = detail::call_kinds<basic_rows<Layout>, std::decay_t<Function>>;
        static_assert(kinds::components::size == 0,
                      "muster: the function of execute takes a chunk_view (optional), then its "
                      "payload by value.");
        check_payload<kinds>();
        if constexpr (kinds::components::size != 0 || !kinds::is_payload_copyable) {
            return *this;  // refused
        } else if constexpr (kinds::has_first) {
            auto body = body_of<kinds>(query, std::forward<Function>(function));
            auto made = box(std::move(body), &decltype(body)::each_chunk, &decltype(body)::rows);
            note_taken(query, query.arguments != 0);
            return set(data().body, std::move(made));
        } else {
            auto body = body_of<kinds>(&owner().entities, std::forward<Function>(function));
            note_taken(basic_query<Layout>(owner().entities, owner().queries), false);
            return set(data().body, box(std::move(body), &decltype(body)::once_in_scope));
        }
    }
    template <class Function>
    [[nodiscard]] static detail::system_function once(Function&& function) {
        using kinds = detail::call_kinds<void, std::decay_t<Function>>;
        static_assert(kinds::components::size == 0,
                      "muster: a prologue or epilogue takes its payload by value.");
        check_payload<kinds>();
        if constexpr (kinds::components::size == 0 && kinds::is_payload_copyable) {
            auto body = body_of<kinds>(0, std::forward<Function>(function));
            return box(std::move(body), &decltype(body)::once);
        } else {
            return {};  // refused
        }
    }

    systems_type* owner_ = nullptr;
    std::uint64_t number_ = 0;
};
using system_handle = basic_system<layouts::bound>;

/// A system, and the query that it will use.
template <class Layout>
template <class... Ts>
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
    with_query(const basic_system& system, const basic_query<Layout, Ts...>& query)
        : system_(system), query_(query) {}
    basic_system system_;
    basic_query<Layout, Ts...> query_;
};

namespace detail {

/// The systems of a world, with its entities and queries.
template <class Layout>
struct systems {
    store<Layout>& entities;
    query_cache& queries;
    schedule all{};

    [[nodiscard]] system_data& get(const basic_system<Layout>& system) {
        if (system.owner_ != nullptr && system.owner_ != this)
            raise(errc::unknown_system,
                  text("the system \"", system.name(), "\" belongs to another world"));
        return system.data();
    }
    /// Returns the group that an id stands for, and creates it if necessary.
    [[nodiscard]] system_data& ensure(basic_id<Layout> id) {
        (void)entities.require(basic_at<Layout>(id), "group");
        const std::string_view name = entities.name(id);
        return all.ensure_group(id.value(), name.empty() ? std::string_view(to_string(id)) : name);
    }

    /// Finds a system to run, by handle, by name or by the id of a group; null: there is no such
    /// group.
    [[nodiscard]] system_data* find(const basic_system<Layout>& system) { return &get(system); }
    [[nodiscard]] system_data* find(std::string_view name) { return &all.get(name); }
    [[nodiscard]] system_data* find(basic_id<Layout> id) {
        (void)entities.require(basic_at<Layout>(id), "process");
        return all.find_group(id.value());
    }

    template <class... Values>
    void run(std::span<system_data* const> some, const Values&... values) {
        entities.refuse_in_change("process");
        entities.apply_submitted();
        const payload_value given[] = {payload_of(values)..., {}};
        all.run(some, {given, sizeof...(Values)}, entities.current_system());
    }
    /// Defined in <muster/system/parallel.hpp>.
    template <class... Values>
    void run_parallel(executor& threads, std::span<system_data* const> some,
                      const Values&... values);
};

}  // namespace detail
}  // namespace muster
