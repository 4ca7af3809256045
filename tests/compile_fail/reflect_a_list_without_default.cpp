// expect: muster: the elements of a list are loaded into a default value
#include <muster/muster.hpp>
#include <muster/reflect.hpp>

#include <vector>

struct lens {
    explicit lens(float f) : focus(f) {}
#ifndef MUST_FAIL
    lens() = default;
#endif
    float focus = 1;
};
template <>
struct muster::component_traits<lens> {
    static constexpr auto fields = muster::fields(muster::field<&lens::focus>("focus"));
};
struct camera {
    std::vector<lens> lenses;
};

void use(muster::world& w) {
    muster::reflect<camera>(w);
}
