// expect: muster: the callback of each_chunk takes a chunk_view or, if the world is const, a const_chunk_view.
#include <muster/muster.hpp>

struct position {
    float x, y;
};
struct frozen {};

void use(const muster::world& w) {
#ifdef MUST_FAIL
    w.query<const position>().each_chunk([](muster::chunk_view) {});
#else
    w.query<const position>().each_chunk([](muster::const_chunk_view) {});
#endif
}
