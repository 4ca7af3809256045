// A small room that mirrors the rows of chunks, through random programs.
#include <muster/muster.hpp>
#include <muster/storage/row_follower.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

struct place {
    int x = 0;
};
struct label {
    std::string text = "a text that does not fit into the string itself";
};
struct mass {
    int kilograms = 0;
};
struct frozen {};
struct burning {
    int heat = 0;
};
struct refused {};

/// The ids of the rows of each followed chunk, kept up to date by events alone.
class mirror : public row_follower {
public:
    std::map<std::uint64_t, std::vector<std::uint64_t>> rows;  // by serial
    std::map<std::uint64_t, std::size_t> prepared;             // rows that may be there
    int events = 0;
    int frees = 0;
    bool refuses = false;

    void prepare(const chunk_data& chunk, std::size_t more) override {
        if (refuses) throw refused();
        prepared[chunk.serial] = std::max(prepared[chunk.serial], chunk.size + more);
    }
    void appended(const chunk_data& chunk, std::size_t first, std::size_t count) noexcept override {
        ++events;
        std::vector<std::uint64_t>& known = rows[chunk.serial];
        EXPECT_EQ(known.size(), first);
        EXPECT_LE(first + count, prepared[chunk.serial]) << "appended without a preparation";
        EXPECT_EQ(first + count, chunk.size);
        for (std::size_t i = 0; i < count; ++i) known.push_back(chunk.id_at(first + i));
    }
    void removed(const chunk_data& chunk, std::size_t row) noexcept override {
        ++events;
        std::vector<std::uint64_t>& known = rows[chunk.serial];
        ASSERT_LT(row, known.size());
        known[row] = known.back();
        known.pop_back();
        EXPECT_EQ(known.size(), chunk.size);
    }
    void restored(const chunk_data& chunk, std::size_t row) noexcept override {
        ++events;
        std::vector<std::uint64_t>& known = rows[chunk.serial];
        ASSERT_EQ(known.size() + 1, chunk.size);
        known.push_back(0);
        known.back() = known[row];
        known[row] = chunk.id_at(row);
    }
    void truncated(const chunk_data& chunk, std::size_t size) noexcept override {
        ++events;
        EXPECT_EQ(size, chunk.size);
        rows[chunk.serial].resize(size);
    }
    void permuted(const chunk_data& chunk) noexcept override {
        ++events;
        std::vector<std::uint64_t>& known = rows[chunk.serial];
        ASSERT_EQ(known.size(), chunk.size);
        for (std::size_t row = 0; row < chunk.size; ++row) known[row] = chunk.id_at(row);
    }
    void freed(const chunk_data& chunk) noexcept override {
        EXPECT_TRUE(rows[chunk.serial].empty());
        rows.erase(chunk.serial);
        ++frees;
    }
};

template <class Layout>
struct open_world : basic_world<Layout> {
    [[nodiscard]] store<Layout>& core() noexcept { return this->world_base<Layout>::store_; }
    template <class T>
    [[nodiscard]] fragment_data& fragment_of() {
        return core().template ensure_fragment<T>();
    }
};

template <class Layout>
struct mirrored_world {
    mirror seen;
    open_world<Layout> subject;

    mirrored_world() { subject.core().catalog.follow(subject.template fragment_of<place>(), seen); }

    /// Expects that the mirror has the rows of all chunks with `place`, and of no others.
    void expect_mirrored() {
        const fragment_data& followed = subject.template fragment_of<place>();
        std::set<std::uint64_t> serials;
        for (const chunk_data* chunk : subject.core().graph.all()) {
            if (!chunk->has(followed) || chunk->has_sparse) {
                ASSERT_FALSE(chunk->is_followed);
                continue;
            }
            serials.insert(chunk->serial);
            std::vector<std::uint64_t> ids;
            for (std::size_t row = 0; row < chunk->size; ++row) ids.push_back(chunk->id_at(row));
            ASSERT_EQ(seen.rows[chunk->serial], ids);
        }
        for (const auto& [serial, ids] : seen.rows) ASSERT_TRUE(serials.contains(serial));
    }
};

template <class Layout>
struct row_follower_of : testing::Test, mirrored_world<Layout> {};
TYPED_TEST_SUITE(row_follower_of, test::behavior_layouts, test::layout_names);

TYPED_TEST(row_follower_of, is_told_of_single_rows) {
    auto& w = this->subject;
    const auto a = w.spawn(place{1});
    const auto b = w.spawn(place{2});
    this->expect_mirrored();
    w.set(a, label{});  // leaves a gap, which b fills
    this->expect_mirrored();
    w.template remove<place>(a);
    this->expect_mirrored();
    w.set(a, place{3});
    w.destroy(b);
    this->expect_mirrored();
    w.clear(a);
    this->expect_mirrored();
    EXPECT_EQ(this->seen.events, 8);
}

TYPED_TEST(row_follower_of, is_shown_the_rows_that_exist) {
    open_world<TypeParam> w;
    const auto e = w.spawn(place{1}, mass{});
    w.spawn(place{2});
    mirror late;
    w.core().catalog.follow(w.template fragment_of<place>(), late);
    EXPECT_EQ(late.rows.size(), 2u);
    std::size_t count = 0;
    for (const auto& [serial, ids] : late.rows) count += ids.size();
    EXPECT_EQ(count, 2u);
    w.core().catalog.unfollow(w.template fragment_of<place>());
    const int before = late.events;
    w.destroy(e);
    w.spawn(place{3});
    EXPECT_EQ(late.events, before) << "it does not follow any more";
}

TYPED_TEST(row_follower_of, prevents_a_change_when_it_cannot_prepare) {
    auto& w = this->subject;
    const auto a = w.spawn(place{1});
    const auto bare = w.spawn(mass{5});
    const auto count = w.size();
    this->seen.refuses = true;
    EXPECT_THROW(w.spawn(place{2}), refused);
    EXPECT_THROW((void)w.spawn_many(3, place{2}), refused);
    EXPECT_THROW(w.set(a, label{}), refused);
    EXPECT_THROW(w.set(bare, place{}), refused);
    EXPECT_THROW((void)w.clone(a), refused);
    EXPECT_THROW(w.template query<mass>().set(place{3}), refused);
    EXPECT_EQ(w.size(), count);
    EXPECT_FALSE(w.template has<label>(a));
    EXPECT_FALSE(w.template has<place>(bare));
    this->seen.refuses = false;
    this->expect_mirrored();
    w.set(bare, place{7});
    this->expect_mirrored();
}

TYPED_TEST(row_follower_of, is_told_when_a_hook_undoes_a_move) {
    auto& w = this->subject;
    const auto a = w.spawn(place{1});
    w.spawn(place{2});
    bool refuses = true;
    w.template on_insert<label>([&](auto, label&) {
        if (refuses) throw refused();
    });
    EXPECT_THROW(w.set(a, label{}), refused);
    this->expect_mirrored();
    EXPECT_THROW(w.template query<place>().set(label{}), refused);
    this->expect_mirrored();
    EXPECT_THROW(w.spawn(place{}, label{}), refused);
    this->expect_mirrored();
    EXPECT_THROW((void)w.spawn_many(4, place{}, label{}), refused);
    this->expect_mirrored();
    refuses = false;
    w.template query<place>().set(label{});
    this->expect_mirrored();
}

TYPED_TEST(row_follower_of, is_told_when_chunks_are_freed) {
    auto& w = this->subject;
    const auto e = w.spawn(place{1}, mass{});
    w.destroy(e);
    w.collect_garbage();
    EXPECT_GE(this->seen.frees, 1);
    this->expect_mirrored();
}

TYPED_TEST(row_follower_of, is_told_of_a_permutation) {
    auto& w = this->subject;
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 5; ++i) all.push_back(w.spawn(place{i}, label{std::to_string(i)}));
    chunk_data& chunk = w.core().graph.at(w.core().find(all[0])->chunk());
    const std::uint32_t order[] = {3, 0, 4, 1, 2};
    w.core().mover.permute(chunk, order);
    this->expect_mirrored();
    for (std::size_t row = 0; row < all.size(); ++row)
        EXPECT_EQ(w.locate(all[order[row]]).row, row);
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(w.template get<place>(all[static_cast<std::size_t>(i)]).x, i);
        EXPECT_EQ(w.template get<label>(all[static_cast<std::size_t>(i)]).text, std::to_string(i));
    }
}

/// Random changes of all kinds. Some hooks throw.
template <class Layout>
class story {
public:
    story(mirrored_world<Layout>& test, std::uint32_t seed)
        : test_(test), w_(test.subject), random_(seed) {
        w_.template on_insert<mass>([this](auto, mass&) { maybe_throw(); });
        w_.template on_remove<label>([this](auto, label&) { maybe_throw(); });
        w_.template define<burning>().sparse();
    }
    void run(int steps) {
        for (int i = 0; i < steps; ++i) {
            try {
                step();
            } catch (const refused&) {
            }
            test_.expect_mirrored();
            if (testing::Test::HasFatalFailure()) return;
        }
    }

private:
    using id_type = basic_id<Layout>;

    int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
    void maybe_throw() {
        if (pick(8) == 0) throw refused();
    }
    id_type one() {
        std::vector<id_type> living;
        for (const id_type e : w_.entities()) living.push_back(e);
        return living.empty() ? w_.spawn(place{}) : living[random_() % living.size()];
    }
    void single() {
        const id_type e = one();
        switch (pick(11)) {
        case 0: w_.set(e, place{pick(9)}); break;
        case 1: w_.set(e, label{}); break;
        case 2: w_.set(e, mass{1}, place{2}); break;
        case 3: w_.template add<frozen>(e); break;
        case 4: w_.set(e, burning{3}); break;
        case 5: w_.template remove<place>(e); break;
        case 6: w_.template remove<label, mass>(e); break;
        case 7: w_.clear(e); break;
        case 8: w_.destroy(e); break;
        case 9: (void)w_.clone(e, mass{4}); break;
        default: w_.template remove<frozen>(e); break;
        }
    }
    void step() {
        switch (pick(16)) {
        case 0: w_.spawn(place{1}); break;
        case 1: w_.spawn(label{}, place{2}, mass{}); break;
        case 2: (void)w_.spawn_many(static_cast<std::size_t>(pick(12)), place{}, label{}); break;
        case 3:
            w_.spawn_rows(3, [this](basic_rows<Layout>) { maybe_throw(); }, place{}, burning{});
            break;
        case 4: w_.template query<place>().without(muster::prefab).set(mass{2}); break;
        case 5: w_.template query<mass>().template remove<label>(); break;
        case 6:
            if (pick(4) == 0) w_.template query<place, frozen>().destroy();
            break;
        case 7: {
            basic_deferred<Layout> changes{w_};
            for (int i = pick(5); i >= 0; --i) single();
            if (pick(3) == 0) changes.cancel();
            break;
        }
        case 8:
            if (pick(6) == 0) w_.template clear<label>();
            break;
        case 9: {
            const auto tag = w_.tag();
            w_.set(one(), tag);
            w_.set(one(), tag);
            w_.destroy(tag);
            break;
        }
        case 10:
            if (pick(20) == 0) w_.reset();
            break;
        case 11:
            if (pick(5) == 0) w_.collect_garbage();
            break;
        default: single(); break;
        }
    }

    mirrored_world<Layout>& test_;
    open_world<Layout>& w_;
    std::mt19937 random_;
};

TYPED_TEST(row_follower_of, mirrors_random_programs) {
    for (std::uint32_t seed = 1; seed <= 60 && !this->HasFatalFailure(); ++seed) {
        SCOPED_TRACE(seed);
        mirrored_world<TypeParam> test;
        story<TypeParam>(test, seed).run(60);
        EXPECT_GT(test.seen.events, 10);
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
