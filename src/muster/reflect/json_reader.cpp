#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/reflect/json.hpp>
#include <muster/reflect/number_text.hpp>
#include <muster/reflect/utf8.hpp>

#include <charconv>
#include <cstring>
#include <limits>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

/// Where the reader is in the value: `$.bag[3].name`.
struct place {
    const place* outer = nullptr;
    std::string_view name{};  // of a field; empty: an element
    std::size_t index = 0;
};

std::string path_of(const place* at) {
    if (at == nullptr) return "$";
    std::string path = path_of(at->outer);  // at most `json_options::most_levels` deep
    if (at->name.empty())
        path += text("[", at->index, "]");
    else
        path += text(".", at->name);
    return path;
}

bool is_decimal(char c) {
    return c >= '0' && c <= '9';
}

/// Whether a character stands for itself in a string, and is one byte long.
bool is_plain(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

int hex_value(char c) {
    if (is_decimal(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// The tokens of a JSON text.
class json_tokens {
public:
    json_tokens(std::string_view all, const json_options& how) : all_(all), how_(how) {}

    [[noreturn]] void fail(const std::string& why) const {
        std::size_t line = 1;
        std::size_t column = 1;
        for (const char c : all_.substr(0, at_)) {
            ++column;
            if (c == '\n') ++line, column = 1;
        }
        raise(errc::bad_json,
              text("line ", line, ", column ", column, ", at ", path_of(place_), ": ", why));
    }
    [[noreturn]] void fail_expecting(std::string_view what) const {
        fail(text(
            "expected ", what,
            at_ == all_.size() ? std::string_view(" instead of the end") : std::string_view()));
    }

    [[nodiscard]] char peek() {
        while (at_ != all_.size() &&
               (all_[at_] == ' ' || all_[at_] == '\n' || all_[at_] == '\r' || all_[at_] == '\t'))
            ++at_;
        return at_ == all_.size() ? '\0' : all_[at_];
    }
    [[nodiscard]] bool take(char wanted) {
        if (peek() != wanted || at_ == all_.size()) return false;
        ++at_;
        return true;
    }
    [[nodiscard]] bool take_word(std::string_view word) {
        (void)peek();
        if (!all_.substr(at_).starts_with(word)) return false;
        at_ += word.size();
        return true;
    }
    void end() {
        (void)peek();
        if (at_ != all_.size()) fail("text after the value");
    }

    /// Returns the characters of a number.
    [[nodiscard]] std::string_view number() {
        (void)peek();
        const std::size_t begin = at_;
        const auto skip_digits = [&] {
            const std::size_t first = at_;
            while (at_ != all_.size() && is_decimal(all_[at_])) ++at_;
            if (at_ == first) fail_expecting("a digit");
        };
        const auto skip = [&](std::string_view some) {
            const bool found = at_ != all_.size() && some.find(all_[at_]) != some.npos;
            at_ += found ? 1 : 0;
            return found;
        };
        (void)skip("-");
        if (!skip("0")) skip_digits();
        if (skip(".")) skip_digits();
        if (skip("eE")) {
            (void)skip("+-");
            skip_digits();
        }
        return all_.substr(begin, at_ - begin);
    }

    [[nodiscard]] std::string string() {
        if (!take('"')) fail_expecting("a string");
        std::string made;
        while (at_ != all_.size() && all_[at_] != '"') {
            const std::size_t begin = at_;
            while (at_ != all_.size() && is_plain(all_[at_])) ++at_;
            made.append(all_, begin, at_ - begin);
            if (at_ == all_.size() || all_[at_] == '"') break;
            if (all_[at_] == '\\') {
                ++at_;
                read_escape(made);
            } else {
                const std::size_t length = utf8_length(all_.substr(at_));
                if (length == 0 || static_cast<unsigned char>(all_[at_]) < 0x20)
                    fail("this character must not be in a string");
                made.append(all_, at_, length);
                at_ += length;
            }
        }
        if (!take('"')) fail_expecting("the end of a string");
        return made;
    }

    /// Reads `{"name": value, ...}`: calls `read(name)` at each value.
    template <class Read>
    void object(Read read) {
        if (!take('{')) fail_expecting("an object");
        enter();
        if (!take('}')) {
            do {
                (void)peek();
                const std::string name = string();
                if (!take(':')) fail_expecting("a colon");
                const place here{place_,
                                 name.empty() ? std::string_view("\"\"") : std::string_view(name)};
                place_ = &here;
                read(std::string_view(name));
                place_ = here.outer;
            } while (take(','));
            if (!take('}')) fail_expecting("a comma or the end of the object");
        }
        --level_;
    }
    /// Reads `[value, ...]`: calls `read(index)` at each value.
    template <class Read>
    void array(Read read) {
        if (!take('[')) fail_expecting("an array");
        enter();
        if (!take(']')) {
            std::size_t index = 0;
            do {
                const place here{place_, {}, index};
                place_ = &here;
                read(index++);
                place_ = here.outer;
            } while (take(','));
            if (!take(']')) fail_expecting("a comma or the end of the array");
        }
        --level_;
    }
    void skip_value() {
        switch (peek()) {
        case '{': object([&](std::string_view) { skip_value(); }); break;
        case '[': array([&](std::size_t) { skip_value(); }); break;
        case '"': (void)string(); break;
        default:
            if (!take_word("true") && !take_word("false") && !take_word("null")) (void)number();
        }
    }

    [[nodiscard]] const json_options& how() const noexcept { return how_; }

private:
    void enter() {
        if (++level_ > how_.most_levels) fail(text("more than ", how_.most_levels, " levels"));
    }
    [[nodiscard]] std::uint32_t four_digits() {
        std::uint32_t code = 0;
        for (int i = 0; i != 4; ++i, ++at_) {
            const int digit = at_ == all_.size() ? -1 : hex_value(all_[at_]);
            if (digit < 0) fail_expecting("four hexadecimal digits");
            code = code << 4 | static_cast<std::uint32_t>(digit);
        }
        return code;
    }
    void read_escape(std::string& made) {
        constexpr std::string_view escapes = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        const char c = at_ == all_.size() ? '\0' : all_[at_];
        if (const std::size_t which = escapes.find(c); which != escapes.npos && c != '\0') {
            ++at_;
            made += meanings[which];
            return;
        }
        if (c != 'u') fail("no such escape in a string");
        ++at_;
        std::uint32_t code = four_digits();
        if (code >= 0xD800 && code < 0xDC00) {  // the first half of a pair
            if (!all_.substr(at_).starts_with("\\u"))
                fail_expecting("the second half of a surrogate pair");
            at_ += 2;
            const std::uint32_t low = four_digits();
            if (low < 0xDC00 || low > 0xDFFF) fail_expecting("the second half of a surrogate pair");
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else if (code >= 0xDC00 && code <= 0xDFFF) {
            fail("the second half of a surrogate pair stands alone");
        }
        append_utf8(made, code);
    }

    std::string_view all_;
    const json_options& how_;
    std::size_t at_ = 0;
    std::size_t level_ = 0;
    const place* place_ = nullptr;
};

class json_reader {
public:
    explicit json_reader(json_tokens& from) : from_(from) {}

    void read(const codec& type, void* value) {
        switch (type.kind) {
        case value_kind::boolean: read_boolean(value); break;
        case value_kind::integer:
        case value_kind::natural: read_whole(type, value, type.kind == value_kind::integer); break;
        case value_kind::real: read_real_number(type, value); break;
        case value_kind::enumeration: read_enumeration(type, value); break;
        case value_kind::text: (void)type.set_text(value, read_text()); break;
        case value_kind::handle: read_id_or_null(type, value); break;
        case value_kind::structure: read_structure(type, value); break;
        case value_kind::array: read_array(type, value); break;
        case value_kind::list: read_list(type, value); break;
        case value_kind::map: read_map(type, value); break;
        case value_kind::optional: read_optional(type, value); break;
        case value_kind::variant: read_variant(type, value); break;
        }
    }

private:
    void read_boolean(void* value) {
        const bool is_true = from_.take_word("true");
        if (!is_true && !from_.take_word("false")) from_.fail_expecting("true or false");
        std::memcpy(value, &is_true, sizeof is_true);
    }

    void read_whole(const codec& type, void* value, bool is_signed) {
        const std::string_view digits = from_.number();
        const char* const begin = digits.data();
        const char* const end = begin + digits.size();
        bool fits = false;
        std::from_chars_result done{};
        if (is_signed) {
            std::int64_t number = 0;
            done = std::from_chars(begin, end, number);
            fits = done.ec == std::errc() && done.ptr == end && write_integer(type, value, number);
        } else {
            std::uint64_t number = 0;
            done = std::from_chars(begin, end, number);
            fits = done.ec == std::errc() && done.ptr == end && write_natural(type, value, number);
        }
        if (!fits) from_.fail(text(digits.substr(0, 40), " does not fit in ", type.name));
    }

    void read_real_number(const codec& type, void* value) {
        if (from_.peek() == '"') return read_special(type, value);
        const std::string_view digits = from_.number();
        double number = 0;
        if (!parse_real(digits, type.size == 4, number))
            from_.fail(text(digits.substr(0, 40), " does not fit in ", type.name));
        (void)write_real(type, value, number);
    }
    void read_special(const codec& type, void* value) {
        const std::string word = from_.string();
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (word == "inf") return (void)write_real(type, value, infinity);
        if (word == "-inf") return (void)write_real(type, value, -infinity);
        std::uint64_t bits = type.size == 4 ? 0x7fc00000u : 0x7ff8000000000000u;
        if (word.starts_with("nan:")) {
            const auto [stop, failure] =
                std::from_chars(word.data() + 4, word.data() + word.size(), bits, 16);
            if (failure != std::errc() || stop != word.data() + word.size()) bits = 0;
        } else if (word != "nan") {
            bits = 0;
        }
        // All bits of the exponent are set, and some of the fraction.
        const std::uint64_t exponent = type.size == 4 ? 0x7f800000u : 0x7ff0000000000000u;
        const std::uint64_t fraction = type.size == 4 ? 0x007fffffu : 0x000fffffffffffffu;
        if ((bits & exponent) != exponent || (bits & fraction) == 0 ||
            !write_natural(type, value, bits))
            from_.fail_expecting("a number, \"nan\", \"inf\" or \"-inf\"");
    }

    void read_enumeration(const codec& type, void* value) {
        if (from_.peek() != '"') return read_whole(type, value, type.is_signed);
        const std::string name = from_.string();
        for (const enum_value& named : type.values)
            if (named.name == name) {
                if (type.is_signed)
                    (void)write_integer(type, value, named.value);
                else
                    (void)write_natural(type, value, static_cast<std::uint64_t>(named.value));
                return;
            }
        from_.fail(text(type.name, " has no value ", name));
    }

    [[nodiscard]] std::string read_text() {
        if (from_.peek() != '{') return from_.string();
        std::string made;
        bool is_read = false;
        from_.object([&](std::string_view name) {
            if (name != "$bytes" || is_read)
                from_.fail_expecting("a string, or one object with $bytes");
            is_read = true;
            const std::string digits = from_.string();
            if (digits.size() % 2 != 0)
                from_.fail_expecting("two hexadecimal digits for each byte");
            for (std::size_t i = 0; i != digits.size(); i += 2) {
                const int high = hex_value(digits[i]);
                const int low = hex_value(digits[i + 1]);
                if (high < 0 || low < 0)
                    from_.fail_expecting("two hexadecimal digits for each byte");
                made += static_cast<char>(high << 4 | low);
            }
        });
        if (!is_read) from_.fail_expecting("a string, or one object with $bytes");
        return made;
    }

    void read_id_or_null(const codec& type, void* value) {
        if (from_.take_word("null")) return (void)type.set_text(value, {});
        const std::string spelled = from_.string();
        if (spelled.empty() || !type.set_text(value, spelled))
            from_.fail_expecting("an id such as \"E:1-42[3]\", or null");
    }

    void read_structure(const codec& type, void* value) {
        std::uint64_t few = 0;  // which fields are read, of up to 64
        std::vector<bool> many(type.fields.size() > 64 ? type.fields.size() : 0);
        const auto is_new = [&](std::size_t field) {
            if (many.empty()) {
                const std::uint64_t bit = std::uint64_t{1} << field;
                return (few & bit) == 0 && (few |= bit, true);
            }
            return !many[field] && (many[field] = true);
        };
        std::size_t next = 0;  // fields usually come in their order
        from_.object([&](std::string_view name) {
            const std::size_t at = next < type.fields.size() && type.fields[next].name == name
                                       ? next
                                       : find_field(type, name);
            if (at == type.fields.size()) {
                if (!from_.how().skips_unknown) from_.fail(text(type.name, " has no such field"));
                from_.skip_value();
                return;
            }
            if (!is_new(at)) from_.fail("this field is there twice");
            next = at + 1;
            const field_codec& field = type.fields[at];
            read(field.type(), static_cast<std::byte*>(value) + field.offset);
        });
    }
    static std::size_t find_field(const codec& type, std::string_view name) {
        std::size_t at = 0;
        while (at != type.fields.size() && (type.fields[at].is_transient ||
                                            (type.fields[at].name != name &&
                                             (name.empty() || type.fields[at].old_name != name))))
            ++at;
        return at;
    }

    void read_array(const codec& type, void* value) {
        const codec& element = type.element();
        std::size_t count = 0;
        from_.array([&](std::size_t index) {
            if (index == type.count) from_.fail(text("more than ", type.count, " elements"));
            read(element, static_cast<std::byte*>(value) + index * element.size);
            count = index + 1;
        });
        if (count != type.count)
            from_.fail(text("expected ", type.count, " elements instead of ", count));
    }

    void read_list(const codec& type, void* value) {
        type.list->clear(value);
        from_.array([&](std::size_t) {
            if (!type.list->add(value,
                                [&](void* element, void*) { read(type.element(), element); }))
                from_.fail("this element is there twice");
        });
    }

    void read_map(const codec& type, void* value) {
        type.list->clear(value);
        const codec& key = type.element(0);
        const codec& mapped = type.element(1);
        const auto add = [&](value_visitor fill) {
            if (!type.list->add(value, fill)) from_.fail("this key is there twice");
        };
        if (key.kind == value_kind::text && from_.peek() == '{') {
            from_.object([&](std::string_view name) {
                add([&](void* first, void* second) {
                    (void)key.set_text(first, name);
                    read(mapped, second);
                });
            });
            return;
        }
        from_.array([&](std::size_t) {
            add([&](void* first, void* second) {
                std::size_t count = 0;
                from_.array([&](std::size_t index) {
                    if (index == 2) from_.fail_expecting("a key and a value");
                    read(index == 0 ? key : mapped, index == 0 ? first : second);
                    count = index + 1;
                });
                if (count != 2) from_.fail_expecting("a key and a value");
            });
        });
    }

    void read_optional(const codec& type, void* value) {
        if (from_.take_word("null")) return (void)type.choice->hold(value, choice_codec::none);
        const codec& element = type.element();
        void* const at = type.choice->hold(value, 0);
        if (!may_be_null(element)) return read(element, at);
        std::size_t count = 0;
        from_.array([&](std::size_t index) {
            if (index == 0) read(element, at);
            count = index + 1;
        });
        if (count != 1) from_.fail_expecting("an array of one value");
    }

    void read_variant(const codec& type, void* value) {
        std::size_t count = 0;
        from_.object([&](std::string_view name) {
            std::size_t which = type.elements.size();
            const auto [stop, failure] =
                std::from_chars(name.data(), name.data() + name.size(), which);
            if (failure != std::errc() || stop != name.data() + name.size() ||
                which >= type.elements.size() || ++count != 1)
                from_.fail(
                    text("expected the number of one alternative, below ", type.elements.size()));
            read(type.element(which), type.choice->hold(value, which));
        });
        if (count != 1)
            from_.fail(
                text("expected the number of one alternative, below ", type.elements.size()));
    }

    json_tokens& from_;
};

}  // namespace

void read_json(const codec& type, void* value, std::string_view text, const json_options& how) {
    json_tokens from(text, how);
    json_reader(from).read(type, value);
    from.end();
}

}  // namespace MUSTER_NAMESPACE::detail
