// Walks: queries over chunk and sparse fragments, compared with a naive evaluation, and the order
// of their entities.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/behavior_layouts.hpp"
#include "support/layouts.hpp"
#include "support/scale.hpp"

namespace muster::test {
namespace {

struct place {
    int value = 0;
};
struct speed {
    int value = 0;
};
struct label {
    std::string text;
};
struct mark {};
struct glow {
    std::array<int, 5> values{};
};
struct veil {};

// Fragments are identified by their index in this list.
using kinds = std::tuple<place, speed, label, mark, glow, veil>;
constexpr int kind_count = std::tuple_size_v<kinds>;
constexpr int kind_veil = 5;  // hides its entities
template <class T>
constexpr int kind_of = [] {
    int found = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((found += std::is_same_v<T, std::tuple_element_t<I, kinds>> ? static_cast<int>(I) : 0),
         ...);
    }(std::make_index_sequence<kind_count>{});
    return found;
}();
template <class Use>
void with_kind(int which, Use use) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (void)((which == static_cast<int>(I) &&
                (use.template operator()<std::tuple_element_t<I, kinds>>(), true)) ||
               ...);
    }(std::make_index_sequence<kind_count>{});
}

template <class T>
T made_as(int value) {
    if constexpr (std::is_same_v<T, label>)
        return {std::to_string(value)};
    else if constexpr (std::is_same_v<T, glow>)
        return {{value, 0, value, 0, value}};
    else if constexpr (std::is_empty_v<T>)
        return {};
    else
        return {value};
}
template <class T>
int read_as(const T& from) {
    if constexpr (std::is_same_v<T, label>)
        return std::stoi(from.text);
    else if constexpr (std::is_same_v<T, glow>)
        return from.values[2] == from.values[0] && from.values[4] == from.values[0] ? from.values[0]
                                                                                    : -1;
    else if constexpr (std::is_empty_v<T>)
        return 0;
    else
        return from.value;
}

/// The terms of a query, in addition to the types that it shows.
struct term_list {
    std::vector<int> with{};
    std::vector<int> without{};
    std::vector<std::vector<int>> any{};

    bool names(int f) const {
        const auto has = [&](const std::vector<int>& all) {
            return std::ranges::find(all, f) != all.end();
        };
        return has(with) || has(without) || std::ranges::any_of(any, has);
    }
};

/// A world with chunk and sparse fragments, and a model of its entities.
template <class Layout>
class mixture {
public:
    void run(unsigned seed, bool acts) {
        begin(seed);
        const int spread = 2 + roll(3);
        for (int i = 20 + roll(300); i > 0; --i) {
            change_something(spread);
            on_stored();
        }
        for (int i = 0; i < 12 && !testing::Test::HasFatalFailure(); ++i) {
            check_something(acts);
            change_something(spread);
            on_stored();
        }
    }

private:
    using id_type = basic_id<Layout>;
    using values = std::map<int, int>;

    int roll(int end) { return static_cast<int>(dice_() % static_cast<unsigned>(end)); }

    /// None, some or all fragments are sparse.
    void begin(unsigned seed) {
        dice_.seed(seed);
        const int percent = std::array{0, 30, 60, 100}[static_cast<std::size_t>(roll(4))];
        for (int f = 0; f < kind_count; ++f)
            with_kind(f, [&]<class T>() {
                ids_.push_back(w_.template component<T>());
                if (roll(100) < percent) w_.template define<T>().sparse();
            });
        w_.template define<veil>().hidden();
    }

    // ---- changes of the world, now or at the end of its scope, and of the model afterwards ------

    void set(id_type e, int f, int value) {
        with_kind(f, [&]<class T>() { w_.set(e, made_as<T>(value)); });
        pending_.push_back([=, this] {
            const auto found = all_.find(e);
            with_kind(f, [&]<class T>() {
                if (found != all_.end()) found->second[f] = std::is_empty_v<T> ? 0 : value;
            });
        });
    }
    void remove(id_type e, int f) {
        w_.remove(e, ids_[static_cast<std::size_t>(f)]);
        pending_.push_back([=, this] {
            if (const auto found = all_.find(e); found != all_.end()) found->second.erase(f);
        });
    }
    void destroy(id_type e) {
        w_.destroy(e);
        pending_.push_back([=, this] { all_.erase(e); });
    }
    id_type spawn() {
        const id_type e = w_.spawn();
        pending_.push_back([=, this] { all_[e]; });
        return e;
    }
    void on_stored() {
        for (const auto& change : pending_) change();
        pending_.clear();
    }

    void change_something(int spread) {
        const auto random_entity = [&] {
            auto at = all_.begin();
            std::advance(at, roll(static_cast<int>(all_.size())));
            return at->first;
        };
        const int which = all_.empty() ? 0 : roll(10);
        if (which < 2) {
            const id_type e = spawn();
            for (int f = 0; f < kind_veil; ++f)
                if (roll(spread) == 0) set(e, f, roll(1000));
            if (roll(12) == 0) set(e, kind_veil, 0);
        } else if (which < 6) {
            set(random_entity(), roll(kind_veil), roll(1000));
        } else if (which < 9) {
            remove(random_entity(), roll(kind_count));
        } else if (all_.size() > 20) {
            destroy(random_entity());
        }
    }

    // ---- checks --------------------------------------------------------------------------------

    bool fits(const values& has, const term_list& terms) const {
        const auto is_there = [&](int f) { return has.contains(f); };
        if (has.empty() || !std::ranges::all_of(terms.with, is_there) ||
            std::ranges::any_of(terms.without, is_there))
            return false;
        for (const std::vector<int>& group : terms.any)
            if (std::ranges::none_of(group, is_there)) return false;
        return !has.contains(kind_veil) || terms.names(kind_veil);
    }

    template <class Argument>
    void check_shown(id_type e, Argument& shown) {
        if constexpr (std::is_pointer_v<Argument>) {
            using type = std::remove_const_t<std::remove_pointer_t<Argument>>;
            const bool has = all_.at(e).contains(kind_of<type>);
            ASSERT_EQ(shown != nullptr, has);
            if (has) check_shown(e, *shown);
        } else {
            using type = std::remove_const_t<Argument>;
            ASSERT_TRUE(all_.at(e).contains(kind_of<type>));
            ASSERT_EQ(read_as(shown), all_.at(e).at(kind_of<type>));
            if (!std::is_empty_v<type>) ASSERT_EQ(&shown, w_.template try_get<type>(e));
        }
    }

    /// Expects the spans to contain the values of the entities in the rows.
    template <class T>
    void check_rows(const basic_rows<Layout>& rows) {
        using type = std::remove_const_t<std::remove_pointer_t<T>>;
        std::size_t count = 0;
        for (const id_type e : rows.entities()) count += all_.at(e).contains(kind_of<type>);
        ASSERT_TRUE(count == 0 || count == rows.size());
        ASSERT_EQ(rows.template has<type>(), count != 0);
        if constexpr (!std::is_empty_v<type>) {
            if (count == 0) return;
            const std::span<type> span = rows.template components<type>();
            ASSERT_EQ(span.size(), rows.size());
            for (std::size_t i = 0; i < span.size(); ++i)
                ASSERT_EQ(&span[i], &w_.template get<type>(rows.entities()[i]));
        }
    }

    /// Checks every function of a query; `acts`: the loops make changes.
    template <class... Ts>
    void check(basic_query<Layout, Ts...> query, term_list terms, bool acts) {
        terms = refined(query, std::move(terms));
        std::set<id_type> wanted;
        for (const auto& [e, has] : all_) {
            const bool is_wanted = fits(has, terms);
            if (is_wanted) wanted.insert(e);
            ASSERT_EQ(query.matches(e), is_wanted) << query.explain(e);
            ASSERT_EQ(query.explain(e).find("does not match") == std::string::npos, is_wanted)
                << query.explain(e);
        }
        ASSERT_EQ(query.count(), wanted.size());
        ASSERT_EQ(query.empty(), wanted.empty());

        std::vector<id_type> by_each;
        query.each([&](id_type e, auto&&... shown) {
            by_each.push_back(e);
            (check_shown(e, shown), ...);
        });
        ASSERT_EQ(std::set<id_type>(by_each.begin(), by_each.end()), wanted);
        ASSERT_EQ(by_each.size(), wanted.size()) << "an entity was visited twice";
        ASSERT_EQ(query.first(), by_each.empty() ? id_type{} : by_each[0]);

        std::vector<id_type> by_rows;
        query.each_chunk([&](const basic_rows<Layout>& rows) {
            ASSERT_NE(rows.size(), 0u);
            (check_rows<Ts>(rows), ...);
            by_rows.insert(by_rows.end(), rows.entities().begin(), rows.entities().end());
        });
        ASSERT_EQ(by_rows, by_each);

        std::vector<id_type> by_range;
        for (auto row : query)
            std::apply(
                [&](id_type e, auto&&... shown) {
                    by_range.push_back(e);
                    (check_shown(e, shown), ...);
                    for (int i = acts ? roll(3) : 0; i > 0; --i) change_something(2);
                    (check_shown(e, shown), ...);
                },
                row);
        ASSERT_EQ(by_range, by_each);
        on_stored();
    }

    /// Adds random terms by id, to the query and to the returned terms.
    template <class... Ts>
    term_list refined(basic_query<Layout, Ts...>& query, term_list terms) {
        const auto add_once = [](std::vector<int>& list, int f) {  // a list names it once
            if (std::find(list.begin(), list.end(), f) == list.end()) list.push_back(f);
        };
        const auto some = [&](int most) {
            std::vector<int> made;
            for (int i = roll(most + 1); i > 0; --i) add_once(made, roll(kind_count));
            return made;
        };
        const auto by_id = [&](const std::vector<int>& from) {
            std::vector<id_type> made;
            for (const int f : from) made.push_back(ids_[static_cast<std::size_t>(f)]);
            return made;
        };
        const std::vector<int> more = some(1);
        const std::vector<int> less = roll(2) == 0 ? some(2) : std::vector<int>{};
        query = query.with(by_id(more)).without(by_id(less));
        terms.with.insert(terms.with.end(), more.begin(), more.end());
        terms.without.insert(terms.without.end(), less.begin(), less.end());
        for (int i = roll(4); i > 1; --i) {
            terms.any.push_back(some(2));
            add_once(terms.any.back(), roll(kind_count));
            query = query.any(by_id(terms.any.back()));
        }
        return terms;
    }

    void check_something(bool acts) {
        switch (roll(7)) {
        case 0: return check(w_.template query<place>(), {{0}}, acts);
        case 1: return check(w_.template query<const place, speed*>(), {{0}}, acts);
        case 2: return check(w_.template query<label, const glow*, const speed>(), {{2, 1}}, acts);
        case 3: return check(w_.template query<const mark, const place*>(), {{3}}, acts);
        case 4: return check(w_.template query<const glow, place, const label*>(), {{4, 0}}, acts);
        case 5: return check(w_.template query<const speed*, mark*>(), {}, acts);
        default: return check(w_.query(), {}, acts);
        }
    }

    basic_world<Layout> w_;
    std::mt19937_64 dice_;
    std::vector<id_type> ids_;       // ids of the fragments
    std::map<id_type, values> all_;  // the model
    std::vector<std::function<void()>> pending_;
};

template <class Layout>
class walk : public testing::Test {
protected:
    basic_world<Layout> w;

    static void run(unsigned seeds, bool acts) {
        for (unsigned seed = 0; seed < seeds; ++seed) {
            mixture<Layout> tested;
            tested.run(seed, acts);
            ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
        }
    }
    template <class Query>
    static std::vector<basic_id<Layout>> seen(const Query& query) {
        std::vector<basic_id<Layout>> made;
        for (const auto& row : query) made.push_back(std::get<0>(row));
        return made;
    }
};
TYPED_TEST_SUITE(walk, behavior_layouts, layout_names);

TYPED_TEST(walk, agrees_with_a_naive_evaluation_over_random_mixtures) {
    this->run(100u * scale(), false);
}

TYPED_TEST(walk, shows_the_state_at_its_start_despite_changes_in_the_loop) {
    this->run(100u * scale(), true);
}

TYPED_TEST(walk, visits_entities_in_the_insertion_order_of_a_smaller_sparse_set) {
    this->w.template define<glow>().sparse();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 200; ++i)
        all.push_back(i % 3 == 0 ? this->w.spawn(place{i}, speed{i}) : this->w.spawn(place{i}));
    std::shuffle(all.begin(), all.end(), std::mt19937(7));
    all.resize(150);  // more than one segment
    for (const auto e : all) this->w.set(e, glow{});
    EXPECT_EQ(this->seen(this->w.template query<const glow>()), all);
    EXPECT_EQ(this->seen(this->w.template query<const glow, const place>()), all);
    EXPECT_EQ(this->seen(this->w.template query<const place, const glow, speed*>()), all);
    EXPECT_EQ(this->w.template query<const place>().template with<glow>().first(), all[0]);
}

TYPED_TEST(walk, iterates_over_the_smallest_of_several_sparse_sets) {
    this->w.template define<glow>().sparse();
    this->w.template define<label>().sparse();
    const auto all = this->w.spawn_many(100, place{});
    for (std::size_t i = 0; i < 80; ++i) this->w.set(all[i], glow{});
    const std::vector few{all[70], all[3], all[99], all[42]};
    for (const auto e : few) this->w.set(e, label{"1"});
    EXPECT_EQ(this->seen(this->w.template query<const glow, const label>()),
              (std::vector{all[70], all[3], all[42]}));
}

TYPED_TEST(walk, visits_entities_by_chunk_and_row_if_the_chunks_have_fewer) {
    MUSTER_ABOUT_CHUNKS();
    this->w.template define<glow>().sparse();
    const auto others = this->w.spawn_many(50, glow{});
    const auto a = this->w.spawn(glow{}, place{});
    const auto b = this->w.spawn(place{}, speed{});
    const auto c = this->w.spawn(place{});
    const auto d = this->w.spawn(place{}, speed{});
    for (const auto e : {d, c, b}) this->w.set(e, glow{});
    EXPECT_EQ(this->seen(this->w.template query<const glow, place>()), (std::vector{a, c, b, d}));
    EXPECT_EQ(this->w.template query<glow>().count(), others.size() + 4);
}

TYPED_TEST(walk, visits_entities_with_only_sparse_fragments_last) {
    MUSTER_ABOUT_CHUNKS();
    this->w.template define<glow>().sparse();
    this->w.template define<mark>().sparse();
    const auto bare = this->w.spawn(mark{}, glow{});
    const auto nothing = this->w.spawn();
    const auto a = this->w.spawn(place{});
    const auto b = this->w.spawn(speed{}, glow{});
    EXPECT_EQ(this->seen(this->w.query()), (std::vector{a, b, bare}));
    EXPECT_EQ(this->seen(this->w.template query<const place*, const glow*>()),
              (std::vector{a, b, bare}));
    EXPECT_EQ(this->seen(this->w.query().template any<mark, speed>()), (std::vector{b, bare}));
    EXPECT_FALSE(this->w.query().matches(nothing));
}

TYPED_TEST(walk, follows_the_order_of_a_sorted_sparse_set) {
    this->w.template define<speed>().sparse();
    std::vector<basic_id<TypeParam>> all;
    for (int i = 0; i < 100; ++i) all.push_back(this->w.spawn(place{}, speed{i * 37 % 100}));
    this->w.template sort<speed>([](const speed& a, const speed& b) { return a.value < b.value; });
    std::ranges::sort(all, {}, [&](auto e) { return this->w.template get<speed>(e).value; });
    EXPECT_EQ(this->seen(this->w.template query<const speed>()), all);
    EXPECT_EQ(this->seen(this->w.template query<const speed, const place>()), all);
}

TYPED_TEST(walk, rows_report_fragments_that_the_query_does_not_name) {
    this->w.template define<glow>().sparse();
    this->w.spawn(glow{}, place{1});
    this->w.spawn(glow{}, place{2});
    std::size_t count = 0;
    this->w.template query<glow>().each_chunk([&](const basic_rows<TypeParam>& rows) {
        EXPECT_TRUE(rows.template has<place>());
        EXPECT_FALSE(rows.template has<speed>());
        count += rows.size();
    });
    EXPECT_EQ(count, 2u);
}

}  // namespace
}  // namespace muster::test
