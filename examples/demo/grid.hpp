// grid: finds near entities. A counting sort rebuilds it in every frame. The samples of a cell are
// contiguous and cells are stored row by row, so that three adjacent cells of a row are one range.
#pragma once

#include "components.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace demo {

/// A singleton for each kind of entity. `Sample` is a copy of the data that other entities see, so
/// that they may read it while the original changes.
template <class Sample>
class grid {
public:
    grid(const country& where, float cell)
        : scale_(1 / cell),
          columns_(static_cast<std::size_t>(where.width * scale_) + 1),
          rows_(static_cast<std::size_t>(where.height * scale_) + 1) {}

    /// Inserts all entities of the query, whose first component is the position.
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
        entities_.resize(sum);
        const std::uint32_t* cell = cells_.data();
        query.each([&](entity e, const position& p, const auto&... others) {
            const std::uint32_t at = starts_[*cell++]++;
            samples_[at] = make(p, others...);
            entities_[at] = e;
        });
        // Now each start is the end of its cell, which is the start of the next cell.
        for (std::size_t i = starts_.size() - 1; i > 0; --i) starts_[i] = starts_[i - 1];
        starts_[0] = 0;
    }

    /// Calls `look(sample, index)` for the samples in the nine cells around a point. In a crowd, at
    /// most `most` adjacent samples per row of cells, from a start that depends on the point.
    template <class Callback>
    void near(float x, float y, std::size_t most, Callback look) const {
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
                               ranges[r].first);  // loads all three ranges in parallel
        }
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t i = 0; i < ranges[r].count; ++i)
                look(samples_[ranges[r].first + i], ranges[r].first + i);
    }
    /// Returns the nearest entity within `reach`, or the null id.
    entity nearest(float x, float y, float reach, std::size_t most) const {
        float best = reach * reach;
        entity found;
        near(x, y, most, [&](const Sample& other, std::size_t i) {
            const float dx = other.x - x;
            const float dy = other.y - y;
            const float distance = dx * dx + dy * dy;
            if (distance >= best) return;
            best = distance;
            found = entities_[i];
        });
        return found;
    }

private:
    // Clamped: an entity beyond the edge counts as in the outermost cell.
    std::size_t column(float x) const {
        return std::min(static_cast<std::size_t>(std::max(x * scale_, 0.0f)), columns_ - 1);
    }
    std::size_t row(float y) const {
        return std::min(static_cast<std::size_t>(std::max(y * scale_, 0.0f)), rows_ - 1);
    }

    float scale_;
    std::size_t columns_, rows_;
    std::vector<std::uint32_t> starts_;  // the first sample of each cell, and the end
    std::vector<std::uint32_t> cells_;   // the cell of each entity, in the order of the query
    std::vector<Sample> samples_;
    std::vector<entity> entities_;
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
