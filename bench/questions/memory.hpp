// Measures the bytes per created entity, of which its two components take 16: when all entities are
// alive, when nine of ten are destroyed, and after unused memory was freed.
//
// A contestant may have `collect()`, which frees unused memory.
#pragma once

#include <malloc.h>

#include <memory>
#include <vector>

#include "questions/order.hpp"
#include "support/trial.hpp"

namespace muster::bench {

inline double bytes_in_use() {
    const auto info = mallinfo2();
    return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

enum class moment { full, destroyed, collected };

template <class C, moment When>
void memory(trial& t) {
    std::vector<typename C::id_type> out(t.size());
    const auto c = std::make_unique<C>();
    const double before = bytes_in_use();
    c->spawn(out);
    if constexpr (When != moment::full) {
        for (std::size_t i = 0; i < out.size(); ++i)
            if (i % 10 != 0) c->destroy(out[i]);
        finish_frame(*c);
    }
    if constexpr (When == moment::collected) c->collect();
    t.note(bytes_in_use() - before);
    const std::size_t left = When == moment::full ? out.size() : (out.size() + 9) / 10;
    if (count_alive(*c, out) != left || c->count_moving() != left) t.fail("the result is wrong");
}

}  // namespace muster::bench
