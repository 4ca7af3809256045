// Every public call, made by four threads of a parallel phase at once: it reads, it is recorded, or it is refused
// and nothing changes. The thread sanitizer sees the calls that touch the world before they refuse.
#include "support/public_calls.hpp"

using namespace muster_tests::phase_scene;

namespace {

TEST(phase_calls, about_entities) {
    test_all(public_calls::about_entities());
}
TEST(phase_calls, about_spawning) {
    test_all(public_calls::about_spawning());
}
TEST(phase_calls, about_fragments_and_chunks) {
    test_all(public_calls::about_fragments_and_chunks());
}
TEST(phase_calls, about_components) {
    test_all(public_calls::about_components());
}
TEST(phase_calls, about_values_of_fragments) {
    test_all(public_calls::about_values_of_fragments());
}
TEST(phase_calls, about_relations) {
    test_all(public_calls::about_relations());
}
TEST(phase_handles, queries) {
    test_all(public_calls::queries());
}
TEST(phase_handles, hooks) {
    test_all(public_calls::hooks());
}
TEST(phase_handles, observers) {
    test_all(public_calls::observers());
}
TEST(phase_handles, events) {
    test_all(public_calls::events());
}
TEST(phase_handles, systems) {
    test_all(public_calls::systems());
}
TEST(phase_handles, scopes_buffers_and_extensions) {
    test_all(public_calls::scopes_buffers_and_extensions());
}

TEST(phase_handles, an_observer_that_is_destroyed_in_a_phase_is_removed_at_its_end) {
    scene s;
    const unsigned before =
        s.w.core().fragments.find(s.w.component<velocity>().id().value())->hooks.kinds();
    EXPECT_EQ(
        call_in_phase(s, {"~observer", outcome::reads, doing([](scene& all, entity e, unsigned t) {
                              const auto gone = std::move(all.mine[t]);
                              all.w.set(e, velocity{1, 1});
                          })},
                      false),
        4);
    const unsigned after =
        s.w.core().fragments.find(s.w.component<velocity>().id().value())->hooks.kinds();
    EXPECT_NE(before, after);  // no one observes velocity any more
    s.w.set(s.own[0], velocity{2, 2});
}

TEST(phase_handles, a_scoped_connection_that_is_destroyed_in_a_phase_disconnects_at_its_end) {
    scene s;
    int calls = 0;
    std::vector<muster::scoped_connection> hooks;
    for (int i = 0; i < 8; ++i)
        hooks.emplace_back(s.w.on_insert<marked>([&](entity, marked&) { ++calls; }));
    const muster::connection first = s.w.on_insert<marked>([&](entity, marked&) { calls += 100; });
    std::atomic<unsigned> next{0};
    s.positions.par_each(s.four, 1, [&](entity e, const position&) {
        for (unsigned i = next++; i < 7; i = next++) {
            hooks[i] = {};
            s.w.add<marked>(e);
        }
    });
    const int during = calls;
    EXPECT_EQ(during % 101, 0) << "the remaining hook and the connection see each insertion";
    EXPECT_GT(during, 0);
    s.w.add<marked>(s.w.spawn());
    EXPECT_EQ(calls, during + 101);
    hooks.clear();
    s.w.add<marked>(s.w.spawn());
    EXPECT_EQ(calls, during + 201);
    EXPECT_TRUE(first.connected());
}

}  // namespace
