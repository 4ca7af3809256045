// The code and the message of the error that a call throws.
#pragma once

#include <muster/base/error.hpp>

#include <optional>
#include <string>

namespace muster::test {

/// The code of the error that `call` throws; empty if it throws none.
template <class Call>
std::optional<errc> code_of(Call call) {
    try {
        call();
    } catch (const error& e) {
        return e.code();
    }
    return std::nullopt;
}

/// The message of the error that `call` throws; "no error" if it throws none.
template <class Call>
std::string sentence_of(Call call) {
    try {
        call();
    } catch (const error& e) {
        return e.what();
    }
    return "no error";
}

}  // namespace muster::test
