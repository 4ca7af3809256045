// A small cluster in one process: worlds that send their entities to each other.
#include <muster/engine/row_exchange.hpp>
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

struct place {
    int x = 0;
};
struct label {
    std::string text;
};
struct frozen {};
struct burning {
    int heat = 0;
};

struct shard : world {
    explicit shard(const world_options& options = {}) : world(options) {}
    [[nodiscard]] store<layouts::bound>& core() noexcept {
        return this->world_base<layouts::bound>::store_;
    }
    [[nodiscard]] row_exchange& rows() noexcept { return core().exchange; }
    [[nodiscard]] chunk_data& chunk_of(entity e) {
        return core().graph.at(core().find(e)->chunk());
    }
};

/// Memory for the values of some rows of a chunk, column by column.
struct packet {
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::byte*> columns;
    std::vector<std::uint64_t> ids;

    packet(const chunk_data& like, std::size_t count) {
        for (const column& source : like.columns) {
            memory.emplace_back(source.size * count + 64);
            const auto at = reinterpret_cast<std::uintptr_t>(memory.back().data());
            columns.push_back(memory.back().data() + (64 - at % 64) % 64);
        }
    }
};

/// Moves these rows of a chunk of `from` to `to`, whose fragments are C++ types, too.
void send(shard& from, chunk_data& chunk, const std::vector<std::uint32_t>& rows, shard& to) {
    packet sent(chunk, rows.size());
    for (const std::uint32_t row : rows) sent.ids.push_back(chunk.id_at(row));
    array_list<fragment_data*> set;
    for (const fragment_data* fragment : chunk.fragments)
        if (!fragment->holds_guests)
            set.push_back(&to.core().catalog.ensure(fragment->value_type, *fragment->type));
    std::ranges::sort(set, {}, [](const fragment_data* fragment) { return fragment->index; });
    std::vector<std::uint64_t> natives;
    std::vector<std::uint64_t> guests;
    for (const std::uint64_t e : sent.ids)
        (to.core().entities.is_foreign(e) ? guests : natives).push_back(e);
    ASSERT_TRUE(natives.empty() || guests.empty()) << "the callers of this test separate them";
    chunk_data& into = guests.empty() ? to.core().graph.ensure(set) : to.rows().guest_chunk(set);
    from.rows().take(chunk, rows, to.number(), sent.columns);
    // The columns of both chunks may have another order.
    std::vector<std::byte*> ordered;
    for (const column& target : into.columns)
        for (std::size_t i = 0; i < chunk.columns.size(); ++i)
            if (chunk.columns[i].fragment->value_type == target.fragment->value_type)
                ordered.push_back(sent.columns[i]);
    to.rows().adopt(into, sent.ids, ordered);
}
void send(shard& from, entity e, shard& to) {
    const auto row = static_cast<std::uint32_t>(from.core().find(e)->row());
    send(from, from.chunk_of(e), {row}, to);
}

TEST(row_exchange, an_entity_is_true_wherever_it_goes) {
    shard home;
    shard other;
    const entity e = home.spawn(place{1}, label{"a text that is long enough to be on the heap"});
    home.spawn(place{2}, label{"stays"});
    send(home, e, other);

    EXPECT_TRUE(home.alive(e));
    EXPECT_EQ(home.try_get<place>(e), nullptr);
    EXPECT_FALSE(home.has<place>(e));
    EXPECT_EQ(home.size(), 1u);
    EXPECT_EQ(test::code_of([&] { (void)home.get<place>(e); }), errc::away_entity);

    EXPECT_TRUE(other.alive(e));
    EXPECT_EQ(other.get<place>(e).x, 1);
    EXPECT_EQ(other.get<label>(e).text, "a text that is long enough to be on the heap");
    EXPECT_EQ(other.size(), 1u);
    other.get<place>(e).x = 5;
    other.set(e, frozen{});
    other.remove<label>(e);

    send(other, e, home);
    EXPECT_FALSE(other.alive(e));
    EXPECT_EQ(other.size(), 0u);
    EXPECT_EQ(home.get<place>(e).x, 5);
    EXPECT_TRUE(home.has<frozen>(e));
    EXPECT_FALSE(home.has<label>(e));
    EXPECT_EQ(home.size(), 2u);
    EXPECT_EQ(home.rows().away_count(), 0u);
}

struct likes {};
struct docked_at {};

TEST(row_exchange, an_end_of_a_link_stays_in_its_world) {
    shard home;
    shard other;
    home.define<likes>().relation();
    home.define<docked_at>().relation().exclusive();
    const entity free = home.spawn(place{0}), target = home.spawn(place{1});
    const entity ship = home.spawn(place{2}, to<docked_at>(target));
    const entity bob = home.spawn(place{3}, to<likes>(target));
    const entity child = home.spawn(place{4}, to(child_of, ship));
    for (const entity e : {target, ship, bob, child}) {
        chunk_data& chunk = home.chunk_of(e);
        packet room(chunk, 1);
        const auto row = static_cast<std::uint32_t>(home.core().find(e)->row());
        const auto take = [&] { home.rows().take(chunk, std::vector{row}, 7, room.columns); };
        EXPECT_EQ(test::code_of(take), errc::not_movable) << e;
        EXPECT_NE(test::sentence_of(take).find("cannot leave its world"), std::string::npos);
    }
    {  // all or none
        chunk_data& chunk = home.chunk_of(free);
        ASSERT_EQ(&chunk, &home.chunk_of(target));
        packet room(chunk, 2);
        const std::vector<std::uint32_t> rows{0, 1};
        EXPECT_EQ(test::code_of([&] { home.rows().take(chunk, rows, 7, room.columns); }),
                  errc::not_movable);
    }
    EXPECT_EQ(home.rows().away_count(), 0u);
    EXPECT_EQ(home.target<docked_at>(ship), target);
    EXPECT_EQ(home.level(child), 1u);
    EXPECT_EQ(home.children(ship).size(), 1u);
    home.destroy(ship);
    home.unrelate<likes>(bob);
    send(home, target, other);  // it was a target once
    send(home, bob, other);
    EXPECT_EQ(other.get<place>(target).x, 1);
}

TEST(row_exchange, guests_and_those_away_are_no_ends_of_links) {
    shard home;
    shard other;
    for (shard* w : {&home, &other}) {
        w->define<likes>().relation();
        w->define<docked_at>().relation().exclusive();
    }
    const entity native = other.spawn(place{1}), source = other.spawn(place{2});
    other.relate<docked_at>(source, native);
    const entity guest = home.spawn(place{3}), stays = home.spawn(place{4});
    ASSERT_EQ(guest.key(), native.key()) << "their keys collide on purpose";
    command_buffer b{home};
    b.relate<likes>(stays, guest);
    b.relate<docked_at>(stays, guest);
    send(home, guest, other);
    const auto is_foreign = [](auto call) { return test::code_of(call) == errc::foreign_entity; };
    EXPECT_TRUE(is_foreign([&] { other.relate<docked_at>(source, guest); }));
    EXPECT_TRUE(is_foreign([&] { other.relate<docked_at>(guest, native); }));
    EXPECT_TRUE(is_foreign([&] { other.relate<likes>(source, guest); }));
    EXPECT_TRUE(is_foreign([&] { other.relate<likes>(guest, native); }));
    EXPECT_TRUE(is_foreign([&] { other.relate(child_of, guest, native); }));
    EXPECT_TRUE(is_foreign([&] { other.spawn(to<docked_at>(guest)); }));
    EXPECT_TRUE(is_foreign([&] { other.spawn_many(3, place{}, to(child_of, guest)); }));
    EXPECT_TRUE(is_foreign([&] { other.set(guest, to<docked_at>(native)); }));
    EXPECT_TRUE(is_foreign([&] { other.set(source, place{9}, to<likes>(guest)); }));
    EXPECT_TRUE(is_foreign([&] { (void)other.clone(source, to<likes>(guest)); }));
    EXPECT_TRUE(is_foreign([&] {
        deferred changes{other};
        other.relate<likes>(source, guest);
    }));
    EXPECT_FALSE(other.has<docked_at>(guest));
    EXPECT_EQ(other.sources<docked_at>(native).size(), 1u);
    EXPECT_EQ(other.get<place>(source).x, 2);

    const auto is_away = [](auto call) { return test::code_of(call) == errc::away_entity; };
    EXPECT_TRUE(is_away([&] { home.relate<likes>(stays, guest); }));
    EXPECT_TRUE(is_away([&] { home.relate<docked_at>(guest, stays); }));
    EXPECT_TRUE(is_away([&] { home.spawn(to(child_of, guest)); }));
    EXPECT_TRUE(is_away([&] {
        home.submit(b);
        home.apply_submitted();
    }));
    EXPECT_FALSE(home.has<likes>(stays));
    EXPECT_FALSE(home.has<docked_at>(stays));
}

TEST(row_exchange, the_error_says_where_the_entity_is) {
    shard home{world_options{.number = 61'001}};
    shard other{world_options{.number = 61'002}};
    const entity e = home.spawn(place{1});
    home.name(e, "goblin");
    send(home, e, other);
    const std::string sentence = test::sentence_of([&] { (void)home.get<place>(e); });
    EXPECT_NE(sentence.find("\"goblin\" is in W:61002"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("row_exchange_test.cpp"), std::string::npos) << sentence;
}

TEST(row_exchange, no_call_changes_an_entity_that_is_away) {
    shard home;
    shard other;
    const entity e = home.spawn(place{1});
    const entity tag = home.tag();
    const auto count = home.fragment<int>();
    home.define<burning>().sparse();
    (void)home.component<burning>();
    send(home, e, other);
    const auto refuses = [&](auto call) {
        return test::code_of([&] { call(); }) == errc::away_entity;
    };
    EXPECT_TRUE(refuses([&] { home.set(e, place{2}); }));
    EXPECT_TRUE(refuses([&] { home.set(e, place{2}, label{}); }));
    EXPECT_TRUE(refuses([&] { home.set(e, burning{2}); }));
    EXPECT_TRUE(refuses([&] { home.set(e, count, 2); }));
    EXPECT_TRUE(refuses([&] { home.set(e, tag); }));
    EXPECT_TRUE(refuses([&] { home.add<place>(e); }));
    EXPECT_TRUE(refuses([&] { home.emplace<place>(e, 3); }));
    EXPECT_TRUE(refuses([&] { home.get_or_emplace<place>(e); }));
    EXPECT_TRUE(refuses([&] { home.patch<place>(e, [](place&) {}); }));
    EXPECT_TRUE(refuses([&] { home.touch<place>(e); }));
    EXPECT_TRUE(refuses([&] { home.remove<place>(e); }));
    EXPECT_TRUE(refuses([&] { home.remove<place, label>(e); }));
    EXPECT_TRUE(refuses([&] { home.remove<burning>(e); }));
    EXPECT_TRUE(refuses([&] { home.remove(e, tag); }));
    EXPECT_TRUE(refuses([&] { home.clear(e); }));
    EXPECT_TRUE(refuses([&] { home.destroy(e); }));
    EXPECT_TRUE(refuses([&] { (void)home.clone(e); }));
    EXPECT_TRUE(refuses([&] { (void)home.clone_many(3, e); }));
    EXPECT_TRUE(refuses([&] { (void)home.locate(e); }));
    EXPECT_TRUE(refuses([&] {
        deferred changes{home};
        home.set(e, place{2});
    }));
    EXPECT_TRUE(refuses([&] {
        deferred changes{home};
        home.destroy(e);
    }));
    EXPECT_TRUE(home.alive(e));
    EXPECT_EQ(other.get<place>(e).x, 1);
    std::size_t seen = 0;
    home.each([&](const place&) { ++seen; });
    for (const entity living : home.entities()) EXPECT_NE(living, e);
    EXPECT_EQ(seen, 0u);
}

TEST(row_exchange, every_call_works_for_guests) {
    shard home;
    shard other;
    std::vector<entity> natives;
    for (int i = 0; i < 4; ++i) natives.push_back(other.spawn(place{100 + i}));
    std::vector<entity> guests;
    for (int i = 0; i < 4; ++i) guests.push_back(home.spawn(place{i}));
    ASSERT_EQ(guests[0].key(), natives[0].key()) << "their keys collide on purpose";
    for (const entity e : guests) send(home, e, other);

    std::vector<entity> visited;
    for (const entity e : other.entities()) visited.push_back(e);
    std::vector<entity> expected = natives;
    expected.insert(expected.end(), guests.begin(), guests.end());
    EXPECT_EQ(visited, expected) << "natives first, then guests, each in order";
    EXPECT_EQ(other.query<place>().count(), 8u);

    const entity g = guests[1];
    other.set(g, label{"new"});
    other.add<frozen>(g);
    EXPECT_EQ(other.get<label>(g).text, "new");
    other.patch<place>(g, [](place& p) { p.x = 55; });
    EXPECT_TRUE(other.remove<frozen>(g));
    other.name(g, "visitor");
    EXPECT_EQ(other.lookup("visitor"), g);
    const entity copy = other.clone(g);
    EXPECT_EQ(copy.world(), other.number()) << "a clone is native";
    EXPECT_EQ(other.get<place>(copy).x, 55);
    EXPECT_TRUE(other.clear(g));
    EXPECT_TRUE(other.alive(g));
    EXPECT_FALSE(other.has<place>(g));
    other.set(g, place{56});
    EXPECT_EQ(other.get<place>(g).x, 56);

    EXPECT_TRUE(other.destroy(guests[0]));
    EXPECT_FALSE(other.alive(guests[0]));
    EXPECT_TRUE(other.alive(natives[0])) << "of the same key";
    EXPECT_EQ(other.get<place>(natives[0]).x, 100);
    {
        deferred changes{other};
        other.set(guests[2], label{"deferred"});
        other.destroy(guests[3]);
    }
    EXPECT_EQ(other.get<label>(guests[2]).text, "deferred");
    EXPECT_FALSE(other.alive(guests[3]));
    other.query<place>().set(frozen{});
    EXPECT_TRUE(other.has<frozen>(g));
    EXPECT_EQ(other.query<place>().with<frozen>().destroy(), 7u);
    EXPECT_EQ(other.size(), 0u);
    EXPECT_TRUE(home.alive(guests[0])) << "until the death is reported";
    home.rows().destroy_away(guests[0].value());
    EXPECT_FALSE(home.alive(guests[0]));
}

TEST(row_exchange, hooks_are_called_for_changes_of_guests_but_not_for_moves) {
    shard home;
    shard other;
    int inserts = 0;
    int removals = 0;
    for (shard* w : {&home, &other}) {
        w->on_insert<place>([&](entity, place&) { ++inserts; });
        w->on_remove<place>([&](entity, place&) { ++removals; });
    }
    const entity e = home.spawn(place{1});
    EXPECT_EQ(inserts, 1);
    send(home, e, other);
    EXPECT_EQ(inserts, 1);
    EXPECT_EQ(removals, 0);
    other.remove<place>(e);
    EXPECT_EQ(removals, 1);
    other.set(e, place{2});
    EXPECT_EQ(inserts, 2);
    other.destroy(e);
    EXPECT_EQ(removals, 2);
}

TEST(row_exchange, a_name_or_a_sparse_value_of_a_native_survives_a_guest_with_its_key) {
    shard home;
    shard other;
    other.define<burning>().sparse();
    const entity native = other.spawn(place{1}, burning{7});
    other.name(native, "native");
    const entity e = home.spawn(place{2});
    ASSERT_EQ(e.key(), native.key());
    send(home, e, other);
    other.name(e, "guest");
    EXPECT_FALSE(other.has<burning>(e));
    EXPECT_EQ(test::code_of([&] { other.set(e, burning{1}); }), errc::foreign_entity);
    other.destroy(e);
    EXPECT_EQ(other.get<burning>(native).heat, 7);
    EXPECT_EQ(other.lookup("native"), native);
    EXPECT_FALSE(other.lookup("guest"));
    other.destroy(native);
    EXPECT_FALSE(other.lookup("native"));
}

TEST(row_exchange, a_guest_cannot_be_a_fragment) {
    shard home;
    shard other;
    const entity e = home.spawn(place{2});
    send(home, e, other);
    const entity target = other.spawn();
    EXPECT_EQ(test::code_of([&] { other.set(target, e, 5); }), errc::foreign_entity);
    EXPECT_EQ(test::code_of([&] { (void)other.define(e); }), errc::foreign_entity);
}

TEST(row_exchange, refuses_what_cannot_move_and_changes_nothing) {
    shard home;
    shard other;
    home.define<burning>().sparse();
    const entity sparse = home.spawn(place{1}, burning{1});
    const entity used = home.tag("used");
    home.set(used, place{2});
    const entity fine = home.spawn(place{3});
    chunk_data& chunk = home.chunk_of(fine);
    packet room(chunk, 3);
    const auto take = [&](std::vector<std::uint32_t> rows, std::uint64_t to) {
        return test::code_of([&] { home.rows().take(chunk, rows, to, room.columns); });
    };
    EXPECT_EQ(take({0, 2}, 5), errc::not_movable) << "it has a sparse value";
    EXPECT_EQ(take({1}, 5), errc::not_movable) << "it is a fragment";
    EXPECT_EQ(take({2}, ~std::uint64_t{0}), errc::limit);
    home.defer();
    EXPECT_EQ(take({2}, 5), errc::in_scope);
    home.commit();
    EXPECT_EQ(home.get<place>(fine).x, 3);
    EXPECT_EQ(home.get<place>(sparse).x, 1);

    send(home, fine, other);
    chunk_data& guests = other.chunk_of(fine);
    const std::uint64_t own = other.spawn(place{9}).value();
    const auto adopt = [&](chunk_data& into, std::vector<std::uint64_t> ids) {
        return test::code_of([&] { other.rows().adopt(into, ids, room.columns); });
    };
    const std::uint64_t stranger = id::pack(77, 3, 61'111).value();
    EXPECT_EQ(adopt(guests, {fine.value()}), errc::id_taken) << "it is here";
    EXPECT_EQ(adopt(guests, {stranger, stranger}), errc::id_taken) << "twice";
    EXPECT_EQ(adopt(guests, {own}), errc::id_taken) << "a native entity is no guest";
    EXPECT_EQ(adopt(guests, {0}), errc::dead_entity);
    EXPECT_EQ(adopt(other.chunk_of(to_id<layouts::bound>(own)), {own}), errc::id_taken)
        << "it is not away";
    EXPECT_EQ(adopt(other.chunk_of(to_id<layouts::bound>(own)), {stranger}), errc::foreign_entity);
    EXPECT_EQ(other.size(), 2u);
    EXPECT_FALSE(other.alive(to_id<layouts::bound>(stranger)));
}

TEST(row_exchange, reset_ends_guests_and_entities_that_are_away) {
    for (const bool has_hooks : {false, true}) {
        shard home;
        shard other;
        int removals = 0;
        if (has_hooks) other.on_remove<place>([&](entity, place&) { ++removals; });
        if (has_hooks) home.on_remove<place>([&](entity, place&) { ++removals; });
        const entity e = home.spawn(place{1});
        other.spawn(place{2});
        send(home, e, other);
        other.reset();
        EXPECT_EQ(removals, has_hooks ? 2 : 0);
        EXPECT_EQ(other.size(), 0u);
        EXPECT_FALSE(other.alive(e));
        home.reset();
        EXPECT_FALSE(home.alive(e));
        EXPECT_EQ(home.size(), 0u);
        EXPECT_EQ(home.rows().away_count(), 0u);
    }
}

TEST(row_exchange, guests_end_with_their_world) {
    shard home;
    const entity e = home.spawn(place{1}, label{"a text that is long enough to be on the heap"});
    {
        shard other;
        send(home, e, other);
    }
    EXPECT_TRUE(home.alive(e));
    EXPECT_EQ(test::code_of([&] { (void)home.get<place>(e); }), errc::away_entity);
}

/// Random migrations and changes of entities among three worlds, beside a model.
TEST(row_exchange, random_migrations_lose_no_one) {
    struct known {
        std::size_t shard;
        int x;
        std::string text;  // empty: no label
    };
    for (std::uint32_t seed = 1; seed <= 30 && !HasFatalFailure(); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto pick = [&](std::size_t count) { return random() % count; };
        std::array<shard, 3> shards;
        std::map<entity, known> model;
        const auto home_of = [&](entity e) -> shard& {
            return *std::ranges::find(shards, e.world(), &shard::number);
        };
        for (int step = 0; step < 200; ++step) {
            const std::size_t where = pick(3);
            shard& here = shards[where];
            auto at = model.begin();
            if (!model.empty()) std::advance(at, pick(model.size()));
            switch (model.empty() ? 0 : pick(7)) {
            case 0: model[here.spawn(place{step})] = {where, step, ""}; break;
            case 1:
                shards[at->second.shard].set(at->first, label{std::to_string(step)});
                at->second.text = std::to_string(step);
                break;
            case 2:
                shards[at->second.shard].remove<label>(at->first);
                at->second.text.clear();
                break;
            case 3:
                shards[at->second.shard].get<place>(at->first).x = step;
                at->second.x = step;
                break;
            case 4:
                shards[at->second.shard].destroy(at->first);
                if (&home_of(at->first) != &shards[at->second.shard])
                    home_of(at->first).rows().destroy_away(at->first.value());
                model.erase(at);
                break;
            default: {  // some rows of a chunk move
                shard& from = shards[at->second.shard];
                if (&from == &here) break;
                chunk_data& chunk = from.chunk_of(at->first);
                std::vector<std::uint32_t> natives;
                std::vector<std::uint32_t> guests;
                for (std::uint32_t row = 0; row < chunk.size; ++row) {
                    if (pick(3) == 0) continue;
                    const entity e = to_id<layouts::bound>(chunk.id_at(row));
                    (e.world() == here.number() ? natives : guests).push_back(row);
                }
                std::vector<entity> moved;
                for (const auto* rows : {&natives, &guests})
                    for (const std::uint32_t row : *rows)
                        moved.push_back(to_id<layouts::bound>(chunk.id_at(row)));
                std::vector<std::uint32_t> left = guests;
                if (!natives.empty()) {
                    send(from, chunk, natives, here);
                    left.clear();  // rows have moved: look for them again
                    for (std::size_t i = natives.size(); i < moved.size(); ++i)
                        left.push_back(
                            static_cast<std::uint32_t>(from.core().find(moved[i])->row()));
                    std::ranges::sort(left);
                }
                if (!left.empty()) send(from, chunk, left, here);
                for (const entity e : moved) {
                    model[e].shard = where;
                    shard& home = home_of(e);
                    if (&home != &here && &home != &from)
                        home.rows().move_away(e.value(), here.number());
                }
                break;
            }
            }
            for (std::size_t i = 0; i < shards.size(); ++i) {
                std::set<entity> expected;
                for (const auto& [e, state] : model) {
                    const bool is_here = state.shard == i;
                    if (is_here) expected.insert(e);
                    ASSERT_EQ(shards[i].try_get<place>(e) != nullptr, is_here);
                    ASSERT_EQ(shards[i].alive(e), is_here || &home_of(e) == &shards[i]);
                    if (&home_of(e) == &shards[i] && !is_here)
                        ASSERT_EQ(shards[i].rows().world_of(e.value()),
                                  shards[state.shard].number());
                    if (!is_here) continue;
                    ASSERT_EQ(shards[i].get<place>(e).x, state.x);
                    ASSERT_EQ(shards[i].has<label>(e), !state.text.empty());
                    if (!state.text.empty()) ASSERT_EQ(shards[i].get<label>(e).text, state.text);
                }
                std::set<entity> visited;
                shards[i].each([&](entity e, const place&) { visited.insert(e); });
                ASSERT_EQ(visited, expected);
                ASSERT_EQ(shards[i].size(), expected.size());
            }
        }
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
