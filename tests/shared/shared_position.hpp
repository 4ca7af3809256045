// Types and functions that the program, its second file and the shared library share.
#pragma once

#include <muster/muster.hpp>

#include <string>

namespace muster::test {

struct shared_position {
    float x, y;
};
struct shared_tag {};
/// Its name contains ZL and L2, which mark local types in mangled names.
struct PUZZLE_OF_LEVEL2 {
    int value;
};
template <class T>
struct shared_holder {
    T value;
};

/// The fragments that one file gets for its types, in a world that several files use.
struct own_fragments {
    entity local_thing;            // in its anonymous namespace
    entity holder_of_local_thing;  // a shared template with a local argument
    entity local_to_function;      // local to a static function
    entity shared_position;
    entity holder_of_shared;
    entity text;
    entity shared_tag;
    entity puzzle;
};

namespace library {

MUSTER_API const void* address_of_no_fragment();
MUSTER_API own_fragments fragments(world& w);
MUSTER_API entity spawn(world& w, float x, const std::string& text, int local);
MUSTER_API void set_position(world& w, entity e, float x, float y);
MUSTER_API float x_of(const world& w, entity e);
MUSTER_API const shared_position* find_position(const world& w, entity e);
MUSTER_API bool has_tag(const world& w, entity e);
MUSTER_API void set_local(world& w, entity e, int value);
MUSTER_API int local_of(const world& w, entity e);
MUSTER_API bool has_local(const world& w, entity e);

}  // namespace library

namespace other_file {

own_fragments fragments(world& w);
void set_local(world& w, entity e, const std::string& value);
bool has_local(const world& w, entity e);
float x_of(const world& w, entity e);

}  // namespace other_file
}  // namespace muster::test
