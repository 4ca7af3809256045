// reflect: the fields of types, their values as JSON, and the types that a world can show and save.
// <muster/muster.hpp> does not include it: each type costs about ten milliseconds of compilation.
#pragma once

#include <muster/reflect/codec_of.hpp>
#include <muster/reflect/fields.hpp>
#include <muster/reflect/json.hpp>
#include <muster/reflect/reflection.hpp>
