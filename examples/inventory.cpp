// An inventory: items are in containers, which may be in other containers.
#include <muster/muster.hpp>

#include <cstdio>
#include <string>

struct name {
    std::string text;
};
struct weight {
    int grams;
};
struct inside {  // the link of an item with its container
    int slot = 0;
};

int main() {
    muster::world w;
    // An item is in one container at most, and never in itself. If a container is destroyed, its
    // items fall into the next one.
    w.define<inside>().relation().exclusive().acyclic().when_target_destroyed(muster::pass_on);

    const muster::entity hero = w.spawn(name{"hero"}, weight{70'000});
    const muster::entity bag = w.spawn(name{"bag"}, weight{500}, to<inside>(hero, inside{1}));
    const muster::entity purse = w.spawn(name{"purse"}, weight{50}, to<inside>(bag, inside{1}));
    (void)w.spawn(name{"coins"}, weight{300}, to<inside>(purse, inside{1}));
    const muster::entity sword = w.spawn(name{"sword"}, weight{1'500});

    const auto show = [&](muster::entity of) {
        int grams = 0;
        std::printf("%s:", w.get<name>(of).text.c_str());
        for (const muster::entity item : w.sources<inside>(of))
            std::printf(" [%d] %s", w.link<inside>(item, of).slot, w.get<name>(item).text.c_str());
        w.query<const weight>().under<inside>(of).each(
            [&](const weight& each) { grams += each.grams; });
        std::printf(", %d g\n", grams);
    };
    show(hero);

    w.relate<inside>(sword, hero, inside{2});  // picked up
    show(hero);
    w.relate<inside>(purse, hero, inside{3});  // moved from the bag, with its coins
    show(hero);

    try {
        w.relate<inside>(bag, bag);
    } catch (const muster::error& refused) {
        std::printf("%s\n", muster::to_string(refused.code()));
    }

    w.destroy(purse);  // the coins fall out
    show(hero);
    w.unrelate<inside>(sword);  // dropped
    std::printf("the sword is %s\n", w.target<inside>(sword) ? "carried" : "on the ground");
}
