// trouble: component types that are hard to store, and countdowns that make operations fail.
//
// `allocations` works only in programs that replace malloc, its relatives and operator new, like
// support/failing_allocations.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace muster::test {

/// Strikes once, after the number of events passed to `start`, or at each event from then on. Idle until started.
class countdown {
public:
    void start(int events, bool for_good = false) noexcept {
        left_ = events;
        struck_ = false;
        for_good_ = for_good;
    }
    void stop() noexcept {
        left_ = -1;
        for_good_ = false;
    }
    /// Counts an event. Returns whether it must fail.
    bool strikes() noexcept {
        if (left_ < 0) return for_good_ && struck_;
        struck_ = left_-- == 0;
        return struck_;
    }
    /// Whether it struck since it was started.
    [[nodiscard]] bool has_struck() const noexcept { return struck_; }

private:
    int left_ = -1;
    bool struck_ = false;
    bool for_good_ = false;
};

inline countdown allocations;
inline countdown copies;  // and all other constructions of `fragile` except moves

/// Exception of `fragile`. Allocates no memory.
struct broken : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "a fragile value broke"; }
};

/// Counts of living, constructed and destroyed objects of a type. `misused` counts objects that
/// were used or destroyed while not alive, or moved as bytes.
struct tally {
    int living = 0;
    int made = 0;
    int ended = 0;
    int misused = 0;
    [[nodiscard]] int calls() const noexcept { return made + ended; }
};

/// A base that updates the tally of `Owner`. It stores its own address to detect moves as bytes.
template <class Owner>
class tracked {
public:
    static inline tally count;

    tracked() noexcept { begin(); }
    tracked(const tracked& other) noexcept {
        other.look();
        begin();
    }
    tracked(tracked&& other) noexcept {
        other.look();
        begin();
    }
    tracked& operator=(const tracked& other) noexcept {
        look();
        other.look();
        return *this;
    }
    tracked& operator=(tracked&& other) noexcept {
        look();
        other.look();
        return *this;
    }
    ~tracked() {
        look();
        self_ = nullptr;
        --count.living;
        ++count.ended;
    }

private:
    void begin() noexcept {
        self_ = this;
        ++count.living;
        ++count.made;
    }
    void look() const noexcept {
        if (self_ != this) ++count.misused;
    }

    const tracked* volatile self_ = nullptr;  // volatile: keeps the write of the destructor
};

/// Counted. No operation can fail.
struct counted : tracked<counted> {
    int value;
    explicit counted(int number = 0) noexcept : value(number) {}
};

/// Its constructors, except the move constructor, throw when `copies` strikes.
struct fragile : tracked<fragile> {
    int value;

    explicit fragile(int number = 0) : value(number) { strain(); }
    fragile(const fragile& other) : tracked(other), value(other.value) { strain(); }
    fragile(fragile&& other) noexcept
        : tracked(static_cast<tracked&&>(other)), value(std::exchange(other.value, -1)) {}
    fragile& operator=(const fragile& other) {
        strain();
        tracked::operator=(other);
        value = other.value;
        return *this;
    }
    fragile& operator=(fragile&& other) noexcept {
        if (this != &other) value = std::exchange(other.value, -1);
        return *this;
    }
    ~fragile() = default;

private:
    static void strain() {
        if (copies.strikes()) throw broken{};
    }
};

/// Move-only.
struct lone {
    std::unique_ptr<int> value;
    explicit lone(int number = 0) : value(std::make_unique<int>(number)) {}
};

/// Needs more alignment than an ordinary allocation has.
struct alignas(128) over_aligned {
    int value = 0;
};

/// 4 KiB, filled with one number.
struct bulky {
    std::array<int, 1024> values;
    explicit bulky(int number = 0) noexcept { values.fill(number); }
};

struct tagged {};

/// Cannot be assigned, only reconstructed.
struct sealed {
    const int value;
    std::string copy;
    explicit sealed(int number = 0) : value(number), copy(std::to_string(number)) {}
};

inline std::string text_of(const counted& value) {
    return std::to_string(value.value);
}
inline std::string text_of(const fragile& value) {
    return std::to_string(value.value);
}
inline std::string text_of(const lone& value) {
    return value.value == nullptr ? "nothing" : std::to_string(*value.value);
}
inline std::string text_of(const over_aligned& value) {
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(&value) % alignof(over_aligned) == 0;
    return std::to_string(value.value) + (is_aligned ? "" : " at a wrong address");
}
inline std::string text_of(const bulky& value) {
    for (const int each : value.values)
        if (each != value.values[0]) return "damaged";
    return std::to_string(value.values[0]);
}
inline std::string text_of(const tagged&) {
    return "yes";
}
inline std::string text_of(const sealed& value) {
    return std::to_string(value.value) +
           (value.copy == std::to_string(value.value) ? "" : " damaged");
}

}  // namespace muster::test
