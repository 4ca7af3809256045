// link_argument: relates entities by the types of the caller, for the calls of a world. A link among
// the arguments of a call is one of its changes, like a value: `set(e, position{}, to(child_of, ship))`
// moves the entity once.
#pragma once

#include <muster/relation/relation.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// Returns the name of the relation that this object names.
template <class R>
[[nodiscard]] fragment_name name_of_relation(const R& relation) {
    if constexpr (is_run_time_relation<R>)
        return {std::uint64_t{relation.id().value()}};
    else
        return fragment_name::of<R>();
}

/// Returns the relation of a C++ type. A predefined one is made at its first use.
template <class R, class Layout>
[[nodiscard]] relation_ref relation_of(store<Layout>& from, const char* call) {
    if constexpr (relation_kind_of<R> != relation_kind::users)
        if (from.gate.is_parallel()) [[unlikely]]
            relation_ref::refuse_first_use(from, from.template find_fragment<R>(),
                                           type_info_of<R>.name, call);
    return relation_ref::get(from, from.template ensure_fragment<R>(), link_types::of<R>(),
                             relation_kind_of<R>, call);
}
/// Returns the relation that this object names.
template <class R, class Layout>
[[nodiscard]] relation_ref relation_of(store<Layout>& from, const R& relation, const char* call) {
    if constexpr (is_run_time_relation<R>)
        return relation_ref::get(from, from.catalog.get(relation.id().value(), call, nullptr),
                                 link_types::of<link_value_of<R>>(), relation_kind::users, call);
    else
        return relation_of<R>(from, call);
}

template <class Value, class Layout>
bool relate(relation_ref relation, basic_at<Layout> source, basic_at<Layout> target, Value value) {
    const link_change<Value> link(relation, target.id.value(), std::move(value));
    return relation.relate(source, target, link.describe());
}
/// Throws if no world could make this link: the target is null or of another world. For a removal, a
/// null target is harmless.
MUSTER_API void refuse_impossible_link(const engine& owner, const change& link, const char* call);
/// Throws if the entity cannot be the target of a new link.
MUSTER_API void require_target(const engine& owner, const target& to, const char* call);
/// Combines the changes of links that name a relation several times, and returns how many are left.
/// The last link wins: of an exclusive relation, or to a target.
MUSTER_API std::size_t combine_links(slice<change> links);
/// Makes the changes of a living entity, links among them, all or none.
MUSTER_API void submit_with_links(engine& owner, const edit& call);
/// Clones an entity with these changes. Links extend those that the prototype has.
MUSTER_API std::uint64_t clone_with_links(engine& owner, const target& prototype,
                                          slice<change> given);
/// Like `clone_with_links`, for each element of `out`; all or none.
MUSTER_API void clone_many_with_links(engine& owner, id_span out, const target& prototype,
                                      chunk_data& given_chunk, const row_values& given);

/// Whether one of these arguments is a link.
template <class... Args>
inline constexpr bool has_links = (... || is_to<std::remove_cvref_t<Args>>);

/// An argument of a call that creates or changes an entity: a value, or a link. Copies what is not
/// moved, and throws if the link is not possible, before the call changes anything.
template <class Layout, class Arg>
class bound_argument {
public:
    static constexpr bool is_link = false;
    bound_argument(store<Layout>&, const char*, const std::remove_cvref_t<Arg>& given)
        : value_(given) {}
    [[nodiscard]] change describe() const { return value_.describe(change_kind::put); }

private:
    bound_value<Arg> value_;
};
template <class Layout, class Arg>
    requires is_to<std::remove_cvref_t<Arg>>
class bound_argument<Layout, Arg> {
    using value_type = link_value_of<typename std::remove_cvref_t<Arg>::relation_type>;

public:
    static constexpr bool is_link = true;
    bound_argument(store<Layout>& into, const char* call, Arg&& given)
        : link_(require(into, call, given), given.target.value(), std::forward<Arg>(given).value) {}
    [[nodiscard]] change describe() const noexcept { return link_.describe(); }

private:
    static relation_ref require(store<Layout>& into, const char* call, const Arg& given) {
        require_target(into, basic_at<Layout>(given.target, given.where), call);
        return relation_of(into, given.relation, call);
    }
    link_change<value_type> link_;
};

/// The changes of a call: first those of values, then those of links, each relation once.
template <class... Bound>
struct argument_changes {
    change all[sizeof...(Bound)];
    std::size_t size = 0;

    explicit argument_changes(const Bound&... given) {
        const auto add = [&](const auto& argument, bool is_link) {
            if (argument.is_link == is_link) all[size++] = argument.describe();
        };
        (add(given, false), ...);
        const std::size_t values = size;
        (add(given, true), ...);
        size = values + combine_links({all + values, size - values});
    }
    [[nodiscard]] slice<change> list() noexcept { return {all, size}; }
};

/// A link that is recorded without the world, so by the name of its relation: the links of relations
/// are found when it is replayed.
template <class R>
class link_record {
    using value_type = link_value_of<R>;

public:
    template <class Given>
    link_record(const fragment_name& relation, const target& to, Given&& value)
        : relation_(relation), where_(to.where), link_(to.id, std::forward<Given>(value)) {}
    /// The removal of a link.
    link_record(const fragment_name& relation, const target& to)
        : relation_(relation), where_(to.where) {
        link_.target = to.id;
        link_.is_removal = true;
    }

    [[nodiscard]] change describe(change_kind kind) const {
        (void)link_types::of<value_type>();  // refuses values that cannot be moved
        change made{.fragment = relation_,
                    .type = {&type_info_of<linked<value_type>>, ensure_type_index<value_type>()},
                    .kind = kind,
                    .self = &link_,
                    .where = where_,
                    .replay = &replay};
        if constexpr (!std::is_trivially_copyable_v<linked<value_type>>)
            made.construct = &move_construct<linked<value_type>>;
        return made;
    }
    /// Describes the removal of all links of a relation.
    [[nodiscard]] static change describe_all(const fragment_name& relation) {
        return {.fragment = relation, .kind = change_kind::remove, .replay = &replay};
    }

private:
    static void replay(engine& into, recorded_change& recorded) {
        const relation_ref relation =
            relation_ref::named(into, recorded.fragment, link_types::of<value_type>(),
                                relation_kind_of<R>, recorded.where);
        auto* const link = static_cast<linked<value_type>*>(recorded.value);
        if (link == nullptr) return relation.record(recorded.id, nullptr);
        const auto record = [&](const link_change<value_type>& change) {
            const detail::change described = change.describe();
            relation.record(recorded.id, &described);
        };
        if (link->is_removal)
            record({relation, link->target});
        else if constexpr (is_tag<value_type>)
            record({relation, link->target, value_type()});
        else
            record({relation, link->target, std::move(link->value)});
    }

    fragment_name relation_;
    std::source_location where_;
    linked<value_type> link_;
};

/// An argument of a call that is recorded without the world: a value, or a link.
template <class Arg>
class recorded_argument : public bound_value<Arg> {
public:
    using bound_value<Arg>::bound_value;
};
template <class Arg>
    requires is_to<std::remove_cvref_t<Arg>>
class recorded_argument<Arg>
    : public link_record<typename std::remove_cvref_t<Arg>::relation_type> {
public:
    explicit recorded_argument(Arg&& given)
        : link_record<typename std::remove_cvref_t<Arg>::relation_type>(
              name_of_relation(given.relation), {given.target.value(), given.where},
              std::forward<Arg>(given).value) {}
};

/// The links among the arguments of a call that creates many entities with copies of its arguments.
template <class Layout, class... Ts>
class row_links {
public:
    row_links(store<Layout>& into, const Ts*... given) : links_(link<Ts>(into, given)...) {}

    /// Calls `look(change)` for each relation.
    template <class Look>
    void each([[maybe_unused]] Look look) const {
        if constexpr (has_links<Ts...>) {
            change all[sizeof...(Ts)];
            std::size_t size = 0;
            const auto add = [&](const auto& given) {
                if constexpr (requires { given.change; }) all[size++] = given.change.describe();
            };
            std::apply([&](const auto&... given) { (add(given), ...); }, links_);
            size = combine_links({all, size});
            for (std::size_t i = 0; i < size; ++i) look(all[i]);
        }
    }

private:
    template <class T>
    struct link {
        link(store<Layout>&, const T*) noexcept {}
    };
    template <class T>
        requires is_to<T>
    struct link<T> {
        bound_argument<Layout, const T&> change;
        link(store<Layout>& into, const T* given) : change(into, "spawn", *given) {}
    };
    std::tuple<link<Ts>...> links_;
};

template <class Layout, class... Args>
basic_id<Layout> spawn_related(store<Layout>& into, const basic_at<Layout>* wanted,
                               bound_argument<Layout, Args>... given) {
    argument_changes<bound_argument<Layout, Args>...> changes(given...);
    if (wanted == nullptr) return to_id<Layout>(into.spawner.spawn(changes.list(), nullptr));
    const target exact = *wanted;
    return to_id<Layout>(into.spawner.spawn(changes.list(), &exact));
}
template <class Layout, class... Args>
basic_id<Layout> clone_related(store<Layout>& into, basic_at<Layout> prototype,
                               bound_argument<Layout, Args>... given) {
    argument_changes<bound_argument<Layout, Args>...> changes(given...);
    return to_id<Layout>(clone_with_links(into, prototype, changes.list()));
}
template <class Layout, class... Args>
void set_related(store<Layout>& into, basic_at<Layout> e, bound_argument<Layout, Args>... given) {
    argument_changes<bound_argument<Layout, Args>...> changes(given...);
    submit_with_links(into, {e, changes.list(), "set"});
}

}  // namespace MUSTER_NAMESPACE::detail
