// Links and the tracking of writes: a room that saves or sends only what has changed misses no link.
#include <muster/engine/write_tracker.hpp>
#include <muster/muster.hpp>
#include <muster/relation/relations.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/open_world.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

struct place {
    int x = 0;
};
struct mass {
    int kilograms = 0;
};
struct likes {
    int strength = 0;
};
struct docked_at {};
struct part_of {
    int share = 0;
};
struct member_of {};
struct faces {
    int distance = 0;
};
struct touches {};

template <class Layout>
struct linked_world : test::open_world<Layout> {
    using bytes = std::vector<std::byte>;
    /// The links of a column, by the serial of its chunk and the fragment.
    using columns = std::map<std::pair<std::uint64_t, std::uint64_t>, bytes>;
    /// Each source with its targets and its places at them, by fragment.
    using lists = std::map<std::uint64_t, std::vector<std::vector<std::uint64_t>>>;

    linked_world() {
        this->template define<likes>().relation();
        this->template define<docked_at>().relation().exclusive();
        this->template define<part_of>().relation().leveled().when_target_destroyed(pass_on);
        this->template define<member_of>().relation().grouping().when_target_destroyed(pass_on);
        this->template define<faces>().relation().exclusive().symmetric();
        this->template define<touches>().relation().symmetric();
    }
    [[nodiscard]] write_tracker& writes() noexcept { return this->parts().writes; }
    [[nodiscard]] columns look_at_columns() {
        columns made;
        for (const chunk_data* chunk : this->parts().graph.all())
            for (const column& source : chunk->columns)
                if (source.fragment->participant != nullptr && chunk->size != 0)
                    made[{chunk->serial, source.fragment->id}] =
                        bytes(source.data, source.data + chunk->size * source.size);
        return made;
    }
    [[nodiscard]] lists look_at_lists() {
        lists made;
        for (const sparse_set* set : this->parts().sparse.all()) {
            if (set == nullptr || set->fragment->participant == nullptr) continue;
            auto& known = made[set->fragment->id];
            for (slot_index at = set->next(0); at != no_slot; at = set->next(to_int(at) + 1)) {
                // SAFETY: the links of a relation that is not exclusive are lists.
                const auto& ends = reinterpret_cast<const link_list*>(set->at(at))->ends();
                known.push_back({set->id_at(at)});
                for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1)) {
                    known.back().push_back(ends[i].other);
                    known.back().push_back(ends[i].place);
                }
            }
        }
        return made;
    }
    void expect_marked(const columns& before, const columns& after, std::uint64_t tick) {
        for (const chunk_data* chunk : this->parts().graph.all())
            for (const column& source : chunk->columns) {
                const std::pair key{chunk->serial, source.fragment->id};
                const auto old = before.find(key), now = after.find(key);
                if (now == after.end() || (old != before.end() && old->second == now->second))
                    continue;
                ASSERT_TRUE(write_tracker::written_rows(*chunk) >= tick ||
                            write_tracker::written(*source.fragment, chunk->index) >= tick)
                    << source.fragment->name;
            }
    }
    void expect_marked(const lists& before, const lists& after, std::uint64_t tick) {
        for (const sparse_set* set : this->parts().sparse.all()) {
            if (set == nullptr || !after.contains(set->fragment->id)) continue;
            const auto old = before.find(set->fragment->id);
            if (old != before.end() && old->second == after.at(set->fragment->id)) continue;
            ASSERT_GE(set->written, tick) << set->fragment->name;
        }
    }
};

template <class Layout>
struct link_writes : testing::Test {};
TYPED_TEST_SUITE(link_writes, test::behavior_layouts, test::layout_names);

TYPED_TEST(link_writes, are_marked_whatever_changes_them) {
    using id_type = basic_id<TypeParam>;
    for (std::uint32_t seed = 1; seed <= 30 && !this->HasFatalFailure(); ++seed) {
        SCOPED_TRACE(seed);
        linked_world<TypeParam> w;
        std::mt19937 random(seed);
        const auto pick = [&](std::uint32_t count) { return static_cast<int>(random() % count); };
        std::vector<id_type> all;
        const auto any = [&] { return all[random() % all.size()]; };
        // The first entities are the targets of many.
        const auto some = [&] { return all[random() % (random() % 2 == 0 ? 3 : all.size())]; };
        const auto forget_dead = [&] {
            std::erase_if(all, [&](id_type e) { return !w.alive(e); });
            while (all.size() < 40)
                all.push_back(random() % 2 == 0 ? w.spawn(place{}) : w.spawn(place{}, mass{}));
        };
        forget_dead();
        w.writes().begin();
        for (int i = 0; i < 300 && !this->HasFatalFailure(); ++i) {
            forget_dead();
            w.writes().advance();
            const auto columns = w.look_at_columns();
            const auto lists = w.look_at_lists();
            const std::uint64_t tick = w.writes().now();
            const int what = pick(19);
            SCOPED_TRACE(what);
            try {
                switch (what) {
                case 0:
                case 1: w.relate(child_of, any(), some()); break;
                case 2:
                case 3: w.template relate<docked_at>(any(), some()); break;
                case 4: w.template relate<part_of>(any(), some(), part_of{i}); break;
                case 5: w.template relate<member_of>(any(), some()); break;
                case 6:
                case 7: w.template relate<likes>(any(), some(), likes{i}); break;
                case 8: w.template relate<faces>(any(), any(), faces{i}); break;
                case 9: w.template relate<touches>(any(), some()); break;
                case 10: w.template unrelate<docked_at>(any()); break;
                case 11: w.template unrelate<likes>(any()); break;
                case 12: w.unrelate(child_of, any()); break;
                case 13: w.template unrelate<part_of>(any()); break;
                case 14: w.destroy(any()); break;
                case 15: w.destroy(any(), any(), any()); break;
                case 16: {
                    const auto p = some();
                    w.template sort_sources<docked_at>(p, [](auto a, auto b) { return b < a; });
                    break;
                }
                case 17:
                    w.defer();
                    for (int j = 0; j < 4; ++j) {
                        w.template relate<docked_at>(any(), some());
                        w.template unrelate<likes>(any(), some());
                        w.template unrelate<touches>(any());
                    }
                    w.commit();
                    break;
                default: w.template query<mass>().template remove<docked_at>(); break;
                }
            } catch (const error& caught) {
                ASSERT_EQ(caught.code(), errc::cycle) << caught.what();
            }
            w.expect_marked(columns, w.look_at_columns(), tick);
            w.expect_marked(lists, w.look_at_lists(), tick);
        }
    }
}

TYPED_TEST(link_writes, of_a_loop_along_links_are_marked) {
    linked_world<TypeParam> w;
    const auto top = w.spawn(place{0}), e = w.spawn(place{1}, mass{2}, to<docked_at>(top));
    w.template define<likes>();
    w.writes().begin();
    w.writes().advance();
    const std::uint64_t tick = w.writes().now();
    const auto written = [&](const fragment_data& fragment) {
        return write_tracker::written(fragment, w.parts().find(e)->chunk());
    };
    const fragment_data& places = w.parts().template ensure_fragment<place>();
    const fragment_data& masses = w.parts().template ensure_fragment<mass>();
    const auto q = w.template query<place, const mass>().template to<docked_at>(top);
    EXPECT_LT(written(places), tick);
    q.each([](place& p, const mass& m) { p.x += m.kilograms; });
    EXPECT_EQ(written(places), tick);
    EXPECT_LT(written(masses), tick);
    EXPECT_EQ(w.template get<const place>(e).x, 3);
    w.writes().advance();
    for (auto [which, p, m] : q) {
        EXPECT_EQ(which, e);
        p.x = 5;
    }
    EXPECT_EQ(written(places), w.writes().now());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
