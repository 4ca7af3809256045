// Arguments that lie in the world that the call changes: values, ids, names and lists.
#include <muster/muster.hpp>

#include "support/about_chunks.hpp"
#include "support/errors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::test {
namespace {

std::string long_text(int number) {
    return "a text that needs memory of its own, number " + std::to_string(number);
}

struct note {
    std::string text;
};
struct mark {};
struct list {
    std::vector<std::string> all;
    void push_back(const std::string& text) { all.push_back(text); }
};

/// A world with a full chunk of notes: the next row moves them.
struct full_chunk {
    world w;
    std::vector<entity> all;
    entity first;
    full_chunk() {
        for (int i = 0; i < 8; ++i) all.push_back(w.spawn(note{long_text(i)}));
        if (const auto c = w.locate(all[0]).chunk)
            while (c.size() < 64) all.push_back(w.spawn(note{long_text(int(all.size()))}));
        first = all[0];
    }
    void expect_unharmed(std::size_t from = 0) {
        for (std::size_t i = from; i < all.size(); ++i)
            EXPECT_EQ(w.get<note>(all[i]).text, long_text(static_cast<int>(i)));
    }
};

// ---- values that lie in the world ---------------------------------------------------------------

TEST(aliasing, spawn_takes_a_value_of_the_chunk_that_grows) {
    full_chunk s;
    for (int i = 0; i < 200; ++i)
        EXPECT_EQ(s.w.get<note>(s.w.spawn(s.w.get<note>(s.first))).text, long_text(0));
    s.expect_unharmed();
}
TEST(aliasing, spawn_many_takes_a_value_of_the_chunk_that_grows) {
    full_chunk s;
    for (const entity e : s.w.spawn_many(500, s.w.get<note>(s.first)))
        EXPECT_EQ(s.w.get<note>(e).text, long_text(0));
    s.expect_unharmed();
}
TEST(aliasing, spawn_into_takes_a_value_of_the_chunk_that_grows) {
    full_chunk s;
    std::vector<entity> made(500);
    s.w.spawn_into(made, s.w.get<note>(s.first));
    for (const entity e : made) EXPECT_EQ(s.w.get<note>(e).text, long_text(0));
    s.expect_unharmed();
}
TEST(aliasing, spawn_rows_takes_a_value_of_the_chunk_that_grows) {
    full_chunk s;
    s.w.spawn_rows(
        500,
        [](rows r) {
            for (const note& n : r.components<note>()) EXPECT_EQ(n.text, long_text(0));
        },
        s.w.get<note>(s.first));
    s.expect_unharmed();
}
TEST(aliasing, spawn_columns_copies_the_column_of_the_chunk_that_grows) {
    MUSTER_ABOUT_CHUNKS();
    full_chunk s;
    const std::size_t count = s.all.size();
    const chunk c = s.w.chunk<note>();
    for (int i = 0; i < 3; ++i) {
        const std::vector<entity> made = s.w.spawn_columns(c.components<note>().first(count));
        for (std::size_t k = 0; k < count; ++k)
            EXPECT_EQ(s.w.get<note>(made[k]).text, long_text(static_cast<int>(k)));
    }
    s.expect_unharmed();
}
TEST(aliasing, spawn_columns_of_two_columns_of_the_same_chunk) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    for (int i = 0; i < 8; ++i) w.spawn(note{long_text(i)}, i);
    const chunk c = w.chunk<note, int>();
    const auto made = w.spawn_columns(c.components<note>(), c.components<int>());
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(w.get<note>(made[static_cast<std::size_t>(i)]).text, long_text(i));
    EXPECT_EQ(w.count<note>(), 16u);
}
TEST(aliasing, spawn_columns_in_a_scope_copies_at_once) {
    MUSTER_ABOUT_CHUNKS();
    full_chunk s;
    const chunk c = s.w.chunk<note>();
    s.w.defer();
    const auto made = s.w.spawn_columns(c.components<note>());
    s.w.get<note>(s.first).text = "changed";
    s.w.commit();
    EXPECT_EQ(s.w.get<note>(made[0]).text, long_text(0));
    EXPECT_EQ(s.w.get<note>(made[63]).text, long_text(63));
}
TEST(aliasing, clone_replaces_a_value_by_one_of_the_prototype) {
    full_chunk s;
    for (int i = 0; i < 200; ++i)
        EXPECT_EQ(s.w.get<note>(s.w.clone(s.first, s.w.get<note>(s.all[1]))).text, long_text(1));
    s.expect_unharmed();
}
TEST(aliasing, clone_many_replaces_a_value_by_one_of_the_chunk) {
    full_chunk s;
    for (const entity e : s.w.clone_many(500, s.first, s.w.get<note>(s.all[1])))
        EXPECT_EQ(s.w.get<note>(e).text, long_text(1));
    s.expect_unharmed();
}
TEST(aliasing, set_takes_a_value_of_the_row_that_moves) {
    full_chunk s;
    for (const entity e : s.all) s.w.set(e, std::string(s.w.get<note>(e).text));
    for (const entity e : s.all) s.w.set(e, mark{}, s.w.get<note>(e));
    s.expect_unharmed();
}
TEST(aliasing, set_takes_the_value_that_it_replaces) {
    full_chunk s;
    s.w.set(s.first, s.w.get<note>(s.first));
    s.w.set(s.first, s.w.get<note>(s.first), mark{});
    s.w.defer();
    s.w.set(s.first, s.w.get<note>(s.first));
    s.w.set(s.first, s.w.get<note>(s.first), mark{});
    s.w.commit();
    s.expect_unharmed();
}
TEST(aliasing, set_moves_a_value_of_the_row_that_moves) {
    full_chunk s;
    const entity e = s.w.spawn(1);
    s.w.set(e, std::move(s.w.get<note>(s.first)));
    EXPECT_EQ(s.w.get<note>(e).text, long_text(0));
    s.w.set(e, std::move(s.w.get<note>(e)));
    s.w.set(e, std::move(s.w.get<note>(e)), mark{});
    s.expect_unharmed(1);
    EXPECT_TRUE(s.w.has<mark>(e));
}
TEST(aliasing, emplace_takes_the_value_that_it_replaces) {
    full_chunk s;
    s.w.emplace<note>(s.first, s.w.get<note>(s.first));
    s.w.emplace<note>(s.first, s.w.get<note>(s.first).text);
    s.w.defer();
    s.w.emplace<note>(s.first, s.w.get<note>(s.first).text);
    s.w.emplace<note>(s.first, s.w.emplace<note>(s.first, long_text(0)).text);
    s.w.commit();
    s.expect_unharmed();
}
TEST(aliasing, set_takes_a_pending_value) {
    world w;
    const entity e = w.spawn(), other = w.spawn();
    w.defer();
    note& pending = w.emplace<note>(e, long_text(1));
    for (int i = 0; i < 100; ++i) w.set(other, pending);
    w.set(e, pending);
    w.commit();
    EXPECT_EQ(w.get<note>(e).text, long_text(1));
    EXPECT_EQ(w.get<note>(other).text, long_text(1));
}
TEST(aliasing, a_batch_sets_a_value_of_an_entity_that_it_changes) {
    full_chunk s;
    s.w.query<note>().set(s.w.get<note>(s.all[3]));
    for (const entity e : s.all) EXPECT_EQ(s.w.get<note>(e).text, long_text(3));
    s.w.get<note>(s.all[5]).text = long_text(5);
    s.w.query<note>().set(s.w.get<note>(s.all[5]), mark{});  // moves all rows
    for (const entity e : s.all) EXPECT_EQ(s.w.get<note>(e).text, long_text(5));
}
TEST(aliasing, a_batch_with_hooks_sets_a_value_of_an_entity_that_it_changes) {
    full_chunk s;
    int calls = 0;
    s.w.define<note>().on_assign([&] { ++calls; }).on_remove([&] { ++calls; });
    s.w.query<note>().set(s.w.get<note>(s.all[3]));
    for (const entity e : s.all) EXPECT_EQ(s.w.get<note>(e).text, long_text(3));
    EXPECT_EQ(calls, static_cast<int>(s.all.size()));
}
TEST(aliasing, a_batch_in_a_scope_copies_its_value_at_once) {
    full_chunk s;
    s.w.defer();
    s.w.query<note>().set(s.w.get<note>(s.all[3]));
    s.w.get<note>(s.all[3]).text = "changed";
    s.w.destroy(s.all[3]);
    s.w.commit();
    EXPECT_EQ(s.w.get<note>(s.all[4]).text, long_text(3));
}
TEST(aliasing, set_raw_copies_a_value_of_the_same_chunk) {
    full_chunk s;
    const id f = s.w.component<note>();
    const entity e = s.w.spawn();
    for (int i = 0; i < 200; ++i) s.w.set_raw(s.w.spawn(), f, s.w.try_get_raw(s.first, f));
    s.w.set_raw(e, f, s.w.try_get_raw(s.first, f));
    s.w.set_raw(e, f, s.w.try_get_raw(e, f));
    EXPECT_EQ(s.w.get<note>(e).text, long_text(0));
    s.expect_unharmed();
}
TEST(aliasing, values_of_fragments_may_lie_in_their_chunk) {
    world w;
    const fragment<std::string> f = w.fragment<std::string>("f"), g = w.fragment<std::string>("g");
    const entity e = w.spawn(with(f, long_text(1)));
    w.set(e, g, w.get(e, f));
    w.set(e, f, w.get(e, g));
    w.set(e, with(f, w.get(e, g)), with(g, w.get(e, f)));
    for (int i = 0; i < 200; ++i) w.spawn(with(f, w.get(e, f)), with(g, w.get(e, f)));
    w.spawn_many(300, with(f, w.get(e, g)), with(g, w.get(e, f)));
    EXPECT_EQ(w.copy_fragment(f, f), 0u);
    EXPECT_EQ(w.copy_fragment(f, g), w.count(f));
    w.query().with(f).each_chunk([&](chunk_view v) {
        for (const std::string& text : v.components(f)) EXPECT_EQ(text, long_text(1));
        for (const std::string& text : v.components(g)) EXPECT_EQ(text, long_text(1));
    });
}
TEST(aliasing, a_builder_copies_a_value_of_the_world) {
    full_chunk s;
    builder b = s.w.builder();
    b.set(s.w.get<note>(s.first));
    for (const entity e : b.spawn_many(500)) EXPECT_EQ(s.w.get<note>(e).text, long_text(0));
    s.expect_unharmed();
}
TEST(aliasing, the_default_value_may_lie_in_the_world) {
    full_chunk s;
    s.w.define<note>().default_value(s.w.get<note>(s.first));
    const entity e = s.w.spawn();
    s.w.add<note>(e);
    s.w.define<note>().default_value(s.w.get<note>(e));
    EXPECT_EQ(s.w.get<note>(e).text, long_text(0));
}
TEST(aliasing, append_takes_an_element_of_the_same_component) {
    world w;
    const entity e = w.spawn(list{{long_text(0)}});
    for (int i = 0; i < 100; ++i) w.append<list>(e, w.get<list>(e).all[0]);
    w.defer();
    for (int i = 0; i < 100; ++i) w.append<list>(e, w.get<list>(e).all[0]);
    w.commit();
    EXPECT_EQ(w.get<list>(e).all.size(), 201u);
    for (const std::string& text : w.get<list>(e).all) EXPECT_EQ(text, long_text(0));
}
TEST(aliasing, a_singleton_takes_the_value_that_it_replaces) {
    world w;
    w.set_single(note{long_text(1)});
    w.set_single(w.single<note>());
    w.set_single(std::move(w.single<note>()));
    w.spawn(w.single<note>());
    EXPECT_EQ(w.count<note>(), 2u);
}
TEST(aliasing, a_command_buffer_copies_a_value_of_the_world) {
    full_chunk s;
    command_buffer b{s.w};
    const entity e = b.spawn(s.w.get<note>(s.first));
    b.set(s.all[1], s.w.get<note>(s.first));
    s.w.destroy(s.first);
    s.w.submit(b);
    EXPECT_EQ(s.w.get<note>(e).text, long_text(0));
    EXPECT_EQ(s.w.get<note>(s.all[1]).text, long_text(0));
}
TEST(aliasing, find_searches_a_value_of_the_world) {
    world w;
    const entity e = w.spawn(std::string(long_text(1)));
    EXPECT_EQ(w.find(w.get<std::string>(e)), e);
}

// ---- ids and lists that lie in the world --------------------------------------------------------

TEST(aliasing, destroy_takes_the_entities_of_a_chunk) {
    MUSTER_ABOUT_CHUNKS();
    full_chunk s;
    EXPECT_EQ(s.w.destroy(s.w.chunk<note>().entities()), s.all.size());
    EXPECT_EQ(s.w.size(), 0u);
    for (const entity e : s.all) EXPECT_FALSE(s.w.alive(e));
}
TEST(aliasing, destroy_takes_a_part_of_the_entities_of_a_chunk) {
    MUSTER_ABOUT_CHUNKS();
    full_chunk s;
    const std::size_t half = s.all.size() / 2;
    EXPECT_EQ(s.w.destroy(s.w.chunk<note>().entities().first(half)), half);
    for (std::size_t i = 0; i < s.all.size(); ++i) EXPECT_EQ(s.w.alive(s.all[i]), i >= half) << i;
    s.expect_unharmed(half);
}
TEST(aliasing, destroy_with_hooks_takes_the_entities_of_a_chunk) {
    MUSTER_ABOUT_CHUNKS();
    full_chunk s;
    int calls = 0;
    s.w.on_destroy([&] { ++calls; });
    EXPECT_EQ(s.w.destroy(s.w.chunk<note>().entities()), s.all.size());
    EXPECT_EQ(calls, static_cast<int>(s.all.size()));
    EXPECT_EQ(s.w.size(), 0u);
}
TEST(aliasing, destroy_with_observers_takes_the_entities_of_a_chunk) {
    MUSTER_ABOUT_CHUNKS();
    full_chunk s;
    auto gone = s.w.observer().removed<note>();
    EXPECT_EQ(s.w.destroy(s.w.chunk<note>().entities()), s.all.size());
    EXPECT_EQ(gone.take(), s.all);
}
TEST(aliasing, destroy_with_provenance_takes_the_entities_of_a_chunk) {
    MUSTER_ABOUT_CHUNKS();
    world w{world_options{.provenance = true}};
    const auto all = w.spawn_many(100, note{long_text(1)});
    for (const entity e : all) w.name(e, "named");
    EXPECT_EQ(w.destroy(w.chunk<note>().entities()), 100u);
    EXPECT_EQ(w.size(), 0u);
    EXPECT_TRUE(w.lookup("named").is_null());
}
TEST(aliasing, destroy_in_a_scope_takes_the_entities_of_a_chunk) {
    MUSTER_ABOUT_CHUNKS();
    full_chunk s;
    s.w.defer();
    EXPECT_EQ(s.w.destroy(s.w.chunk<note>().entities()), s.all.size());
    s.w.commit();
    EXPECT_EQ(s.w.size(), 0u);
}
TEST(aliasing, destroy_takes_the_entities_of_two_chunks_twice) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    w.spawn_many(20, note{});
    w.spawn_many(20, note{}, 1);
    std::vector<entity> all;
    w.query<note>().each([&](entity e, note&) { all.push_back(e); });
    all.insert(all.end(), all.begin(), all.end());
    EXPECT_EQ(w.destroy(std::span<const entity>(all)), 40u);
}
TEST(aliasing, remove_takes_the_fragments_of_the_chunk_of_the_entity) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    const entity e = w.spawn(note{}, 1, 2.5, mark{});
    EXPECT_TRUE(w.remove(e, w.locate(e).chunk.fragments()));
    EXPECT_TRUE(w.empty(e));
}
TEST(aliasing, a_batch_removes_the_fragments_of_its_chunk) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    w.spawn_many(10, note{}, 1, 2.5, mark{});
    EXPECT_EQ(w.query<note>().remove(w.chunk<note, int, double, mark>().fragments()), 10u);
    EXPECT_EQ(w.count<note>(), 0u);
    EXPECT_EQ(w.size(), 10u);
}
TEST(aliasing, a_query_takes_the_fragments_of_a_chunk) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    w.spawn_many(10, note{}, 1);
    w.spawn_many(10, note{});
    const chunk c = w.chunk<note, int>();
    EXPECT_EQ(w.query().with(c.fragments()).count(), 10u);
    EXPECT_EQ(w.query<note>().without(c.fragments()).count(), 0u);
    EXPECT_EQ(w.query().any(c.fragments()).count(), 20u);
}
TEST(aliasing, destroy_takes_the_fragments_of_a_chunk) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    std::vector<entity> tags;
    for (int i = 0; i < 6; ++i) tags.push_back(w.tag());
    const entity e = w.spawn();
    for (const entity tag : tags) w.set(e, tag);
    EXPECT_EQ(w.destroy(w.locate(e).chunk.fragments()), 6u);
    EXPECT_TRUE(w.empty(e));
    for (const entity tag : tags) EXPECT_FALSE(w.alive(tag));
}
TEST(aliasing, destroy_takes_the_fragments_of_the_chunk_of_their_owner_that_dies_with_them) {
    MUSTER_ABOUT_CHUNKS();
    world w;
    std::vector<entity> tags;
    for (int i = 0; i < 6; ++i) {
        tags.push_back(w.tag());
        w.define(tags.back()).when_destroyed(destroy_owners);
    }
    const entity e = w.spawn();
    for (const entity tag : tags) w.set(e, tag);
    for (const entity tag : tags) w.set(tags[0], tag);  // a tag that has itself
    EXPECT_EQ(w.destroy(w.locate(e).chunk.fragments()), 6u);
    EXPECT_FALSE(w.alive(e));
    EXPECT_EQ(w.size(), 0u);
}
TEST(aliasing, spawn_into_writes_over_ids_that_are_in_use) {
    world w;
    std::vector<entity> all = w.spawn_many(8, 1);
    const std::vector<entity> before = all;
    w.spawn_into(all, 2);
    w.clone_into(all, all[0]);  // the prototype is an element of the output
    EXPECT_EQ(w.size(), 24u);
    for (const entity e : all) EXPECT_EQ(w.get<int>(e), 2);
    for (const entity e : before) EXPECT_EQ(w.get<int>(e), 1);
}

// ---- names --------------------------------------------------------------------------------------

TEST(aliasing, name_takes_the_name_of_the_same_entity) {
    world w;
    const entity e = w.spawn();
    w.name(e, long_text(1));
    w.name(e, w.name(e));
    EXPECT_EQ(w.name(e), long_text(1));
    w.name(e, w.name(e).substr(5));
    EXPECT_EQ(w.name(e), long_text(1).substr(5));
    w.name(e, w.name(e).substr(0, 3));
    EXPECT_EQ(w.name(e), "t t");
    EXPECT_EQ(w.lookup("t t"), e);
    EXPECT_TRUE(w.lookup(long_text(1)).is_null());
}
TEST(aliasing, name_takes_the_name_of_another_entity) {
    world w;
    const entity e = w.spawn(), other = w.spawn();
    w.name(e, long_text(1));
    w.name(other, w.name(e));
    w.name(e, w.name(other).substr(3));
    EXPECT_EQ(w.lookup(long_text(1)), other);
    EXPECT_EQ(w.lookup(long_text(1).substr(3)), e);
    w.name(other, "");
    EXPECT_TRUE(w.name(other).empty());
    EXPECT_EQ(w.lookup_all(long_text(1)).size(), 0u);
}
TEST(aliasing, a_fragment_takes_the_name_of_another_fragment) {
    world w;
    const entity first = w.tag(long_text(1));
    const entity second = w.tag(w.name(first));
    w.define(first).name(w.name(second).substr(2));
    EXPECT_EQ(w.lookup(long_text(1)), second);
    EXPECT_EQ(w.name(first), long_text(1).substr(2));
    w.define(second).name(w.name(second));
    EXPECT_EQ(w.lookup(long_text(1)), second);
}
TEST(aliasing, a_system_takes_the_name_of_another_system) {
    world w;
    const auto first = w.system(long_text(1));
    EXPECT_EQ(code_of([&] { w.system(first.name()); }), errc::system_taken);
    const auto second = w.system(first.name().substr(1));
    EXPECT_EQ(second.name(), long_text(1).substr(1));
    second.after(first.name());
    second.group(first.name());
    EXPECT_EQ(w.find_system(second.name()), second);
}
TEST(aliasing, lookup_takes_a_name_of_the_world) {
    world w;
    const entity e = w.spawn();
    w.name(e, long_text(2));
    EXPECT_EQ(w.lookup(w.name(e)), e);
    EXPECT_EQ(w.lookup_all(w.name(e)), std::vector<entity>{e});
    EXPECT_TRUE(w.destroy(w.lookup(w.name(e))));
}

// ---- texts with every byte ----------------------------------------------------------------------

TEST(aliasing, names_may_have_any_bytes) {
    world w;
    const entity e = w.spawn(), other = w.spawn();
    const std::string odd("a\0b\xff\n", 5);
    w.name(e, odd);
    w.name(other, "a");
    EXPECT_EQ(w.lookup(odd), e);
    EXPECT_EQ(w.lookup("a"), other);
    const std::string huge(100'000, 'x');
    w.name(e, huge);
    EXPECT_EQ(w.lookup(huge), e);
    w.destroy(e);
    EXPECT_NE(sentence_of([&] { (void)w.get<int>(e); }), "no error");
}

}  // namespace
}  // namespace muster::test
