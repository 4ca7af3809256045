// atomic_word: an integer or a pointer that several threads read and write. It is the part of
// `std::atomic` that the library needs; including <atomic> would cost every user compile time.
#pragma once

#include <muster/base/config.hpp>

namespace MUSTER_NAMESPACE::detail {

/// Reads a word that another thread may write concurrently; returns the old or the new value. Not
/// an atomic load: g++ treats that as a clobber of all memory, so loops would reload everything.
template <class T>
[[nodiscard]] T read_once(const T& word) noexcept {
    if constexpr (sanitizes_threads)
        return __atomic_load_n(&word, __ATOMIC_RELAXED);
    else  // SAFETY: the word is aligned, so one instruction loads it.
        return *static_cast<const volatile T*>(&word);
}

/// Loads acquire and stores release; `_relaxed` operations order nothing.
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

    /// Read-modify-writes return the previous value.
    T exchange(T value) noexcept { return __atomic_exchange_n(&value_, value, __ATOMIC_ACQ_REL); }
    T fetch_add(T count) noexcept { return __atomic_fetch_add(&value_, count, __ATOMIC_ACQ_REL); }
    T fetch_sub(T count) noexcept { return __atomic_fetch_sub(&value_, count, __ATOMIC_ACQ_REL); }
    T fetch_add_relaxed(T count) noexcept {
        return __atomic_fetch_add(&value_, count, __ATOMIC_RELAXED);
    }
    T fetch_or(T bits) noexcept { return __atomic_fetch_or(&value_, bits, __ATOMIC_ACQ_REL); }

    /// Stores `wanted` if the value equals `expected`; otherwise copies the value to `expected`.
    [[nodiscard]] bool compare_exchange(T& expected, T wanted) noexcept {
        return __atomic_compare_exchange_n(&value_, &expected, wanted, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    }

private:
    T value_{};
};

/// Like `atomic_word`, but refers to a word in an array that several threads use.
template <class T>
class atomic_word_ref {
public:
    constexpr explicit atomic_word_ref(T* at) noexcept : at_(at) {}

    [[nodiscard]] T load() const noexcept { return __atomic_load_n(at_, __ATOMIC_ACQUIRE); }
    [[nodiscard]] T load_relaxed() const noexcept { return __atomic_load_n(at_, __ATOMIC_RELAXED); }
    void store(T value) const noexcept { __atomic_store_n(at_, value, __ATOMIC_RELEASE); }
    void store_relaxed(T value) const noexcept { __atomic_store_n(at_, value, __ATOMIC_RELAXED); }
    [[nodiscard]] bool compare_exchange(T& expected, T wanted) const noexcept {
        return __atomic_compare_exchange_n(at_, &expected, wanted, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_ACQUIRE);
    }
    /// Prefetches the word for writing.
    void expect_store() const noexcept { __builtin_prefetch(at_, 1); }

private:
    T* at_;
};

}  // namespace MUSTER_NAMESPACE::detail
