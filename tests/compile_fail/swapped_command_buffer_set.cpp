// expect: muster: the entity is a tag and the fragment a plain id: did you swap them? If not, write entity(tag).
#include <muster/muster.hpp>

void use(muster::world& w, muster::entity player) {
    const auto enemy = w.tag("enemy");
    const auto boss = w.tag("boss");
    muster::command_buffer b{w};
#ifdef MUST_FAIL
    b.set(enemy, player);
#else
    b.set(player, enemy);
#endif
    (void)boss;
    (void)enemy;
}
