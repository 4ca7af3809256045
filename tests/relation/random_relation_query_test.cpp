// Every form of a query with conditions on links, compared with a naive model: in random worlds, after
// random changes.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/thread_executor.hpp"

namespace muster::test {
namespace {

struct health {
    int points = 0;
};
struct rank {
    int value = 0;
};
struct burning {  // sparse, if the test says so
    int left = 0;
};
struct hidden_one {};
struct likes {  // many targets
    int strength = 0;
};
struct docked_at {};  // exclusive
struct member_of {};  // grouping
struct rules {};      // leveled

template <class Layout>
class random_world {
public:
    using entity_type = basic_id<Layout>;
    using list = std::vector<entity_type>;
    using test = std::function<bool(entity_type)>;

    basic_world<Layout> w;
    std::mt19937 random;
    list all;

    explicit random_world(unsigned seed) : random(seed) {
        w.template define<likes>().relation();
        w.template define<docked_at>().relation().exclusive();
        w.template define<member_of>().relation().grouping();
        w.template define<rules>().relation().leveled();
        if (seed % 2 == 0) w.template define<burning>().sparse();
        w.template define<hidden_one>().hidden();
        for (int i = 0; i < 12; ++i) all.push_back(w.spawn(health{i}));
    }
    std::size_t below(std::size_t limit) { return random() % limit; }
    entity_type any() { return all[below(all.size())]; }

    void change() {
        const auto e = any(), other = any();
        switch (below(16)) {
        case 0: all.push_back(w.spawn(health{static_cast<int>(all.size())})); break;
        case 1: all.push_back(w.spawn()); break;
        case 2: w.set(e, health{1}); break;
        case 3: w.set(e, rank{static_cast<int>(below(3))}); break;
        case 4: w.set(e, burning{1}); break;
        case 5: w.template remove<rank>(e); break;
        case 6:
            if (below(4) == 0)
                w.set(e, hidden_one{});
            else
                w.template remove<hidden_one>(e);
            break;
        case 7:
        case 8: w.template relate<likes>(e, other, likes{1}); break;
        case 9: w.template unrelate<likes>(e); break;
        case 10: w.template relate<docked_at>(e, other); break;
        case 11:
            w.template relate<member_of>(e, all[below(std::min<std::size_t>(all.size(), 5))]);
            break;
        case 12:
            if (e != other && !w.is_below(other, e)) w.relate(child_of, e, other);
            break;
        case 13: try { w.template relate<rules>(e, other);
            } catch (const error&) {  // a cycle
            }
            break;
        case 14: w.template unrelate<docked_at>(e); break;
        case 15:
            if (below(12) == 0 && all.size() > 20) {
                w.destroy(e);
                std::erase_if(all, [&](entity_type at) { return !w.alive(at); });
            }
            break;
        }
    }

    /// The living entities that a plain query shows, and that meet all conditions.
    list expected(std::initializer_list<test> conditions) {
        list found;
        for (const auto e : all) {
            const bool is_shown = !w.template has<hidden_one>(e);
            if (is_shown && std::ranges::all_of(conditions, [&](const test& t) { return t(e); }))
                found.push_back(e);
        }
        std::ranges::sort(found);
        return found;
    }
    template <class Range>
    static bool contains(Range&& range, entity_type wanted) {
        for (const auto e : range)
            if (e == wanted) return true;
        return false;
    }
    template <class R>
    [[nodiscard]] bool is_under(entity_type e, entity_type root) {
        if (e == root) return false;
        list open{e}, seen;
        while (!open.empty()) {
            const auto at = open.back();
            open.pop_back();
            for (const auto target : w.template targets<R>(at)) {
                if (target == root) return true;
                if (!contains(seen, target)) {
                    seen.push_back(target);
                    open.push_back(target);
                }
            }
        }
        return false;
    }

    /// Compares all calls of a query with the expected entities.
    template <class Query>
    void check(const Query& query, list wanted, const char* what) {
        SCOPED_TRACE(what);
        list found, ranged, chunked;
        query.each([&](entity_type e, auto&&...) { found.push_back(e); });
        for (const auto& row : query) ranged.push_back(std::get<0>(row));
        ASSERT_EQ(found, ranged);
        query.each_chunk([&](const auto& rows) {
            for (const auto e : rows.entities()) chunked.push_back(e);
        });
        ASSERT_EQ(found, chunked);
        ASSERT_EQ(query.first(), found.empty() ? entity_type() : found.front());
        ASSERT_EQ(query.empty(), found.empty());
        ASSERT_EQ(query.count(), found.size());
        for (const auto e : all) {
            const bool matches = std::ranges::binary_search(wanted, e);
            ASSERT_EQ(query.matches(e), matches) << query.explain(e);
            ASSERT_EQ(query.explain(e).find("does not match") == std::string::npos, matches)
                << query.explain(e);
        }
        std::ranges::sort(found);
        ASSERT_EQ(found, wanted);
        list shared;
        query.par_each(threads_, 0, [&](entity_type e, auto&&...) {
            while (__atomic_test_and_set(&lock_, __ATOMIC_ACQUIRE)) {
            }
            shared.push_back(e);
            __atomic_clear(&lock_, __ATOMIC_RELEASE);
        });
        std::ranges::sort(shared);
        ASSERT_EQ(shared, wanted);
    }

    void check_all() {
        const auto t = any(), u = any(), root = any();
        const auto has_health = [&](entity_type e) { return w.template has<health>(e); };
        const auto has_rank = [&](entity_type e) { return w.template has<rank>(e); };
        const auto has_burning = [&](entity_type e) { return w.template has<burning>(e); };
        const auto to_t = [&](entity_type e) { return w.template related<likes>(e, t); };
        const auto to_u = [&](entity_type e) { return w.template related<likes>(e, u); };
        const auto docked = [&](entity_type e) { return w.template related<docked_at>(e, t); };
        const auto member = [&](entity_type e) {
            return w.template target<member_of>(e) == all[0];
        };
        const auto under = [&](entity_type e) { return w.is_below(e, root); };
        const auto q = w.template query<health>();
        check(q.template to<likes>(t), expected({has_health, to_t}), "to likes");
        check(w.template query<>().template to<likes>(t), expected({to_t}), "only links");
        check(q.template to<docked_at>(t), expected({has_health, docked}), "to docked_at");
        check(q.template to<member_of>(all[0]), expected({has_health, member}), "to member_of");
        check(q.template to<likes>(t).template to<likes>(u), expected({has_health, to_t, to_u}),
              "two targets");
        check(q.template to<member_of>(all[0]).template to<likes>(t).template with<burning>(),
              expected({has_health, member, to_t, has_burning}), "group, link, sparse");
        check(w.template query<const rank*, burning>().template to<docked_at>(t),
              expected({has_burning, docked}), "sparse");
        check(q.under(child_of, root), expected({has_health, under}), "under");
        check(w.template query<const rank>().under(child_of, root), expected({has_rank, under}),
              "under, few");
        check(w.template query<>().template under<likes>(root),
              expected({[&](entity_type e) { return is_under<likes>(e, root); }}), "under likes");
        check(q.template under<docked_at>(root),
              expected({has_health, [&](entity_type e) { return is_under<docked_at>(e, root); }}),
              "under docked_at");
        check(w.template query<const rank>().template under<docked_at>(root),
              expected({has_rank, [&](entity_type e) { return is_under<docked_at>(e, root); }}),
              "under docked_at, few");
        const auto rank_matches = [&](entity_type e) {
            return has_rank(e) && !w.template has<hidden_one>(e);
        };
        const auto any_target = [&]<class R>(entity_type e, R, const test& condition) {
            for (const auto target : w.template targets<R>(e))
                if (condition(target)) return true;
            return false;
        };
        const auto ranked = w.template query<const rank>();
        check(q.template to<likes>(ranked),
              expected({has_health,
                        [&](entity_type e) { return any_target(e, likes{}, rank_matches); }}),
              "join");
        check(
            w.template query<const burning>().template to<docked_at>(ranked.template to<likes>(t)),
            expected({has_burning,
                      [&](entity_type e) {
                          return any_target(e, docked_at{}, [&](entity_type at) {
                              return rank_matches(at) && to_t(at);
                          });
                      }}),
            "join of a link");
        check(q.template to<likes>(w.template query<>().under(child_of, root)),
              expected({has_health,
                        [&](entity_type e) {
                            return any_target(e, likes{}, [&](entity_type at) {
                                return under(at) && !w.template has<hidden_one>(at);
                            });
                        }}),
              "join of a subtree");
        check(w.template query<const health, up<const rank>>(),
              expected({has_health,
                        [&](entity_type e) { return w.parent(e) && has_rank(w.parent(e)); }}),
              "up");
        check(w.template query<const health, up<burning*>>(), expected({has_health}),
              "up optional");
        check(w.template query<above<const burning, docked_at>>(), expected({[&](entity_type e) {
                  list seen;
                  for (auto at = w.template target<docked_at>(e); at && !contains(seen, at);
                       at = w.template target<docked_at>(at)) {
                      if (has_burning(at)) return true;
                      seen.push_back(at);
                  }
                  return false;
              }}),
              "above, in circles");
        check(w.template query<health, above<const rank>>().top_down(),
              expected({has_health,
                        [&](entity_type e) {
                            for (auto at = w.parent(e); at; at = w.parent(at))
                                if (has_rank(at)) return true;
                            return false;
                        }}),
              "above, top_down");
        check(q.top_down(), expected({has_health}), "top_down");
        check(w.template query<burning>().template bottom_up<rules>(), expected({has_burning}),
              "bottom_up");
        check(q.template by_target<docked_at>(),
              expected({has_health,
                        [&](entity_type e) {
                            return static_cast<bool>(w.template target<docked_at>(e));
                        }}),
              "by_target");
        check(q.template by_target<member_of>(),
              expected({has_health,
                        [&](entity_type e) {
                            return static_cast<bool>(w.template target<member_of>(e));
                        }}),
              "by_target of groups");
        check_order(q.top_down(), [&](entity_type e) { return long{w.level(e)}; });
        check_order(q.bottom_up(), [&](entity_type e) { return -long{w.level(e)}; });
        check_order(q.under(child_of, root).top_down(),
                    [&](entity_type e) { return long{w.level(e)}; });
        check_links();
    }
    template <class Query, class Key>
    void check_order(const Query& query, Key key) {
        std::vector<long> keys;
        query.each([&](entity_type e, auto&&...) { keys.push_back(key(e)); });
        ASSERT_TRUE(std::ranges::is_sorted(keys));
    }
    void check_links() {
        std::vector<std::pair<entity_type, entity_type>> found, wanted;
        w.template query<>().template each_link<likes>(
            [&](entity_type from, entity_type to, likes& v) {
                ASSERT_EQ(&v, w.template try_link<likes>(from, to));
                found.emplace_back(from, to);
            });
        for (const auto e : expected({}))
            for (const auto target : w.template targets<likes>(e)) wanted.emplace_back(e, target);
        std::ranges::sort(found);
        std::ranges::sort(wanted);
        ASSERT_EQ(found, wanted);
    }

private:
    muster_tests::thread_executor threads_{3};
    bool lock_ = false;
};
template <class Layout>
struct random_relation_query : testing::Test {};
TYPED_TEST_SUITE(random_relation_query, behavior_layouts, layout_names);

TYPED_TEST(random_relation_query, all_forms_agree_with_a_naive_model) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        random_world<TypeParam> tried(seed);
        for (int step = 0; step < 600; ++step) {
            tried.change();
            if (step % 40 == 39) tried.check_all();
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

}  // namespace
}  // namespace muster::test
