// A program can define how the bits of an id are split, in one line.
#include <muster/muster.hpp>

#include <iostream>

// Two bytes: 1,024 keys, each used 63 times and then retired, so that no id is issued twice.
using tiny = muster::layout<std::uint16_t, muster::id_bits{.key = 10, .version = 6}>;

// Like `tiny`, but versions wrap around: the program accepts that old handles can revive.
using tiny_wrapping =
    muster::layout<std::uint16_t,
                   muster::id_bits{
                       .key = 10, .version = 6, .on_exhaustion = muster::exhaustion::wrap}>;

template <class Layout>
void wear_out(const char* name) {
    muster::id_pool<Layout> ids;
    const auto first = ids.create();
    ids.destroy(first);
    for (int i = 1; i < 64; ++i) ids.destroy(ids.create());
    const auto next = ids.create();
    std::cout << name << ": " << sizeof(next) << " bytes, after 64 uses comes " << next << ", "
              << ids.retired() << " retired, the first handle is "
              << (ids.alive(first) ? "alive again\n" : "dead\n");
}

int main() {
    wear_out<tiny>("tiny");
    wear_out<tiny_wrapping>("tiny_wrapping");
}
