// numbered: texts that differ by a number.
#pragma once

#include <string>
#include <string_view>

namespace muster::test {

/// `numbered("n", 7)` is "n7". Not inline: g++ 12 warns of a copy out of bounds if it sees both how
/// a `std::string` gets its length and how it is moved.
template <class Number>
[[nodiscard, gnu::noinline]] std::string numbered(std::string_view words, Number number) {
    std::string all(words);
    all += std::to_string(number);
    return all;
}

}  // namespace muster::test
