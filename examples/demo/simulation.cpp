#include "simulation.hpp"

#include "grid.hpp"

#include <muster/system/parallel.hpp>

#include <bit>
#include <cmath>
#include <initializer_list>

namespace demo {

namespace {

/// The initial number of animals of each kind.
struct shares {
    std::size_t hawks, insects, birds;
    explicit shares(std::size_t entities)
        : hawks(entities / 2500 + 1),
          insects(entities * 3 / 10),
          birds(entities - hawks - insects) {}
};

/// Returns a country large enough for this number of birds.
country make_country(std::size_t entities, std::uint64_t seed) {
    const shares parts(entities);
    const float area = static_cast<float>(parts.birds) * 9.5f;
    const float height = std::sqrt(area * 9 / 16);
    return {height * 16 / 9, height, parts.insects, parts.birds / 55 + 1, dice::seeded(seed + 77)};
}

sky make_sky() {
    // Cosine and sine of small angles, in pairs; each flock has its own orbital period.
    constexpr float steps[][2] = {{0.99995f, 0.0099998f}, {0.999872f, 0.0159993f},
                                  {0.99992f, 0.0126497f}, {0.999968f, 0.0079999f},
                                  {0.99989f, 0.0148319f}, {0.99998f, 0.0063245f}};
    sky made{};
    dice d = dice::seeded(5);
    for (int i = 0; i < flocks; ++i) {
        const float* const fast = steps[i];
        const float* const slow = steps[(i + 2) % flocks];
        made.wide[i] = {1, 0, fast[0], fast[1]};
        made.high[i] = {1, 0, slow[0], slow[1]};
        for (auto n = d.next() % 700; n > 0; --n) made.wide[i].advance();
        for (auto n = d.next() % 700; n > 0; --n) made.high[i].advance();
    }
    return made;
}

}  // namespace

simulation::simulation(std::size_t entities, std::uint64_t seed, muster::executor& threads)
    : threads_(threads), weather_(populate(entities, seed), seed, counts_) {
    add_systems(world_, counts_);
    world_.time_systems(true);
}

void simulation::watch() {
    world_.on_spawn([this] { ++counts_.spawned; });
    world_.on_destroy([this](entity e) {
        ++counts_.destroyed;
        if (counts_.graves.size() < tally::most_graves) counts_.graves.push_back(e);
    });
    const auto changed = [this] { ++counts_.sparse; };
    world_.define<scared>().sparse().on_insert(changed).on_remove(changed);
    world_.define<hungry>().sparse().on_insert(changed).on_remove(changed);
    world_.define<bitten>().sparse().on_insert(changed).on_remove(changed);
    world_.define<meal>().sparse().on_insert(changed).on_remove(changed);
}

muster::world& simulation::populate(std::size_t entities, std::uint64_t seed) {
    watch();
    const shares parts(entities);
    const country land = make_country(entities, seed);
    world_.set_single(land);
    world_.set_single(make_sky());
    world_.set_single(bird_grid(land, 7));
    world_.set_single(insect_grid(land, 10));
    world_.set_single(hawk_grid(land, 20));

    dice d = dice::seeded(seed);
    const auto anywhere = [&] {
        return position{d.between(0, land.width), d.between(0, land.height)};
    };

    // Prefabs: queries do not find them, and their clones are no prefabs.
    const entity insect_prefab = world_.spawn(position{0, 0}, age{0}, insect{}, muster::prefab);
    world_.name(insect_prefab, "insect");
    for (const entity e : world_.clone_many(parts.insects, insect_prefab)) {
        world_.get<position>(e) = anywhere();
        world_.get<age>(e).frames = static_cast<std::int32_t>(d.next() % 120);
    }
    const entity hawk_prefab =
        world_.spawn(position{0, 0}, velocity{0, 0}, steering{0, 0}, wings{110, 200}, energy{1},
                     dice{1}, hawk{}, muster::prefab);
    world_.name(hawk_prefab, "hawk");
    for (std::size_t i = 0; i < parts.hawks; ++i) {
        // Not among the arguments: their order of evaluation differs between compilers.
        const position p = anywhere();
        const velocity v{d.between(-100, 100), d.between(-100, 100)};
        world_.clone(hawk_prefab, p, v, dice::seeded(seed + (i << 20)));
    }

    const sky& above = world_.single<sky>();
    world_.spawn_rows(
        parts.birds,
        [&](muster::rows r) {
            const auto p = r.components<position>();
            const auto v = r.components<velocity>();
            const auto left = r.components<energy>();
            const auto old = r.components<age>();
            const auto of = r.components<flock>();
            const auto own = r.components<dice>();
            for (std::size_t i = 0; i < r.size(); ++i) {
                of[i].number = static_cast<std::uint8_t>(i * flocks / r.size());
                // Mostly around the place where the flock will gather.
                const orbit& wide = above.wide[of[i].number];
                const orbit& high = above.high[of[i].number];
                const position to{land.width * (0.5f + 0.36f * wide.cosine),
                                  land.height * (0.5f + 0.34f * high.sine)};
                const float part = 1 - d.roll() * d.roll();
                const position from = anywhere();
                p[i] = {to.x + (from.x - to.x) * part * 0.55f,
                        to.y + (from.y - to.y) * part * 0.55f};
                v[i] = {d.between(-60, 60), d.between(-60, 60)};
                left[i].left = d.between(0.3f, 0.85f);
                old[i].frames = static_cast<std::int32_t>(d.next() % 220);
                own[i] = dice::seeded(seed * 31 + i);
            }
        },
        position{}, velocity{}, steering{}, wings{75, 190}, energy{}, age{}, flock{}, dice{});
    return world_;
}

void simulation::step() {
    weather_.begin();  // records while the frame is computed
    world_.par_process_all(threads_, frame_seconds);
    weather_.apply();
}

population simulation::census() {
    population found{};
    found.birds = world_.count<flock>();
    found.insects = world_.query<const position>().with<insect>().count();
    found.hawks = world_.query<const position>().with<hawk>().count();
    found.gusts = world_.count<gust>();
    found.scared = world_.count<scared>();
    found.hungry = world_.count<hungry>();
    world_.query<const position>().each_chunk([&](muster::chunk_view) { ++found.chunks; });
    return found;
}

std::uint64_t simulation::hash() {
    std::uint64_t sum = 0xcbf29ce484222325u;
    const auto add = [&](std::initializer_list<std::uint32_t> words) {
        for (const std::uint32_t word : words)
            sum = (std::rotl(sum, 5) ^ word) * 0x9e3779b97f4a7c15u;
    };
    const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    world_.query<const position, const velocity, const flock, const energy, const age, const dice>()
        .each([&](const position& p, const velocity& v, const flock& f, const energy& left,
                  const age& old, const dice& d) {
            add({bits(p.x), bits(p.y), bits(v.x), bits(v.y), f.number, bits(left.left),
                 static_cast<std::uint32_t>(old.frames), d.state});
        });
    world_.query<const position, const velocity, const energy, const dice>().with<hawk>().each(
        [&](const position& p, const velocity& v, const energy& left, const dice& d) {
            add({bits(p.x), bits(p.y), bits(v.x), bits(v.y), bits(left.left), d.state});
        });
    world_.query<const position>().with<insect>().each(
        [&](const position& p) { add({bits(p.x), bits(p.y)}); });
    world_.query<const position, const gust>().each([&](const position& p, const gust& g) {
        add({bits(p.x), bits(p.y), bits(g.radius), bits(g.left)});
    });
    // Sparse states in slot order; the position identifies the entity, since ids are left out.
    world_.each(
        [&](const scared& s, const position& p) { add({bits(s.left), bits(p.x), bits(p.y)}); });
    world_.each([&](const hungry& h, const position& p) {
        const position* const to = world_.try_get<position>(h.meal);
        add({bits(p.x), bits(p.y), to == nullptr ? 0 : bits(to->x),
             to == nullptr ? 0 : bits(to->y)});
    });
    return sum;
}

std::size_t simulation::lies() {
    std::size_t found = 0;
    for (const entity e : counts_.graves) found += world_.alive(e) ? 1u : 0u;
    world_.query<const position>().each(
        [&](entity e, const position&) { found += world_.alive(e) ? 0u : 1u; });
    return found;
}

}  // namespace demo
