#include <muster/catalog/component_lookup.hpp>
#include <muster/entity/entity_table.hpp>
#include <muster/type/fragment_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct tag {};
constexpr auto shape = sparse_set::id_shape::of<layouts::bound>();
using fragment_list = array_list<fragment_data*>;
using id_list = array_list<std::uint64_t>;

/// Entities with the chunk fragments a, b and t (a tag), and the sparse fragments s and u (a tag).
struct component_lookup_of : testing::Test {
    entity_table<layouts::bound> table{{}};
    entity_adapter<layouts::bound> entities{table};
    fragment_table fragments;
    fragment_data& a = fragments.add(type_index{1}, type_info_of<int>, 1001);
    fragment_data& s = fragments.add(type_index{2}, type_info_of<int>, 1002);
    fragment_data& b = fragments.add(type_index{3}, type_info_of<int>, 1003);
    fragment_data& t = fragments.add(type_index{4}, type_info_of<tag>, 1004);
    fragment_data& u = fragments.add(type_index{5}, type_info_of<tag>, 1005);
    chunk_graph graph{type_info_of<std::uint64_t>, 100, 1000};
    sparse_table sparse{shape};
    component_lookup tested{entities, graph, sparse};

    component_lookup_of() {
        sparse.add(s);
        sparse.add(u);
    }
    ~component_lookup_of() override { sparse.forget_entries(); }

    /// Creates an entity in the chunk of these fragments; each value is `value`.
    std::uint64_t spawn(const std::vector<fragment_data*>& set, int value = 0) {
        if (set.empty()) return entities.create();
        chunk_data& into = graph.ensure(set);
        into.make_room(1, 1000, {});
        for (const column& source : into.columns) ::new (source.at(into.size)) int(value);
        entities.prepare(1);
        entities.create_rows(into, 1);
        return into.id_at(into.size - 1);
    }
    void put_sparse(std::uint64_t e, fragment_data& fragment, int value = 0) {
        sparse_set& set = *fragment.sparse_values;
        sparse.prepare(set, e, true);
        const slot_index slot = set.take();
        if (fragment.type->size != 0) ::new (set.at(slot)) int(value);
        set.attach(e, slot);
    }
    [[nodiscard]] int value_of(std::uint64_t e, const fragment_data& fragment) const {
        return *static_cast<int*>(tested.find(e, fragment));
    }
};

TEST_F(component_lookup_of, an_entity_has_the_fragments_of_its_chunk_and_its_sparse_ones) {
    const std::uint64_t e = spawn({&a, &t}, 7);
    put_sparse(e, s, 8);
    for (const fragment_data* fragment : {&a, &s, &t}) EXPECT_TRUE(tested.has(e, *fragment));
    for (const fragment_data* fragment : {&b, &u}) EXPECT_FALSE(tested.has(e, *fragment));
    EXPECT_FALSE(tested.has(e, no_fragment));
}

TEST_F(component_lookup_of, a_dead_entity_has_nothing) {
    const std::uint64_t e = spawn({});
    put_sparse(e, s);
    entities.destroy(e);
    sparse.forget(e, [](sparse_set& set, slot_index slot) { set.drop(slot); });
    const std::uint64_t next = spawn({&a});  // has the key of the dead one
    ASSERT_EQ(entities.key_of(next), entities.key_of(e));
    for (const fragment_data* fragment : {&a, &s}) {
        EXPECT_FALSE(tested.has(e, *fragment));
        EXPECT_EQ(tested.find(e, *fragment), nullptr);
    }
    EXPECT_TRUE(tested.has(next, a));
    EXPECT_FALSE(tested.has(next, s));
}

TEST_F(component_lookup_of, find_returns_the_value_of_the_row_or_of_the_slot) {
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 5; ++i) {
        all.push_back(spawn({&a, &b}, 10 + i));
        put_sparse(all.back(), s, 20 + i);
    }
    for (int i = 0; i < 5; ++i) {
        const std::uint64_t e = all[static_cast<std::size_t>(i)];
        EXPECT_EQ(value_of(e, a), 10 + i);
        EXPECT_EQ(value_of(e, b), 10 + i);
        EXPECT_NE(tested.find(e, a), tested.find(e, b));
        EXPECT_EQ(value_of(e, s), 20 + i);
    }
}

TEST_F(component_lookup_of, find_returns_null_for_a_tag_and_for_an_absent_fragment) {
    const std::uint64_t e = spawn({&t});
    put_sparse(e, u);
    for (const fragment_data* fragment : {&t, &u, &a, &s})
        EXPECT_EQ(tested.find(e, *fragment), nullptr);
    EXPECT_TRUE(tested.has(e, t));
    EXPECT_TRUE(tested.has(e, u));
}

TEST_F(component_lookup_of, chunk_of_returns_the_chunk_of_the_record) {
    EXPECT_EQ(&tested.chunk_of(spawn({})), &graph.empty_chunk());
    const std::uint64_t e = spawn({&a, &b});
    EXPECT_EQ(tested.chunk_of(e).fragments, (fragment_list{&a, &b}));
}

TEST_F(component_lookup_of, has_any_sees_chunk_and_sparse_fragments) {
    EXPECT_FALSE(tested.has_any(spawn({})));
    EXPECT_TRUE(tested.has_any(spawn({&t})));
    const std::uint64_t e = spawn({});
    put_sparse(e, u);
    EXPECT_TRUE(tested.has_any(e));
}

TEST_F(component_lookup_of, fragments_of_are_sorted_by_number_whatever_their_storage) {
    const std::uint64_t e = spawn({&a, &b, &t});
    put_sparse(e, u);
    put_sparse(e, s);
    EXPECT_EQ(tested.fragments_of(e), (fragment_list{&a, &s, &b, &t, &u}));
    EXPECT_EQ(tested.fragments_of(spawn({})), fragment_list{});
}

TEST_F(component_lookup_of, count_adds_up_the_rows_of_all_chunks) {
    for (int i = 0; i < 3; ++i) spawn({&a});
    for (int i = 0; i < 4; ++i) spawn({&a, &t});
    put_sparse(spawn({&b}), s);
    EXPECT_EQ(tested.count(a), 7u);
    EXPECT_EQ(tested.count(t), 4u);
    EXPECT_EQ(tested.count(b), 1u);
    EXPECT_EQ(tested.count(s), 1u);
    EXPECT_EQ(tested.count(u), 0u);
}

TEST_F(component_lookup_of, owners_of_are_in_the_order_of_a_loop) {
    const std::uint64_t first = spawn({&a, &b});
    const std::uint64_t second = spawn({&a});
    const std::uint64_t third = spawn({&a, &b});
    put_sparse(second, s);
    put_sparse(first, s);
    EXPECT_EQ(tested.owners_of(a), (id_list{first, third, second}));  // chunks in their order
    EXPECT_EQ(tested.owners_of(b), (id_list{first, third}));
    EXPECT_EQ(tested.owners_of(s), (id_list{second, first}));
    EXPECT_EQ(tested.owners_of(t), id_list{});
}

TEST_F(component_lookup_of, chunks_of_lists_the_chunks_with_the_fragment) {
    spawn({&a, &b});
    spawn({&a});
    spawn({&b});
    EXPECT_EQ(tested.chunks_of(a).size(), 2u);
    for (const chunk_data* chunk : tested.chunks_of(a)) EXPECT_TRUE(chunk->has(a));
    EXPECT_TRUE(tested.chunks_of(t).empty());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
