// Hooks that throw on demand, next to the other failures of a call.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "support/trouble.hpp"

namespace muster::test {

/// Exception that a hook throws.
struct veto : std::exception {
    int number;
    explicit veto(int of) noexcept : number(of) {}
};

/// Counts the calls of hooks. Throws in call number `from`, or in each call from there on.
struct judge {
    int calls = 0;
    int from = -1;  // -1: never
    bool is_once = true;

    void count_call() {
        const int number = calls++;
        if (from >= 0 && (is_once ? number == from : number >= from)) throw veto(number);
    }
};

enum class trouble { in_hook, in_all_hooks, in_copy, in_memory };

/// Makes the n-th event of a call fail. Returns the number of the veto it threw, `other` or
/// `nothing`.
inline constexpr int other = -1;
inline constexpr int nothing = -2;
template <class Call>
int caught(trouble kind, judge& hooks, int n, Call call) {
    int thrown = nothing;
    hooks = {0, kind <= trouble::in_all_hooks ? n : -1, kind == trouble::in_hook};
    if (kind == trouble::in_copy) copies.start(n);
    if (kind == trouble::in_memory) allocations.start(n);
    try {
        call();
    } catch (const veto& thrown_veto) {
        thrown = thrown_veto.number;
    } catch (const broken&) {
        thrown = other;
    } catch (const std::bad_alloc&) {
        thrown = other;
    }
    copies.stop();
    allocations.stop();
    hooks.from = -1;
    return thrown;
}

inline std::string long_text(int number) {
    return "a text that needs memory of its own, number " + std::to_string(number);
}

}  // namespace muster::test
