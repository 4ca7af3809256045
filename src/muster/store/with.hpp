// with: a component that is named by its fragment: `w.spawn(with(health, 100))`.
#pragma once

#include <muster/store/bound_value.hpp>
#include <muster/type/fragment.hpp>

#include <source_location>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

namespace detail {

template <class T>
inline constexpr bool is_fragment_argument = false;
template <class Layout>
inline constexpr bool is_fragment_argument<basic_id<Layout>> = true;
template <class T, class Layout>
inline constexpr bool is_fragment_argument<basic_fragment<T, Layout>> = true;
template <class Layout>
inline constexpr bool is_fragment_argument<basic_tag_id<Layout>> = true;

/// An id, a `tag_id` or a `fragment<T>`: names a fragment.
template <class T>
concept fragment_argument = is_fragment_argument<std::remove_cvref_t<T>>;
/// Like `fragment_argument`, but also accepts an object of a tag type, such as `prefab`.
template <class T>
concept fragment_or_tag = fragment_argument<T> || is_tag<std::remove_cvref_t<T>>;

/// Refuses `add(e, value)`.
template <class T>
void refuse_add() {
    static_assert(fragment_or_tag<T>,
                  "muster: add takes no value: did you mean set(e, value)? add<T>(e) adds the "
                  "default value.");
}

}  // namespace detail

/// A fragment and a value for it; `no_value` for a tag.
template <class Layout, class T>
struct basic_with {
    using value_type = T;
    static_assert(detail::is_component<T>);

    basic_id<Layout> fragment;
    T value;
    std::source_location where{};  // for error messages
};

namespace detail {

template <class T>
inline constexpr bool is_with = false;
template <class Layout, class T>
inline constexpr bool is_with<basic_with<Layout, T>> = true;

}  // namespace detail

/// Pairs a fragment, made at run time or not, with a value, for `spawn`, `set`, `clone` and similar
/// calls.
template <class Layout, class T>
[[nodiscard]] auto with(basic_id<Layout> which, T&& value,
                        std::source_location where = std::source_location::current()) {
    using type = std::remove_cvref_t<T>;
    static_assert(detail::is_component<type>);
    static_assert(!detail::is_with<type>,
                  "muster: to set several fragments at once, pass each as with(): with(tag), "
                  "with(f, value).");
    if constexpr (std::is_array_v<type> || detail::is_with<type>)
        return basic_with<Layout, detail::no_value>{which, {}, where};  // refused
    else
        return basic_with<Layout, type>{which, std::forward<T>(value), where};
}
/// Like `with(id, value)`, but converts the value to the fragment's type.
template <class F, class Layout, class T>
[[nodiscard]] auto with(basic_fragment<F, Layout> which, T&& value,
                        std::source_location where = std::source_location::current()) {
    using type = std::remove_cvref_t<T>;
    static_assert(!detail::is_with<type>,
                  "muster: to set several fragments at once, pass each as with(): with(tag), "
                  "with(f, value).");
    if constexpr (detail::is_with<type>)
        return type(std::forward<T>(value));  // refused
    else
        return basic_with<Layout, F>{which.id(), static_cast<F>(std::forward<T>(value)), where};
}
/// A tag of a C++ type, such as the predefined ones.
template <class Tag>
    requires detail::is_tag<Tag>
[[nodiscard]] Tag with(const Tag& tag) {
    return tag;
}
/// A tag that is named by its id.
template <class Layout>
[[nodiscard]] auto with(basic_id<Layout> tag,
                        std::source_location where = std::source_location::current()) {
    return basic_with<Layout, detail::no_value>{tag, {}, where};
}
template <class F, class Layout>
[[nodiscard]] auto with(basic_fragment<F, Layout> tag,
                        std::source_location where = std::source_location::current()) {
    static_assert(detail::is_tag<F>,
                  "muster: this fragment has values: write with(fragment, value).");
    return basic_with<Layout, F>{tag.id(), {}, where};
}

namespace detail {

template <class Arg>
    requires is_with<std::remove_cvref_t<Arg>>
class bound_value<Arg> {
    using given = std::remove_cvref_t<Arg>;
    static constexpr bool is_moved =
        !std::is_lvalue_reference_v<Arg> && !std::is_const_v<std::remove_reference_t<Arg>>;
    using inner =
        std::conditional_t<is_moved, typename given::value_type, const typename given::value_type&>;

    bound_value<inner> value_;
    decltype(given::fragment) id_;
    std::source_location where_;

public:
    using type = typename given::value_type;
    static constexpr bool is_nontrivial = bound_value<inner>::is_nontrivial;

    explicit bound_value(const given& value) noexcept(noexcept(bound_value<inner>(value.value)))
        : value_(value.value), id_(value.fragment), where_(value.where) {}

    [[nodiscard]] const void* where() const noexcept { return value_.where(); }
    void construct(void* to, const void* from) noexcept(!is_pinned<type>) {
        value_.construct(to, from);
    }
    void assign(void* to, const void* from) noexcept { value_.assign(to, from); }

    /// Returns the fragment, or `no_fragment` if it is not yet a fragment of this type.
    template <class Store>
    [[nodiscard]] const fragment_data& find(const Store& store) const noexcept {
        if constexpr (std::is_same_v<type, no_value>) {
            return store.template find_fragment<type>(id_);
        } else {
            // Branches, unlike lookups in loops that only read: no loop can hoist this lookup.
            const fragment_data& found = store.find_fragment(id_);
            if (found.value_type != find_type_index<type>()) [[unlikely]]
                return no_fragment;
            return found;
        }
    }
    [[nodiscard]] change describe(change_kind kind) const {
        change made{.fragment = {std::uint64_t{id_.value()}},
                    .type = {&type_info_of<type>, no_type},
                    .kind = kind,
                    .where = where_};
        if constexpr (!std::is_same_v<type, no_value>) made.type.index = ensure_type_index<type>();
        value_.describe_value(made);
        return made;
    }
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
