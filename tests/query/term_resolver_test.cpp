// A small room above the queries: a wildcard that stands for several fragments, an order of chunks
// by depth, and values that chunks show without storing them.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/about_chunks.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

struct place {
    int x;
};
struct mass {
    int kilograms;
};

using bound = layouts::bound;

/// The state of a query, with terms that a resolver answers.
class probe : public query_state<bound> {
public:
    explicit probe(const query_state& from) : query_state(from) {}

    [[nodiscard]] query_cache& cache() const { return *cache_; }
    [[nodiscard]] const fragment_data& fragment(id f) const { return store_->find_fragment(f); }
    [[nodiscard]] chunk_index chunk_of(id e) const { return store_->find(e)->chunk(); }
    void add(const term& wanted) {
        terms_.add(wanted);
        list_ = nullptr;
    }
    void order_by(resolver_index order) {
        terms_.set_order(order);
        list_ = nullptr;
    }
    [[nodiscard]] chunk_range read() const { return cache_->read(list(), false); }
    [[nodiscard]] std::size_t count() const { return count_in(read()); }
    [[nodiscard]] bool is_plain() const { return read().is_plain; }

    template <class... Ts, class Callback>
    void each(Callback callback) const {
        const fragment_data* const shown[] = {
            &store_->find_fragment<typename term_traits<Ts>::type>()..., nullptr};
        const chunk_range all = read();
        here_type here = all.is_plain ? here_type() : start_for<here_type>({shown, sizeof...(Ts)});
        query_loop<bound, Ts...>::run(here.get(), all, shown, callback);
    }
    [[nodiscard]] std::vector<id> entities() const {
        std::vector<id> found;
        each<>([&](id e) { found.push_back(e); });
        return found;
    }
};

class fake_room : public term_resolver {
public:
    std::uint64_t changes = 0;
    std::vector<const fragment_data*> liked;         // for the wildcard
    std::vector<const fragment_data*> masses;        // for the inherited component
    std::map<std::uint32_t, const mass*> inherited;  // by chunk
    std::map<std::uint32_t, int> depths;             // by chunk
    mutable int builds = 0;                          // calls of `before`

    static constexpr std::uint64_t any_liked = 1;  // the only id that it knows

    [[nodiscard]] std::uint64_t version() const noexcept override { return changes; }
    [[nodiscard]] slice<const fragment_data* const> expand(
        const term& wanted) const noexcept override {
        return wanted.is_typed ? masses : liked;
    }
    [[nodiscard]] const void* outside(const term& wanted,
                                      const chunk_data& chunk) const noexcept override {
        const auto found = inherited.find(to_int(chunk.index));
        return wanted.is_typed && found != inherited.end() ? found->second : nullptr;
    }
    [[nodiscard]] bool before(const chunk_data& a, const chunk_data& b) const noexcept override {
        ++builds;
        return depth_of(a) < depth_of(b);
    }

private:
    [[nodiscard]] int depth_of(const chunk_data& chunk) const noexcept {
        const auto found = depths.find(to_int(chunk.index));
        return found != depths.end() ? found->second : 0;
    }
};

class term_resolver_of_a_world : public testing::Test {
protected:
    world w;
    fake_room room;
    std::map<std::string, id> fragments;
    probe query{w.query<place>()};
    resolver_index number = query.cache().add_resolver(room);

    void SetUp() override { MUSTER_ABOUT_CHUNKS(); }

    [[nodiscard]] term wildcard(term_kind kind, std::uint8_t group = 0) const {
        return {fake_room::any_liked, kind, false, group, number};
    }
    [[nodiscard]] term inherited_mass(term_kind kind) const {
        return {static_cast<std::uint64_t>(ensure_type_index<mass>()), kind, true, 0, number};
    }
    entity liking(std::string_view whom) {
        const entity e = w.spawn(place{0});
        w.add(e, fragment(whom));
        return e;
    }
    id fragment(std::string_view name) {
        id& known = fragments[std::string(name)];
        if (!known) known = w.tag(name);
        return known;
    }
    /// `next` is liked, too.
    void like(std::string_view next) {
        room.liked.push_back(&query.fragment(fragment(next)));
        ++room.changes;
    }
};

using entities = std::vector<id>;

TEST_F(term_resolver_of_a_world, a_wildcard_stands_for_each_of_its_fragments) {
    like("bob");
    like("eve");
    like("sam");
    const entity to_bob = liking("bob"), to_eve = liking("eve"), to_sam = liking("sam");
    const entity to_tom = liking("tom");
    const entity alone = w.spawn(place{0});
    probe without = query;
    query.add(wildcard(term_kind::with));
    EXPECT_EQ(query.entities(), (entities{to_bob, to_eve, to_sam}));
    EXPECT_EQ(query.count(), 3u);
    EXPECT_TRUE(query.matches(to_eve));
    EXPECT_FALSE(query.matches(to_tom));
    without.add(wildcard(term_kind::without));
    EXPECT_EQ(without.entities(), (entities{alone, to_tom}));
    EXPECT_NE(query.explain(alone).find("it has no bob or eve or sam, which is required"),
              std::string::npos)
        << query.explain(alone);
}

TEST_F(term_resolver_of_a_world, a_wildcard_may_stand_for_sparse_and_other_fragments) {
    w.define(fragment("eve")).sparse();
    like("bob");
    like("eve");
    const entity to_bob = liking("bob"), to_eve = liking("eve"), to_tom = liking("tom");
    probe without = query;
    query.add(wildcard(term_kind::with));
    EXPECT_FALSE(query.is_plain());
    std::vector<id> found = query.entities();
    std::ranges::sort(found);
    EXPECT_EQ(found, (entities{to_bob, to_eve}));
    without.add(wildcard(term_kind::without));
    EXPECT_EQ(without.entities(), entities{to_tom});
}

TEST_F(term_resolver_of_a_world, a_new_version_builds_the_list_again) {
    like("bob");
    query.add(wildcard(term_kind::with));
    const entity to_bob = liking("bob"), to_eve = liking("eve");
    EXPECT_EQ(query.entities(), entities{to_bob});
    room.liked.push_back(&query.fragment(fragment("eve")));
    EXPECT_EQ(query.entities(), entities{to_bob});  // the same version
    ++room.changes;
    EXPECT_EQ(query.entities(), (entities{to_bob, to_eve}));
    room.liked.clear();
    ++room.changes;
    EXPECT_EQ(query.entities(), entities{});
}

TEST_F(term_resolver_of_a_world, chunks_come_in_the_order_of_the_resolver) {
    const entity deep = liking("bob"), middle = liking("eve"), root = w.spawn(place{0});
    room.depths[to_int(query.chunk_of(deep))] = 2;
    room.depths[to_int(query.chunk_of(middle))] = 1;
    EXPECT_EQ(query.entities(), (entities{root, deep, middle}));  // the chunk of `root` is older
    query.order_by(number);
    EXPECT_TRUE(query.is_plain());
    EXPECT_EQ(query.entities(), (entities{root, middle, deep}));

    const int builds = room.builds;
    EXPECT_EQ(query.count(), 3u);
    EXPECT_EQ(room.builds, builds);  // a list that is up to date is not sorted again

    const entity other = liking("sam");  // a new chunk of depth 0
    EXPECT_EQ(query.entities(), (entities{root, other, middle, deep}));
    room.depths[to_int(query.chunk_of(root))] = 3;
    ++room.changes;
    EXPECT_EQ(query.entities(), (entities{other, middle, deep, root}));
}

TEST_F(term_resolver_of_a_world, a_value_from_outside_of_a_chunk_stands_for_all_its_rows) {
    const mass shared{7};
    (void)w.component<mass>();
    room.masses = {&query.fragment(w.component<mass>())};
    std::vector<id> heirs;
    for (int i = 0; i < 150; ++i) heirs.push_back(liking("bob"));  // three blocks of rows
    const entity owner = w.spawn(place{0}, mass{5});
    const entity poor = liking("eve");
    room.inherited[to_int(query.chunk_of(heirs[0]))] = &shared;
    query.add(inherited_mass(term_kind::with));

    std::map<id, const mass*> found;
    query.each<place, const mass>([&](id e, place& p, const mass& m) {
        ++p.x;
        found[e] = &m;
    });
    EXPECT_EQ(found.size(), 151u);
    for (const id heir : heirs) {
        EXPECT_EQ(found[heir], &shared);
        EXPECT_EQ(w.get<place>(heir).x, 1);
    }
    EXPECT_EQ(found[owner], &w.get<mass>(owner));
    EXPECT_EQ(query.count(), 151u);
    EXPECT_TRUE(query.matches(heirs[0]));
    EXPECT_FALSE(query.matches(poor));

    room.inherited.clear();
    ++room.changes;
    EXPECT_EQ(query.entities(), entities{owner});
    EXPECT_TRUE(query.is_plain());
}

TEST_F(term_resolver_of_a_world, a_missing_component_may_come_from_outside_of_the_chunk) {
    const mass shared{7};
    room.masses = {&query.fragment(w.component<mass>())};
    const entity heir = liking("bob"), poor = liking("eve");
    room.inherited[to_int(query.chunk_of(heir))] = &shared;
    query.add(inherited_mass(term_kind::optional));
    std::map<id, const mass*> found;
    query.each<const mass*>([&](id e, const mass* m) { found[e] = m; });
    EXPECT_EQ(found, (std::map<id, const mass*>{{heir, &shared}, {poor, nullptr}}));
}

TEST_F(term_resolver_of_a_world, is_part_of_the_question) {
    like("bob");
    probe plain = query, ordered = query;
    query.add(wildcard(term_kind::with));
    plain.add({fake_room::any_liked, term_kind::with, false, 0});
    ordered.order_by(number);
    (void)liking("bob");
    EXPECT_EQ(query.count(), 1u);
    EXPECT_EQ(plain.count(), 0u);  // no fragment has this id
    EXPECT_EQ(ordered.count(), 1u);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
