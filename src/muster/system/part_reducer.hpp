// part_reducer: a reduction whose rows are divided into parts, which threads reduce independently.
//
//     rows     [ 0 ... 31 ][ 32 ... 63 ][ 64 ... 95 ][ 96 ... 99 ]
//     parts      init        init         init         init         a value each
//
// A thread takes whole parts. Their size depends on the number of rows alone, so the values of the
// parts do not depend on the threads.
#pragma once

#include <muster/query/query_cache.hpp>
#include <muster/query/query_reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

/// Returns the size of a part: large enough that there are at most 1,024 of them.
[[nodiscard]] constexpr std::uint64_t rows_per_part(std::uint64_t rows) noexcept {
    constexpr std::uint64_t least = 32;
    constexpr std::uint64_t parts_at_most = 1024;
    const std::uint64_t size = (rows + parts_at_most - 1) / parts_at_most;
    return size < least ? least : size;
}

/// The values of all parts.
template <class Value>
class part_values {
public:
    /// Threads write parts that are neighbours: `std::vector<bool>` would pack them into one word.
    struct part {
        Value value;
    };

    /// `rows` that cannot be divided are one part.
    part_values(const shared_rows& rows, const Value& init)
        : size_(rows.list == nullptr ? ~std::uint64_t{0} : rows.unit),
          all_(static_cast<std::size_t>((rows.count() + rows.unit - 1) / rows.unit), part{init}) {}

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    [[nodiscard]] std::uint64_t size_of_part() const noexcept { return size_; }
    [[nodiscard]] part* at_row(std::uint64_t row) noexcept {
        return all_.data() + static_cast<std::size_t>(row / size_);
    }
    /// Combines all parts into `result`, from left to right.
    template <class Combine>
    void combine_into(Value& result, Combine& combine) {
        result = std::move(all_.front().value);
        for (std::size_t i = 1; i < all_.size(); ++i)
            accumulate(combine, result, std::move(all_[i].value));
    }

private:
    std::uint64_t size_;
    std::vector<part> all_;
};

/// The callback of a loop over the rows of one or several consecutive parts.
template <class Value, class Function>
class part_reducer {
    using part = typename part_values<Value>::part;

public:
    /// Begins with the part of this row.
    part_reducer(Function& function, part_values<Value>& all, std::uint64_t row)
        : function_(function),
          at_(all.at_row(row)),
          size_(all.size_of_part()),
          left_(size_),
          value_(std::move(at_->value)) {}
    part_reducer(const part_reducer&) = delete;
    part_reducer& operator=(const part_reducer&) = delete;

    template <class... Args>
        requires accumulates<Value, Function, Args...>
    [[gnu::always_inline]] void operator()(Args&&... args) {
        if (left_-- == 0) [[unlikely]]
            advance();
        accumulate(function_, value_, std::forward<Args>(args)...);
    }
    /// Stores the value of the last part.
    void finish() { at_->value = std::move(value_); }

private:
    void advance() {
        finish();
        ++at_;
        value_ = std::move(at_->value);
        left_ = size_ - 1;
    }

    Function& function_;
    part* at_;
    std::uint64_t size_;
    std::uint64_t left_;  // rows of the current part
    Value value_;         // not in `at_`, whose cache line other threads may write
};

}  // namespace MUSTER_NAMESPACE::detail
