// The layouts of behaviour tests. Two of them cover all code: `bound` has world bits and records of
// 8 bytes; `exact` has neither and counts keys and versions from 1. The models and stories run on
// more layouts.
#pragma once

#include <gtest/gtest.h>

#include "layouts.hpp"

namespace muster::test {

#if MUSTER_TEST_LAYOUTS == 1
using behavior_layouts = testing::Types<layouts::bound>;
#elif MUSTER_TEST_LAYOUTS == 2
using behavior_layouts = testing::Types<layouts::bound, layouts::exact>;
#else
using behavior_layouts =
    testing::Types<layouts::bound, layouts::exact, layouts::compact, layouts::packed>;
#endif

}  // namespace muster::test
