// scoped_connection: a connection that disconnects its hook when it is destroyed.
//
//     struct inventory {
//         muster::scoped_connection added;      // = w.on_insert<item>(...)
//     };
#pragma once

#include <muster/event/connection.hpp>

#include <utility>

namespace MUSTER_NAMESPACE {

/// Owns a connection: disconnects the hook when it is destroyed or assigned. Movable, not copyable.
/// May outlive its world. Destruction, assignment and `disconnect` require exclusive access to the
/// world, like changes. A hook whose owner is destroyed or assigned in a parallel phase is
/// disconnected when the phase ends.
template <class Layout>
class basic_scoped_connection {
public:
    using connection_type = basic_connection<Layout>;

    /// Owns no connection.
    basic_scoped_connection() = default;
    /// Takes over a connection: `scoped_connection c = w.on_insert<item>(hook);`
    // NOLINTNEXTLINE(google-explicit-constructor): assigned from what the world returns
    basic_scoped_connection(const connection_type& owned) noexcept : owned_(owned) {}
    basic_scoped_connection(basic_scoped_connection&& other) noexcept : owned_(other.release()) {}
    basic_scoped_connection& operator=(basic_scoped_connection&& other) noexcept {
        basic_scoped_connection taken(std::move(other));
        std::swap(owned_, taken.owned_);
        return *this;
    }
    ~basic_scoped_connection() { owned_.abandon(); }

    /// Returns the connection, which then stays when this object is destroyed.
    connection_type release() noexcept { return std::exchange(owned_, {}); }

    /// See `basic_connection::pause`.
    bool pause() noexcept { return owned_.pause(); }
    /// See `basic_connection::resume`.
    bool resume() noexcept { return owned_.resume(); }
    /// See `basic_connection::disconnect`.
    bool disconnect() noexcept { return owned_.disconnect(); }
    /// See `basic_connection::connected`.
    [[nodiscard]] bool connected() const noexcept { return owned_.connected(); }

private:
    connection_type owned_;
};
using scoped_connection = basic_scoped_connection<layouts::bound>;

}  // namespace MUSTER_NAMESPACE
