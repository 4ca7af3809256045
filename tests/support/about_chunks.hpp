// Marks tests about chunks: rows, spans, the order of loops. Runs in which every C++ type is sparse
// skip them.
#pragma once

#include <muster/type/type_info.hpp>

#define MUSTER_ABOUT_CHUNKS() \
    if (muster::detail::sparse_by_default) GTEST_SKIP() << "about chunks"
