// The program that tests/gdb/printers.gdb inspects at each call of `look_here`.
#include <muster/muster.hpp>
#include <muster/world/instantiate.hpp>

#include <cstdint>
#include <string>

struct position {
    float x, y;
};
struct frozen {};
struct mood {
    int level;
};

struct own_layout : muster::layout<std::uint32_t, muster::id_bits{.key = 24, .version = 8}> {};
using own_alias = muster::layout<std::uint64_t, muster::id_bits{.key = 24, .version = 40}>;
MUSTER_INSTANTIATE(own_layout)
MUSTER_INSTANTIATE(own_alias)

static void look_here() {
    asm volatile("");
}

template <class World>
static void touch(World& w) {
    w.spawn(position{5, 6});
    look_here();
}

int main() {
    muster::world w;
    w.define<mood>().sparse();
    const muster::entity goblin = w.spawn(position{1, 2}, std::string("grim"), frozen{});
    const muster::entity orc = w.spawn(position{3, 4}, std::string("glad"), frozen{});
    const muster::entity ghost = w.spawn();
    w.name(goblin, "goblin");
    w.name(orc, "orc");
    w.set(goblin, mood{3});
    w.set(orc, mood{4});
    w.remove<mood>(orc);
    const muster::fragment<int> health = w.fragment<int>("health");
    const muster::entity fighter = w.spawn(muster::with(health, 100));
    const muster::tag_id foe(goblin);
    const muster::entity blob = w.fragment(muster::component_type{.size = 20}, "blob");
    const muster::entity box = w.spawn();
    w.add(box, blob);
    const muster::entity dead = w.spawn(1);
    w.destroy(dead);
    const muster::entity far = w.spawn_at(muster::entity::pack(5'000'000, 7, w.number()), mood{9});
    muster::world elsewhere;
    const muster::entity foreign = elsewhere.spawn();
    const muster::entity nobody;
    const muster::chunk kind = w.chunk<position, std::string, frozen>();
    const muster::chunk none;
    look_here();

    muster::basic_world<muster::layouts::exact> wide;  // records of 16 bytes
    touch(wide);
    muster::basic_world<muster::layouts::compact> small;
    touch(small);
    muster::basic_world<own_layout> own;
    touch(own);
    muster::basic_world<own_alias> own_wide;
    touch(own_wide);

    muster::world linked;
    linked.define<mood>().relation();
    const muster::entity car = linked.spawn(), bob = linked.spawn();
    linked.name(car, "car");
    const muster::entity wheel = linked.spawn(position{}, to(muster::child_of, car));
    linked.spawn(to(muster::child_of, car), to<mood>(bob, mood{3}), to<mood>(wheel));
    look_here();
    return static_cast<int>(kind.size() + none.size() + foreign.key() + nobody.key() + ghost.key() +
                            fighter.key() + foe.key() + box.key() + far.key() + orc.key() +
                            wheel.key() + bob.key()) *
           0;
}
