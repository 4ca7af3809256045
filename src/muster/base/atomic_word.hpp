// atomic_word: an integer or a pointer that several threads read and write. What of `std::atomic` is needed
// here, without what its header costs everyone who includes it.
#pragma once

namespace muster::detail {

/// Loads acquire and stores release; `_relaxed` ones order nothing.
template <class T>
class atomic_word {
public:
    constexpr atomic_word() noexcept = default;
    constexpr explicit atomic_word(T value) noexcept : value_(value) {}
    atomic_word(const atomic_word&) = delete;
    atomic_word& operator=(const atomic_word&) = delete;

    [[nodiscard]] T load() const noexcept { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
    [[nodiscard]] T load_relaxed() const noexcept {
        return __atomic_load_n(&value_, __ATOMIC_RELAXED);
    }
    void store(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
    void store_relaxed(T value) noexcept { __atomic_store_n(&value_, value, __ATOMIC_RELAXED); }

    /// The value before.
    T exchange(T value) noexcept { return __atomic_exchange_n(&value_, value, __ATOMIC_ACQ_REL); }
    T fetch_add(T count) noexcept { return __atomic_fetch_add(&value_, count, __ATOMIC_ACQ_REL); }
    T fetch_sub(T count) noexcept { return __atomic_fetch_sub(&value_, count, __ATOMIC_ACQ_REL); }
    T fetch_add_relaxed(T count) noexcept {
        return __atomic_fetch_add(&value_, count, __ATOMIC_RELAXED);
    }
    T fetch_or(T bits) noexcept { return __atomic_fetch_or(&value_, bits, __ATOMIC_ACQ_REL); }

    /// Writes `wanted` if the value is `expected`; if not, `expected` becomes what it is.
    [[nodiscard]] bool compare_exchange(T& expected, T wanted) noexcept {
        return __atomic_compare_exchange_n(&value_, &expected, wanted, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    }

private:
    T value_{};
};

}  // namespace muster::detail
