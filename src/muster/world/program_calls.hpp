// program_calls: the calls of a world for the parts of a program: states and modules.
#pragma once

#include <muster/world/extension_calls.hpp>

#include <muster/query/single.hpp>
#include <muster/system/module_table.hpp>
#include <muster/system/state_table.hpp>

#include <source_location>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// The calls of a world for states and modules.
/// <muster/world/world.hpp> has the rules for every call.
template <class Layout>
class program_calls : public extension_calls<Layout> {
public:
    // ---- states --------------------------------------------------------------------------------

    /// Changes the state of this enumeration, at the start of the next `process_all` or
    /// `par_process_all`: that frame first runs the systems with `on_exit` of the old value, then
    /// those with `on_enter` of the new one. If several calls precede a frame, the last one counts.
    /// The value that is current already changes nothing.
    ///
    /// The first call determines the current value at once, and `on_enter` runs in the next frame.
    /// `reset` ends all states without `on_exit`.
    ///
    /// Recorded in a scope or phase as `set` is, and dropped with it. In a phase, throws
    /// `errc::in_scope` if the state was never set before.
    template <class State>
    void set_state(State value, std::source_location where = std::source_location::current()) {
        static_assert(std::is_enum_v<State>, "muster: a state is a value of an enumeration.");
        using wanted = detail::wanted_state<State>;
        if (!this->template has_single<wanted>()) {
            store_.gate.refuse_in_phase("the first set_state of an enumeration");
            systems_.states.ensure(detail::ensure_type_index<wanted>()).has_current = false;
        }
        this->set_single(wanted{detail::number_of(value)}, where);
    }
    /// Returns the current state of this enumeration. Throws `errc::missing_component` if it was
    /// never set. O(enumerations). May be called in a phase.
    template <class State>
    [[nodiscard]] State state(std::source_location where = std::source_location::current()) const {
        static_assert(std::is_enum_v<State>, "muster: a state is a value of an enumeration.");
        using wanted = detail::wanted_state<State>;
        if (!this->template has_single<wanted>())
            detail::raise(errc::missing_component,
                          detail::text("the state ", detail::type_name<State>(),
                                       " was never set: call set_state first",
                                       detail::place_of("state", &where)));
        const detail::state_entry* const entry =
            systems_.states.find(detail::find_type_index<wanted>());
        return static_cast<State>(entry != nullptr && entry->has_current
                                      ? entry->current
                                      : detail::single_in<const wanted>(store_).value);
    }

    // ---- modules -------------------------------------------------------------------------------

    /// Returns the module M. The first call constructs it, `M(w, args...)`, and later calls ignore
    /// their arguments. The constructor adds systems, hooks and entities, and may use other modules,
    /// which are then there before it.
    ///
    /// If the constructor throws, the module is absent, and the systems that it has added are
    /// removed. Everything else that it has changed stays, also the modules that it has used. The
    /// first call throws `errc::in_scope` in a scope or phase, and `errc::module_circle` if the
    /// constructor of M uses M.
    ///
    /// References stay valid until the world ends; `reset` keeps modules. The world destroys them as
    /// it destroys extensions: after all components, in the reverse order of their construction.
    template <class M, class... Args>
    M& use(Args&&... args) {
        using world_type = basic_world<Layout>;
        using module = std::remove_cv_t<M>;
        static_assert(std::is_class_v<M> && std::is_same_v<M, module>,
                      "muster: a module is an object of a class, without const.");
        constexpr bool fits = std::is_constructible_v<module, world_type&, Args...>;
        static_assert(fits,
                      "muster: a module is constructed from the world and the arguments of use.");
        auto make = [&]() -> module* {
            if constexpr (fits)
                return new module(static_cast<world_type&>(*this), std::forward<Args>(args)...);
            else
                return nullptr;  // refused
        };
        // SAFETY: `ensure` passes `&make` to the first function, and its result to the second.
        const detail::extensions::recipe how{
            detail::type_name<module>(),
            [](void* call) -> void* { return (*static_cast<decltype(make)*>(call))(); },
            [](void* object) noexcept { delete static_cast<module*>(object); }};
        return *static_cast<module*>(systems_.modules.ensure(
            store_, systems_.all, detail::ensure_type_index<module_of<module>>(), how, &make));
    }
    /// Returns whether the module M was constructed. O(1), never throws. May be called in a phase.
    template <class M>
    [[nodiscard]] bool has_module() const noexcept {
        return store_.extensions.find(detail::find_type_index<module_of<M>>()) != nullptr;
    }

protected:
    using extension_calls<Layout>::extension_calls;
    using detail::world_base<Layout>::store_;
    using detail::world_base<Layout>::systems_;

private:
    /// A module is not the extension of its type.
    template <class M>
    struct module_of {};
};

}  // namespace MUSTER_NAMESPACE
