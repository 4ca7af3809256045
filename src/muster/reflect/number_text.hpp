// number_text: numbers as text that reads back exactly, independent of the locale.
#pragma once

#include <muster/base/config.hpp>

#include <string>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

/// Appends the shortest digits that read back as this finite number; a `float` needs fewer.
void append_real(std::string& text, double number, bool is_float);
/// Reads a number of the form that JSON allows; returns false if it is too large for the type.
[[nodiscard]] bool parse_real(std::string_view digits, bool is_float, double& number);

}  // namespace MUSTER_NAMESPACE::detail
