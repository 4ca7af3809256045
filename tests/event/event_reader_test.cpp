// Events: who sees which, in which order and how often; how long they are kept.
#include <muster/muster.hpp>

#include "support/errors.hpp"
#include "support/kinds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace muster {
namespace {

using test::code_of;

struct damage {
    int amount = 0;
};
struct other {
    int value = 0;
};
struct position {
    int x = 0;
};

using numbers = std::vector<int>;

numbers read(event_reader<damage>& from) {
    numbers made;
    for (const damage& d : from) made.push_back(d.amount);
    return made;
}

TEST(event_reader, sees_each_event_once_in_order) {
    world w;
    auto hits = w.reader<damage>();
    w.send(damage{1});
    w.send(damage{2});
    EXPECT_EQ(hits.size(), 2u);
    EXPECT_EQ(read(hits), (numbers{1, 2}));
    EXPECT_TRUE(hits.empty());
    EXPECT_EQ(read(hits), numbers{});
    w.send(damage{3});
    EXPECT_EQ(read(hits), numbers{3});
}

TEST(event_reader, sees_later_events_only) {
    world w;
    auto first = w.reader<damage>();
    w.send(damage{1});
    auto second = w.reader<damage>();
    w.send(damage{2});
    EXPECT_EQ(read(second), numbers{2});
    EXPECT_EQ(read(first), (numbers{1, 2}));
}

TEST(event_reader, readers_do_not_affect_each_other) {
    world w;
    auto a = w.reader<damage>();
    auto b = w.reader<damage>();
    auto c = w.reader<other>();
    w.send(damage{1});
    w.send(other{9});
    EXPECT_EQ(read(a), numbers{1});
    EXPECT_EQ(b.size(), 1u);
    EXPECT_EQ(c.size(), 1u);
    w.send(damage{2});
    EXPECT_EQ(read(b), (numbers{1, 2}));
    EXPECT_EQ(read(a), numbers{2});
}

TEST(event_reader, an_event_without_readers_is_dropped) {
    world w;
    auto watched = std::make_shared<int>(1);
    w.send(std::shared_ptr<int>(watched));
    EXPECT_EQ(watched.use_count(), 1);
    w.defer();
    w.send(std::shared_ptr<int>(watched));
    EXPECT_EQ(watched.use_count(), 1);
    w.commit();
    auto late = w.reader<std::shared_ptr<int>>();
    EXPECT_TRUE(late.empty());
    w.send(watched);
    EXPECT_EQ(watched.use_count(), 2);
    late = {};
    EXPECT_EQ(watched.use_count(), 1);
}

TEST(event_reader, a_loop_that_ends_early_leaves_the_rest) {
    world w;
    auto hits = w.reader<damage>();
    for (int i = 1; i <= 5; ++i) w.send(damage{i});
    for (const damage& d : hits)
        if (d.amount == 2) break;
    EXPECT_EQ(hits.size(), 3u);
    EXPECT_EQ(read(hits), (numbers{3, 4, 5}));
}

TEST(event_reader, an_iterator_passes_events_one_by_one) {
    world w;
    auto hits = w.reader<damage>();
    for (int i = 1; i <= 3; ++i) w.send(damage{i});
    {
        auto at = hits.begin();
        EXPECT_EQ(hits.size(), 3u);
        ++at;
        EXPECT_EQ(hits.size(), 2u);
        EXPECT_EQ(at->amount, 2);
        EXPECT_EQ(hits.size(), 1u);
    }
    EXPECT_EQ(read(hits), numbers{3});
}

TEST(event_reader, an_event_whose_loop_throws_is_seen) {
    world w;
    auto hits = w.reader<damage>();
    for (int i = 1; i <= 3; ++i) w.send(damage{i});
    EXPECT_THROW(
        {
            for (const damage& d : hits)
                if (d.amount == 2) throw std::runtime_error("no");
        },
        std::runtime_error);
    EXPECT_EQ(read(hits), numbers{3});
}

TEST(event_reader, events_sent_while_reading_come_in_the_next_loop) {
    world w;
    auto hits = w.reader<damage>();
    w.send(damage{1});
    w.send(damage{2});
    numbers seen;
    for (const damage& d : hits) {
        seen.push_back(d.amount);
        for (int i = 0; i < 1000; ++i) w.send(damage{d.amount * 10});
        EXPECT_LE(d.amount, 2);  // it has not moved
    }
    EXPECT_EQ(seen, (numbers{1, 2}));
    EXPECT_EQ(hits.size(), 2000u);
    seen = read(hits);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 20), 1000);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(event_reader, inner_loops_share_what_they_show) {
    world w;
    auto hits = w.reader<damage>();
    for (int i = 1; i <= 100; ++i) w.send(damage{i});
    numbers seen;
    for (const damage& outer : hits) {
        seen.push_back(outer.amount);
        for (const damage& inner : hits) {
            seen.push_back(inner.amount);
            if (inner.amount % 10 == 0) break;
        }
    }
    numbers all(100);
    for (int i = 0; i < 100; ++i) all[static_cast<std::size_t>(i)] = i + 1;
    EXPECT_EQ(seen, all);
}

TEST(event_reader, clear_passes_all_events) {
    world w;
    auto hits = w.reader<damage>();
    w.send(damage{1});
    EXPECT_TRUE(hits.clear());
    EXPECT_TRUE(hits.empty());
    w.send(damage{2});
    for (const damage& d : hits) {
        EXPECT_EQ(d.amount, 2);
        w.send(damage{3});
        hits.clear();
    }
    EXPECT_TRUE(hits.empty());
}

TEST(event_reader, can_be_moved_and_assigned) {
    world w;
    auto a = w.reader<damage>();
    w.send(damage{1});
    event_reader<damage> b = std::move(a);
    EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): it reads nothing now
    EXPECT_EQ(read(b), numbers{1});
    a = w.reader<damage>();
    w.send(damage{2});
    b = std::move(a);
    EXPECT_EQ(read(b), numbers{2});
    b = {};
    EXPECT_TRUE(b.empty());
}

TEST(event_reader, a_null_reader_is_empty) {
    event_reader<damage> none;
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.size(), 0u);
    EXPECT_TRUE(none.clear());
    EXPECT_EQ(read(none), numbers{});
}

TEST(event_reader, may_outlive_its_world) {
    event_reader<damage> kept;
    event_reader<std::shared_ptr<int>> pointers;
    auto watched = std::make_shared<int>(1);
    {
        world w;
        kept = w.reader<damage>();
        pointers = w.reader<std::shared_ptr<int>>();
        w.send(damage{1});
        w.send(watched);
    }
    EXPECT_EQ(watched.use_count(), 1);
    EXPECT_TRUE(kept.empty());
    EXPECT_EQ(read(kept), numbers{});
    world second;
    second.send(damage{2});
    EXPECT_TRUE(kept.empty());
    kept = second.reader<damage>();
    second.send(damage{3});
    EXPECT_EQ(read(kept), numbers{3});
}

TEST(event_reader, its_world_may_end_while_it_reads) {
    std::optional<world> w(std::in_place);
    auto hits = w->reader<damage>();
    for (int i = 1; i <= 3; ++i) w->send(damage{i});
    int calls = 0;
    for ([[maybe_unused]] const damage& d : hits) {
        ++calls;
        w.reset();
    }
    EXPECT_EQ(calls, 1);
    EXPECT_TRUE(hits.empty());
}

TEST(event_reader, its_world_may_end_at_any_event) {
    for (const int end : {1, 2, 63, 64, 127, 128, 129, 200, 256}) {
        std::optional<world> w(std::in_place);
        auto hits = w->reader<std::array<char, 16>>();
        for (int i = 0; i < 300; ++i) w->send(std::array<char, 16>{});
        int calls = 0;
        for ([[maybe_unused]] const auto& event : hits)
            if (++calls == end) w.reset();
        EXPECT_EQ(calls, end);
    }
}

TEST(event_reader, may_be_destroyed_while_it_reads) {
    world w;
    auto watched = std::make_shared<int>(1);
    std::optional<event_reader<std::shared_ptr<int>>> hits(w.reader<std::shared_ptr<int>>());
    for (int i = 0; i < 3; ++i) w.send(watched);
    int calls = 0;
    for (const auto& event : *hits) {
        ++calls;
        hits.reset();
        EXPECT_EQ(*event, 1);
    }
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(watched.use_count(), 1);
}

// ---- frames ------------------------------------------------------------------------------------

TEST(event_frames, an_event_is_kept_until_all_readers_have_seen_it) {
    world w;
    auto watched = std::make_shared<int>(1);
    using event = std::shared_ptr<int>;
    auto a = w.reader<event>();
    auto b = w.reader<event>();
    w.send(watched);
    for (const event& e : a) EXPECT_EQ(*e, 1);
    EXPECT_EQ(watched.use_count(), 2);
    w.end_frame();
    EXPECT_EQ(watched.use_count(), 2);
    for (const event& e : b) {
        EXPECT_EQ(*e, 1);
        EXPECT_EQ(watched.use_count(), 2);
    }
    EXPECT_EQ(watched.use_count(), 1);
}

TEST(event_frames, a_program_without_frames_keeps_only_what_a_reader_has_not_seen) {
    world w;
    auto watched = std::make_shared<int>(1);
    using event = std::shared_ptr<int>;
    auto reader = w.reader<event>();
    int calls = 0;
    w.system("a").each_event([&](const event&) { ++calls; });
    w.system("b").execute([&](events<const event> all) {
        for ([[maybe_unused]] const event& e : all) ++calls;
    });
    for (int i = 0; i < 100; ++i) {
        w.send(watched);
        w.process("a", "b");
        for (const event& e : reader) calls += *e;
        EXPECT_LE(watched.use_count(), 3);
    }
    EXPECT_EQ(calls, 300);
}

TEST(event_frames, an_event_is_kept_at_most_two_frames) {
    world w;
    auto hits = w.reader<damage>();
    w.send(damage{1});
    w.end_frame();
    EXPECT_EQ(hits.size(), 1u);
    w.send(damage{2});
    w.end_frame();
    EXPECT_EQ(read(hits), numbers{2});
    w.send(damage{3});
    w.process_all();
    w.process_all();
    EXPECT_TRUE(hits.empty());
}

TEST(event_frames, process_does_not_end_a_frame_and_process_all_does) {
    world w;
    w.system("nothing").execute([] {});
    auto hits = w.reader<damage>();
    w.send(damage{1});
    for (int i = 0; i < 5; ++i) w.process("nothing");
    w.process_all();
    EXPECT_EQ(hits.size(), 1u);
    w.process_all();
    EXPECT_EQ(hits.size(), 0u);
}

TEST(event_frames, a_frame_ends_even_if_a_system_throws) {
    world w;
    w.system("bad").execute([] { throw std::runtime_error("no"); });
    auto hits = w.reader<damage>();
    w.send(damage{1});
    EXPECT_THROW(w.process_all(), error);
    EXPECT_THROW(w.process_all(), error);
    EXPECT_TRUE(hits.empty());
}

TEST(event_frames, a_frame_that_ends_while_reading_drops_nothing_that_is_visited) {
    world w;
    auto hits = w.reader<std::string>();
    for (int i = 0; i < 3; ++i) w.send(std::string(100, 'x'));
    int calls = 0;
    for (const std::string& event : hits) {
        w.end_frame();
        w.end_frame();
        w.end_frame();
        EXPECT_EQ(event.size(), 100u);
        ++calls;
    }
    EXPECT_EQ(calls, 3);
}

TEST(event_frames, many_events_of_many_frames_need_memory_of_two) {
    world w;
    auto hits = w.reader<std::array<char, 100>>();
    for (int frame = 0; frame < 1000; ++frame) {
        for (int i = 0; i < 100; ++i) w.send(std::array<char, 100>{});
        w.end_frame();
        EXPECT_LE(hits.size(), 200u);
    }
    hits.clear();
    w.end_frame();
    EXPECT_EQ(hits.size(), 0u);
}

TEST(event_frames, end_frame_may_be_called_in_a_scope) {
    world w;
    auto hits = w.reader<damage>();
    w.send(damage{1});
    w.defer();
    w.send(damage{2});
    w.end_frame();
    w.end_frame();
    w.commit();
    EXPECT_EQ(read(hits), numbers{2});
}

// ---- scopes ------------------------------------------------------------------------------------

TEST(event_scopes, a_commit_delivers_and_a_cancel_drops) {
    world w;
    auto hits = w.reader<damage>();
    w.defer();
    w.send(damage{1});
    EXPECT_TRUE(hits.empty());
    w.commit();
    EXPECT_EQ(read(hits), numbers{1});
    w.defer();
    w.send(damage{2});
    w.cancel();
    EXPECT_TRUE(hits.empty());
    w.send(damage{3});
    EXPECT_EQ(read(hits), numbers{3});
}

TEST(event_scopes, an_inner_cancel_drops_only_its_events) {
    world w;
    auto hits = w.reader<damage>();
    auto more = w.reader<other>();
    w.defer();
    w.send(damage{1});
    w.defer();
    w.send(damage{2});
    w.send(other{2});
    w.cancel();
    w.send(damage{3});
    w.defer();
    w.send(damage{4});
    w.commit();
    EXPECT_TRUE(hits.empty());
    w.commit();
    EXPECT_EQ(read(hits), (numbers{1, 3, 4}));
    EXPECT_TRUE(more.empty());
}

TEST(event_scopes, cancels_drop_the_values) {
    world w;
    auto watched = std::make_shared<int>(1);
    using event = std::shared_ptr<int>;
    auto hits = w.reader<event>();
    w.defer();
    for (int i = 0; i < 1000; ++i) w.send(watched);
    EXPECT_EQ(watched.use_count(), 1001);
    w.cancel();
    EXPECT_EQ(watched.use_count(), 1);
    {
        world second;
        auto kept = second.reader<event>();
        second.defer();
        second.send(watched);
        EXPECT_EQ(watched.use_count(), 2);
    }
    EXPECT_EQ(watched.use_count(), 1);
}

TEST(event_scopes, a_reader_created_in_a_scope_sees_what_is_sent_after_it) {
    world w;
    auto first = w.reader<damage>();
    w.defer();
    w.send(damage{1});
    auto second = w.reader<damage>();
    w.send(damage{2});
    w.commit();
    EXPECT_EQ(read(second), numbers{2});
    EXPECT_EQ(read(first), (numbers{1, 2}));
    // Events before it that are taken back do not hide later ones.
    w.defer();
    w.send(damage{3});
    w.send(damage{4});
    auto third = w.reader<damage>();
    w.cancel();
    w.send(damage{5});
    EXPECT_EQ(read(third), numbers{5});
    EXPECT_EQ(read(first), numbers{5});
}

TEST(event_scopes, events_and_changes_are_delivered_together) {
    world w;
    auto hits = w.reader<damage>();
    numbers seen;
    w.on_insert<position>(
        [&](entity, position&) { seen.push_back(static_cast<int>(hits.size())); });
    w.defer();
    w.spawn(position{});
    w.send(damage{1});
    w.spawn(position{});
    w.commit();
    EXPECT_EQ(seen, (numbers{0, 1}));
}

TEST(event_scopes, a_change_between_two_events_is_not_split) {
    world w;
    auto hits = w.reader<damage>();
    int inserted = 0;
    int assigned = 0;
    w.on_insert<position>([&](entity, position& p) { inserted += p.x; });
    w.on_assign<position>([&](entity, position&) { ++assigned; });
    const entity e = w.spawn();
    w.defer();
    w.set(e, position{1});
    w.send(damage{1});
    w.set(e, position{2});
    w.send(damage{2});
    w.commit();
    EXPECT_EQ(inserted, 2);
    EXPECT_EQ(assigned, 0);
    EXPECT_EQ(read(hits), (numbers{1, 2}));
}

TEST(event_scopes, a_loop_delivers_at_its_end_and_drops_if_it_throws) {
    world w;
    auto hits = w.reader<damage>();
    for (int i = 0; i < 3; ++i) w.spawn(position{i});
    w.each([&](const position& p) {
        w.send(damage{p.x});
        EXPECT_TRUE(hits.empty());
    });
    EXPECT_EQ(read(hits), (numbers{0, 1, 2}));
    EXPECT_THROW(w.each([&](const position& p) {
        w.send(damage{p.x});
        if (p.x == 1) throw std::runtime_error("no");
    }),
                 std::runtime_error);
    EXPECT_TRUE(hits.empty());
}

TEST(event_scopes, scopes_that_end_in_another_order_keep_their_events) {
    world w;
    auto hits = w.reader<damage>();
    auto outer = std::make_unique<deferred>(w);
    w.send(damage{1});
    auto inner = std::make_unique<deferred>(w);
    w.send(damage{2});
    outer->cancel();
    outer.reset();
    w.send(damage{3});
    inner->commit();
    inner.reset();
    EXPECT_EQ(read(hits), numbers{});  // the inner scope is in the cancelled one
    w.send(damage{4});
    EXPECT_EQ(read(hits), numbers{4});
}

// ---- hooks -------------------------------------------------------------------------------------

TEST(event_hooks, a_hook_sends) {
    world w;
    auto hits = w.reader<damage>();
    w.on_insert<position>([&](entity, position& p) { w.send(damage{p.x}); });
    w.on_remove<position>([&](entity, position& p) { w.send(damage{-p.x}); });
    const entity e = w.spawn(position{1});
    EXPECT_EQ(read(hits), numbers{1});
    w.destroy(e);
    EXPECT_EQ(read(hits), numbers{-1});
    w.defer();
    w.spawn(position{2});
    w.send(damage{5});
    w.spawn(position{3});
    w.commit();
    EXPECT_EQ(read(hits), (numbers{5, 2, 3}));
}

TEST(event_hooks, events_of_a_hook_whose_change_fails_are_dropped) {
    world w;
    auto hits = w.reader<damage>();
    w.on_insert<position>([&](entity, position& p) {
        w.send(damage{p.x});
        if (p.x == 2) throw std::runtime_error("no");
    });
    EXPECT_THROW(w.spawn(position{2}), std::runtime_error);
    EXPECT_TRUE(hits.empty());
    w.defer();
    w.spawn(position{1});
    w.spawn(position{2});
    w.spawn(position{3});
    EXPECT_THROW(w.commit(), std::runtime_error);
    EXPECT_EQ(read(hits), (numbers{1, 3}));
}

TEST(event_hooks, a_reset_drops_earlier_events_only) {
    world w;
    auto hits = w.reader<damage>();
    w.on_remove<position>([&](entity, position& p) { w.send(damage{p.x}); });
    w.spawn(position{7});
    w.send(damage{1});
    EXPECT_EQ(code_of([&] {
                  w.defer();
                  w.reset();
              }),
              errc::in_scope);
    w.cancel();
    EXPECT_EQ(hits.size(), 1u);
    w.reset();
    EXPECT_EQ(read(hits), numbers{7});
    w.send(damage{2});
    EXPECT_EQ(read(hits), numbers{2});
}

TEST(event_hooks, a_reset_while_reading_ends_the_loop) {
    world w;
    auto hits = w.reader<std::string>();
    for (int i = 0; i < 3; ++i) w.send(std::string(50, 'a'));
    int calls = 0;
    for (const std::string& event : hits) {
        w.reset();
        EXPECT_EQ(event.size(), 50u);
        ++calls;
    }
    EXPECT_EQ(calls, 1);
}

// ---- where sending is refused ------------------------------------------------------------------

struct sends_when_copied {
    world* w = nullptr;
    std::vector<errc>* codes = nullptr;
    sends_when_copied(world& at, std::vector<errc>& to) : w(&at), codes(&to) {}
    sends_when_copied(const sends_when_copied& from) : w(from.w), codes(from.codes) {
        if (w == nullptr) return;
        try {
            w->send(damage{1});
        } catch (const error& e) {
            codes->push_back(e.code());
        }
        try {
            w->end_frame();
        } catch (const error& e) {
            codes->push_back(e.code());
        }
        try {
            (void)w->reader<damage>();
        } catch (const error& e) {
            codes->push_back(e.code());
        }
    }
    sends_when_copied(sends_when_copied&& from) noexcept = default;
    sends_when_copied& operator=(const sends_when_copied&) = default;
    sends_when_copied& operator=(sends_when_copied&&) = default;
};

TEST(event_errors, the_copy_constructor_of_a_component_must_not_send) {
    world w;
    std::vector<errc> codes;
    auto hits = w.reader<damage>();
    const entity original = w.spawn(sends_when_copied(w, codes));
    EXPECT_TRUE(codes.empty());
    w.clone(original);
    EXPECT_EQ(codes, (std::vector<errc>{errc::in_scope, errc::in_scope, errc::in_scope}));
    EXPECT_TRUE(hits.empty());
}

TEST(event_errors, the_copy_constructor_of_an_event_must_not_send) {
    world w;
    std::vector<errc> codes;
    auto hits = w.reader<damage>();
    auto copies = w.reader<sends_when_copied>();
    const sends_when_copied original(w, codes);
    w.send(original);
    EXPECT_EQ(codes, (std::vector<errc>{errc::in_scope, errc::in_scope, errc::in_scope}));
    EXPECT_TRUE(hits.empty());
    EXPECT_EQ(copies.size(), 1u);
}

struct reads_when_destroyed {
    event_reader<damage>* reader = nullptr;
    int* sum = nullptr;
    reads_when_destroyed(event_reader<damage>& from, int& to) : reader(&from), sum(&to) {}
    reads_when_destroyed(reads_when_destroyed&& from) noexcept
        : reader(std::exchange(from.reader, nullptr)), sum(from.sum) {}
    ~reads_when_destroyed() {
        if (reader == nullptr) return;
        for (const damage& d : *reader) *sum += d.amount;
        reader->clear();
    }
};

TEST(event_errors, the_destructor_of_an_event_may_read) {
    world w;
    int sum = 0;
    auto hits = w.reader<damage>();
    auto readers = w.reader<reads_when_destroyed>();
    w.send(damage{5});
    w.send(reads_when_destroyed(hits, sum));
    readers.clear();
    w.end_frame();
    EXPECT_EQ(sum, 5);
    EXPECT_TRUE(hits.empty());
}

struct owns_a_reader {
    event_reader<owns_a_reader>* reader;
    owns_a_reader() : reader(nullptr) {}
    owns_a_reader(owns_a_reader&& other) noexcept : reader(std::exchange(other.reader, nullptr)) {}
    ~owns_a_reader() { delete reader; }
};

TEST(event_errors, an_event_may_own_the_last_reader_of_its_type) {
    world w;
    owns_a_reader event;
    event.reader = new event_reader<owns_a_reader>(w.reader<owns_a_reader>());
    w.send(std::move(event));
    w.send(owns_a_reader());
    w.end_frame();
    w.end_frame();
    w.end_frame();
    auto later = w.reader<owns_a_reader>();
    EXPECT_TRUE(later.empty());
}

// ---- command buffers ---------------------------------------------------------------------------

TEST(event_buffers, a_buffer_sends_when_it_is_applied) {
    world w;
    auto hits = w.reader<damage>();
    command_buffer b{w};
    b.send(damage{1});
    const damage kept{2};
    b.send(kept);
    EXPECT_EQ(b.pending(), 2u);
    EXPECT_TRUE(hits.empty());
    w.submit(b);
    EXPECT_EQ(read(hits), (numbers{1, 2}));
    b.send(damage{3});
    b.discard();
    w.submit(b);
    EXPECT_TRUE(hits.empty());
    w.defer();
    b.send(damage{4});
    w.submit(b);
    w.send(damage{5});
    w.commit();
    EXPECT_EQ(read(hits), (numbers{5, 4}));
}

TEST(event_buffers, a_buffer_owns_its_events) {
    auto watched = std::make_shared<int>(1);
    std::optional<world> w(std::in_place);
    auto hits = w->reader<std::shared_ptr<int>>();
    std::optional<command_buffer> b(*w);
    b->send(watched);
    EXPECT_EQ(watched.use_count(), 2);
    b.reset();
    EXPECT_EQ(watched.use_count(), 1);
    b.emplace(*w);
    b->send(watched);
    w->submit(*b);
    EXPECT_EQ(watched.use_count(), 2);
    w.reset();
    EXPECT_EQ(watched.use_count(), 1);
    EXPECT_EQ(code_of([&] { b->send(watched); }), errc::world_ended);
    command_buffer other = std::move(*b);
    EXPECT_EQ(code_of([&] { b->send(watched); }), errc::null_handle);
    EXPECT_EQ(watched.use_count(), 1);
}

// ---- types of events ---------------------------------------------------------------------------

template <class T>
class event_types : public testing::Test {};
using kinds = testing::Types<test::number, std::string, test::marker, test::owner, test::aligned,
                             test::page, test::fixed, test::one_byte>;
TYPED_TEST_SUITE(event_types, kinds);

TYPED_TEST(event_types, are_sent_from_everywhere_and_read) {
    world w;
    w.spawn(position{1});
    auto reader = w.reader<TypeParam>();
    std::vector<int> sent;
    const auto next = [&] {
        sent.push_back(static_cast<int>(sent.size()) % 64);
        return test::made_of<TypeParam>(sent.back());
    };
    for (int round = 0; round < 50; ++round) {
        w.send(next());
        w.defer();
        w.send(next());
        w.defer();
        w.send(test::made_of<TypeParam>(63));
        w.cancel();
        w.send(next());
        w.commit();
        w.query<position>().each([&](position&) { w.send(next()); });
        command_buffer b{w};
        b.send(next());
        w.submit(b);
        if constexpr (std::is_copy_constructible_v<TypeParam>) {
            const TypeParam kept = next();
            w.send(kept);
            b.send(kept);
            sent.push_back(sent.back());
            w.submit(b);
        }
        if (round % 10 != 9) continue;
        std::vector<int> seen;
        for (const TypeParam& event : reader) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&event) % alignof(TypeParam), 0u);
            seen.push_back(test::read(event));
        }
        if constexpr (!std::is_empty_v<TypeParam>) EXPECT_EQ(seen, sent);
        EXPECT_EQ(seen.size(), sent.size());
        sent.clear();
        w.end_frame();
    }
}

struct throwing {
    int value;
    static inline int until_throw = -1;
    static inline int alive = 0;
    static void step() {
        if (until_throw >= 0 && until_throw-- == 0) throw std::runtime_error("no move");
    }
    explicit throwing(int number) : value(number) { ++alive; }
    throwing(const throwing& from) : value(from.value) {
        step();
        ++alive;
    }
    throwing(throwing&& from) : value(from.value) {  // NOLINT: may throw
        step();
        ++alive;
    }
    ~throwing() { --alive; }
};

TEST(event_errors, a_send_that_throws_changes_nothing) {
    {
        world w;
        auto reader = w.reader<throwing>();
        const auto fails = [&](auto call) {
            throwing::until_throw = 0;
            EXPECT_THROW(call(), std::runtime_error);
            throwing::until_throw = -1;
        };
        fails([&] { w.send(throwing(1)); });
        w.send(throwing(2));
        const throwing kept(3);
        fails([&] { w.send(kept); });
        w.defer();
        w.send(throwing(4));
        fails([&] { w.send(kept); });
        w.send(throwing(5));
        w.commit();
        command_buffer b{w};
        fails([&] { b.send(kept); });
        EXPECT_TRUE(b.empty());
        b.send(throwing(6));
        fails([&] { w.submit(b); });  // the move out of the buffer throws: the event is lost
        numbers seen;
        for (const throwing& event : reader) seen.push_back(event.value);
        EXPECT_EQ(seen, (numbers{2, 4, 5}));
    }
    EXPECT_EQ(throwing::alive, 0);
}

TEST(event_types, an_entity_and_a_number_are_events) {
    world w;
    auto entities = w.reader<entity>();
    auto ints = w.reader<int>();
    const entity e = w.spawn();
    w.send(e);
    w.send(5);
    w.destroy(e);
    for (const entity& sent : entities) EXPECT_EQ(sent, e);
    for (const int& sent : ints) EXPECT_EQ(sent, 5);
}

TEST(event_layouts, other_layouts_send_and_read) {
    basic_world<layouts::compact> w;
    auto hits = w.reader<damage>();
    const auto e = w.spawn(position{1});
    w.defer();
    w.set(e, position{2});
    w.send(damage{1});
    const auto made = w.spawn(position{3});
    w.send(damage{2});
    w.set(made, position{4});
    w.commit();
    EXPECT_EQ(read(hits), (numbers{1, 2}));
    EXPECT_EQ(w.get<position>(made).x, 4);
}

}  // namespace
}  // namespace muster
