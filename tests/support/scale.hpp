// How long the random tests run: MUSTER_TEST_SCALE multiplies it. `./dev check --all` sets it.
#pragma once

#include <cstdlib>

namespace muster::test {

inline unsigned scale() {
    const char* text = std::getenv("MUSTER_TEST_SCALE");
    const long wanted = text == nullptr ? 1 : std::atol(text);
    return wanted < 1 ? 1u : static_cast<unsigned>(wanted);
}

}  // namespace muster::test
