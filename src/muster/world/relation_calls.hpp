// relation_calls: the calls of a world for relations: links between entities.
#pragma once

#include <muster/world/program_calls.hpp>

#include <muster/base/scope_guard.hpp>
#include <muster/relation/entity_range.hpp>
#include <muster/relation/link_observer.hpp>
#include <muster/relation/link_query.hpp>
#include <muster/relation/relation.hpp>
#include <muster/relation/relation_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// The calls of a world for relations. A relation is a C++ type that is defined as one
/// (`w.define<likes>().relation()`), a `relation<T>`, or `child_of`. Each call that takes a relation
/// as a template argument also takes a predefined one, `w.target<child_of>(e)`, and each has a form
/// that takes it as the first argument: `w.target(child_of, e)`.
///
/// A link leads from its source to its target. Both are alive while the link exists: destroying a
/// target does what the relation's policy says. Calls that change links are changes of the source:
/// they are recorded in scopes and phases, and undone if a hook throws. Reading calls accept any id
/// and answer false, null or empty for one that is not alive. They may be called in a phase.
/// `errc::not_a_relation` if the type was not defined as a relation.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class relation_calls : public program_calls<Layout> {
    using ref = detail::relation_ref;
    template <class R>
    using value_of = detail::link_value_of<R>;
    template <auto R>
    using type_of = std::remove_cvref_t<decltype(R)>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using entities_type = basic_related_range<Layout>;
    using const_entities_type = basic_related_range<const Layout>;
    using tree_type = basic_tree_range<Layout>;
    using const_tree_type = basic_tree_range<const Layout>;

    /// Creates a relation with values of type T, with an optional name. Its id belongs to the user;
    /// destroying it removes all its links. Refused in a phase.
    template <class T>
    basic_relation<T, Layout> relation(std::string_view name = {}) {
        // Not `this->template fragment`: g++ 12 finds the alias `muster::fragment` there.
        const auto made = program_calls<Layout>::template fragment<T>(name);
        detail::scope_guard undo([&] { store_.destroyer.rollback_spawn(made.id().value()); });
        (void)ref::define(store_, store_.catalog.open(made.id().value()),
                          detail::link_types::of<T>(), detail::relation_kind::users);
        undo.dismiss();
        return basic_relation<T, Layout>(made.id());
    }

    // ---- changing links ------------------------------------------------------------------------

    /// Relates two entities, or assigns the value of their link. Returns whether the link is new. In
    /// an exclusive relation it replaces the link to another target. Throws `errc::cycle` if the
    /// relation is acyclic and the link would close a cycle; `errc::dead_entity` and
    /// `errc::foreign_entity` for either end. Moves the source if it had no link. O(1), amortised;
    /// with many links per entity O(links of the end that has fewer); a cycle is found in O(targets
    /// above). Recorded in a phase.
    template <class R>
    bool relate(at_type source, at_type target, std::type_identity_t<R> value = R()) {
        return detail::relate(require_relation<R>("relate"), source, target, std::move(value));
    }
    template <auto R>
    bool relate(at_type source, at_type target) {
        return relate<type_of<R>>(source, target);
    }
    template <detail::relation_argument R>
    bool relate(const R& relation, at_type source, at_type target, value_of<R> value = {}) {
        return detail::relate(require_relation(relation, "relate"), source, target,
                              std::move(value));
    }

    /// Removes a link. Returns whether it was there; false also for an end that is not alive. Throws
    /// `errc::foreign_entity` for either end. Cost as for `relate`. Recorded in a phase.
    template <class R>
    bool unrelate(at_type source, at_type target) {
        return unrelate_by<value_of<R>>(require_relation<R>("unrelate"), source, target.id);
    }
    template <auto R>
    bool unrelate(at_type source, at_type target) {
        return unrelate<type_of<R>>(source, target);
    }
    template <detail::relation_argument R>
    bool unrelate(const R& relation, at_type source, at_type target) {
        return unrelate_by<value_of<R>>(require_relation(relation, "unrelate"), source, target.id);
    }
    /// Removes all links of a source. Returns how many there were. O(links). Recorded in a phase.
    template <class R>
    std::size_t unrelate(at_type source) {
        return require_relation<R>("unrelate").unrelate_all(source);
    }
    template <auto R>
    std::size_t unrelate(at_type source) {
        return unrelate<type_of<R>>(source);
    }
    template <detail::relation_argument R>
    std::size_t unrelate(const R& relation, at_type source) {
        return require_relation(relation, "unrelate").unrelate_all(source);
    }

    // ---- reading links -------------------------------------------------------------------------

    /// Returns whether the source has a link to the target.
    template <class R>
    [[nodiscard]] bool related(id_type source, id_type target) const noexcept {
        return find_relation<R>().find_value(source.value(), target.value()) != nullptr;
    }
    template <auto R>
    [[nodiscard]] bool related(id_type source, id_type target) const noexcept {
        return related<type_of<R>>(source, target);
    }
    template <detail::relation_argument R>
    [[nodiscard]] bool related(const R& relation, id_type source, id_type target) const noexcept {
        return find_relation(relation).find_value(source.value(), target.value()) != nullptr;
    }

    /// Returns the value of a link, or null if there is no such link. A change of the source's links
    /// invalidates the pointer.
    template <class R>
    [[nodiscard]] R* try_link(id_type source, id_type target) noexcept {
        return value_at<R>(find_relation<R>(), source, target);
    }
    template <class R>
    [[nodiscard]] const R* try_link(id_type source, id_type target) const noexcept {
        return value_at<R>(find_relation<R>(), source, target);
    }
    template <class T>
    [[nodiscard]] T* try_link(const basic_relation<T, Layout>& relation, id_type source,
                              id_type target) noexcept {
        return value_at<T>(find_relation(relation), source, target);
    }
    template <class T>
    [[nodiscard]] const T* try_link(const basic_relation<T, Layout>& relation, id_type source,
                                    id_type target) const noexcept {
        return value_at<T>(find_relation(relation), source, target);
    }
    /// Like `try_link`, but throws if there is no such link: `errc::missing_component`, or what the
    /// end is that is not alive.
    template <class R>
    [[nodiscard]] R& link(at_type source, at_type target) {
        return require_link(try_link<R>(source.id, target.id), find_relation<R>(), source, target);
    }
    template <class R>
    [[nodiscard]] const R& link(at_type source, at_type target) const {
        return require_link(try_link<R>(source.id, target.id), find_relation<R>(), source, target);
    }
    template <class T>
    [[nodiscard]] T& link(const basic_relation<T, Layout>& relation, at_type source,
                          at_type target) {
        return require_link(try_link(relation, source.id, target.id), find_relation(relation),
                            source, target);
    }
    template <class T>
    [[nodiscard]] const T& link(const basic_relation<T, Layout>& relation, at_type source,
                                at_type target) const {
        return require_link(try_link(relation, source.id, target.id), find_relation(relation),
                            source, target);
    }

    /// Returns the target of an entity, the first if it has several; the null id if none. O(1).
    template <class R>
    [[nodiscard]] id_type target(id_type source) const noexcept {
        return target_by(find_relation<R>(), source);
    }
    template <auto R>
    [[nodiscard]] id_type target(id_type source) const noexcept {
        return target<type_of<R>>(source);
    }
    template <detail::relation_argument R>
    [[nodiscard]] id_type target(const R& relation, id_type source) const noexcept {
        return target_by(find_relation(relation), source);
    }

    /// Returns the targets of an entity, in the order in which they were related; see
    /// `basic_entity_range`. `size` is O(1).
    template <class R>
    [[nodiscard]] entities_type targets(id_type source) noexcept {
        return {store_, find_relation<R>().targets(source.value())};
    }
    template <class R>
    [[nodiscard]] const_entities_type targets(id_type source) const noexcept {
        return {store_, find_relation<R>().targets(source.value())};
    }
    template <auto R>
    [[nodiscard]] entities_type targets(id_type source) noexcept {
        return targets<type_of<R>>(source);
    }
    template <auto R>
    [[nodiscard]] const_entities_type targets(id_type source) const noexcept {
        return targets<type_of<R>>(source);
    }
    template <detail::relation_argument R>
    [[nodiscard]] entities_type targets(const R& relation, id_type source) noexcept {
        return {store_, find_relation(relation).targets(source.value())};
    }
    template <detail::relation_argument R>
    [[nodiscard]] const_entities_type targets(const R& relation, id_type source) const noexcept {
        return {store_, find_relation(relation).targets(source.value())};
    }

    /// Returns the sources of an entity, in the order in which they were related to it.
    template <class R>
    [[nodiscard]] entities_type sources(id_type target) noexcept {
        return {store_, find_relation<R>().sources(target.value())};
    }
    template <class R>
    [[nodiscard]] const_entities_type sources(id_type target) const noexcept {
        return {store_, find_relation<R>().sources(target.value())};
    }
    template <auto R>
    [[nodiscard]] entities_type sources(id_type target) noexcept {
        return sources<type_of<R>>(target);
    }
    template <auto R>
    [[nodiscard]] const_entities_type sources(id_type target) const noexcept {
        return sources<type_of<R>>(target);
    }
    template <detail::relation_argument R>
    [[nodiscard]] entities_type sources(const R& relation, id_type target) noexcept {
        return {store_, find_relation(relation).sources(target.value())};
    }
    template <detail::relation_argument R>
    [[nodiscard]] const_entities_type sources(const R& relation, id_type target) const noexcept {
        return {store_, find_relation(relation).sources(target.value())};
    }

    // ---- hierarchies: child_of -----------------------------------------------------------------

    /// Returns the parent; the null id if none. O(1).
    [[nodiscard]] id_type parent(id_type e) const noexcept { return target<child_of_t>(e); }
    /// Returns the children, in their order.
    [[nodiscard]] entities_type children(id_type e) noexcept { return sources<child_of_t>(e); }
    [[nodiscard]] const_entities_type children(id_type e) const noexcept {
        return sources<child_of_t>(e);
    }
    /// Returns the highest entity above `e`, or `e`; the null id if `e` is not alive. O(level).
    [[nodiscard]] id_type root(id_type e) const noexcept {
        const ref links = find_relation<child_of_t>();
        id_type at = this->alive(e) ? e : id_type();
        for (id_type up = at; up; up = target_by(links, up)) at = up;
        return at;
    }
    /// Returns how many entities are above `e`. O(1).
    [[nodiscard]] std::uint32_t level(id_type e) const noexcept {
        return find_relation<child_of_t>().level_of(e.value());
    }
    /// Returns whether `top` is above `e`. False if they are the same. O(difference of their levels).
    [[nodiscard]] bool is_below(id_type e, id_type top) const noexcept {
        return find_relation<child_of_t>().is_below(e.value(), top.value());
    }
    /// Returns the entities above `e`, the parent first.
    [[nodiscard]] tree_type ancestors(id_type e) noexcept { return {store_, cursor(e, true)}; }
    [[nodiscard]] const_tree_type ancestors(id_type e) const noexcept {
        return {store_, cursor(e, true)};
    }
    /// Returns the entities below `e`, each before those below it. O(1) for each, without memory.
    [[nodiscard]] tree_type descendants(id_type e) noexcept { return {store_, cursor(e, false)}; }
    [[nodiscard]] const_tree_type descendants(id_type e) const noexcept {
        return {store_, cursor(e, false)};
    }

    // ---- order ---------------------------------------------------------------------------------

    /// Moves a child before a sibling, in the order of their parent's children. Throws
    /// `errc::dead_entity` and `errc::foreign_entity` for either, `errc::missing_component` if they
    /// have not the same parent, and `errc::in_scope` in a scope. O(children between them).
    void place_before(at_type child, at_type sibling) { place_before<child_of_t>(child, sibling); }
    /// Moves a source of any relation before another, at each target that they share.
    template <class R>
    void place_before(at_type source, at_type sibling) {
        require_relation<R>("place_before").place_before(source, sibling);
    }
    template <auto R>
    void place_before(at_type source, at_type sibling) {
        place_before<type_of<R>>(source, sibling);
    }
    template <detail::relation_argument R>
    void place_before(const R& relation, at_type source, at_type sibling) {
        require_relation(relation, "place_before").place_before(source, sibling);
    }

    /// Sorts the sources of an entity: `less(a, b)` returns whether `a` comes before `b`. Stable. If
    /// `less` throws, the order stays as it was; it must not change the world. Throws
    /// `errc::dead_entity`, `errc::foreign_entity`, and `errc::in_scope` in a scope. O(n log n).
    template <class R, class Less>
    void sort_sources(at_type target, Less&& less) {
        sort_by(require_relation<R>("sort_sources"), target, less);
    }
    template <auto R, class Less>
    void sort_sources(at_type target, Less&& less) {
        sort_sources<type_of<R>>(target, less);
    }
    template <detail::relation_argument R, class Less>
    void sort_sources(const R& relation, at_type target, Less&& less) {
        sort_by(require_relation(relation, "sort_sources"), target, less);
    }

    /// Orders the rows of each level of a leveled relation by the rows of their targets, then by the
    /// order of the sources: a loop over parents and children then reads memory in order. Invalidates
    /// references to components. If memory is missing, some chunks keep their order. Throws
    /// `errc::not_a_relation` if the relation is not leveled, and `errc::in_scope` in a scope.
    /// O(n log n).
    template <class R>
    void arrange() {
        require_relation<R>("arrange").arrange();
    }
    template <auto R>
    void arrange() {
        arrange<type_of<R>>();
    }
    template <detail::relation_argument R>
    void arrange(const R& relation) {
        require_relation(relation, "arrange").arrange();
    }

    // ---- chunks --------------------------------------------------------------------------------

    using program_calls<Layout>::chunk;
    /// Returns the chunk of exactly these components and links: `w.chunk<position>(to<member_of>(guild))`
    /// the sources of a target of a grouping relation, `w.chunk<position>(level{2})` the entities at
    /// this level of `child_of`. Takes fragments, too. Throws as `chunk` without groups does;
    /// `errc::dead_entity` and `errc::foreign_entity` for a target, and `errc::not_a_relation` for a
    /// relation that is not grouping.
    template <class... Ts, class... Args>
        requires(... || detail::is_group<Args>)
    basic_chunk<Layout> chunk(const Args&... args) {
        detail::array_list<detail::fragment_data*> set{&store_.template ensure_fragment<Ts>()...};
        detail::array_list<detail::link_group> groups;
        [[maybe_unused]] const auto add = [&]<class Arg>(const Arg& arg) {
            if constexpr (detail::is_group<Arg>)
                groups.push_back(group_of(arg));
            else
                set.push_back(
                    &this->store_.catalog.get(this->id_of(arg).value(), "chunk", nullptr));
        };
        (add(args), ...);
        return this->dense_chunk(ref::ensure_chunk(store_, set, groups));
    }

    // ---- hooks ---------------------------------------------------------------------------------

    /// Calls `hook(entity, old_target, new_target)` after a link was added, moved to another target,
    /// or assigned. `old_target` is null if the link is new; both are equal if only the value was
    /// assigned. A hook may take fewer arguments. Like the hooks of a component otherwise; see
    /// `hook_calls`.
    template <class R, class Hook>
    basic_connection<Layout> on_relate(Hook&& hook) {
        return connect_link(require_relation<R>("on_relate"), detail::hook_kind::insert,
                            std::forward<Hook>(hook));
    }
    template <auto R, class Hook>
    basic_connection<Layout> on_relate(Hook&& hook) {
        return on_relate<type_of<R>>(std::forward<Hook>(hook));
    }
    template <detail::relation_argument R, class Hook>
    basic_connection<Layout> on_relate(const R& relation, Hook&& hook) {
        return connect_link(require_relation(relation, "on_relate"), detail::hook_kind::insert,
                            std::forward<Hook>(hook));
    }
    /// Calls `hook(entity, target)` before a link is removed, also because one of its ends is
    /// destroyed. A hook that throws keeps the link, and the entity. Not called if the link is moved to
    /// another target.
    template <class R, class Hook>
    basic_connection<Layout> on_unrelate(Hook&& hook) {
        return connect_link(require_relation<R>("on_unrelate"), detail::hook_kind::remove,
                            std::forward<Hook>(hook));
    }
    template <auto R, class Hook>
    basic_connection<Layout> on_unrelate(Hook&& hook) {
        return on_unrelate<type_of<R>>(std::forward<Hook>(hook));
    }
    template <detail::relation_argument R, class Hook>
    basic_connection<Layout> on_unrelate(const R& relation, Hook&& hook) {
        return connect_link(require_relation(relation, "on_unrelate"), detail::hook_kind::remove,
                            std::forward<Hook>(hook));
    }

protected:
    using program_calls<Layout>::program_calls;
    using detail::world_base<Layout>::store_;

private:
    template <class R>
    [[nodiscard]] ref require_relation(const char* call) {
        return detail::relation_of<R>(store_, call);
    }
    template <class R>
    [[nodiscard]] ref require_relation(const R& relation, const char* call) {
        return detail::relation_of(store_, relation, call);
    }
    template <class R>
    [[nodiscard]] ref find_relation() const noexcept {
        return ref::find(store_, store_.template find_fragment<R>());
    }
    template <class R>
    [[nodiscard]] ref find_relation(const R& relation) const noexcept {
        if constexpr (detail::is_run_time_relation<R>)
            return ref::find(store_, store_.template find_fragment<value_of<R>>(relation.id()));
        else
            return find_relation<R>();
    }

    [[nodiscard]] detail::link_group group_of(const detail::level_argument& wanted) {
        return {require_relation<child_of_t>("chunk"), wanted.value, true};
    }
    template <class R>
    [[nodiscard]] detail::link_group group_of(const basic_to<Layout, R>& link) {
        store_.require(at_type(link.target, link.where), "chunk");
        return {require_relation(link.relation, "chunk"), link.target.value()};
    }
    template <class Less>
    static void sort_by(const ref& relation, at_type target, Less& less) {
        const auto order = [](void* context, std::uint64_t a, std::uint64_t b) -> bool {
            // SAFETY: `context` is the address of the caller's function.
            return (*static_cast<Less*>(context))(detail::to_id<Layout>(a),
                                                  detail::to_id<Layout>(b));
        };
        // SAFETY: a const function is only called as such, since `Less` is const then.
        relation.sort_sources(target, order,
                              const_cast<std::remove_const_t<Less>*>(__builtin_addressof(less)));
    }
    template <class Value>
    static bool unrelate_by(ref relation, at_type source, id_type target) {
        const detail::link_change<Value> link(relation, target.value());
        return relation.unrelate(source, target.value(), link.describe());
    }
    template <class T>
    [[nodiscard]] static T* value_at(const ref& relation, id_type source, id_type target) noexcept {
        void* const found = relation.find_value(source.value(), target.value());
        if constexpr (detail::is_tag<T>)
            return found != nullptr ? &detail::tag_value<T>() : nullptr;
        else
            return static_cast<T*>(found);
    }
    template <class T>
    [[nodiscard]] static T& require_link(T* found, const ref& relation, at_type source,
                                         at_type target) {
        if (found == nullptr) [[unlikely]]
            relation.raise_no_link(source, target);
        return *found;
    }
    [[nodiscard]] static id_type target_by(const ref& relation, id_type source) noexcept {
        return relation ? detail::to_id<Layout>(relation.target_of(source.value())) : id_type();
    }
    [[nodiscard]] detail::tree_cursor cursor(id_type e, bool goes_up) const noexcept {
        return {find_relation<child_of_t>(), e.value(), id_type().value(), goes_up};
    }
    template <class Hook>
    basic_connection<Layout> connect_link(const ref& relation, detail::hook_kind kind,
                                          Hook&& hook) {
        return this->connect_function(relation.own(), kind,
                                      make_link_hook(std::forward<Hook>(hook)));
    }
    template <class Hook>
    [[nodiscard]] static detail::hook_function make_link_hook(Hook&& hook) {
        using function = std::decay_t<Hook>;
        return {detail::boxed_value::holding(std::forward<Hook>(hook)),
                [](void* what, std::uint64_t, void* value) {
                    // SAFETY: `what` is the boxed function; relations pass a step.
                    function& call = *static_cast<function*>(what);
                    const auto& step = *static_cast<const detail::link_step*>(value);
                    const auto typed = [](std::uint64_t e) { return detail::to_id<Layout>(e); };
                    if constexpr (std::is_invocable_v<function&>) {
                        call();
                    } else if constexpr (std::is_invocable_v<function&, id_type>) {
                        call(typed(step.e));
                    } else if constexpr (std::is_invocable_v<function&, id_type, id_type>) {
                        call(typed(step.e), typed(step.from));
                    } else {
                        constexpr bool fits =
                            std::is_invocable_v<function&, id_type, id_type, id_type>;
                        static_assert(fits,
                                      "muster: a hook of a relation takes (entity, old_target, "
                                      "new_target), (entity, old_target), (entity) or nothing.");
                        if constexpr (fits) call(typed(step.e), typed(step.from), typed(step.to));
                    }
                }};
    }
};

}  // namespace MUSTER_NAMESPACE
