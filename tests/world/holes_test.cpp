// Destroyed fragments, freed chunks and freed sparse sets leave holes in the tables of a world. What visits a table
// skips them.
#include <muster/engine/write_tracker.hpp>
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"
#include "support/thread_executor.hpp"

namespace muster {
namespace {

struct place {
    int x = 0;
};
struct gone_place {
    int x = 0;
};
struct heat {
    int degrees = 0;
};
struct gone_heat {
    int degrees = 0;
};
struct late {
    int x = 0;
};

struct open_world : world {
    [[nodiscard]] auto& core() noexcept { return this->world_base<layouts::bound>::store_; }
};

struct holes : testing::Test {
    open_world w;
    entity kept;

    void SetUp() override {
        MUSTER_ABOUT_CHUNKS();
        w.define<gone_heat>().sparse();
        w.define<heat>().sparse();
        w.spawn(gone_place{1}, gone_heat{1});
        kept = w.spawn(place{2}, heat{3});
        w.destroy(w.component<gone_place>());
        w.destroy(w.component<gone_heat>());
        w.collect_garbage();
    }
};

TEST_F(holes, are_skipped_by_the_tracking_of_writes) {
    auto& writes = w.core().writes;
    writes.begin();
    writes.begin();  // a second user
    writes.advance();
    w.get<place>(kept).x = 5;
    w.get<heat>(kept).degrees = 6;
    w.set(kept, place{7}, heat{8});
    const auto& chunk = w.core().graph.at(w.core().find(kept)->chunk());
    const auto& places = w.core().ensure_fragment<place>();
    const auto& heats = w.core().ensure_fragment<heat>();
    EXPECT_EQ(detail::write_tracker::written(places, chunk.index), writes.now());
    EXPECT_EQ(detail::write_tracker::written(heats, chunk.index), writes.now());
    EXPECT_EQ(detail::write_tracker::written(w.core().ensure_fragment<late>(), chunk.index), 0u);
    w.set(w.spawn(late{1}), late{2});
    writes.end();
    writes.end();
    w.set(kept, place{9});
    EXPECT_EQ(w.get<place>(kept).x, 9);
}

TEST_F(holes, of_freed_chunks_and_moves_that_are_undone_are_tracked) {
    auto& writes = w.core().writes;
    const auto chunk_of = [&](entity e) -> const detail::chunk_data& {
        return w.core().graph.at(w.core().find(e)->chunk());
    };
    std::vector<entity> all;
    for (const int x : {3, 1, 2}) all.push_back(w.spawn(place{x}));
    writes.begin();
    writes.advance();
    const std::uint32_t order[] = {0, 2, 3, 1};  // the first row is that of `kept`
    w.core().mover.permute(w.core().graph.at(w.core().find(all[0])->chunk()), order);
    EXPECT_EQ(detail::write_tracker::written_rows(chunk_of(all[0])), writes.now());
    EXPECT_EQ(w.locate(all[0]).row, 3u);

    connection refuses = w.on_insert<late>([] { throw 5; });
    writes.advance();
    EXPECT_THROW(w.set(all[0], late{1}), int);
    EXPECT_EQ(detail::write_tracker::written_rows(chunk_of(all[0])), writes.now());
    EXPECT_EQ(w.locate(all[0]).row, 3u);
    EXPECT_EQ(w.get<place>(all[0]).x, 3);
    refuses.disconnect();

    w.destroy(w.spawn(place{4}, late{1}));
    writes.advance();
    w.collect_garbage();
    EXPECT_NE(detail::write_tracker::written_rows(chunk_of(all[0])), writes.now());
    writes.end();
}

TEST_F(holes, are_skipped_by_hooks_of_removals_and_reset) {
    int removed = 0;
    connection hook = w.on_remove<heat>([&] { ++removed; });
    w.destroy(kept);
    EXPECT_EQ(removed, 1);
    w.set_single(late{4});
    w.spawn(place{1}, heat{1});
    w.reset();
    EXPECT_EQ(removed, 2);
    EXPECT_EQ(w.size(), 0u);
    EXPECT_FALSE(w.has_single<late>());
    EXPECT_TRUE(hook.connected());
}

TEST_F(holes, are_skipped_when_a_phase_ends_connections) {
    std::string log;
    auto of_place = std::make_unique<scoped_connection>(w.on_assign<place>([&] { log += "p"; }));
    auto of_entities = std::make_unique<scoped_connection>(w.on_destroy([&] { log += "e"; }));
    auto of_late = std::make_unique<scoped_connection>(w.on_insert<late>([&] { log += "l"; }));
    w.destroy(w.component<late>());
    EXPECT_FALSE(of_late->connected());
    EXPECT_EQ(log, "e");  // the fragment was an entity, too
    log.clear();
    muster_tests::thread_executor threads(2);
    w.query<place>().par_each(threads, 1, [&](place&) {
        of_place.reset();
        of_entities.reset();
        of_late.reset();
    });
    w.set(kept, place{1});
    w.destroy(kept);
    EXPECT_EQ(log, "");
}

TEST_F(holes, do_not_confuse_the_rows_that_a_room_follows) {
    struct counter : detail::row_follower {
        std::size_t rows = 0;
        void prepare(const detail::chunk_data&, std::size_t) override {}
        void appended(const detail::chunk_data&, std::size_t, std::size_t count) noexcept override {
            rows += count;
        }
        void removed(const detail::chunk_data&, std::size_t) noexcept override { --rows; }
        void restored(const detail::chunk_data&, std::size_t) noexcept override { ++rows; }
        void truncated(const detail::chunk_data&, std::size_t) noexcept override { rows = 0; }
        void permuted(const detail::chunk_data&) noexcept override {}
        void freed(const detail::chunk_data&) noexcept override {}
    } seen;
    (void)w.chunk<place>();  // empty
    auto& fragment = w.core().ensure_fragment<place>();
    w.core().catalog.follow(fragment, seen);
    EXPECT_EQ(seen.rows, 1u);
    const entity next = w.spawn(place{1});
    EXPECT_EQ(seen.rows, 2u);
    w.core().catalog.unfollow(fragment);
    w.core().catalog.unfollow(fragment);  // nothing to do
    w.destroy(next);
    EXPECT_EQ(seen.rows, 2u);
}

TEST(names_of_fragments, are_their_ids_once_the_given_name_is_removed) {
    world w;
    const entity enemy = w.spawn();
    w.name(enemy, "enemy");
    const entity e = w.spawn();
    w.add(e, enemy);
    w.name(enemy, "foe");
    EXPECT_EQ(w.name(enemy), "foe");
    w.name(enemy, "");
    const std::string sentence = test::sentence_of([&] { (void)w.get<int>(e, enemy); });
    EXPECT_NE(sentence.find(to_string(enemy)), std::string::npos) << sentence;
}

TEST(spans_of_rows, need_adjacent_values) {
    world w;
    w.define<heat>().sparse();
    std::vector<entity> all;
    for (int i = 0; i < 6; ++i) all.push_back(w.spawn(place{i}));
    const auto sum = [&] {
        int found = 0;
        w.query<place>().each_chunk([&](chunk_view rows) {
            for (const heat& value : rows.components<heat>()) found += value.degrees;
        });
        return found;
    };
    EXPECT_EQ(test::code_of([&] { (void)sum(); }), errc::missing_component);
    for (int i = 0; i < 6; ++i) w.set(all[static_cast<std::size_t>(i)], heat{i});
    EXPECT_EQ(sum(), 15);
    w.remove<heat>(all[2]);
    EXPECT_EQ(test::code_of([&] { (void)sum(); }), errc::missing_component);
}

}  // namespace
}  // namespace muster
