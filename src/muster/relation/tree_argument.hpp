// tree_argument: describes the values and links of a call that copies trees, by the types of the
// caller.
#pragma once

#include <muster/relation/link_argument.hpp>
#include <muster/relation/tree_clone.hpp>

#include <span>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// A value, which refers to the argument of the call.
template <class Layout, class Arg>
class tree_argument {
    using type = std::remove_cvref_t<Arg>;
    using value_type = typename bound_value<Arg>::type;

public:
    template <class Given>
    tree_argument(store<Layout>&, Given& given) : given_(given), value_(given) {}

    /// Describes the value for one root. It must not outlive this object.
    [[nodiscard]] change describe(store<Layout>&) const {
        return value_.describe(change_kind::put);
    }
    /// Describes the value for many roots: each copies it.
    [[nodiscard]] change describe_copy(store<Layout>& into) const {
        static_assert(is_copyable<value_type>::value,
                      "muster: each entity receives a copy, but this component cannot be copied.");
        const fragment_data& fragment = into.fragment_of(__builtin_addressof(given_));
        return {.fragment = {fragment.id},
                .type = {fragment.type, fragment.value_type},
                .is_copied = true,
                .self = store<Layout>::address_of(__builtin_addressof(given_))};
    }

private:
    const type& given_;
    bound_value<Arg> value_;
};

/// A link.
template <class Layout, class Arg>
    requires is_to<std::remove_cvref_t<Arg>>
class tree_argument<Layout, Arg> {
    using type = std::remove_cvref_t<Arg>;
    using value_type = link_value_of<typename type::relation_type>;

public:
    template <class Given>
    tree_argument(store<Layout>& into, Given& given)
        : change_(relation_to(into, given), given.target.value(),
                  value_type(static_cast<Arg&&>(given).value)) {}

    [[nodiscard]] change describe(store<Layout>&) const { return change_.describe(); }
    [[nodiscard]] change describe_copy(store<Layout>&) const {
        static_assert(is_copyable<value_type>::value,
                      "muster: each entity receives a copy of the link, but its value cannot be "
                      "copied.");
        change made = change_.describe();
        made.construct = nullptr;
        made.is_copied = true;
        return made;
    }

private:
    static relation_ref relation_to(store<Layout>& into, const type& given) {
        into.require(basic_at<Layout>(given.target, given.where), "clone_tree");
        return relation_of(into, given.relation, "clone_tree");
    }

    link_change<value_type> change_;
};

/// Returns the relation `child_of`; empty if no call has used it.
template <class Layout>
[[nodiscard]] relation_ref children_in(const store<Layout>& from) noexcept {
    return relation_ref::find(from, from.template find_fragment<child_of_t>());
}

template <class Layout, class... Arguments>
void clone_tree(store<Layout>& into, basic_at<Layout> prototype, basic_id<Layout>& made,
                const Arguments&... given) {
    change all[] = {given.describe(into)..., {}};
    clone_trees(into, prototype, children_in(into), {all, sizeof...(Arguments)},
                store<Layout>::ids_of({&made, 1}));
}
template <class Layout, class... Arguments>
void clone_trees(store<Layout>& into, basic_at<Layout> prototype, std::span<basic_id<Layout>> made,
                 const Arguments&... given) {
    change all[] = {given.describe_copy(into)..., {}};
    clone_trees(into, prototype, children_in(into), {all, sizeof...(Arguments)},
                store<Layout>::ids_of(made));
}

}  // namespace MUSTER_NAMESPACE::detail
