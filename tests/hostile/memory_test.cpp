// Memory runs out at each allocation of every public call, in every place. The call changes nothing, and the world
// works afterwards.
#include "places.hpp"

#include "support/trouble.hpp"

#include <algorithm>
#include <new>

using namespace muster_tests::hostile;
using muster::test::allocations;

namespace {

struct result {
    bool has_failed = false;  // the allocation was refused
    bool is_thrown = false;   // and the call or the place has thrown `std::bad_alloc`
    std::string seen;
};

enum class when { in_the_call, in_the_place };

/// Makes a call in a place. The allocation with this number fails; -1: none.
result make_call(const place& where, const row* tested, int number, when starts) {
    result made;
    scene s(1);
    where.prepare(s, s.own[1]);
    const auto attempt = [&](const auto& call) {
        try {
            (void)code_of(call);
        } catch (const std::bad_alloc&) {
            made.is_thrown = true;
        }
    };
    const std::function<void()> run = [&] {
        if (tested == nullptr) return;
        if (starts == when::in_the_call && number >= 0) allocations.start(number);
        attempt([&] { (void)tested->call(s, s.own[1], 1); });
        if (starts == when::in_the_call) {
            allocations.stop();
            made.has_failed = allocations.has_struck();
        }
    };
    if (starts == when::in_the_place && number >= 0) allocations.start(number);
    attempt([&] { where.enter(s, s.own[1], run); });
    if (starts == when::in_the_place) {
        allocations.stop();
        made.has_failed = allocations.has_struck();
    }
    while (s.w.depth() != 0) s.w.commit();  // the call was `defer`
    made.seen = look(s);
    expect_consistent(s);
    expect_usable(s);
    return made;
}

/// Calls that change several chunks or entities, one after the other. Each of these changes completely
/// or not at all; see the comments of the calls.
bool is_in_steps(const row& tested) {
    const std::string_view name = tested.name;
    if (muster::detail::sparse_by_default &&
        (name.starts_with("query::") || name == "clear_fragment" || name == "copy_fragment"))
        return true;
    return name == "destroy_if" || name == "reset" || name == "each with changes" ||
           name == "query::clear" || name == "batch by link" || name == "clear<T>" ||
           name == "par_process_all";
}

class hostile_memory : public testing::TestWithParam<place> {};
INSTANTIATE_TEST_SUITE_P(everywhere, hostile_memory, testing::ValuesIn(all_places()), name_of);

TEST_P(hostile_memory, a_call_that_runs_out_of_memory_changes_nothing) {
    const place& where = GetParam();
    const result without = make_call(where, nullptr, -1, when::in_the_call);
    for (const row* tested : calls_with_turn(where, 8)) {
        SCOPED_TRACE(tested->name);
        const result with = make_call(where, tested, -1, when::in_the_call);
        for (int number = 0;; ++number) {
            const result now = make_call(where, tested, number, when::in_the_call);
            if (!now.has_failed) break;
            SCOPED_TRACE(number);
            if (!is_in_steps(*tested))
                EXPECT_EQ(now.seen, now.is_thrown ? without.seen : with.seen);
        }
    }
}

TEST(hostile_memory_of_buffers, the_size_of_the_world_stays_right) {
    using call = void (*)(world&, command_buffer&);
    for (const call use : {call([](world& w, command_buffer& b) { w.submit(b); }),
                           call([](world& w, command_buffer& b) {
                               b.discard();
                               w.apply_submitted();
                           }),
                           call([](world& w, command_buffer& b) {
                               b.discard();
                               w.collect_garbage();
                           }),
                           call([](world& w, command_buffer& b) {
                               b.discard();
                               (void)code_of([&] { w.spawn_at(entity::pack(70, 0, w.number())); });
                           }),
                           call([](world& w, command_buffer&) { w.spawn_many(100, velocity{}); })})
        for (int number = 0;; ++number) {
            SCOPED_TRACE(number);
            world w;
            w.spawn_many(3, velocity{});
            command_buffer b{w};
            for (int i = 0; i < 3; ++i) b.spawn(velocity{});
            allocations.start(number);
            try {
                use(w, b);
            } catch (const std::bad_alloc&) {
            }
            allocations.stop();
            std::size_t living = 0;
            for (const entity e : w.entities()) living += w.alive(e);
            EXPECT_EQ(w.size(), living);
            EXPECT_EQ(w.count<velocity>(), living) << "none of these has lost its components";
            if (!allocations.has_struck()) break;
        }
}

TEST_P(hostile_memory, a_place_that_runs_out_of_memory_leaves_the_world_usable) {
    const place& where = GetParam();
    std::vector<const row*> some = calls_with_turn(where, 80);
    some.resize(std::min(some.size(), std::size_t{3}));
    some.push_back(nullptr);
    for (const row* tested : some) {
        SCOPED_TRACE(tested == nullptr ? "no call" : tested->name);
        for (int number = 0;; ++number) {
            SCOPED_TRACE(number);
            if (!make_call(where, tested, number, when::in_the_place).has_failed) break;
        }
    }
}

}  // namespace
