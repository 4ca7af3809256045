// room_world: a world whose parts a test may use, as a later room does.
#pragma once

#include <muster/muster.hpp>

namespace muster::test {

template <class Layout = layouts::bound>
struct room_world : extension_calls<Layout> {
    room_world() : extension_calls<Layout>(world_options{}) {}
    ~room_world() { parts().end(); }
    [[nodiscard]] detail::store<Layout>& parts() noexcept { return this->store_; }
};

}  // namespace muster::test
