// terms: what a query asks of a chunk. The room `query` owns the terms, the kept lists of chunks that
// match them (`query_cache`), and the loops over these (`query.hpp`).
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace muster::detail {

enum class term_kind : std::uint8_t {
    with,
    without,
    any,       // one of its group is there
    optional,  // asks nothing; but a hidden fragment is named
};

/// A fragment, by its C++ type or by its id, and what is asked of it. Both outlive the fragment: the next
/// use of a type makes a new one, which the query means, too.
struct term {
    std::uint64_t what;  // a type_index, or the value of an id
    term_kind kind;
    bool is_typed;
    std::uint8_t group;  // of `any`

    friend constexpr bool operator==(const term&, const term&) noexcept = default;
};

/// A few terms in the order they were said, without memory of their own.
class MUSTER_API terms {
public:
    static constexpr std::size_t limit = 16;

    /// `errc::limit` beyond that many.
    void add(const term& one) {
        if (size_ == limit) [[unlikely]]
            raise_too_many();
        all_[size_++] = one;
    }
    /// All of another, whose groups of `any` stay apart from those that are here.
    void add(const terms& others) {
        for (term one : others) {
            if (one.kind == term_kind::any)
                one.group = static_cast<std::uint8_t>(one.group + groups_);
            add(one);
        }
        groups_ = static_cast<std::uint8_t>(groups_ + others.groups_);
    }
    /// A number for the next group of `any`.
    [[nodiscard]] std::uint8_t new_group() noexcept { return ++groups_; }

    [[nodiscard]] const term* begin() const noexcept { return all_; }
    [[nodiscard]] const term* end() const noexcept { return all_ + size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    friend bool operator==(const terms& a, const terms& b) noexcept {
        if (a.size_ != b.size_) return false;
        for (std::size_t i = 0; i < a.size_; ++i)
            if (a.all_[i] != b.all_[i]) return false;
        return true;
    }
    [[nodiscard]] std::uint64_t hash() const noexcept {
        std::uint64_t made = size_;
        for (const term& one : *this)
            made = (made ^ one.what ^ std::uint64_t{one.group} << 40 ^
                    static_cast<std::uint64_t>(one.kind) << 50) *
                   0x9E3779B97F4A7C15u;
        return made ^ made >> 32;
    }

private:
    [[noreturn]] MUSTER_COLD static void raise_too_many();

    std::uint8_t size_ = 0;
    std::uint8_t groups_ = 0;
    term all_[limit];
};

}  // namespace muster::detail
