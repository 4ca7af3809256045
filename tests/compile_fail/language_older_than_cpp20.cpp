// expect: Muster needs C++20: compile with -std=c++20 (g++ 12, clang 16, or newer).
// flags: -std=c++17
#include <muster/base/config.hpp>
