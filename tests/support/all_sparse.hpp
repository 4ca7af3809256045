// Included before everything else by programs that run the tests of chunks on sparse fragments: every C++
// type is sparse unless it says otherwise.
#pragma once

#include <muster/type/type_info.hpp>

#include <type_traits>

#define MUSTER_TEST_ALL_SPARSE 1

namespace muster {

namespace detail {
struct no_value;  // a tag without a type: the library has it, too
}

template <class T>
    requires(!std::is_same_v<T, detail::no_value>)
struct component_traits<T> {
    static constexpr bool sparse = true;
};

}  // namespace muster
