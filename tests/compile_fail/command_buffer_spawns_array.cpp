// expect: muster: an array cannot be a component: use std::string for text, std::array or a struct for other arrays.
#include <muster/muster.hpp>

#include <string>

void use(muster::command_buffer& commands) {
#ifdef MUST_FAIL
    commands.spawn("text");
#else
    commands.spawn(std::string("text"));
#endif
}
