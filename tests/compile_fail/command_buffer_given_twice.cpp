// expect: muster: component types must be distinct.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};

void use(muster::command_buffer& commands) {
#ifdef MUST_FAIL
    commands.spawn(position{1, 2}, velocity{3, 4}, position{5, 6});
#else
    commands.spawn(position{1, 2}, velocity{3, 4});
#endif
}
