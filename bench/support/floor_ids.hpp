// floor_ids: the ids that a programmer would write by hand for a single program. An array of
// versions with the free list inside. Checks no limits, no exhausted versions, no world numbers and
// no dead ids.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>

namespace muster::bench {

class floor_ids {
public:
    using id_type = std::uint64_t;  // version in the upper half, key in the lower half

    floor_ids() = default;
    floor_ids(const floor_ids&) = delete;
    floor_ids& operator=(const floor_ids&) = delete;
    ~floor_ids() { std::free(slots_); }

    id_type create() {
        if (free_ != none) {
            const std::uint32_t key = free_;
            free_ = slots_[key].next;
            return pack(key, slots_[key].version);
        }
        if (size_ == capacity_) grow(capacity_ == 0 ? 64 : capacity_ * 2);
        slots_[size_] = {size_, 0};
        return pack(size_++, 0);
    }

    void create(std::span<id_type> out) {
        const auto count = static_cast<std::uint32_t>(out.size());
        grow(size_ + count);
        for (std::uint32_t i = 0; i < count; ++i) {
            slots_[size_ + i] = {size_ + i, 0};
            out[i] = pack(size_ + i, 0);
        }
        size_ += count;
    }

    void destroy(id_type e) {
        const auto key = static_cast<std::uint32_t>(e);
        ++slots_[key].version;
        slots_[key].next = free_;
        free_ = key;
    }

    [[nodiscard]] bool alive(id_type e) const {
        const auto key = static_cast<std::uint32_t>(e);
        return key < size_ && slots_[key].version == e >> 32;
    }

    [[nodiscard]] static std::uint32_t key(id_type e) { return static_cast<std::uint32_t>(e); }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct slot {
        std::uint32_t next;
        std::uint32_t version;
    };

    static id_type pack(std::uint32_t key, std::uint32_t version) {
        return std::uint64_t{version} << 32 | key;
    }

    void grow(std::uint32_t capacity) {
        slots_ = static_cast<slot*>(std::realloc(slots_, capacity * sizeof(slot)));
        capacity_ = capacity;
    }

    slot* slots_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
    std::uint32_t free_ = none;
};

}  // namespace muster::bench
