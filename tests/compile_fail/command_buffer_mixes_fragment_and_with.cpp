// expect: muster: to set several fragments at once, pass each as with(): with(tag), with(f, value).
#include <muster/muster.hpp>

void use(muster::command_buffer& commands, muster::entity e, muster::entity tag,
         muster::fragment<int> health) {
#ifdef MUST_FAIL
    commands.set(e, tag, muster::with(health, 100));
#else
    commands.set(e, muster::with(tag), muster::with(health, 100));
#endif
}
