// stories: the components of the hostile stories.
#pragma once

#include <muster/muster.hpp>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <string>

namespace muster::test::stories {

struct position {
    int x = 0;
};
struct velocity {
    int x = 0;
};
struct note {
    std::string text;
};
struct mark {};
struct second_mark {};

/// Too long for a string to store without an allocation.
inline std::string long_text(int number) {
    return "a text that needs memory of its own, number " + std::to_string(number);
}

struct thrown {};

}  // namespace muster::test::stories
