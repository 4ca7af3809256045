// trouble: component types that are hard to keep, and countdowns that make things fail.
//
// `allocations` only counts where a program asks it: see world_guarantee_test.cpp, which puts it in
// front of malloc and its like, and of operator new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace muster::test {

/// Strikes once, when as many events have passed as it was told to let pass. Idle until started.
class countdown {
public:
    void start(int events) noexcept {
        left_ = events;
        struck_ = false;
    }
    void stop() noexcept { left_ = -1; }
    /// An event comes: whether it has to fail.
    bool strikes() noexcept {
        if (left_ < 0) return false;
        struck_ = left_-- == 0;
        return struck_;
    }
    /// Whether it did since it was started.
    [[nodiscard]] bool has_struck() const noexcept { return struck_; }

private:
    int left_ = -1;
    bool struck_ = false;
};

inline countdown allocations;
inline countdown copies;  // and other constructions of `fragile`, but moves

/// What `fragile` throws. Needs no memory.
struct broken : std::exception {
    [[nodiscard]] const char* what() const noexcept override { return "a fragile value broke"; }
};

/// How many objects of a type live, what was done to them, and how often one was used or ended that
/// was not alive, or was moved as bytes.
struct tally {
    int living = 0;
    int made = 0;
    int ended = 0;
    int misused = 0;
    [[nodiscard]] int calls() const noexcept { return made + ended; }
};

/// A base that keeps the tally of `Owner`. It knows its own address.
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

    const tracked* volatile self_ = nullptr;  // volatile: what the destructor writes stays readable
};

/// Counted, and nothing of it can fail.
struct counted : tracked<counted> {
    int value;
    explicit counted(int number = 0) noexcept : value(number) {}
};

/// Its constructors throw when `copies` strikes, also the one that copies. Moving does not.
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

/// Can only be moved.
struct lone {
    std::unique_ptr<int> value;
    explicit lone(int number = 0) : value(std::make_unique<int>(number)) {}
};

/// Needs more alignment than any allocation has by itself.
struct alignas(128) over_aligned {
    int value = 0;
};

/// 4 KiB, all of them the same number.
struct bulky {
    std::array<int, 1024> values;
    explicit bulky(int number = 0) noexcept { values.fill(number); }
};

struct tagged {};

/// Cannot be assigned, only replaced.
struct sealed {
    const int value;
    std::string copy;
    explicit sealed(int number = 0) : value(number), copy(std::to_string(number)) {}
};

inline std::string text_of(const counted& one) {
    return std::to_string(one.value);
}
inline std::string text_of(const fragile& one) {
    return std::to_string(one.value);
}
inline std::string text_of(const lone& one) {
    return one.value == nullptr ? "nothing" : std::to_string(*one.value);
}
inline std::string text_of(const over_aligned& one) {
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(&one) % alignof(over_aligned) == 0;
    return std::to_string(one.value) + (is_aligned ? "" : " at a wrong address");
}
inline std::string text_of(const bulky& one) {
    for (const int each : one.values)
        if (each != one.values[0]) return "damaged";
    return std::to_string(one.values[0]);
}
inline std::string text_of(const tagged&) {
    return "yes";
}
inline std::string text_of(const sealed& one) {
    return std::to_string(one.value) + (one.copy == std::to_string(one.value) ? "" : " damaged");
}

}  // namespace muster::test
