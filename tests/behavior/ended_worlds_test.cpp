// What happens to handles when their world ends: as members, in destructors, in open scopes.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;

struct position {
    float x = 0;
};
struct velocity {
    float x = 1;
};
struct frozen {};

// ---- handles as members ------------------------------------------------------------------------

struct ai {
    muster::query<position, const velocity> moving;
    muster::system think;
    muster::scoped_connection hook;
    muster::observer<position> seen;
};

TEST(handles_as_members, are_null_until_they_are_assigned) {
    ai mine;
    EXPECT_EQ(code_of([&] { (void)mine.moving.count(); }), errc::null_handle);
    EXPECT_FALSE(mine.think);
    EXPECT_FALSE(mine.hook.connected());
    EXPECT_TRUE(mine.seen.empty());

    world w;
    int hooks = 0;
    mine.moving = w.query<position, const velocity>().without<frozen>();
    mine.think = w.system("think").each([](position& p, const velocity& v) { p.x += v.x; });
    mine.hook = w.on_insert<position>([&] { ++hooks; });
    mine.seen = w.observer<position>().without<frozen>();
    const entity e = w.spawn(position{1}, velocity{2});
    w.spawn(position{1}, velocity{2}, frozen{});
    w.process(mine.think);
    EXPECT_EQ(w.get<position>(e).x, 3);
    EXPECT_EQ(mine.moving.count(), 1u);
    EXPECT_EQ(hooks, 2);
    int shown = 0;
    mine.seen.each([&](entity seen, position&) { shown += seen == e; });
    EXPECT_EQ(shown, 1);

    ai other = std::move(mine);
    EXPECT_FALSE(mine.hook.connected());
    EXPECT_TRUE(other.hook.connected());
    mine = std::move(other);
    mine = {};
    w.spawn(position{});
    EXPECT_EQ(hooks, 2);
    static_assert(std::is_same_v<system_handle, muster::system>);
}

TEST(handles_as_members, may_outlive_several_worlds) {
    ai mine;
    int hooks = 0;
    for (int i = 0; i < 3; ++i) {
        world w;
        mine.moving = w.query<position, const velocity>();
        mine.think = w.system().each([](position& p) { p.x = 5; });
        mine.hook = w.on_insert<position>([&] { ++hooks; });
        mine.seen = w.observer<position>();
        w.spawn(position{}, velocity{});
        w.process(mine.think);
        mine.moving.each([](position& p, const velocity&) { EXPECT_EQ(p.x, 5); });
        EXPECT_EQ(mine.seen.size(), 1u);
    }
    EXPECT_EQ(hooks, 3);
    EXPECT_EQ(code_of([&] { mine.moving.each([](position&, const velocity&) {}); }),
              errc::world_ended);
    EXPECT_FALSE(mine.think);
    EXPECT_TRUE(mine.seen.empty());
}

// ---- while a world ends ------------------------------------------------------------------------

/// A component, a hook, a system, a default value or an extension that owns handles of its world
/// and uses them in its destructor.
struct owner_of_handles {
    explicit owner_of_handles(world& w, int* ended = nullptr)
        : moving(w.query<position>()),
          think(w.system().execute([] {})),
          plain(w.on_remove<velocity>([] {})),
          scoped(w.on_insert<velocity>([] {})),
          seen(w.observer<velocity>().removed<velocity>()),
          spawning(w.builder()),
          count(ended) {
        buffer = std::make_unique<command_buffer>(w);
        buffer->spawn(velocity{});
        spawning.set(velocity{});
    }
    owner_of_handles(owner_of_handles&& other) noexcept = default;
    owner_of_handles& operator=(owner_of_handles&&) = delete;
    ~owner_of_handles() {
        if (buffer == nullptr) return;  // moved from
        const auto use = [](auto call) {
            const auto code = code_of(call);
            EXPECT_TRUE(!code || *code == errc::world_ended || *code == errc::in_scope ||
                        *code == errc::unknown_system || *code == errc::dead_fragment)
                << to_string(*code);
        };
        use([&] { (void)moving.count(); });
        use([&] { moving.each([](position&) {}); });
        use([&] { moving.set(velocity{}); });
        use([&] { (void)think.name(); });
        use([&] { spawning.spawn(); });
        use([&] { buffer->spawn(position{}); });
        if (think) use([&] { think.remove(); });
        EXPECT_TRUE(seen.take().empty() || moving_works());
        plain.pause();
        plain.disconnect();
        scoped.pause();
        if (count != nullptr) ++*count;
    }
    [[nodiscard]] bool moving_works() const {
        return code_of([&] { (void)moving.count(); }) == std::nullopt;
    }

    muster::query<position> moving;
    muster::system think;
    muster::connection plain;
    muster::scoped_connection scoped;
    muster::observer<velocity> seen;
    muster::builder spawning;
    std::unique_ptr<command_buffer> buffer;
    int* count;
};

TEST(a_world_that_ends, lets_components_use_their_handles) {
    int ended = 0;
    {
        world w;
        w.spawn(position{}, velocity{});
        for (int i = 0; i < 3; ++i) w.spawn(owner_of_handles(w, &ended), velocity{});
        w.set_single(owner_of_handles(w, &ended));
        const entity e = w.spawn(owner_of_handles(w, &ended));
        w.destroy(e);
        EXPECT_EQ(ended, 1);
        w.defer();
        w.spawn(owner_of_handles(w, &ended));  // never committed
    }
    EXPECT_EQ(ended, 6);
}

TEST(a_world_that_ends, lets_sparse_components_use_their_handles) {
    int ended = 0;
    {
        world w;
        w.define<owner_of_handles>().sparse();
        w.spawn(owner_of_handles(w, &ended), position{});
        w.spawn(owner_of_handles(w, &ended));
    }
    EXPECT_EQ(ended, 2);
}

TEST(a_world_that_ends, lets_functions_and_extensions_own_handles) {
    int ended = 0;
    {
        world w;
        w.spawn(position{}, velocity{});
        const auto owned = [&] { return std::make_shared<owner_of_handles>(w, &ended); };
        w.on_insert<position>([mine = owned()] {});
        w.on_destroy([mine = owned()](entity) {});
        w.system("executes").execute([mine = owned()] {});
        w.system("loops").each([mine = owned()](position&) {});
        w.system("begins").prologue([mine = owned()] {});
        w.define<velocity>().duplicate([mine = owned()](const velocity& v) { return v; });
        struct extended {
            explicit extended(world& home, int* count = nullptr) : mine(home, count) {}
            owner_of_handles mine;
        };
        w.extension<extended>().mine.count = &ended;
        struct shared_owner {
            std::shared_ptr<owner_of_handles> mine;
        };
        w.define<shared_owner>().default_value(shared_owner{owned()});
        command_buffer recorded(w);
        recorded.spawn(owner_of_handles(w, &ended));
        w.defer();
        w.submit(recorded);  // still waits when the world ends
        w.process("executes");
    }
    EXPECT_EQ(ended, 9);
}

TEST(a_world_that_ends, lets_a_component_disconnect_a_hook_after_another_has_ended_its_observer) {
    struct watches {
        muster::observer<velocity> seen;
    };
    struct disconnects {
        muster::scoped_connection hook;
    };
    world w;
    const auto bag = w.fragment<int>("bag");
    w.spawn(watches{w.observer<velocity>().added(bag)});  // ends first: its chunk is older
    w.spawn(disconnects{w.on_insert(bag, [](entity, int&) {})});
    w.spawn(disconnects{w.on_insert<velocity>([] {})});
}

TEST(a_world_that_ends, cancels_scopes_of_objects_that_outlive_it) {
    auto w = std::make_unique<world>();
    w->spawn(position{}, velocity{});
    std::optional<deferred> outer(std::in_place, *w);
    w->defer();
    std::optional<deferred> inner(std::in_place, *w);
    std::optional<deferred> last(std::in_place, *w);
    w->spawn(std::string("dropped"));
    auto loop = std::make_unique<basic_query<layouts::bound, position>::iterator>(
        w->query<position>().begin());
    auto seen = w->observer<position>();
    w.reset();
    inner->commit();
    last->cancel();
    outer.reset();
    inner.reset();
    last.reset();
    ++*loop;
    EXPECT_TRUE(*loop == query<position>::sentinel());
    loop.reset();
    EXPECT_TRUE(seen.empty());
}

TEST(a_world_that_ends, ends_the_loop_over_its_observers) {
    auto w = std::make_unique<world>();
    auto seen = w->observer<position>();
    w->spawn_many(3, position{});
    {
        auto at = seen.begin();
        w.reset();
        ++at;
        EXPECT_TRUE(at == seen.end());
    }
    EXPECT_TRUE(seen.empty());
    w = std::make_unique<world>();
    seen = w->observer<position>();
    w->spawn_many(3, position{});
    {
        const auto at = seen.begin();
        w.reset();
    }
    EXPECT_TRUE(seen.empty());
}

// ---- many worlds -------------------------------------------------------------------------------

TEST(many_worlds, never_make_an_old_handle_valid) {
    // With the same number each time: unused numbers would last for 65,535 worlds.
    const world_options same{.number = 79};
    using small = basic_world<layouts::compact>;
    std::vector<muster::query<position>> queries;
    std::vector<connection> connections;
    std::vector<basic_query<layouts::compact, position>> others;
    for (int i = 0; i < 66'000; ++i) {
        if (i % 6'000 != 0) {
            const small w(same);
            continue;
        }
        world w(same);
        queries.push_back(w.query<position>());
        connections.push_back(w.on_insert<position>([] {}));
        small also(world_options{.number = 80});
        others.push_back(also.query<position>());
        for (std::size_t old = 0; old + 1 < queries.size(); ++old) {
            EXPECT_EQ(code_of([&] { (void)queries[old].count(); }), errc::world_ended);
            EXPECT_EQ(code_of([&] { (void)others[old].count(); }), errc::world_ended);
            EXPECT_FALSE(connections[old].connected());
        }
        EXPECT_EQ(queries.back().count(), 0u);
        EXPECT_EQ(others.back().count(), 0u);
    }
}

}  // namespace
}  // namespace muster
