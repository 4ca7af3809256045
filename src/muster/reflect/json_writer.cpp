#include <muster/reflect/json.hpp>
#include <muster/reflect/number_text.hpp>
#include <muster/reflect/utf8.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

void write_escape(char c, std::string& text) {
    constexpr std::string_view escaped = "\"\\\n\r\t";
    constexpr std::string_view escapes = "\"\\nrt";
    text += '\\';
    if (const std::size_t which = escaped.find(c); which != escaped.npos) {
        text += escapes[which];
        return;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += "u00";
    text += hex_digits[byte >> 4];
    text += hex_digits[byte & 15];
}

void write_string(std::string_view value, std::string& text) {
    text += '"';
    std::size_t written = 0;
    for (std::size_t i = 0; i != value.size(); ++i) {
        const char c = value[i];
        if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
        text.append(value, written, i - written);
        write_escape(c, text);
        written = i + 1;
    }
    text.append(value, written);
    text += '"';
}

void write_bytes(std::string_view value, std::string& text) {
    text += "{\"$bytes\":\"";
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        text += hex_digits[byte >> 4];
        text += hex_digits[byte & 15];
    }
    text += "\"}";
}

void write_text(std::string_view value, std::string& text) {
    if (is_utf8(value))
        write_string(value, text);
    else
        write_bytes(value, text);
}

/// A NaN has bits that a program may have put there: those of other NaNs than the usual one are kept.
void write_nan(const codec& type, const void* value, std::string& text) {
    const std::uint64_t bits = read_natural(type, value);
    const std::uint64_t usual = type.size == 4 ? 0x7fc00000u : 0x7ff8000000000000u;
    text += "\"nan";
    if (bits != usual) {
        char digits[20];
        std::snprintf(digits, sizeof digits, ":%llx", static_cast<unsigned long long>(bits));
        text += digits;
    }
    text += '"';
}

void write_real_number(const codec& type, const void* value, std::string& text) {
    const double number = read_real(type, value);
    if (std::isnan(number))
        write_nan(type, value, text);
    else if (std::isinf(number))
        text += number < 0 ? "\"-inf\"" : "\"inf\"";
    else
        append_real(text, number, type.size == 4);
}

void write_enumeration(const codec& type, const void* value, std::string& text) {
    const std::int64_t number = type.is_signed
                                    ? read_integer(type, value)
                                    : static_cast<std::int64_t>(read_natural(type, value));
    for (const enum_value& named : type.values)
        if (named.value == number) return write_string(named.name, text);
    text += type.is_signed ? std::to_string(number)
                           : std::to_string(static_cast<std::uint64_t>(number));
}

/// Writes the elements of a list between brackets, in an order that depends on the elements alone.
class element_list {
public:
    element_list(const list_codec& list, std::string& text, char open, char close)
        : text_(text), close_(close), sorts_(list.is_unordered) {
        text_ += open;
    }
    template <class Write>
    void add(Write write) {
        if (sorts_) {
            sorted_.emplace_back();
            write(sorted_.back());
        } else {
            if (!is_first_) text_ += ',';
            write(text_);
        }
        is_first_ = false;
    }
    void close() {
        std::sort(sorted_.begin(), sorted_.end());
        for (std::size_t i = 0; i != sorted_.size(); ++i) {
            if (i != 0) text_ += ',';
            text_ += sorted_[i];
        }
        text_ += close_;
    }

private:
    std::string& text_;
    std::vector<std::string> sorted_;
    char close_;
    bool sorts_;
    bool is_first_ = true;
};

void write_list(const codec& type, const void* value, std::string& text) {
    element_list all(*type.list, text, '[', ']');
    const codec& element = type.element();
    type.list->each(value, [&](void* at, void*) {
        all.add([&](std::string& to) { write_json(element, at, to); });
    });
    all.close();
}

void write_map(const codec& type, const void* value, std::string& text) {
    const codec& key = type.element(0);
    const codec& mapped = type.element(1);
    bool is_object = key.kind == value_kind::text;
    if (is_object)
        type.list->each(value,
                        [&](void* at, void*) { is_object = is_object && is_utf8(key.text(at)); });
    element_list all(*type.list, text, is_object ? '{' : '[', is_object ? '}' : ']');
    type.list->each(value, [&](void* first, void* second) {
        all.add([&](std::string& to) {
            if (!is_object) to += '[';
            write_json(key, first, to);
            to += is_object ? ':' : ',';
            write_json(mapped, second, to);
            if (!is_object) to += ']';
        });
    });
    all.close();
}

void write_structure(const codec& type, const void* value, std::string& text) {
    char before = '{';
    for (const field_codec& field : type.fields) {
        if (field.is_transient) continue;
        text += before;
        before = ',';
        write_string(field.name, text);
        text += ':';
        write_json(field.type(), static_cast<const std::byte*>(value) + field.offset, text);
    }
    text += before == '{' ? "{}" : "}";
}

void write_array(const codec& type, const void* value, std::string& text) {
    const codec& element = type.element();
    const auto* at = static_cast<const std::byte*>(value);
    text += '[';
    for (std::size_t i = 0; i != type.count; ++i) {
        if (i != 0) text += ',';
        write_json(element, at + i * element.size, text);
    }
    text += ']';
}

void write_choice(const codec& type, const void* value, std::string& text) {
    const std::size_t held = type.choice->held(value);
    if (held == choice_codec::none) {
        text += "null";
        return;
    }
    const codec& element = type.element(held);
    // SAFETY: the value is only read.
    const void* const at = type.choice->value(const_cast<void*>(value));
    if (type.kind == value_kind::variant) {
        text += "{\"" + std::to_string(held) + "\":";
        write_json(element, at, text);
        text += '}';
    } else if (may_be_null(element)) {
        text += '[';
        write_json(element, at, text);
        text += ']';
    } else {
        write_json(element, at, text);
    }
}

}  // namespace

void write_json(const codec& type, const void* value, std::string& text) {
    switch (type.kind) {
    case value_kind::boolean: text += *static_cast<const bool*>(value) ? "true" : "false"; break;
    case value_kind::integer: text += std::to_string(read_integer(type, value)); break;
    case value_kind::natural: text += std::to_string(read_natural(type, value)); break;
    case value_kind::real: write_real_number(type, value, text); break;
    case value_kind::enumeration: write_enumeration(type, value, text); break;
    case value_kind::text: write_text(type.text(value), text); break;
    case value_kind::handle:
        if (type.is_null(value))
            text += "null";
        else
            write_string(type.spell(value), text);
        break;
    case value_kind::structure: write_structure(type, value, text); break;
    case value_kind::array: write_array(type, value, text); break;
    case value_kind::list: write_list(type, value, text); break;
    case value_kind::map: write_map(type, value, text); break;
    case value_kind::optional:
    case value_kind::variant: write_choice(type, value, text); break;
    }
}

}  // namespace MUSTER_NAMESPACE::detail
