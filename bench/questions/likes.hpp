// Measures a relation with many targets: 1 or 3 links of each entity to one of a hundredth as many
// targets, and finding all sources of each target. Figures are per entity, so divide those of 3 links
// by 3 for figures per link.
//
// A contestant has `spawn(count)`, which creates entities without components; `like(from, to)`; and
// `visit_sources(targets, visit)`, which calls `visit(source)` for all sources of each target.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "questions/order.hpp"
#include "support/trial.hpp"

namespace muster::bench {

template <class C>
struct crowd {
    C c;
    std::vector<typename C::id_type> from, to;

    explicit crowd(std::size_t count)
        : from(c.spawn(count)), to(c.spawn(std::max<std::size_t>(count / 100, 8))) {}
    /// Returns the target of a link. Those of one source differ.
    [[nodiscard]] auto target(const std::vector<std::uint32_t>& random, std::size_t i,
                              std::size_t link) const {
        return to[(random[i] + link * 3) % to.size()];
    }
    void relate(const std::vector<std::uint32_t>& random, std::size_t links) {
        for (std::size_t i = 0; i < from.size(); ++i)
            for (std::size_t link = 0; link < links; ++link)
                c.like(from[i], target(random, i, link));
    }
    [[nodiscard]] std::size_t count_sources() {
        std::size_t count = 0;
        c.visit_sources(to, [&](auto) { ++count; });
        return count;
    }
};

template <class C, std::size_t Links>
void likes_add(trial& t) {
    const auto random = at_random(t.size(), 8);
    measure(
        t, [&] { return std::make_unique<crowd<C>>(t.size()); },
        [&](crowd<C>& all) { all.relate(random, Links); },
        [&](crowd<C>& all) { return all.count_sources() == Links * t.size(); });
}

template <class C, std::size_t Links>
void likes_find(trial& t) {
    crowd<C> all(t.size());
    all.relate(at_random(t.size(), 8), Links);
    std::uint64_t sum = 0, wanted = 0;
    for (const auto e : all.from) wanted += Links * std::uint64_t{C::number_of(e)};
    measure_again(
        t,
        [&] {
            sum = 0;
            all.c.visit_sources(all.to, [&](auto e) { sum += C::number_of(e); });
            keep(sum);
        },
        [&] { return sum == wanted; });
}

}  // namespace muster::bench
