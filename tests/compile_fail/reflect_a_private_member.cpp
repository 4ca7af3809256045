// expect: muster: this type is no aggregate
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

class camera {
public:
    float zoom = 1;
#ifdef MUST_FAIL
private:
#endif
    float speed = 1;
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
