// Hooks that throw when they are told to, beside the other things that can go wrong in a call.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "support/trouble.hpp"

namespace muster::test {

/// What a hook throws.
struct veto : std::exception {
    int number;
    explicit veto(int of) noexcept : number(of) {}
};

/// Counts the calls of hooks; from one of them on, or only there, they throw.
struct judge {
    int calls = 0;
    int from = -1;  // -1: never
    bool is_once = true;

    void hear() {
        const int number = calls++;
        if (from >= 0 && (is_once ? number == from : number >= from)) throw veto(number);
    }
};

enum class trouble { in_hook, in_all_hooks, in_copy, in_memory };

/// What comes out of a call whose n-th event fails: the number of a veto, `other`, or `nothing`.
inline constexpr int other = -1;
inline constexpr int nothing = -2;
template <class Call>
int caught(trouble kind, judge& heard, int n, Call call) {
    int thrown = nothing;
    heard = {0, kind <= trouble::in_all_hooks ? n : -1, kind == trouble::in_hook};
    if (kind == trouble::in_copy) copies.start(n);
    if (kind == trouble::in_memory) allocations.start(n);
    try {
        call();
    } catch (const veto& one) {
        thrown = one.number;
    } catch (const broken&) {
        thrown = other;
    } catch (const std::bad_alloc&) {
        thrown = other;
    }
    copies.stop();
    allocations.stop();
    heard.from = -1;
    return thrown;
}

inline std::string long_text(int number) {
    return "a text that needs memory of its own, number " + std::to_string(number);
}

}  // namespace muster::test
