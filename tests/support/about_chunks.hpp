// Some tests are about chunks: rows, spans, the order of loops. The programs that run all tests on sparse
// fragments (all_sparse.hpp) leave these out.
#pragma once

#ifdef MUSTER_TEST_ALL_SPARSE
#define MUSTER_ABOUT_CHUNKS() GTEST_SKIP() << "about chunks"
#else
#define MUSTER_ABOUT_CHUNKS() static_cast<void>(0)
#endif
