// expect: muster::layout: an id needs at least one version bit to detect stale ids.
#include <muster/id/id_pool.hpp>

#ifdef MUST_FAIL
using wrong = muster::layout<std::uint32_t, muster::id_bits{.key = 32}>;
#else
using wrong = muster::layouts::bound;
#endif

muster::basic_id<wrong> made;
