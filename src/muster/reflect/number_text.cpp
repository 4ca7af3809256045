#include <muster/reflect/number_text.hpp>

#include <charconv>
#include <cmath>
#include <system_error>

#if !defined(__cpp_lib_to_chars)
#include <locale.h>
#include <stdlib.h>
#endif

namespace MUSTER_NAMESPACE::detail {

void append_real(std::string& text, double number, bool is_float) {
    char digits[32];
    const std::to_chars_result done =
        is_float ? std::to_chars(digits, digits + sizeof digits, static_cast<float>(number))
                 : std::to_chars(digits, digits + sizeof digits, number);
    text.append(digits, static_cast<std::size_t>(done.ptr - digits));
}

#if defined(__cpp_lib_to_chars)

bool parse_real(std::string_view digits, bool is_float, double& number) {
    const char* const begin = digits.data();
    const char* const end = begin + digits.size();
    std::from_chars_result done{};
    if (is_float) {
        float read = 0;
        done = std::from_chars(begin, end, read);
        number = static_cast<double>(read);
    } else {
        done = std::from_chars(begin, end, number);
    }
    if (done.ec == std::errc()) return true;
    // Too large, or so small that it is zero: the sign of the exponent tells.
    const std::size_t exponent = digits.find_first_of("eE");
    const bool is_tiny = exponent == digits.npos
                             ? digits.find_first_of("123456789") > digits.find('.')
                             : digits.substr(exponent + 1).starts_with('-');
    number = digits.starts_with('-') ? -0.0 : 0.0;
    return is_tiny;
}

#else  // libc++ 19 reads no real numbers

bool parse_real(std::string_view digits, bool is_float, double& number) {
    static const locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    const std::string ended(digits);
    number = is_float ? static_cast<double>(::strtof_l(ended.c_str(), nullptr, plain))
                      : ::strtod_l(ended.c_str(), nullptr, plain);
    return std::isfinite(number);
}

#endif

}  // namespace MUSTER_NAMESPACE::detail
