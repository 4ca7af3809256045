// codec_of: the codec of a C++ type.
#pragma once

#include <muster/id/id.hpp>
#include <muster/reflect/codec.hpp>
#include <muster/reflect/fields.hpp>
#include <muster/type/type_name.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace MUSTER_NAMESPACE::detail {

// ---- kinds of types ------------------------------------------------------------------------------

template <class T>
inline constexpr bool is_id = false;
template <class Layout>
inline constexpr bool is_id<basic_id<Layout>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_variant = false;
template <class... Ts>
inline constexpr bool is_variant<std::variant<Ts...>> = true;

template <class T>
inline constexpr bool is_std_array = false;
template <class T, std::size_t Size>
inline constexpr bool is_std_array<std::array<T, Size>> = true;

template <class T>
inline constexpr bool is_string = false;
template <class Traits, class Allocator>
inline constexpr bool is_string<std::basic_string<char, Traits, Allocator>> = true;

template <class T>
concept any_list = requires(T& list, const T& constant, typename T::value_type&& element) {
    constant.size();
    constant.begin();
    constant.end();
    list.clear();
    list.insert(list.end(), std::move(element));
};
template <class T>
concept any_set = any_list<T> && requires { typename T::key_type; };
template <class T>
concept any_map = any_set<T> && requires { typename T::mapped_type; };
/// Adjacent elements that can be written; not those of `vector<bool>`.
template <class T>
concept any_vector = any_list<T> && requires(T& list) {
    { list.data() } -> std::same_as<typename T::value_type*>;
    list.resize(std::size_t{});
};
template <class T>
concept any_tuple = requires { std::tuple_size<T>::value; };

/// Types that only refer to a value. A file cannot keep what they refer to.
template <class T>
concept refers = std::is_pointer_v<T> || std::is_reference_v<T> || std::is_member_pointer_v<T> ||
                 std::is_null_pointer_v<T> || requires { typename T::element_type; } ||
                 std::same_as<T, std::string_view>;

template <class T>
const codec& codec_of();

// ---- enumerations --------------------------------------------------------------------------------

/// The range in which names of an enumeration are looked for: 256 values, unless `component_traits` has `least`
/// and `greatest`.
template <class T>
consteval std::int64_t least_value() {
    using rep = std::underlying_type_t<T>;
    if constexpr (requires { component_traits<T>::least; })
        return static_cast<std::int64_t>(component_traits<T>::least);
    else
        return std::is_signed_v<rep> ? -128 : 0;
}
template <class T>
consteval std::int64_t greatest_value() {
    using rep = std::underlying_type_t<T>;
    if constexpr (requires { component_traits<T>::greatest; })
        return static_cast<std::int64_t>(component_traits<T>::greatest);
    else
        return std::is_same_v<rep, bool> ? 1 : std::is_signed_v<rep> ? 127 : 255;
}

template <class T, std::size_t... I>
constexpr auto named_values(std::index_sequence<I...>) {
    constexpr std::int64_t least = least_value<T>();
    constexpr std::size_t count =
        (std::size_t{0} + ... +
         (value_name<static_cast<T>(least + static_cast<std::int64_t>(I))>.empty() ? 0 : 1));
    std::array<enum_value, count> made{};
    std::size_t at = 0;
    const auto add = [&](std::string_view name, std::int64_t value) {
        if (!name.empty()) made[at++] = {name, value};
    };
    (..., add(value_name<static_cast<T>(least + static_cast<std::int64_t>(I))>,
              least + static_cast<std::int64_t>(I)));
    return made;
}
template <class T>
inline constexpr auto enum_values =
    named_values<T>(std::make_index_sequence<static_cast<std::size_t>(greatest_value<T>() -
                                                                      least_value<T>() + 1)>());

// ---- fields --------------------------------------------------------------------------------------

/// Room for an object that is never constructed, to find the offsets of its fields.
template <class T>
union unconstructed {
    constexpr unconstructed() noexcept : none() {}
    constexpr ~unconstructed() {}
    char none;
    T value;
};

template <class T>
[[nodiscard]] std::size_t offset_in(const void* whole, const T& part) noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(__builtin_addressof(part)) -
                                    static_cast<const char*>(whole));
}

template <class T>
[[nodiscard]] consteval std::size_t count_codec_fields() {
    if constexpr (has_listed_fields<T>)
        return std::tuple_size_v<std::remove_cvref_t<decltype(component_traits<T>::fields)>>;
    else if constexpr (any_tuple<T>)
        return std::tuple_size_v<T>;
    else
        return count_fields<T>();
}

template <class Field>
[[nodiscard]] find_codec codec_of_field() {
    static_assert(!std::is_const_v<Field>,
                  "muster: a const field cannot be loaded: take the const away, or leave the field "
                  "out of muster::component_traits<T>::fields.");
    return &codec_of<std::remove_const_t<Field>>;
}

inline constexpr std::string_view place_names[] = {"0", "1", "2", "3", "4", "5", "6", "7"};

template <class T>
[[nodiscard]] std::array<field_codec, count_codec_fields<T>()> make_fields() {
    std::array<field_codec, count_codec_fields<T>()> made{};
    const unconstructed<T> room;
    // SAFETY: only the addresses of the fields are used.
    const T& whole = room.value;
    std::size_t at = 0;
    if constexpr (has_listed_fields<T>) {
        each_listed_field(whole, [&]<class Field>(const auto& from, const Field& field) {
            made[at++] = {from.name,     offset_in(&room, field), codec_of_field<Field>(),
                          from.old_name, from.is_transient,       from.has_range,
                          from.least,    from.greatest,           from.unit_name};
        });
    } else if constexpr (any_tuple<T>) {
        static_assert(std::tuple_size_v<T> <= std::size(place_names),
                      "muster: a tuple with more than eight elements cannot be reflected.");
        std::apply(
            [&]<class... Fields>(const Fields&... all) {
                (...,
                 (made[at] = {place_names[at], offset_in(&room, all), codec_of_field<Fields>()},
                  ++at));
            },
            whole);
    } else {
        auto fields = tie_fields(const_cast<T&>(whole));
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (..., (made[I] = {
                       field_name<T, I>, offset_in(&room, std::get<I>(fields)),
                       codec_of_field<
                           std::remove_reference_t<std::tuple_element_t<I, decltype(fields)>>>()}));
        }(field_indices<T>());
    }
    return made;
}

// ---- lists, maps and choices -----------------------------------------------------------------------

template <class T>
[[nodiscard]] T& as(void* value) noexcept {
    return *static_cast<T*>(value);  // SAFETY: a codec is called for values of its type
}
template <class T>
[[nodiscard]] const T& as(const void* value) noexcept {
    return *static_cast<const T*>(value);
}

/// An address of something that the visitor may read but not write.
template <class T>
[[nodiscard]] void* readable(const T& value) noexcept {
    return const_cast<void*>(static_cast<const void*>(__builtin_addressof(value)));
}

template <class T>
struct element_types {
    using key = typename T::value_type;
    using mapped = void;
};
template <any_map T>
struct element_types<T> {
    using key = typename T::key_type;
    using mapped = typename T::mapped_type;
};

template <class T>
struct list_calls {
    using key = typename element_types<T>::key;
    using mapped = typename element_types<T>::mapped;
    static_assert(
        std::is_default_constructible_v<key>,
        "muster: the elements of a list are loaded into a default value, which this type lacks.");

    static std::size_t size(const void* list) { return as<T>(list).size(); }
    static void each(const void* list, value_visitor visit) {
        if constexpr (any_map<T>)
            for (const auto& [first, second] : as<T>(list))
                visit(readable(first), readable(second));
        else
            for (const key& element : as<T>(list)) visit(readable(element));
    }
    static void change(void* list, value_visitor visit) {
        T& values = as<T>(list);
        if constexpr (any_set<T>) {
            T old = std::move(values);
            values.clear();
            while (!old.empty()) {
                auto node = old.extract(old.begin());
                if constexpr (any_map<T>)
                    visit(&node.key(), &node.mapped());
                else
                    visit(&node.value());
                values.insert(std::move(node));
            }
        } else if constexpr (std::is_same_v<decltype(*values.begin()), key&>) {
            for (key& element : values) visit(&element);
        } else {  // vector<bool>
            for (auto element : values) {
                key copy = element;
                visit(&copy);
                element = copy;
            }
        }
    }
    static bool add(void* list, value_visitor fill) {
        T& values = as<T>(list);
        key first{};
        if constexpr (any_map<T>) {
            mapped second{};
            fill(&first, &second);
            const std::size_t before = values.size();
            values.insert(values.end(),
                          typename T::value_type(std::move(first), std::move(second)));
            return values.size() != before;
        } else {
            fill(&first);
            const std::size_t before = values.size();
            values.insert(values.end(), std::move(first));
            return values.size() != before;
        }
    }
    static void clear(void* list) { as<T>(list).clear(); }
    static void* resize(void* list, std::size_t size) {
        if constexpr (any_vector<T>) {
            as<T>(list).resize(size);
            return as<T>(list).data();
        } else {
            return nullptr;
        }
    }

    static constexpr list_codec all{&size, &each, &change, &add, &clear,
                                    any_vector<T> ? &resize : nullptr, requires {typename T::hasher;
}
};  // namespace MUSTER_NAMESPACE::detail
}
;

template <class T>
struct choice_calls;
template <class T>
struct choice_calls<std::optional<T>> {
    static_assert(
        std::is_default_constructible_v<T>,
        "muster: an optional value is loaded into a default value, which this type lacks.");
    using type = std::optional<T>;
    static std::size_t held(const void* choice) noexcept {
        return as<type>(choice).has_value() ? 0 : choice_codec::none;
    }
    static void* value(void* choice) noexcept { return &*as<type>(choice); }
    static void* hold(void* choice, std::size_t alternative) {
        if (alternative == 0) return &as<type>(choice).emplace();
        as<type>(choice).reset();
        return nullptr;
    }
    static constexpr find_codec elements[] = {&codec_of<T>};
    static constexpr choice_codec all{&held, &value, &hold};
};
template <class... Ts>
struct choice_calls<std::variant<Ts...>> {
    static_assert(
        (... && std::is_default_constructible_v<Ts>),
        "muster: an alternative of a variant is loaded into a default value, which this type "
        "lacks.");
    using type = std::variant<Ts...>;
    static std::size_t held(const void* choice) noexcept {
        return as<type>(choice).index();  // `variant_npos` is `none`
    }
    static void* value(void* choice) noexcept {
        void* found = nullptr;
        if (!as<type>(choice).valueless_by_exception())
            std::visit([&](auto& held_value) { found = &held_value; }, as<type>(choice));
        return found;
    }
    static void* hold(void* choice, std::size_t alternative) {
        return hold(as<type>(choice), alternative, std::index_sequence_for<Ts...>());
    }
    static constexpr find_codec elements[] = {&codec_of<Ts>...};
    static constexpr choice_codec all{&held, &value, &hold};

private:
    template <std::size_t... I>
    static void* hold(type& choice, std::size_t alternative, std::index_sequence<I...>) {
        void* made = nullptr;
        (...,
         (I == alternative ? static_cast<void>(made = &choice.template emplace<I>()) : void()));
        return made;
    }
};
static_assert(std::variant_npos == choice_codec::none);

template <class T>
inline constexpr find_codec one_codec[] = {&codec_of<T>};
template <class T>
inline constexpr find_codec map_codecs[] = {&codec_of<typename T::key_type>,
                                            &codec_of<typename T::mapped_type>};

// ---- ids and texts ---------------------------------------------------------------------------------

template <class T>
struct text_calls {
    static std::string_view text(const void* value) noexcept {
        const T& all = as<T>(value);
        return {all.data(), all.size()};
    }
    static bool set_text(void* value, std::string_view to) {
        as<T>(value).assign(to.data(), to.size());
        return true;
    }
};
/// Reads "E:1-42[3]", or "E:42[3]"; returns false if the text is not one of them.
[[nodiscard]] MUSTER_API bool read_id(std::string_view text, bool has_world,
                                      id_parts& parts) noexcept;

template <class Layout>
struct id_calls {
    using type = basic_id<Layout>;
    static bool is_null(const void* value) noexcept { return as<type>(value).is_null(); }
    static std::string spell(const void* value) { return to_string(as<type>(value)); }
    static bool set_text(void* value, std::string_view text) {
        if (text.empty()) {
            as<type>(value) = type();
            return true;
        }
        id_parts parts;
        if (!read_id(text, Layout::world_bits != 0, parts) || parts.key > Layout::last_key ||
            parts.version > Layout::last_version || parts.world > Layout::last_world)
            return false;
        as<type>(value) = type::pack(parts.key, parts.version, parts.world);
        return true;
    }
};

// ---- the codec -------------------------------------------------------------------------------------

/// The kind of a type, or a sentence that says why it has none.
template <class T>
consteval value_kind kind_of() {
    if constexpr (has_listed_fields<T>) {
        return value_kind::structure;
    } else if constexpr (is_id<T>) {
        return value_kind::handle;
    } else if constexpr (std::is_same_v<T, bool>) {
        return value_kind::boolean;
    } else if constexpr (std::is_arithmetic_v<T>) {
        static_assert(
            sizeof(T) <= 8,
            "muster: a number of more than 8 bytes differs between machines and cannot be "
            "reflected.");
        if (std::is_floating_point_v<T>) return value_kind::real;
        return std::is_signed_v<T> ? value_kind::integer : value_kind::natural;
    } else if constexpr (std::is_enum_v<T>) {
        return value_kind::enumeration;
    } else if constexpr (is_string<T>) {
        return value_kind::text;
    } else if constexpr (is_optional<T>) {
        return value_kind::optional;
    } else if constexpr (is_variant<T>) {
        return value_kind::variant;
    } else if constexpr (is_std_array<T>) {
        return value_kind::array;
    } else if constexpr (any_map<T>) {
        return value_kind::map;
    } else if constexpr (any_list<T>) {
        return value_kind::list;
    } else {
        static_assert(
            !refers<T>,
            "muster: a pointer, reference or view cannot be reflected, since a file cannot "
            "keep what it refers to: store an entity or the value itself.");
        return value_kind::structure;
    }
}

template <class T>
[[nodiscard]] codec make_codec() {
    constexpr value_kind kind = kind_of<T>();
    codec made;
    made.kind = kind;
    made.size = sizeof(T);
    made.alignment = alignof(T);
    made.name = type_name<T>();
    made.copies_bytes = std::is_trivially_copyable_v<T>;
    if constexpr (kind == value_kind::handle) {
        made.spell = &id_calls<typename T::layout_type>::spell;
        made.set_text = &id_calls<typename T::layout_type>::set_text;
        made.is_null = &id_calls<typename T::layout_type>::is_null;
    } else if constexpr (kind == value_kind::enumeration) {
        constexpr bool is_fixed = requires { T{0}; };
        static_assert(is_fixed,
                      "muster: the values of this enumeration are unknown: give it a type, as in "
                      "enum mood : int.");
        if constexpr (is_fixed) made.values = enum_values<T>;
        made.is_signed = std::is_signed_v<std::underlying_type_t<T>>;
    } else if constexpr (kind == value_kind::text) {
        made.text = &text_calls<T>::text;
        made.set_text = &text_calls<T>::set_text;
    } else if constexpr (kind == value_kind::optional || kind == value_kind::variant) {
        made.elements = choice_calls<T>::elements;
        made.choice = &choice_calls<T>::all;
    } else if constexpr (kind == value_kind::array) {
        made.count = std::tuple_size_v<T>;
        made.elements = one_codec<typename T::value_type>;
    } else if constexpr (kind == value_kind::map) {
        made.elements = map_codecs<T>;
        made.list = &list_calls<T>::all;
    } else if constexpr (kind == value_kind::list) {
        made.elements = one_codec<typename T::value_type>;
        made.list = &list_calls<T>::all;
    } else if constexpr (kind == value_kind::structure && !refers<T>) {
        static const auto fields = make_fields<T>();
        made.fields = fields;
    }
    return made;
}

template <class T>
const codec& codec_of() {
    static const codec made = make_codec<T>();
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
