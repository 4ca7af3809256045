// expect: Muster needs a newer compiler: g++ 12, clang 16, or newer.
// flags: -U__GNUC__ -D__GNUC__=11 -U__clang_major__ -D__clang_major__=14
#include <muster/base/config.hpp>
