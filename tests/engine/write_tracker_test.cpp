// A small room that compares the bytes of a world between calls: what has changed must be marked.
#include <muster/engine/write_tracker.hpp>
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/behavior_layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

struct place {
    int x = 0;
};
struct mass {
    int kilograms = 0;
};
struct frozen {};
struct burning {
    int heat = 0;
};

template <class Layout>
struct tracked_world : basic_world<Layout> {
    using bytes = std::vector<std::byte>;
    struct state {
        std::map<std::uint64_t, bytes> ids;                               // by serial
        std::map<std::pair<std::uint64_t, std::uint64_t>, bytes> values;  // by serial, fragment
        std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, int>>> sparse;
        std::vector<std::uint64_t> living;
    };

    tracked_world() { this->template define<burning>().sparse(); }

    [[nodiscard]] store<Layout>& core() noexcept { return this->world_base<Layout>::store_; }
    [[nodiscard]] write_tracker& writes() noexcept { return core().writes; }
    template <class T>
    [[nodiscard]] fragment_data& fragment_of() {
        return core().template ensure_fragment<T>();
    }
    [[nodiscard]] std::uint64_t written(basic_id<Layout> e, const fragment_data& fragment) {
        return write_tracker::written(fragment, core().find(e)->chunk());
    }
    [[nodiscard]] const chunk_data& chunk_of(basic_id<Layout> e) {
        return core().graph.at(core().find(e)->chunk());
    }

    [[nodiscard]] state look() {
        state made;
        for (const chunk_data* chunk : core().graph.all()) {
            if (chunk->size == 0) continue;
            const auto copy = [&](const column& source) {
                return bytes(source.data, source.data + chunk->size * source.size);
            };
            made.ids[chunk->serial] = copy(chunk->ids);
            for (const column& source : chunk->columns)
                made.values[{chunk->serial, source.fragment->id}] = copy(source);
        }
        for (const sparse_set* set : core().sparse.all()) {
            if (set == nullptr) continue;
            auto& known = made.sparse[set->fragment->id];
            for (slot_index at = set->next(0); at != no_slot; at = set->next(to_int(at) + 1)) {
                int heat = 0;
                std::memcpy(&heat, set->at(at), sizeof heat);
                known.emplace_back(set->id_at(at), heat);
            }
        }
        for (const auto e : this->entities()) made.living.push_back(e.value());
        return made;
    }

    /// Expects that all differences between the states were marked since the tick.
    void expect_marked(const state& before, const state& after, std::uint64_t tick,
                       std::uint64_t changes) {
        for (const chunk_data* chunk : core().graph.all()) {
            const auto find = [&](const auto& all, const auto& key) {
                const auto found = all.find(key);
                return found == all.end() ? bytes() : found->second;
            };
            const bool is_new = write_tracker::written_rows(*chunk) >= tick;
            if (find(before.ids, chunk->serial) != find(after.ids, chunk->serial))
                ASSERT_TRUE(is_new) << to_text(*chunk);
            for (const column& source : chunk->columns) {
                const std::pair key{chunk->serial, source.fragment->id};
                if (find(before.values, key) != find(after.values, key))
                    ASSERT_TRUE(is_new ||
                                write_tracker::written(*source.fragment, chunk->index) >= tick)
                        << source.fragment->name << " in " << to_text(*chunk);
            }
        }
        for (const sparse_set* set : core().sparse.all())
            if (set != nullptr && before.sparse.contains(set->fragment->id) &&
                before.sparse.at(set->fragment->id) != after.sparse.at(set->fragment->id))
                ASSERT_GE(set->written, tick);
        if (before.living != after.living) ASSERT_NE(core().entities.changes(), changes);
    }
};

template <class Layout>
struct write_tracker_of : testing::Test {
    tracked_world<Layout> subject;
};
TYPED_TEST_SUITE(write_tracker_of, test::behavior_layouts, test::layout_names);

TYPED_TEST(write_tracker_of, is_off_until_it_is_asked_for) {
    auto& w = this->subject;
    EXPECT_FALSE(w.writes().is_on());
    const auto e = w.spawn(place{1});
    EXPECT_TRUE(w.core().gate.is_idle());
    EXPECT_EQ(w.template fragment_of<place>().written.capacity(), 0u);
    w.writes().begin();
    w.writes().begin();
    EXPECT_FALSE(w.core().gate.is_idle());
    w.writes().end();
    EXPECT_TRUE(w.writes().is_on());
    w.writes().end();
    EXPECT_TRUE(w.core().gate.is_idle());
    EXPECT_EQ(w.template fragment_of<place>().written.capacity(), 0u);
    EXPECT_FALSE(w.chunk_of(e).is_followed);
}

TYPED_TEST(write_tracker_of, marks_all_at_the_beginning) {
    auto& w = this->subject;
    const auto e = w.spawn(place{1}, burning{2});
    w.writes().begin();
    const std::uint64_t tick = w.writes().now();
    EXPECT_EQ(w.written(e, w.template fragment_of<place>()), tick);
    EXPECT_EQ(w.written(e, w.template fragment_of<burning>()), tick);
    EXPECT_EQ(write_tracker::written_rows(w.chunk_of(e)), tick);
    EXPECT_EQ(w.written(e, w.template fragment_of<mass>()), 0u) << "it has none";
}

TYPED_TEST(write_tracker_of, tells_values_from_rows) {
    auto& w = this->subject;
    const auto e = w.spawn(place{1}, mass{2});
    w.writes().begin();
    w.writes().advance();
    const std::uint64_t tick = w.writes().now();
    w.set(e, place{5});
    EXPECT_EQ(w.written(e, w.template fragment_of<place>()), tick);
    EXPECT_LT(w.written(e, w.template fragment_of<mass>()), tick);
    EXPECT_LT(write_tracker::written_rows(w.chunk_of(e)), tick);
    w.spawn(place{1}, mass{2});
    EXPECT_EQ(write_tracker::written_rows(w.chunk_of(e)), tick);
}

TYPED_TEST(write_tracker_of, is_not_told_of_reads) {
    auto& w = this->subject;
    const auto e = w.spawn(place{1}, mass{2}, burning{3});
    w.writes().begin();
    w.writes().advance();
    const std::uint64_t tick = w.writes().now();
    const std::uint64_t changes = w.core().entities.changes();
    const basic_world<TypeParam>& same = w;
    EXPECT_EQ(same.template get<place>(e).x, 1);
    EXPECT_NE(same.template try_get<burning>(e), nullptr);
    w.template query<const place, const mass*>().each([](const place&, const mass*) {});
    w.template query<const burning>().each([](const burning&) {});
    w.template query<place>().each_chunk([](basic_rows<TypeParam> rows) {
        EXPECT_EQ(rows.template components<const place>().size(), 1u);
    });
    EXPECT_EQ(w.template count<place>(), 1u);
    EXPECT_LT(w.written(e, w.template fragment_of<place>()), tick);
    EXPECT_LT(w.written(e, w.template fragment_of<mass>()), tick);
    EXPECT_LT(w.written(e, w.template fragment_of<burning>()), tick);
    EXPECT_LT(write_tracker::written_rows(w.chunk_of(e)), tick);
    EXPECT_EQ(w.core().entities.changes(), changes);
}

TYPED_TEST(write_tracker_of, marks_what_a_loop_may_write) {
    auto& w = this->subject;
    const auto e = w.spawn(place{1}, mass{2});
    const auto other = w.spawn(mass{2});
    w.writes().begin();
    w.writes().advance();
    const std::uint64_t tick = w.writes().now();
    w.template query<place, const mass>().each([](place&, const mass&) {});
    EXPECT_EQ(w.written(e, w.template fragment_of<place>()), tick);
    EXPECT_LT(w.written(e, w.template fragment_of<mass>()), tick);
    EXPECT_LT(w.written(other, w.template fragment_of<mass>()), tick);
    for (auto [one, kilograms] : w.template query<mass>()) kilograms.kilograms = 3;
    EXPECT_EQ(w.written(other, w.template fragment_of<mass>()), tick);
}

TYPED_TEST(write_tracker_of, keeps_its_marks_when_a_fragment_comes_to_a_chunk_with_a_lower_number) {
    auto& w = this->subject;
    std::vector<basic_id<TypeParam>> fillers;
    for (int i = 0; i < 100; ++i) {
        fillers.push_back(w.spawn());
        w.set(fillers.back(), w.tag("tag " + std::to_string(i)));
    }
    w.writes().begin();
    const auto late = w.spawn(mass{1});  // its first chunk has a high number
    w.writes().advance();
    const std::uint64_t tick = w.writes().now();
    w.template patch<mass>(late, [](mass& m) { ++m.kilograms; });
    for (const auto e : fillers) w.destroy(e);
    w.collect_garbage();
    w.writes().advance();
    const auto early = w.spawn(place{1}, mass{2});
    const fragment_data& fragment = w.template fragment_of<mass>();
    ASSERT_LT(to_int(w.chunk_of(early).index), to_int(w.chunk_of(late).index));
    EXPECT_EQ(w.written(late, fragment), tick);
    w.template patch<mass>(early, [](mass& m) { ++m.kilograms; });
    EXPECT_EQ(w.written(early, fragment), w.writes().now());
    EXPECT_EQ(w.written(late, fragment), tick);
}

TYPED_TEST(write_tracker_of, refuses_to_begin_in_a_scope) {
    auto& w = this->subject;
    w.defer();
    EXPECT_THROW(w.writes().begin(), error);
    EXPECT_FALSE(w.writes().is_on());
    w.commit();
}

TYPED_TEST(write_tracker_of, marks_all_that_random_calls_change) {
    using id_type = basic_id<TypeParam>;
    for (std::uint32_t seed = 1; seed <= 40 && !this->HasFatalFailure(); ++seed) {
        SCOPED_TRACE(seed);
        tracked_world<TypeParam> w;
        std::mt19937 random(seed);
        const auto pick = [&](int count) {
            return static_cast<int>(random() % static_cast<unsigned>(count));
        };
        const auto any = [&] {
            std::vector<id_type> living;
            for (const id_type e : w.entities()) living.push_back(e);
            return living.empty() ? w.spawn(place{}) : living[random() % living.size()];
        };
        for (int i = 0; i < 10; ++i) w.spawn(place{i}, mass{i});
        w.writes().begin();
        for (int i = 0; i < 150 && !this->HasFatalFailure(); ++i) {
            w.writes().advance();
            const auto before = w.look();
            const std::uint64_t tick = w.writes().now();
            const std::uint64_t changes = w.core().entities.changes();
            const int what = pick(24);
            SCOPED_TRACE(what);
            switch (what) {
            case 0: w.spawn(); break;
            case 1: w.spawn(place{i}, mass{i}); break;
            case 2: (void)w.spawn_many(3, place{i}, burning{i}); break;
            case 3: w.set(any(), place{i}); break;
            case 4: w.set(any(), mass{i}, place{i}); break;
            case 5: w.set(any(), burning{i}); break;
            case 6: w.template remove<place>(any()); break;
            case 7: w.template remove<burning>(any()); break;
            case 8: w.clear(any()); break;
            case 9: w.destroy(any()); break;
            case 10: w.template add<frozen>(any()); break;
            case 11: {
                const id_type e = any();
                if (w.template has<place>(e))
                    w.template patch<place>(e, [&](place& p) { p.x = i; });
                break;
            }
            case 12: w.template query<place>().each([&](place& p) { p.x = i; }); break;
            case 13:
                w.template query<burning, place>().each([&](burning& b, place&) { b.heat = i; });
                break;
            case 14: w.template query<mass>().set(mass{i}); break;
            case 15: w.template query<mass>().template remove<place>(); break;
            case 16:
                w.template query<mass>().each_chunk([&](basic_rows<TypeParam> rows) {
                    rows.template components<mass>()[0].kilograms = i;
                });
                break;
            case 17: {
                const id_type e = any();
                if (!w.template has<mass>(e)) break;
                const auto found = w.locate(e);
                found.chunk.template components<mass>()[found.row].kilograms = i;
                break;
            }
            case 18:
                w.each_fragment(any(), [&](id_type, void* value) {
                    if (value != nullptr) std::memcpy(value, &i, sizeof i);
                });
                break;
            case 19:
                w.template sort<burning>([](auto& a, auto& b) { return a.heat < b.heat; });
                break;
            case 20: (void)w.clone(any()); break;
            case 21: {
                w.defer();
                w.set(any(), place{i});
                w.set(any(), mass{i});
                w.destroy(any());
                w.commit();
                break;
            }
            case 22:
                if (pick(5) == 0) w.template clear<mass>();
                break;
            default:
                if (pick(20) == 0) w.reset();
                break;
            }
            w.expect_marked(before, w.look(), tick, changes);
        }
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
