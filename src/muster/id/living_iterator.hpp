// living_iterator: iterates over living ids in the order of their source.
#pragma once

#include <muster/id/id.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

/// `Source` has `next_after(id)`, which returns the living id that comes after this id in its order,
/// or the null id. The source may change during the iteration: an iterator holds an id, not an
/// address, and continues with the next id that is then alive.
template <class Source, class Id>
class living_iterator {
public:
    // <string> provides the tags; <iterator> would take as long to compile as the whole room.
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Id;

    living_iterator() = default;
    living_iterator(const Source& source, Id at) noexcept : source_(&source), at_(at) {}

    [[nodiscard]] Id operator*() const noexcept { return at_; }
    living_iterator& operator++() noexcept {
        at_ = source_->next_after(at_);
        return *this;
    }
    living_iterator operator++(int) noexcept {
        living_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const living_iterator& a, const living_iterator& b) noexcept {
        return a.at_ == b.at_;
    }

private:
    const Source* source_ = nullptr;
    Id at_;  // null at the end
};

}  // namespace MUSTER_NAMESPACE::detail
