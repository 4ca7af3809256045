// grid: who is near. Rebuilt in every frame by counting: cells are in rows, and what is in one cell is
// contiguous, so that three neighbouring cells of a row are one range.
#pragma once

#include "components.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace demo {

/// A singleton for each kind of thing. `Sample` is what others see of it: a copy, so that they may look
/// while it is being changed.
template <class Sample>
class grid {
public:
    grid(const country& where, float cell)
        : scale_(1 / cell),
          columns_(static_cast<std::size_t>(where.width * scale_) + 1),
          rows_(static_cast<std::size_t>(where.height * scale_) + 1) {}

    /// All that the query finds; its first component is the position.
    template <class Query, class Make>
    void rebuild(const Query& query, Make make) {
        starts_.assign(columns_ * rows_ + 1, 0);
        cells_.clear();
        query.each([&](const position& p, const auto&...) {
            const auto cell = static_cast<std::uint32_t>(row(p.y) * columns_ + column(p.x));
            cells_.push_back(cell);
            ++starts_[cell];
        });
        std::uint32_t sum = 0;
        for (std::uint32_t& start : starts_) sum += std::exchange(start, sum);
        samples_.resize(sum);
        who_.resize(sum);
        const std::uint32_t* cell = cells_.data();
        query.each([&](entity e, const position& p, const auto&... others) {
            const std::uint32_t at = starts_[*cell++]++;
            samples_[at] = make(p, others...);
            who_[at] = e;
        });
        // Each start has become the end of its cell, which is the start of the next.
        for (std::size_t i = starts_.size() - 1; i > 0; --i) starts_[i] = starts_[i - 1];
        starts_[0] = 0;
    }

    /// Calls `look(sample, index)` for what is in the nine cells around. In a crowd it sees at most
    /// `most` of each row of cells: neighbours in memory, from a place that depends on where one stands.
    template <class Look>
    void near(float x, float y, std::size_t most, Look look) const {
        const std::size_t at = column(x);
        const std::size_t left = at == 0 ? 0 : at - 1;
        const std::size_t right = std::min(at + 1, columns_ - 1);
        const std::size_t middle = row(y);
        const std::size_t first = middle == 0 ? 0 : middle - 1;
        const std::size_t rows = std::min(middle + 1, rows_ - 1) - first + 1;
        const std::uint64_t any = (std::bit_cast<std::uint32_t>(x) * 0x9e3779b9u) ^
                                  (std::bit_cast<std::uint32_t>(y) * 0x85ebca6bu);
        struct range {
            std::size_t first, count;
        } ranges[3];
        for (std::size_t r = 0; r < rows; ++r) {
            const std::size_t begin = starts_[(first + r) * columns_ + left];
            const std::size_t count = starts_[(first + r) * columns_ + right + 1] - begin;
            const std::size_t skipped = count <= most ? 0 : any * (count - most + 1) >> 32;
            ranges[r] = {begin + skipped, std::min(count, most)};
            __builtin_prefetch(samples_.data() +
                               ranges[r].first);  // all three on their way at once
        }
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t i = 0; i < ranges[r].count; ++i)
                look(samples_[ranges[r].first + i], ranges[r].first + i);
    }
    /// The id of the nearest within `reach`, or the null id.
    entity nearest(float x, float y, float reach, std::size_t most) const {
        float best = reach * reach;
        entity found;
        near(x, y, most, [&](const Sample& other, std::size_t i) {
            const float dx = other.x - x;
            const float dy = other.y - y;
            const float distance = dx * dx + dy * dy;
            if (distance >= best) return;
            best = distance;
            found = who_[i];
        });
        return found;
    }

private:
    // Clamped: what has been blown over the edge is seen in the outermost cells.
    std::size_t column(float x) const {
        return std::min(static_cast<std::size_t>(std::max(x * scale_, 0.0f)), columns_ - 1);
    }
    std::size_t row(float y) const {
        return std::min(static_cast<std::size_t>(std::max(y * scale_, 0.0f)), rows_ - 1);
    }

    float scale_;
    std::size_t columns_, rows_;
    std::vector<std::uint32_t> starts_;  // where each cell begins, and the end
    std::vector<std::uint32_t> cells_;   // the cell of each, as the query comes to them
    std::vector<Sample> samples_;
    std::vector<entity> who_;
};

struct bird_sample {
    float x, y, vx, vy;
    std::uint32_t flock;
};
struct place_sample {
    float x, y;
};
struct bird_grid : grid<bird_sample> {
    using grid::grid;
};
struct insect_grid : grid<place_sample> {
    using grid::grid;
};
struct hawk_grid : grid<place_sample> {
    using grid::grid;
};

}  // namespace demo
