// expect: muster::layout: the key, version and world bits together exceed the integer's width.
#include <muster/id/id_pool.hpp>

#ifdef MUST_FAIL
using wrong = muster::layout<std::uint32_t, muster::id_bits{.key = 20, .version = 12, .world = 1}>;
#else
using wrong = muster::layouts::bound;
#endif

muster::basic_id<wrong> made;
