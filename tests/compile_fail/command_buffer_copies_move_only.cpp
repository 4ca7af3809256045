// expect: muster: this component cannot be copied: pass it with std::move.
#include <muster/muster.hpp>

#include <memory>
#include <utility>

void use(muster::command_buffer& commands, muster::entity e) {
    auto value = std::make_unique<int>(1);
#ifdef MUST_FAIL
    commands.set(e, value);
#else
    commands.set(e, std::move(value));
#endif
}
