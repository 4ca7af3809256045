// expect: muster::layout: first_version leaves no version to issue: it must be below the last version.
#include <muster/id/id_pool.hpp>

#ifdef MUST_FAIL
using wrong =
    muster::layout<std::uint32_t, muster::id_bits{.key = 8, .version = 8, .first_version = 255}>;
#else
using wrong = muster::layouts::bound;
#endif

muster::basic_id<wrong> made;
