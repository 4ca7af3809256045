// The log of one type: numbers, blocks, cursors, and what scopes record in it. With an engine, without a world.
#include <muster/event/event_iterator.hpp>
#include <muster/event/event_log.hpp>
#include <muster/event/send_event.hpp>

#include "../engine/engine_fixture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace muster {
namespace {

using namespace muster::detail;  // NOLINT(google-build-using-namespace): the subject of the tests

struct note {
    std::shared_ptr<int> value;
};

struct event_log_of_notes : test::engine_fixture {
    std::shared_ptr<int> watched = std::make_shared<int>(1);
    event_log& log = event_logs::ensure(core, ensure_type_index<detail::event_log_of<note>>(),
                                        event_type_of<note>);

    void send() { send_event<note>(core, note{watched}); }
    [[nodiscard]] long alive() const { return watched.use_count() - 1; }
};

TEST_F(event_log_of_notes, stores_nothing_without_cursors) {
    send();
    EXPECT_EQ(alive(), 0);
    EXPECT_FALSE(log.is_ready());
    event_cursor& cursor = log.add_cursor();
    send();
    EXPECT_EQ(alive(), 1);
    cursor.abandon();
    EXPECT_EQ(alive(), 0);
    EXPECT_FALSE(log.is_ready());  // its memory is free
    send();
    EXPECT_EQ(alive(), 0);
}

TEST_F(event_log_of_notes, numbers_go_on_over_blocks_and_frames) {
    event_cursor& cursor = log.add_cursor();
    for (event_number i = 0; i < 1000; ++i) {
        EXPECT_EQ(log.visible(), i);
        send();
    }
    for (event_number i = 0; i < 1000; ++i) {
        const event_log::place at = log.find(i);
        EXPECT_EQ(static_cast<note*>(at.at)->value, watched);
        EXPECT_LT(at.at, at.limit);
    }
    cursor.pass(500);
    log.end_frame();
    EXPECT_EQ(log.first(), 500u);
    EXPECT_EQ(alive(), 500);
    log.end_frame();
    EXPECT_EQ(log.first(), 1000u);
    EXPECT_EQ(cursor.seen, 1000u);
    EXPECT_EQ(alive(), 0);
    send();
    EXPECT_EQ(log.visible(), 1001u);
    cursor.abandon();
}

TEST_F(event_log_of_notes, events_sent_in_turn_share_a_record) {
    event_cursor& cursor = log.add_cursor();
    scope whole(core);
    for (int i = 0; i < 100; ++i) send();
    EXPECT_EQ(core.pending.now().entries, 1u);
    send();  // `now` was called, so a rewind may come between them
    EXPECT_EQ(core.pending.now().entries, 2u);
    EXPECT_EQ(log.visible(), 0u);
    EXPECT_EQ(core.pending.size(), 1u);
    whole.commit();
    EXPECT_EQ(log.visible(), 101u);
    cursor.abandon();
}

TEST_F(event_log_of_notes, a_rewind_takes_back_to_any_position) {
    event_cursor& cursor = log.add_cursor();
    scope whole(core);
    std::vector<journal::position> positions;
    for (int i = 0; i < 300; ++i) {
        if (i % 7 == 0) positions.push_back(core.pending.now());
        send();
        if (i % 5 == 0) core.pending.add(99, change_kind::clear, nullptr);
    }
    EXPECT_EQ(alive(), 300);
    while (!positions.empty()) {
        core.transaction.rewind(positions.back());
        positions.pop_back();
        EXPECT_EQ(alive(), static_cast<long>(7 * positions.size()));
    }
    send();
    whole.commit();
    EXPECT_EQ(log.visible(), 1u);
    cursor.abandon();
}

TEST_F(event_log_of_notes, a_reading_pins_all_events) {
    event_cursor& reading = log.add_cursor();
    event_cursor& other = log.add_cursor();
    for (int i = 0; i < 3; ++i) send();
    reading.begin_reading();
    reading.pass(3);
    other.pass(3);
    log.end_frame();
    log.end_frame();
    EXPECT_EQ(alive(), 3);
    other.abandon();
    reading.abandon();  // by its owner, while a loop goes on
    EXPECT_EQ(alive(), 3);
    reading.end_reading();
    EXPECT_EQ(alive(), 0);
}

TEST_F(event_log_of_notes, a_log_frees_a_block_that_is_far_too_large) {
    event_cursor& cursor = log.add_cursor();
    for (int i = 0; i < 100'000; ++i) send();
    for (int i = 0; i < 30; ++i) log.end_frame();
    EXPECT_FALSE(log.is_ready());
    send();
    EXPECT_TRUE(log.is_ready());
    log.end_frame();
    cursor.abandon();
}

TEST_F(event_log_of_notes, the_end_of_the_world_ends_cursors) {
    event_cursor& kept = log.add_cursor();
    send();
    core.end(table.pool().unused_version());
    EXPECT_EQ(kept.log, nullptr);
    EXPECT_EQ(alive(), 0);
    kept.abandon();
}

}  // namespace
}  // namespace muster
