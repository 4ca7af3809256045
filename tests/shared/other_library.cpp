// The shared library. Symbols without MUSTER_API are hidden.
#include "shared_position.hpp"

namespace muster::test {
namespace {

struct local_thing {
    int value;
};

}  // namespace

static entity local_to_function(world& w) {
    struct local {
        int value;
    };
    return w.component<local>();
}

namespace library {

const void* address_of_no_fragment() {
    return &detail::no_fragment;
}

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

entity spawn(world& w, float x, const std::string& text, int local) {
    return w.spawn(shared_position{x, 0}, text, local_thing{local}, shared_tag{});
}

void set_position(world& w, entity e, float x, float y) {
    w.set(e, shared_position{x, y});
}
float x_of(const world& w, entity e) {
    return w.get<shared_position>(e).x;
}
const shared_position* find_position(const world& w, entity e) {
    return w.try_get<shared_position>(e);
}
bool has_tag(const world& w, entity e) {
    return w.has<shared_tag>(e);
}
void set_local(world& w, entity e, int value) {
    w.set(e, local_thing{value});
}
int local_of(const world& w, entity e) {
    return w.get<local_thing>(e).value;
}
bool has_local(const world& w, entity e) {
    return w.has<local_thing>(e);
}

}  // namespace library
}  // namespace muster::test
