// expect: muster: the callback of each_chunk takes a chunk_view or, if the world is const, a const_chunk_view.
#include <muster/muster.hpp>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.query<position>().each_chunk([](position&) {});
#else
    w.query<position>().each_chunk([](muster::chunk_view) {});
#endif
}
