// Two files of a program that pass a world to each other; MAIN is one of them.
#include <muster/muster.hpp>

int count(muster::world& w);

#ifdef MAIN
int main() {
    muster::world w;
    return count(w);
}
#else
int count(muster::world& w) {
    return static_cast<int>(w.size());
}
#endif
