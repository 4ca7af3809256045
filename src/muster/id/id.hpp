// basic_id: a packed integer that identifies one use of one key.
//
// Owns the packing of key, version and world into an integer, and the comparison, hashing and
// printing of ids. An id is a plain value: it contains no pointer, costs as much as its integer,
// and every bit pattern is a valid argument. `id_pool` and `world`, which issue ids, track which of
// them are alive.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/fwd.hpp>
#include <muster/id/layout.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iosfwd>
#include <string>

namespace MUSTER_NAMESPACE {

/// The parts of an id, for structured bindings: `auto [key, version, world] = e.unpack();`
struct id_parts {
    std::uint64_t key = 0;
    std::uint64_t version = 0;
    std::uint64_t world = 0;

    friend constexpr bool operator==(const id_parts&, const id_parts&) = default;
};

namespace detail {

[[noreturn]] MUSTER_COLD inline void raise_does_not_fit(const char* part, std::uint64_t value,
                                                        unsigned bits) {
    if (bits == 0)
        raise(errc::id_out_of_range,
              text(part, " ", value, " does not fit: this layout has no ", part, " bits"));
    raise(errc::id_out_of_range,
          text(part, " ", value, " does not fit in ", bits, bits == 1 ? " bit" : " bits",
               ": the largest is ", low_bits(bits)));
}

[[noreturn]] MUSTER_COLD inline void raise_not_an_id(double number, unsigned bits) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", number);
    raise(errc::id_out_of_range,
          text("the number ", digits, " is not an id: ids are whole numbers from 0 to ",
               low_bits(bits)));
}

/// "E:1-42[3]", or "E:42[3]" if the layout has no world bits.
inline std::string spell_id(bool has_world, const id_parts& parts) {
    return has_world ? text("E:", parts.world, "-", parts.key, "[", parts.version, "]")
                     : text("E:", parts.key, "[", parts.version, "]");
}

}  // namespace detail

/// Any thread may use an id at any time. Only errors, `to_string` and `operator<<` allocate.
template <class Layout>
class basic_id {
public:
    using layout_type = Layout;
    using rep = typename Layout::rep;

    static constexpr bool fits_a_double =
        Layout::used_bits <= 53 && Layout::null_value <= detail::low_bits(Layout::used_bits);

    /// The null id, which no pool or world ever issues.
    constexpr basic_id() noexcept = default;

    /// Packs the parts. `errc::id_out_of_range` if a part does not fit its bits. Parts that fit can
    /// still form an id that is never issued.
    [[nodiscard]] static constexpr basic_id pack(std::uint64_t key, std::uint64_t version,
                                                 std::uint64_t owner = 0) {
        if (key > Layout::last_key) detail::raise_does_not_fit("key", key, Layout::key_bits);
        if (version > Layout::last_version)
            detail::raise_does_not_fit("version", version, Layout::version_bits);
        if (owner > Layout::last_world)
            detail::raise_does_not_fit("world", owner, Layout::world_bits);
        return assemble(key, version, owner);
    }

    /// Returns the id with exactly these bits, for ids that were stored or sent as integers.
    [[nodiscard]] static constexpr basic_id from_value(rep value) noexcept {
        basic_id made;
        made.value_ = value;
        return made;
    }

    [[nodiscard]] constexpr std::uint64_t key() const noexcept { return value_ & Layout::last_key; }
    [[nodiscard]] constexpr std::uint64_t version() const noexcept {
        return (static_cast<std::uint64_t>(value_) >> Layout::key_bits) & Layout::last_version;
    }
    /// 0 if the layout has no world bits.
    [[nodiscard]] constexpr std::uint64_t world() const noexcept {
        if constexpr (Layout::world_bits == 0)
            return 0;
        else
            return (static_cast<std::uint64_t>(value_) >>
                    (Layout::key_bits + Layout::version_bits)) &
                   Layout::last_world;
    }
    [[nodiscard]] constexpr id_parts unpack() const noexcept { return {key(), version(), world()}; }
    [[nodiscard]] constexpr rep value() const noexcept { return value_; }

    [[nodiscard]] constexpr bool is_null() const noexcept { return value_ == Layout::null_value; }
    constexpr explicit operator bool() const noexcept { return !is_null(); }

    /// True for the last version, which is never issued unless the layout wraps; then always false.
    [[nodiscard]] constexpr bool is_tombstone() const noexcept {
        return Layout::on_exhaustion != exhaustion::wrap && version() == Layout::last_version;
    }

    /// Returns the id as an exact number. `from_double` rejects the number of an id with bits
    /// beyond its layout. Only for layouts whose ids, including the null id, have at most 53 bits.
    [[nodiscard]] constexpr double to_double() const noexcept
        requires fits_a_double
    {
        return static_cast<double>(value_);
    }

    /// Reverses `to_double`. `errc::id_out_of_range` for a fraction, for NaN, and for a negative,
    /// infinite or too large number.
    [[nodiscard]] static constexpr basic_id from_double(double number)
        requires fits_a_double
    {
        constexpr double beyond = static_cast<double>(std::uint64_t{1} << Layout::used_bits);
        // Negated, so that it also rejects NaN, for which every comparison is false.
        if (!(number >= 0 && number < beyond)) detail::raise_not_an_id(number, Layout::used_bits);
        const auto whole = static_cast<std::uint64_t>(number);
        if (static_cast<double>(whole) != number)
            detail::raise_not_an_id(number, Layout::used_bits);
        return from_value(static_cast<rep>(whole));
    }

    friend constexpr bool operator==(basic_id, basic_id) noexcept = default;
    /// Orders by world, then version, then key: the order of the integers.
    friend constexpr auto operator<=>(basic_id, basic_id) noexcept = default;

    /// "E:1-42[3]": world 1, key 42, version 3; without world bits "E:42[3]"; the null id is
    /// "E:null".
    [[nodiscard]] friend std::string to_string(basic_id e) {
        return e.is_null() ? std::string("E:null")
                           : detail::spell_id(Layout::world_bits != 0, e.unpack());
    }

    template <class Traits>
    friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                                        basic_id e) {
        return out << to_string(e).c_str();
    }

    /// Like `pack`, but does not check the parts: they must fit.
    [[nodiscard]] static constexpr basic_id assemble(std::uint64_t key, std::uint64_t version,
                                                     std::uint64_t owner) noexcept {
        return from_value(
            static_cast<rep>(key | version << Layout::key_bits | world_in_place(owner)));
    }

private:
    static constexpr std::uint64_t world_in_place(std::uint64_t owner) noexcept {
        if constexpr (Layout::world_bits == 0)
            return 0;
        else
            return owner << (Layout::key_bits + Layout::version_bits);
    }

    rep value_ = Layout::null_value;
};

namespace detail {

/// Returns the id with this value, which code without a layout stores in 64 bits.
template <class Layout>
[[nodiscard]] constexpr basic_id<Layout> to_id(std::uint64_t value) noexcept {
    return basic_id<Layout>::from_value(static_cast<typename Layout::rep>(value));
}

}  // namespace detail
}  // namespace MUSTER_NAMESPACE

/// Returns the value itself. Living ids of one world differ in the lowest bits, their keys: they
/// rarely collide in a table whose size is a power of two.
template <class Layout>
struct std::hash<muster::basic_id<Layout>> {
    [[nodiscard]] constexpr std::size_t operator()(muster::basic_id<Layout> e) const noexcept {
        return static_cast<std::size_t>(e.value());
    }
};
