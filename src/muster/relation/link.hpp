// link: a directed connection of an entity, its source, with another, its target.
//
//     source e1                                            target e7
//     link { target e7, place 2 }  ---------------------->  sources [ e4 ][ e9 ][ e1 ]
//                                                                      0     1     2
//
// An exclusive relation has one link per source, a `linked` value in a column. Otherwise a source
// has a `link_list`, and both ends of a link know their place at the other.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/type/type_info.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

/// The head of each link of an exclusive relation.
struct link_head {
    std::uint64_t target = 0;
    std::uint32_t place = 0;           // in the list of the target's sources
    std::uint32_t level : 30 = 0;      // of the source, in a leveled relation; 1 below a root
    std::uint32_t is_removal : 1 = 0;  // only in pending changes: removes the link to `target`
    std::uint32_t has_value : 1 = 0;   // the value after the head is constructed

    /// Returns where the value of an alignment is.
    [[nodiscard]] static constexpr std::size_t value_offset(std::size_t alignment) noexcept {
        return (sizeof(link_head) + alignment - 1) / alignment * alignment;
    }
};
static_assert(sizeof(link_head) == 16, "no padding that a value could be stored in");

/// A link with its value.
template <class Value>
struct linked : link_head {
    union {
        Value value;
    };

    linked() noexcept {}
    template <class Given>
    linked(std::uint64_t to, Given&& given) : value(std::forward<Given>(given)) {
        target = to;
        has_value = 1;
    }
    linked(linked&& other) noexcept : link_head(other) {
        if (has_value) ::new (&value) Value(std::move(other.value));
    }
    linked(const linked& other)
        requires is_copyable<Value>::value
        : link_head(other) {
        if (has_value) ::new (&value) Value(other.value);
    }
    linked& operator=(const linked&) = delete;
    ~linked() {
        if (has_value) value.~Value();
    }
};
template <class Value>
    requires(std::is_trivially_copyable_v<Value> && !is_tag<Value>)
struct linked<Value> : link_head {
    union {
        Value value;
        std::byte bytes[sizeof(Value)];
    };

    linked() noexcept : bytes{} {}
    linked(std::uint64_t to, const Value& given) : value(given) {
        target = to;
        has_value = 1;
    }
};
template <class Value>
    requires is_tag<Value>
struct linked<Value> : link_head {
    linked() noexcept = default;
    linked(std::uint64_t to, const Value&) noexcept {
        target = to;
        has_value = 1;
    }
};

/// One end of a link: the other end, and the place of this end there.
struct link_end {
    std::uint64_t other;
    std::uint32_t place;
    bool is_hole = false;
};
static_assert(sizeof(link_end) == 2 * sizeof(std::uint64_t), "ends are also read as words");

/// The targets of one source, in the order in which they were added. Erasing one leaves a hole; holes are closed once they
/// are the majority, so that all is O(1), amortised.
class link_array {
public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The number of places, those of holes included.
    [[nodiscard]] std::uint32_t places() const noexcept {
        return static_cast<std::uint32_t>(all_.size());
    }
    [[nodiscard]] link_end& operator[](std::uint32_t place) noexcept { return all_[place]; }
    [[nodiscard]] const link_end& operator[](std::uint32_t place) const noexcept {
        return all_[place];
    }
    /// Makes room for `count` more. `std::bad_alloc` and `errc::limit` change nothing.
    void reserve(std::size_t count);
    /// Appends a link, for which there is room, and returns its place.
    std::uint32_t append(std::uint64_t other, std::uint32_t place) noexcept {
        all_.push_back({other, place});
        ++size_;
        return places() - 1;
    }
    void erase(std::uint32_t place) noexcept {
        all_[place].is_hole = true;
        --size_;
    }
    [[nodiscard]] bool is_sparse() const noexcept {
        return all_.size() > 8 && size_ < all_.size() / 2;
    }
    /// Closes the holes. Calls `moved(from, to)` for each link that changes its place.
    template <class Moved>
    void close(Moved moved) noexcept {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < all_.size(); ++i) {
            if (all_[i].is_hole) continue;
            if (kept != i) {
                all_[kept] = all_[i];
                moved(i, kept);
            }
            ++kept;
        }
        while (all_.size() > kept) all_.pop_back();
    }
    /// Returns the first place from `from` on that is no hole, or `places()`.
    [[nodiscard]] std::uint32_t next(std::uint32_t from) const noexcept {
        while (from < all_.size() && all_[from].is_hole) ++from;
        return from;
    }
    /// Returns the place of the link with this entity, or `places()`.
    [[nodiscard]] std::uint32_t find(std::uint64_t other) const noexcept {
        std::uint32_t at = 0;
        while (at < all_.size() && (all_[at].is_hole || all_[at].other != other)) ++at;
        return at;
    }

private:
    array_list<link_end> all_;
    std::size_t size_ = 0;
};

/// The links of a source, if the relation is not exclusive, with their values.
class MUSTER_API link_list {
public:
    link_list() noexcept = default;
    explicit link_list(const type_info& values) noexcept : type_(&values) {}
    link_list(link_list&& other) noexcept { swap(other); }
    link_list(const link_list& other);
    link_list& operator=(const link_list&) = delete;
    ~link_list();
    void swap(link_list& other) noexcept;

    [[nodiscard]] link_array& ends() noexcept { return ends_; }
    [[nodiscard]] const link_array& ends() const noexcept { return ends_; }
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
    /// Returns the value of a link; for a tag an address of nothing.
    [[nodiscard]] void* value_at(std::size_t place) const noexcept {
        return values_ + place * type_->size;
    }
    void reserve(std::size_t count);
    /// Moves a link of another list to this one, which has room. Returns its place.
    std::uint32_t take(link_list& from, std::uint32_t at) noexcept;
    /// Swaps the value of a link with one of another list.
    void swap_value(std::uint32_t place, link_list& other, std::uint32_t at) noexcept;
    /// Returns where to construct the value of the next link, for which there is room.
    [[nodiscard]] void* next_value() const noexcept { return value_at(ends_.places()); }
    /// Appends a link, for which there is room, with the value at `next_value`.
    std::uint32_t append(std::uint64_t target) noexcept { return ends_.append(target, 0); }
    /// Appends a target of a pending removal, which has no value.
    void append_removal(std::uint64_t target) noexcept {
        (void)append(target);
        has_values_ = false;
    }
    void erase(std::uint32_t place) noexcept;
    /// Closes holes if they are the majority. Calls `moved(place)` for each link that has moved.
    template <class Moved>
    void close(Moved moved) noexcept {
        if (!ends_.is_sparse()) return;
        ends_.close([&](std::uint32_t from, std::uint32_t to) {
            type_->relocate_values(value_at(to), value_at(from), 1);
            moved(to);
        });
    }

    bool is_removal = false;  // only in pending changes: removes the links to these targets

private:
    /// Room for a value, which `reserve` makes after all others.
    [[nodiscard]] void* spare() const noexcept { return value_at(capacity_ - 1); }

    const type_info* type_ = nullptr;
    link_array ends_;
    std::byte* values_ = nullptr;
    std::size_t capacity_ = 0;  // of `values_`
    bool has_values_ = true;
};

}  // namespace MUSTER_NAMESPACE::detail

namespace MUSTER_NAMESPACE {
template <class Value>
struct is_trivially_relocatable<detail::linked<Value>> : is_trivially_relocatable<Value> {};
template <>
struct is_trivially_relocatable<detail::link_list> : std::true_type {};
template <class Value>
struct is_copyable<detail::linked<Value>> : is_copyable<Value> {};
template <class Value>
struct component_traits<detail::linked<Value>> {
    static constexpr bool internal = true;
};
template <>
struct component_traits<detail::link_list> {
    static constexpr std::string_view name = "links";
    static constexpr bool internal = true, sparse = true;
};
}  // namespace MUSTER_NAMESPACE
