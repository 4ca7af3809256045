// terms: the conditions of a query. The room `query` owns the terms, the cached lists of matching
// chunks (`query_cache`), and the loops over them (`query.hpp`).
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

enum class term_kind : std::uint8_t {
    with,
    without,
    any,       // at least one of its group is present
    optional,  // no condition, but it names a hidden fragment
};

/// The number of a `term_resolver` in its `query_cache`.
enum class resolver_index : std::uint8_t { none };

/// The fragment of a term: by C++ type, or by id.
struct term_name {
    std::uint64_t type_or_id;  // a type_index, or the value of an id
    bool is_typed;

    friend constexpr bool operator==(const term_name&, const term_name&) noexcept = default;
};

/// A fragment, by C++ type or by id, and the condition on it. A term may outlive its fragment: the
/// next use of the type creates a new fragment, to which the term then refers.
struct term {
    std::uint64_t type_or_id;  // a type_index, or the value of an id
    term_kind kind;
    bool is_typed;
    std::uint8_t group;                              // for `any`
    resolver_index resolver = resolver_index::none;  // none: the term is this one fragment
    bool is_shown = false;  // loops read the values, so the term never stands for an alias

    friend constexpr bool operator==(const term&, const term&) noexcept = default;
};

/// Terms in the order in which they were added, stored inline.
class MUSTER_API terms {
public:
    static constexpr std::size_t limit = 16;

    terms() noexcept {}  // NOLINT(modernize-use-equals-default): leaves the array uninitialized

    /// Throws `errc::limit` beyond `limit` terms.
    void add(const term& wanted) {
        if (size_ == limit) [[unlikely]]
            raise_too_many();
        all_[size_++] = wanted;
    }
    /// Adds all terms of `others`. Their `any` groups stay separate from the existing groups.
    void add(const terms& others) {
        for (term wanted : others) {
            if (wanted.kind == term_kind::any)
                wanted.group = static_cast<std::uint8_t>(wanted.group + groups_);
            add(wanted);
        }
        groups_ = static_cast<std::uint8_t>(groups_ + others.groups_);
        if (others.order_ != resolver_index::none) order_ = others.order_;
    }
    /// Sets the resolver that orders the matching chunks.
    void set_order(resolver_index order) noexcept { order_ = order; }
    [[nodiscard]] resolver_index order() const noexcept { return order_; }
    /// Whether a resolver takes part in the answer.
    [[nodiscard]] bool is_resolved() const noexcept {
        for (const term& wanted : *this)
            if (wanted.resolver != resolver_index::none) return true;
        return order_ != resolver_index::none;
    }
    /// Returns the number of a new `any` group.
    [[nodiscard]] std::uint8_t new_group() noexcept { return ++groups_; }

    [[nodiscard]] const term* begin() const noexcept { return all_; }
    [[nodiscard]] const term* end() const noexcept { return all_ + size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    friend bool operator==(const terms& a, const terms& b) noexcept {
        if (a.size_ != b.size_ || a.order_ != b.order_) return false;
        for (std::size_t i = 0; i < a.size_; ++i)
            if (a.all_[i] != b.all_[i]) return false;
        return true;
    }
    [[nodiscard]] std::uint64_t hash() const noexcept {
        std::uint64_t made = size_ + (static_cast<std::uint64_t>(order_) << 8);
        for (const term& wanted : *this)
            made = (made ^ wanted.type_or_id ^ std::uint64_t{wanted.group} << 40 ^
                    static_cast<std::uint64_t>(wanted.kind) << 50 ^
                    static_cast<std::uint64_t>(wanted.resolver) << 54) *
                   0x9E3779B97F4A7C15u;
        return made ^ made >> 32;
    }

private:
    [[noreturn]] MUSTER_COLD static void raise_too_many();

    std::uint8_t size_ = 0;
    std::uint8_t groups_ = 0;
    resolver_index order_ = resolver_index::none;
    union {
        term all_[limit];
    };
};

}  // namespace MUSTER_NAMESPACE::detail
