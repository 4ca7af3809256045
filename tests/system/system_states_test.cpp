// Systems in rare states: queries of another world, cycles and groups in odd orders, systems that end while several
// run, payloads that do not fit, and lists without a system.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

namespace muster {
namespace {

using muster_tests::thread_executor;
using test::code_of;
using test::sentence_of;

struct place {
    int x = 0;
};
struct speed {
    int x = 0;
};

TEST(system_states, a_query_of_another_world_is_refused) {
    world w;
    world other;
    auto foreign = other.query<place>();
    EXPECT_EQ(code_of([&] { (void)w.system("walk").query(foreign); }), errc::foreign_entity);
    EXPECT_NE(sentence_of([&] { (void)w.system("walk").query(foreign); }).find("\"walk\""),
              std::string::npos);
    EXPECT_EQ(code_of([&] { (void)other.system("walk").query(foreign); }), std::nullopt);
}

TEST(system_states, a_real_number_fits_a_float_within_its_range) {
    world w;
    w.spawn(place{1});
    float seen = 0;
    auto takes = w.system("takes").each([&](place&, float given) { seen = given; });
    w.process_with(takes, 0.1);
    EXPECT_FLOAT_EQ(seen, 0.1F);
    w.process_with(takes, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(seen, -std::numeric_limits<float>::infinity());
    EXPECT_EQ(code_of([&] { w.process_with(takes, 1e300); }), errc::bad_payload);
    EXPECT_EQ(code_of([&] { w.process_with(takes, -1e300); }), errc::bad_payload);
    w.process_with(takes, std::uint64_t{1} << 40);
    EXPECT_EQ(seen, 1099511627776.0F);
    EXPECT_EQ(code_of([&] { w.process_with(takes, (std::uint64_t{1} << 40) + 1); }),
              errc::bad_payload);
    EXPECT_EQ(code_of([&] { w.process_with(takes, (std::int64_t{1} << 40) + 1); }),
              errc::bad_payload);
}

TEST(system_states, a_cycle_is_found_behind_systems_that_run) {
    for (const bool free_first : {false, true}) {
        world w;
        w.system("free").execute([] {});
        auto a = w.system("a").execute([] {});
        auto b = w.system("b").execute([] {});
        if (free_first) {
            a.after("free").after("b");
            b.after("free").after("a");
        } else {
            a.after("b").after("free");
            b.after("a").after("free");
        }
        EXPECT_EQ(code_of([&] { w.process_all(); }), errc::system_circle);
        const std::string sentence = sentence_of([&] { w.process_all(); });
        EXPECT_EQ(sentence.find("free"), std::string::npos) << sentence;
    }
}

TEST(system_states, a_group_runs_before_its_members_also_if_they_say_so) {
    world w;
    std::string log;
    auto group = w.system("all").prologue([&] { log += "("; }).epilogue([&] { log += ")"; });
    w.system("member").group("all").execute([&] { log += "m"; });
    group.before("member");
    w.process_all();
    EXPECT_EQ(log, "(m)");
}

TEST(system_states, a_system_may_end_while_several_run) {
    world w;
    for (int i = 0; i < 4; ++i) w.spawn(place{i}, speed{1});
    thread_executor threads(2);
    std::string log;
    auto last = w.system("last").after("killer").each([](place& p) { p.x += 100; });
    auto killer = w.system("killer").execute([&] {
        if (log.empty()) last.remove();
        log += "k";
    });
    w.system("moves").each([](place& p, const speed& s) { p.x += s.x; });
    w.par_process_all(threads);
    EXPECT_EQ(log, "k");
    int sum = 0;
    w.each([&](const place& p) { sum += p.x; });
    EXPECT_EQ(sum, 6 + 4);
    w.par_process(threads);  // none
    w.par_process_all(threads);
    EXPECT_EQ(log, "kk");
    killer.remove();
    w.par_process_all(threads);
    EXPECT_EQ(log, "kk");
}

TEST(system_states, two_systems_with_several_conflicts_are_listed_with_the_first) {
    world w;
    w.system("a").each([](const place&, speed&) {});
    w.system("b").each([](const place&, speed&) {});
    w.system("c").each([](place&) {});
    const auto found = w.system_conflicts();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].first, "a");
    EXPECT_EQ(found[0].second, "b");
    EXPECT_NE(std::string(found[0].component).find("speed"), std::string::npos);
    EXPECT_NE(std::string(found[1].component).find("place"), std::string::npos);
}

TEST(system_states, the_group_of_an_id_ends_with_its_systems) {
    world w;
    const entity physics = w.tag("physics");
    std::string log;
    auto member = w.system("member").group(physics).execute([&] { log += "m"; });
    w.process(physics);
    EXPECT_EQ(log, "m");
    member.remove();
    w.process(physics);
    w.destroy(physics);
    EXPECT_EQ(log, "m");
}

}  // namespace
}  // namespace muster
