#include <muster/reflect/codec.hpp>
#include <muster/reflect/codec_of.hpp>

#include <charconv>
#include <cstring>
#include <limits>
#include <vector>

namespace MUSTER_NAMESPACE {

const char* to_string(value_kind kind) noexcept {
    switch (kind) {
    case value_kind::boolean: return "boolean";
    case value_kind::integer: return "integer";
    case value_kind::natural: return "natural";
    case value_kind::real: return "real";
    case value_kind::enumeration: return "enumeration";
    case value_kind::text: return "text";
    case value_kind::handle: return "handle";
    case value_kind::structure: return "structure";
    case value_kind::array: return "array";
    case value_kind::list: return "list";
    case value_kind::map: return "map";
    case value_kind::optional: return "optional";
    case value_kind::variant: return "variant";
    }
    return "?";
}

namespace detail {
namespace {

template <class T>
T load_as(const void* value) noexcept {
    T made;
    std::memcpy(&made, value, sizeof made);
    return made;
}
template <class T, class From>
void store_as(void* value, From number) noexcept {
    const T made = static_cast<T>(number);
    std::memcpy(value, &made, sizeof made);
}

void translate_elements(const codec& type, void* value, const codec& ids, const id_map& map) {
    const codec& element = type.element();
    auto* at = static_cast<std::byte*>(value);
    for (std::size_t i = 0; i != type.count; ++i)
        translate_ids(element, at + i * element.size, ids, map);
}

/// Walks along the types in a type, each once.
class id_search {
public:
    bool find(const codec& type) {
        if (type.kind == value_kind::handle) return true;
        for (const codec* known : seen_)
            if (known == &type) return false;
        seen_.push_back(&type);
        for (const field_codec& field : type.fields)
            if (find(field.type())) return true;
        for (const find_codec element : type.elements)
            if (find(element())) return true;
        return false;
    }

private:
    std::vector<const codec*> seen_;
};

}  // namespace

std::int64_t read_integer(const codec& type, const void* value) noexcept {
    switch (type.size) {
    case 1: return load_as<std::int8_t>(value);
    case 2: return load_as<std::int16_t>(value);
    case 4: return load_as<std::int32_t>(value);
    default: return load_as<std::int64_t>(value);
    }
}

std::uint64_t read_natural(const codec& type, const void* value) noexcept {
    switch (type.size) {
    case 1: return load_as<std::uint8_t>(value);
    case 2: return load_as<std::uint16_t>(value);
    case 4: return load_as<std::uint32_t>(value);
    default: return load_as<std::uint64_t>(value);
    }
}

double read_real(const codec& type, const void* value) noexcept {
    return type.size == 4 ? static_cast<double>(load_as<float>(value)) : load_as<double>(value);
}

bool write_integer(const codec& type, void* value, std::int64_t number) noexcept {
    const unsigned unused = 64 - static_cast<unsigned>(type.size) * 8;
    const std::int64_t kept =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(number) << unused) >> unused;
    if (kept != number) return false;
    switch (type.size) {
    case 1: store_as<std::int8_t>(value, number); break;
    case 2: store_as<std::int16_t>(value, number); break;
    case 4: store_as<std::int32_t>(value, number); break;
    default: store_as<std::int64_t>(value, number); break;
    }
    return true;
}

bool write_natural(const codec& type, void* value, std::uint64_t number) noexcept {
    const unsigned unused = 64 - static_cast<unsigned>(type.size) * 8;
    if ((number << unused) >> unused != number) return false;
    switch (type.size) {
    case 1: store_as<std::uint8_t>(value, number); break;
    case 2: store_as<std::uint16_t>(value, number); break;
    case 4: store_as<std::uint32_t>(value, number); break;
    default: store_as<std::uint64_t>(value, number); break;
    }
    return true;
}

bool write_real(const codec& type, void* value, double number) noexcept {
    if (type.size == 8) {
        store_as<double>(value, number);
        return true;
    }
    const bool is_finite = number - number == 0;
    if (is_finite && (number < std::numeric_limits<float>::lowest() ||
                      number > std::numeric_limits<float>::max()))
        return false;
    store_as<float>(value, number);
    return true;
}

bool contains_id(const codec& type) {
    return id_search().find(type);
}

void translate_ids(const codec& type, void* value, const codec& ids, const id_map& map) {
    switch (type.kind) {
    case value_kind::handle:
        if (type.name == ids.name) (void)write_natural(type, value, map(read_natural(type, value)));
        break;
    case value_kind::structure:
        for (const field_codec& field : type.fields)
            translate_ids(field.type(), static_cast<std::byte*>(value) + field.offset, ids, map);
        break;
    case value_kind::array: translate_elements(type, value, ids, map); break;
    case value_kind::list:
    case value_kind::map:
        if (!contains_id(type)) break;
        type.list->change(value, [&](void* first, void* second) {
            translate_ids(type.element(0), first, ids, map);
            if (second != nullptr) translate_ids(type.element(1), second, ids, map);
        });
        break;
    case value_kind::optional:
    case value_kind::variant:
        if (const std::size_t held = type.choice->held(value); held != choice_codec::none)
            translate_ids(type.element(held), type.choice->value(value), ids, map);
        break;
    default: break;
    }
}

bool read_id(std::string_view text, bool has_world, id_parts& parts) noexcept {
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto take = [&](std::string_view wanted) {
        if (static_cast<std::size_t>(end - at) < wanted.size() ||
            std::string_view(at, wanted.size()) != wanted)
            return false;
        at += wanted.size();
        return true;
    };
    const auto take_number = [&](std::uint64_t& number) {
        const auto [stop, failure] = std::from_chars(at, end, number);
        at = stop;
        return failure == std::errc();
    };
    return take("E:") && (!has_world || (take_number(parts.world) && take("-"))) &&
           take_number(parts.key) && take("[") && take_number(parts.version) && take("]") &&
           at == end;
}

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
