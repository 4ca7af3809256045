// Muster, and Muster with 4-byte ids.
#include "contestants/muster_world.hpp"
#include "questions/all.hpp"

namespace muster::bench {
namespace {

class muster_garden {
public:
    muster_garden() {
        w_.system("move").each([](place& p, const speed& v) { move(p, v); });
        w_.system("live").each([](mind& m) { live(m); });
        w_.system("turn").each([](const place& p, speed& v, mind& m) { turn(p, v, m); });
        w_.system("grow").each([](body& b) { grow(b); });
        w_.system("bite").each([](body& b, const teeth& t) { be_bitten(b, t); });
        w_.system("look").each(
            [](look& l, const species& s, const body& b) { choose_look(l, s, b); });
        w_.system("draw").each([this](const place& p, const look& l) { draw(*on_, p, l); });
    }
    void add(unsigned kind, const recipe& r) {
        const entity e = w_.spawn();
        if (kind & placed) w_.set(e, r.p);
        if (kind & moving) w_.set(e, r.v);
        if (kind & minded) w_.set(e, r.m);
        if (kind & bodied) w_.set(e, r.s, r.b, r.t, r.l);
    }
    void run(picture& on) {
        on_ = &on;
        w_.process_all();
    }
    result sum() {
        result made;
        w_.each([&](const mind& m) { made.add(m); });
        w_.each([&](const body& b, const look& l) { made.add(b, l); });
        return made;
    }

private:
    world w_;
    picture* on_ = nullptr;
};

[[maybe_unused]] const int registered = [] {
    using plain = muster_world<layouts::bound>;
    ask_about_ids<plain>("muster", 10 * million);
    ask_about_entities<plain>("muster", 10 * million);
    ask_about_components<plain>("muster", 10 * million);
    ask_about_sparse<muster_sparse_world<layouts::bound>>("muster", 10 * million);
    ask_about_frames<muster_garden>("muster");
    // This layout has about a million keys.
    using small = muster_world<layouts::compact>;
    ask_about_ids<small>("compact", million);
    ask_about_entities<small>("compact", million);
    ask_about_components<small>("compact", million);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
