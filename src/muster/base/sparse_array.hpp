// sparse_array: an array with 64-bit indices, most of whose elements are absent.
//
// A tree of nodes with 64 entries each. A leaf holds 64 neighbouring elements and a presence bit
// for each. The largest index determines the height: 64 elements need one leaf, 2^18 three levels.
//
//     height 1          [ branch: 64 children ]
//                         |                 |
//     height 0      [ leaf: 0..63 ]   [ leaf: 4032..4095 ]
#pragma once

#include <muster/base/error.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

template <class Value>
class sparse_array {
    static_assert(std::is_trivially_copyable_v<Value> && std::is_trivially_destructible_v<Value>);
    static_assert(alignof(Value) <= alignof(std::max_align_t));

public:
    /// The result of `next` if no element follows; no element has this index.
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    sparse_array() = default;
    /// Copies all elements. `std::bad_alloc`.
    sparse_array(const sparse_array& other) : sparse_array() {  // so that a throw frees the nodes
        for (std::uint64_t index = other.next(0); index != none; index = other.next(index + 1))
            ensure(index, other[index]);
    }
    sparse_array(sparse_array&& other) noexcept { swap(other); }
    sparse_array& operator=(const sparse_array&) = delete;
    sparse_array& operator=(sparse_array&& other) noexcept {
        swap(other);
        return *this;
    }
    ~sparse_array() {
        if (root_ != nullptr) free_tree(root_, height_);
    }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Returns the element, or null. O(height).
    [[nodiscard]] Value* find(std::uint64_t index) const noexcept {
        if (root_ == nullptr || !reaches(index)) return nullptr;
        void* at = root_;
        for (unsigned height = height_; height != 0; --height) {
            at = static_cast<branch*>(at)->children[place(index, height)];
            if (at == nullptr) return nullptr;
        }
        auto* const found = static_cast<leaf*>(at);
        return (found->present >> place(index, 0) & 1) != 0 ? &found->values[place(index, 0)]
                                                            : nullptr;
    }

    /// The element must exist.
    [[nodiscard]] Value& operator[](std::uint64_t index) const noexcept {
        void* at = root_;
        for (unsigned height = height_; height != 0; --height)
            at = static_cast<branch*>(at)->children[place(index, height)];
        return static_cast<leaf*>(at)->values[place(index, 0)];
    }

    /// Returns the element, and inserts it with the value `initial` if it is absent.
    /// `std::bad_alloc` adds no element. Elements never move.
    Value& ensure(std::uint64_t index, const Value& initial) {
        if (root_ == nullptr)
            plant(index);
        else
            while (!reaches(index)) add_level();
        void* at = root_;
        for (unsigned height = height_; height != 0; --height) {
            auto* const parent = static_cast<branch*>(at);
            void*& child = parent->children[place(index, height)];
            if (child == nullptr) child = make_node(height - 1);
            parent->present |= bit(index, height);
            at = child;
        }
        auto* const owner = static_cast<leaf*>(at);
        Value& value = owner->values[place(index, 0)];
        if ((owner->present & bit(index, 0)) == 0) {
            owner->present |= bit(index, 0);
            value = initial;
            ++size_;
        }
        return value;
    }

    /// The element must exist.
    void erase(std::uint64_t index) noexcept {
        if (erase_below(root_, height_, index)) {
            root_ = nullptr;
            height_ = 0;
        }
        --size_;
    }

    /// Returns the lowest index from `index` on that has an element, or `none`.
    [[nodiscard]] std::uint64_t next(std::uint64_t index) const noexcept {
        if (root_ == nullptr || !reaches(index)) return none;
        return next_below(root_, height_, index) ? index : none;
    }

    void swap(sparse_array& other) noexcept {
        std::swap(root_, other.root_);
        std::swap(height_, other.height_);
        std::swap(size_, other.size_);
    }

private:
    struct leaf {
        std::uint64_t present;
        Value values[64];
    };
    struct branch {
        std::uint64_t present;
        void* children[64];
    };

    static constexpr unsigned place(std::uint64_t index, unsigned height) noexcept {
        return static_cast<unsigned>(index >> 6 * height) & 63;
    }
    static constexpr std::uint64_t bit(std::uint64_t index, unsigned height) noexcept {
        return std::uint64_t{1} << place(index, height);
    }
    static constexpr bool reaches(unsigned height, std::uint64_t index) noexcept {
        return height >= 10 || index >> 6 * (height + 1) == 0;
    }
    [[nodiscard]] bool reaches(std::uint64_t index) const noexcept {
        return reaches(height_, index);
    }

    static void* make_node(unsigned height) {
        // SAFETY: both types are trivial, and zero bytes are a valid value: an empty node.
        void* const made = std::calloc(1, height == 0 ? sizeof(leaf) : sizeof(branch));
        if (made == nullptr) raise_out_of_memory();
        return made;
    }

    /// Makes the root of an empty tree, high enough for `index`.
    void plant(std::uint64_t index) {
        unsigned height = 0;
        while (!reaches(height, index)) ++height;
        root_ = make_node(height);
        height_ = height;
    }

    void add_level() {
        auto* const above = static_cast<branch*>(make_node(height_ + 1));
        above->present = 1;
        above->children[0] = root_;
        root_ = above;
        ++height_;
    }

    /// Frees the node and returns true if it has become empty.
    static bool erase_below(void* at, unsigned height, std::uint64_t index) noexcept {
        std::uint64_t left = 0;
        if (height == 0) {
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the element is there
            left = static_cast<leaf*>(at)->present &= ~bit(index, 0);
        } else {
            auto* const parent = static_cast<branch*>(at);
            // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the element is there
            void*& child = parent->children[place(index, height)];
            if (erase_below(child, height - 1, index)) {
                child = nullptr;
                parent->present &= ~bit(index, height);
            }
            left = parent->present;
        }
        if (left == 0) std::free(at);
        return left == 0;
    }

    static bool next_below(const void* at, unsigned height, std::uint64_t& index) noexcept {
        const std::uint64_t from_here = ~std::uint64_t{0} << place(index, height);
        const std::uint64_t base =
            index >> 6 * height >> 6 << 6;  // of this node, counted in children
        if (height == 0) {
            const std::uint64_t left = static_cast<const leaf*>(at)->present & from_here;
            if (left != 0) index = base | static_cast<unsigned>(std::countr_zero(left));
            return left != 0;
        }
        const auto* const parent = static_cast<const branch*>(at);
        for (std::uint64_t left = parent->present & from_here; left != 0; left &= left - 1) {
            const auto child = static_cast<unsigned>(std::countr_zero(left));
            if (child != place(index, height)) index = (base | child) << 6 * height;
            if (next_below(parent->children[child], height - 1, index)) return true;
        }
        return false;
    }

    static void free_tree(void* at, unsigned height) noexcept {
        if (height != 0) {
            const auto* const parent = static_cast<branch*>(at);
            for (std::uint64_t left = parent->present; left != 0; left &= left - 1)
                free_tree(parent->children[std::countr_zero(left)], height - 1);
        }
        std::free(at);
    }

    void* root_ = nullptr;  // a leaf if height_ is 0
    unsigned height_ = 0;
    std::size_t size_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
