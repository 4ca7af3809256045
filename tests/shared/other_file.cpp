// The program's second file.
#include "shared_position.hpp"

namespace muster::test {
namespace {

struct local_thing {
    std::string value;
};

}  // namespace

static entity local_to_function(world& w) {
    struct local {
        std::string value;
    };
    return w.component<local>();
}

namespace other_file {

own_fragments fragments(world& w) {
    return {w.component<local_thing>(),
            w.component<shared_holder<local_thing>>(),
            local_to_function(w),
            w.component<shared_position>(),
            w.component<shared_holder<shared_position>>(),
            w.component<std::string>(),
            w.component<shared_tag>(),
            w.component<PUZZLE_OF_LEVEL2>()};
}

void set_local(world& w, entity e, const std::string& value) {
    w.set(e, local_thing{value});
}
bool has_local(const world& w, entity e) {
    return w.has<local_thing>(e);
}
float x_of(const world& w, entity e) {
    return w.get<shared_position>(e).x;
}

}  // namespace other_file
}  // namespace muster::test
