// expect: muster: from_json reads into a default value
#include <muster/reflect.hpp>

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

float use() {
    return muster::from_json<lens>("{}").focus;
}
