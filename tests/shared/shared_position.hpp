// What the program, its second file and the shared library have in common.
#pragma once

#include <muster/muster.hpp>

#include <string>

namespace muster::test {

struct shared_position {
    float x, y;
};
struct shared_tag {};
/// A name that has in it what marks a local type in mangled names: ZL, L2.
struct PUZZLE_OF_LEVEL2 {
    int value;
};
template <class T>
struct shared_holder {
    T value;
};

/// What one file says about its own types, in a world that several files use.
struct own_fragments {
    entity local_thing;            // of its anonymous namespace
    entity holder_of_local_thing;  // a template that all know, of a type that only it knows
    entity local_to_function;      // of a static function
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
