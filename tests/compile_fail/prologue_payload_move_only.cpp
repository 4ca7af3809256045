// expect: muster: a payload is passed by value, but this type cannot be copied.
#include <muster/muster.hpp>

#include <memory>

void use(muster::world& w) {
#ifdef MUST_FAIL
    w.system("move").prologue([](std::unique_ptr<int>) {});
#else
    w.system("move").prologue([](std::shared_ptr<int>) {});
#endif
}
