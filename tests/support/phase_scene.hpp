// phase_scene: tests a call on four threads of a parallel phase at once, and in the destructor of a
// component, in the middle of a change. The call reads, or it is recorded, or it is refused and
// nothing changes.
#pragma once

#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include "support/errors.hpp"
#include "support/thread_executor.hpp"

#include <gtest/gtest.h>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster_tests::phase_scene {

using namespace muster;
using muster::test::code_of;

struct position {
    int x, y;
};
struct velocity {
    int x, y;
};
struct burning {
    int left;
};
struct path {
    std::vector<int> points;
    void push_back(int point) { points.push_back(point); }
};
struct marked {};
struct unused {
    int value;
};
struct unused_tag {};
struct counters {
    int calls = 0;
};
struct config {
    int level;
};
struct likes {  // a relation
    int strength = 0;
};
struct old_extension {};
struct new_extension {};

/// An event.
struct cry {
    std::string words;
};

/// Calls a function when it is destroyed, in the middle of a change.
struct trap {
    std::function<void()>* call = nullptr;
    explicit trap(std::function<void()>& what) : call(&what) {}
    trap(trap&& other) noexcept : call(std::exchange(other.call, nullptr)) {}
    trap& operator=(trap&& other) noexcept {
        std::swap(call, other.call);
        return *this;
    }
    ~trap() {
        if (call != nullptr) (*call)();
    }
};

}  // namespace muster_tests::phase_scene

template <>
struct muster::component_traits<muster_tests::phase_scene::burning> {
    static constexpr bool sparse = true;
};

namespace muster_tests::phase_scene {

struct open_world : world {
    auto& core() { return this->muster::detail::world_base<layouts::bound>::store_; }
};

inline constexpr unsigned thread_count = 4;

enum class stage { first, second };
enum class new_stage { first };
struct old_module {
    explicit old_module(world&) {}
};
struct new_module {
    explicit new_module(world& w) { w.system("of a new module"); }
};

/// A world with one of everything, and an own entity for each thread.
struct scene {
    open_world w;
    entity own[thread_count];
    entity bare = w.spawn();
    entity untyped = w.spawn();
    entity prototype = w.spawn(velocity{1, 1}, path{{1, 2}});
    fragment<int> health = w.fragment<int>("health");
    fragment<int> wealth = w.fragment<int>("wealth");
    entity enemy = w.tag("enemy");
    int hook_calls = 0;
    connection hook = w.on_insert<velocity>([this](entity, velocity&) { ++hook_calls; });
    connection paused_hook = w.on_remove<velocity>([this](entity, velocity&) { ++hook_calls; });
    std::optional<basic_observer<layouts::bound, position>> seen{w.observer<position>()};
    std::optional<basic_observer<layouts::bound, position>> paused{w.observer<position>()};
    std::vector<basic_observer<layouts::bound, velocity>> mine;
    std::vector<builder> builders;
    basic_query<layouts::bound, position> positions = w.query<position>();
    muster::system_handle think = w.system("think").each([](velocity& v) { v.x += 1; });
    muster::system_handle act = w.system("act").each([](velocity& v) { v.y += 1; });
    muster::chunk dense =
        muster::detail::sparse_by_default ? muster::chunk() : w.chunk<velocity, path>();
    definition<position> defined = w.define<position>();
    entity parent = w.spawn();
    entity child = w.spawn();
    event_reader<cry> heard = w.reader<cry>();
    std::vector<event_reader<cry>> ears;
    thread_executor four;

    explicit scene(unsigned threads = thread_count) : four(threads) {
        w.component<marked>();
        w.component<counters>();
        for (entity& e : own) {
            e = w.spawn(position{1, 2}, velocity{3, 4}, burning{5}, path{{6}});
            w.set(e, health, 7);
            builders.push_back(w.builder());
            builders.back().set(velocity{8, 8});
            mine.push_back(w.observer<velocity>());
            ears.push_back(w.reader<cry>());
        }
        w.define<likes>().relation();
        for (const entity e : own) w.relate<likes>(e, prototype, likes{1});
        w.relate(child_of, child, parent);
        (void)w.unrelate(is_a, child);  // creates the relation, which no call of a table shall do
        w.name(own[0], "first");
        paused_hook.pause();
        paused->pause();
        w.touch<position>(own[1]);
        w.set_single(config{1});
        w.extension<old_extension>();
        w.use<old_module>();
        w.set_state(stage::first);
        w.on_assign(health, [this](entity, int&) { ++hook_calls; });
        w.on_set<position>([this](entity, position&) { ++hook_calls; });
        w.send(cry{"first"});
        hook_calls = 0;
    }

    /// All that a call could change. Changes nothing itself, and updates no cache. Without internals:
    /// what users can see.
    [[nodiscard]] std::string dump(bool shows_internals = true) {
        std::ostringstream made;
        auto& core = w.core();
        made << "size " << w.size() << " fragments " << core.fragments.all().size() << " depth "
             << w.depth() << '\n';
        if (shows_internals)
            made << "chunks " << core.graph.all().size() << " epoch " << core.graph.epoch()
                 << " pending " << core.pending.size() << '\n';
        for (const entity e : w.entities()) {
            made << e.key() << " \"" << w.name(e) << "\" in "
                 << core.entities.locate(e.value()).row;
            if (const auto* p = w.try_get<position>(e)) made << " p" << p->x << ',' << p->y;
            if (const auto* v = w.try_get<velocity>(e)) made << " v" << v->x << ',' << v->y;
            if (const auto* b = w.try_get<burning>(e)) made << " b" << b->left;
            if (const auto* l = w.try_get<path>(e)) made << " l" << l->points.size();
            if (const int* h = w.try_get(e, health)) made << " h" << *h;
            if (const int* h = w.try_get(e, wealth)) made << " w" << *h;
            if (w.has<marked>(e)) made << " m";
            if (w.has(e, enemy)) made << " e";
            for (const entity liked : std::as_const(w).targets<likes>(e))
                made << " l" << liked.key() << '=' << w.link<likes>(e, liked).strength;
            for (const entity fan : std::as_const(w).sources<likes>(e)) made << " f" << fan.key();
            if (const entity up = w.parent(e)) made << " c" << up.key() << '/' << w.level(e);
            for (const entity below : std::as_const(w).children(e)) made << " d" << below.key();
            made << '\n';
        }
        for (const detail::fragment_data* f : core.fragments.all())
            made << f->name << ' ' << f->is_untyped << f->is_unique << f->is_hidden
                 << f->is_internal << f->hooks.kinds() << (f->sparse_values != nullptr)
                 << f->implied.size() << '\n';
        made << hook.connected() << paused_hook.connected() << seen->connected() << seen->size()
             << paused->connected() << ' ' << (think && think.is_enabled())
             << bool(w.find_system("new")) << bool(w.find_system("think")) << ' '
             << w.has_single<counters>() << w.has_single<config>()
             << (w.find_extension<new_extension>() != nullptr) << w.has_module<new_module>() << ' '
             << (code_of([&] { (void)w.state<stage>(); }) ? -1 : static_cast<int>(w.state<stage>()))
             << ' ' << hook_calls << " heard " << heard.size();
        return made.str();
    }
};

enum class outcome {
    reads,
    recorded,
    refused,        // throws `errc::in_scope`
    returns_false,  // never throws, and does nothing
};

struct row {
    const char* name;
    outcome in_phase;
    std::function<bool(scene&, entity, unsigned)> call;
    bool is_refused_in_change = true;  // for `refused` and `recorded`
};

/// A call without a result.
template <class Call>
std::function<bool(scene&, entity, unsigned)> doing(Call call) {
    return [call](scene& s, entity e, unsigned thread) {
        if constexpr (std::is_invocable_v<Call, scene&, entity, unsigned>)
            call(s, e, thread);
        else
            call(s, e);
        return true;
    };
}

template <class T>
T copy_of(const T& value) {
    return value;
}

inline constexpr bool also_in_change = false;  // the call is allowed there

/// Makes the call on four threads at the same time. Returns how often it had the outcome.
inline int call_in_phase(scene& s, const row& tested, bool fails_at_end) {
    std::barrier all_here(thread_count);
    std::atomic<int> good = 0;
    std::atomic<unsigned> next = 0;
    const auto visit = [&](entity e, const position&) {
        const unsigned thread = next++;
        all_here.arrive_and_wait();  // so that each thread has a row
        bool result = true;
        const std::optional<errc> thrown = code_of([&] { result = tested.call(s, e, thread); });
        switch (tested.in_phase) {
        case outcome::reads:
        case outcome::recorded: good += !thrown && result; break;
        case outcome::refused: good += thrown == errc::in_scope; break;
        case outcome::returns_false: good += !thrown && !result;
        }
        all_here.arrive_and_wait();
        if (fails_at_end) throw std::runtime_error("end");
    };
    try {
        s.positions.par_each(s.four, 1, visit);
    } catch (const std::runtime_error& caught) {
        EXPECT_STREQ(caught.what(), "end");
    }
    return good;
}

inline void test_in_phase(const row& tested) {
    scene s;
    const std::string before = s.dump();
    const bool is_recorded = tested.in_phase == outcome::recorded;
    EXPECT_EQ(call_in_phase(s, tested, is_recorded), 4);
    EXPECT_EQ(s.dump(), before) << (is_recorded ? "although the phase failed" : "");
    if (is_recorded) {
        EXPECT_EQ(call_in_phase(s, tested, false), 4);
        EXPECT_NE(s.dump(), before);
    }
    // The world works.
    s.w.set(s.w.spawn(position{}), velocity{});
    s.w.process_all();
    s.w.reset();
    EXPECT_EQ(s.w.size(), 0u);
}

inline void test_in_change(const row& tested) {
    scene s;
    std::optional<errc> thrown;
    std::function<void()> call = [&] { thrown = code_of([&] { tested.call(s, s.own[1], 0); }); };
    const entity armed = s.w.spawn(trap(call));
    const std::string before = s.dump();
    s.w.remove<trap>(armed);
    s.w.component<trap>();
    EXPECT_EQ(thrown, errc::in_scope);
    // Removing the trap changes nothing that the dump shows but the row of `armed`.
    EXPECT_EQ(s.dump(), before);
}

inline void test_all(const std::vector<row>& rows) {
    for (const row& tested : rows) {
        SCOPED_TRACE(tested.name);
        test_in_phase(tested);
        const bool is_change =
            tested.in_phase == outcome::refused || tested.in_phase == outcome::recorded;
        if (is_change && tested.is_refused_in_change) test_in_change(tested);
    }
}

}  // namespace muster_tests::phase_scene
