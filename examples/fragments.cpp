// Fragments created at run time: two fragments of one type, a tag, and bytes without a C++ type.
#include <muster/muster.hpp>

#include <cstdio>
#include <cstring>

int main() {
    muster::world w;
    const muster::fragment<int> health = w.fragment<int>("health");
    const muster::fragment<int> stamina = w.fragment<int>("stamina");
    const muster::entity undead = w.tag("undead");
    const muster::entity rgb = w.fragment(muster::component_type{.size = 3}, "rgb");

    const muster::entity orc = w.spawn(with(health, 100), with(stamina, 50));
    const muster::entity ghost = w.clone(orc, with(health, 1), with(undead));
    const unsigned char pale[3] = {220, 230, 240};
    w.set_raw(ghost, rgb, pale);

    std::printf("the orc has %d health, the ghost %d\n", w.get(orc, health), w.get(ghost, health));
    w.each_fragment(ghost, [&](muster::id fragment, void* value) {
        std::printf("  the ghost has %s%s\n", w.name(fragment).data(), value ? "" : ", a tag");
    });

    try {
        w.set(orc, health.id(), 1.5f);
    } catch (const muster::error& error) {
        std::printf("%s: a fragment keeps the type of its first value\n", to_string(error.code()));
    }

    w.destroy(stamina);  // removes it from all entities
    std::printf("%zu have stamina, %zu health\n", w.count(stamina), w.count(health));
}
