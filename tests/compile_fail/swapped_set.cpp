// expect: muster: the entity is a tag and the fragment a plain id: did you swap them? If not, write entity(tag).
#include <muster/muster.hpp>

void use(muster::world& w, muster::entity player) {
    const auto enemy = w.tag("enemy");
    const auto boss = w.tag("boss");
    muster::command_buffer b{w};
#ifdef MUST_FAIL
    w.set(enemy, player);
#else
    w.set(player, enemy);
    w.set(enemy, boss);
    w.set(muster::entity(enemy), player);
#endif
    (void)boss;
    (void)enemy;
}
