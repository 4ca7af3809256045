// The component types of the hostile tests of sparse fragments, and a world in which they are sparse.
#pragma once

#include <muster/muster.hpp>

#include <string>

#include "numbered.hpp"
#include "trouble.hpp"

namespace muster::test::sparse_kinds {

struct place {
    int x = 0;
};
struct speed {
    int value = 0;
};
struct burning {
    int heat = 0;
};
struct label {
    std::string text = numbered("a text that needs memory of its own, even when it is new, ", 0);
};
struct stunned {};  // a tag

/// A world in which all types but `place` and `speed` are sparse.
template <class Layout>
struct sparse_world : basic_world<Layout> {
    explicit sparse_world(const world_options& options = {}) : basic_world<Layout>(options) {
        this->template define<burning>().sparse();
        this->template define<label>().sparse();
        this->template define<stunned>().sparse();
        this->template define<counted>().sparse();
    }
};

}  // namespace muster::test::sparse_kinds
