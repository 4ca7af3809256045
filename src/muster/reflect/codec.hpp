// codec: a type without its C++ type, for code that shows, writes and reads values.
//
// A codec is a tree: that of a struct refers to the codecs of its fields, that of a list to the codec of
// its elements. Code that walks along the tree is compiled once for all types.
#pragma once

#include <muster/base/config.hpp>
#include <muster/base/slice.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace MUSTER_NAMESPACE {

/// The kinds of values.
enum class value_kind : std::uint8_t {
    boolean,
    integer,      ///< signed; of 1, 2, 4 or 8 bytes
    natural,      ///< unsigned
    real,         ///< of 4 or 8 bytes
    enumeration,  ///< an integer with names
    text,         ///< a string of bytes
    handle,       ///< an id of any layout
    structure,    ///< fields
    array,        ///< elements; their number belongs to the type
    list,         ///< elements; each value has its own number of them
    map,          ///< elements with keys
    optional,     ///< one element, or none
    variant,      ///< one of several types
};

/// Returns the enumerator's name: "structure".
[[nodiscard]] MUSTER_API const char* to_string(value_kind kind) noexcept;

namespace detail {

/// Calls a function with a value of a known codec.
class value_visitor {
public:
    template <class Function>
        requires(!std::is_same_v<std::remove_cvref_t<Function>, value_visitor>)
    value_visitor(Function&& function) noexcept  // converts implicitly, as an argument
        : function_(const_cast<void*>(static_cast<const void*>(__builtin_addressof(function)))),
          call_([](void* what, void* first, void* second) {
              // SAFETY: `what` is the function from which the visitor was made.
              (*static_cast<std::remove_reference_t<Function>*>(what))(first, second);
          }) {}
    void operator()(void* first, void* second = nullptr) const { call_(function_, first, second); }

private:
    void* function_;
    void (*call_)(void* function, void* first, void* second);
};

using find_codec = const codec& (*)();

/// A field of a structure.
struct field_codec {
    std::string_view name;
    std::size_t offset = 0;
    find_codec type = nullptr;    // a function, so that a struct may contain a list of itself
    std::string_view old_name{};  // empty: none
    bool is_transient = false;    // neither saved nor loaded
    bool has_range = false;
    double least = 0;
    double greatest = 0;
    std::string_view unit{};
};

/// A value of an enumeration.
struct enum_value {
    std::string_view name;
    std::int64_t value;  // of an unsigned type: its bits
};

/// The operations of a list or a map. An element is filled before the list takes it, so that a failure in
/// between leaves the list as it was.
struct list_codec {
    std::size_t (*size)(const void* list) = nullptr;
    /// Visits each element, or key and element; they must not be written.
    void (*each)(const void* list, value_visitor visit) = nullptr;
    /// Visits each element, or key and element, to be written.
    void (*change)(void* list, value_visitor visit) = nullptr;
    /// Visits a default element, or key and element, then adds it. Returns false if the list has it
    /// already, as a set may.
    bool (*add)(void* list, value_visitor fill) = nullptr;
    void (*clear)(void* list) = nullptr;
    /// Returns the elements, which are adjacent, after a change of their number to `size`. Null: they
    /// are not adjacent.
    void* (*resize)(void* list, std::size_t size) = nullptr;
    bool is_unordered =
        false;  // the order of the elements means nothing, and differs between libraries
};

/// The operations of an optional value or a variant.
struct choice_codec {
    /// Returns which alternative the value holds; `none` if it holds none.
    std::size_t (*held)(const void* choice) noexcept = nullptr;
    /// Returns the value that is held.
    void* (*value)(void* choice) noexcept = nullptr;
    /// Makes the choice hold a default value of this alternative and returns it; `none`: null.
    void* (*hold)(void* choice, std::size_t alternative) = nullptr;

    static constexpr std::size_t none = ~std::size_t{0};
};

/// A type, as a tree.
struct codec {
    value_kind kind = value_kind::structure;
    bool is_signed = false;     // of an enumeration
    bool copies_bytes = false;  // copying the bytes of a value copies the value
    std::size_t size = 0;
    std::size_t alignment = 1;
    std::string_view name{};            // of the C++ type
    slice<const field_codec> fields{};  // of a structure
    slice<const enum_value> values{};   // of an enumeration
    slice<const find_codec>
        elements{};         // array, list, optional: one; map: key and value; variant: all
    std::size_t count = 0;  // of the elements of an array
    const list_codec* list = nullptr;
    const choice_codec* choice = nullptr;
    /// Of a text, returns the characters.
    std::string_view (*text)(const void* value) noexcept = nullptr;
    /// Of a text, replaces the characters. Of an id, reads what `spell` has written, or nothing for the null
    /// id; returns false if it is not an id.
    bool (*set_text)(void* value, std::string_view text) = nullptr;
    std::string (*spell)(const void* value) = nullptr;      // of an id: "E:1-42[3]"
    bool (*is_null)(const void* value) noexcept = nullptr;  // of an id

    [[nodiscard]] const codec& element(std::size_t which = 0) const { return elements[which](); }
};

/// Reads and writes numbers, whatever their size.
[[nodiscard]] MUSTER_API std::int64_t read_integer(const codec& type, const void* value) noexcept;
[[nodiscard]] MUSTER_API std::uint64_t read_natural(const codec& type, const void* value) noexcept;
[[nodiscard]] MUSTER_API double read_real(const codec& type, const void* value) noexcept;
/// These return false, and write nothing, if the type cannot hold the number.
[[nodiscard]] MUSTER_API bool write_integer(const codec& type, void* value,
                                            std::int64_t number) noexcept;
[[nodiscard]] MUSTER_API bool write_natural(const codec& type, void* value,
                                            std::uint64_t number) noexcept;
[[nodiscard]] MUSTER_API bool write_real(const codec& type, void* value, double number) noexcept;

/// Whether JSON shows some values of a type as null.
[[nodiscard]] inline bool may_be_null(const codec& type) noexcept {
    return type.kind == value_kind::handle || type.choice != nullptr;
}
/// Whether values of a type can contain an id, at any depth. O(types in it).
[[nodiscard]] MUSTER_API bool contains_id(const codec& type);
/// Replaces each id of the type `ids` in a value, at any depth. Maps and sets with ids in their keys are built again; of
/// entries whose keys have become equal, the first remains. `std::bad_alloc` leaves the value with
/// some of its ids replaced.
MUSTER_API void translate_ids(const codec& type, void* value, const codec& ids, const id_map& map);

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
