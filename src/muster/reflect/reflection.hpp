// reflection: the types whose values a world can show and copy.
#pragma once

#include <muster/reflect/codec_of.hpp>
#include <muster/world/world.hpp>

namespace MUSTER_NAMESPACE {

/// Reflects a type in one world, for `basic_definition::reflected`.
template <class T>
struct detail::reflection {
    template <class Layout>
    static void apply(fragment_data& fragment) {
        fragment.codec = &codec_of<T>();
        if (fragment.remap.call != nullptr || !contains_id(*fragment.codec)) return;
        fragment.remap.call = [](const void*, void* value, const id_map& map) {
            translate_ids(codec_of<T>(), value, codec_of<basic_id<Layout>>(), map);
        };
    }
};

/// Reflects these component types in a world: `reflect<position, health>(w)` is
/// `define<position>().reflected()`, and so on. Reflecting a type again changes nothing. Refused in a
/// phase.
template <class... Ts, class Layout>
void reflect(basic_world<Layout>& w) {
    (..., static_cast<void>(w.template define<Ts>().reflected()));
}

}  // namespace MUSTER_NAMESPACE
