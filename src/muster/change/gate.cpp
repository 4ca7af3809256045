#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/change/gate.hpp>

namespace MUSTER_NAMESPACE::detail {

void gate::raise_busy(const char* call) const {
    if (is_parallel())
        raise(errc::in_scope,
              text(call,
                   " is not possible in a parallel phase, which permits only reading, spawn, "
                   "destroy, set, add, emplace, patch, touch, remove and clear: do it after the "
                   "phase"));
    if (is_changing())
        raise(errc::in_scope,
              text(call,
                   " is not possible here: the world is in the middle of another change (in a "
                   "component's copy constructor or destructor)"));
    raise(errc::in_scope,
          text(call,
               " is not possible in a scope (in a loop, a callback or a hook, or after defer()): "
               "do it after the scope closes"));
}

}  // namespace MUSTER_NAMESPACE::detail
