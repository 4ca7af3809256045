// world: entities and their components. A world owns all parts and forwards to them: `store` moves
// entities between chunks, `storage` holds the chunks, `id` issues the ids. Its calls are in the
// headers `..._calls.hpp`, one for each topic; world_base.hpp lists them.
//
// Rules for every call
//   failure        A call that throws an `error`, `std::bad_alloc` or an exception of a component's
//                  constructor leaves the world unchanged, unless its comment says otherwise. Only
//                  the fragment that the first use of a component type creates stays; its key
//                  comes from the top of the range.
//   bad ids        `alive`, `has`, `try_get`, `empty` and `name` accept any bits. `destroy`,
//                  `remove` and `clear` return false for a dead or null id and throw
//                  `errc::foreign_entity` for an id of another world. All other calls throw
//                  `errc::dead_entity` or `errc::foreign_entity`.
//   invalidation   Adding a fragment to an entity, or removing one, invalidates references to its
//                  components. Inserting an entity into a chunk, even by a call that fails,
//                  invalidates references into that chunk (columns may grow). So does removing an
//                  entity from it (the last row moves). Reading and assigning invalidate nothing.
//                  Sparse values keep their address; see `basic_definition::sparse`.
//   threads        Any threads may make const calls concurrently. Every other call needs exclusive
//                  access to the world. Writing through a reference writes that component only.
//   phases         On the threads of a parallel phase, const calls read the world as it was before
//                  the phase. Each other call states what it does there. It may be called; or it is
//                  *recorded*, and applied when the phase ends; or it is *refused*: it throws
//                  `errc::in_scope` before it touches the world.
//   scopes         In a scope (after `defer`, in a loop, a callback or a hook) changes to entities
//                  are deferred until the outermost scope closes; see `defer`.
//   components     While a component's copy constructor or destructor runs, changes throw
//                  `errc::in_scope`; reading and naming are allowed. A move constructor must not
//                  use the world.
//
// With MUSTER_UNCHECKED, passing a dead entity to `get`, `set` and similar calls is undefined
// behaviour instead of an error. So is `get` of a missing component.
#pragma once

#include <muster/world/prefab_calls.hpp>

#include <cstdint>
#include <exception>
#include <iosfwd>
#include <string>
#include <utility>

namespace MUSTER_NAMESPACE {

/// A world: entities, their components, and the systems that process them. Neither copyable nor
/// movable. It inherits its calls; each base class has the calls for one topic.
///
/// To use a custom layout, one source file of the program includes <muster/world/instantiate.hpp>
/// and expands MUSTER_INSTANTIATE(layout).
template <class Layout>
class basic_world : public prefab_calls<Layout> {
public:
    /// Creates an empty world. For errors see `world_options`.
    explicit basic_world(const world_options& options = {}) : prefab_calls<Layout>(options) {}
    /// Destroys all values, then the extensions, then the systems, and calls no hooks. Their
    /// destructors may still query the world. Handles of the world may outlive it; see
    /// docs/world.md. Must not run while another thread uses or destroys a command buffer.
    ~basic_world() { store_.end(); }
    basic_world(const basic_world&) = delete;
    basic_world& operator=(const basic_world&) = delete;

    /// Returns the number of the world. It is never 0, and no other living world has it.
    [[nodiscard]] std::uint64_t number() const noexcept { return store_.number.value(); }
    /// Returns the number as text: "W:1".
    [[nodiscard]] friend std::string to_string(const basic_world& w) {
        return detail::text("W:", w.number());
    }
    /// Prints `to_string(w)`.
    template <class Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                        const basic_world& w) {
        return out << to_string(w).c_str();
    }

private:
    friend class basic_deferred<Layout>;
    friend class basic_command_buffer<Layout>;
    friend class query_calls<Layout>;
    friend class system_calls<Layout>;

    using detail::world_base<Layout>::store_;

    /// Creates a query or a system for a call group: only the world may call their constructors.
    template <class Handle, class... Args>
    [[nodiscard, gnu::always_inline]] static Handle make_handle(Args&&... args) {
        return Handle(std::forward<Args>(args)...);
    }
};

/// A scope as an object: `{ deferred scope{w}; ... }`. Its destructor commits, or cancels if an
/// exception leaves the block. It must not be closed by `world::commit`. The end of the world cancels
/// it.
template <class Layout>
class basic_deferred {
public:
    /// Opens the scope. Refused in a phase.
    explicit basic_deferred(basic_world<Layout>& w) : changes_(store_of(w)) {}
    basic_deferred(const basic_deferred&) = delete;
    basic_deferred& operator=(const basic_deferred&) = delete;
    /// Commits if the scope is open and no exception is leaving the block. Throws as
    /// `world::commit` does.
    ~basic_deferred() noexcept(false) {
        if (changes_.is_open() && std::uncaught_exceptions() == exceptions_) changes_.commit();
    }

    /// Commits before the end of the block; the destructor then does nothing.
    void commit() {
        if (changes_.is_open()) changes_.commit();
    }
    /// Drops the recorded changes and closes the scope; the destructor then does nothing.
    void cancel() noexcept {
        if (changes_.is_open()) changes_.cancel();
    }

private:
    static detail::store<Layout>& store_of(basic_world<Layout>& w) {
        w.store_.gate.refuse_in_change("deferred");
        return w.store_;
    }

    typename detail::store<Layout>::scope changes_;
    int exceptions_ = std::uncaught_exceptions();
};
using deferred = basic_deferred<layouts::bound>;

}  // namespace MUSTER_NAMESPACE
