#include <muster/engine/engine.hpp>
#include <muster/event/events.hpp>

namespace MUSTER_NAMESPACE::detail {

argument_cursor::argument_cursor(engine& owner, type_index log, const event_type& how)
    : cursor_(&event_logs::ensure(owner, log, how).add_cursor()) {
    cursor_->start = cursor_->seen;
}

}  // namespace MUSTER_NAMESPACE::detail
