// expect: muster: a component is a plain type, without const, volatile or reference.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::command_buffer& commands, muster::entity e) {
#ifdef MUST_FAIL
    commands.add<const position>(e);
#else
    commands.add<position>(e);
#endif
}
