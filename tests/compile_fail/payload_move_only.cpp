// expect: muster: a payload is passed by value, but this type cannot be copied.
#include <muster/muster.hpp>

#include <memory>

struct position {
    float x, y;
};

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").each([](position&, std::unique_ptr<int>) {});
#else
    w.system("move").each([](position&, std::shared_ptr<int>) {});
#endif
}
