// expect: Muster uses exceptions, but this file does not: build Muster with MUSTER_NO_EXCEPTIONS=ON.
// flags: -DMUSTER_EXCEPTIONS=1 -fno-exceptions
#include <muster/base/config.hpp>
