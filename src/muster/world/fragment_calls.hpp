// fragment_calls: the calls of a world that create and define fragments, and that return chunks.
#pragma once

#include <muster/world/spawn_calls.hpp>

#include <muster/type/component_type.hpp>
#include <muster/type/fragment.hpp>
#include <muster/world/chunk.hpp>
#include <muster/world/definition.hpp>

#include <string_view>
#include <type_traits>

namespace MUSTER_NAMESPACE {

/// The calls of a world for fragments and chunks.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class fragment_calls : public spawn_calls<Layout> {
public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;
    using chunk_type = basic_chunk<Layout>;
    template <class T>
    using fragment_type = basic_fragment<T, Layout>;
    using tag_type = basic_tag_id<Layout>;

    /// Returns the fragment of a C++ type. The first use creates it. In a phase, the first use
    /// throws `errc::in_scope`.
    template <class T>
    fragment_type<T> component() {
        return fragment_type<T>(store_.id_of(store_.template ensure_fragment<T>()));
    }

    /// Creates a fragment for values of type T, with an optional name for messages and `lookup`.
    /// The id belongs to the user, who destroys it when it is no longer needed. Refused in a phase.
    template <class T>
    fragment_type<T> fragment(std::string_view name = {}) {
        static_assert(detail::is_component<T>);
        return fragment_type<T>(detail::to_id<Layout>(
            store_.spawner.make_fragment(detail::value_type_ref::of<T>(), name)));
    }
    /// Creates a fragment for values of a type that is known only at run time. Throws
    /// `errc::bad_type` if no type can have this size, this alignment and these operations. Refused
    /// in a phase.
    id_type fragment(const component_type& type, std::string_view name = {}) {
        return detail::to_id<Layout>(store_.spawner.make_fragment(detail::describe(type), name));
    }
    /// Creates a fragment without values. Refused in a phase.
    tag_type tag(std::string_view name = {}) {
        return tag_type(detail::to_id<Layout>(store_.spawner.make_fragment(
            {&detail::type_info_of<detail::no_value>, detail::no_type}, name)));
    }

    /// Returns a definition, which sets the traits, the default value and the hooks of a fragment;
    /// see `basic_definition`. Refused in a phase.
    template <class T>
    basic_definition<Layout, T> define() {
        return {store_, queries_, component<T>()};
    }
    template <class T>
    basic_definition<Layout, T> define(fragment_type<T> fragment) {
        return {store_, queries_, fragment};
    }
    template <class T>
        requires detail::is_tag<T>
    basic_definition<Layout, T> define(const T&) {
        return define<T>();
    }
    basic_definition<Layout, void> define(id_type fragment) { return {store_, queries_, fragment}; }

    /// Returns the chunk of exactly these components; the first use creates it. Throws
    /// `errc::limit` if the world has too many chunks, and `errc::missing_component` if a component
    /// is sparse, since sparse fragments are in no chunk. In a phase, the first use throws
    /// `errc::in_scope`.
    template <class... Ts>
    chunk_type chunk() {
        return dense_chunk(store_.template ensure_chunk<Ts...>());
    }
    /// Like `chunk` by type, for fragments. Throws `errc::given_twice` if a fragment occurs twice.
    template <detail::fragment_or_tag F, detail::fragment_or_tag... Fs>
    chunk_type chunk(const F& first, const Fs&... others) {
        detail::fragment_data* const set[] = {
            &store_.catalog.get(id_of(first).value(), "chunk", nullptr),
            &store_.catalog.get(id_of(others).value(), "chunk", nullptr)...};
        return dense_chunk(store_.catalog.ensure_set(set));
    }

    /// Returns the chunk and the row of `e`; the null chunk if no chunk stores a component of `e`.
    /// May be called in a phase.
    [[nodiscard]] basic_location<Layout> locate(at_type e) {
        const auto* const found = store_.find(e.id);
        if (found == nullptr) store_.errors.raise_not_alive(e, "locate");
        store_.errors.refuse_away(e, {found->chunk(), found->row()}, "locate");
        return {chunk_type(store_, store_.graph.at(found->chunk())), found->row()};
    }

protected:
    using spawn_calls<Layout>::spawn_calls;
    using detail::world_base<Layout>::queries_;
    using detail::world_base<Layout>::store_;

    /// Returns the data of a fragment that is passed as an id, a `fragment<T>` or a tag object.
    template <class F>
    [[nodiscard]] const detail::fragment_data& find_fragment(const F& fragment) const noexcept {
        if constexpr (std::is_convertible_v<const F&, id_type>)
            return store_.find_fragment(id_type(fragment));
        else
            return store_.template find_fragment<F>();
    }
    template <class F>
    [[nodiscard]] id_type id_of(const F& fragment) {
        if constexpr (std::is_convertible_v<const F&, id_type>)
            return id_type(fragment);
        else
            return component<F>();
    }

    /// Returns a handle to a chunk. Throws `errc::missing_component` if it has a sparse fragment and
    /// thus never rows.
    [[nodiscard]] chunk_type dense_chunk(const detail::chunk_data& found) {
        if (found.has_sparse)
            detail::raise(errc::missing_component,
                          detail::text("no chunk has ", to_text(found),
                                       ": one of them is sparse and stored outside of the chunks"));
        return chunk_type(store_, found);
    }
};

}  // namespace MUSTER_NAMESPACE
