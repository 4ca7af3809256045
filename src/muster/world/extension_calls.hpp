// extension_calls: the calls of a world for objects that live and end with it.
#pragma once

#include <muster/world/thread_calls.hpp>

#include <muster/type/type_index.hpp>
#include <muster/type/type_name.hpp>

#include <type_traits>

namespace MUSTER_NAMESPACE {

/// The calls of a world for its extensions: objects of your own, one of each type.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class extension_calls : public thread_calls<Layout> {
public:
    /// Returns the extension T. The first call constructs it from the world, `T(w)`, if that is
    /// possible, else by default. If the constructor throws, nothing remains. It may create
    /// entities and other extensions. The first call throws `errc::in_scope` in a parallel phase,
    /// and in the copy constructor or the destructor of a component. References stay valid until
    /// the world ends. O(1).
    ///
    /// The world destroys its extensions after all components, in the reverse order of their
    /// creation, so destructors of components may still use them. The destructor of an extension
    /// may read the world, which has no entities any more, and use older extensions. It must not
    /// change the world, create an extension or throw.
    template <class T>
    T& extension() {
        constexpr bool fits =
            std::is_object_v<T> && !std::is_array_v<T> && std::is_same_v<T, std::remove_cv_t<T>>;
        static_assert(fits, "muster: an extension is an object of a class, without const.");
        constexpr bool takes_world = std::is_constructible_v<T, basic_world<Layout>&>;
        static_assert(takes_world || std::is_default_constructible_v<T>,
                      "muster: an extension is constructed from its world or by default.");
        // SAFETY: only `basic_world` derives from the call groups, and `ensure` returns what `make`
        // returned for T.
        const detail::extensions::recipe how{
            detail::type_name<T>(),
            [](void* owner) -> void* {
                if constexpr (fits && takes_world)
                    return new T(*static_cast<basic_world<Layout>*>(owner));
                else if constexpr (fits && std::is_default_constructible_v<T>)
                    return new T();
                else
                    return nullptr;  // refused
            },
            [](void* object) noexcept { delete static_cast<T*>(object); }};
        return *static_cast<T*>(store_.extensions.ensure(detail::ensure_type_index<T>(), how,
                                                         static_cast<basic_world<Layout>*>(this)));
    }
    /// Returns the extension T, or null if it was not created. O(1), never throws. Any thread may
    /// call it while no thread creates an extension.
    template <class T>
    [[nodiscard]] T* find_extension() const noexcept {
        return static_cast<T*>(store_.extensions.find(detail::find_type_index<T>()));
    }

protected:
    using thread_calls<Layout>::thread_calls;
    using detail::world_base<Layout>::store_;
};

}  // namespace MUSTER_NAMESPACE
